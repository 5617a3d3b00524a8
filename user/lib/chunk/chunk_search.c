// SPDX-License-Identifier: GPL-2.0
#include "chunk_search.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "chunk_model.h"

int chunk_guard(struct chunk_plan *plan)
{
	struct chunk_model *model = chunk_model_new(&plan->of);
	struct chunk_plan baseline;
	int ret = -ENOMEM;

	if (model)
		ret = chunk_plan_make(&baseline, &plan->of, CHUNK_BASELINE);
	if (!ret && chunk_model_run(model, &baseline, NULL, NULL) <
		    chunk_model_run(model, plan, NULL, NULL)) {
		chunk_plan_free(plan);
		*plan = baseline;
		plan->fell_back = true;
	} else if (!ret) {
		chunk_plan_free(&baseline);
	}
	chunk_model_free(model);
	return ret;
}

/* Cost of the search: stages run through the model. */
#define MAX_STAGES	3000000u
#define MAX_STEPS	20000u		/* enough for few chunks */

/* Orders of two chunks, to be taken back. */
struct change {
	__u32 a;
	__u32 b;
	__u8 order_a[CHUNK_MAX_DIMS];
	__u8 order_b[CHUNK_MAX_DIMS];
};

static __u32 random_below(__u32 *state, __u32 n)
{
	return ((__u64)xorshift32(state) * n) >> 32;
}

static void swap(__u8 *order, __u32 i, __u32 j)
{
	__u8 k = order[i];

	order[i] = order[j];
	order[j] = k;
}

/* Two chunks change orders, or one takes another's, or swaps two dimensions. */
static void change_make(struct chunk_plan *plan, struct change *change, __u32 *state)
{
	__u32 how = random_below(state, 3);
	__u8 *a, *b;

	change->a = random_below(state, plan->of.chunks);
	change->b = random_below(state, plan->of.chunks);
	a = plan->order[change->a];
	b = plan->order[change->b];
	memcpy(change->order_a, a, CHUNK_MAX_DIMS);
	memcpy(change->order_b, b, CHUNK_MAX_DIMS);
	if (how == 0)
		memcpy(b, change->order_a, CHUNK_MAX_DIMS);
	if (how <= 1)
		memcpy(a, change->order_b, CHUNK_MAX_DIMS);
	else
		swap(a, random_below(state, plan->of.dims), random_below(state, plan->of.dims));
}

static bool change_is_none(const struct chunk_plan *plan, const struct change *change)
{
	return !memcmp(plan->order[change->a], change->order_a, CHUNK_MAX_DIMS) &&
	       !memcmp(plan->order[change->b], change->order_b, CHUNK_MAX_DIMS);
}

static void change_undo(struct chunk_plan *plan, const struct change *change)
{
	memcpy(plan->order[change->a], change->order_a, CHUNK_MAX_DIMS);
	memcpy(plan->order[change->b], change->order_b, CHUNK_MAX_DIMS);
}

/**
 * struct search - the best so far
 * @model: says how long a plan takes
 * @best: the plan that takes the least time
 * @least: its time, ps
 */
struct search {
	struct chunk_model *model;
	struct chunk_plan *best;
	__u64 least;
};

/* Return: the plan's time. */
static __u64 try(struct search *search, const struct chunk_plan *plan)
{
	__u64 time = chunk_model_run(search->model, plan, NULL, NULL);

	if (time < search->least) {
		search->least = time;
		search->best->queue = plan->queue;
		search->best->fused = plan->fused;
		memcpy(search->best->order, plan->order, plan->of.chunks * sizeof(*plan->order));
	}
	return time;
}

static void try_queues(struct search *search, struct chunk_plan *plan, unsigned int queues)
{
	__u32 queue;

	for (queue = CHUNK_FIFO; queue <= CHUNK_SCF; queue++) {
		if (!(queues & 1u << queue))
			continue;
		plan->queue = queue;
		try(search, plan);
	}
}

/*
 * Simulated annealing: a change that costs up to half of the time of a chunk may stay, with
 * a limit that shrinks. Otherwise few chunks get stuck.
 */
static void anneal(struct search *search, struct chunk_plan *plan)
{
	__u64 heat = chunk_model_ideal(&plan->of) / plan->of.chunks / 2;
	__u32 stages = plan->of.dims << (plan->of.kind == CHUNK_ALL_REDUCE);
	__u32 steps = MAX_STAGES / (stages * plan->of.chunks);
	__u64 now = try(search, plan), then;
	__u32 state = 2463534242u, i;
	struct change change;

	if (steps > MAX_STEPS)
		steps = MAX_STEPS;
	for (i = 0; i < steps; i++) {
		__u64 more = heat / steps * (steps - i) / 1024 *
			     random_below(&state, 1024);

		change_make(plan, &change, &state);
		if (change_is_none(plan, &change))
			continue;
		then = try(search, plan);
		if (then > now + more)
			change_undo(plan, &change);
		else
			now = then;
	}
}

/* Choose the best of the plans by rule, then anneal. @plan: room for the result. */
static int search_run(struct chunk_plan *plan, unsigned int queues)
{
	struct search search = { .best = plan, .least = -1 };
	struct chunk_plan other;
	enum chunk_policy policy;
	int ret = 0;

	search.model = chunk_model_new(&plan->of);
	if (!search.model)
		return -ENOMEM;
	for (policy = CHUNK_BASELINE; policy <= CHUNK_THEMIS; policy++) {
		ret = chunk_plan_make(&other, &plan->of, policy);
		if (ret)
			break;
		try_queues(&search, &other, queues);
		if (policy == CHUNK_THEMIS)
			anneal(&search, &other);
		chunk_plan_free(&other);
	}
	chunk_model_free(search.model);
	return ret;
}

int chunk_search(struct chunk_plan *plan, const struct chunk_collective *of, unsigned int queues)
{
	int ret;

	ret = chunk_plan_make(plan, of, CHUNK_BASELINE);
	if (ret)
		return ret;
	ret = search_run(plan, queues);
	if (ret)
		chunk_plan_free(plan);
	return ret;
}
