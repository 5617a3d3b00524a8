// SPDX-License-Identifier: GPL-2.0
#include "base/base.h"
#include "plan.h"

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
