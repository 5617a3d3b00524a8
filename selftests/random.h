/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers that look random and are the same in every run. */
#ifndef RANDOM_H
#define RANDOM_H

#include "../user/lib/base/random.h"

#define RANDOM_SEED	0x2545f4914f6cdd1d

/* That of all files of a program */
__u64 random_state __attribute__((weak)) = RANDOM_SEED;

/* Another seed gives other numbers. */
static inline void random_seed(__u64 seed)
{
	random_state = RANDOM_SEED ^ seed << 32;
}

/* Below @n, which is not 0. */
static inline __u32 random_below(__u32 n)
{
	return (xorshift64(&random_state) >> 33) % n;
}

#endif /* RANDOM_H */
