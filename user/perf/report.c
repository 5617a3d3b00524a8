// SPDX-License-Identifier: GPL-2.0
/* The output of rank 0: the columns of nccl-tests, and the use of the network. */
#include <stdio.h>

#include "chunk/chunk.h"
#include "perf.h"

static const struct out_column run_columns[] = {
	{ "collective", "collective" },
	{ "dims", "ranks of dimensions" },
	{ "policy", "policy" },
	{ "fell_back", "fell back to baseline" },
	{ "queue", "queue" },
	{ "chunks", "chunks" },
	{ "hash", "hash" },
	{ "predicted_us", "predicted time, us" },
	{ "ring_us", "predicted time of the ring, us" },
	{ "by_ring", "runs that fell back to the ring" },
	{ "reason", "reason" },
	{}
};

static const struct out_column group_columns[] = {
	{ "group", "GROUP" },
	{ "root", "ROOT" },
	{ "failed", "LEFT OUT" },
	{}
};

static const struct out_column dim_columns[] = {
	{ "dim", "DIMENSION" },
	{ "device", "DEVICE" },
	{ "algorithm", "ALGORITHM" },
	{ "bytes", "BYTES SENT" },
	{ "used_percent", "USED %" },
	{}
};

static const struct out_column result_columns[] = {
	{ "size", "size (B)" },
	{ "count", "count" },
	{ "type", "type" },
	{ "redop", "redop" },
	{ "time_us", "time (us)" },
	{ "algbw", "algbw (GB/s)" },
	{ "busbw", "busbw (GB/s)" },
	{ "wrong", "#wrong" },
	{}
};

static const struct out_view views[] = {
	{ .columns = run_columns },
	{ .rows = "groups", .columns = group_columns },
	{ .rows = "dimensions", .columns = dim_columns },
	{ .rows = "results", .columns = result_columns },
	{}
};

/* Bytes that a rank sends in a dimension. */
static void add_bytes(void *arg, __u32 chunk, __u32 stage, const struct message *message)
{
	__u64 *bytes = arg;

	(void)chunk;
	(void)stage;
	bytes[message->dim] += message->elements * ELEMENT;
}

static __u64 mean(const struct perf_config *config, const struct perf_result *result)
{
	return config->iters ? result->ns / config->iters : 0;
}

/* Mean of the measured runs. */
static __u64 mean_bytes(const struct perf_config *config, const struct perf_result *result,
			__u64 ring)
{
	__u64 by_ring = result->measured_by_ring;

	if (!config->reduce.command)
		return ring;
	if (!config->iters)
		return config->plan.of.size;
	return (by_ring * ring + (config->iters - by_ring) * config->plan.of.size) / config->iters;
}

static void add_dimensions(struct json_object *root,
			   const struct perf_config *config, const struct perf_result *result,
			   __u64 ns)
{
	struct json_object *array = out_array(root, "dimensions");
	const struct chunk_collective *of = &config->plan.of;
	__u64 bytes[CHUNK_MAX_DIMS] = {};
	__u32 k;

	engine_messages(&config->layout, config->launch.rank, add_bytes, bytes);
	for (k = 0; k < of->dims; k++) {
		struct json_object *obj = out_append_object(array);
		__u64 could = (__uint128_t)of->dim[k].bandwidth * ns *
			      (1ull << 30) / CHUNK_BANDWIDTH_UNIT / 1000000000;

		out_uint(obj, "dim", k);
		out_uint(obj, "endpoints", of->dim[k].endpoints);
		out_string(obj, "device", config->dev[k].name);
		out_string(obj, "algorithm", config->reduce.command ? "netreduce" :
			   chunk_algs[of->dim[k].alg]);
		bytes[k] = mean_bytes(config, result, bytes[k]);
		out_uint(obj, "bytes", bytes[k]);
		if (ns)
			out_decimal(obj, "used_percent", chunk_percent(bytes[k], could), 3);
	}
}

/* Bytes of the buffer that each rank has to send at least. */
static __u64 bus_bytes(const struct perf_config *config)
{
	const struct chunk_collective *of = &config->plan.of;
	__u32 ranks = config->layout.ranks;

	return (__uint128_t)of->size * (ranks - 1) *
	       (of->kind == CHUNK_ALL_REDUCE ? 2 : 1) / ranks;
}

/* Bytes per ns are GB/s. */
static void add_rate(struct json_object *obj, const char *key, __u64 bytes, __u64 ns)
{
	out_decimal(obj, key, (__uint128_t)bytes * 10000 / ns, 4);
}

static void add_results(struct json_object *root,
			const struct perf_config *config,
			const struct perf_result *result, __u64 ns)
{
	struct json_object *array = out_array(root, "results"), *obj;
	const struct chunk_collective *of = &config->plan.of;

	if (!ns)
		return;
	obj = out_append_object(array);
	out_uint(obj, "size", of->size);
	out_uint(obj, "count", of->size / ELEMENT);
	out_string(obj, "type", data_types[config->type]);
	out_string(obj, "redop", of->kind == CHUNK_ALL_GATHER || of->kind == CHUNK_ALL_TO_ALL ?
		   "none" : "sum");
	out_decimal(obj, "time_us", ns / 10, 2);
	out_decimal(obj, "least_us", result->least / 10, 2);
	out_decimal(obj, "most_us", result->most / 10, 2);
	add_rate(obj, "algbw", of->size, ns);
	add_rate(obj, "busbw", bus_bytes(config), ns);
	out_uint(obj, "wrong", result->wrong);
}

/* Stages of the last run, with --json. */
static void add_stages(struct json_object *root, const struct perf_result *result)
{
	struct json_object *array = out_array(root, "stages");
	__u32 i;

	for (i = 0; i < result->stages; i++) {
		const struct perf_stage *stage = &result->stage[i];
		struct json_object *obj = out_append_object(array);

		out_uint(obj, "chunk", stage->chunk);
		out_uint(obj, "stage", stage->stage);
		out_uint(obj, "dimension", stage->dim);
		out_decimal(obj, "from_us", stage->from, 3);
		out_decimal(obj, "to_us", stage->to, 3);
	}
}

static bool has_root(const struct reduction *groups)
{
	__u32 i;

	for (i = 0; i < groups->nr; i++)
		if (groups->group[i].config.root != REDUCE_NO_ROOT)
			return true;
	return false;
}

/*
 * Time by a switch: one step, to the switch and on, with the whole buffer; by way of a root
 * over twice as many links.
 */
static __u64 predict_sum(const struct perf_config *config)
{
	const struct chunk_collective *of = &config->plan.of;
	const struct chunk_dim *dim = &of->dim[0];

	return chunk_time(dim, of->size) * dim->endpoints / (dim->endpoints - 1) +
	       dim->latency / chunk_alg_steps(dim->alg, dim->endpoints) *
	       (1 + has_root(&config->reduce.groups));
}

static void add_plan(struct json_object *root, const struct perf_config *config, __u64 predicted)
{
	const struct chunk_collective *of = &config->plan.of;
	struct json_object *dims;
	char hash[17];
	__u32 k;

	snprintf(hash, sizeof(hash), "%016llx", chunk_plan_hash(&config->plan));
	out_string(root, "collective", chunk_kinds[of->kind]);
	dims = out_array(root, "dims");
	for (k = 0; k < of->dims; k++)
		out_append_uint(dims, of->dim[k].endpoints);
	out_string(root, "policy", chunk_policies[config->policy]);
	out_bool(root, "fell_back", config->plan.fell_back);
	out_string(root, "queue", chunk_queues[config->plan.queue]);
	out_uint(root, "chunks", of->chunks);
	out_string(root, "hash", hash);
	out_uint(root, "warmup", config->warmup);
	out_uint(root, "iters", config->iters);
	if (config->reduce.command)
		out_decimal(root, "predicted_us", (predict_sum(config) + 500) / 1000, 3);
	out_decimal(root, config->reduce.command ? "ring_us" : "predicted_us",
		    (predicted + 500) / 1000, 3);
}

/* The groups of a plan. */
static void add_groups(struct json_object *root, const struct reduction *groups,
		       const struct perf_result *result)
{
	struct json_object *array = out_array(root, "groups");
	__u32 i;

	for (i = 0; i < groups->nr; i++) {
		const struct reduce_config *config = &groups->group[i].config;
		struct json_object *obj = out_append_object(array);

		out_uint(obj, "group", config->id);
		if (config->root != REDUCE_NO_ROOT)
			out_uint(obj, "root", config->root);
		if (result->failed[i][0])
			out_string(obj, "failed", result->failed[i]);
	}
}

/* Runs that fell back to the ring, and groups that were left out. */
static void add_reduce(struct json_object *root, const struct perf_config *config,
		       const struct perf_result *result)
{
	if (!config->reduce.command)
		return;
	out_uint(root, "by_ring", result->by_ring);
	if (result->by_ring)
		out_string(root, "reason", result->reason);
	if (config->reduce.file)
		add_groups(root, &config->reduce.groups, result);
}

int perf_report(const struct out *out, const struct perf_config *config,
		const struct perf_result *result, const struct err *err)
{
	struct chunk_model *model = chunk_model_new(&config->plan.of);
	struct json_object *root;

	if (!model)
		return out_show(out, NULL, views);
	root = out_root();
	chunk_model_run(model, &config->plan, NULL, NULL);
	add_plan(root, config, chunk_model_own(model));
	chunk_model_free(model);
	add_reduce(root, config, result);
	add_dimensions(root, config, result, mean(config, result));
	add_results(root, config, result, mean(config, result));
	add_stages(root, result);
	return err->code ? out_error(out, root, views, err) :
	       out_show(out, root, views);
}
