/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find the links of a slice on which flows of its job meet. Pure.
 *
 * A GPU sends by the lane of its rank to any destination (slice_place.h). Flows meet on a
 * link of a leaf in a lane, up or down. The two ends of a flow determine its links.
 */
#ifndef ROCESTEER_LIB_CONTENTION_H
#define ROCESTEER_LIB_CONTENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "slice_place.h"

/**
 * struct contention_layout - leaves of a job's GPUs, and its links
 * @ranks: number of GPUs
 * @leaves: number of leaves
 * @lanes: number of lanes, 0 under one leaf
 * @leaf: leaf of each rank, 0..@leaves - 1
 * @first: first rank of each leaf; one entry more: @ranks
 * @links: links of each leaf in each lane, at least 1
 * @before: for each leaf, links in a lane that the leaves before it need
 * @most: largest of @links
 * @pair: for each lane, the first lane over the same links; the lane itself, unless links
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
 * Build a layout: init, add GPUs to the last leaf or to a new one, which has one link in each
 * lane, set @links, then count.
 */
int contention_layout_init(struct contention_layout *layout, __u32 ranks, __u32 leaves,
			   __u32 lanes);
void contention_layout_add(struct contention_layout *layout, bool new_leaf, __u32 gpus);
void contention_layout_count(struct contention_layout *layout);

/* Links that the ranks of a leaf need in each lane. There is at least one lane. */
__u32 contention_links_needed(const struct contention_layout *layout, __u32 leaf);

/**
 * contention_link_at() - the link of a flow at the leaf of one of its ends
 * @layout: layout over several leaves
 * @rank: rank at this end
 * @other: rank at the other end, under another leaf
 *
 * Return: number among the links of the leaf in the lane of the flow.
 */
__u32 contention_link_at(const struct contention_layout *layout, __u32 rank, __u32 other);

struct contention_flow {
	__u32 from;	/* rank */
	__u32 to;
	__u32 step;	/* flows of one step are in flight together */
};

/**
 * struct contention_link - a link that several flows take
 * @up: the link leads from the leaf to the spine
 * @leaf: leaf, 0..leaves - 1
 * @lane: lane, which leads over one spine
 * @link: number among the links of the leaf in this lane
 * @flows: flows on the link
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
 * @layout: layout of the job
 * @flows: flows of one step; sorted
 * @n: number of flows
 * @report: called for each such link, links up first, ascending by leaf, lane and link
 * @arg: passed to @report
 *
 * Flows that stay on their leaf take no link.
 *
 * Return: number of links that several flows take, or -ENOMEM.
 */
long contention_test(const struct contention_layout *layout,
		     struct contention_flow *flows, size_t n,
		     void (*report)(const struct contention_link *link, void *arg),
		     void *arg);

/**
 * contention_worst() - the most flows of one step on a link
 * @layout: layout of the job
 * @flows: flows of one step; sorted
 * @n: number of flows
 *
 * Return: 0 if no flow takes a link, or -ENOMEM.
 */
long contention_worst(const struct contention_layout *layout,
		      struct contention_flow *flows, size_t n);

/*
 * Hierarchical patterns run inside groups of ranks, then between the ranks of the same
 * number in all groups at once (vClos, section 4: P-incast-free). A group has as many ranks
 * as the job has lanes.
 */
enum contention_pattern {
	CONTENTION_RING,	/* to the next rank */
	CONTENTION_HALVING,	/* step k: with the rank at XOR 2^k */
	CONTENTION_ALL_TO_ALL,	/* step k: to the rank k + 1 further */
	CONTENTION_PERMUTATION,	/* each to one other, at random */
	CONTENTION_HIERARCHICAL_RING,	/* to the next in the group, then in the next group */
	CONTENTION_HIERARCHICAL_ALL_TO_ALL,	/* the same with k + 1 further */
	CONTENTION_PATTERNS
};

/* Their names on the command line. */
extern const char * const contention_pattern_names[CONTENTION_PATTERNS + 1];

/**
 * contention_steps() - length of a pattern
 * @pattern: pattern
 * @ranks: number of GPUs
 * @group: ranks of a group, divides @ranks; 0: all
 *
 * Return: number of steps, or -EINVAL: halving-doubling needs a power of two.
 */
long contention_steps(enum contention_pattern pattern, __u32 ranks, __u32 group);

/**
 * contention_step() - flows of one step of a pattern
 * @pattern: pattern
 * @ranks: number of GPUs
 * @group: as for contention_steps()
 * @seed: seed of the permutation
 * @step: from 0
 * @flows: filled, @ranks of them
 *
 * Return: 0 or -ENOMEM.
 */
int contention_step(enum contention_pattern pattern, __u32 ranks, __u32 group,
		    __u32 seed, __u32 step, struct contention_flow *flows);

/**
 * contention_test_pattern() - find the links that a pattern's flows meet on
 * @layout: layout of the job, with a number of ranks that the pattern takes
 * @pattern: pattern
 * @seed: seed of the permutation
 * @report: called for each such link, step by step
 * @arg: passed to @report
 *
 * Return: as contention_test(), over all steps.
 */
long contention_test_pattern(const struct contention_layout *layout,
			     enum contention_pattern pattern, __u32 seed,
			     void (*report)(const struct contention_link *link, void *arg),
			     void *arg);

/* Steps of a pattern, as contention_test_pattern() takes them. */
long contention_pattern_steps(const struct contention_layout *layout,
			      enum contention_pattern pattern);

/**
 * contention_prove() - steps of collectives in which flows of a job meet
 * @layout: layout of the job
 *
 * Tests all patterns but the permutation, halving-doubling if the number of ranks is a power
 * of two. For large jobs, only some steps of an all-to-all are tested.
 *
 * Return: number of steps, 0 if the slice is free of contention, or -ENOMEM.
 */
long contention_prove(const struct contention_layout *layout);

struct err;
struct json_object;
struct reader;

/**
 * struct contention_slice - a slice from a file
 * @layout: layout; ranks count through the servers
 * @leaf: number of each leaf of @layout in the fabric
 * @spines: spine of each lane
 * @nr_spines: number of lanes
 */
struct contention_slice {
	struct contention_layout layout;
	__u32 *leaf;
	__u32 *spines;
	__u32 nr_spines;
};

/**
 * contention_read_slice() - read the output of slice alloc or show
 * @slice: filled; to be freed by contention_slice_free() in any case
 * @r: reader
 * @obj: the JSON; leaves, spines, lane_links, servers and links have to agree
 *
 * In a slice without lane_links each leaf has one link in each lane, and several links to a
 * spine are not told apart: the switch hashes flows onto them, so two flows may meet.
 *
 * Return: 0 or a negative errno.
 */
int contention_read_slice(struct contention_slice *slice, struct reader *r,
			  struct json_object *obj);

void contention_slice_free(struct contention_slice *slice);

/**
 * contention_read_flows() - read a list of flows (Documentation/formats.rst)
 * @file: name
 * @ranks: number of ranks
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
