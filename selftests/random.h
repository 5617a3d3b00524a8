/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers that look random and are the same in every run. */
#ifndef RANDOM_H
#define RANDOM_H

#include "../user/lib/base/random.h"

/* Below @n, which is not 0. */
static inline __u32 random_below(__u32 n)
{
	static __u64 state = 0x2545f4914f6cdd1d;

	return (xorshift64(&state) >> 33) % n;
}

#endif /* RANDOM_H */
