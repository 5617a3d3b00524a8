/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The order in which the chunks of a collective go through the dimensions of a network. Pure:
 * no kernel, no I/O, integers only, so that every rank makes the same plan, bit for bit.
 *
 * Dimension k of a network joins groups of endpoints[k]. A Reduce-Scatter takes each chunk
 * through all dimensions; after dimension k a chunk is endpoints[k] times smaller. An
 * All-Gather is the reverse. An All-Reduce is a Reduce-Scatter and then an All-Gather in
 * reverse order. An All-to-All takes each chunk through all dimensions as well, where its size
 * stays the same.
 *
 * baseline  Every chunk goes through dimensions in their natural order, 0, 1, ... In an
 *	     All-Reduce a chunk stays in the last dimension for both halves: the plan is fused.
 * themis    Each chunk goes first through the dimension with the least load (Themis, ISCA
 *	     2022, arXiv 2110.04478, as in its authors' simulator). The load begins with the
 *	     dimension's latency, the paper's A_K, which chunks in flight share. Orders do not
 *	     change what a dimension carries of an All-to-All. They decide which chunks a
 *	     dimension has at the beginning: there the load is that of chunks that begin in the
 *	     dimension.
 *
 * A dimension of CHUNK_NETREDUCE sums in the network where it is the last one of a chunk's
 * order: both halves of the All-Reduce there are one stage, in which each endpoint sends the
 * chunk once, in place of 2 (endpoints - 1) / endpoints times. Elsewhere a sum would leave the
 * chunk as large as it was for all dimensions behind, so there such a dimension scatters and
 * gathers as the others do. The natural order has these dimensions last. Likewise CHUNK_TREE,
 * which sends a chunk twice, in fewer steps than a ring.
 */
#ifndef ROCESTEER_LIB_CHUNK_PLAN_H
#define ROCESTEER_LIB_CHUNK_PLAN_H

#include <stdbool.h>
#include <linux/types.h>

#include "chunk_alg.h"

#define CHUNK_MAX_DIMS		8u
#define CHUNK_MAX_CHUNKS	16384u
#define CHUNK_MAX_ENDPOINTS	65536u			/* of a dimension */
#define CHUNK_MAX_SIZE		0x4000000000000ull	/* bytes */
#define CHUNK_BANDWIDTH_UNIT	1000000u		/* one GiB/s */
#define CHUNK_MAX_BANDWIDTH	(100000ull * CHUNK_BANDWIDTH_UNIT)
#define CHUNK_MAX_LATENCY	1000000000000ull	/* ps: a second */
#define CHUNK_MAX_TIME		86400000000000000ull	/* ps: a day */

enum chunk_kind {
	CHUNK_ALL_REDUCE,
	CHUNK_REDUCE_SCATTER,
	CHUNK_ALL_GATHER,
	CHUNK_ALL_TO_ALL,
};

enum chunk_policy {
	CHUNK_BASELINE,
	CHUNK_THEMIS,
};

/* Order of the chunks that wait for a dimension. */
enum chunk_queue {
	CHUNK_FIFO,		/* the first to arrive */
	CHUNK_SCF,		/* the smallest; last stages after all others */
};

/* Their names, ended by NULL. */
extern const char * const chunk_kinds[];
extern const char * const chunk_queues[];

/**
 * struct chunk_dim - one dimension of a network
 * @endpoints: endpoints of a group, 1..CHUNK_MAX_ENDPOINTS; 1: the dimension is skipped
 * @bandwidth: per endpoint in 2^30 bytes per second, fixed point with six decimals:
 *	1..CHUNK_MAX_BANDWIDTH
 * @latency: time of a stage beside its bytes, ps, 0..CHUNK_MAX_LATENCY
 * @alg: algorithm of the stages; used to run them. Those of chunk_alg_is_whole(), for
 *	CHUNK_ALL_REDUCE only, are used to plan as well. CHUNK_ALL_TO_ALL takes CHUNK_RING and
 *	CHUNK_DIRECT
 */
struct chunk_dim {
	__u32 endpoints;
	__u64 bandwidth;
	__u64 latency;
	enum chunk_alg alg;
};

struct chunk_plan;

#define CHUNK_MAX_BESIDE	3u

/**
 * struct chunk_collective - a collective
 * @kind: kind
 * @size: bytes of the whole buffer, before a Reduce-Scatter or after an All-Gather;
 *	@chunks..CHUNK_MAX_SIZE
 * @chunks: 1..CHUNK_MAX_CHUNKS; each has size / chunks bytes, the last also
 *	the remainder
 * @in_flight: stages of a dimension at a time, at most, 0: any number; used by the model
 * @dims: number of dimensions, 1..CHUNK_MAX_DIMS
 * @dim: the dimensions; at least one has more than one endpoint
 * @beside: plans of collectives that run at the same time, with as many dimensions of the same
 *	bandwidths, and at most CHUNK_MAX_TIME in each. This one is planned on top of their
 *	loads; their own @nr_beside is 0
 * @nr_beside: number of these, 0..CHUNK_MAX_BESIDE
 */
struct chunk_collective {
	enum chunk_kind kind;
	__u64 size;
	__u32 chunks;
	__u32 in_flight;
	__u32 dims;
	struct chunk_dim dim[CHUNK_MAX_DIMS];
	struct chunk_plan *beside;
	__u32 nr_beside;
};

/**
 * struct chunk_plan - the order of dimensions of each chunk
 * @of: the collective
 * @queue: order of waiting chunks
 * @fused: an All-Reduce keeps a chunk in the dimension where its Reduce-Scatter ends: both
 *	halves there are one stage
 * @fell_back: the plan is the baseline's, as that of the rule would take longer
 * @order: by chunk: the order of dimensions, in an All-Reduce that of the Reduce-Scatter.
 *	Chunks are issued in the order of their numbers
 */
struct chunk_plan {
	struct chunk_collective of;
	enum chunk_queue queue;
	bool fused;
	bool fell_back;
	__u8 (*order)[CHUNK_MAX_DIMS];
};

/**
 * chunk_time() - time of a stage in a dimension
 * @dim: the dimension
 * @bytes: bytes with which a Reduce-Scatter begins the stage, 0..CHUNK_MAX_SIZE
 *
 * bytes * (endpoints - 1) / (endpoints * bandwidth), without the latency.
 *
 * Return: ps, rounded to the nearest, at most CHUNK_MAX_TIME + 1.
 */
__u64 chunk_time(const struct chunk_dim *dim, __u64 bytes);

/*
 * Time of a stage of chunk_alg_is_whole(): bytes / bandwidth if switches sum, twice that by
 * CHUNK_TREE.
 */
__u64 chunk_sum_time(const struct chunk_dim *dim, __u64 bytes);

/* The latency of one step of a stage */
__u64 chunk_step_latency(const struct chunk_dim *dim);

/* The latency of a stage of chunk_alg_is_whole(), by its own number of steps. */
__u64 chunk_sum_latency(const struct chunk_dim *dim);

/* Replace each algorithm that the collective cannot use by a ring. */
void chunk_plan_fit(struct chunk_collective *of);

/* Bytes of a chunk. */
__u64 chunk_bytes(const struct chunk_collective *of, __u32 chunk);

/**
 * chunk_plan_make() - plan a collective
 * @plan: filled; to be freed by chunk_plan_free()
 * @of: the collective
 * @policy: rule; also sets the queue, which the caller may change
 *
 * Return: 0; -EINVAL if a number is out of range; -ERANGE if a dimension needs more than
 * CHUNK_MAX_TIME for @size bytes; or -ENOMEM.
 */
int chunk_plan_make(struct chunk_plan *plan, const struct chunk_collective *of,
		    enum chunk_policy policy);

void chunk_plan_free(struct chunk_plan *plan);

/* The last dimension of a chunk's Reduce-Scatter that has more than one endpoint */
__u32 chunk_plan_last(const struct chunk_plan *plan, __u32 chunk);

/* Are both halves of the All-Reduce one stage in the last dimension of the chunk? */
bool chunk_plan_sums(const struct chunk_plan *plan, __u32 chunk);

/**
 * chunk_plan_stages() - number of stages of a chunk
 * @plan: a plan
 * @chunk: number of the chunk
 *
 * One for each dimension with more than one endpoint; in an All-Reduce two, but for the last
 * dimension of a plan that is fused, or of a chunk that chunk_plan_sums().
 */
__u32 chunk_plan_stages(const struct chunk_plan *plan, __u32 chunk);

/**
 * chunk_plan_load() - load of a dimension
 * @plan: a plan
 * @dim: dimension
 *
 * Bytes that an endpoint sends in this dimension, counted once for both halves of an
 * All-Reduce, and so by half where switches sum, times the bandwidth of dimension 0 over that
 * of @dim: equal loads take equal time.
 *
 * Return: millionths of 2^20 bytes, rounded to the nearest.
 */
__u64 chunk_plan_load(const struct chunk_plan *plan, __u32 dim);

/**
 * chunk_plan_hash() - hash of a plan, which ranks compare before they run it
 * @plan: a plan
 *
 * rocesteer-chunk(8) has the bytes under *hash*, with the values of the enums above. Rates are
 * left out: they led to the plan, but ranks need not agree on them.
 */
__u64 chunk_plan_hash(const struct chunk_plan *plan);

#endif /* ROCESTEER_LIB_CHUNK_PLAN_H */
