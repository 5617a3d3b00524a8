// SPDX-License-Identifier: GPL-2.0
/* rocesteer chunk compare: how well each policy uses a network. */
#include <errno.h>

#include "chunk/chunk.h"
#include "chunk.h"

const struct cli_option chunk_compare_options[] = {
	CHUNK_SHARED_OPTIONS,
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

static const struct out_column mean_columns[] = {
	{ "baseline_percent", "baseline" },
	{ "fifo_percent", "themis fifo" },
	{ "scf_percent", "themis scf" },
	{ "best_percent", "best" },
	{}
};

static const struct out_view views[] = {
	{ .columns = total_columns },
	{ .rows = "networks", .title = "Predicted time, in us:",
	  .columns = time_columns },
	{ .rows = "networks", .title = "Utilisation, in percent:",
	  .columns = used_columns },
	{ .in = "mean", .title = "Mean utilisation, in percent:",
	  .columns = mean_columns },
	{}
};

/* Plans, in the order of the columns. */
static const struct {
	int policy;
	int queue;
	const char *us;
	const char *percent;
} subjects[] = {
	{ CHUNK_POLICY_BASELINE, CHUNK_FIFO, "baseline_us", "baseline_percent" },
	{ CHUNK_POLICY_THEMIS, CHUNK_FIFO, "fifo_us", "fifo_percent" },
	{ CHUNK_POLICY_THEMIS, CHUNK_SCF, "scf_us", "scf_percent" },
	{ CHUNK_POLICY_BEST, CHUNK_QUEUE_ANY, "best_us", "best_percent" },
};

struct network {
	const char *dims;
	const char *bandwidth;
};

/* The networks that the paper of Themis measures, of 1,024 endpoints each. */
static const struct network paper[] = {
	{ "16x64", "150,100" },
	{ "16x8x8", "100,100,100" },
	{ "16x8x8", "200,100,50" },
	{ "8x16x8", "175,100,50" },
	{ "4x4x8x8", "250,200,100,50" },
	{ "4x8x4x8", "375,175,150,100" },
};

/* Adds the utilisation by each subject to @sum. */
static int compare(struct json_object *networks, const struct network *network,
		   const struct chunk_collective *of, __u64 *sum)
{
	struct json_object *obj = out_append_object(networks);
	__u64 ideal = chunk_model_ideal(of), time;
	__u32 i;
	int ret;

	out_string(obj, "dims", network->dims);
	out_string(obj, "bandwidth", network->bandwidth);
	for (i = 0; i < ARRAY_SIZE(subjects); i++) {
		__u64 used;

		ret = chunk_predict(of, subjects[i].policy, subjects[i].queue,
				    &time);
		if (ret)
			return ret;
		used = chunk_percent(ideal, time);
		sum[i] += used;
		chunk_add_us(obj, subjects[i].us, time);
		out_decimal(obj, subjects[i].percent, used, 3);
	}
	chunk_add_us(obj, "ideal_us", ideal);
	return 0;
}

/* The network of the options, or those of the paper. */
static int compare_all(const struct cli_args *args, struct json_object *root,
		       struct err *err)
{
	struct cli_args one = *args;
	struct network network = {
		args->value[CHUNK_OPTION_DIMS],
		args->value[CHUNK_OPTION_BANDWIDTH],
	};
	bool own = network.dims || network.bandwidth;
	const struct network *list = own ? &network : paper;
	__u32 nr = own ? 1 : ARRAY_SIZE(paper), i;
	__u64 sum[ARRAY_SIZE(subjects)] = {};
	struct json_object *array, *mean;
	struct chunk_collective of;
	int ret;

	ret = chunk_args_check(args, err);
	if (ret)
		return ret;
	if (!one.value[CHUNK_OPTION_SIZE])
		one.value[CHUNK_OPTION_SIZE] = "1G";
	array = out_array(root, "networks");
	for (i = 0; i < nr; i++) {
		one.value[CHUNK_OPTION_DIMS] = list[i].dims;
		one.value[CHUNK_OPTION_BANDWIDTH] = list[i].bandwidth;
		ret = chunk_args_read(&one, &of, err) ?:
		      compare(array, &list[i], &of, sum);
		if (ret)
			return ret;
	}
	out_string(root, "collective", chunk_kinds[of.kind]);
	out_uint(root, "size", of.size);
	out_uint(root, "chunks", of.chunks);
	mean = out_object(root, "mean");
	for (i = 0; i < ARRAY_SIZE(subjects); i++)
		out_decimal(mean, subjects[i].percent, sum[i] / nr, 3);
	return 0;
}

int chunk_compare_run(const struct cli_args *args, struct err *err)
{
	struct json_object *root = out_root();
	int ret;

	ret = compare_all(args, root, err);
	if (!ret)
		return out_show(&args->out, root, views);
	json_object_put(root);
	return ret;
}
