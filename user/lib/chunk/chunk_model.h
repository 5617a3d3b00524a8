/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The time of a plan, by the model of queues of rocesteer-chunk(8), PREDICTION. Stages of a
 * dimension end in the order in which they began.
 *
 * A Reduce-Scatter, an All-Gather and an All-to-All have one stage per dimension, in the chunk's
 * order. An All-Reduce has the stages of the Reduce-Scatter, then those of the All-Gather in
 * reverse order; in a fused plan the two in the middle are one stage. Where switches or trees sum a
 * chunk these two are one stage as well, of chunk_sum_time() and chunk_sum_latency(). A dimension
 * with one endpoint has no stage.
 *
 * Collectives beside the own one share the dimensions and their queues: all chunks are issued at
 * time 0, those of the own one first, and there are as many stages in flight for each.
 *
 * Stages that end at the same time hand on their chunks in the order of the dimensions, then
 * each dimension that may take a chunk from its queue does so. CHUNK_SCF compares the bytes with
 * which a Reduce-Scatter begins the stage or an All-Gather ends it; a chunk's last stage comes
 * after all others; equal chunks are served in the order of arrival.
 */
#ifndef ROCESTEER_LIB_CHUNK_MODEL_H
#define ROCESTEER_LIB_CHUNK_MODEL_H

#include "chunk_plan.h"

struct chunk_model;

/**
 * struct chunk_stage - a stage of a run
 * @chunk: number of the chunk
 * @stage: number of the stage, from 0
 * @dim: dimension
 * @from: begin, ps
 * @sent: time when the dimension has carried its bytes, ps
 * @to: end, ps
 */
struct chunk_stage {
	__u32 chunk;
	__u32 stage;
	__u32 dim;
	__u64 from;
	__u64 sent;
	__u64 to;
};

/* Called for each stage of the own plan as it begins, in ascending order for each dimension. */
typedef void chunk_stage_fn(const struct chunk_stage *stage, void *arg);

/**
 * chunk_model_new() - a model for plans of a collective
 * @of: the collective of a plan
 *
 * Return: the model, to be freed, or NULL without memory.
 */
struct chunk_model *chunk_model_new(const struct chunk_collective *of);

void chunk_model_free(struct chunk_model *model);

/**
 * chunk_model_run() - run a plan
 * @model: made for the plan's collective
 * @plan: the plan
 * @fn: called for each stage, or NULL
 * @arg: passed to @fn
 *
 * Return: time until all collectives are over, ps.
 */
__u64 chunk_model_run(struct chunk_model *model, const struct chunk_plan *plan,
		      chunk_stage_fn *fn, void *arg);

/* Time of the last run until the plan's own collective was over, ps. */
__u64 chunk_model_own(const struct chunk_model *model);

/**
 * chunk_model_ideal() - a lower bound for all plans, if chunks divide evenly
 * @of: a collective
 *
 * The time in which all dimensions, always busy, carry the bytes of the collective, without
 * latencies. No order changes what a dimension carries of an All-to-All: there the time of the
 * dimension that takes longest. Utilisation is this time over the time of a plan.
 *
 * Return: ps, rounded down.
 */
__u64 chunk_model_ideal(const struct chunk_collective *of);

#endif /* ROCESTEER_LIB_CHUNK_MODEL_H */
