// SPDX-License-Identifier: GPL-2.0
/*
 * Order of the packets that a queue pair receives, requests or responses: which of
 * them is ready, and which has to wait.
 *
 * A packet ahead of the expected one waits. When the expected one comes, all that
 * follow it without a gap are ready. When it is lost (reseq_loss.c), a copy of the
 * last waiting packet is ready: the queue pair drops the copy and sends its NAK, or
 * repeats its READ request. The waiting packets stay until the lost one has been sent
 * again. No NAK and no ACK is made or swallowed here.
 *
 * What the queue pair asks for is expected next. So a wrong notion of the expected PSN
 * ends with the next NAK, whether the queue pair has dropped a packet or somebody has
 * forged one in the peer's name.
 *
 * Requests have all PSNs. Responses have to come only where they answer a READ or an
 * atomic that the queue pair was seen to send. Acknowledgments of other requests may
 * not overtake these. Where nothing is outstanding, responses pass.
 */
#include <linux/log2.h>
#include <linux/skbuff.h>
#include <net/dst.h>

#include <rocesteer/roce.h>

#include "net.h"
#include "reseq_order_priv.h"
#include "reseq_reads.h"

#define ORDER_NO_JUMP	(ROCESTEER_PSN_MASK + 1)

/* A READ request takes a PSN for each packet of the response. */
static u32 order_psns(const struct rocesteer_order *order, u32 length)
{
	return length ? ((length - 1) >> order->mtu_shift) + 1 : 1;
}

static void order_expect(struct rocesteer_order *order, u32 psn)
{
	lockdep_assert_held(&order->lock);
	order->expected = psn & ROCESTEER_PSN_MASK;
	order->state = ORDER_WAITING;
	if (order->window.depth)
		rocesteer_order_restart_wait(order);
}

/* As below, of responses: out of line, lest requests pay for what is on the stack. */
static noinline u32 order_advance_responses(struct rocesteer_order *order,
					    u32 psn)
{
	u32 next;

	if (rocesteer_outstanding_pass(order->outstanding, psn, &next))
		return next;
	order->synced = false;
	return psn + order->window.size;
}

/*
 * The packet with PSN @psn is ready, the last PSN that it takes is @behind - 1.
 * Return: the PSN that is expected next; where none is, one behind the window.
 */
static u32 order_advance(struct rocesteer_order *order, u32 psn, u32 behind)
{
	lockdep_assert_held(&order->lock);
	return order->outstanding ? order_advance_responses(order, psn) : behind;
}

/*
 * Packets that wait from @psn on are ready, up to the one before @end. Return: the PSN
 * behind the last of them, or @psn.
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
		behind = psn + rocesteer_window_span(skb);
		rocesteer_order_ready(order, skb);
	}
	return behind;
}

static u32 order_release_all(struct rocesteer_order *order)
{
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
	rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_DROPPED);
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
static void order_pass(struct rocesteer_order *order, struct sk_buff *skb,
		       u32 span)
{
	u32 psn = order->expected, n;
	u32 next = order_advance(order, psn, psn + span);

	if (order->window.depth)
		rocesteer_order_note_filled(order, next);
	rocesteer_order_ready(order, skb);
	while (order->window.depth) {
		/*
		 * PSNs in between are of acknowledgments. Of two packets that
		 * claim one PSN, the queue pair takes which it likes.
		 */
		n = (next - psn) & ROCESTEER_PSN_MASK;
		if (n != 1)
			order_release(order, psn + 1,
				      psn + clamp(n, 1, order->window.size));
		skb = rocesteer_window_take(&order->window, next);
		if (!skb)
			break;
		rocesteer_order_ready(order, skb);
		psn = next;
		span = rocesteer_window_span(skb);
		next = order_advance(order, psn, psn + span);
	}
	order_expect(order, next);
	rocesteer_order_detect_loss(order);
}

/*
 * No sender of requests goes back by as much as the window. A packet that does so was
 * forged or is very old. A second one that continues the first shows that our notion
 * of the expected PSN is wrong: RFC 3550, A.1.
 */
static void order_jump(struct rocesteer_order *order, u32 psn, u32 span)
{
	s32 ahead = rocesteer_psn_diff(psn, order->jump);
	u32 behind = (psn + span) & ROCESTEER_PSN_MASK;

	if (order->jump == ORDER_NO_JUMP || ahead < 0 ||
	    ahead >= (s32)order->window.size) {
		order->jump = behind;
		return;
	}
	rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_RESYNC);
	order_release_all(order);
	order_expect(order, behind);
	order->jump = ORDER_NO_JUMP;
}

/*
 * Take a reference to the route of a packet that outlives this RCU read-side critical
 * section. Return: false where the route is gone; the packet was dropped.
 */
static bool order_pin_dst(struct rocesteer_order *order, struct sk_buff *skb)
{
	if (!skb_dst(skb) || skb_dst_force(skb))
		return true;
	order_drop(order, skb);
	return false;
}

/* A duplicate, or sent again */
static void order_behind(struct rocesteer_order *order, struct sk_buff *skb,
			 u32 psn, u32 span)
{
	s32 behind = rocesteer_psn_diff(order->expected, psn);

	rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_BEHIND);
	rocesteer_order_note_again(order, psn);
	if (!order->outstanding && behind >= (s32)order->window.size)
		order_jump(order, psn, span);
	else if (!order->outstanding)
		rocesteer_order_note_go_back(order, order->expected);
	/* What a jump releases goes first. */
	if (!order->ready || order_pin_dst(order, skb))
		rocesteer_order_ready(order, skb);
}

static void order_hold(struct rocesteer_order *order, struct sk_buff *skb,
		       const struct rocesteer_packet *pkt, u32 span)
{
	int err;

	if (!order_pin_dst(order, skb))
		return;
	err = rocesteer_window_put(&order->window, skb, pkt->psn, span,
				   pkt->sport, pkt->paths);
	if (err < 0) {
		rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_NO_MEMORY);
		rocesteer_order_ready(order, skb);
		return;
	}
	if (err)
		rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_DROPPED);
	else if (order->window.depth == 1)
		rocesteer_order_restart_wait(order);
	rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_HELD);
	order->held++;
	rocesteer_order_detect_loss(order);
}

/**
 * rocesteer_order_sort() - a packet has come
 * @order: order
 * @skb: packet, which is ready, waits or is freed afterwards
 * @pkt: what it is
 *
 * Context: BH disabled, RCU read-side critical section, holds @order->lock.
 */
void rocesteer_order_sort(struct rocesteer_order *order, struct sk_buff *skb,
			  const struct rocesteer_packet *pkt)
{
	u32 span = order_psns(order, pkt->length);
	s32 ahead;

	lockdep_assert_held(&order->lock);
	/* It may be delivered by another CPU, or later. */
	if ((order->delivering || order->ready) && !order_pin_dst(order, skb))
		return;
	if (!order->synced) {
		order->synced = true;
		order->expected = pkt->psn;
	}
	ahead = rocesteer_psn_diff(pkt->psn, order->expected);
	if (!ahead) {
		order->paths = pkt->paths ?: order->paths;
		order_pass(order, skb, span);
	} else if (ahead < 0) {
		order_behind(order, skb, pkt->psn, span);
	} else if (ahead >= (s32)order->window.size) {
		rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_OUT_OF_WINDOW);
		rocesteer_order_ready(order, skb);
	} else {
		order_hold(order, skb, pkt, span);
	}
}

/**
 * rocesteer_order_bypass() - let a packet pass that need not be sorted
 * @order: order
 * @pkt: what it is
 *
 * A packet passes where its flow is not split and no packet waits or is being
 * delivered. Where the flow was split until now, packets may still be under way on the
 * other paths, and only the expected one passes.
 *
 * Context: BH disabled, holds @order->lock.
 * Return: false where rocesteer_order_sort() has to decide, nothing has changed.
 */
bool rocesteer_order_bypass(struct rocesteer_order *order,
			    const struct rocesteer_packet *pkt)
{
	u8 paths = pkt->paths ?: order->paths;
	u32 span;

	lockdep_assert_held(&order->lock);
	if (paths != 1 || order->window.depth || order->delivering || order->ready ||
	    (order->paths > 1 && pkt->psn != order->expected))
		return false;
	span = order_psns(order, pkt->length);
	order->paths = paths;
	order->synced = true;
	order_expect(order, order_advance(order, pkt->psn, pkt->psn + span));
	return true;
}

/**
 * rocesteer_order_rewind() - the queue pair asks for a packet once more
 * @order: order
 * @psn: PSN of the packet
 *
 * The sender will send that packet and all behind it again. Packets that wait for
 * another one are dropped, as the queue pair would drop them.
 *
 * Context: BH disabled, holds @order->lock.
 */
void rocesteer_order_rewind(struct rocesteer_order *order, u32 psn)
{
	rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_NAK);
	if (!order->synced || psn != order->expected)
		order_drop_waiting(order);
	order_expect(order, psn);
	rocesteer_order_note_go_back(order, psn);
	order->synced = true;
	order->state = ORDER_ASKED;
}

/**
 * rocesteer_order_expect_read() - the queue pair sends a READ request, or an atomic
 * @order: order of the responses
 * @psn: PSN of the request
 * @length: bytes that it asks for; a wrong length makes us expect a wrong PSN until the
 *	next NAK
 *
 * Context: BH disabled, holds @order->lock.
 * Return: whether the order of what answers it is restored.
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
	back = rocesteer_outstanding_add(out, psn, order_psns(order, length));
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
	rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_NO_MEMORY);
	return false;
}

/*
 * The timer has decided. First the queue pair is made to ask for the missing packet.
 * Where that did not help, all are released: nobody knows what it expects.
 */
static void order_give_up(struct rocesteer_order *order)
{
	u32 behind;

	order->timeout++;
	rocesteer_stats_inc(order->rn, ROCESTEER_COUNT_RESEQ_TIMEOUT);
	if (order->state == ORDER_WAITING) {
		rocesteer_order_wait_longer(order);
		return;
	}
	behind = order_release_all(order);
	if (order->state == ORDER_NUDGED)
		order_expect(order, order_advance(order, behind - 1, behind));
}

/**
 * rocesteer_order_expire() - the timer has expired, maybe too early
 * @order: order
 *
 * Context: Softirq, holds @order->lock.
 */
void rocesteer_order_expire(struct rocesteer_order *order)
{
	u64 age, wait;

	lockdep_assert_held(&order->lock);
	if (!order->window.room)
		return;
	rocesteer_window_trim(&order->window);
	rocesteer_order_detect_loss(order);
	age = rocesteer_window_now() - order->since;
	wait = rocesteer_order_wait(order);
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
 * @order: zeroed; its timer is set up by the owner
 * @rn: namespace, which outlives it
 * @size: of the window
 * @path_mtu: of the queue pair, a power of two
 * @psn: PSN of the first packet that the queue pair receives
 * @fresh: it has not received anything yet
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
	order->jump = ORDER_NO_JUMP;
	order->resent = psn;
	rocesteer_order_init_loss(order);
	order_none_ready(order);
}

/**
 * rocesteer_order_end() - drop all packets and free what they were in
 * @order: order, to which none comes any more
 *
 * A CPU that delivers at this moment goes on with what it has taken.
 *
 * Context: Any, also with interrupts off, holds @order->lock.
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
	kfree(order->outstanding);
	WRITE_ONCE(order->outstanding, NULL);
}
