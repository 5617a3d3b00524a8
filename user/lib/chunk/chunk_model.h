/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long a plan takes, by a model of queues: a dimension works on one stage
 * at a time, for as long as its bytes take at the dimension's bandwidth, and
 * its latency; chunks wait for it in a queue. All are issued at time 0. A stage
 * that has begun is not interrupted.
 *
 * Reduce-Scatter and All-Gather: one stage per dimension, in the chunk's order.
 * All-Reduce: those of the Reduce-Scatter, then those of the All-Gather in the
 * reverse order; a fused plan makes the two in the middle one stage. A
 * dimension with one endpoint has no stage.
 *
 * What ends at the same time is handed on in the order of the dimensions, then
 * every idle dimension takes from its queue. CHUNK_SCF goes by the bytes with
 * which a Reduce-Scatter begins the stage or an All-Gather ends it; a chunk's
 * last stage waits behind all others; what is alike is served as it came.
 */
#ifndef ROCESTEER_LIB_CHUNK_MODEL_H
#define ROCESTEER_LIB_CHUNK_MODEL_H

#include "chunk_plan.h"

struct chunk_model;

/**
 * struct chunk_stage - a stage, as it is run
 * @chunk: number of the chunk
 * @stage: number of the stage, from 0
 * @dim: dimension it is in
 * @from: begins, ps
 * @to: ends, ps
 */
struct chunk_stage {
	__u32 chunk;
	__u32 stage;
	__u32 dim;
	__u64 from;
	__u64 to;
};

/* Called for each stage as it begins; in each dimension they ascend. */
typedef void chunk_stage_fn(const struct chunk_stage *stage, void *arg);

/**
 * chunk_model_new() - a model for plans of a collective
 * @of: as of a plan that was made
 *
 * Return: the model, to be freed, or NULL without memory.
 */
struct chunk_model *chunk_model_new(const struct chunk_collective *of);

void chunk_model_free(struct chunk_model *model);

/**
 * chunk_model_run() - how long does a plan take
 * @model: made for the plan's collective
 * @plan: the plan
 * @fn: told of each stage, may be NULL
 * @arg: passed on
 *
 * Return: ps.
 */
__u64 chunk_model_run(struct chunk_model *model, const struct chunk_plan *plan,
		      chunk_stage_fn *fn, void *arg);

/**
 * chunk_model_ideal() - what no plan can beat, but for bytes that do not divide
 * @of: a collective
 *
 * The time in which all dimensions, busy from the first moment to the last,
 * carry the bytes of the collective; latencies are left out. Utilisation is
 * this over the time of a plan.
 *
 * Return: ps, rounded down.
 */
__u64 chunk_model_ideal(const struct chunk_collective *of);

#endif /* ROCESTEER_LIB_CHUNK_MODEL_H */
