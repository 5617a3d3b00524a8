// SPDX-License-Identifier: GPL-2.0
/* rocesteer stat: every counter by name. */
#include <errno.h>

#include "../module.h"
#include "../objects.h"
#include "metrics.h"

enum { OPENMETRICS, OUT };

static const struct cli_option options[] = {
	[OPENMETRICS] = { "openmetrics", NULL, "print metrics for Prometheus" },
	[OUT] = { "out", "FILE", "replace FILE by the metrics" },
	{}
};

static void put_tables(struct json_object *root, const struct counters *counters)
{
	struct json_object *obj;
	unsigned int i;

	obj = out_object(root, "verdicts");
	for (i = 0; i < ROCESTEER_VERDICT_MAX; i++)
		out_uint(obj, verdict_name(i), counters->verdicts[i]);
	obj = out_object(root, "observed");
	for (i = 0; i < ROCESTEER_OBSERVED_MAX; i++)
		out_uint(obj, observed_name(i), counters->observed[i]);
}

/* Counters of the classes of chunks. */
static void put_classes(struct json_object *root, const struct counters *counters)
{
	struct json_object *array, *obj;
	unsigned int i;

	array = out_array(root, "classes");
	for (i = 0; i < ROCESTEER_MAX_CLASSES; i++) {
		const struct rocesteer_count *count = &counters->classes[i];

		if (i && !count->packets)
			continue;
		obj = out_append_object(array);
		out_uint(obj, "class", i);
		out_uint(obj, "messages", count->messages);
		out_uint(obj, "packets", count->packets);
		out_uint(obj, "bytes", count->bytes);
	}
}

/* Bucket i counts what is @unit * 2^i at most; the last one has no bound if @open. */
static void put_buckets(struct json_object *obj, const char *key, const __u64 *bucket,
			unsigned int nr, __u64 unit, bool open)
{
	struct json_object *array = out_array(obj, key), *item;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		item = out_append_object(array);
		if (!open || i + 1 < nr)
			out_uint(item, "most", unit << i);
		out_uint(item, "count", bucket[i]);
	}
}

static void put_module(struct json_object *root, const struct genl_stats *stats)
{
	struct json_object *obj = out_object(root, "module");
	unsigned int i;

	for (i = 0; i <= ROCESTEER_A_STATS_MAX; i++)
		if (genl_stat(i))
			out_uint(obj, genl_stat(i)->name, stats->value[i]);
	put_buckets(obj, "reseq_depth", stats->depth, ARRAY_SIZE(stats->depth), 1, false);
	put_buckets(obj, "reseq_wait", stats->wait, ARRAY_SIZE(stats->wait), GENL_WAIT_UNIT, true);
}

static struct json_object *to_json(const struct counters *counters)
{
	struct json_object *root = out_root();

	if (counters->has_tables)
		put_tables(root, counters);
	if (counters->has_classes)
		put_classes(root, counters);
	if (counters->has_module)
		put_module(root, &counters->module);
	return root;
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
		if (genl_stat(i))
			module[n++] = name_column(genl_stat(i)->name);
	return out_show(out, root, views);
}

static int show(const struct cli_args *args, const struct counters *counters)
{
	struct json_object *root = to_json(counters);

	return counters->has_tables || counters->has_module ?
	       print(&args->out, root) : out_show(&args->out, root, no_views);
}

static int replace(const char *file, const struct metrics *metrics, struct err *err)
{
	struct file_new new;
	int ret = file_begin(&new);

	if (ret)
		return ret;
	metrics_print(new.out, metrics);
	ret = file_replace(file, &new);
	if (ret < 0)
		return err_errno(err, -ret, "write", "cannot write %s", file);
	return 0;	/* what a crash undoes is old in seconds */
}

static int show_metrics(const struct cli_args *args, const struct metrics *metrics, struct err *err)
{
	if (args->value[OUT])
		return replace(args->value[OUT], metrics, err);
	metrics_print(stdout, metrics);
	return out_flush();
}

static int check(const struct cli_args *args, struct err *err)
{
	static const struct cli_with with[] = { { OUT, OPENMETRICS } };

	if (args->out.json && args->value[OPENMETRICS])
		return cli_usage(err, "--openmetrics is another format than --json", NULL, "stat");
	return cli_only_with(args, with, ARRAY_SIZE(with), err) ?: !args->value[OUT] ? 0 :
	       file_check(args->value[OUT], METRICS_BEGIN, "file of metrics", err);
}

/* Open tables and module; set NULL for the one that is absent. */
static int open_all(const struct cli_args *args, struct steer **steer, struct genl **genl,
		    struct err *err)
{
	struct err module = {};
	int ret = steer_open(steer, STEER_READ, err);

	if (ret && ret != -ENOENT)
		return ret;
	err->code = NULL;
	if (module_open(genl, MODULE_AUTO, &module))
		out_note(&args->out, "%s", module.message);
	return 0;
}

static int run(const struct cli_args *args, struct err *err)
{
	struct metrics metrics = {};
	struct steer *steer = NULL;
	struct genl *genl = NULL;
	int ret;

	ret = check(args, err) ?: open_all(args, &steer, &genl, err);
	if (ret)
		return ret;
	ret = args->value[OPENMETRICS] ? metrics_read(&metrics, steer, genl, err) :
	      counters_read(&metrics.counters, steer, genl, err);
	genl_close(genl);
	steer_close(steer);
	if (!ret)
		ret = args->value[OPENMETRICS] ? show_metrics(args, &metrics, err) :
		      show(args, &metrics.counters);
	metrics_free(&metrics);
	return ret;
}

static const struct cli_verb verbs[] = {
	{
		.help = "Show the counters of packets and of the module",
		.options = options,
		.example = "stat --openmetrics",
		.shows = true,
		.run = run,
	},
	{}
};

const struct cli_object cli_stat = {
	.name = "stat",
	.help = "show the counters",
	.verbs = verbs,
};
