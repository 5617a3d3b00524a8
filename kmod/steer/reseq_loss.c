// SPDX-License-Identifier: GPL-2.0
/*
 * When a missing packet is lost.
 *
 * - A path is FIFO, and a UDP source port stands for it. Each packet says how many
 *   paths its sender deals the flow to. When packets from beyond the gap have come by
 *   as many ports, the missing one is lost. While the number changes, packets may
 *   still be under way on the old paths: the larger number counts.
 * - A path need not be FIFO: below it there may be a LAG, or a switch that routes
 *   each packet as it likes. Then a packet comes although later ones have come by all
 *   ports. How late it came says how long to wait for the next one. That fades with
 *   time, and by a quarter with each wait in vain. A packet that may have been sent
 *   twice says nothing.
 * - Where a path has gone silent a timer decides. It waits twice as long as packets
 *   have been late recently.
 */
#include <linux/ktime.h>
#include <linux/skbuff.h>

#include <rocesteer/roce.h>

#include "net.h"
#include "reseq_order_priv.h"

/*
 * How long to wait for a missing packet, in nanoseconds. The least is just below the
 * least timeout of senders in use, 67 ms.
 */
#define ORDER_WAIT_MIN	(60 * NSEC_PER_MSEC)
#define ORDER_WAIT_MAX	NSEC_PER_SEC
#define ORDER_SKEW	(ORDER_WAIT_MAX / 2)	/* assumed at first */
#define ORDER_FADE	30			/* by half in 0.7 s */
#define ORDER_FADE_MAX	(ORDER_WAIT_MAX / 16)	/* not while nobody sends */

/*
 * How late packets may come although all paths have delivered later ones. A new flow
 * assumes so until its first loss, lest a path that reorders cost it a NAK.
 */
#define ORDER_REORDER		(ORDER_WAIT_MIN / 4)
#define ORDER_REORDER_MAX	(ORDER_WAIT_MAX / 2)
#define ORDER_REORDER_FADE	(ORDER_FADE + 2)	/* by half in 3 s */

u64 rocesteer_order_wait(const struct rocesteer_order *order)
{
	/* Nothing is given up then: the sender goes back, or no packet waits. */
	if (order->state == ORDER_ASKED || !order->window.depth)
		return ORDER_WAIT_MAX;
	return clamp(2 * order->skew, ORDER_WAIT_MIN, ORDER_WAIT_MAX);
}

/**
 * rocesteer_order_start_timer() - make it expire soon
 * @order: order
 * @wait: nanoseconds, at most
 */
void rocesteer_order_start_timer(struct rocesteer_order *order, u64 wait)
{
	unsigned long expires = jiffies + 1 + nsecs_to_jiffies(wait);

	/* As a rule it does: timer_reduce() would find that out as well, at some cost. */
	if (!timer_pending(&order->timer) ||
	    time_after(order->timer.expires, expires))
		timer_reduce(&order->timer, expires);
}

/* A timer that is pending may come too early; rocesteer_order_expire() sees to it. */
void rocesteer_order_restart_wait(struct rocesteer_order *order)
{
	order->since = rocesteer_window_now();
	order->overtaken = 0;
	rocesteer_order_start_timer(order, rocesteer_order_wait(order));
}

/*
 * Show the last waiting packet to the queue pair, which then notices the gap. Another
 * response may belong to the READ that has the gap, and rxe ignores that.
 */
static void order_nudge(struct rocesteer_order *order)
{
	struct sk_buff *skb;

	lockdep_assert_held(&order->lock);
	skb = rocesteer_window_copy_last(&order->window, order->expected +
					 order->window.size);
	if (skb)	/* else the timer goes on */
		rocesteer_order_ready(order, skb);
	order->state = ORDER_NUDGED;
	rocesteer_order_restart_wait(order);
}

static void order_fade(struct rocesteer_order *order, u64 now)
{
	u64 elapsed = min(now - order->noted, ORDER_FADE_MAX);

	if (!elapsed)
		return;
	order->noted = now;
	order->skew -= order->skew * elapsed >> ORDER_FADE;
	order->reorder -= order->reorder * elapsed >> ORDER_REORDER_FADE;
}

/*
 * The missing packet was late by as much as the one behind it has waited. The largest
 * lateness counts: many packets come a little late for each that comes very late.
 */
static void order_note_skew(struct rocesteer_order *order, u64 behind)
{
	u64 now = rocesteer_window_now();

	order_fade(order, now);
	order->skew = clamp(now - min_not_zero(behind, order->since),
			    order->skew, ORDER_WAIT_MAX);
}

static void order_note_reorder(struct rocesteer_order *order, u64 late)
{
	order->reorders = true;
	order->reorder = clamp(late, order->reorder, ORDER_REORDER_MAX);
	order->skew = max(order->skew, order->reorder);
}

/* A packet that had come after it was taken for lost comes again: it was only late. */
void rocesteer_order_note_again(struct rocesteer_order *order, u32 psn)
{
	if (!order->suspect_late || psn != order->suspect)
		return;
	order_note_reorder(order, order->suspect_late);
	order->suspect_late = 0;
}

/*
 * The sender goes back to @psn, or to one before it. It has sent less than half a
 * window beyond.
 */
void rocesteer_order_note_go_back(struct rocesteer_order *order, u32 psn)
{
	order->resent = psn + order->window.size / 2;
}

static bool order_may_be_resent(const struct rocesteer_order *order)
{
	return ((order->resent - order->expected - 1) & ROCESTEER_PSN_MASK) <
	       order->window.size / 2;
}

/* The expected packet was waited for in vain; see rocesteer_order_note_again(). */
static void order_suspect(struct rocesteer_order *order)
{
	if (order_may_be_resent(order))
		return;
	order->reorder = order->reorders ? order->reorder / 4 * 3 : 0;
	order->suspect = order->expected;
	order->suspect_since = order->overtaken;
	order->suspect_late = 0;
}

/*
 * Give up the expected packet if all paths have delivered later ones long enough ago;
 * as many as @order->paths have.
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
	order->lost++;
	rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_LOST);
	order_suspect(order);
	order_nudge(order);
}

/* The expected packet has come, and others have waited for it. */
void rocesteer_order_note_filled(struct rocesteer_order *order, u32 next)
{
	struct rocesteer_window *win = &order->window;

	switch (order->state) {
	case ORDER_WAITING:
		rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_FILLED);
		order_note_skew(order, rocesteer_window_since(win, next));
		if (order->overtaken && !order_may_be_resent(order))
			order_note_reorder(order,
					   ktime_get_ns() - order->overtaken);
		return;
	case ORDER_ASKED:
		/* The sender has gone back: paths deliver earlier packets again. */
		rocesteer_window_forget_ports(win);
		break;
	}
	if (order->suspect_since && order->suspect == order->expected) {
		order->suspect_late = ktime_get_ns() - order->suspect_since;
		order->suspect_since = 0;
	}
}

/* The timer gives up the expected packet, which maybe is only late. */
void rocesteer_order_wait_longer(struct rocesteer_order *order)
{
	order->skew = min(2 * order->skew, ORDER_WAIT_MAX / 2);
	order_nudge(order);
}

void rocesteer_order_init_loss(struct rocesteer_order *order)
{
	order->skew = ORDER_SKEW;
	order->reorder = ORDER_REORDER;
}
