/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marsaglia's xorshift: the same numbers on every machine. The state is a seed other than 0,
 * and then the last number.
 */
#ifndef ROCESTEER_LIB_RANDOM_H
#define ROCESTEER_LIB_RANDOM_H

#include <linux/types.h>

static inline __u32 xorshift32(__u32 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static inline __u64 xorshift64(__u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/**
 * random_order() - a permutation, such as the order in which a host deals whole flows to paths
 * @seed: differs for each host, so that hosts begin with different paths
 * @n: how many numbers
 * @order: filled with 0..@n - 1
 *
 * The same on every machine for the same seed.
 */
void random_order(__u32 seed, __u32 n, __u32 *order);

#endif /* ROCESTEER_LIB_RANDOM_H */
