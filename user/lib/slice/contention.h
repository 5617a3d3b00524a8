/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether flows of a job meet on a link of its slice. Pure.
 *
 * A GPU sends by the spine of its place on its leaf, whatever the destination. On the
 * way up flows meet that come from GPUs in the same place: from one GPU, or from GPUs
 * with cables to the same spine, see contention_join_cables(). On the way down flows
 * meet that enter a leaf from GPUs in the same place on their leaves.
 */
#ifndef ROCESTEER_LIB_CONTENTION_H
#define ROCESTEER_LIB_CONTENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/**
 * struct contention_layout - where the GPUs of a job are
 * @ranks: number of GPUs
 * @leaves: number of leaves
 * @width: GPUs on a leaf, at most
 * @leaf: of each rank: its leaf, 0..@leaves - 1
 * @place: of each rank: its place on its leaf, 0..@width - 1
 */
struct contention_layout {
	__u32 ranks;
	__u32 leaves;
	__u32 width;
	__u32 *leaf;
	__u32 *place;
};

struct contention_flow {
	__u32 from;	/* rank */
	__u32 to;
	__u32 step;	/* flows of one step are under way together */
};

/**
 * struct contention_link - a link that more than one flow takes
 * @up: it leads up to the spine, not down from it
 * @leaf: at its other end, 0..leaves - 1
 * @place: of the sources on their leaves: says which spine it is
 * @flows: that take it
 * @nr_flows: at least 2
 */
struct contention_link {
	bool up;
	__u32 leaf;
	__u32 place;
	const struct contention_flow *flows;
	size_t nr_flows;
};

/**
 * contention_test() - find the links that flows of one step meet on
 * @layout: where the ranks are
 * @flows: of one step; they are put in another order
 * @n: how many
 * @report: called for each such link: first those up, then those down, ascending by leaf
 *	and place
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

enum contention_pattern {
	CONTENTION_RING,	/* to the next */
	CONTENTION_HALVING,	/* step k: with the one 2^k away by XOR */
	CONTENTION_ALL_TO_ALL,	/* step k: to the one k + 1 further */
	CONTENTION_PERMUTATION,	/* each to one, at random */
	CONTENTION_PATTERNS
};

/* Their names on the command line. */
extern const char * const contention_pattern_names[CONTENTION_PATTERNS + 1];

/**
 * contention_steps() - length of a pattern
 * @pattern: which
 * @ranks: number of GPUs
 *
 * Return: number of steps, or -EINVAL: halving-doubling takes a power of two.
 */
long contention_steps(enum contention_pattern pattern, __u32 ranks);

/**
 * contention_step() - flows of one step of a pattern
 * @pattern: which
 * @ranks: number of GPUs
 * @seed: of the permutation
 * @step: from 0
 * @flows: filled, @ranks of them
 *
 * Return: 0 or -ENOMEM.
 */
int contention_step(enum contention_pattern pattern, __u32 ranks, __u32 seed,
		    __u32 step, struct contention_flow *flows);

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

struct err;
struct json_object;
struct reader;

/**
 * struct contention_slice - a slice as it was read
 * @layout: ranks count through its servers in their order
 * @leaf: number of each leaf of the layout in the fabric
 * @spines: by place on a leaf
 * @nr_spines: at least the layout's width where there are several leaves
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
 * @obj: the JSON; leaves, spines, servers and links have to agree
 *
 * Return: 0 or a negative errno.
 */
int contention_read_slice(struct contention_slice *slice, struct reader *r,
			  struct json_object *obj);

/*
 * Count the cables between a leaf and a spine as one link: the switch's hash decides which
 * of them a flow takes, so that two flows may meet on one and leave the other idle.
 */
void contention_join_cables(struct contention_slice *slice);

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
