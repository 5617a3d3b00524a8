// SPDX-License-Identifier: GPL-2.0
#include "base/base.h"
#include "plan.h"

void plan_order(__u32 seed, __u32 paths, __u32 *order)
{
	__u32 state = (seed + 1) * 0x9e3779b1u ?: 1, i;

	for (i = 0; i < paths; i++)
		order[i] = i;
	for (i = 0; i < 4; i++)		/* near seeds, far sequences */
		xorshift32(&state);
	for (i = paths; i > 1; i--) {
		__u32 j = ((__u64)xorshift32(&state) * i) >> 32;
		__u32 tmp = order[i - 1];

		order[i - 1] = order[j];
		order[j] = tmp;
	}
}

int plan_least_loaded(const __u64 *load, const __u32 *weight, __u32 paths, __u32 first)
{
	int best = -1;
	__u32 i, p;

	for (i = 0; i < paths; i++) {
		p = (first + i) % paths;
		if (weight[p] && (best < 0 || (load[p] + 1) * weight[best] <
					      (load[best] + 1) * weight[p]))
			best = p;
	}
	return best;
}
