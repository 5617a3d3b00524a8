// SPDX-License-Identifier: GPL-2.0
/*
 * Netfilter hooks of the resequencer: received packets at LOCAL_IN, and NAKs, READs and
 * atomics of this host at LOCAL_OUT.
 *
 * At LOCAL_IN tags are stripped, IPv4 is reassembled, addresses and lengths are checked. A
 * packet that has waited continues with okfn(); injected again at the device, it would
 * pass taps and TC programs twice. The hook comes after all hooks that may drop a packet.
 * Only connection tracking may follow at the same priority, and rocesteer_deliver_steal()
 * does its part.
 *
 * Packets that rxe loops back to its own device bypass the hooks, in order.
 *
 * A namespace has the hooks while a job in it resequences.
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

#include "flow.h"
#include "net.h"
#include "reseq.h"
#include "reseq_hook.h"
#include "reseq_mark.h"
#include "reseq_order.h"
#include "reseq_table.h"

/* User space passes both to the BPF programs. */
static unsigned int bth_paths __ro_after_init = ROCESTEER_BTH_PATHS;
module_param(bth_paths, uint, 0444);
MODULE_PARM_DESC(bth_paths,
		 "Bits of resv6 in the BTH, side by side, for the number of paths of a flow; the same at all hosts (default: 0x3f)");

static unsigned int bth_reseq __ro_after_init = ROCESTEER_BTH_RESEQ;
module_param(bth_reseq, uint, 0444);
MODULE_PARM_DESC(bth_reseq,
		 "Bit of resv7 in the BTH that marks READ requests whose responses are resequenced; the same at all hosts (default: 0x40)");

static unsigned int bth_paths_shift __ro_after_init;

/* Headers of every RoCE v2 packet, and the first word of the AETH or of the ICRC. */
struct hook_headers {
	struct udphdr udp;
	struct rocesteer_bth bth;
	u8 syndrome;
	u8 rest[3];
};

static inline bool hook_is_udp(const struct sk_buff *skb, u8 pf)
{
	return (pf == NFPROTO_IPV4 ? ip_hdr(skb)->protocol :
				     ipv6_hdr(skb)->nexthdr) == IPPROTO_UDP;
}

static inline bool hook_is_rc(const struct hook_headers *h)
{
	return h->udp.dest == htons(ROCESTEER_ROCE_PORT) &&
	       !(h->bth.flags & ROCESTEER_BTH_TVER) &&
	       (h->bth.opcode & ROCESTEER_OP_SERVICE) == ROCESTEER_OP_RC;
}

static inline u32 hook_psn(const struct hook_headers *h)
{
	return be32_to_cpu(h->bth.apsn) & ROCESTEER_PSN_MASK;
}

/* Acknowledgments do not carry the number of paths. */
static inline u8 hook_paths(const struct hook_headers *h)
{
	u32 bits = be32_to_cpu(h->bth.dqpn) >> ROCESTEER_BTH_SHIFT & bth_paths;

	if (h->bth.opcode == ROCESTEER_OP_RC_ACK ||
	    h->bth.opcode == ROCESTEER_OP_RC_ATOMIC_ACK)
		return 0;
	return (bits >> bth_paths_shift) + 1;
}

static u32 hook_read_length(const struct sk_buff *skb,
			    const struct hook_headers *h)
{
	const struct rocesteer_reth *reth;
	struct rocesteer_reth buf;

	if (h->bth.opcode != ROCESTEER_OP_RC_READ)
		return 0;
	reth = skb_header_pointer(skb, skb_transport_offset(skb) +
				  offsetof(struct hook_headers, syndrome),
				  sizeof(buf), &buf);
	return reth ? be32_to_cpu(reth->length) : 0;
}

/*
 * The destination address of a packet, as in a GID: IPv4-mapped for IPv4. Return: false for
 * an IPv4-mapped address in an IPv6 packet, which is not the IPv4 host.
 */
static bool hook_destination(const struct sk_buff *skb, u8 pf,
			     struct in6_addr *addr)
{
	if (pf == NFPROTO_IPV6) {
		*addr = ipv6_hdr(skb)->daddr;
		return !ipv6_addr_v4mapped(addr);
	}
	ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, addr);
	return true;
}

static bool hook_is_nak(const struct hook_headers *h)
{
	return h->bth.opcode == ROCESTEER_OP_RC_ACK &&
	       (h->syndrome == ROCESTEER_AETH_NAK_PSN ||
		(h->syndrome & ROCESTEER_AETH_TYPE) == ROCESTEER_AETH_RNR);
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

static noinline unsigned int hook_sort(struct rocesteer_order *order,
				       struct sk_buff *skb,
				       const struct hook_headers *h,
				       const struct nf_hook_state *state)
	__must_hold(&order->lock)
{
	u8 paths = hook_paths(h);
	struct rocesteer_packet pkt = {
		.psn = hook_psn(h),
		.length = hook_read_length(skb, h),
		.paths = paths,
		.sport = paths ? h->udp.source : 0,
	};

	return rocesteer_reseq_sort(order, &pkt, skb, state);
}

static inline unsigned int hook_receive(struct rocesteer_net *rn,
					struct sk_buff *skb,
					const struct hook_headers *h,
					const struct nf_hook_state *state)
{
	bool response = h->bth.opcode >= ROCESTEER_OP_RC_RESPONSE &&
			h->bth.opcode <= ROCESTEER_OP_RC_ATOMIC_ACK;
	unsigned int verdict = NF_ACCEPT;
	struct rocesteer_reseq *reseq;
	struct rocesteer_order *order;
	u32 psn = hook_psn(h);
	u8 paths = hook_paths(h);

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
	if (response || h->bth.opcode == ROCESTEER_OP_RC_READ ||
	    !rocesteer_order_is_next(order, psn, paths))
		verdict = hook_sort(order, skb, h, state);
	else if (paths == 1)
		rocesteer_order_advance(order, psn + 1, paths);
	else
		verdict = rocesteer_reseq_pass(order, psn + 1, paths, skb, state);
	spin_unlock(&order->lock);
	return verdict;
}

/* @priv is the struct rocesteer_net of the namespace. */
static unsigned int hook_in(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	const struct hook_headers *h;
	unsigned int verdict;

	/* A packet with a socket is not for rxe. */
	if (skb->sk || !hook_is_udp(skb, state->pf) ||
	    !pskb_may_pull(skb, skb_transport_offset(skb) + sizeof(*h)))
		return NF_ACCEPT;
	h = (const struct hook_headers *)skb_transport_header(skb);
	if (!hook_is_rc(h))
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

static void hook_ask(struct rocesteer_net *rn, struct sk_buff *skb,
		     const struct hook_headers *h,
		     const struct nf_hook_state *state)
{
	struct rocesteer_flow_key key = {
		.ifindex = state->out->ifindex,
		.dqpn = be32_to_cpu(h->bth.dqpn) & ROCESTEER_QPN_MASK,
	};
	struct rocesteer_reseq *reseq;
	u32 psn = hook_psn(h);

	if (!hook_destination(skb, state->pf, (struct in6_addr *)key.peer))
		return;
	reseq = rocesteer_flow_reseq(rn, &key, skb);
	if (!reseq)
		return;
	if (h->bth.opcode == ROCESTEER_OP_RC_ACK)
		rocesteer_reseq_nak(reseq, psn);
	else if (rocesteer_reseq_expect_read(reseq, psn, hook_read_length(skb, h)) &&
		 h->bth.opcode == ROCESTEER_OP_RC_READ)
		rocesteer_read_mark_set(skb, skb_transport_offset(skb));
}

static unsigned int hook_out(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	const struct hook_headers *h;
	struct hook_headers buf;

	if (!hook_is_udp(skb, state->pf))
		return NF_ACCEPT;
	h = skb_header_pointer(skb, skb_transport_offset(skb), sizeof(*h), &buf);
	if (!h || !hook_is_rc(h) ||
	    !(hook_is_nak(h) || ROCESTEER_OPS_ANSWERED & BIT(h->bth.opcode)))
		return NF_ACCEPT;
	/* rxe sends from kernel sockets; ignore what other programs send. */
	if (!skb->sk || skb->sk->sk_kern_sock)
		hook_ask(priv, skb, h, state);
	return NF_ACCEPT;
}

static const struct nf_hook_ops hook_ops[] = {
	{
		.hook = hook_in,
		.pf = NFPROTO_INET,
		.hooknum = NF_INET_LOCAL_IN,
		.priority = NF_IP_PRI_LAST,
	},
	{
		.hook = hook_out,
		.pf = NFPROTO_INET,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_LAST,
	},
};

static_assert(ARRAY_SIZE(hook_ops) ==
	      ARRAY_SIZE(((struct rocesteer_net *)NULL)->hooks));

int __init rocesteer_hook_init(void)
{
	if (!bth_paths || bth_paths & ~ROCESTEER_BTH_RESV6 ||
	    !is_power_of_2(rocesteer_bth_paths_most(bth_paths) + 1)) {
		pr_err("bth_paths=%#x: not bits of %#x side by side\n",
		       bth_paths, ROCESTEER_BTH_RESV6);
		return -EINVAL;
	}
	if (bth_reseq & ~ROCESTEER_BTH_RESV7 ||
	    !is_power_of_2(bth_reseq)) {
		pr_err("bth_reseq=%#x: not one bit of %#x\n", bth_reseq,
		       ROCESTEER_BTH_RESV7);
		return -EINVAL;
	}
	bth_paths_shift = __ffs(bth_paths);
	rocesteer_read_mark_init(bth_reseq << ROCESTEER_BTH_SHIFT);
	return 0;
}

/**
 * rocesteer_hook_get() - register the hooks for a job, unless they are
 * @rn: namespace of the job
 *
 * Context: Process context, may sleep, holds @rn->conf.
 * Return: 0 or a negative errno.
 */
int rocesteer_hook_get(struct rocesteer_net *rn)
{
	size_t i;
	int err;

	lockdep_assert_held(&rn->conf);
	if (!rn->nr_hooks) {
		for (i = 0; i < ARRAY_SIZE(hook_ops); i++) {
			rn->hooks[i] = hook_ops[i];
			rn->hooks[i].priv = rn;
		}
		err = nf_register_net_hooks(rn->net, rn->hooks,
					    ARRAY_SIZE(rn->hooks));
		if (err)
			return err;
	}
	rn->nr_hooks++;
	return 0;
}

/* Hooks may still be running afterwards. They find no queue pair. */
void rocesteer_hook_put(struct rocesteer_net *rn)
{
	lockdep_assert_held(&rn->conf);
	if (!--rn->nr_hooks)
		nf_unregister_net_hooks(rn->net, rn->hooks,
					ARRAY_SIZE(rn->hooks));
}

/* No job is added or deleted any more. A grace period must pass before @rn is freed. */
void rocesteer_hook_end(struct rocesteer_net *rn)
{
	if (rn->nr_hooks)
		nf_unregister_net_hooks(rn->net, rn->hooks,
					ARRAY_SIZE(rn->hooks));
}
