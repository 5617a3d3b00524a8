// SPDX-License-Identifier: GPL-2.0
/* rocesteer stat: every counter by name. */
#include <errno.h>

#include "steer/steer.h"
#include "objects.h"
#include "module.h"

static const struct cli_option options[] = { {} };

static int put_counters(struct json_object *root, struct steer *steer)
{
	__u64 verdicts[ROCESTEER_VERDICT_MAX], observed[ROCESTEER_OBSERVED_MAX];
	struct json_object *obj;
	unsigned int i;
	int ret;

	ret = steer_counters(steer, verdicts, observed);
	if (ret)
		return ret;
	obj = out_object(root, "verdicts");
	for (i = 0; i < ROCESTEER_VERDICT_MAX; i++)
		out_uint(obj, verdict_name(i), verdicts[i]);
	obj = out_object(root, "observed");
	for (i = 0; i < ROCESTEER_OBSERVED_MAX; i++)
		out_uint(obj, observed_name(i), observed[i]);
	return 0;
}

/* Sums over the jobs and dimensions. */
struct classes {
	bool any;
	struct rocesteer_count count[ROCESTEER_MAX_CLASSES];
};

static int add_class(const struct rocesteer_count_key *key,
		     const struct rocesteer_count *count, void *arg)
{
	struct classes *classes = arg;
	struct rocesteer_count *sum;

	if (key->class >= ROCESTEER_MAX_CLASSES)
		return 0;
	sum = &classes->count[key->class];
	sum->messages += count->messages;
	sum->packets += count->packets;
	sum->bytes += count->bytes;
	classes->any = true;
	return 0;
}

/* Counters of the classes of chunks. */
static int put_classes(struct json_object *root, struct steer *steer)
{
	struct json_object *array, *obj;
	struct classes classes = {};
	unsigned int i;
	int ret;

	ret = steer_count_each(steer, 0, add_class, &classes);
	if (ret || !classes.any)
		return ret;
	array = out_array(root, "classes");
	for (i = 0; i < ROCESTEER_MAX_CLASSES; i++) {
		if (i && !classes.count[i].packets)
			continue;
		obj = out_append_object(array);
		out_uint(obj, "class", i);
		out_uint(obj, "messages", classes.count[i].messages);
		out_uint(obj, "packets", classes.count[i].packets);
		out_uint(obj, "bytes", classes.count[i].bytes);
	}
	return 0;
}

static int put_module(struct json_object *root, struct genl *genl,
		      struct err *err)
{
	struct genl_stats stats;
	struct json_object *obj;
	unsigned int i;
	int ret;

	ret = genl_stats(genl, &stats, err);
	if (ret)
		return ret;
	obj = out_object(root, "module");
	for (i = 0; i <= ROCESTEER_A_STATS_MAX; i++)
		if (genl_stat_name(i))
			out_uint(obj, genl_stat_name(i), stats.value[i]);
	return 0;
}

static const struct out_column class_columns[] = {
	{ "class", "CLASS" },
	{ "messages", "MESSAGES" },
	{ "packets", "PACKETS" },
	{ "bytes", "BYTES" },
	{}
};

static const struct out_view no_views[] = {
	{ .rows = "verdicts", .columns = class_columns, .empty = "no job is loaded" },
	{}
};

static struct out_column name_column(const char *name)
{
	return (struct out_column) { .key = name, .heading = name };
}

/* The views' columns are the names of the counters. */
static int print(const struct out *out, struct json_object *root)
{
	struct out_column verdicts[ROCESTEER_VERDICT_MAX + 1] = {};
	struct out_column observed[ROCESTEER_OBSERVED_MAX + 1] = {};
	struct out_column module[ROCESTEER_A_STATS_MAX + 1] = {};
	const struct out_view views[] = {
		{ .in = "verdicts", .title = "Packets at egress:",
		  .columns = verdicts },
		{ .in = "observed", .title = "Packets at ingress:",
		  .columns = observed },
		{ .rows = "classes", .title = "Packets of jobs with chunks:",
		  .columns = class_columns },
		{ .in = "module", .title = "Module:", .columns = module },
		{}
	};
	unsigned int i, n = 0;

	for (i = 0; i < ROCESTEER_VERDICT_MAX; i++)
		verdicts[i] = name_column(verdict_name(i));
	for (i = 0; i < ROCESTEER_OBSERVED_MAX; i++)
		observed[i] = name_column(observed_name(i));
	for (i = 0; i <= ROCESTEER_A_STATS_MAX; i++)
		if (genl_stat_name(i))
			module[n++] = name_column(genl_stat_name(i));
	return out_show(out, root, views);
}

static int run(const struct cli_args *args, struct err *err)
{
	struct err nothing = {}, module = {};
	struct json_object *root = out_root();
	struct steer *steer = NULL;
	struct genl *genl = NULL;
	int ret;

	ret = steer_open(&steer, STEER_READ, &nothing);
	if (ret && ret != -ENOENT) {
		*err = nothing;
		goto out_put;
	}
	ret = module_open(&genl, MODULE_AUTO, &module);
	if (ret)
		out_note(&args->out, "%s", module.message);
	ret = 0;
	if (!steer && !genl)
		return out_show(&args->out, root, no_views);
	if (steer)
		ret = put_counters(root, steer) ?: put_classes(root, steer);
	if (!ret && genl)
		ret = put_module(root, genl, err);
	genl_close(genl);
	if (steer)
		steer_close(steer);
	if (!ret)
		return print(&args->out, root);
out_put:
	json_object_put(root);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.help = "Show the counters of packets and of the module",
		.options = options,
		.run = run,
	},
	{}
};

const struct cli_object cli_stat = {
	.name = "stat",
	.help = "show the counters",
	.verbs = verbs,
};
