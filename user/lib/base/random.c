// SPDX-License-Identifier: GPL-2.0
#include "random.h"

void random_order(__u32 seed, __u32 n, __u32 *order)
{
	__u32 state = (seed + 1) * 0x9e3779b1u ?: 1, i;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = 0; i < 4; i++)		/* near seeds, far sequences */
		xorshift32(&state);
	for (i = n; i > 1; i--) {
		__u32 j = ((__u64)xorshift32(&state) * i) >> 32;
		__u32 tmp = order[i - 1];

		order[i - 1] = order[j];
		order[j] = tmp;
	}
}
