/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether flows of a job meet on a link of its slice. Pure.
 *
 * A GPU sends by the lane of its rank, whatever the destination (slice_place.h). Flows
 * meet on a link of a leaf in a lane, on the way up or down. Which link a flow takes there
 * is a function of its ends.
 */
#ifndef ROCESTEER_LIB_CONTENTION_H
#define ROCESTEER_LIB_CONTENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "slice_place.h"

/**
 * struct contention_layout - where the GPUs of a job are, and its links
 * @ranks: number of GPUs
 * @leaves: number of leaves
 * @lanes: their number, 0 under one leaf
 * @leaf: of each rank: its leaf, 0..@leaves - 1
 * @first: of each leaf: its first rank; one entry more: @ranks
 * @links: of each leaf: links in each lane, at least 1
 * @before: of each leaf: links in a lane that those before it need
 * @most: of @links
 * @pair: of each lane: the first one by the same links; the lane itself, unless links
 *	cannot be told apart
 * @joined: links of a leaf in a lane cannot be told apart
 */
struct contention_layout {
	__u32 ranks;
	__u32 leaves;
	__u32 lanes;
	__u32 *leaf;
	__u32 *first;
	__u32 *links;
	__u32 *before;
	__u32 most;
	__u32 *pair;
	bool joined;
};

/**
 * contention_layout_of() - the layout of a slice
 * @slice: over any number of leaves
 * @layout: filled; to be freed by contention_layout_free() in any case
 *
 * Return: 0 or -ENOMEM.
 */
int contention_layout_of(const struct slice *slice, struct contention_layout *layout);
void contention_layout_free(struct contention_layout *layout);

/*
 * A layout bit by bit: make room, all empty; add GPUs, of the leaf of those before or of a
 * new one, which has one link in each lane; then count, once @links are as they are to be.
 */
int contention_layout_init(struct contention_layout *layout, __u32 ranks, __u32 leaves,
			   __u32 lanes);
void contention_layout_add(struct contention_layout *layout, bool new_leaf, __u32 gpus);
void contention_layout_count(struct contention_layout *layout);

/* Links that the ranks of a leaf need in each lane, of which there is one at least. */
__u32 contention_links_needed(const struct contention_layout *layout, __u32 leaf);

/**
 * contention_link_at() - the link by which a flow passes the leaf at one of its ends
 * @layout: over several leaves
 * @rank: at this end
 * @other: at the other end, under another leaf
 *
 * Return: its number among those of the leaf in the lane of the flow.
 */
__u32 contention_link_at(const struct contention_layout *layout, __u32 rank,
			 __u32 other);

struct contention_flow {
	__u32 from;	/* rank */
	__u32 to;
	__u32 step;	/* flows of one step are under way together */
};

/**
 * struct contention_link - a link that more than one flow takes
 * @up: it leads up to the spine, not down from it
 * @leaf: at its other end, 0..leaves - 1
 * @lane: says which spine it is
 * @link: of the leaf in this lane
 * @flows: that take it
 * @nr_flows: at least 2
 */
struct contention_link {
	bool up;
	__u32 leaf;
	__u32 lane;
	__u32 link;
	const struct contention_flow *flows;
	size_t nr_flows;
};

/**
 * contention_test() - find the links that flows of one step meet on
 * @layout: where the ranks are
 * @flows: of one step; they are put in another order
 * @n: how many
 * @report: called for each such link: first those up, then those down, ascending by leaf,
 *	lane and link
 * @arg: passed on
 *
 * Flows that stay on their leaf take no link.
 *
 * Return: number of links that more than one flow takes, or -ENOMEM.
 */
long contention_test(const struct contention_layout *layout,
		     struct contention_flow *flows, size_t n,
		     void (*report)(const struct contention_link *link,
				    void *arg),
		     void *arg);

/**
 * contention_worst() - most flows of one step that any link has
 * @layout: where the ranks are
 * @flows: of one step; they are put in another order
 * @n: how many
 *
 * Return: 0 where none takes a link, or -ENOMEM.
 */
long contention_worst(const struct contention_layout *layout,
		      struct contention_flow *flows, size_t n);

/*
 * The hierarchical ones are those of collectives that run inside groups of ranks, then
 * between the ranks of the same number in all groups, which are all under way together
 * (vClos, section 4: P-incast-free). A group has as many ranks as the job has lanes.
 */
enum contention_pattern {
	CONTENTION_RING,	/* to the next */
	CONTENTION_HALVING,	/* step k: with the one 2^k away by XOR */
	CONTENTION_ALL_TO_ALL,	/* step k: to the one k + 1 further */
	CONTENTION_PERMUTATION,	/* each to one, at random */
	CONTENTION_HIERARCHICAL_RING,	/* to the next in the group, then in the next group */
	CONTENTION_HIERARCHICAL_ALL_TO_ALL,	/* likewise to the one k + 1 further */
	CONTENTION_PATTERNS
};

/* Their names on the command line. */
extern const char * const contention_pattern_names[CONTENTION_PATTERNS + 1];

/**
 * contention_steps() - length of a pattern
 * @pattern: which
 * @ranks: number of GPUs
 * @group: ranks of a group, divides @ranks; 0: all
 *
 * Return: number of steps, or -EINVAL: halving-doubling takes a power of two.
 */
long contention_steps(enum contention_pattern pattern, __u32 ranks, __u32 group);

/**
 * contention_step() - flows of one step of a pattern
 * @pattern: which
 * @ranks: number of GPUs
 * @group: as above
 * @seed: of the permutation
 * @step: from 0
 * @flows: filled, @ranks of them
 *
 * Return: 0 or -ENOMEM.
 */
int contention_step(enum contention_pattern pattern, __u32 ranks, __u32 group,
		    __u32 seed, __u32 step, struct contention_flow *flows);

/**
 * contention_test_pattern() - find the links that a pattern's flows meet on
 * @layout: where the ranks are, of which the pattern takes so many
 * @pattern: which
 * @seed: of the permutation
 * @report: called for each such link, step by step
 * @arg: passed on
 *
 * Return: as contention_test(), over all steps.
 */
long contention_test_pattern(const struct contention_layout *layout,
			     enum contention_pattern pattern, __u32 seed,
			     void (*report)(const struct contention_link *link,
					    void *arg),
			     void *arg);

/* Steps of a pattern, as contention_test_pattern() takes them. */
long contention_pattern_steps(const struct contention_layout *layout,
			      enum contention_pattern pattern);

/**
 * contention_prove() - steps of collectives in which flows of a job meet
 * @layout: where the ranks are, and their links
 *
 * All patterns but the permutation are tested, halving-doubling where the number of ranks
 * is a power of two, of large jobs some of the steps of an all-to-all.
 *
 * Return: their number, 0: the slice keeps what it promises; or -ENOMEM.
 */
long contention_prove(const struct contention_layout *layout);

struct err;
struct json_object;
struct reader;

/**
 * struct contention_slice - a slice as it was read
 * @layout: ranks count through its servers in their order
 * @leaf: number of each leaf of the layout in the fabric
 * @spines: by lane
 * @nr_spines: number of lanes
 */
struct contention_slice {
	struct contention_layout layout;
	__u32 *leaf;
	__u32 *spines;
	__u32 nr_spines;
};

/**
 * contention_read_slice() - read what slice alloc and show print
 * @slice: filled; to be freed by contention_slice_free() in any case
 * @r: where it is
 * @obj: the JSON; leaves, spines, lane_links, servers and links have to agree
 *
 * A slice without lane_links is of before there were lanes: each leaf has one link in
 * each lane, and several to a spine are not told apart. The switch's hash then decides which
 * of them a flow takes: two flows may meet on one and leave the other idle.
 *
 * Return: 0 or a negative errno.
 */
int contention_read_slice(struct contention_slice *slice, struct reader *r,
			  struct json_object *obj);

void contention_slice_free(struct contention_slice *slice);

/**
 * contention_read_flows() - read a list of flows (Documentation/formats.rst)
 * @file: name
 * @ranks: that there are
 * @flows: set, ascending by step; to be freed
 * @n: set
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int contention_read_flows(const char *file, __u32 ranks,
			  struct contention_flow **flows, size_t *n,
			  struct err *err);

#endif /* ROCESTEER_LIB_CONTENTION_H */
