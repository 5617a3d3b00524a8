// SPDX-License-Identifier: GPL-2.0
/* rocesteer plan: deal flows to paths. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

enum { FLOWS, PATHS, WEIGHTS, PRIOR, RECOMMEND_QPS };

static const struct cli_option options[] = {
	[FLOWS] = { "flows", "N", "number of flows, all of the same length", CLI_NEEDED },
	[PATHS] = { "paths", "S", "number of paths", CLI_NEEDED },
	[WEIGHTS] = { "weights", "W0,W1,..",
		      "capacity of each path (default: all the same)" },
	[PRIOR] = { "prior", "FILE",
		    "earlier plan, from --json, of which little is to move" },
	[RECOMMEND_QPS] = { "recommend-qps", NULL,
			    "recommend a number of queue pairs per connection" },
	{}
};

static const struct out_column total_columns[] = {
	{ "flows", "flows" },
	{ "paths", "paths" },
	{ "unit", "units per flow" },
	{ "load", "load of paths" },
	{}
};

static const struct out_column piece_columns[] = {
	{ "flow", "FLOW" },
	{ "path", "PATH" },
	{ "from", "FROM" },
	{ "to", "TO" },
	{}
};

static const struct out_column change_columns[] = {
	{ "moved", "moved" },
	{ "must", "moved at least" },
	{ "flows", "of flows" },
	{ "unit", "common units per flow" },
	{}
};

static const struct out_view views[] = {
	{ .columns = total_columns },
	{ .in = "change", .columns = change_columns },
	{ .rows = "pieces", .columns = piece_columns },
	{}
};

struct weights {
	__u32 *value;
	__u32 n;
	__u32 max;
	struct err *err;
};

static int weight_add(const char *item, void *arg)
{
	struct weights *weights = arg;
	__u64 value;

	if (weights->n == weights->max)
		return err_set(weights->err, EXIT_BAD_INPUT, "usage",
			       "--weights: more weights than paths, %u",
			       weights->max);
	if (item[strspn(item, "0123456789")] || cli_number(item, 0, 0xffffffff, &value))
		return err_set(weights->err, EXIT_BAD_INPUT, "usage",
			       "--weights: W%u: '%s' is not a whole number from 0 to 4294967295",
			       weights->n, item);
	weights->value[weights->n++] = value;
	return 0;
}

static int weights_read(struct weights *weights, const char *text)
{
	struct err *err = weights->err;
	int ret;

	weights->value = calloc(weights->max, sizeof(*weights->value));
	if (!weights->value)
		return -ENOMEM;
	ret = cli_each("weights", text, weight_add, weights, err);
	if (!ret && weights->n != weights->max)
		ret = err_set(err, EXIT_BAD_INPUT, "usage",
			      "--weights: %u weights for %u paths", weights->n,
			      weights->max);
	return ret;
}

/* Report an error of the planner. */
static int explain(int ret, struct err *err)
{
	switch (ret) {
	case -EINVAL:
		err_set(err, EXIT_BAD_INPUT, "weights",
			"--weights: all weights are 0, no path can be used");
		break;
	case -EOVERFLOW:
		err_set(err, EXIT_BAD_INPUT, "weights",
			"--weights: the units of this plan exceed 63 bits");
		err_hint(err, "Use weights with a common divisor, or smaller ones.");
		break;
	}
	return ret;
}

static void add_change(struct json_object *root, const struct plan_change *change)
{
	struct json_object *obj = out_object(root, "change");

	out_uint(obj, "moved", change->moved);
	out_uint(obj, "must", change->must);
	out_uint(obj, "flows", change->flows);
	out_uint(obj, "unit", change->unit);
}

static struct json_object *to_json(const struct plan *plan, const struct plan_change *change)
{
	struct json_object *root = out_root(), *array;
	size_t i;

	out_uint(root, "flows", plan->flows);
	out_uint(root, "paths", plan->paths);
	out_uint(root, "unit", plan->unit);
	array = out_array(root, "pieces");
	for (i = 0; i < plan->nr_pieces; i++) {
		const struct plan_piece *piece = &plan->pieces[i];
		struct json_object *obj = out_append_object(array);

		out_uint(obj, "flow", piece->flow);
		out_uint(obj, "path", piece->path);
		out_uint(obj, "from", piece->from);
		out_uint(obj, "to", piece->to);
	}
	array = out_array(root, "load");
	for (i = 0; i < plan->paths; i++)
		out_append_uint(array, plan->load[i]);
	if (change)
		add_change(root, change);
	return root;
}

static int show_plan(const struct out *out, const struct plan_spec *spec, struct err *err)
{
	struct plan_change change;
	struct plan plan;
	int ret;

	ret = explain(plan_make(&plan, spec), err);
	if (ret)
		return ret;
	if (spec->prior)
		ret = plan_compare(&change, &plan, spec);
	if (ret == -EOVERFLOW)
		err_set(err, EXIT_BAD_INPUT, "prior",
			"--prior: a common unit of both plans exceeds 63 bits");
	if (!ret)
		ret = out_show(out, to_json(&plan, spec->prior ? &change : NULL), views);
	plan_free(&plan);
	return ret;
}

static int run(const struct cli_args *args, struct err *err)
{
	struct weights weights = { .err = err };
	struct plan_piece *prior = NULL;
	struct plan_spec spec = {};
	__u64 flows, paths;
	int ret;

	ret = cli_uint(args, FLOWS, 1, PLAN_MAX_FLOWS, &flows, err) ?:
	      cli_uint(args, PATHS, 1, PLAN_MAX_PATHS, &paths, err);
	if (!ret && args->value[PRIOR] && args->value[RECOMMEND_QPS])
		ret = err_set(err, EXIT_BAD_INPUT, "usage",
			      "--prior and --recommend-qps exclude each other");
	if (ret)
		return ret;
	spec.flows = flows;
	spec.paths = paths;
	weights.max = paths;
	if (args->value[WEIGHTS])
		ret = weights_read(&weights, args->value[WEIGHTS]);
	spec.weights = weights.value;
	if (!ret && args->value[PRIOR])
		ret = plan_prior_read(args->value[PRIOR], flows, &prior, &spec.nr_prior, err);
	spec.prior = prior;
	if (!ret && args->value[RECOMMEND_QPS])
		ret = explain(plan_qps_show(&args->out, &spec), err);
	else if (!ret)
		ret = show_plan(&args->out, &spec, err);
	free(weights.value);
	free(prior);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.help = "Share flows out to paths so that each carries exactly its share",
		.options = options,
		.example = "plan --flows 6 --paths 4",
		.run = run,
	},
	{}
};

const struct cli_object cli_plan = {
	.name = "plan",
	.help = "share flows out to paths exactly",
	.verbs = verbs,
};
