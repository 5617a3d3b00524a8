// SPDX-License-Identifier: GPL-2.0
/* rocesteer slice check: the links that flows of a job would meet on. */
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "slice/slice.h"
#include "slice.h"

#define MAX_LISTED	1000	/* links, of which flows are printed */

enum { SLICE, CLUSTER, JOB, FLOWS, PATTERN, SEED };

const struct cli_option slice_check_options[] = {
	[SLICE] = { "slice", "FILE", "slice, from alloc or show --json" },
	[CLUSTER] = { "cluster", "FILE", "or a cluster file" },
	[JOB] = { "job", "NAME", "and a job of this cluster file", CLI_NAMES },
	[FLOWS] = { "flows", "FILE", "list of flows" },
	[PATTERN] = { "pattern", "NAME", "how the ranks send", .words = contention_pattern_names },
	[SEED] = { "seed", "N", "seed of the permutation (default: 1)" },
	{}
};

static const struct out_column total_columns[] = {
	{ "ranks", "ranks" },
	{ "steps", "steps" },
	{ "flows", "flows" },
	{ "contended", "links contended" },
	{}
};

static const struct out_column flow_columns[] = {
	{ "step", "STEP" },
	{ "direction", "DIRECTION" },
	{ "spine", "SPINE" },
	{ "leaf", "LEAF" },
	{ "from", "FROM" },
	{ "to", "TO" },
	{}
};

static const struct out_view views[] = {
	{ .columns = total_columns },
	{ .rows = "links.flows", .columns = flow_columns },
	{}
};

int slice_pattern(const struct cli_args *args, int option, __u32 ranks,
		  enum contention_pattern *pattern, struct err *err)
{
	int i = CONTENTION_RING, ret;

	ret = cli_word(args, option, &i, err);
	if (ret)
		return ret;
	if (contention_steps(i, ranks, 0) < 0)
		return err_set(err, EXIT_BAD_INPUT, "pattern",
			       "--pattern: halving-doubling takes a power of two, not %u ranks",
			       ranks);
	*pattern = i;
	return 0;
}

struct check {
	struct contention_slice slice;
	struct json_object *links;	/* contended ones, for the result */
	__u64 steps;
	__u64 flows;
	__u64 contended;
};

static void report(const struct contention_link *link, void *arg)
{
	struct check *check = arg;
	struct json_object *obj, *flows;
	size_t i;

	if (check->contended++ >= MAX_LISTED)
		return;
	obj = out_append_object(check->links);
	out_uint(obj, "step", link->flows->step);
	out_string(obj, "direction", link->up ? "up" : "down");
	out_uint(obj, "spine", check->slice.spines[link->lane]);
	out_uint(obj, "leaf", check->slice.leaf[link->leaf]);
	out_uint(obj, "lane", link->lane);
	out_uint(obj, "link", link->link);
	flows = out_array(obj, "flows");
	for (i = 0; i < link->nr_flows; i++) {
		struct json_object *flow = out_append_object(flows);

		out_uint(flow, "from", link->flows[i].from);
		out_uint(flow, "to", link->flows[i].to);
	}
}

/* Test the flows of one step. */
static int test(struct check *check, struct contention_flow *flows, size_t n)
{
	long ret;

	check->steps++;
	check->flows += n;
	ret = contention_test(&check->slice.layout, flows, n, report, check);
	return ret < 0 ? ret : 0;
}

static int check_pattern(const struct cli_args *args, struct check *check, struct err *err)
{
	__u32 ranks = check->slice.layout.ranks;
	enum contention_pattern pattern;
	__u64 seed = 1;
	long ret;

	ret = slice_pattern(args, PATTERN, ranks, &pattern, err) ?:
	      cli_uint(args, SEED, 0, UINT32_MAX, &seed, err);
	if (ret)
		return ret;
	if (args->value[SEED] && pattern != CONTENTION_PERMUTATION)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--seed: only with --pattern permutation");
	check->steps = contention_pattern_steps(&check->slice.layout, pattern);
	check->flows = check->steps * ranks;
	ret = contention_test_pattern(&check->slice.layout, pattern, seed, report, check);
	return ret < 0 ? ret : 0;
}

static int check_flows(const char *file, struct check *check, struct err *err)
{
	struct contention_flow *flows;
	size_t from, to, n;
	int ret;

	ret = contention_read_flows(file, check->slice.layout.ranks, &flows, &n, err);
	if (ret)
		return ret;
	for (from = 0; !ret && from < n; from = to) {
		for (to = from; to < n && flows[to].step == flows[from].step;)
			to++;
		ret = test(check, flows + from, to - from);
	}
	free(flows);
	return ret;
}

static int read_slice(const struct cli_args *args, struct check *check, struct err *err)
{
	const char *file = args->value[SLICE], *cluster = args->value[CLUSTER];
	struct reader r = { .file = file ?: cluster, .err = err };
	struct json_object *root;
	int ret = 0;

	if (cluster)
		ret = cli_need(args, JOB, err);
	ret = ret ?: slice_get(file, cluster, args->value[JOB], &root, err);
	if (ret)
		return ret;
	ret = contention_read_slice(&check->slice, &r, root);
	json_object_put(root);
	return ret;
}

static int check_options(const struct cli_args *args, struct err *err)
{
	static const int from[] = { SLICE, CLUSTER }, of[] = { FLOWS, PATTERN };
	static const struct cli_with with[] = {
		{ JOB, CLUSTER }, { SEED, PATTERN },
	};

	return cli_one(args, from, ARRAY_SIZE(from), err) ?:
	       cli_one(args, of, ARRAY_SIZE(of), err) ?:
	       cli_only_with(args, with, ARRAY_SIZE(with), err);
}

static int show(const struct cli_args *args, struct check *check)
{
	struct json_object *root = out_root();
	int ret;

	out_uint(root, "ranks", check->slice.layout.ranks);
	out_uint(root, "steps", check->steps);
	out_uint(root, "flows", check->flows);
	out_uint(root, "contended", check->contended);
	json_object_object_add(root, "links", json_object_get(check->links));
	if (check->contended > MAX_LISTED)
		out_note(&args->out, "the first %u links are listed", MAX_LISTED);
	ret = out_show(&args->out, root, views);
	if (!ret && check->contended)
		ret = EXIT_FAILED;
	return ret;
}

int slice_check(const struct cli_args *args, struct err *err)
{
	struct check check = {};
	int ret;

	ret = check_options(args, err);
	if (ret)
		return ret;
	check.links = json_object_new_array();
	ret = read_slice(args, &check, err);
	if (!ret)
		ret = args->value[FLOWS] ?
		      check_flows(args->value[FLOWS], &check, err) :
		      check_pattern(args, &check, err);
	if (!ret)
		ret = show(args, &check);
	contention_slice_free(&check.slice);
	json_object_put(check.links);
	return ret;
}
