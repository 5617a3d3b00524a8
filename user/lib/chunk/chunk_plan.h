/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In which order the chunks of a collective go through the dimensions of a
 * network. Pure: no kernel, no I/O, integers only: every rank that plans the
 * same collective gets the same plan, bit for bit.
 *
 * A network has dimensions; dimension k joins groups of endpoints[k]. A
 * Reduce-Scatter takes each chunk through all of them; behind dimension k a
 * chunk is endpoints[k] times smaller. An All-Gather is the same backwards, an
 * All-Reduce is a Reduce-Scatter and then an All-Gather in the reverse order.
 *
 * baseline  Every chunk goes 0, 1, ... and, in an All-Reduce, stays in the
 *	     last dimension for both halves: the plan is fused.
 * themis    Each chunk goes first where the least load is (Themis, ISCA 2022,
 *	     arXiv 2110.04478, as its authors' simulator has it).
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
};

enum chunk_policy {
	CHUNK_BASELINE,
	CHUNK_THEMIS,
};

/* Which of the chunks that wait for a dimension is next. */
enum chunk_queue {
	CHUNK_FIFO,		/* the one that came first */
	CHUNK_SCF,		/* the smallest, last stages behind all others */
};

/* Their names, ended by NULL. */
extern const char * const chunk_kinds[];
extern const char * const chunk_queues[];

/**
 * struct chunk_dim - one dimension of a network
 * @endpoints: that it joins, 1..CHUNK_MAX_ENDPOINTS; 1: it is passed over
 * @bandwidth: per endpoint in 2^30 bytes per second, fixed point with six
 *	decimals: 1..CHUNK_MAX_BANDWIDTH
 * @latency: that a stage takes beside its bytes, in ps, 0..CHUNK_MAX_LATENCY;
 *	in the model of time only
 * @alg: by which its stages are run; for who runs them only
 */
struct chunk_dim {
	__u32 endpoints;
	__u64 bandwidth;
	__u64 latency;
	enum chunk_alg alg;
};

/**
 * struct chunk_collective - what is to be planned
 * @kind: which collective
 * @size: bytes of the whole buffer: what a Reduce-Scatter begins with and an
 *	All-Gather ends with; @chunks..CHUNK_MAX_SIZE
 * @chunks: 1..CHUNK_MAX_CHUNKS; each has size / chunks bytes, the last also
 *	the remainder
 * @dims: number of dimensions, 1..CHUNK_MAX_DIMS
 * @dim: the dimensions; at least one has more than one endpoint
 */
struct chunk_collective {
	enum chunk_kind kind;
	__u64 size;
	__u32 chunks;
	__u32 dims;
	struct chunk_dim dim[CHUNK_MAX_DIMS];
};

/**
 * struct chunk_plan - the order of dimensions of each chunk
 * @of: what was planned
 * @queue: which chunk a dimension takes next
 * @fused: an All-Reduce keeps a chunk in the dimension where its
 *	Reduce-Scatter ends: both halves there are one stage
 * @order: by chunk, a permutation of the dimensions: the order in which the
 *	chunk goes through them, in an All-Reduce that of the Reduce-Scatter.
 *	Chunks are issued in the order of their numbers.
 */
struct chunk_plan {
	struct chunk_collective of;
	enum chunk_queue queue;
	bool fused;
	__u8 (*order)[CHUNK_MAX_DIMS];
};

/**
 * chunk_time() - how long bytes take in a dimension
 * @dim: the dimension
 * @bytes: with which a Reduce-Scatter begins there, 0..CHUNK_MAX_SIZE
 *
 * bytes * (endpoints - 1) / (endpoints * bandwidth), without the latency.
 *
 * Return: ps, rounded to the nearest; what is above CHUNK_MAX_TIME is
 * CHUNK_MAX_TIME + 1.
 */
__u64 chunk_time(const struct chunk_dim *dim, __u64 bytes);

/* Bytes of a chunk. */
__u64 chunk_bytes(const struct chunk_collective *of, __u32 chunk);

/**
 * chunk_plan_make() - plan a collective
 * @plan: filled; to be freed by chunk_plan_free()
 * @of: what to plan
 * @policy: by which rule; sets the queue it is made for, which may be changed
 *
 * Return: 0; -EINVAL when a number is out of range; -ERANGE when a dimension
 * would need more than CHUNK_MAX_TIME for @size bytes; -ENOMEM.
 */
int chunk_plan_make(struct chunk_plan *plan, const struct chunk_collective *of,
		    enum chunk_policy policy);

void chunk_plan_free(struct chunk_plan *plan);

/**
 * chunk_plan_load() - what a dimension carries, one way
 * @plan: a plan
 * @dim: dimension
 *
 * The bytes that an endpoint sends in this dimension, once for both halves of
 * an All-Reduce, scaled by the bandwidth of dimension 0 over that of @dim:
 * equal loads take equal time.
 *
 * Return: millionths of 2^20 bytes, rounded to the nearest.
 */
__u64 chunk_plan_load(const struct chunk_plan *plan, __u32 dim);

/**
 * chunk_plan_hash() - what ranks compare before they run a plan
 * @plan: a plan
 *
 * FNV-1a with 64 bits over, little-endian and without padding:
 *
 *	__u8	kind, queue, fused, dims
 *	__u32	endpoints of each dimension
 *	__u32	chunks
 *	each chunk:
 *		__u64	bytes
 *		__u8	order[dims]
 *
 * with the values of the enums above. All that ranks must agree on, and nothing
 * that only led to it: plans by different rates may be equal.
 */
__u64 chunk_plan_hash(const struct chunk_plan *plan);

#endif /* ROCESTEER_LIB_CHUNK_PLAN_H */
