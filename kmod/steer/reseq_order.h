/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_ORDER_H
#define ROCESTEER_RESEQ_ORDER_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue_types.h>

#include <rocesteer/types.h>

#include "reseq_window.h"

struct rocesteer_net;
struct rocesteer_outstanding;

/**
 * struct rocesteer_packet - what matters of an RC packet that is received
 * @ifindex: device that received it
 * @dqpn: local queue pair number
 * @seq: which of the two PSN sequences it is numbered in
 * @psn: its packet sequence number
 * @length: bytes that it asks for, 0 unless it is a READ request
 * @paths: paths that its sender deals the flow to, 1..64
 * @sport: UDP source port, which stands for the path
 *
 * An acknowledgment has 0 for @paths, which it does not tell, and for @sport: switches
 * may let it overtake data on its path.
 */
struct rocesteer_packet {
	u32 ifindex;
	u32 dqpn;
	enum rocesteer_sequence seq;
	u32 psn;
	u32 length;
	u8 paths;
	__be16 sport;
};

/**
 * struct rocesteer_order - order of the requests, or of the responses, that a queue
 * pair receives
 * @rn: namespace, which outlives this
 * @mtu_shift: log2 of the path MTU of the queue pair, immutable
 * @lock: guards all that follows. Taken with BH disabled, and within rocesteer_lock
 * @synced: @expected is known
 * @delivering: somebody is delivering @ready
 * @dead: nothing may wait any more
 * @state: what was done about the packet with PSN @expected
 * @paths: that the sender deals the flow to, by the last packet that came in order; 0
 *	until one says
 * @reorders: @reorder was measured, not just assumed
 * @expected: PSN that the queue pair expects next
 * @jump: PSN behind the last packet that was too far behind to be sent again; 2^24
 *	where none was
 * @skew: by how much missing packets were late recently, in nanoseconds
 * @noted: when that was last found out, to the tick
 * @since: time since which @expected is missed in @state, while packets wait, to the
 *	tick
 * @overtaken: time since which all paths have delivered packets from beyond @expected,
 *	while packets wait; 0 where they have not
 * @reorder: how long after that a missing packet still came recently, in nanoseconds.
 *	Of paths that are FIFO none does
 * @resent: PSN before which packets may have been sent twice: the sender has gone
 *	back. In [@expected + 1, @expected + size / 2], or else it says nothing
 * @suspect: PSN of the last packet that was taken for lost, sent once until then
 * @suspect_since: @overtaken of that one; 0 when it has come
 * @suspect_late: how long after that it came; 0 before, and when it has come again
 * @outstanding: of responses, those that are awaited; NULL before the first, and at
 *	the end. Without the lock it is only compared with NULL. Of requests NULL
 * @window: packets that wait, all from (@expected, @expected + size)
 * @ready: packets in order, to be delivered, linked by their next
 * @ready_end: where the next one goes
 * @nr_ready: how many there are
 * @timer: pending while packets wait, or longer
 * @more: goes on delivering
 * @held: packets that had to wait so far
 * @lost: missing packets given up since all paths had delivered later ones
 * @timeout: missing packets given up by @timer
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
	u32 expected;
	u32 jump;
	u64 skew;
	u64 noted;
	u64 since;
	u64 overtaken;
	u64 reorder;
	u32 resent;
	u32 suspect;
	u64 suspect_since;
	u64 suspect_late;
	struct rocesteer_outstanding *outstanding;
	struct rocesteer_window window;
	struct sk_buff *ready;
	struct sk_buff **ready_end;
	u32 nr_ready;
	struct timer_list timer;
	struct work_struct more;
	u64 held;
	u64 lost;
	u64 timeout;
};

void rocesteer_order_init(struct rocesteer_order *order,
			  struct rocesteer_net *rn, u32 size, u32 path_mtu,
			  u32 psn, bool fresh);
void rocesteer_order_end(struct rocesteer_order *order);
bool rocesteer_order_bypass(struct rocesteer_order *order,
			    const struct rocesteer_packet *pkt);
void rocesteer_order_sort(struct rocesteer_order *order, struct sk_buff *skb,
			  const struct rocesteer_packet *pkt);
bool rocesteer_order_expect_read(struct rocesteer_order *order, u32 psn,
				 u32 length);
void rocesteer_order_rewind(struct rocesteer_order *order, u32 psn);
void rocesteer_order_expire(struct rocesteer_order *order);

#endif /* ROCESTEER_RESEQ_ORDER_H */
