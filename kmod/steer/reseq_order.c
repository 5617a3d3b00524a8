// SPDX-License-Identifier: GPL-2.0
/*
 * Order of the requests, or of the responses, that a queue pair receives.
 *
 * A packet ahead of the expected one waits. When the expected one arrives, it and all
 * packets that follow without a gap are ready. When it is lost (reseq_loss.c), a copy of
 * the last waiting packet is delivered: the queue pair drops the copy and sends a NAK, or
 * repeats its READ request. The waiting packets stay until the lost packet has been
 * retransmitted. No NAK and no ACK is generated or dropped here.
 *
 * The PSN that a queue pair asks for becomes the expected one. So after a packet that the
 * queue pair dropped, or a forged packet, the next NAK corrects the expected PSN.
 *
 * Requests use every PSN. Responses are expected only for outstanding READs and atomics;
 * acknowledgments of other requests may not overtake these responses. If nothing is
 * outstanding, responses pass.
 */
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/skbuff.h>
#include <net/dst.h>

#include <rocesteer/roce.h>

#include "../compat.h"
#include "net.h"
#include "reseq_order_priv.h"
#include "reseq_reads.h"

#define ORDER_NO_RESYNC	(ROCESTEER_PSN_MASK + 1)

static void order_expect(struct rocesteer_order *order, u32 psn)
{
	lockdep_assert_held(&order->lock);
	order->expected = psn & ROCESTEER_PSN_MASK;
	order->state = ROCESTEER_ORDER_WAITING;
	if (order->window.depth)
		rocesteer_order_restart_wait(order);
}

/* Out of line: requests need no stack frame for @next. */
static noinline u32 order_next_response(struct rocesteer_order *order, u32 psn)
{
	u32 next;

	if (rocesteer_outstanding_pass(order->outstanding, psn, &next))
		return next;
	order->synced = false;
	return psn + order->window.size;
}

/*
 * A packet that takes the PSNs [@psn, @end) is delivered. Return: the next expected PSN; if
 * no response is expected, a PSN behind the window.
 */
static u32 order_next(struct rocesteer_order *order, u32 psn, u32 end)
{
	lockdep_assert_held(&order->lock);
	return order->outstanding ? order_next_response(order, psn) : end;
}

/*
 * Make the packets that wait in [@psn, @end) ready. Return: the PSN behind the last of
 * them, or @psn.
 */
static u32 order_release(struct rocesteer_order *order, u32 psn, u32 end)
{
	struct sk_buff *skb;
	u32 behind = psn;

	lockdep_assert_held(&order->lock);
	for (; order->window.depth && psn != end; psn++) {
		skb = rocesteer_window_take(&order->window, psn);
		if (!skb)
			continue;
		behind = psn + rocesteer_packet(skb)->span;
		rocesteer_order_ready(order, skb);
	}
	return behind;
}

/* The packets that wait get what they waited for, or give up. Return: the time. */
static inline u64 order_note_wait(struct rocesteer_order *order)
{
	u64 now = ktime_get_ns();

	rocesteer_stats_wait(order->rn, now - order->gap);
	return now;
}

static u32 order_release_all(struct rocesteer_order *order)
{
	if (order->window.depth)
		order_note_wait(order);
	return order_release(order, order->expected + 1,
			     order->expected + order->window.size);
}

static void order_none_ready(struct rocesteer_order *order)
{
	order->ready = NULL;
	order->ready_end = &order->ready;
	order->nr_ready = 0;
}

static void order_drop(struct rocesteer_order *order, struct sk_buff *skb)
{
	rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_DROPPED);
	dev_kfree_skb_any(skb);	/* maybe with interrupts off */
}

static void order_drop_waiting(struct rocesteer_order *order)
{
	u32 psn = order->expected;
	struct sk_buff *skb;

	lockdep_assert_held(&order->lock);
	while (order->window.depth) {
		skb = rocesteer_window_take(&order->window, ++psn);
		if (skb)
			order_drop(order, skb);
	}
}

/* The expected packet has come. */
static noinline void order_fill(struct rocesteer_order *order, struct sk_buff *skb)
{
	u32 psn = order->expected, n;
	u32 next = order_next(order, psn, psn + rocesteer_packet(skb)->span);

	order->paths = rocesteer_packet(skb)->paths ?: order->paths;
	if (order->window.depth) {
		order->gap = order_note_wait(order);
		rocesteer_order_note_filled(order, next, rocesteer_packet(skb)->sport);
	}
	rocesteer_order_ready(order, skb);
	while (order->window.depth) {
		/* The PSNs up to @next belong to acknowledgments. */
		n = (next - psn) & ROCESTEER_PSN_MASK;
		if (n != 1)
			order_release(order, psn + 1,
				      psn + clamp(n, 1, order->window.size));
		skb = rocesteer_window_take(&order->window, next);
		if (!skb)
			break;
		rocesteer_order_ready(order, skb);
		psn = next;
		next = order_next(order, psn, psn + rocesteer_packet(skb)->span);
	}
	order_expect(order, next);
	rocesteer_order_detect_loss(order);
}

/*
 * A sender of requests never goes back by a whole window: such a packet is forged or very
 * old. A second packet that continues the first shows that @expected is wrong, see RFC
 * 3550, A.1.
 */
static void order_resync(struct rocesteer_order *order, u32 psn, u32 span)
{
	s32 ahead = rocesteer_psn_diff(psn, order->resync_psn);
	u32 end = (psn + span) & ROCESTEER_PSN_MASK;

	if (order->resync_psn == ORDER_NO_RESYNC || ahead < 0 ||
	    ahead >= (s32)order->window.size) {
		order->resync_psn = end;
		return;
	}
	rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_RESYNC);
	order_release_all(order);
	order_expect(order, end);
	order->resync_psn = ORDER_NO_RESYNC;
}

static noinline bool order_hold_route(struct rocesteer_order *order, struct sk_buff *skb)
{
	struct dst_entry *route = skb_dst(skb);

	if (!route)		/* left before */
		return true;
	if (!dst_hold_safe(route)) {
		order_drop(order, skb);
		return false;
	}
	dst_release(order->route);
	order->route = route;
	return true;
}

/*
 * Have a packet that outlives this RCU read-side critical section leave its route. One
 * reference holds the route for all packets: one for each would be taken and given back.
 * Return: false if the route is gone; the packet is freed.
 */
static inline bool order_leave_route(struct rocesteer_order *order, struct sk_buff *skb)
{
	if (skb_dst(skb) != order->route && !order_hold_route(order, skb))
		return false;
	skb_dst_drop(skb);
	return true;
}

/* A duplicate or a retransmission */
static noinline void order_behind(struct rocesteer_order *order, struct sk_buff *skb)
{
	u32 psn = rocesteer_packet(skb)->psn, span = rocesteer_packet(skb)->span;
	s32 behind = rocesteer_psn_diff(order->expected, psn);

	rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_BEHIND);
	rocesteer_order_note_duplicate(order, psn);
	if (!order->outstanding && behind >= (s32)order->window.size)
		order_resync(order, psn, span);
	else if (!order->outstanding)
		rocesteer_order_note_go_back(order, order->expected);
	/* A resync has released packets, which go first. */
	if (!order->ready || order_leave_route(order, skb))
		rocesteer_order_ready(order, skb);
}

static void order_begin_wait(struct rocesteer_order *order)
{
	order->gap = ktime_get_ns();
	rocesteer_order_restart_wait(order);
}

static void order_hold(struct rocesteer_order *order, struct sk_buff *skb)
{
	int err;

	if (!order_leave_route(order, skb))
		return;
	err = rocesteer_window_put(&order->window, skb);
	if (err < 0) {
		rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_NO_MEMORY);
		rocesteer_order_ready(order, skb);
		return;
	}
	if (err)
		rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_DROPPED);
	else if (order->window.depth == 1)
		order_begin_wait(order);
	order->late.latest = rocesteer_window_now();
	rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_HELD);
	rocesteer_stats_depth(order->rn, order->window.depth);
	order->held++;
	rocesteer_order_detect_loss(order);
}

/**
 * rocesteer_order_sort() - sort a packet into the order
 * @order: order
 * @skb: packet, with a struct rocesteer_packet; afterwards it is ready, waits, or is freed
 *
 * Context: BH disabled, RCU read-side critical section, holds @order->lock.
 */
void rocesteer_order_sort(struct rocesteer_order *order, struct sk_buff *skb)
{
	const struct rocesteer_packet *pkt = rocesteer_packet(skb);
	s32 ahead;

	lockdep_assert_held(&order->lock);
	/* Another CPU may deliver the packet, or this CPU later. */
	if ((order->delivering || order->ready) && !order_leave_route(order, skb))
		return;
	if (!order->synced) {
		order->synced = true;
		order->expected = pkt->psn;
		order->waited = pkt->psn;
	}
	ahead = rocesteer_psn_diff(pkt->psn, order->expected);
	if (!ahead) {
		order_fill(order, skb);
	} else if (ahead < 0) {
		order_behind(order, skb);
	} else if (ahead >= (s32)order->window.size) {
		rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_OUT_OF_WINDOW);
		rocesteer_order_ready(order, skb);
	} else {
		order_hold(order, skb);
	}
}

/* Note a packet that needs no sorting, see rocesteer_order_is_next(). */
void rocesteer_order_pass(struct rocesteer_order *order, const struct sk_buff *skb)
{
	const struct rocesteer_packet *pkt = rocesteer_packet(skb);
	u32 next = order_next(order, pkt->psn, pkt->psn + pkt->span);

	rocesteer_order_advance(order, next, pkt->paths ?: order->paths);
}

/**
 * rocesteer_order_rewind() - the queue pair asks for a packet again
 * @order: order
 * @psn: PSN of the packet
 *
 * The sender will go back to @psn. Packets that wait for another PSN are dropped, as the
 * queue pair would drop them; but not where the packet of a silent path has come, before the
 * queue pair got the copy of a later one.
 *
 * Context: BH disabled, holds @order->lock.
 */
void rocesteer_order_rewind(struct rocesteer_order *order, u32 psn)
{
	rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_NAK);
	if (order->silent_since && psn == order->silent_psn &&
	    rocesteer_psn_diff(order->expected, psn) > 0) {
		order->silent_since = 0;
		return;
	}
	if (!order->synced || psn != order->expected)
		order_drop_waiting(order);
	order_expect(order, psn);
	rocesteer_order_note_go_back(order, psn);
	order->synced = true;
	order->state = ROCESTEER_ORDER_ASKED;
}

/**
 * rocesteer_order_expect_read() - the queue pair sends a READ request or an atomic
 * @order: order of the responses
 * @psn: PSN of the request
 * @length: bytes requested; if wrong, the expected PSN is wrong until the next NAK
 *
 * Context: BH disabled, holds @order->lock.
 * Return: whether the responses will be resequenced.
 */
bool rocesteer_order_expect_read(struct rocesteer_order *order, u32 psn,
				 u32 length)
{
	struct rocesteer_outstanding *out = order->outstanding;
	int back;

	lockdep_assert_held(&order->lock);
	if (order->dead)
		return false;
	if (!out) {
		out = kzalloc_obj(*out, GFP_ATOMIC | __GFP_NOWARN);
		if (!out)
			goto no_memory;
		WRITE_ONCE(order->outstanding, out);
	}
	back = rocesteer_outstanding_add(out, psn, rocesteer_order_psns(order, length));
	if (back < 0) {
		order_drop_waiting(order);
		order->synced = false;
		goto no_memory;
	}
	if (back)
		rocesteer_order_rewind(order, psn);
	else if (!order->synced)
		order_expect(order, psn);
	order->synced = true;
	return true;

no_memory:
	rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_NO_MEMORY);
	return false;
}

/*
 * The timer declares the expected packet lost. The first time the queue pair is made to ask
 * for it. If it does not, release all packets: the expected PSN is unknown.
 */
static void order_give_up(struct rocesteer_order *order)
{
	u32 end;

	order->timeout++;
	rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_TIMEOUT);
	if (order->state == ROCESTEER_ORDER_WAITING) {
		rocesteer_order_time_out(order);
		return;
	}
	end = order_release_all(order);
	if (order->state == ROCESTEER_ORDER_NUDGED)
		order_expect(order, order_next(order, end - 1, end));
}

/* The timer has expired, possibly too early. Context: softirq, holds @order->lock. */
void rocesteer_order_expire(struct rocesteer_order *order)
{
	u64 age, wait;

	lockdep_assert_held(&order->lock);
	if (!order->window.slots)
		return;
	rocesteer_window_trim(&order->window);
	rocesteer_order_detect_loss(order);
	age = rocesteer_window_now() - order->since;
	wait = rocesteer_order_patience(order);
	if (age < wait) {
		rocesteer_order_start_timer(order, wait - age);
		return;
	}
	if (order->window.depth)
		order_give_up(order);
	if (!order->window.depth)
		rocesteer_window_free(&order->window);
}

/**
 * rocesteer_order_init() - set up the order of requests or of responses
 * @order: zeroed; the caller sets up @order->timer
 * @rn: namespace, which outlives @order
 * @size: size of the window
 * @path_mtu: path MTU of the queue pair, a power of two
 * @psn: PSN of the first packet that the queue pair will receive
 * @fresh: the queue pair has not received a packet yet
 */
void rocesteer_order_init(struct rocesteer_order *order,
			  struct rocesteer_net *rn, u32 size, u32 path_mtu,
			  u32 psn, bool fresh)
{
	order->rn = rn;
	order->window.size = size;
	order->mtu_shift = ilog2(path_mtu);
	spin_lock_init(&order->lock);
	order->synced = fresh;
	order->expected = psn;
	order->resync_psn = ORDER_NO_RESYNC;
	order->waited = psn;
	order->resent = psn;
	rocesteer_order_init_loss(order);
	order_none_ready(order);
}

/*
 * Drop all packets. A CPU that is delivering goes on with those that it has taken. Context:
 * any, also with interrupts off, holds @order->lock.
 */
void rocesteer_order_end(struct rocesteer_order *order)
{
	struct sk_buff *skb, *next;

	lockdep_assert_held(&order->lock);
	order->dead = true;
	order_drop_waiting(order);
	if (!order->delivering) {
		skb_list_walk_safe(order->ready, skb, next)
			order_drop(order, skb);
		order_none_ready(order);
	}
	rocesteer_window_free(&order->window);
	dst_release(order->route);
	kfree(order->outstanding);
	WRITE_ONCE(order->outstanding, NULL);
}
