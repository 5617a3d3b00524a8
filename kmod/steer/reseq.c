// SPDX-License-Identifier: GPL-2.0
/*
 * Resequencer: restores the PSN order of a flow that its sender splits over several paths,
 * as an RC queue pair accepts packets in order only (go-back-N). This file looks up the
 * queue pair of a packet and delivers packets; the order is in reseq_order.c.
 */
#include <linux/netfilter.h>
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
#include "reseq_table.h"

/* Packets delivered in one go, as NAPI_POLL_WEIGHT */
#define RESEQ_BUDGET	64

int rocesteer_reseq_table_init(struct rocesteer_net *rn)
{
	return rhashtable_init(&rn->reseqs, &rocesteer_reseq_params);
}

void rocesteer_reseq_table_free(struct rocesteer_net *rn)
{
	rhashtable_destroy(&rn->reseqs);
}

/* Return: the packets that are ready, at most @most. */
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
 * Deliver the packets that are ready. Several CPUs receive the packets of a split flow
 * and must not overtake each other: one CPU delivers, without the lock, and the others
 * leave their packets to that CPU. One packet may make a whole window ready, so beyond
 * the budget a BH work item continues.
 *
 * The CPU that delivers is in an RCU read-side critical section. Device, namespace and
 * module wait for a grace period after rocesteer_reseq_del(), and that leaves nothing to
 * deliver later.
 */
static void reseq_deliver(struct rocesteer_order *order)
	__must_hold(&order->lock)
{
	struct sk_buff *skb, *next;
	struct dst_entry *route;
	rocesteer_okfn okfn;
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
		route = order->route;
		okfn = order->okfn;
		spin_unlock(&order->lock);
		skb_list_walk_safe(skb, skb, next) {
			skb_mark_not_on_list(skb);
			rocesteer_deliver_continue(order->rn->net, skb, okfn, route);
			n++;
		}
		spin_lock(&order->lock);
	} while (order->ready);
	order->delivering = false;
}

/* See bpf_rocesteer_flow_dqpn(). Context: any, takes no lock. */
s64 rocesteer_reseq_dqpn(struct rocesteer_net *rn,
			 const struct rocesteer_flow_key *key)
{
	struct rocesteer_reseq *reseq;
	s64 dqpn = -ENOENT;

	rcu_read_lock();
	reseq = rocesteer_reseq_lookup(rn, key->ifindex, key->dqpn);
	if (reseq && !memcmp(&reseq->peer, key->peer, sizeof(key->peer)))
		dqpn = reseq->dqpn;
	rcu_read_unlock();
	return dqpn;
}

static unsigned int reseq_steal(struct rocesteer_order *order, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	order->okfn = state->okfn;
	return rocesteer_deliver_steal(skb);
}

/* Deliver a packet that is in order, while no packet is ready. */
static void reseq_deliver_next(struct rocesteer_order *order, struct sk_buff *skb)
	__must_hold(&order->lock)
{
	const rocesteer_okfn okfn = order->okfn;

	lockdep_assert_held(&order->lock);
	order->delivering = true;
	spin_unlock(&order->lock);
	rocesteer_deliver_continue(order->rn->net, skb, okfn, NULL);
	spin_lock(&order->lock);
	order->delivering = false;
	reseq_deliver(order);
}

/**
 * rocesteer_reseq_pass() - deliver a request of a split flow that is in order
 * @order: order of the requests, rocesteer_order_is_next() returned true
 * @next: PSN of the next request
 * @paths: number of paths that the packet carries
 * @skb: the packet, not GSO, without a socket
 * @state: state of the hook at LOCAL_IN
 *
 * The packet is stolen although it is in order: otherwise another CPU could overtake it
 * behind the hook.
 *
 * Context: BH disabled, RCU read-side critical section, holds @order->lock, which is
 * released in between.
 * Return: NF_STOLEN, NF_ACCEPT, or the verdict of connection tracking.
 */
unsigned int rocesteer_reseq_pass(struct rocesteer_order *order, u32 next,
				  u8 paths, struct sk_buff *skb,
				  const struct nf_hook_state *state)
	__must_hold(&order->lock)
{
	unsigned int verdict = reseq_steal(order, skb, state);

	if (verdict != NF_STOLEN)
		return verdict;
	rocesteer_order_advance(order, next, paths);
	reseq_deliver_next(order, skb);
	return NF_STOLEN;
}

/**
 * rocesteer_reseq_sort() - resequence a packet that is not the next one
 * @order: order of the packet, rocesteer_order_is_next() returned false
 * @skb: the packet, with a struct rocesteer_packet, not GSO, without a socket
 * @state: state of the hook at LOCAL_IN
 *
 * Context: as rocesteer_reseq_pass().
 * Return: NF_STOLEN if the packet waits or was delivered, NF_ACCEPT, or the verdict of
 * connection tracking.
 */
unsigned int rocesteer_reseq_sort(struct rocesteer_order *order,
				  struct sk_buff *skb,
				  const struct nf_hook_state *state)
	__must_hold(&order->lock)
{
	unsigned int verdict;

	if (order->dead)
		return NF_ACCEPT;
	if (order->nr_ready > 2 * order->window.size) {
		rocesteer_stats_inc(order->rn, ROCESTEER_A_STATS_RESEQ_NO_MEMORY);
		return NF_ACCEPT;
	}
	verdict = reseq_steal(order, skb, state);
	if (verdict != NF_STOLEN)
		return verdict;
	rocesteer_order_sort(order, skb);
	reseq_deliver(order);
	return NF_STOLEN;
}

/* Resequence a response or a READ request. Arguments, context and result: as above. */
unsigned int rocesteer_reseq_sort_read(struct rocesteer_order *order,
				       struct sk_buff *skb,
				       const struct nf_hook_state *state)
	__must_hold(&order->lock)
{
	const struct rocesteer_packet *pkt = rocesteer_packet(skb);
	unsigned int verdict;

	if (!rocesteer_order_is_next(order, pkt->psn, pkt->paths))
		return rocesteer_reseq_sort(order, skb, state);
	if ((pkt->paths ?: order->paths) == 1) {
		rocesteer_order_pass(order, skb);
		return NF_ACCEPT;
	}
	verdict = reseq_steal(order, skb, state);
	if (verdict != NF_STOLEN)
		return verdict;
	rocesteer_order_pass(order, skb);
	reseq_deliver_next(order, skb);
	return NF_STOLEN;
}

/**
 * rocesteer_reseq_answer() - the queue pair sends an acknowledgment or a NAK
 * @reseq: resequencer
 * @psn: PSN of the packet
 * @asks: the packet is a sequence or RNR NAK
 *
 * Context: any but hard interrupts, RCU read-side critical section.
 * Return: what the packet says of a late or a silent path, see rocesteer_bth_late(): 0 for
 * nothing.
 */
u32 rocesteer_reseq_answer(struct rocesteer_reseq *reseq, u32 psn, bool asks)
{
	struct rocesteer_order *order = &reseq->order[ROCESTEER_REQUESTS];
	u32 hint;

	spin_lock_bh(&order->lock);
	if (asks) {
		hint = order->silent && psn == order->expected;
		rocesteer_order_rewind(order, psn);
	} else {
		hint = rocesteer_order_hint(order, psn);
	}
	spin_unlock_bh(&order->lock);
	return hint;
}

/* See rocesteer_order_expect_read(). Context: as rocesteer_reseq_answer(). */
bool rocesteer_reseq_expect_read(struct rocesteer_reseq *reseq, u32 psn,
				 u32 length)
{
	struct rocesteer_order *order = &reseq->order[ROCESTEER_RESPONSES];
	bool expected;

	spin_lock_bh(&order->lock);
	expected = rocesteer_order_expect_read(order, psn, length);
	spin_unlock_bh(&order->lock);
	return expected;
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
 * rocesteer_reseq_new() - begin to resequence the packets that a queue pair receives
 * @rn: namespace
 * @key: flow that the queue pair sends, with its rival number
 * @qp: queue pair
 * @fresh: the queue pair has not received a packet yet
 *
 * Context: Holds rocesteer_lock.
 * Return: resequencer; -ENOMEM; -EEXIST if two RDMA devices of one network device use the
 * same queue pair number; -EINVAL without a path MTU.
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
	reseq->key.ifindex = key->ifindex;
	reseq->key.qpn = qp->sqpn;
	memcpy(&reseq->peer, key->peer, sizeof(reseq->peer));
	reseq->local = qp->local;
	reseq->pf = ipv6_addr_v4mapped(&reseq->peer) ? NFPROTO_IPV4 : NFPROTO_IPV6;
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
					    rocesteer_reseq_params);
	if (err) {
		kfree(reseq);
		return ERR_PTR(err);
	}
	rcu_assign_pointer(*rocesteer_reseq_recent(rn, qp->sqpn), reseq);
	return reseq;
}

/**
 * rocesteer_reseq_del() - stop resequencing
 * @reseq: resequencer, which its flow no longer points to
 *
 * Waiting packets are dropped: the queue pair is gone, or its peer will retransmit them.
 *
 * A CPU that receives a packet may have looked up @reseq, and the timer or the work item
 * may be running. All of them check @dead under the lock before they let a packet wait
 * or start the timer or the work item. All run in RCU read-side critical sections, which
 * have ended when kfree_rcu() frees @reseq.
 *
 * Context: Holds rocesteer_lock, also with interrupts off.
 */
void rocesteer_reseq_del(struct rocesteer_reseq *reseq)
{
	struct rocesteer_order *order = reseq->order;
	struct rocesteer_reseq __rcu **recent;
	unsigned long flags;

	lockdep_assert_held(&rocesteer_lock);
	recent = rocesteer_reseq_recent(order->rn, reseq->key.qpn);
	if (rcu_access_pointer(*recent) == reseq)
		RCU_INIT_POINTER(*recent, NULL);
	rhashtable_remove_fast(&order->rn->reseqs, &reseq->node, rocesteer_reseq_params);

	for (; order < reseq->order + ROCESTEER_PSNS_MAX; order++) {
		spin_lock_irqsave(&order->lock, flags);
		rocesteer_order_end(order);
		spin_unlock_irqrestore(&order->lock, flags);
		timer_shutdown(&order->timer);
		cancel_work(&order->more);
	}
	kfree_rcu(reseq, rcu);
}

/* Context: any but hard interrupts, also with interrupts off. */
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
