// SPDX-License-Identifier: GPL-2.0
/*
 * Resequencer: puts the packets of a flow that its sender splits over paths back
 * into the order of their PSNs, for a queue pair that takes them in no other
 * (go-back-N). Here packets find their queue pair, and are delivered; reseq_order.c has the
 * order.
 */
#include <linux/hash.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/rhashtable.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>

#include "../compat.h"
#include "net.h"
#include "qp.h"
#include "reseq.h"
#include "reseq_deliver.h"
#include "reseq_order.h"

/* Packets that are delivered in a row: as many as NAPI lets a device receive. */
#define RESEQ_BUDGET	64

/* Most packets that are ready: a window, and what has come since. */
static u32 reseq_most_ready(const struct rocesteer_order *order)
{
	return 2 * order->window.size;
}

/**
 * struct rocesteer_reseq - a queue pair whose packets are resequenced
 * @node: in rocesteer_net.reseqs
 * @key: device, local queue pair number and peer. The number names it; the
 *	peer is compared, so that strangers are noticed. Immutable
 * @local: the queue pair's own address, compared as well, as rxe does. Immutable
 * @dqpn: the peer's queue pair number, immutable
 * @order: of what it receives, by enum rocesteer_sequence
 * @rcu: frees it
 *
 * Owned by its flow.
 */
struct rocesteer_reseq {
	struct rhash_head node;
	struct rocesteer_flow_key key;
	struct in6_addr local;
	u32 dqpn;
	struct rocesteer_order order[ROCESTEER_PSNS_MAX];
	struct rcu_head rcu;
};

/* No peer chooses device and queue pair number: no need of jhash(). */
static u32 reseq_hash(const void *data, u32 len, u32 seed)
{
	const struct rocesteer_flow_key *key = data;

	return hash_32(key->dqpn + (key->ifindex << 24) + seed, 20);
}

/* The default calls memcmp(). */
static int reseq_cmp(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct rocesteer_reseq *reseq = obj;
	const struct rocesteer_flow_key *key = arg->key;

	return reseq->key.dqpn != key->dqpn ||
	       reseq->key.ifindex != key->ifindex;
}

static const struct rhashtable_params reseq_params = {
	.head_offset = offsetof(struct rocesteer_reseq, node),
	.key_offset = offsetof(struct rocesteer_reseq, key),
	.key_len = offsetof(struct rocesteer_flow_key, peer),
	.hashfn = reseq_hash,
	.obj_cmpfn = reseq_cmp,
	.automatic_shrinking = true,
};

int rocesteer_reseq_table_init(struct rocesteer_net *rn)
{
	return rhashtable_init(&rn->reseqs, &reseq_params);
}

void rocesteer_reseq_table_free(struct rocesteer_net *rn)
{
	rhashtable_destroy(&rn->reseqs);
}

/* Return: packets that are ready, the first @most of them if there are more. */
static struct sk_buff *reseq_take(struct rocesteer_order *order, u32 most)
{
	struct sk_buff *first = order->ready, **end = order->ready_end;

	lockdep_assert_held(&order->lock);
	if (order->nr_ready <= most) {
		order->ready_end = &order->ready;
		order->nr_ready = 0;
	} else {
		order->nr_ready -= most;
		for (end = &order->ready; most; most--)
			end = &(*end)->next;
	}
	order->ready = *end;
	*end = NULL;
	return first;
}

/*
 * Deliver what is ready. The paths of a flow are spread over CPUs, which must not
 * overtake each other: one CPU delivers, without the lock, and the others leave their
 * packets to it. One packet may make a whole window ready. Behind the budget a work item
 * goes on, so that others have their turn: it runs in softirq, as NAPI does, or in
 * ksoftirqd.
 *
 * The CPU that delivers is in an RCU read-side critical section, which the device, the
 * namespace and this module outlive: each waits for RCU when it goes, after
 * rocesteer_reseq_del(), which leaves nothing to be delivered later.
 */
static void reseq_deliver(struct rocesteer_order *order)
	__must_hold(&order->lock)
{
	struct sk_buff *skb, *next;
	unsigned int n = 0;

	lockdep_assert_held(&order->lock);
	if (order->delivering || !order->ready)
		return;
	order->delivering = true;
	do {
		if (n >= RESEQ_BUDGET && !order->dead) {
			queue_work(system_bh_wq, &order->more);
			break;
		}
		skb = reseq_take(order, RESEQ_BUDGET - n % RESEQ_BUDGET);
		spin_unlock(&order->lock);
		skb_list_walk_safe(skb, skb, next) {
			skb_mark_not_on_list(skb);
			rocesteer_deliver_continue(order->rn->net, skb);
			n++;
		}
		spin_lock(&order->lock);
	} while (order->ready);
	order->delivering = false;
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

static bool reseq_has_v4(const struct in6_addr *addr, __be32 v4)
{
	return ipv6_addr_v4mapped(addr) && addr->s6_addr32[3] == v4;
}

/*
 * As rxe's check_addr(). An IPv6 packet may have an address on the wire that stands for
 * an IPv4 host: the stack lets that pass.
 */
static bool reseq_is_for(const struct rocesteer_reseq *reseq,
			 const struct sk_buff *skb, u8 pf)
{
	const struct in6_addr *peer = (const struct in6_addr *)reseq->key.peer;

	if (pf == NFPROTO_IPV4)
		return reseq_has_v4(peer, ip_hdr(skb)->saddr) &&
		       reseq_has_v4(&reseq->local, ip_hdr(skb)->daddr);
	return ipv6_addr_equal(peer, &ipv6_hdr(skb)->saddr) &&
	       ipv6_addr_equal(&reseq->local, &ipv6_hdr(skb)->daddr) &&
	       !ipv6_addr_v4mapped(peer);
}

/**
 * rocesteer_reseq_receive() - a packet has come
 * @rn: namespace
 * @pkt: what it is
 * @skb: packet, not aggregated, without a socket
 * @state: as the hook at LOCAL_IN was given it
 *
 * Context: Softirq, or process where a program let the packet pass (NFQUEUE). RCU
 * read-side critical section.
 * Return: NF_ACCEPT when it is not to be resequenced, NF_STOLEN when it
 * was delivered or waits, or what connection tracking says.
 */
unsigned int rocesteer_reseq_receive(struct rocesteer_net *rn,
				     const struct rocesteer_packet *pkt,
				     struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	const struct rocesteer_flow_key key = {
		.ifindex = pkt->ifindex,
		.dqpn = pkt->dqpn,
	};
	unsigned int verdict = NF_ACCEPT;
	struct rocesteer_reseq *reseq;
	struct rocesteer_order *order;

	reseq = rhashtable_lookup(&rn->reseqs, &key, reseq_params);
	if (!reseq)
		return NF_ACCEPT;
	order = &reseq->order[pkt->seq];
	if (pkt->seq == ROCESTEER_RESPONSES && !READ_ONCE(order->outstanding))
		return NF_ACCEPT;	/* an acknowledgment */
	if (!reseq_is_for(reseq, skb, state->pf)) {
		rocesteer_stats_inc(rn, ROCESTEER_COUNT_RESEQ_FOREIGN);
		return NF_ACCEPT;
	}

	/*
	 * A flow that is not split takes the lock as well. Its packets have to be
	 * noted, for the moment when the next one is split and comes on another CPU.
	 * To note them without the lock and not to miss that moment takes a full
	 * barrier for each packet, which costs as much as a lock that is free.
	 */
	spin_lock_bh(&order->lock);
	if (order->nr_ready > reseq_most_ready(order)) {
		rocesteer_stats_inc(rn, ROCESTEER_COUNT_RESEQ_NO_MEMORY);
	} else if (!order->dead && (pkt->paths > 1 ||
				    !rocesteer_order_bypass(order, pkt))) {
		verdict = rocesteer_deliver_steal(skb, state);
		if (verdict == NF_STOLEN) {
			rocesteer_order_sort(order, skb, pkt);
			reseq_deliver(order);
		}
	}
	spin_unlock_bh(&order->lock);
	return verdict;
}

/**
 * rocesteer_reseq_nak() - the queue pair has sent a sequence or RNR NAK
 * @reseq: its resequencer
 * @psn: the PSN that it asks for
 *
 * Context: Any but hard interrupts, RCU read-side critical section.
 */
void rocesteer_reseq_nak(struct rocesteer_reseq *reseq, u32 psn)
{
	struct rocesteer_order *order = &reseq->order[ROCESTEER_REQUESTS];

	spin_lock_bh(&order->lock);
	rocesteer_order_rewind(order, psn);
	spin_unlock_bh(&order->lock);
}

/**
 * rocesteer_reseq_expect_read() - the queue pair sends a READ request, or an atomic
 * @reseq: its resequencer
 * @psn: PSN of the request, and of the first response
 * @length: bytes that it asks for
 *
 * Context: Any but hard interrupts, RCU read-side critical section.
 * Return: whether the order of what answers it is restored.
 */
bool rocesteer_reseq_expect_read(struct rocesteer_reseq *reseq, u32 psn,
				 u32 length)
{
	struct rocesteer_order *order = &reseq->order[ROCESTEER_RESPONSES];
	bool restored;

	spin_lock_bh(&order->lock);
	restored = rocesteer_order_expect_read(order, psn, length);
	spin_unlock_bh(&order->lock);
	return restored;
}

static void reseq_more(struct work_struct *work)
{
	struct rocesteer_order *order;

	order = container_of(work, struct rocesteer_order, more);
	rcu_read_lock();
	spin_lock(&order->lock);
	reseq_deliver(order);
	spin_unlock(&order->lock);
	rcu_read_unlock();
}

static void reseq_expire(struct timer_list *timer)
{
	struct rocesteer_order *order;

	order = container_of(timer, struct rocesteer_order, timer);
	rcu_read_lock();
	spin_lock(&order->lock);
	rocesteer_order_expire(order);
	reseq_deliver(order);
	spin_unlock(&order->lock);
	rcu_read_unlock();
}

/**
 * rocesteer_reseq_new() - resequence what a queue pair receives
 * @rn: namespace
 * @key: flow that the queue pair sends
 * @qp: queue pair
 * @fresh: the queue pair has not received anything yet
 *
 * Context: Holds rocesteer_lock.
 * Return: resequencer; -ENOMEM; -EEXIST where two RDMA devices with the same queue
 * pair number share a network device; -EINVAL without a path MTU.
 */
struct rocesteer_reseq *
rocesteer_reseq_new(struct rocesteer_net *rn,
		    const struct rocesteer_flow_key *key,
		    const struct rocesteer_qp *qp, bool fresh)
{
	struct rocesteer_reseq *reseq;
	int i, err;

	lockdep_assert_held(&rocesteer_lock);
	if (!qp->path_mtu)		/* the modify will fail */
		return ERR_PTR(-EINVAL);
	reseq = kzalloc_obj(*reseq, GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!reseq)
		return ERR_PTR(-ENOMEM);
	reseq->key = *key;
	reseq->key.dqpn = qp->sqpn;
	reseq->local = qp->local;
	reseq->dqpn = key->dqpn;
	rocesteer_order_init(&reseq->order[ROCESTEER_REQUESTS], rn,
			     ROCESTEER_WINDOW_REQUESTS, qp->path_mtu,
			     qp->rq_psn, fresh);
	rocesteer_order_init(&reseq->order[ROCESTEER_RESPONSES], rn,
			     ROCESTEER_WINDOW_RESPONSES, qp->path_mtu, 0,
			     false);
	for (i = 0; i < ROCESTEER_PSNS_MAX; i++) {
		timer_setup(&reseq->order[i].timer, reseq_expire, 0);
		INIT_WORK(&reseq->order[i].more, reseq_more);
	}

	err = rhashtable_lookup_insert_fast(&rn->reseqs, &reseq->node,
					    reseq_params);
	if (err) {
		kfree(reseq);
		return ERR_PTR(err);
	}
	return reseq;
}

/**
 * rocesteer_reseq_del() - resequence no more
 * @reseq: taken from its flow
 *
 * Waiting packets are dropped: the queue pair is gone, or else its peer sends again.
 *
 * A packet under way may have found @reseq, and the timer or the work item may be
 * running. All see @dead under the lock, let nothing wait and start neither. Both run in
 * softirq, an RCU read-side critical section, and so have ended when the callback frees
 * @reseq.
 *
 * Context: Holds rocesteer_lock, also with interrupts off.
 */
void rocesteer_reseq_del(struct rocesteer_reseq *reseq)
{
	struct rocesteer_order *order = reseq->order;
	unsigned long flags;

	lockdep_assert_held(&rocesteer_lock);
	rhashtable_remove_fast(&order->rn->reseqs, &reseq->node, reseq_params);

	for (; order < reseq->order + ROCESTEER_PSNS_MAX; order++) {
		spin_lock_irqsave(&order->lock, flags);
		rocesteer_order_end(order);
		spin_unlock_irqrestore(&order->lock, flags);
		timer_shutdown(&order->timer);
		cancel_work(&order->more);
	}
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
	struct rocesteer_order *order = reseq->order;
	unsigned long flags;

	memset(stat, 0, sizeof(*stat));
	for (; order < reseq->order + ROCESTEER_PSNS_MAX; order++) {
		spin_lock_irqsave(&order->lock, flags);
		if (order->window.depth)
			stat->age = max(stat->age,
					rocesteer_window_now() - order->since);
		stat->depth += order->window.depth;
		stat->held += order->held;
		stat->lost += order->lost;
		stat->timeout += order->timeout;
		spin_unlock_irqrestore(&order->lock, flags);
	}
}
