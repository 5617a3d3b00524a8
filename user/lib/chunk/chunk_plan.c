// SPDX-License-Identifier: GPL-2.0
#include "chunk_plan.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

const char * const chunk_kinds[] = {
	[CHUNK_ALL_REDUCE] = "all-reduce",
	[CHUNK_REDUCE_SCATTER] = "reduce-scatter",
	[CHUNK_ALL_GATHER] = "all-gather",
	[CHUNK_ALL_TO_ALL] = "all-to-all",
	NULL
};

const char * const chunk_queues[] = {
	[CHUNK_FIFO] = "fifo",
	[CHUNK_SCF] = "scf",
	NULL
};

/**
 * struct balance - what the chunks so far have put on each dimension
 * @of: the collective
 * @bytes: by dimension, the sum of the sizes of chunks that it scatters, and its latency as
 *	bytes that would take that long
 * @halves: likewise, of those that it leaves whole, times the halves of these that are sent
 * @list: dimensions as the last chunk left them sorted
 *
 * The load of dimension k is (bytes * (endpoints - 1) / endpoints + halves / 4) / bandwidth:
 * once for both directions. Loads are compared crosswise, which 128 bits hold exactly: a tie is
 * a tie.
 */
struct balance {
	const struct chunk_collective *of;
	__u64 bytes[CHUNK_MAX_DIMS];
	__u64 halves[CHUNK_MAX_DIMS];
	__u8 list[CHUNK_MAX_DIMS];
};

/* Time of @bytes * @part / @whole */
static __u64 time_of(const struct chunk_dim *dim, __u64 bytes, __u32 part, __u32 whole)
{
	__uint128_t above = (__uint128_t)bytes * part *
		     (1000000000000ull * CHUNK_BANDWIDTH_UNIT);
	__uint128_t below = (__uint128_t)whole * dim->bandwidth << 30;

	above = (above + below / 2) / below;
	return above > CHUNK_MAX_TIME ? CHUNK_MAX_TIME + 1 : above;
}

__u64 chunk_time(const struct chunk_dim *dim, __u64 bytes)
{
	return time_of(dim, bytes, dim->endpoints - 1, dim->endpoints);
}

__u64 chunk_sum_time(const struct chunk_dim *dim, __u64 bytes)
{
	return time_of(dim, bytes, chunk_alg_whole_halves(dim->alg, dim->endpoints), 2);
}

__u64 chunk_step_latency(const struct chunk_dim *dim)
{
	return dim->latency / (chunk_alg_steps(dim->alg, dim->endpoints) ?: 1);
}

__u64 chunk_sum_latency(const struct chunk_dim *dim)
{
	return chunk_step_latency(dim) * chunk_alg_whole_steps(dim->alg, dim->endpoints);
}

__u64 chunk_bytes(const struct chunk_collective *of, __u32 chunk)
{
	__u64 bytes = of->size / of->chunks;

	return chunk + 1 < of->chunks ? bytes : of->size - chunk * bytes;
}

static __uint128_t load_above(const struct balance *balance, __u32 k)
{
	__u32 n = balance->of->dim[k].endpoints;

	return (__uint128_t)balance->bytes[k] * 4 * (n - 1) + (__uint128_t)balance->halves[k] * n;
}

static __uint128_t load_below(const struct balance *balance, __u32 k)
{
	const struct chunk_dim *dim = &balance->of->dim[k];

	return (__uint128_t)4 * dim->endpoints * dim->bandwidth;
}

/* The bytes that take a dimension as long as its latency */
static __u64 latency_bytes(const struct chunk_dim *dim)
{
	if (dim->endpoints == 1)
		return 0;
	return ((__uint128_t)dim->latency * dim->bandwidth * dim->endpoints << 30) /
	       ((__uint128_t)(dim->endpoints - 1) * CHUNK_BANDWIDTH_UNIT * 1000000000000ull);
}

static bool less(const struct balance *balance, __u32 a, __u32 b)
{
	return load_above(balance, a) * load_below(balance, b) <
	       load_above(balance, b) * load_below(balance, a);
}

/* Insertion sort: stable, and the list is nearly sorted already. */
static void sort(struct balance *balance)
{
	__u8 *list = balance->list;
	__u32 i, at;

	for (i = 1; i < balance->of->dims; i++) {
		__u8 k = list[i];

		for (at = i; at && less(balance, k, list[at - 1]); at--)
			list[at] = list[at - 1];
		list[at] = k;
	}
}

/* 0, 1, ..; dimensions that leave chunks whole are last, where they can. */
static void natural(const struct chunk_collective *of, __u8 *list)
{
	__u32 pass, k;

	for (pass = 0; pass < 2; pass++)
		for (k = 0; k < of->dims; k++) {
			if (chunk_alg_is_whole(of->dim[k].alg) == pass)
				*list++ = k;
		}
}

static __u32 last_of(const struct chunk_collective *of, const __u8 *order)
{
	__u32 i = of->dims - 1;

	while (of->dim[order[i]].endpoints == 1)
		i--;
	return order[i];
}

/*
 * Would less than a sixteenth of the chunk, in the least loaded dimension, make
 * up for its distance to the most loaded one? Then the order hardly matters.
 * The paper's rule, with the division taken out: (max - least) as bytes of
 * dimension least < chunk / 16.
 */
static bool is_balanced(const struct balance *balance, __u64 bytes)
{
	const struct chunk_collective *of = balance->of;
	__u32 max = balance->list[of->dims - 1], i = 0, least;

	while (of->dim[balance->list[i]].endpoints == 1)
		i++;
	least = balance->list[i];
	return load_above(balance, max) * load_below(balance, least) <
	       (load_above(balance, least) +
		(__uint128_t)(bytes / 16) * 4 * (of->dim[least].endpoints - 1)) *
	       load_below(balance, max);
}

static void add(struct balance *balance, __u64 bytes)
{
	const struct chunk_collective *of = balance->of;
	__u32 last = last_of(of, balance->list), i;

	for (i = 0; i < of->dims; i++) {
		__u32 k = balance->list[i];
		const struct chunk_dim *dim = &of->dim[k];

		if (k == last && chunk_alg_is_whole(dim->alg))
			balance->halves[k] += bytes * chunk_alg_whole_halves(dim->alg,
									     dim->endpoints);
		else
			balance->bytes[k] += bytes;
		bytes /= dim->endpoints;
	}
}

static void reverse(__u8 *order, __u32 dims)
{
	__u32 i;

	for (i = 0; i < dims / 2; i++) {
		__u8 k = order[i];

		order[i] = order[dims - 1 - i];
		order[dims - 1 - i] = k;
	}
}

/* Bytes of an endpoint in a dimension, once for both directions, times four endpoints */
static __uint128_t plan_above(const struct chunk_plan *plan, __u32 dim)
{
	const struct chunk_collective *of = &plan->of;
	struct balance balance = { .of = of };
	__u32 i;

	if (of->kind == CHUNK_ALL_TO_ALL)
		balance.bytes[dim] = of->size;
	for (i = 0; i < of->chunks && of->kind != CHUNK_ALL_TO_ALL; i++) {
		memcpy(balance.list, plan->order[i], sizeof(balance.list));
		if (of->kind == CHUNK_ALL_GATHER)
			reverse(balance.list, of->dims);
		add(&balance, chunk_bytes(of, i));
	}
	return load_above(&balance, dim);
}

/* Load of other collectives in a dimension, in bytes of a chunk of the own collective. */
static __u64 bytes_beside(const struct chunk_collective *of, __u32 dim)
{
	__u32 n = of->dim[dim].endpoints, i;
	__u64 bytes = 0;

	for (i = 0; i < of->nr_beside && n > 1; i++)
		bytes += plan_above(&of->beside[i], dim) * n /
			 ((__uint128_t)4 * of->beside[i].of.dim[dim].endpoints * (n - 1));
	return bytes;
}

static void add_sorted(struct balance *balance, __u64 bytes)
{
	sort(balance);
	if (is_balanced(balance, bytes))
		natural(balance->of, balance->list);
	add(balance, bytes);
}

/*
 * In an All-to-All, the load of a dimension is the same in all orders, so only the first
 * dimensions are balanced. The others follow in a circle, so that none is crowded next.
 */
static void add_swapped(struct balance *balance, __u64 bytes)
{
	const struct chunk_collective *of = balance->of;
	__u32 first = of->dims, k;

	for (k = 0; k < of->dims; k++)
		if (of->dim[k].endpoints > 1 && (first == of->dims || less(balance, k, first)))
			first = k;
	for (k = 0; k < of->dims; k++)
		balance->list[k] = (first + k) % of->dims;
	balance->bytes[first] += bytes;
}

/* An All-Gather is planned as the Reduce-Scatter that it is backwards. */
static void plan_chunks(struct chunk_plan *plan, bool themis)
{
	const struct chunk_collective *of = &plan->of;
	struct balance balance = { .of = of };
	__u32 i;

	for (i = 0; i < of->dims; i++)
		balance.bytes[i] = latency_bytes(&of->dim[i]) + bytes_beside(of, i);
	natural(of, balance.list);
	for (i = 0; i < of->chunks; i++) {
		__u64 bytes = chunk_bytes(of, i);

		if (themis && of->kind == CHUNK_ALL_TO_ALL)
			add_swapped(&balance, bytes);
		else if (themis)
			add_sorted(&balance, bytes);
		memcpy(plan->order[i], balance.list, sizeof(balance.list));
		if (of->kind == CHUNK_ALL_GATHER)
			reverse(plan->order[i], of->dims);
	}
}

/* An algorithm that a collective cannot use */
static bool is_strange(const struct chunk_collective *of, const struct chunk_dim *dim)
{
	if (of->kind == CHUNK_ALL_TO_ALL)
		return dim->alg != CHUNK_RING && dim->alg != CHUNK_DIRECT;
	return chunk_alg_is_whole(dim->alg) && (of->kind != CHUNK_ALL_REDUCE ||
						!chunk_alg_takes(dim->alg, dim->endpoints));
}

void chunk_plan_fit(struct chunk_collective *of)
{
	__u32 k;

	for (k = 0; k < of->dims; k++) {
		struct chunk_dim *dim = &of->dim[k];
		__u64 step = chunk_step_latency(dim);

		if (!is_strange(of, dim))
			continue;
		dim->alg = CHUNK_RING;
		dim->latency = step * chunk_alg_steps(dim->alg, dim->endpoints);
	}
}

/* A collective beside is not over the same dimensions, or takes more than a day. */
static bool is_apart(const struct chunk_collective *of)
{
	const struct chunk_collective *other;
	__u32 i, k;

	for (i = 0; i < of->nr_beside; i++) {
		other = &of->beside[i].of;
		if (i >= CHUNK_MAX_BESIDE || other->dims != of->dims || other->nr_beside)
			return true;
		for (k = 0; k < of->dims; k++)
			if (other->dim[k].bandwidth != of->dim[k].bandwidth ||
			    chunk_time(&other->dim[k], other->size) > CHUNK_MAX_TIME)
				return true;
	}
	return false;
}

static int validate(const struct chunk_collective *of)
{
	__u32 most = 0, k;

	if (!of->dims || of->dims > CHUNK_MAX_DIMS ||
	    !of->chunks || of->chunks > CHUNK_MAX_CHUNKS ||
	    of->size < of->chunks || of->size > CHUNK_MAX_SIZE || is_apart(of))
		return -EINVAL;
	for (k = 0; k < of->dims; k++) {
		const struct chunk_dim *dim = &of->dim[k];

		if (!dim->endpoints || dim->endpoints > CHUNK_MAX_ENDPOINTS ||
		    !dim->bandwidth || dim->bandwidth > CHUNK_MAX_BANDWIDTH ||
		    dim->latency > CHUNK_MAX_LATENCY || is_strange(of, dim))
			return -EINVAL;
		if (chunk_time(dim, of->size) > CHUNK_MAX_TIME ||
		    (chunk_alg_is_whole(dim->alg) &&
		     chunk_sum_time(dim, of->size) > CHUNK_MAX_TIME))
			return -ERANGE;
		if (dim->endpoints > most)
			most = dim->endpoints;
	}
	return most > 1 ? 0 : -EINVAL;
}

int chunk_plan_make(struct chunk_plan *plan, const struct chunk_collective *of,
		    enum chunk_policy policy)
{
	int ret = validate(of);

	memset(plan, 0, sizeof(*plan));
	if (ret)
		return ret;
	plan->of = *of;
	plan->queue = policy == CHUNK_THEMIS ? CHUNK_SCF : CHUNK_FIFO;
	plan->fused = policy == CHUNK_BASELINE && of->kind == CHUNK_ALL_REDUCE;
	plan->order = malloc(of->chunks * sizeof(*plan->order));
	if (!plan->order)
		return -ENOMEM;
	plan_chunks(plan, policy == CHUNK_THEMIS);
	return 0;
}

void chunk_plan_free(struct chunk_plan *plan)
{
	free(plan->order);
	memset(plan, 0, sizeof(*plan));
}

__u32 chunk_plan_last(const struct chunk_plan *plan, __u32 chunk)
{
	return last_of(&plan->of, plan->order[chunk]);
}

bool chunk_plan_sums(const struct chunk_plan *plan, __u32 chunk)
{
	return chunk_alg_is_whole(plan->of.dim[chunk_plan_last(plan, chunk)].alg);
}

__u32 chunk_plan_stages(const struct chunk_plan *plan, __u32 chunk)
{
	__u32 legs = 0, k;

	for (k = 0; k < plan->of.dims; k++)
		legs += plan->of.dim[k].endpoints > 1;
	if (plan->of.kind != CHUNK_ALL_REDUCE)
		return legs;
	return 2 * legs - (plan->fused || chunk_plan_sums(plan, chunk));
}

__u64 chunk_plan_load(const struct chunk_plan *plan, __u32 dim)
{
	const struct chunk_collective *of = &plan->of;
	__uint128_t above, below;

	above = plan_above(plan, dim) * of->dim[0].bandwidth;
	below = load_below(&(struct balance) { .of = of }, dim) << 20;
	/* Two steps, because the product of all needs more than 128 bits. */
	return (__u64)(above / below) * 1000000 +
	       (__u64)((above % below * 1000000 + below / 2) / below);
}

static __u64 hash_add(__u64 hash, __u64 value, int bytes)
{
	__le64 little = htole64(value);

	return fnv1a(hash, &little, bytes);
}

__u64 chunk_plan_hash(const struct chunk_plan *plan)
{
	const struct chunk_collective *of = &plan->of;
	__u64 hash = FNV1A_NONE;
	__u32 i, k;

	hash = hash_add(hash, of->kind, 1);
	hash = hash_add(hash, plan->queue, 1);
	hash = hash_add(hash, plan->fused, 1);
	hash = hash_add(hash, of->dims, 1);
	for (k = 0; k < of->dims; k++)
		hash = hash_add(hash, of->dim[k].endpoints |
				(__u32)(of->dim[k].alg == CHUNK_NETREDUCE) << 31 |
				(__u32)(of->dim[k].alg == CHUNK_TREE) << 30, 4);
	hash = hash_add(hash, of->chunks, 4);
	for (i = 0; i < of->chunks; i++) {
		hash = hash_add(hash, chunk_bytes(of, i), 8);
		for (k = 0; k < of->dims; k++)
			hash = hash_add(hash, plan->order[i][k], 1);
	}
	return hash;
}
