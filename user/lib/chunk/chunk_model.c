// SPDX-License-Identifier: GPL-2.0
#include "chunk_model.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SETS	256u			/* of CHUNK_MAX_DIMS */
#define MAX_CLASSES	(2 * MAX_SETS + 1)	/* and one for last stages */
#define WORDS		((MAX_CLASSES + 63) / 64)
#define IDLE		0xffffu

/**
 * struct kind - what a stage costs
 * @bytes: with which a Reduce-Scatter begins it or an All-Gather ends it
 * @class: rank of @bytes among all there are
 * @time: in each dimension, ps, with latency
 * @sum: likewise, where switches sum
 *
 * The bytes follow from the set of dimensions that have divided a chunk before,
 * and chunks are of two sizes: all but the last, and the last.
 */
struct kind {
	__u64 bytes;
	__u64 time[CHUNK_MAX_DIMS];
	__u64 sum[CHUNK_MAX_DIMS];
	__u16 class;
};

/* The two stages of a chunk in a dimension: there and, later, back. */
struct leg {
	__u64 time;
	__u16 class;
	__u8 dim;
};

/* Chunks of one class that wait for one dimension, as they came. */
struct waiting {
	__u16 head;
	__u16 tail;
};

/* A dimension, and the chunks that wait for it. */
struct server {
	struct waiting class[MAX_CLASSES];
	__u64 used[WORDS];		/* bit: somebody of that class waits */
	__u64 until;
	__u16 chunk;			/* or IDLE */
};

/* A chunk on its way. */
struct way {
	struct leg leg[CHUNK_MAX_DIMS];
	__u16 next;			/* behind it in the queue */
	__u8 stage;
	__u8 stages;
};

/**
 * struct chunk_model - costs, and the state of a run
 * @of: the collective
 * @kind: by size of chunk and set of dimensions
 * @last_class: of a chunk's last stage
 * @legs: dimensions that have stages
 * @plan: that is run
 * @now: ps
 * @server: by dimension
 * @way: by chunk
 */
struct chunk_model {
	struct chunk_collective of;
	struct kind kind[2][MAX_SETS];
	__u16 last_class;
	__u32 legs;
	const struct chunk_plan *plan;
	__u64 now;
	struct server server[CHUNK_MAX_DIMS];
	struct way way[];
};

static void add_kind(struct chunk_model *model, bool last, __u32 set)
{
	const struct chunk_collective *of = &model->of;
	struct kind *kind = &model->kind[last][set];
	__u32 k;

	kind->bytes = chunk_bytes(of, last ? of->chunks - 1 : 0);
	for (k = 0; k < of->dims; k++)
		if (set & 1u << k)
			kind->bytes /= of->dim[k].endpoints;
	for (k = 0; k < of->dims; k++) {
		kind->time[k] = chunk_time(&of->dim[k], kind->bytes) +
				of->dim[k].latency;
		kind->sum[k] = chunk_sum_time(&of->dim[k], kind->bytes) +
			       chunk_sum_latency(&of->dim[k]);
	}
}

static int compare_bytes(const void *a, const void *b)
{
	const struct kind *x = *(const struct kind **)a;
	const struct kind *y = *(const struct kind **)b;

	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void rank_kinds(struct chunk_model *model)
{
	struct kind *list[2 * MAX_SETS];
	__u32 sets = 1u << model->of.dims, i;

	for (i = 0; i < 2 * sets; i++)
		list[i] = &model->kind[i / sets][i % sets];
	qsort(list, 2 * sets, sizeof(*list), compare_bytes);
	for (i = 1; i < 2 * sets; i++)
		list[i]->class = list[i - 1]->class +
				 (list[i]->bytes > list[i - 1]->bytes);
	model->last_class = list[2 * sets - 1]->class + 1;
}

struct chunk_model *chunk_model_new(const struct chunk_collective *of)
{
	struct chunk_model *model;
	__u32 set, k;

	model = calloc(1, sizeof(*model) + of->chunks * sizeof(*model->way));
	if (!model)
		return NULL;
	model->of = *of;
	for (set = 0; set < 1u << of->dims; set++) {
		add_kind(model, false, set);
		add_kind(model, true, set);
	}
	rank_kinds(model);
	for (k = 0; k < of->dims; k++) {
		model->legs += of->dim[k].endpoints > 1;
		model->server[k].chunk = IDLE;
	}
	return model;
}

void chunk_model_free(struct chunk_model *model)
{
	free(model);
}

/* Both halves of an All-Reduce in the last dimension are one stage: by switches, or fused. */
static void join_last(struct chunk_model *model, struct way *way, const struct kind *kind)
{
	struct leg *last = &way->leg[model->legs - 1];
	bool sums = model->of.dim[last->dim].alg == CHUNK_NETREDUCE;

	way->stages = 2 * model->legs;
	if (!sums && !model->plan->fused)
		return;
	way->stages--;
	last->time = sums ? kind->sum[last->dim] : 2 * last->time;
}

/* The legs of a chunk, largest first: an All-Gather has them backwards. */
static void lay_out(struct chunk_model *model, __u32 chunk)
{
	const struct chunk_collective *of = &model->of;
	const struct kind *kind = model->kind[chunk + 1 == of->chunks];
	const __u8 *order = model->plan->order[chunk];
	bool backwards = of->kind == CHUNK_ALL_GATHER;
	struct way *way = &model->way[chunk];
	struct leg *leg = way->leg;
	__u32 set = 0, last = 0, i;

	for (i = 0; i < of->dims; i++) {
		__u8 k = order[backwards ? of->dims - 1 - i : i];

		if (of->dim[k].endpoints == 1)
			continue;
		*leg++ = (struct leg) {
			.time = kind[set].time[k],
			.class = kind[set].class,
			.dim = k,
		};
		last = set;
		set |= 1u << k;
	}
	way->stage = 0;
	way->stages = model->legs;
	if (of->kind == CHUNK_ALL_REDUCE)
		join_last(model, way, &kind[last]);
}

/* Stages of an All-Reduce go along the legs and back. */
static const struct leg *leg_of(const struct chunk_model *model, __u32 chunk)
{
	const struct way *way = &model->way[chunk];
	__u32 i = way->stage;

	if (model->of.kind == CHUNK_ALL_GATHER || i >= model->legs)
		i = way->stages - 1 - i;
	return &way->leg[i];
}

static void enqueue(struct chunk_model *model, __u32 chunk)
{
	const struct leg *leg = leg_of(model, chunk);
	struct server *server = &model->server[leg->dim];
	struct way *way = &model->way[chunk];
	struct waiting *waiting;
	__u32 class = 0;

	if (model->plan->queue == CHUNK_SCF)
		class = way->stage + 1u == way->stages ? model->last_class :
							 leg->class;
	waiting = &server->class[class];
	if (server->used[class / 64] & 1ull << class % 64)
		model->way[waiting->tail].next = chunk;
	else
		waiting->head = chunk;
	server->used[class / 64] |= 1ull << class % 64;
	waiting->tail = chunk;
}

/* The chunk to serve next, or IDLE. */
static __u32 dequeue(struct chunk_model *model, struct server *server)
{
	struct waiting *waiting;
	__u32 i, class, chunk;

	for (i = 0; !server->used[i]; i++)
		if (i == model->last_class / 64u)
			return IDLE;
	class = i * 64 + __builtin_ctzll(server->used[i]);
	waiting = &server->class[class];
	chunk = waiting->head;
	if (chunk == waiting->tail)
		server->used[i] &= server->used[i] - 1;
	waiting->head = model->way[chunk].next;
	return chunk;
}

static void begin(struct chunk_model *model, __u32 dim, chunk_stage_fn *fn,
		  void *arg)
{
	struct server *server = &model->server[dim];
	__u32 chunk = dequeue(model, server), stage;

	server->chunk = chunk;
	if (chunk == IDLE)
		return;
	stage = model->way[chunk].stage;
	server->until = model->now + leg_of(model, chunk)->time;
	if (fn)
		fn(&(struct chunk_stage) {
			.chunk = chunk,
			.stage = stage,
			.dim = dim,
			.from = model->now,
			.to = server->until,
		}, arg);
}

/* Go to when the next stage ends. Return: false when there is none. */
static bool advance(struct chunk_model *model)
{
	bool any = false;
	__u64 next = -1;
	__u32 k;

	for (k = 0; k < model->of.dims; k++) {
		const struct server *server = &model->server[k];

		if (server->chunk == IDLE)
			continue;
		any = true;
		if (server->until < next)
			next = server->until;
	}
	if (any)
		model->now = next;
	return any;
}

static void end(struct chunk_model *model, struct server *server)
{
	struct way *way = &model->way[server->chunk];

	if (++way->stage < way->stages)
		enqueue(model, server->chunk);
	server->chunk = IDLE;
}

__u64 chunk_model_run(struct chunk_model *model, const struct chunk_plan *plan,
		      chunk_stage_fn *fn, void *arg)
{
	__u32 i, k;

	model->plan = plan;
	model->now = 0;
	for (i = 0; i < plan->of.chunks; i++) {
		lay_out(model, i);
		enqueue(model, i);
	}
	do {
		for (k = 0; k < plan->of.dims; k++)
			if (model->server[k].chunk != IDLE &&
			    model->server[k].until == model->now)
				end(model, &model->server[k]);
		for (k = 0; k < plan->of.dims; k++)
			if (model->server[k].chunk == IDLE)
				begin(model, k, fn, arg);
	} while (advance(model));
	return model->now;
}

__u64 chunk_model_ideal(const struct chunk_collective *of)
{
	__u64 bandwidth = 0, rest = of->size, bytes;
	__u32 summed = 1, k;

	for (k = 0; k < of->dims; k++) {
		rest /= of->dim[k].endpoints;
		if (of->dim[k].endpoints > 1)
			bandwidth += of->dim[k].bandwidth;
		if (of->dim[k].alg == CHUNK_NETREDUCE && of->dim[k].endpoints > summed)
			summed = of->dim[k].endpoints;
	}
	bytes = (of->size - rest) << (of->kind == CHUNK_ALL_REDUCE);
	/* What is left for the last dimension is sent once, if switches sum it. */
	if (summed > 1)
		bytes = 2 * of->size - rest * summed;
	return (__uint128_t)bytes * (1000000000000ull * CHUNK_BANDWIDTH_UNIT) /
	       ((__uint128_t)bandwidth << 30);
}
