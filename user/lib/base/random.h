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

#endif /* ROCESTEER_LIB_RANDOM_H */
