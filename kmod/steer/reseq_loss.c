// SPDX-License-Identifier: GPL-2.0
/*
 * When a missing packet is declared lost.
 *
 * - A UDP source port identifies a path, and a path is FIFO. Each packet carries the number
 *   of paths of its flow. When packets behind the gap have arrived from as many ports, the
 *   missing packet is lost. While the number changes, packets of the old paths may still
 *   be under way: the larger number counts.
 * - A path may reorder after all, for example over a LAG or with adaptive routing. Then a
 *   missing packet arrives after packets from all ports. Its lateness is how long the next
 *   one is waited for. The lateness fades with time, and by a quarter with each wait in
 *   vain. A packet that may have been sent twice is no measurement, except for a packet
 *   declared lost that arrives twice: then the loss was spurious.
 * - If a path is silent, a timer decides. It waits twice the recent lateness. Where all other
 *   paths have delivered packets behind the gap, that is all, and three times what these paths
 *   took: the NAK for the missing packet then says that its path is silent, and the sender leaves
 *   the path. Otherwise the timer waits longer, nearly as long as a sender. A packet that was
 *   lost by silence, and arrives twice, was late: its lateness counts.
 */
#include <linux/ktime.h>
#include <linux/skbuff.h>

#include <rocesteer/roce.h>

#include "net.h"
#include "reseq_order_priv.h"

/* How long to wait for a missing packet, in nanoseconds: less than the sender does. */
#define ORDER_WAIT_MIN	(ROCESTEER_ACK_TIMEOUT_MIN / 10 * 9)
#define ORDER_WAIT_MAX	(4 * NSEC_PER_SEC)
#define ORDER_IDLE	NSEC_PER_SEC	/* until memory is freed */
#define ORDER_SILENT_MIN (ROCESTEER_ACK_TIMEOUT_MIN / 8 * 3)	/* for one path alone */
#define ORDER_SILENT_LATER 3	/* times as long as all other paths */
#define ORDER_SKEW	(NSEC_PER_SEC / 2)	/* of a new flow */
#define ORDER_FADE	30			/* half-life 0.7 s */
#define ORDER_FADE_MAX	(NSEC_PER_SEC / 16)	/* does not fade while idle */

/*
 * Lateness on paths that reorder. A new flow assumes such paths until its first loss, to
 * avoid a spurious loss.
 */
#define ORDER_REORDER		(ORDER_WAIT_MIN / 4)
#define ORDER_REORDER_MAX	(NSEC_PER_SEC / 2)
#define ORDER_REORDER_FADE	(ORDER_FADE + 2)	/* half-life 3 s */

/*
 * Return: when all paths but one had delivered packets behind the gap; 0 before that, of whole
 * flows, and of responses, as no NAK follows.
 */
static u64 order_is_silent(const struct rocesteer_order *order)
{
	u32 paths = max(order->paths, rocesteer_window_paths(&order->window));

	if (order->outstanding || paths < 2 || order->state != ROCESTEER_ORDER_WAITING)
		return 0;
	return rocesteer_window_others(&order->window, order->expected, paths - 1);
}

/* Return: how long to wait at least, where one path alone is silent, or nothing is to be lost. */
static u64 order_least_wait(const struct rocesteer_order *order)
{
	if (!order->window.depth)
		return ORDER_IDLE;
	if (order->state == ROCESTEER_ORDER_ASKED)
		return ORDER_WAIT_MAX;	/* the sender goes back */
	return clamp(max(2 * order->lag, order->skew / 2), ORDER_SILENT_MIN, ORDER_WAIT_MAX);
}

/**
 * rocesteer_order_patience() - how long to wait for the missing packet
 * @order: order
 *
 * Context: holds @order->lock.
 * Return: nanoseconds from @order->since on.
 */
u64 rocesteer_order_patience(const struct rocesteer_order *order)
{
	u64 others;

	if (!order->window.depth || order->state == ROCESTEER_ORDER_ASKED)
		return order_least_wait(order);
	others = order_is_silent(order);
	if (!others)
		return clamp(2 * order->skew, ORDER_WAIT_MIN, ORDER_WAIT_MAX);
	others = others > order->since ? others - order->since : 0;
	return min(max(order_least_wait(order), ORDER_SILENT_LATER * others), ORDER_WAIT_MAX);
}

/* Make the timer expire after at most @wait nanoseconds. */
void rocesteer_order_start_timer(struct rocesteer_order *order, u64 wait)
{
	unsigned long expires = jiffies + 1 + nsecs_to_jiffies(wait);

	/* Usually it does; timer_reduce() checks that as well, but takes a lock. */
	if (!timer_pending(&order->timer) ||
	    time_after(order->timer.expires, expires))
		timer_reduce(&order->timer, expires);
}

/* A pending timer may expire too early; rocesteer_order_expire() starts it again. */
void rocesteer_order_restart_wait(struct rocesteer_order *order)
{
	/* A whole window has come in order since packets waited last: the guess is too high. */
	if (((order->expected - order->waited) & ROCESTEER_PSN_MASK) >= order->window.size)
		order->skew = order->lag;
	order->waited = order->expected;
	order->since = rocesteer_window_now();
	order->overtaken = 0;
	rocesteer_order_start_timer(order, order_least_wait(order));
}

/*
 * Deliver a copy of the last waiting packet, so that the queue pair notices the gap. rxe
 * ignores an earlier response of the same READ behind a gap.
 */
static void order_nudge(struct rocesteer_order *order)
{
	struct sk_buff *skb;

	lockdep_assert_held(&order->lock);
	skb = rocesteer_window_copy_last(&order->window, order->expected +
					 order->window.size);
	if (skb)	/* without memory the timer decides */
		rocesteer_order_ready(order, skb);
	order->state = ROCESTEER_ORDER_NUDGED;
	rocesteer_order_restart_wait(order);
}

static void order_fade(struct rocesteer_order *order, u64 now)
{
	u64 elapsed = min(now - order->noted, ORDER_FADE_MAX);

	if (!elapsed)
		return;
	order->noted = now;
	order->lag -= order->lag * elapsed >> ORDER_FADE;
	order->skew -= order->skew * elapsed >> ORDER_FADE;
	order->reorder -= order->reorder * elapsed >> ORDER_REORDER_FADE;
}

/*
 * A missing packet was late by the time that the packet behind it has waited, since
 * @behind. The maximum counts, as most packets are only a little late.
 */
static void order_note_skew(struct rocesteer_order *order, u64 behind)
{
	u64 now = rocesteer_window_now();

	order_fade(order, now);
	order->lag = clamp(now - min_not_zero(behind, order->since), order->lag, ORDER_WAIT_MAX);
	order->skew = max(order->skew, order->lag);
}

static void order_note_reorder(struct rocesteer_order *order, u64 late)
{
	order->reorders = true;
	order->reorder = clamp(late, order->reorder, ORDER_REORDER_MAX);
	order->skew = max(order->skew, order->reorder);
}

/*
 * A packet that was declared lost, and has arrived, arrives again, as the queue pair asked
 * for it: the loss was spurious, as with DSACK (RFC 3708).
 */
void rocesteer_order_note_duplicate(struct rocesteer_order *order, u32 psn)
{
	if (order->silent_since && psn == order->silent_psn) {
		order_note_skew(order, order->silent_since);
		order->silent_since = 0;
	}
	if (!order->spurious_late || psn != order->lost_psn)
		return;
	order_note_reorder(order, order->spurious_late);
	order->spurious_late = 0;
}

/* The sender goes back to @psn or before, and has sent less than half a window more. */
void rocesteer_order_note_go_back(struct rocesteer_order *order, u32 psn)
{
	order->resent = psn + order->window.size / 2;
}

static bool order_may_be_resent(const struct rocesteer_order *order)
{
	return ((order->resent - order->expected - 1) & ROCESTEER_PSN_MASK) <
	       order->window.size / 2;
}

/* See rocesteer_order_note_duplicate(). */
static void order_note_loss(struct rocesteer_order *order)
{
	if (order_may_be_resent(order))
		return;
	order->reorder = order->reorders ? order->reorder / 4 * 3 : 0;
	order->lost_psn = order->expected;
	order->lost_overtaken = order->overtaken;
	order->spurious_late = 0;
}

/*
 * As many paths as @order->paths have delivered later packets. Declare the expected one
 * lost if all paths have, long enough ago.
 */
void rocesteer_order_check_overtaken(struct rocesteer_order *order)
{
	u64 now, age, wait;

	if (order->window.beyond < rocesteer_window_paths(&order->window))
		return;
	now = ktime_get_ns();
	if (!order->overtaken) {
		order->overtaken = now;
		order_fade(order, rocesteer_window_now());
	}
	age = now - order->overtaken;
	wait = 2 * order->reorder;
	if (age < wait) {
		rocesteer_order_start_timer(order, wait - age);
		return;
	}
	order->silent = false;
	order->lost++;
	rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_LOST);
	order_note_loss(order);
	order_nudge(order);
}

/* The expected packet has arrived, and other packets have waited for it. */
void rocesteer_order_note_filled(struct rocesteer_order *order, u32 next, __be16 sport)
{
	struct rocesteer_window *win = &order->window;

	order->silent = false;
	switch (order->state) {
	case ROCESTEER_ORDER_WAITING:
		rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_FILLED);
		order_note_skew(order, rocesteer_window_since(win, next));
		rocesteer_order_note_late(order, sport);
		if (order->overtaken && !order_may_be_resent(order))
			order_note_reorder(order,
					   ktime_get_ns() - order->overtaken);
		return;
	case ROCESTEER_ORDER_ASKED:
		/* The sender has gone back: all paths deliver earlier packets again. */
		rocesteer_window_forget_ports(win);
		break;
	}
	if (order->lost_overtaken && order->lost_psn == order->expected) {
		order->spurious_late = ktime_get_ns() - order->lost_overtaken;
		order->lost_overtaken = 0;
	}
}

/* The timer declares the expected packet lost, which may only be late. */
void rocesteer_order_time_out(struct rocesteer_order *order)
{
	order->silent = order_is_silent(order);
	if (order->silent) {
		order->silent_psn = order->expected;
		order->silent_since = order->since;
	} else {
		order->skew = min(2 * order->skew, ORDER_WAIT_MAX / 2);
	}
	order_nudge(order);
}

void rocesteer_order_init_loss(struct rocesteer_order *order)
{
	order->skew = ORDER_SKEW;
	order->reorder = ORDER_REORDER;
}
