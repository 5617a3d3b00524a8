// SPDX-License-Identifier: GPL-2.0
#include <rocesteer/types.h>

#include "plan_priv.h"

/* Scale parts down to weights. */
static void to_weights(__u32 *weight, const __u64 *part, __u32 paths)
{
	__u64 common = 0, most = 0;
	unsigned int shift = 0;
	__u32 p;

	for (p = 0; p < paths; p++) {
		common = plan_gcd(common, part[p]);
		if (part[p] > most)
			most = part[p];
	}
	while (most / common >> shift > PLAN_LEVEL_MAX)
		shift++;
	for (p = 0; p < paths; p++)
		weight[p] = part[p] / common >> shift ?: !!part[p];
}

void plan_level(__u32 *weight, const __u64 *carried, __u32 paths, __u64 load)
{
	__u64 part[ROCESTEER_MAX_PATHS] = {}, sum, all;
	bool again;
	__u32 p;

	do {
		again = false;
		for (p = 0, sum = load, all = 0; p < paths; p++) {
			sum += weight[p] ? carried[p] : 0;
			all += weight[p];
		}
		for (p = 0; p < paths; p++) {
			if (!weight[p] || carried[p] * all < sum * weight[p])
				continue;
			weight[p] = 0;	/* the path is above the level already */
			again = true;
		}
	} while (again);
	for (p = 0; p < paths; p++)
		if (weight[p])
			part[p] = sum * weight[p] - carried[p] * all;
	to_weights(weight, part, paths);
}
