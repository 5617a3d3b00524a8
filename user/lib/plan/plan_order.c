// SPDX-License-Identifier: GPL-2.0
#include "plan.h"

/* Marsaglia's xorshift, seeded away from its fixed point 0. */
static __u32 next_random(__u32 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

void plan_order(__u32 seed, __u32 paths, __u32 *order)
{
	__u32 state = (seed + 1) * 0x9e3779b1u ?: 1, i;

	for (i = 0; i < paths; i++)
		order[i] = i;
	for (i = 0; i < 4; i++)		/* near seeds, far sequences */
		next_random(&state);
	for (i = paths; i > 1; i--) {
		__u32 j = ((__u64)next_random(&state) * i) >> 32;
		__u32 tmp = order[i - 1];

		order[i - 1] = order[j];
		order[j] = tmp;
	}
}
