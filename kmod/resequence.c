// SPDX-License-Identifier: GPL-2.0
/*
 * Resequencer: puts the request packets of a flow that its sender splits over
 * paths back into the order of their PSNs, for a queue pair that takes them in
 * no other (go-back-N) and answers a gap with a NAK.
 *
 * A packet ahead of the expected one waits. When the missing one comes, all
 * that follow it without a gap go on. It does not come where it was lost, and
 * then the queue pair must say so, and soon:
 *
 * - A path is FIFO, and a UDP source port stands for it. Each packet says how
 *   many paths its sender deals the flow to. Once as many ports have delivered
 *   packets from beyond the gap, what is missing is lost. A flow that is not
 *   split has one path: its packets pass, and so does any gap.
 * - Where a path has gone silent a timer decides. It waits twice as long as
 *   packets have been late recently.
 *
 * Either way the first of the waiting packets is given to the queue pair, which
 * drops it and sends its NAK. The others wait on: with the missing one sent
 * again they will do. No NAK and no ACK is made or swallowed here.
 *
 * But the queue pair's NAKs are listened to: what it asks for comes next. That
 * also heals a wrong notion of the expected PSN, whether the queue pair dropped
 * a packet or somebody forged one in the peer's name. Other hosts' packets are
 * told by their address; they pass.
 */
#include <linux/ktime.h>
#include <linux/netfilter.h>
#include <linux/rhashtable.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <net/dst.h>

#include <rocesteer/roce.h>

#include "compat.h"
#include "flow.h"
#include "net.h"
#include "resequence.h"
#include "window.h"

/* How long to wait for a missing packet, in nanoseconds. */
#define RESEQ_WAIT_MIN	(10 * NSEC_PER_MSEC)
#define RESEQ_WAIT_MAX	NSEC_PER_SEC
#define RESEQ_SKEW	(RESEQ_WAIT_MAX / 2)	/* assumed at first */
#define RESEQ_FADE	30			/* by half in 0.7 s */
#define RESEQ_FADE_MAX	(RESEQ_WAIT_MAX / 16)	/* not while nobody sends */

/* Packets that may be ready, and that one CPU delivers in a row. */
#define RESEQ_BUDGET	(2 * ROCESTEER_WINDOW)

/**
 * enum reseq_state - what is done about the missing packet
 * @RESEQ_WAITING: nothing yet
 * @RESEQ_NUDGED: it was given up: a packet from behind it was delivered
 * @RESEQ_ASKED: the queue pair has asked for it by a NAK, and drops whatever
 *	else it gets
 */
enum reseq_state {
	RESEQ_WAITING,
	RESEQ_NUDGED,
	RESEQ_ASKED,
};

/**
 * struct rocesteer_reseq - order of the packets that a queue pair receives
 * @node: in rocesteer_net.reseqs
 * @key: device, local queue pair number and peer. The number names it; the
 *	peer is compared, so that strangers are noticed. Immutable
 * @rn: namespace, which outlives this
 * @dqpn: the peer's queue pair number, immutable
 * @path_mtu: of the queue pair, immutable
 * @lock: guards all that follows. Taken in softirq, and within rocesteer_lock
 * @synced: @expected is known
 * @dead: nothing may wait any more
 * @delivering: somebody is delivering @ready
 * @state: what was done about the packet with PSN @expected
 * @paths: that the sender deals the flow to, by the last packet that waited
 * @expected: PSN that the queue pair expects next
 * @skew: by how much missing packets were late recently, in nanoseconds
 * @noted: when that was last found out
 * @since: time since which @expected is missed in @state, while packets wait
 * @window: packets that wait, all from (@expected, @expected + ROCESTEER_WINDOW)
 * @ready: packets in order, to be delivered
 * @okfn: where the stack goes on with a packet
 * @timer: pending while packets wait, or longer; or else to go on delivering
 * @held: packets that had to wait so far
 * @lost: missing packets given up since all paths had delivered later ones
 * @timeout: missing packets given up by @timer
 * @rcu: frees it
 *
 * Owned by its flow.
 */
struct rocesteer_reseq {
	struct rhash_head node;
	struct rocesteer_flow_key key;
	struct rocesteer_net *rn;
	u32 dqpn;
	u32 path_mtu;
	spinlock_t lock;	/* see above */
	bool synced;
	bool dead;
	bool delivering;
	u8 state;
	u8 paths;
	u32 expected;
	u64 skew;
	u64 noted;
	u64 since;
	struct rocesteer_window window;
	struct sk_buff_head ready;
	int (*okfn)(struct net *net, struct sock *sk, struct sk_buff *skb);
	struct timer_list timer;
	u64 held;
	u64 lost;
	u64 timeout;
	struct rcu_head rcu;
};

static const struct rhashtable_params reseq_params = {
	.head_offset = offsetof(struct rocesteer_reseq, node),
	.key_offset = offsetof(struct rocesteer_reseq, key),
	.key_len = offsetof(struct rocesteer_flow_key, peer),
	.automatic_shrinking = true,
};

/**
 * rocesteer_reseq_table_init() - set up a namespace's table
 * @rn: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int rocesteer_reseq_table_init(struct rocesteer_net *rn)
{
	return rhashtable_init(&rn->reseqs, &reseq_params);
}

/**
 * rocesteer_reseq_table_free() - free a namespace's table
 * @rn: namespace, all flows of which are gone
 */
void rocesteer_reseq_table_free(struct rocesteer_net *rn)
{
	rhashtable_destroy(&rn->reseqs);
}

static void reseq_count(struct rocesteer_reseq *reseq, enum rocesteer_counter c)
{
	rocesteer_stats_inc(reseq->rn, c);
}

/*
 * A READ takes a PSN for each packet of the response. Whoever lies about the
 * length makes us expect the wrong PSN until the next NAK, no more.
 */
static u32 reseq_psns(const struct rocesteer_reseq *reseq, u32 length)
{
	return max(1U, DIV_ROUND_UP_ULL(length, reseq->path_mtu));
}

static u64 reseq_wait(const struct rocesteer_reseq *reseq)
{
	/* Then a timer only frees memory: the sender has to be waited for. */
	if (reseq->state == RESEQ_ASKED)
		return RESEQ_WAIT_MAX;
	return clamp(2 * reseq->skew, RESEQ_WAIT_MIN, RESEQ_WAIT_MAX);
}

static void reseq_start_timer(struct rocesteer_reseq *reseq, u64 wait)
{
	timer_reduce(&reseq->timer, jiffies + 1 + nsecs_to_jiffies(wait));
}

/* Begin to wait. A timer that is pending finds out that it came too early. */
static void reseq_since_now(struct rocesteer_reseq *reseq)
{
	reseq->since = ktime_get_ns();
	reseq_start_timer(reseq, reseq_wait(reseq));
}

static void reseq_expect(struct rocesteer_reseq *reseq, u32 psn)
{
	lockdep_assert_held(&reseq->lock);
	reseq->expected = psn & ROCESTEER_PSN_MASK;
	reseq->state = RESEQ_WAITING;
	if (reseq->window.depth)
		reseq_since_now(reseq);
}

/*
 * Make those of @n PSNs from @psn on ready that wait. Return: the PSN behind
 * the last of them, or @psn when there is none.
 */
static u32 reseq_release(struct rocesteer_reseq *reseq, u32 psn, u32 n)
{
	struct sk_buff *skb;
	u32 behind = psn, span;

	lockdep_assert_held(&reseq->lock);
	for (; n && reseq->window.depth; n--, psn++) {
		skb = rocesteer_window_take(&reseq->window, psn, &span);
		if (!skb)
			continue;
		behind = psn + span;
		__skb_queue_tail(&reseq->ready, skb);
	}
	return behind;
}

static u32 reseq_release_all(struct rocesteer_reseq *reseq)
{
	return reseq_release(reseq, reseq->expected + 1, ROCESTEER_WINDOW - 1);
}

static void reseq_drop(struct rocesteer_reseq *reseq, struct sk_buff *skb)
{
	reseq_count(reseq, ROCESTEER_COUNT_RESEQ_DROPPED);
	dev_kfree_skb_any(skb);	/* maybe with interrupts off */
}

static void reseq_drop_all(struct rocesteer_reseq *reseq)
{
	u32 psn = reseq->expected, span;
	struct sk_buff *skb;

	lockdep_assert_held(&reseq->lock);
	while (reseq->window.depth) {
		skb = rocesteer_window_take(&reseq->window, ++psn, &span);
		if (skb)
			reseq_drop(reseq, skb);
	}
}

/* Let the queue pair notice the gap: give it the first packet behind. */
static void reseq_nudge(struct rocesteer_reseq *reseq)
{
	u32 psn = reseq->expected, span;
	struct sk_buff *skb;

	lockdep_assert_held(&reseq->lock);
	do
		skb = rocesteer_window_take(&reseq->window, ++psn, &span);
	while (!skb);
	__skb_queue_tail(&reseq->ready, skb);
	reseq->state = RESEQ_NUDGED;
	reseq_since_now(reseq);
}

/* Has every path delivered a packet from beyond the gap? */
static void reseq_check_lost(struct rocesteer_reseq *reseq)
{
	struct rocesteer_window *win = &reseq->window;

	if (!win->depth || reseq->state != RESEQ_WAITING ||
	    rocesteer_window_ports(win, reseq->expected) < reseq->paths)
		return;
	reseq->lost++;
	reseq_count(reseq, ROCESTEER_COUNT_RESEQ_LOST);
	reseq_nudge(reseq);
}

/*
 * By how much was the missing packet late? The one behind it knows. Old news
 * fade with time, not with newer ones: many packets come a little late for each
 * that comes very late.
 */
static void reseq_note_skew(struct rocesteer_reseq *reseq, u64 since)
{
	u64 now = ktime_get_ns(), elapsed;

	if (!since)
		return;
	elapsed = min(now - reseq->noted, RESEQ_FADE_MAX);
	reseq->noted = now;
	reseq->skew -= reseq->skew * elapsed >> RESEQ_FADE;
	reseq->skew = clamp(now - since, reseq->skew, RESEQ_WAIT_MAX);
}

/* Packets were waiting for the one that has come. */
static void reseq_filled(struct rocesteer_reseq *reseq, u32 next)
{
	struct rocesteer_window *win = &reseq->window;

	switch (reseq->state) {
	case RESEQ_WAITING:
		reseq_count(reseq, ROCESTEER_COUNT_RESEQ_FILLED);
		reseq_note_skew(reseq, rocesteer_window_since(win, next));
		break;
	case RESEQ_ASKED:
		/*
		 * The sender has gone back: what a path delivered before says
		 * nothing about what it still has to deliver.
		 */
		rocesteer_window_forget_ports(win);
		break;
	}
}

/* The expected packet: it goes on, and with it all that follow. */
static void reseq_pass(struct rocesteer_reseq *reseq, struct sk_buff *skb,
		       u32 span)
{
	u32 psn = reseq->expected;

	if (reseq->window.depth)
		reseq_filled(reseq, psn + span);
	do {
		__skb_queue_tail(&reseq->ready, skb);
		/* Where two claim the same PSNs, the queue pair shall judge. */
		reseq_release(reseq, psn + 1, min(span, ROCESTEER_WINDOW) - 1);
		psn += span;
		skb = rocesteer_window_take(&reseq->window, psn, &span);
	} while (skb);
	reseq_expect(reseq, psn);
	reseq_check_lost(reseq);
}

/*
 * A duplicate, or sent again. No sender goes back by more than the window:
 * then it is our notion of what is expected that is wrong.
 */
static void reseq_behind(struct rocesteer_reseq *reseq, struct sk_buff *skb,
			 u32 psn, u32 span)
{
	reseq_count(reseq, ROCESTEER_COUNT_RESEQ_BEHIND);
	if (rocesteer_psn_diff(reseq->expected, psn) >= ROCESTEER_WINDOW) {
		reseq_count(reseq, ROCESTEER_COUNT_RESEQ_RESYNC);
		reseq_release_all(reseq);
		reseq_expect(reseq, psn + span);
	}
	__skb_queue_tail(&reseq->ready, skb);
}

/*
 * The packet will outlast this critical section of RCU, from which its route is
 * borrowed. Return: false where the route is gone, and the packet with it.
 */
static bool reseq_keep(struct rocesteer_reseq *reseq, struct sk_buff *skb)
{
	if (!skb_dst(skb) || skb_dst_force(skb))
		return true;
	reseq_drop(reseq, skb);
	return false;
}

/* A packet ahead, in the window. */
static void reseq_hold(struct rocesteer_reseq *reseq, struct sk_buff *skb,
		       const struct rocesteer_request *req, u32 span)
{
	int err;

	if (!reseq_keep(reseq, skb))
		return;
	err = rocesteer_window_put(&reseq->window, skb, req->psn, span,
				   req->sport);
	if (err < 0) {
		reseq_count(reseq, ROCESTEER_COUNT_RESEQ_NO_MEMORY);
		__skb_queue_tail(&reseq->ready, skb);
		return;
	}
	if (err)
		reseq_count(reseq, ROCESTEER_COUNT_RESEQ_DROPPED);
	else if (reseq->window.depth == 1)
		reseq_since_now(reseq);
	reseq_count(reseq, ROCESTEER_COUNT_RESEQ_HELD);
	reseq->held++;
	reseq->paths = req->paths;
	reseq_check_lost(reseq);
}

static void reseq_sort(struct rocesteer_reseq *reseq, struct sk_buff *skb,
		       const struct rocesteer_request *req)
{
	u32 span = reseq_psns(reseq, req->length);
	s32 ahead;

	lockdep_assert_held(&reseq->lock);
	/* It may be left to the CPU that delivers. */
	if (reseq->delivering && !reseq_keep(reseq, skb))
		return;
	if (!reseq->synced) {
		reseq->synced = true;
		reseq->expected = req->psn;
	}
	ahead = rocesteer_psn_diff(req->psn, reseq->expected);
	if (!ahead) {
		reseq_pass(reseq, skb, span);
	} else if (ahead < 0) {
		reseq_behind(reseq, skb, req->psn, span);
	} else if (ahead >= ROCESTEER_WINDOW) {
		reseq_count(reseq, ROCESTEER_COUNT_RESEQ_OUT_OF_WINDOW);
		__skb_queue_tail(&reseq->ready, skb);
	} else {
		reseq_hold(reseq, skb, req, span);
	}
}

/*
 * Deliver what is ready. The paths of a flow are spread over CPUs, which must
 * not overtake each other: one of them delivers, without the lock, and the
 * others leave their packets to it. More than it can deliver comes from nobody
 * who heeds acknowledgments; then the timer goes on, and others get their turn.
 *
 * Whoever delivers is in softirq, which neither the device nor the namespace
 * nor this module outlives: each waits for RCU when it goes, after
 * rocesteer_reseq_del(), behind which nothing is left to be delivered later.
 */
static void reseq_deliver(struct rocesteer_reseq *reseq)
	__must_hold(&reseq->lock)
{
	struct sk_buff_head batch;
	unsigned int n = 0;
	struct sk_buff *skb;

	lockdep_assert_held(&reseq->lock);
	if (reseq->delivering)
		return;
	reseq->delivering = true;
	__skb_queue_head_init(&batch);
	while (!skb_queue_empty(&reseq->ready)) {
		if (n > RESEQ_BUDGET && !reseq->dead) {
			reseq_start_timer(reseq, 0);
			break;
		}
		n += skb_queue_len(&reseq->ready);
		skb_queue_splice_init(&reseq->ready, &batch);
		spin_unlock(&reseq->lock);
		while ((skb = __skb_dequeue(&batch)))
			reseq->okfn(reseq->rn->net, NULL, skb);
		spin_lock(&reseq->lock);
	}
	reseq->delivering = false;
}

/* The packet of a flow that is not split: only note it where none waits. */
static bool reseq_is_whole(struct rocesteer_reseq *reseq,
			   const struct rocesteer_request *req)
{
	if (req->paths > 1 || reseq->window.depth || reseq->delivering ||
	    !skb_queue_empty(&reseq->ready))
		return false;
	reseq->synced = true;
	reseq_expect(reseq, req->psn + reseq_psns(reseq, req->length));
	return true;
}

/**
 * rocesteer_reseq_dqpn() - the peer's queue pair
 * @rn: namespace
 * @key: device, local queue pair number and peer
 *
 * Context: Any, takes no lock.
 * Return: its number, or -ENOENT when there is none that is resequenced.
 */
s64 rocesteer_reseq_dqpn(struct rocesteer_net *rn,
			 const struct rocesteer_flow_key *key)
{
	struct rocesteer_reseq *reseq;
	s64 dqpn = -ENOENT;

	rcu_read_lock();
	reseq = rhashtable_lookup(&rn->reseqs, key, reseq_params);
	if (reseq && !memcmp(reseq->key.peer, key->peer, sizeof(key->peer)))
		dqpn = reseq->dqpn;
	rcu_read_unlock();
	return dqpn;
}

/**
 * rocesteer_reseq_receive() - a request packet has come
 * @rn: namespace
 * @req: what it is
 * @skb: packet, not aggregated, without a socket
 * @state: the hook's
 *
 * Context: Softirq, RCU read-side critical section.
 * Return: NF_ACCEPT when it is not to be resequenced, or NF_STOLEN when it
 * was delivered or waits.
 */
unsigned int rocesteer_reseq_receive(struct rocesteer_net *rn,
				     const struct rocesteer_request *req,
				     struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	unsigned int verdict = NF_ACCEPT;
	struct rocesteer_reseq *reseq;

	reseq = rhashtable_lookup(&rn->reseqs, &req->key, reseq_params);
	if (!reseq)
		return NF_ACCEPT;
	if (memcmp(reseq->key.peer, req->key.peer, sizeof(req->key.peer))) {
		reseq_count(reseq, ROCESTEER_COUNT_RESEQ_FOREIGN);
		return NF_ACCEPT;
	}

	spin_lock(&reseq->lock);
	if (skb_queue_len(&reseq->ready) > RESEQ_BUDGET) {
		reseq_count(reseq, ROCESTEER_COUNT_RESEQ_NO_MEMORY);
	} else if (!reseq->dead && !reseq_is_whole(reseq, req)) {
		reseq->okfn = state->okfn;	/* the family's, always the same */
		reseq_sort(reseq, skb, req);
		reseq_deliver(reseq);
		verdict = NF_STOLEN;
	}
	spin_unlock(&reseq->lock);
	return verdict;
}

/**
 * rocesteer_reseq_nak() - the queue pair has sent a sequence or RNR NAK
 * @reseq: its resequencer
 * @psn: the PSN that it asks for
 *
 * The sender will send that packet and all behind it again. Packets that wait
 * for another one are of no use: the queue pair takes none of them, and its
 * NAK is out.
 *
 * Context: Any but hard interrupts, RCU read-side critical section.
 */
void rocesteer_reseq_nak(struct rocesteer_reseq *reseq, u32 psn)
{
	spin_lock_bh(&reseq->lock);
	reseq_count(reseq, ROCESTEER_COUNT_RESEQ_NAK);
	if (!reseq->synced || psn != reseq->expected)
		reseq_drop_all(reseq);
	reseq_expect(reseq, psn);
	reseq->synced = true;
	reseq->state = RESEQ_ASKED;
	spin_unlock_bh(&reseq->lock);
}

/*
 * Waiting is over. First the queue pair is made to ask for the missing packet.
 * Where even that did not help, all go: nobody knows what it expects.
 */
static void reseq_give_up(struct rocesteer_reseq *reseq)
{
	u32 behind;

	reseq->timeout++;
	reseq_count(reseq, ROCESTEER_COUNT_RESEQ_TIMEOUT);
	if (reseq->state == RESEQ_WAITING) {
		reseq->skew = min(2 * reseq->skew, RESEQ_WAIT_MAX / 2);
		reseq_nudge(reseq);
		return;
	}
	behind = reseq_release_all(reseq);
	if (reseq->state == RESEQ_NUDGED)
		reseq_expect(reseq, behind);
}

static void reseq_expire(struct timer_list *timer)
{
	struct rocesteer_reseq *reseq;
	u64 age, wait;

	reseq = container_of(timer, struct rocesteer_reseq, timer);
	rcu_read_lock();
	spin_lock(&reseq->lock);
	if (reseq->window.depth) {
		age = ktime_get_ns() - reseq->since;
		wait = reseq_wait(reseq);
		if (age >= wait)
			reseq_give_up(reseq);
		else
			reseq_start_timer(reseq, wait - age);
	}
	reseq_deliver(reseq);
	spin_unlock(&reseq->lock);
	rcu_read_unlock();
}

/**
 * rocesteer_reseq_new() - resequence what a queue pair receives
 * @flow: linked flow, which has a queue pair
 * @fresh: the queue pair has not received anything yet
 *
 * Context: Holds rocesteer_lock.
 * Return: resequencer, or NULL when there is no memory, or where two RDMA
 * devices with the same queue pair number share a network device.
 */
struct rocesteer_reseq *rocesteer_reseq_new(const struct rocesteer_flow *flow,
					    bool fresh)
{
	struct rocesteer_reseq *reseq;

	lockdep_assert_held(&rocesteer_lock);
	if (!flow->qp.path_mtu)		/* the modify will fail */
		return NULL;
	reseq = kzalloc_obj(*reseq, GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!reseq)
		return NULL;
	reseq->key = flow->key;
	reseq->key.dqpn = flow->qp.sqpn;
	reseq->rn = flow->rn;
	reseq->dqpn = flow->key.dqpn;
	reseq->path_mtu = flow->qp.path_mtu;
	spin_lock_init(&reseq->lock);
	reseq->synced = fresh;
	reseq->expected = flow->qp.rq_psn;
	reseq->skew = RESEQ_SKEW;
	__skb_queue_head_init(&reseq->ready);
	timer_setup(&reseq->timer, reseq_expire, 0);

	if (rhashtable_insert_fast(&reseq->rn->reseqs, &reseq->node,
				   reseq_params)) {
		kfree(reseq);
		return NULL;
	}
	return reseq;
}

/**
 * rocesteer_reseq_del() - resequence no more
 * @reseq: taken from its flow
 *
 * What waits is dropped: the queue pair is gone, or else its peer sends again.
 *
 * A packet under way may have found it, and the timer may be running; both see
 * @dead under the lock, let nothing wait and do not start the timer. The timer
 * runs in softirq, which is an RCU read-side critical section, so it too has
 * ended when the callback frees what it looks at.
 *
 * Context: Holds rocesteer_lock, also with interrupts off.
 */
void rocesteer_reseq_del(struct rocesteer_reseq *reseq)
{
	struct sk_buff *skb;
	unsigned long flags;

	lockdep_assert_held(&rocesteer_lock);
	rhashtable_remove_fast(&reseq->rn->reseqs, &reseq->node, reseq_params);

	spin_lock_irqsave(&reseq->lock, flags);
	reseq->dead = true;
	reseq_drop_all(reseq);
	while (!reseq->delivering && (skb = __skb_dequeue(&reseq->ready)))
		reseq_drop(reseq, skb);
	rocesteer_window_free(&reseq->window);
	spin_unlock_irqrestore(&reseq->lock, flags);

	timer_shutdown(&reseq->timer);
	kfree_rcu(reseq, rcu);
}

/**
 * rocesteer_reseq_read() - how it does
 * @reseq: resequencer
 * @stat: filled in
 *
 * Context: Any but hard interrupts, also with interrupts off.
 */
void rocesteer_reseq_read(struct rocesteer_reseq *reseq,
			  struct rocesteer_reseq_stat *stat)
{
	unsigned long flags;

	spin_lock_irqsave(&reseq->lock, flags);
	stat->depth = reseq->window.depth;
	stat->age = stat->depth ? ktime_get_ns() - reseq->since : 0;
	stat->held = reseq->held;
	stat->lost = reseq->lost;
	stat->timeout = reseq->timeout;
	spin_unlock_irqrestore(&reseq->lock, flags);
}
