// SPDX-License-Identifier: GPL-2.0
/* rocesteer slice mark: parts that are not given to jobs. */
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "slice.h"

enum { CLUSTER, AS, PARTS };

static const char * const mark_words[] = { "drained", "failed", "usable", NULL };

const struct cli_option slice_mark_options[] = {
	[CLUSTER] = { "cluster", "FILE", "cluster file", CLI_NEEDED },
	[AS] = { "as", NULL, "usable: remove both marks", CLI_NEEDED, mark_words },
	[PARTS + CLUSTER_LEAVES] = { "leaves", "L[,L..]",
				     "leaves, their servers and links" },
	[PARTS + CLUSTER_SPINES] = { "spines", "S[,S..]",
				     "spines and their links" },
	[PARTS + CLUSTER_SERVERS] = { "servers", "L/V[,L/V..]",
				      "servers of leaves" },
	[PARTS + CLUSTER_LINKS] = { "links", "L/S[,L/S..]",
				    "links between leaves and spines" },
	{}
};

static const struct out_column columns[] = {
	{ "changed", "marks changed" },
	{ "generation", "generation" },
	{}
};

static const struct out_view views[] = {
	{ .columns = columns },
	{}
};

/* The part that is read, and where to note it. */
struct mark {
	struct cluster *c;
	const char *as;
	enum cluster_part part;
	const char *option;
	struct json_object *line;	/* of the journal */
	__u32 changed;
	struct err *err;
};

static bool is_pair(enum cluster_part part)
{
	return part == CLUSTER_SERVERS || part == CLUSTER_LINKS;
}

/* Syntax of an item. */
static const char *item_name(enum cluster_part part)
{
	static const char * const names[] = {
		[CLUSTER_LEAVES] = "L, a leaf",
		[CLUSTER_SPINES] = "S, a spine",
		[CLUSTER_SERVERS] = "L/V, a leaf and a server,",
		[CLUSTER_LINKS] = "L/S, a leaf and a spine,",
	};

	return names[part];
}

/* L, or L/V. */
static int read_part(const struct mark *mark, const char *item, __u64 *a, __u64 *b)
{
	const struct slice_fabric *fabric = &mark->c->fabric;
	__u32 servers = fabric->gpus_per_leaf / fabric->gpus_per_server;

	*b = 0;
	if (!is_pair(mark->part))
		return cli_number(item, 0, (mark->part == CLUSTER_SPINES ?
					    fabric->spines : fabric->leaves) - 1,
				  a);
	return cli_pair(item, fabric->leaves, mark->part == CLUSTER_SERVERS ?
			servers : fabric->spines, a, b);
}

static int mark_item(const char *item, void *arg)
{
	struct mark *mark = arg;
	struct json_object *array, *pair;
	__u64 a, b;
	int i;

	if (read_part(mark, item, &a, &b))
		return err_set(mark->err, EXIT_BAD_INPUT, "usage",
			       "--%s: '%s' is not %s in %s", mark->option,
			       item, item_name(mark->part), mark->c->file);
	for (i = 0; i < CLUSTER_MARKS; i++) {
		bool set = !strcmp(mark->as, cluster_mark_names[i]);

		if (set || !strcmp(mark->as, "usable"))
			mark->changed += cluster_mark(mark->c, i, set, mark->part, a, b);
	}
	array = json_object_object_get(mark->line, mark->option);
	if (!array)
		array = out_array(mark->line, mark->option);
	pair = is_pair(mark->part) ? out_append_array(array) : array;
	out_append_uint(pair, a);
	if (pair != array)
		out_append_uint(pair, b);
	return 0;
}

static int mark_each(const struct cli_args *args, struct mark *mark)
{
	int part, ret = 0;

	for (part = 0; !ret && part < CLUSTER_PARTS; part++) {
		const char *list = args->value[PARTS + part];

		if (!list)
			continue;
		mark->part = part;
		mark->option = args->options[PARTS + part].name;
		ret = cli_each(mark->option, list, mark_item, mark, mark->err);
	}
	return ret;
}

static int check_options(const struct cli_args *args, struct err *err)
{
	int part, parts = 0, as;

	if (cli_word(args, AS, &as, err))
		return -EINVAL;
	for (part = 0; part < CLUSTER_PARTS; part++)
		parts += !!args->value[PARTS + part];
	if (parts)
		return 0;
	return err_set(err, EXIT_BAD_INPUT, "usage",
		       "one of --leaves, --spines, --servers and --links must be given");
}

int slice_mark(const struct cli_args *args, struct err *err)
{
	struct mark mark = { .as = args->value[AS], .err = err };
	struct json_object *root;
	struct cluster c;
	int ret;

	ret = check_options(args, err) ?:
	      cluster_open(&c, args->value[CLUSTER], err);
	if (ret)
		return ret;
	mark.c = &c;
	mark.line = out_root();
	out_string(mark.line, "decision", "mark");
	out_string(mark.line, "as", mark.as);
	ret = mark_each(args, &mark);
	if (!ret && mark.changed)
		ret = cluster_commit(&c, json_object_get(mark.line), err);
	json_object_put(mark.line);
	root = out_root();
	out_uint(root, "changed", mark.changed);
	out_uint(root, "generation", c.generation);
	cluster_close(&c);
	if (!ret)
		return out_show(&args->out, root, views);
	json_object_put(root);
	return ret;
}
