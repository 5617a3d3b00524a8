/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers that look random and are the same in every run: Marsaglia's xorshift64. */
#ifndef RANDOM_H
#define RANDOM_H

#include <linux/types.h>

/* Below @n, which is not 0. */
static inline __u32 random_below(__u32 n)
{
	static __u64 state = 0x2545f4914f6cdd1d;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 33) % n;
}

#endif /* RANDOM_H */
