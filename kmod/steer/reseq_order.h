/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_ORDER_H
#define ROCESTEER_RESEQ_ORDER_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue_types.h>

#include <rocesteer/roce.h>
#include <rocesteer/types.h>

#include "reseq_deliver.h"
#include "reseq_window.h"

struct dst_entry;
struct rocesteer_net;
struct rocesteer_outstanding;

/**
 * enum rocesteer_order_state - what was done about the missing packet
 * @ROCESTEER_ORDER_WAITING: nothing yet
 * @ROCESTEER_ORDER_NUDGED: declared lost; a copy of a later packet was delivered
 * @ROCESTEER_ORDER_ASKED: the queue pair has sent a NAK and drops all other packets
 */
enum rocesteer_order_state {
	ROCESTEER_ORDER_WAITING,
	ROCESTEER_ORDER_NUDGED,
	ROCESTEER_ORDER_ASKED,
};

/**
 * struct rocesteer_late - the path that the flow waits for, while nothing comes by others
 * @sport: UDP source port of the path; 0 for none
 * @psn: latest packet of the path that others waited for
 * @idle: time for which only this path's packets were missing, less that of other paths, in ns
 * @since: when counting began
 * @latest: arrival of the latest packet that had to wait
 *
 * Times are in jiffies resolution, which is right in the mean.
 */
struct rocesteer_late {
	__be16 sport;
	u32 psn;
	u64 idle;
	u64 since;
	u64 latest;
};

/**
 * struct rocesteer_order - order of the requests, or of the responses, of a queue pair
 * @rn: namespace, which outlives this
 * @mtu_shift: log2 of the path MTU, immutable
 * @lock: guards all members below. Taken with BH disabled, nests in rocesteer_lock
 * @synced: @expected is known
 * @delivering: a CPU is delivering packets
 * @dead: the flow is gone, no packet may wait
 * @state: what was done about the missing packet @expected
 * @paths: number of paths, from the last packet in order; 0 until a packet carries one
 * @reorders: @reorder is a measurement
 * @silent: the missing packet was declared lost as only its path was silent
 * @expected: next PSN that the queue pair expects
 * @resync_psn: PSN expected after the last out-of-window old packet; two in a row
 *	resync. 2^24 for none
 * @lag: recent lateness of missing packets, in nanoseconds
 * @skew: the same; in the beginning a guess, which is high
 * @noted: time of the last update of @lag, @skew and @reorder, in jiffies resolution
 * @waited: PSN that packets have waited for last
 * @since: start of the wait for @expected in @state, in jiffies resolution
 * @overtaken: time at which all paths had delivered later packets than @expected; 0
 *	before that
 * @reorder: recent lateness of packets relative to @overtaken, in nanoseconds; 0 on
 *	FIFO paths
 * @resent: after go-back-N: PSNs before this may have been sent twice. Valid in
 *	[@expected + 1, @expected + size / 2]
 * @lost_psn: last packet declared lost that had been sent once
 * @lost_overtaken: @overtaken of @lost_psn; 0 after @lost_psn has arrived
 * @spurious_late: lateness of @lost_psn; a second copy proves a spurious loss. 0 for none
 * @silent_psn: last packet of a silent path
 * @silent_since: when packets began to wait for @silent_psn: a second copy proves that the
 *	path was not silent, but late. 0 for none
 * @late: the path that the flow waits for
 * @outstanding: outstanding READs and atomics (responses only). Only the test for NULL is
 *	allowed without @lock
 * @route: referenced route that the last packet left that waits, or leaves by another CPU;
 *	NULL before the first one. All packets have the same addresses and device, and get
 *	this one. Valid until RCU readers that have seen it are done
 * @okfn: continues at LOCAL_IN, the same for all packets, as their family is. Not exported:
 *	the first packet tells it
 * @window: waiting packets, all in (@expected, @expected + size)
 * @ready: packets to deliver, in order, linked by their next pointer
 * @ready_end: tail of @ready
 * @nr_ready: length of @ready
 * @timer: pending while packets wait, possibly longer
 * @more: continues delivery
 * @gap: when the first packet began to wait for @expected, in ns; valid while packets wait
 * @held: packets that had to wait
 * @lost: packets declared lost because all paths had delivered later ones
 * @timeout: packets declared lost by @timer
 */
struct rocesteer_order {
	struct rocesteer_net *rn;
	u8 mtu_shift;
	spinlock_t lock;	/* see above */
	bool synced;
	bool delivering;
	bool dead;
	u8 state;
	u8 paths;
	bool reorders;
	bool silent;
	u32 expected;
	u32 resync_psn;
	u64 lag;
	u64 skew;
	u64 noted;
	u64 since;
	u64 overtaken;
	u64 reorder;
	u32 waited;
	u32 resent;
	u32 lost_psn;
	u64 lost_overtaken;
	u64 spurious_late;
	u32 silent_psn;
	u64 silent_since;
	struct rocesteer_late late;
	struct rocesteer_outstanding *outstanding;
	struct dst_entry *route;
	rocesteer_okfn okfn;
	struct rocesteer_window window;
	struct sk_buff *ready;
	struct sk_buff **ready_end;
	u32 nr_ready;
	struct timer_list timer;
	struct work_struct more;
	u64 gap;
	u64 held;
	u64 lost;
	u64 timeout;
};

void rocesteer_order_init(struct rocesteer_order *order,
			  struct rocesteer_net *rn, u32 size, u32 path_mtu,
			  u32 psn, bool fresh);
void rocesteer_order_end(struct rocesteer_order *order);
void rocesteer_order_pass(struct rocesteer_order *order, const struct sk_buff *skb);
void rocesteer_order_sort(struct rocesteer_order *order, struct sk_buff *skb);
bool rocesteer_order_expect_read(struct rocesteer_order *order, u32 psn,
				 u32 length);
void rocesteer_order_rewind(struct rocesteer_order *order, u32 psn);
u32 rocesteer_order_hint(struct rocesteer_order *order, u32 psn);
void rocesteer_order_expire(struct rocesteer_order *order);

/* Return: PSNs of a packet. A READ request takes one for each packet of the response. */
static inline u32 rocesteer_order_psns(const struct rocesteer_order *order, u32 length)
{
	return length ? ((length - 1) >> order->mtu_shift) + 1 : 1;
}

/**
 * rocesteer_order_is_next() - does a packet need no sorting?
 * @order: order
 * @psn: PSN of the packet
 * @paths: number of paths that the packet carries, 0 for an acknowledgment
 *
 * No packet waits, and this is the expected one, or the flow is whole. Packets of a flow
 * that was split until now may still be under way on other paths: then only the
 * expected one passes.
 *
 * Context: Holds @order->lock.
 */
static inline bool rocesteer_order_is_next(const struct rocesteer_order *order,
					   u32 psn, u8 paths)
{
	lockdep_assert_held(&order->lock);
	if (order->window.depth | order->nr_ready | order->delivering)
		return false;
	return psn == order->expected ||
	       (order->paths <= 1 && (paths ?: order->paths) == 1);
}

/* Set the expected PSN, while no packet waits. @paths is from the last packet. */
static inline void rocesteer_order_advance(struct rocesteer_order *order,
					   u32 psn, u8 paths)
{
	lockdep_assert_held(&order->lock);
	order->paths = paths;
	order->synced = true;
	order->state = ROCESTEER_ORDER_WAITING;
	order->expected = psn & ROCESTEER_PSN_MASK;
}

#endif /* ROCESTEER_RESEQ_ORDER_H */
