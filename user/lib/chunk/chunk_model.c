// SPDX-License-Identifier: GPL-2.0
#include "chunk_model.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SETS	256u			/* of CHUNK_MAX_DIMS */
#define MAX_PARTS	(1 + CHUNK_MAX_BESIDE)
#define MAX_CLASSES	(2 * MAX_SETS * MAX_PARTS + 1)	/* and one for last stages */
#define WORDS		((MAX_CLASSES + 63) / 64)
#define NONE		(~0u)			/* no chunk */

/**
 * struct kind - what a stage costs
 * @bytes: with which a Reduce-Scatter begins it or an All-Gather ends it
 * @class: rank of @bytes among all there are
 * @time: of the bytes in each dimension, ps
 * @sum: likewise, where the chunk stays whole
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
	__u64 latency;
	__u16 class;
	__u8 dim;
};

/* Chunks of one class that wait for one dimension, as they came. */
struct waiting {
	__u32 head;
	__u32 tail;
};

/**
 * struct server - a dimension
 * @class: chunks that wait for it
 * @used: bit: somebody of that class waits
 * @until: it has carried the bytes of the stage that began last
 * @flying: chunks of stages in flight, in the order in which these began
 * @nr: number of these
 */
struct server {
	struct waiting class[MAX_CLASSES];
	__u64 used[WORDS];
	__u64 until;
	struct waiting flying;
	__u32 nr;
};

/* A chunk on its way. */
struct way {
	struct leg leg[CHUNK_MAX_DIMS];
	__u64 to;			/* end of its stage in flight */
	const struct part *part;	/* its collective */
	__u32 next;			/* behind it in the queue, or in flight */
	__u8 stage;
	__u8 stages;
};

/**
 * struct part - a collective: the first one is the model's own, the others run beside it
 * @of: the collective
 * @kind: by size of chunk and set of dimensions
 * @legs: dimensions that have stages
 * @plan: that is run
 * @first: its first chunk, among those of all collectives
 * @over: the stages that have begun are acknowledged, ps
 */
struct part {
	struct chunk_collective of;
	struct kind kind[2][MAX_SETS];
	__u32 legs;
	const struct chunk_plan *plan;
	__u32 first;
	__u64 over;
};

/**
 * struct chunk_model - costs, and the state of a run
 * @part: the collectives
 * @nr: number of these
 * @last_class: of a chunk's last stage
 * @queue: order of waiting chunks
 * @in_flight: stages of a dimension, at most, or 0
 * @now: ps
 * @server: by dimension
 * @way: by chunk
 */
struct chunk_model {
	struct part part[MAX_PARTS];
	__u32 nr;
	__u16 last_class;
	enum chunk_queue queue;
	__u32 in_flight;
	__u64 now;
	struct server server[CHUNK_MAX_DIMS];
	struct way way[];
};

static void add_kind(struct part *part, bool last, __u32 set)
{
	const struct chunk_collective *of = &part->of;
	struct kind *kind = &part->kind[last][set];
	__u32 k;

	kind->bytes = chunk_bytes(of, last ? of->chunks - 1 : 0);
	for (k = 0; k < of->dims && of->kind != CHUNK_ALL_TO_ALL; k++)
		if (set & 1u << k)
			kind->bytes /= of->dim[k].endpoints;
	for (k = 0; k < of->dims; k++) {
		kind->time[k] = chunk_time(&of->dim[k], kind->bytes);
		kind->sum[k] = chunk_sum_time(&of->dim[k], kind->bytes);
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
	struct kind *list[2 * MAX_SETS * MAX_PARTS];
	__u32 sets = 1u << model->part[0].of.dims, n = 2 * sets * model->nr, i;

	for (i = 0; i < n; i++)
		list[i] = &model->part[i / sets / 2].kind[i / sets % 2][i % sets];
	qsort(list, n, sizeof(*list), compare_bytes);
	for (i = 1; i < n; i++)
		list[i]->class = list[i - 1]->class +
				 (list[i]->bytes > list[i - 1]->bytes);
	model->last_class = list[n - 1]->class + 1;
}

static void add_part(struct chunk_model *model, const struct chunk_collective *of, __u32 first)
{
	struct part *part = &model->part[model->nr++];
	__u32 set, k;

	part->of = *of;
	part->first = first;
	for (set = 0; set < 1u << of->dims; set++) {
		add_kind(part, false, set);
		add_kind(part, true, set);
	}
	for (k = 0; k < of->dims; k++)
		part->legs += of->dim[k].endpoints > 1;
}

struct chunk_model *chunk_model_new(const struct chunk_collective *of)
{
	struct chunk_model *model;
	__u32 chunks = of->chunks, i;

	for (i = 0; i < of->nr_beside; i++)
		chunks += of->beside[i].of.chunks;
	model = calloc(1, sizeof(*model) + chunks * sizeof(*model->way));
	if (!model)
		return NULL;
	add_part(model, of, 0);
	chunks = of->chunks;
	for (i = 0; i < of->nr_beside; i++) {
		add_part(model, &of->beside[i].of, chunks);
		model->part[1 + i].plan = &of->beside[i];
		chunks += of->beside[i].of.chunks;
	}
	rank_kinds(model);
	return model;
}

void chunk_model_free(struct chunk_model *model)
{
	free(model);
}

/* Both halves of an All-Reduce in the last dimension are one stage: a sum, or fused. */
static void join_last(const struct part *part, struct way *way, const struct kind *kind)
{
	struct leg *last = &way->leg[part->legs - 1];
	const struct chunk_dim *dim = &part->of.dim[last->dim];
	bool sums = chunk_alg_is_whole(dim->alg);

	way->stages = 2 * part->legs;
	if (!sums && !part->plan->fused)
		return;
	way->stages--;
	last->time = sums ? kind->sum[last->dim] : 2 * last->time;
	last->latency = sums ? chunk_sum_latency(dim) : 2 * last->latency;
}

/* The legs of a chunk, largest first: an All-Gather has them backwards. */
static void lay_out(struct chunk_model *model, const struct part *part, __u32 chunk)
{
	const struct chunk_collective *of = &part->of;
	const struct kind *kind = part->kind[chunk + 1 == of->chunks];
	const __u8 *order = part->plan->order[chunk];
	bool backwards = of->kind == CHUNK_ALL_GATHER;
	struct way *way = &model->way[part->first + chunk];
	struct leg *leg = way->leg;
	__u32 set = 0, last = 0, i;

	for (i = 0; i < of->dims; i++) {
		__u8 k = order[backwards ? of->dims - 1 - i : i];

		if (of->dim[k].endpoints == 1)
			continue;
		*leg++ = (struct leg) {
			.time = kind[set].time[k],
			.latency = of->dim[k].latency,
			.class = kind[set].class,
			.dim = k,
		};
		last = set;
		set |= 1u << k;
	}
	way->part = part;
	way->stage = 0;
	way->stages = part->legs;
	if (of->kind == CHUNK_ALL_REDUCE)
		join_last(part, way, &kind[last]);
}

/* Stages of an All-Reduce go along the legs and back. */
static const struct leg *leg_of(const struct chunk_model *model, __u32 chunk)
{
	const struct way *way = &model->way[chunk];
	__u32 i = way->stage;

	if (way->part->of.kind == CHUNK_ALL_GATHER || i >= way->part->legs)
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

	if (model->queue == CHUNK_SCF)
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

/* The chunk to serve next, or NONE. */
static __u32 dequeue(struct chunk_model *model, struct server *server)
{
	struct waiting *waiting;
	__u32 i, class, chunk;

	for (i = 0; !server->used[i]; i++)
		if (i == model->last_class / 64u)
			return NONE;
	class = i * 64 + __builtin_ctzll(server->used[i]);
	waiting = &server->class[class];
	chunk = waiting->head;
	if (chunk == waiting->tail)
		server->used[i] &= server->used[i] - 1;
	waiting->head = model->way[chunk].next;
	return chunk;
}

/* May the dimension carry the bytes of one more stage? */
static bool has_room(const struct chunk_model *model, const struct server *server)
{
	return !model->in_flight || server->nr < model->in_flight;
}

static bool has_waiting(const struct chunk_model *model, const struct server *server)
{
	__u32 i;

	for (i = 0; i <= model->last_class / 64u; i++)
		if (server->used[i])
			return true;
	return false;
}

/* The chunk is the last one in flight, and ends after the others. */
static void fly(struct chunk_model *model, struct server *server, __u32 chunk, __u64 to)
{
	struct way *way = &model->way[chunk], *before = &model->way[server->flying.tail];

	if (server->nr++)
		before->next = chunk;
	else
		server->flying.head = chunk;
	way->to = server->nr > 1 && before->to > to ? before->to : to;
	server->flying.tail = chunk;
}

/* Return: false when no chunk can begin here now. */
static bool begin(struct chunk_model *model, __u32 dim, chunk_stage_fn *fn, void *arg)
{
	struct server *server = &model->server[dim];
	const struct leg *leg;
	struct part *part;
	__u64 over;
	__u32 chunk;

	if (server->until > model->now || !has_room(model, server))
		return false;
	chunk = dequeue(model, server);
	if (chunk == NONE)
		return false;
	leg = leg_of(model, chunk);
	server->until = model->now + leg->time;
	fly(model, server, chunk, server->until + leg->latency);
	part = &model->part[model->way[chunk].part - model->part];
	over = model->way[chunk].to + chunk_step_latency(&part->of.dim[dim]);
	if (over > part->over)
		part->over = over;
	if (fn && part == model->part)
		fn(&(struct chunk_stage) {
			.chunk = chunk,
			.stage = model->way[chunk].stage,
			.dim = dim,
			.from = model->now,
			.sent = server->until,
			.to = model->way[chunk].to,
		}, arg);
	return true;
}

/* Go to when the next stage ends or may begin. Return: false when there is none. */
static bool advance(struct chunk_model *model)
{
	bool any = false;
	__u64 next = -1;
	__u32 k;

	for (k = 0; k < model->part[0].of.dims; k++) {
		const struct server *server = &model->server[k];
		__u64 to;

		if (!server->nr)
			continue;
		any = true;
		to = model->way[server->flying.head].to;
		if (to < next)
			next = to;
		if (server->until < next && has_room(model, server) && has_waiting(model, server))
			next = server->until;
	}
	if (any)
		model->now = next;
	return any;
}

/* The first stage in flight has ended. */
static void end(struct chunk_model *model, struct server *server)
{
	__u32 chunk = server->flying.head;
	struct way *way = &model->way[chunk];

	server->nr--;
	server->flying.head = way->next;
	if (++way->stage < way->stages)
		enqueue(model, chunk);
}

/* All chunks of a collective, at time 0 */
static void issue(struct chunk_model *model, struct part *part)
{
	__u32 i;

	part->over = 0;
	for (i = 0; i < part->of.chunks; i++) {
		lay_out(model, part, i);
		enqueue(model, part->first + i);
	}
}

__u64 chunk_model_run(struct chunk_model *model, const struct chunk_plan *plan,
		      chunk_stage_fn *fn, void *arg)
{
	__u64 over = 0;
	__u32 i, k;

	model->part[0].plan = plan;
	model->queue = plan->queue;
	model->in_flight = plan->of.in_flight * model->nr;
	model->now = 0;
	for (k = 0; k < plan->of.dims; k++)
		model->server[k].until = 0;
	for (i = 0; i < model->nr; i++)
		issue(model, &model->part[i]);
	do {
		for (k = 0; k < plan->of.dims; k++)
			while (model->server[k].nr &&
			       model->way[model->server[k].flying.head].to == model->now)
				end(model, &model->server[k]);
		for (k = 0; k < plan->of.dims; k++)
			while (begin(model, k, fn, arg))
				;
	} while (advance(model));
	for (i = 0; i < model->nr; i++)
		if (model->part[i].over > over)
			over = model->part[i].over;
	return over;
}

__u64 chunk_model_own(const struct chunk_model *model)
{
	return model->part[0].over;
}

/* Time of the dimension that takes longest, if all carry the whole buffer */
static __u64 longest(const struct chunk_collective *of)
{
	__u64 most = 0, time;
	__u32 k;

	for (k = 0; k < of->dims; k++) {
		time = chunk_time(&of->dim[k], of->size);
		if (time > most)
			most = time;
	}
	return most;
}

__u64 chunk_model_ideal(const struct chunk_collective *of)
{
	__u64 bandwidth = 0, rest = of->size, bytes;
	__u32 summed = 1, k;

	if (of->kind == CHUNK_ALL_TO_ALL)
		return longest(of);
	for (k = 0; k < of->dims; k++) {
		rest /= of->dim[k].endpoints;
		if (of->dim[k].endpoints > 1)
			bandwidth += of->dim[k].bandwidth;
		if (of->dim[k].alg == CHUNK_NETREDUCE && of->dim[k].endpoints > summed)
			summed = of->dim[k].endpoints;
	}
	bytes = (of->size - rest) << (of->kind == CHUNK_ALL_REDUCE);
	/* The rest for the last dimension is sent once if switches sum it. */
	if (summed > 1)
		bytes = 2 * of->size - rest * summed;
	return (__uint128_t)bytes * (1000000000000ull * CHUNK_BANDWIDTH_UNIT) /
	       ((__uint128_t)bandwidth << 30);
}
