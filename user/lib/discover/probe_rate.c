// SPDX-License-Identifier: GPL-2.0
#include "probe_rate.h"

#define SECOND		1000000000ull
#define WINDOW		(SECOND / 4)
#define WINDOW_PROBES	8	/* fewer say nothing */
#define SLOWEST		2.0	/* per second */
#define BURST		8	/* probes that a late wake-up may catch up on */

void probe_rate_start(struct probe_rate *rate, unsigned int max, __u64 now)
{
	*rate = (struct probe_rate) {
		.max = max,
		.per_second = max,
		.next = now,
		.since = now,
	};
}

bool probe_rate_take(struct probe_rate *rate, __u64 now)
{
	__u64 interval = SECOND / rate->per_second;

	if (now < rate->next)
		return false;
	if (now - rate->next > BURST * interval)
		rate->next = now - BURST * interval;
	rate->next += interval;
	return true;
}

bool probe_rate_adapt(struct probe_rate *rate, __u64 now)
{
	unsigned int total = rate->answered + rate->lost;
	double old = rate->per_second, new = old * 2;

	if (now - rate->since < WINDOW || total < WINDOW_PROBES)
		return false;
	rate->heard |= rate->answered;
	if (rate->heard && rate->lost * 4 > total) {
		new = 2.0 * rate->answered * SECOND / (now - rate->since);
		if (new < old / 8)	/* one bad window is not everything */
			new = old / 8;
		if (new > old)
			new = old;
	}
	if (new < SLOWEST)
		new = SLOWEST;
	if (new > rate->max)
		new = rate->max;
	rate->per_second = new;
	rate->since = now;
	rate->answered = 0;
	rate->lost = 0;
	return new < old;
}
