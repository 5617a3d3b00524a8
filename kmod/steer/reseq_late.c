// SPDX-License-Identifier: GPL-2.0
/*
 * Which path is late. A flow goes on no faster than its slowest path: while the packets of that
 * path are missing, and those of all other paths have come, the flow stands still. Where that
 * is the case for a third of the time, and on the same path, acknowledgments tell the sender.
 *
 * A path whose packets only take longer delays no others as long as packets of the others go on
 * coming, and is not told.
 */
#include <linux/ktime.h>

#include "reseq_order_priv.h"

/* Time from one hint to the next: long enough to be measured in jiffies. */
#define LATE_ROUND	(32 * TICK_NSEC)

/* One part of the time in so many is enough. */
#define LATE_PART	3

/**
 * rocesteer_order_note_late() - the expected packet has come, and others have waited for it
 * @order: order
 * @sport: UDP source port of the packet
 *
 * The path with most of the time stays: others take away from its time, and replace it when
 * nothing is left (Boyer and Moore, MJRTY).
 *
 * Context: holds @order->lock.
 */
void rocesteer_order_note_late(struct rocesteer_order *order, __be16 sport)
{
	struct rocesteer_late *late = &order->late;
	u64 idle = rocesteer_window_now() - max(late->latest, order->since);

	lockdep_assert_held(&order->lock);
	if (sport != late->sport && idle <= late->idle) {
		late->idle -= idle;
		return;
	}
	late->idle = sport == late->sport ? late->idle + idle : idle - late->idle;
	late->sport = sport;
	late->psn = order->expected;
}

/**
 * rocesteer_order_hint() - what an acknowledgment says of a late path
 * @order: order of the requests
 * @psn: PSN of the acknowledgment
 *
 * Context: BH disabled, holds @order->lock.
 * Return: 0 for nothing, or 1 + how many PSNs before @psn a packet was late, at most
 * ROCESTEER_BTH_LATE_MAX.
 */
u32 rocesteer_order_hint(struct rocesteer_order *order, u32 psn)
{
	struct rocesteer_late *late = &order->late;
	u64 now = rocesteer_window_now(), time = now - late->since;
	u32 distance = (psn - late->psn) & ROCESTEER_PSN_MASK;
	bool is_late;

	lockdep_assert_held(&order->lock);
	if (time < LATE_ROUND)
		return 0;
	is_late = late->sport && late->idle >= time / LATE_PART;
	if (is_late && distance >= ROCESTEER_BTH_LATE_MAX)
		return 0;	/* the next acknowledgment may be closer */
	late->sport = 0;
	late->idle = 0;
	late->since = now;
	return is_late ? 1 + distance : 0;
}
