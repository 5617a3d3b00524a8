// SPDX-License-Identifier: GPL-2.0
/* rocesteer chunk compare: how well each policy uses a network, and what that depends on. */
#include <errno.h>

#include "base/base.h"
#include "chunk/chunk.h"
#include "chunk.h"
#include "chunk_networks.h"

const struct cli_option chunk_compare_options[] = {
	CHUNK_SHARED_OPTIONS(),
	{}
};

static const struct out_column total_columns[] = {
	{ "collective", "collective" },
	{ "size", "bytes" },
	{ "chunks", "chunks" },
	{}
};

static const struct out_column time_columns[] = {
	{ "dims", "DIMENSIONS" },
	{ "bandwidth", "GIB/S" },
	{ "enough", "JUST ENOUGH" },
	{ "baseline_us", "BASELINE" },
	{ "fifo_us", "THEMIS FIFO" },
	{ "scf_us", "THEMIS SCF" },
	{ "best_us", "BEST" },
	{ "ideal_us", "IDEAL" },
	{}
};

static const struct out_column used_columns[] = {
	{ "dims", "DIMENSIONS" },
	{ "bandwidth", "GIB/S" },
	{ "baseline_percent", "BASELINE" },
	{ "fifo_percent", "THEMIS FIFO" },
	{ "scf_percent", "THEMIS SCF" },
	{ "best_percent", "BEST" },
	{}
};

static const struct out_column size_columns[] = {
	{ "size", "BYTES" },
	{ "baseline_percent", "BASELINE" },
	{ "fifo_percent", "THEMIS FIFO" },
	{ "scf_percent", "THEMIS SCF" },
	{ "best_percent", "BEST" },
	{}
};

static const struct out_column chunk_columns[] = {
	{ "chunks", "CHUNKS" },
	{ "baseline_percent", "BASELINE" },
	{ "fifo_percent", "THEMIS FIFO" },
	{ "scf_percent", "THEMIS SCF" },
	{ "best_percent", "BEST" },
	{}
};

static const struct out_column bandwidth_columns[] = {
	{ "what", "BANDWIDTH" },
	{ "times", "TIMES ENOUGH" },
	{ "baseline_percent", "BASELINE" },
	{ "fifo_percent", "THEMIS FIFO" },
	{ "scf_percent", "THEMIS SCF" },
	{ "best_percent", "BEST" },
	{}
};

static const struct out_column mean_columns[] = {
	{ "baseline_percent", "baseline" },
	{ "fifo_percent", "themis fifo" },
	{ "scf_percent", "themis scf" },
	{ "best_percent", "best" },
	{}
};

static const struct out_view views[] = {
	{ .columns = total_columns },
	{ .rows = "networks",
	  .title = "Predicted time, in us (best is ours, the others the paper's):",
	  .columns = time_columns },
	{ .rows = "networks", .title = "Utilisation, in percent:",
	  .columns = used_columns },
	{ .in = "mean", .title = "Mean utilisation, in percent:",
	  .columns = mean_columns },
	{ .rows = "by_size", .title = "Mean utilisation by size:", .columns = size_columns },
	{ .rows = "by_chunks", .title = "Mean utilisation by chunks per collective:",
	  .columns = chunk_columns },
	{ .rows = "by_bandwidth",
	  .title = "Mean utilisation where dimensions have so many times what is just enough:",
	  .columns = bandwidth_columns },
	{}
};

#define SUBJECTS	4u

/* Plans, in the order of the columns. */
static const struct {
	int policy;
	int queue;
	const char *us;
	const char *percent;
} subjects[SUBJECTS] = {
	{ CHUNK_POLICY_BASELINE, CHUNK_FIFO, "baseline_us", "baseline_percent" },
	{ CHUNK_POLICY_THEMIS, CHUNK_FIFO, "fifo_us", "fifo_percent" },
	{ CHUNK_POLICY_THEMIS, CHUNK_SCF, "scf_us", "scf_percent" },
	{ CHUNK_POLICY_BEST, CHUNK_QUEUE_ANY, "best_us", "best_percent" },
};

/* The sizes that the paper means by a large collective */
static const __u64 sizes[] = { 100, 250, 500, 750, 1024 };
/* Bandwidths, in quarters of just enough */
static const __u32 quarters[] = { 1, 2, 4, 8, 16 };

/**
 * struct comparison - what is compared
 * @networks: the networks, and the collective over each
 * @progress: shown while plans are searched
 */
struct comparison {
	struct chunk_networks networks;
	struct progress progress;
};

static int predict(struct comparison *comparison, const struct chunk_collective *of,
		   __u64 times[SUBJECTS])
{
	__u32 i;
	int ret = 0;

	progress_update(&comparison->progress, "planning %u chunks of %llu bytes", of->chunks,
			of->size);
	for (i = 0; !ret && i < SUBJECTS; i++)
		ret = chunk_predict(of, subjects[i].policy, subjects[i].queue, &times[i]);
	return ret;
}

/* Adds the utilisation by each subject. */
static int add_used(struct comparison *comparison, const struct chunk_collective *of,
		    __u64 used[SUBJECTS])
{
	__u64 times[SUBJECTS];
	int ret = predict(comparison, of, times);
	__u32 i;

	for (i = 0; !ret && i < SUBJECTS; i++)
		used[i] += chunk_percent(chunk_model_ideal(of), times[i]);
	return ret;
}

static void add_percents(struct json_object *obj, const __u64 used[SUBJECTS], __u32 nr)
{
	__u32 i;

	for (i = 0; i < SUBJECTS; i++)
		out_decimal(obj, subjects[i].percent, used[i] / nr, 3);
}

/*
 * The bandwidth at which each dimension takes as long as the first one when all chunks take the
 * natural order: more is of no use to the baseline, and of less no order makes up.
 */
static int just_enough(const struct chunk_collective *of, __u64 enough[CHUNK_MAX_DIMS])
{
	__u64 first = 0, load;
	struct chunk_plan plan;
	__u32 k;
	int ret = chunk_plan_make(&plan, of, CHUNK_BASELINE);

	for (k = 0; !ret && k < of->dims; k++) {
		load = chunk_plan_load(&plan, k);
		first = first ?: load;
		enough[k] = first ? (__uint128_t)of->dim[k].bandwidth * load / first : 0;
	}
	if (!ret)
		chunk_plan_free(&plan);
	return ret;
}

static int add_network(struct comparison *comparison, struct json_object *array, __u32 n,
		       __u64 used[SUBJECTS])
{
	const struct chunk_collective *of = &comparison->networks.of[n];
	struct json_object *obj = out_append_object(array), *list;
	__u64 times[SUBJECTS], enough[CHUNK_MAX_DIMS], ideal = chunk_model_ideal(of);
	int ret = just_enough(of, enough) ?: predict(comparison, of, times);
	__u32 i;

	if (ret)
		return ret;
	out_string(obj, "dims", comparison->networks.name[n].dims);
	out_string(obj, "bandwidth", comparison->networks.name[n].bandwidth);
	list = out_array(obj, "enough");
	for (i = 0; i < of->dims; i++)
		out_append_decimal(list, enough[i] / 10000, 2);
	for (i = 0; i < SUBJECTS; i++) {
		chunk_add_us(obj, subjects[i].us, times[i]);
		out_decimal(obj, subjects[i].percent, chunk_percent(ideal, times[i]), 3);
		used[i] += chunk_percent(ideal, times[i]);
	}
	chunk_add_us(obj, "ideal_us", ideal);
	return 0;
}

/* Changes a collective to value @i of what is varied, and says so in a row. */
typedef int vary_fn(struct chunk_collective *of, __u32 i, struct json_object *obj);

static int vary_size(struct chunk_collective *of, __u32 i, struct json_object *obj)
{
	of->size = sizes[i] << 20;
	out_uint(obj, "size", of->size);
	return 0;
}

static int vary_chunks(struct chunk_collective *of, __u32 i, struct json_object *obj)
{
	of->chunks = 4u << i;
	out_uint(obj, "chunks", of->chunks);
	return 0;
}

static int vary_bandwidth(struct chunk_collective *of, __u32 i, struct json_object *obj)
{
	__u64 enough[CHUNK_MAX_DIMS];
	int ret = just_enough(of, enough);
	bool first = true;
	__u32 k;

	out_string(obj, "what", quarters[i] < 4 ? "too little" : quarters[i] > 4 ? "too much" :
		   "just enough");
	out_decimal(obj, "times", quarters[i] * 25, 2);
	for (k = 0; !ret && k < of->dims; k++) {
		if (!enough[k])
			continue;
		if (!first)
			of->dim[k].bandwidth = enough[k] * quarters[i] / 4 ?: 1;
		first = false;
	}
	return ret;
}

/*
 * A table of means over the networks, with a row for each value. Values that nothing can be planned
 * with have none: more chunks than bytes, bandwidths out of range, or others than those beside.
 */
static int add_means(struct comparison *comparison, struct json_object *root, const char *rows,
		     __u32 values, vary_fn *vary)
{
	struct json_object *array = out_array(root, rows), *obj;
	int ret = 0;
	__u32 i, n;

	for (i = 0; !ret && i < values; i++) {
		__u64 used[SUBJECTS] = {};
		struct chunk_collective of;

		obj = out_append_object(array);
		for (n = 0; !ret && n < comparison->networks.nr; n++) {
			of = comparison->networks.of[n];
			ret = vary(&of, i, obj) ?: add_used(comparison, &of, used);
		}
		add_percents(obj, used, comparison->networks.nr);
		if (ret == -EINVAL || ret == -ERANGE)
			ret = json_object_array_del_idx(array, json_object_array_length(array) - 1,
							1);
	}
	return ret;
}

static int compare(struct comparison *comparison, struct json_object *root)
{
	const struct chunk_collective *of = &comparison->networks.of[0];
	struct json_object *array = out_array(root, "networks");
	__u64 used[SUBJECTS] = {};
	int ret = 0;
	__u32 n;

	out_string(root, "collective", chunk_kinds[of->kind]);
	out_uint(root, "size", of->size);
	out_uint(root, "chunks", of->chunks);
	for (n = 0; !ret && n < comparison->networks.nr; n++)
		ret = add_network(comparison, array, n, used);
	add_percents(out_object(root, "mean"), used, comparison->networks.nr);
	if (!ret && comparison->networks.nr > 1)
		ret = add_means(comparison, root, "by_size", ARRAY_SIZE(sizes), vary_size);
	return ret ?: add_means(comparison, root, "by_chunks", 8, vary_chunks) ?:
	       add_means(comparison, root, "by_bandwidth", ARRAY_SIZE(quarters), vary_bandwidth);
}

int chunk_compare_run(const struct cli_args *args, struct err *err)
{
	struct comparison comparison = {};
	struct json_object *root = out_root();
	int ret = chunk_networks_read(args, &comparison.networks, err);

	progress_start(&comparison.progress);
	ret = ret ?: compare(&comparison, root);
	progress_end(&comparison.progress);
	chunk_networks_free(&comparison.networks);
	if (!ret)
		return out_show(&args->out, root, views);
	json_object_put(root);
	return ret;
}
