// SPDX-License-Identifier: GPL-2.0
/*
 * Netfilter hook of the resequencer: received packets at LOCAL_IN.
 *
 * There tags are stripped, IPv4 is reassembled, addresses and lengths are checked. A
 * packet that has waited continues with okfn(); injected again at the device, it would
 * pass taps and TC programs twice. The hook comes after all hooks that may drop a packet.
 * Only connection tracking may follow at the same priority, and rocesteer_deliver_steal()
 * does its part.
 *
 * Packets that rxe loops back to its own device bypass the hook, in order.
 *
 * A namespace has the hook while a job in it resequences.
 */
#include <linux/bitops.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/log2.h>
#include <linux/moduleparam.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include <rocesteer/roce.h>

#include "net.h"
#include "reseq.h"
#include "reseq_headers.h"
#include "reseq_hook.h"
#include "reseq_order.h"
#include "reseq_table.h"

/* User space passes it to the BPF programs. */
static unsigned int bth_paths __ro_after_init = ROCESTEER_BTH_PATHS;
module_param(bth_paths, uint, 0444);
MODULE_PARM_DESC(bth_paths,
		 "Bits of resv6 in the BTH, side by side, for the number of paths of a flow; the same at all hosts (default: 0x3f)");

static unsigned int bth_paths_shift __ro_after_init;

static inline bool hook_is_udp(const struct sk_buff *skb, u8 pf)
{
	return (pf == NFPROTO_IPV4 ? ip_hdr(skb)->protocol :
				     ipv6_hdr(skb)->nexthdr) == IPPROTO_UDP;
}

static inline u8 hook_paths(const struct rocesteer_headers *h)
{
	u32 bits = be32_to_cpu(h->bth.dqpn) >> ROCESTEER_BTH_SHIFT & bth_paths;

	return (bits >> bth_paths_shift) + 1;
}

/* The segments of a GSO packet appear behind this hook and cannot be sorted. */
static void hook_note_gso(struct rocesteer_net *rn, const struct sk_buff *skb)
{
	rocesteer_stats_inc(rn, ROCESTEER_A_STATS_RESEQ_GSO);
	net_warn_ratelimited("%s: RoCE packets are aggregated, their order is not restored: ethtool -K %s rx-gro-list off rx-udp-gro-forwarding off\n",
			     skb->dev->name, skb->dev->name);
}

/*
 * The rule of rxe's check_addr(). An IPv4-mapped address in an IPv6 packet, which the stack
 * accepts, is not the IPv4 host: @pf tells them apart.
 */
static inline bool hook_is_for(const struct rocesteer_reseq *reseq,
			       const struct sk_buff *skb, u8 pf)
{
	if (pf != reseq->pf)
		return false;
	if (likely(pf == NFPROTO_IPV4))
		return ip_hdr(skb)->saddr == reseq->peer.s6_addr32[3] &&
		       ip_hdr(skb)->daddr == reseq->local.s6_addr32[3];
	return ipv6_addr_equal(&reseq->peer, &ipv6_hdr(skb)->saddr) &&
	       ipv6_addr_equal(&reseq->local, &ipv6_hdr(skb)->daddr);
}

static inline void hook_note(struct sk_buff *skb, const struct rocesteer_headers *h, u32 span,
			     u8 paths, __be16 sport)
{
	struct rocesteer_packet *pkt = rocesteer_packet(skb);

	pkt->psn = rocesteer_headers_psn(h);
	pkt->span = span;
	pkt->paths = paths;
	pkt->sport = sport;
}

/* A response, or a READ request. Out of line: other requests need no stack for it. */
static noinline unsigned int hook_sort_read(struct rocesteer_order *order,
					    struct sk_buff *skb,
					    const struct rocesteer_headers *h,
					    const struct nf_hook_state *state)
	__must_hold(&order->lock)
{
	u32 span = rocesteer_order_psns(order, rocesteer_headers_length(h, skb));

	/* Acknowledgments do not carry the number of paths. */
	if (h->bth.opcode == ROCESTEER_OP_RC_ACK ||
	    h->bth.opcode == ROCESTEER_OP_RC_ATOMIC_ACK)
		hook_note(skb, h, span, 0, 0);
	else
		hook_note(skb, h, span, hook_paths(h), h->udp.source);
	return rocesteer_reseq_sort_read(order, skb, state);
}

/* Another request */
static inline unsigned int hook_sort(struct rocesteer_order *order, struct sk_buff *skb,
				     const struct rocesteer_headers *h,
				     const struct nf_hook_state *state)
	__must_hold(&order->lock)
{
	u32 psn = rocesteer_headers_psn(h);
	u8 paths = hook_paths(h);

	if (!rocesteer_order_is_next(order, psn, paths)) {
		hook_note(skb, h, 1, paths, h->udp.source);
		return rocesteer_reseq_sort(order, skb, state);
	}
	if (paths != 1)
		return rocesteer_reseq_pass(order, psn + 1, paths, skb, state);
	rocesteer_order_advance(order, psn + 1, paths);
	return NF_ACCEPT;
}

static inline unsigned int hook_receive(struct rocesteer_net *rn,
					struct sk_buff *skb,
					const struct rocesteer_headers *h,
					const struct nf_hook_state *state)
{
	bool response = h->bth.opcode >= ROCESTEER_OP_RC_RESPONSE &&
			h->bth.opcode <= ROCESTEER_OP_RC_ATOMIC_ACK;
	struct rocesteer_reseq *reseq;
	struct rocesteer_order *order;
	unsigned int verdict;

	/* rxe accepts packets only from the device of the queue pair's GID. */
	reseq = rocesteer_reseq_lookup(rn, state->in->ifindex,
				       be32_to_cpu(h->bth.dqpn) & ROCESTEER_QPN_MASK);
	if (!reseq)
		return NF_ACCEPT;
	order = reseq->order + (response ? ROCESTEER_RESPONSES : ROCESTEER_REQUESTS);
	if (response && !READ_ONCE(order->outstanding))
		return NF_ACCEPT;	/* an acknowledgment */
	if (unlikely(!hook_is_for(reseq, skb, state->pf))) {
		rocesteer_stats_inc(rn, ROCESTEER_A_STATS_RESEQ_FOREIGN);
		return NF_ACCEPT;
	}

	/*
	 * Packets of whole flows take the lock as well: a later packet of a flow that
	 * has just been split may arrive on another CPU and must find @expected up to
	 * date. Without the lock each packet would need a full barrier, which costs as
	 * much as an uncontended lock.
	 */
	spin_lock(&order->lock);
	if (response || h->bth.opcode == ROCESTEER_OP_RC_READ)
		verdict = hook_sort_read(order, skb, h, state);
	else
		verdict = hook_sort(order, skb, h, state);
	spin_unlock(&order->lock);
	return verdict;
}

/* @priv is the struct rocesteer_net of the namespace. */
static unsigned int hook_in(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	const struct rocesteer_headers *h;
	unsigned int verdict;

	/* A packet with a socket is not for rxe. */
	if (skb->sk || !hook_is_udp(skb, state->pf) ||
	    !pskb_may_pull(skb, skb_transport_offset(skb) + sizeof(*h)))
		return NF_ACCEPT;
	h = (const struct rocesteer_headers *)skb_transport_header(skb);
	if (!rocesteer_headers_are_rc(h))
		return NF_ACCEPT;
	if (unlikely(skb_is_gso(skb))) {
		hook_note_gso(priv, skb);
		return NF_ACCEPT;
	}
	if (likely(in_softirq()))
		return hook_receive(priv, skb, h, state);
	/* Process context: NFQUEUE has let the packet pass. */
	local_bh_disable();
	verdict = hook_in(priv, skb, state);
	local_bh_enable();
	return verdict;
}

static const struct nf_hook_ops hook_ops = {
	.hook = hook_in,
	.pf = NFPROTO_INET,
	.hooknum = NF_INET_LOCAL_IN,
	.priority = NF_IP_PRI_LAST,
};

int __init rocesteer_hook_init(void)
{
	if (!bth_paths || bth_paths & ~ROCESTEER_BTH_RESV6 ||
	    !is_power_of_2(rocesteer_bth_paths_most(bth_paths) + 1)) {
		pr_err("bth_paths=%#x: not bits of %#x side by side\n",
		       bth_paths, ROCESTEER_BTH_RESV6);
		return -EINVAL;
	}
	bth_paths_shift = __ffs(bth_paths);
	return 0;
}

/**
 * rocesteer_hook_get() - register the hook for a job, unless it is
 * @rn: namespace of the job
 *
 * Context: Process context, may sleep, holds @rn->conf.
 * Return: 0 or a negative errno.
 */
int rocesteer_hook_get(struct rocesteer_net *rn)
{
	int err;

	lockdep_assert_held(&rn->conf);
	if (!rn->hook_users) {
		rn->hook = hook_ops;
		rn->hook.priv = rn;
		err = nf_register_net_hook(rn->net, &rn->hook);
		if (err)
			return err;
	}
	rn->hook_users++;
	return 0;
}

/* The hook may still be running afterwards. It finds no queue pair. */
void rocesteer_hook_put(struct rocesteer_net *rn)
{
	lockdep_assert_held(&rn->conf);
	if (!--rn->hook_users)
		nf_unregister_net_hook(rn->net, &rn->hook);
}

/* No job is added or deleted any more. A grace period must pass before @rn is freed. */
void rocesteer_hook_end(struct rocesteer_net *rn)
{
	if (rn->hook_users)
		nf_unregister_net_hook(rn->net, &rn->hook);
}
