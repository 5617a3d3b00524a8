// SPDX-License-Identifier: GPL-2.0
/* rocesteer chunk plan: the order of dimensions of each chunk. */
#include <errno.h>
#include <stdio.h>

#include "chunk/chunk.h"
#include "chunk.h"

enum { POLICY = CHUNK_OPTIONS, QUEUE };

const struct cli_option chunk_plan_options[] = {
	CHUNK_SHARED_OPTIONS(CLI_NEEDED),
	[POLICY] = { "policy", "POLICY", "the order of dimensions (default: themis)",
		     .words = chunk_policies },
	[QUEUE] = { "queue", NULL,
		    "order of waiting chunks: first come, or smallest first",
		    .words = chunk_queues },
	{}
};

static const struct out_column plan_columns[] = {
	{ "collective", "collective" },
	{ "policy", "policy" },
	{ "fell_back", "fell back to baseline" },
	{ "queue", "queue" },
	{ "fused", "fused" },
	{ "size", "bytes" },
	{ "load", "load of dimensions" },
	{ "hash", "hash" },
	{}
};

static const struct out_column predicted_columns[] = {
	{ "plan_us", "this plan" },
	{ "all_us", "with those beside" },
	{ "plan_percent", "its utilisation, %" },
	{ "fifo_us", "its orders, fifo" },
	{ "scf_us", "its orders, scf" },
	{ "baseline_us", "baseline" },
	{ "ideal_us", "ideal" },
	{}
};

static const struct out_column dim_columns[] = {
	{ "dimension", "DIMENSION" },
	{ "endpoints", "ENDPOINTS" },
	{ "bandwidth", "GIB/S" },
	{ "algorithm", "ALGORITHM" },
	{ "latency_us", "LATENCY US" },
	{ "busy_us", "BUSY US" },
	{ "busy_percent", "BUSY %" },
	{}
};

static const struct out_column chunk_columns[] = {
	{ "id", "CHUNK" },
	{ "bytes", "BYTES" },
	{ "order", "ORDER" },
	{}
};

static const struct out_view views[] = {
	{ .columns = plan_columns },
	{ .in = "predicted", .title = "Predicted time, in us:",
	  .columns = predicted_columns },
	{ .rows = "dimensions", .columns = dim_columns },
	{ .rows = "chunks", .columns = chunk_columns },
	{}
};

/**
 * struct prediction - times of a plan by the model
 * @plan: its time, ps
 * @all: until those beside are over, too
 * @queue: with each queue
 * @baseline: of the baseline in its place
 * @busy: by dimension, how long it carries bytes
 */
struct prediction {
	__u64 plan;
	__u64 all;
	__u64 queue[2];
	__u64 baseline;
	__u64 busy[CHUNK_MAX_DIMS];
};

static void add_busy(const struct chunk_stage *stage, void *arg)
{
	struct prediction *prediction = arg;

	prediction->busy[stage->dim] += stage->sent - stage->from;
}

static int predict(struct prediction *prediction, const struct chunk_plan *plan)
{
	struct chunk_model *model = chunk_model_new(&plan->of);
	struct chunk_plan other = *plan;

	if (!model)
		return -ENOMEM;
	prediction->all = chunk_model_run(model, plan, add_busy, prediction);
	prediction->plan = chunk_model_own(model);
	for (other.queue = CHUNK_FIFO; other.queue <= CHUNK_SCF; other.queue++)
		prediction->queue[other.queue] =
			chunk_model_run(model, &other, NULL, NULL);
	chunk_model_free(model);
	return chunk_predict(&plan->of, CHUNK_POLICY_BASELINE, CHUNK_QUEUE_ANY,
			     &prediction->baseline);
}

static void add_predicted(struct json_object *root,
			  const struct chunk_plan *plan,
			  const struct prediction *prediction)
{
	struct json_object *obj = out_object(root, "predicted");
	__u64 ideal = chunk_model_ideal(&plan->of);

	chunk_add_us(obj, "plan_us", prediction->plan);
	if (plan->of.nr_beside)
		chunk_add_us(obj, "all_us", prediction->all);
	out_decimal(obj, "plan_percent", chunk_percent(ideal, prediction->plan), 3);
	chunk_add_us(obj, "fifo_us", prediction->queue[CHUNK_FIFO]);
	chunk_add_us(obj, "scf_us", prediction->queue[CHUNK_SCF]);
	chunk_add_us(obj, "baseline_us", prediction->baseline);
	chunk_add_us(obj, "ideal_us", ideal);
}

/* Add a decimal without zeroes at its end. */
static void add_short(struct json_object *obj, const char *key, __u64 value, unsigned int decimals)
{
	for (; decimals && value % 10 == 0; decimals--)
		value /= 10;
	if (decimals)
		out_decimal(obj, key, value, decimals);
	else
		out_uint(obj, key, value);
}

static void add_dimensions(struct json_object *root,
			   const struct chunk_plan *plan,
			   const struct prediction *prediction)
{
	struct json_object *array = out_array(root, "dimensions");
	__u32 k;

	for (k = 0; k < plan->of.dims; k++) {
		const struct chunk_dim *dim = &plan->of.dim[k];
		struct json_object *obj = out_append_object(array);

		out_uint(obj, "dimension", k);
		out_uint(obj, "endpoints", dim->endpoints);
		add_short(obj, "bandwidth", dim->bandwidth, 6);
		if (chunk_alg_is_whole(dim->alg))
			out_string(obj, "algorithm", chunk_algs[dim->alg]);
		if (dim->latency)
			add_short(obj, "latency_us", dim->latency, 6);
		chunk_add_us(obj, "busy_us", prediction->busy[k]);
		out_decimal(obj, "busy_percent",
			    chunk_percent(prediction->busy[k], prediction->plan), 3);
	}
}

static void add_chunks(struct json_object *root, const struct chunk_plan *plan)
{
	struct json_object *array = out_array(root, "chunks");
	__u32 i, k;

	for (i = 0; i < plan->of.chunks; i++) {
		struct json_object *obj = out_append_object(array), *order;

		out_uint(obj, "id", i);
		out_uint(obj, "bytes", chunk_bytes(&plan->of, i));
		order = out_array(obj, "order");
		for (k = 0; k < plan->of.dims; k++)
			out_append_uint(order, plan->order[i][k]);
	}
}

static struct json_object *to_json(const struct chunk_plan *plan, int policy,
				   const struct prediction *prediction)
{
	struct json_object *root = out_root(), *load;
	char hash[17];
	__u32 k;

	snprintf(hash, sizeof(hash), "%016llx", chunk_plan_hash(plan));
	out_string(root, "collective", chunk_kinds[plan->of.kind]);
	out_string(root, "policy", chunk_policies[policy]);
	out_bool(root, "fell_back", plan->fell_back);
	out_string(root, "queue", chunk_queues[plan->queue]);
	out_bool(root, "fused", plan->fused);
	out_uint(root, "size", plan->of.size);
	out_string(root, "hash", hash);
	load = out_array(root, "load");
	for (k = 0; k < plan->of.dims; k++)
		out_append_decimal(load, chunk_plan_load(plan, k), 6);
	add_predicted(root, plan, prediction);
	add_dimensions(root, plan, prediction);
	add_chunks(root, plan);
	return root;
}

int chunk_plan_run(const struct cli_args *args, struct err *err)
{
	int policy = CHUNK_POLICY_THEMIS, queue = CHUNK_QUEUE_ANY, ret;
	struct prediction prediction = {};
	struct chunk_collective of;
	struct chunk_plan plan;

	ret = chunk_args_read(args, &of, err) ?:
	      cli_word(args, POLICY, &policy, err) ?:
	      cli_word(args, QUEUE, &queue, err) ?:
	      chunk_args_check(args, err) ?:
	      chunk_make(&plan, &of, policy, queue);
	if (!ret) {
		ret = predict(&prediction, &plan) ?:
		      out_show(&args->out, to_json(&plan, policy, &prediction), views);
		chunk_plan_free(&plan);
	}
	chunk_args_free(&of);
	return ret;
}
