/* SPDX-License-Identifier: GPL-2.0 */
/* Leaves and spines to choose from, and the bound on what a choice costs. */
#ifndef ROCESTEER_LIB_OCS_CHOICE_H
#define ROCESTEER_LIB_OCS_CHOICE_H

#include "ocs_priv.h"

/* A leaf that the shape fits. */
struct ocs_leaf {
	__u32 number;
	__u32 idle;	/* ports */
	__u32 dark;	/* of these */
};

/**
 * struct ocs_choice - what is chosen, in the order in which it is
 * @s: what is searched for
 * @wire: searches for circuits
 * @leaf: those that the shape fits; with few idle ports first
 * @nr: number of @leaf
 * @have: by leaf, then spine: idle circuits
 * @most: likewise: the most from this leaf on
 * @dark_most: by leaf: likewise, dark ports
 * @spare: by spine: ports without a circuit
 * @room: by spine: ports that are not fixed
 * @sum: by spine: idle circuits to chosen leaves
 * @count: by spine, then e: chosen leaves with e circuits
 * @step: by spine: cost of one more
 * @below: by spine: chosen leaves with at most @times circuits
 * @shut: by spine: chosen leaves that it is shut to
 * @times: by spine: how often it is used
 * @order: of leaves: the chosen ones first
 * @all: prove that no circuits are better, or just try
 * @chosen: number of chosen leaves
 * @dark: ports of these
 */
struct ocs_choice {
	struct ocs_search *s;
	struct ocs_wire *wire;
	struct ocs_leaf *leaf;
	__u32 nr;
	__u16 *have;
	__u16 *most;
	__u32 *dark_most;
	__u32 *spare;
	__u32 *room;
	__u32 *sum;
	__u32 *count;
	__u32 *step;
	__u32 *below;
	__u32 *shut;
	__u32 *times;
	__u32 *order;
	bool all;
	__u32 chosen;
	__u32 dark;
};

/* Make room and collect what there is. Return: 0 or -ENOMEM. */
int ocs_choice_init(struct ocs_choice *c, struct ocs_search *s);
void ocs_choice_free(struct ocs_choice *c);

/* Choose leaf @i of @c->leaf, or no longer, with @sign -1. */
void ocs_choice_leaf(struct ocs_choice *c, __u32 i, int sign);

/* Use a spine no times, and then once more; the cost is in @c->step. */
void ocs_choice_reset(struct ocs_choice *c, __u32 spine, __u32 from);
void ocs_choice_use(struct ocs_choice *c, __u32 spine, __u32 from);

/**
 * ocs_choice_spread() - use spines so that new and lost circuits are the fewest
 * @c: leaves are chosen
 * @from: the next leaf that can be chosen
 * @first: the next spine; @c->times is set from it on
 * @units: circuits of each leaf to them
 *
 * Of spines alike, one with ports to spare is taken.
 *
 * Return: new circuits of leaves and those that others lose, at least; OCS_NONE
 * where there are not as many to be had.
 */
__u32 ocs_choice_spread(struct ocs_choice *c, __u32 from, __u32 first,
			__u32 units);

/* Find a place to compare with, with a quarter of the steps at most. */
void ocs_guess(struct ocs_choice *c);

/* Find better ones from the best place there is, with all steps. */
void ocs_guess_more(struct ocs_choice *c);

#endif /* ROCESTEER_LIB_OCS_CHOICE_H */
