// SPDX-License-Identifier: GPL-2.0
/* When a missing packet is taken for lost, by its paths and by time. */
#include <linux/ktime.h>
#include <linux/skbuff.h>

#include <rocesteer/roce.h>

#include "net.h"
#include "order_priv.h"

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
 * How late packets may come although all paths have delivered later ones. At first it
 * is assumed that they do: a path that reorders shall be found out before a packet is
 * taken for lost. The first loss for which that waits in vain ends it.
 */
#define ORDER_REORDER		(ORDER_WAIT_MIN / 4)
#define ORDER_REORDER_MAX	(ORDER_WAIT_MAX / 2)
#define ORDER_REORDER_FADE	(ORDER_FADE + 2)	/* by half in 3 s */

u64 rocesteer_order_wait(const struct rocesteer_order *order)
{
	/* Then a timer only frees memory: the sender has to be waited for. */
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
	timer_reduce(&order->timer, jiffies + 1 + nsecs_to_jiffies(wait));
}

/* Begin to wait. A timer that is pending finds out that it came too early. */
void rocesteer_order_restart_wait(struct rocesteer_order *order)
{
	order->since = ktime_get_ns();
	order->overtaken = 0;
	rocesteer_order_start_timer(order, rocesteer_order_wait(order));
}

/*
 * Let the queue pair notice the gap: show it the last packet behind. Of responses
 * any other may belong to the READ that has the gap, and those rxe ignores.
 */
static void order_nudge(struct rocesteer_order *order)
{
	struct sk_buff *skb;

	lockdep_assert_held(&order->lock);
	skb = rocesteer_window_copy_last(&order->window);
	if (skb)	/* else the timer goes on */
		__skb_queue_tail(&order->ready, skb);
	order->state = ORDER_NUDGED;
	rocesteer_order_restart_wait(order);
}

/* Old news fade with time. */
static void order_fade(struct rocesteer_order *order, u64 now)
{
	u64 elapsed = min(now - order->noted, ORDER_FADE_MAX);

	order->noted = now;
	order->skew -= order->skew * elapsed >> ORDER_FADE;
	order->reorder -= order->reorder * elapsed >> ORDER_REORDER_FADE;
}

/*
 * By how much was the missing packet late? The one behind it knows, unless that was
 * late itself. Newer news do not replace older ones: many packets come a little late
 * for each that comes very late.
 */
static void order_note_skew(struct rocesteer_order *order, u64 behind, u64 now)
{
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

/*
 * A packet has come again. Where it was only late when it was taken for lost, that is
 * how late packets may be.
 */
void rocesteer_order_note_again(struct rocesteer_order *order, u32 psn)
{
	if (!order->suspect_late || psn != order->suspect)
		return;
	order_note_reorder(order, order->suspect_late);
	order->suspect_late = 0;
}

/*
 * The sender goes back to @psn, or to one before it. It has sent fewer packets beyond
 * than half a window.
 */
void rocesteer_order_note_go_back(struct rocesteer_order *order, u32 psn)
{
	order->resent = psn + order->window.size / 2;
}

/* May the expected packet have been sent twice? */
static bool order_is_resent(const struct rocesteer_order *order)
{
	return ((order->resent - order->expected - 1) & ROCESTEER_PSN_MASK) <
	       order->window.size / 2;
}

/*
 * Taken for lost, and waited for in vain. If the packet comes and then comes again,
 * since the sender was made to go back, it was only late. One that may be sent twice
 * anyhow says nothing.
 */
static void order_suspect(struct rocesteer_order *order)
{
	if (order_is_resent(order))
		return;
	order->reorder = order->reorders ? order->reorder / 4 * 3 : 0;
	order->suspect = order->expected;
	order->suspect_since = order->overtaken;
	order->suspect_late = 0;
}

/* Has every path delivered a packet from beyond the gap, long enough ago? */
void rocesteer_order_detect_loss(struct rocesteer_order *order)
{
	struct rocesteer_window *win = &order->window;
	u64 now, age, wait;

	if (!win->depth || order->state != ORDER_WAITING ||
	    !rocesteer_window_overtaken(win, order->expected, order->paths))
		return;
	now = ktime_get_ns();
	if (!order->overtaken) {
		order->overtaken = now;
		order_fade(order, now);
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

/* Packets were waiting for the one that has come. */
void rocesteer_order_note_filled(struct rocesteer_order *order, u32 next)
{
	struct rocesteer_window *win = &order->window;
	u64 now = ktime_get_ns();

	switch (order->state) {
	case ORDER_WAITING:
		rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_FILLED);
		order_note_skew(order, rocesteer_window_since(win, next), now);
		if (order->overtaken && !order_is_resent(order))
			order_note_reorder(order, now - order->overtaken);
		return;
	case ORDER_ASKED:
		/*
		 * The sender has gone back: what a path delivered before says
		 * nothing about what it still has to deliver.
		 */
		rocesteer_window_forget_ports(win);
		break;
	}
	if (order->suspect_since && order->suspect == order->expected) {
		order->suspect_late = now - order->suspect_since;
		order->suspect_since = 0;
	}
}

/* The timer has decided, though maybe the packet was only late. */
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
