/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The time of a plan, by a model of queues. A dimension works on one stage at a time. A stage
 * takes the time of its bytes at the dimension's bandwidth plus its latency, and is not
 * interrupted. Chunks wait for a dimension in a queue. All chunks are issued at time 0.
 *
 * A Reduce-Scatter and an All-Gather have one stage per dimension, in the chunk's order. An
 * All-Reduce has the stages of the Reduce-Scatter, then those of the All-Gather in reverse
 * order; in a fused plan the two in the middle are one stage. Where switches sum a chunk these
 * two are one stage as well, which takes the time of the chunk's bytes once and the latency of
 * one step. A dimension with one endpoint has no stage.
 *
 * Stages that end at the same time hand on their chunks in the order of the dimensions, then
 * each idle dimension takes a chunk from its queue. CHUNK_SCF compares the bytes with which
 * a Reduce-Scatter begins the stage or an All-Gather ends it; a chunk's last stage comes
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
 * @to: end, ps
 */
struct chunk_stage {
	__u32 chunk;
	__u32 stage;
	__u32 dim;
	__u64 from;
	__u64 to;
};

/* Called for each stage as it begins, in ascending order for each dimension. */
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
 * Return: time, ps.
 */
__u64 chunk_model_run(struct chunk_model *model, const struct chunk_plan *plan,
		      chunk_stage_fn *fn, void *arg);

/**
 * chunk_model_ideal() - a lower bound for all plans, if chunks divide evenly
 * @of: a collective
 *
 * The time in which all dimensions, always busy, carry the bytes of the collective, without
 * latencies. Utilisation is this time over the time of a plan.
 *
 * Return: ps, rounded down.
 */
__u64 chunk_model_ideal(const struct chunk_collective *of);

#endif /* ROCESTEER_LIB_CHUNK_MODEL_H */
