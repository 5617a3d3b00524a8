/* SPDX-License-Identifier: GPL-2.0 */
/* Lanes over leaves, for cables and circuits. */
#ifndef ROCESTEER_LIB_SLICE_PRIV_H
#define ROCESTEER_LIB_SLICE_PRIV_H

#include <stdbool.h>

#include "slice_place.h"

/**
 * struct slice_lanes - lanes of a job, and the leaves that they join
 * @gpus: of the job
 * @lanes: their number
 * @leaf: ascending
 * @on: GPUs on each leaf
 * @links: of each leaf in each lane
 * @nr: number of leaves
 * @sum: of @links
 * @most: of @links
 */
struct slice_lanes {
	__u32 gpus;
	__u32 lanes;
	__u32 *leaf;
	__u32 *on;
	__u32 *links;
	__u32 nr;
	__u32 sum;
	__u32 most;
};

/**
 * struct slice_leaf - free parts of a leaf
 * @number: of the leaf
 * @servers: that are wholly free and have uplinks enough for their GPUs
 * @uplinks: that are free
 * @spines: a bit for each lane that the leaf can have by each spine; NULL: any
 */
struct slice_leaf {
	__u32 number;
	__u32 servers;
	__u32 uplinks;
	const __u64 *spines;
};

/* Report that the search goes on. */
static inline void slice_progress(const struct slice_fabric *fabric)
{
	if (fabric->progress)
		fabric->progress(fabric->arg);
}

/* A quotient, rounded up. */
static inline __u32 slice_divide_up(__u32 a, __u32 b)
{
	return a / b + !!(a % b);
}

int slice_lanes_init(struct slice_lanes *l, const struct slice_fabric *fabric, __u32 gpus);
void slice_lanes_free(struct slice_lanes *l);

/* Say how many links each leaf has in each lane, from the GPUs on the leaves. */
void slice_lanes_count(struct slice_lanes *l);

/**
 * slice_lanes_choose() - choose leaves for a job
 * @l: its number of lanes is set; leaves and links are filled
 * @fabric: its sizes
 * @leaf: leaves to choose from
 * @nr: number of @leaf
 * @first: the leaf to begin with
 * @words: of the leaves' bits
 *
 * The next leaf is the one with room for most of the missing servers; of equal leaves, that
 * with the fewest free uplinks, then servers.
 *
 * Return: whether the leaves have enough servers, and lanes in common.
 */
bool slice_lanes_choose(struct slice_lanes *l, const struct slice_fabric *fabric,
			const struct slice_leaf *leaf, __u32 nr, __u32 first,
			__u32 words);

/* The best leaf to begin with, where so many servers are needed, or -1. */
int slice_first_leaf(const struct slice_leaf *leaf, __u32 nr, __u32 need);

/**
 * slice_lane_numbers() - the numbers of lanes that a job can have
 * @gpus: of the job; not a multiple of @each: it has none
 * @each: GPUs of a server
 * @most: lanes
 * @number: filled, the largest first; at most SLICE_MAX_NUMBERS
 *
 * Return: how many there are.
 */
__u32 slice_lane_numbers(__u32 gpus, __u32 each, __u32 most, __u32 *number);

#define SLICE_MAX_NUMBERS	256	/* divisors of up to 2^22 GPUs, up to 1024 */

/* Have the leaves free links for all lanes? */
bool slice_has_links(const struct slice_fabric *fabric, const struct slice_lanes *l);

/* Servers of a leaf that are wholly free. */
__u32 slice_whole_servers(const struct slice_fabric *fabric, __u32 leaf);

/* Add wholly free servers of a leaf; the last may be used in part. */
void slice_take_servers(struct slice *slice, const struct slice_fabric *fabric,
			__u32 leaf, __u32 gpus);

/* Give the slice the leaves of its lanes, and wholly free servers there. */
int slice_take_leaves(struct slice *slice, const struct slice_fabric *fabric,
		      const struct slice_lanes *l);

/*
 * Give the lanes links that their leaves have free, by as few spines as will do. Return:
 * whether there are enough.
 */
bool slice_take_links(struct slice *slice, const struct slice_fabric *fabric,
		      const struct slice_lanes *l);

/* Place over several leaves. Return: 1 when it was placed, 0, or -ENOMEM. */
int slice_place_across(const struct slice_fabric *fabric, __u32 gpus, struct slice *slice);

#endif /* ROCESTEER_LIB_SLICE_PRIV_H */
