/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who sends what to whom within a dimension. Pure.
 *
 * The @n members of a group cut a range into @n parts. Before a Reduce-Scatter
 * each has all parts, afterwards member m has the sum of part m; an All-Gather
 * is the way back. Both go in steps of one or more exchanges: a member sends
 * some parts to another, receives as many from the same or a third, and needs
 * what it has received before it begins the next step.
 *
 * In a Reduce-Scatter received parts wait in a staging area of @n places to be
 * added. A place is used once in a stage, so that nobody has to wait for it.
 */
#ifndef ROCESTEER_LIB_CHUNK_ALG_H
#define ROCESTEER_LIB_CHUNK_ALG_H

#include <stdbool.h>
#include <linux/types.h>

enum chunk_alg {
	CHUNK_RING,	/* n - 1 steps, each with both neighbours */
	CHUNK_HALVING,	/* log2 n steps, with one at half the distance each time */
	CHUNK_DIRECT,	/* one step, with all others */
};

/* Their names, ended by NULL. */
extern const char * const chunk_algs[];

/**
 * struct chunk_exchange - one exchange of a step
 * @to: member it sends to
 * @from: member it receives from
 * @send: first part that it sends
 * @receive: first part that it receives
 * @parts: how many, from these on, it sends and receives
 * @place: in a Reduce-Scatter, the first place in the staging area of @to for
 *	what is sent
 * @staged: in a Reduce-Scatter, the same for what is received
 */
struct chunk_exchange {
	__u32 to;
	__u32 from;
	__u32 send;
	__u32 receive;
	__u32 parts;
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

/* Can it work with so many? CHUNK_HALVING needs a power of two. */
bool chunk_alg_takes(enum chunk_alg alg, __u32 n);

/**
 * chunk_alg_exchange() - what a member does
 * @alg: algorithm
 * @gather: All-Gather, else Reduce-Scatter
 * @n: members, such that chunk_alg_takes() them
 * @me: member
 * @index: of the exchange: step * width + number in the step; the one by which
 *	@to receives has the same index there
 *
 * Return: the exchange.
 */
struct chunk_exchange chunk_alg_exchange(enum chunk_alg alg, bool gather,
					 __u32 n, __u32 me, __u32 index);

#endif /* ROCESTEER_LIB_CHUNK_ALG_H */
