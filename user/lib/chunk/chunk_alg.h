/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The exchanges of a stage within a dimension. Pure.
 *
 * The @n members of a group cut a range into @n parts. Before a Reduce-Scatter each member
 * has all parts; afterwards member m has the sum of part m. An All-Gather is the reverse.
 * Both go in steps of one or more exchanges: a member sends parts to another member,
 * receives as many parts from that member or a third, and needs them before the next step.
 * In a stage of an All-to-All each member has a part for each member, and afterwards a part from
 * each.
 *
 * A Reduce-Scatter stages received parts in @n places until they are added. A place is used
 * once in a stage, so a sender never waits for a free place.
 */
#ifndef ROCESTEER_LIB_CHUNK_ALG_H
#define ROCESTEER_LIB_CHUNK_ALG_H

#include <stdbool.h>
#include <linux/types.h>

enum chunk_alg {
	CHUNK_RING,	/* n - 1 steps, each with both neighbours */
	CHUNK_HALVING,	/* log2 n steps, each at half the distance */
	CHUNK_DIRECT,	/* one step, with all other members */
	/*
	 * Switches sum what the members send (Documentation/reduce.rst), where the dimension is
	 * the last one of an All-Reduce's order; elsewhere as CHUNK_RING.
	 */
	CHUNK_NETREDUCE,
	/*
	 * Two binary trees (Sanders, Speck, Traeff, 2009) add a half each and send the sum back,
	 * where CHUNK_NETREDUCE would sum; elsewhere as CHUNK_RING. An inner node of one
	 * tree is a leaf of the other.
	 */
	CHUNK_TREE,
};

#define CHUNK_MAX_SUMMED	64u	/* members whose data switches sum */

/* Their names, ended by NULL. */
extern const char * const chunk_algs[];

/**
 * struct chunk_exchange - one exchange of a step
 * @to: member to send to; the member itself: nothing is sent
 * @from: member to receive from; the member itself: nothing is received
 * @send: first part to send
 * @receive: first part to receive
 * @parts: number of parts, both to send and to receive
 * @of: parts that the range is cut into
 * @place: in a Reduce-Scatter, first place of the sent parts in the staging area of @to
 * @staged: in a Reduce-Scatter, first place of the received parts
 */
struct chunk_exchange {
	__u32 to;
	__u32 from;
	__u32 send;
	__u32 receive;
	__u32 parts;
	__u32 of;
	__u32 place;
	__u32 staged;
};

/**
 * chunk_alg_steps() - steps of a stage
 * @alg: algorithm
 * @n: members, 1 or more; for CHUNK_HALVING rounded up to a power of two
 */
__u32 chunk_alg_steps(enum chunk_alg alg, __u32 n);

/* Exchanges of each step. */
__u32 chunk_alg_width(enum chunk_alg alg, __u32 n);

/*
 * Does an algorithm work with @n members? CHUNK_HALVING needs a power of two, CHUNK_NETREDUCE
 * 2..CHUNK_MAX_SUMMED.
 */
bool chunk_alg_takes(enum chunk_alg alg, __u32 n);

/**
 * chunk_alg_exchange() - an exchange of a member
 * @alg: algorithm
 * @gather: All-Gather, else Reduce-Scatter
 * @n: members, which chunk_alg_takes()
 * @me: member
 * @index: step * width + number in the step; the exchange by which @to receives has the
 *	same index
 *
 * Return: the exchange.
 */
struct chunk_exchange chunk_alg_exchange(enum chunk_alg alg, bool gather,
					 __u32 n, __u32 me, __u32 index);

/* Exchange @index of a stage of an All-to-All, by CHUNK_RING or CHUNK_DIRECT. */
struct chunk_exchange chunk_alg_swap(__u32 n, __u32 me, __u32 index);

/*
 * Does the algorithm do Reduce-Scatter and All-Gather as one stage when its dimension is the last
 * one of the order? Ranges stay as large as they were.
 */
bool chunk_alg_is_whole(enum chunk_alg alg);

/* Steps of such a stage, from all members to all. */
__u32 chunk_alg_whole_steps(enum chunk_alg alg, __u32 n);

/* Halves of the range that the busiest member sends in such a stage. */
__u32 chunk_alg_whole_halves(enum chunk_alg alg, __u32 n);

/* The one exchange of a stage that switches sum: the range goes round by one member. */
struct chunk_exchange chunk_alg_sum(__u32 n, __u32 me);

#define CHUNK_TREE_WIDTH	4u	/* exchanges of a step */
#define CHUNK_TREE_HALVES	2u	/* that the range is cut into */

/* Steps of a tree: all members are added, or have got the sum. */
__u32 chunk_alg_tree_steps(__u32 n);

/**
 * chunk_alg_tree() - an exchange of a stage of CHUNK_TREE
 * @gather: the sum is sent back, else members are added
 * @n: members
 * @me: member
 * @index: step * CHUNK_TREE_WIDTH + number in the step
 *
 * Return: the exchange. Ranges that are to be added are staged in CHUNK_TREE_WIDTH places.
 */
struct chunk_exchange chunk_alg_tree(bool gather, __u32 n, __u32 me, __u32 index);

#endif /* ROCESTEER_LIB_CHUNK_ALG_H */
