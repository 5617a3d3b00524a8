// SPDX-License-Identifier: GPL-2.0
#include "pace.h"

#define SECOND		1000000000ull
#define WINDOW		(SECOND / 4)
#define WINDOW_PROBES	8	/* fewer say nothing */
#define SLOWEST		2.0	/* per second */
#define BURST		8	/* probes that a late wake-up may catch up on */

void pace_start(struct pace *pace, unsigned int max, __u64 now)
{
	*pace = (struct pace) {
		.max = max,
		.rate = max,
		.next = now,
		.since = now,
	};
}

bool pace_take(struct pace *pace, __u64 now)
{
	__u64 interval = SECOND / pace->rate;

	if (now < pace->next)
		return false;
	if (now - pace->next > BURST * interval)
		pace->next = now - BURST * interval;
	pace->next += interval;
	return true;
}

bool pace_adapt(struct pace *pace, __u64 now)
{
	unsigned int total = pace->answered + pace->lost;
	double old = pace->rate, rate = old * 2;

	if (now - pace->since < WINDOW || total < WINDOW_PROBES)
		return false;
	if (pace->lost * 4 > total) {
		rate = 2.0 * pace->answered * SECOND / (now - pace->since);
		if (rate < old / 8)	/* one bad window is not everything */
			rate = old / 8;
		if (rate > old)
			rate = old;
	}
	if (rate < SLOWEST)
		rate = SLOWEST;
	if (rate > pace->max)
		rate = pace->max;
	pace->rate = rate;
	pace->since = now;
	pace->answered = 0;
	pace->lost = 0;
	return rate < old;
}
