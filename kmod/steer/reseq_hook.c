// SPDX-License-Identifier: GPL-2.0
/*
 * Netfilter hooks through which the resequencer sees packets: at LOCAL_IN all, at
 * LOCAL_OUT NAKs and requests that ask for data.
 *
 * At LOCAL_IN tags are stripped, IPv4 is reassembled, addresses and lengths are
 * checked, and a packet that has waited goes on through okfn(). Injected again at a
 * device, the packet would pass taps and TC programs twice. The hook comes last,
 * after all that may drop a packet. Only connection tracking may follow at the same
 * priority, and its part is done before a packet is stolen. A packet that is ready at
 * once is stolen as well: while it passed other hooks another CPU could overtake it.
 *
 * Packets that rxe loops back to its own device do not come by. They keep their order.
 *
 * A namespace has the hooks as long as a job there wants them.
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

/* User space hands both to the BPF programs. */
static unsigned int bth_paths __ro_after_init = ROCESTEER_BTH_PATHS;
module_param(bth_paths, uint, 0444);
MODULE_PARM_DESC(bth_paths,
		 "Bits of resv6 in the BTH, side by side, for the number of paths of a flow; the same at all hosts (default: 0x3f)");

static unsigned int bth_reseq __ro_after_init = ROCESTEER_BTH_RESEQ;
module_param(bth_reseq, uint, 0444);
MODULE_PARM_DESC(bth_reseq,
		 "Bit of resv7 in the BTH, for READ requests of who restores the order of data; the same at all hosts (default: 0x40)");

/* What every RoCE v2 packet has; the ICRC where there is no syndrome. */
struct hook_headers {
	struct udphdr udp;
	struct rocesteer_bth bth;
	u8 syndrome;
	u8 rest[3];
};

/* Return: the headers of an RC packet; NULL for others, and behind extension headers. */
static const struct hook_headers *hook_parse(const struct sk_buff *skb, u8 pf,
					     struct hook_headers *buf)
{
	u8 proto = pf == NFPROTO_IPV4 ? ip_hdr(skb)->protocol :
					ipv6_hdr(skb)->nexthdr;
	const struct hook_headers *h;

	if (proto != IPPROTO_UDP)
		return NULL;
	h = skb_header_pointer(skb, skb_transport_offset(skb), sizeof(*h), buf);
	if (!h || h->udp.dest != htons(ROCESTEER_ROCE_PORT) ||
	    h->bth.flags & ROCESTEER_BTH_TVER ||
	    (h->bth.opcode & ROCESTEER_OP_SERVICE) != ROCESTEER_OP_RC)
		return NULL;
	return h;
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
 * Where a packet goes, as in a GID: IPv4 is mapped. Return: false for IPv6 with such an
 * address on the wire: the stack lets that pass, and it would be taken for the IPv4
 * host's.
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

static bool hook_is_ack(const struct hook_headers *h)
{
	return h->bth.opcode == ROCESTEER_OP_RC_ACK ||
	       h->bth.opcode == ROCESTEER_OP_RC_ATOMIC_ACK;
}

static bool hook_is_nak(const struct hook_headers *h)
{
	return h->bth.opcode == ROCESTEER_OP_RC_ACK &&
	       (h->syndrome == ROCESTEER_AETH_NAK_PSN ||
		(h->syndrome & ROCESTEER_AETH_TYPE) == ROCESTEER_AETH_RNR);
}

/* Its segments come out behind us, where nobody sorts them. */
static void hook_note_gso(struct rocesteer_net *rn, const struct sk_buff *skb)
{
	rocesteer_stats_inc(rn, ROCESTEER_COUNT_RESEQ_GSO);
	net_warn_ratelimited("%s: RoCE packets are aggregated, their order is not restored: ethtool -K %s rx-gro-list off rx-udp-gro-forwarding off\n",
			     skb->dev->name, skb->dev->name);
}

static unsigned int hook_receive(struct rocesteer_net *rn, struct sk_buff *skb,
				 const struct hook_headers *h,
				 const struct nf_hook_state *state)
{
	bool ack = hook_is_ack(h);
	bool response = h->bth.opcode >= ROCESTEER_OP_RC_RESPONSE &&
			h->bth.opcode <= ROCESTEER_OP_RC_ATOMIC_ACK;
	u32 dqpn = be32_to_cpu(h->bth.dqpn);
	u32 paths = (dqpn >> ROCESTEER_BTH_SHIFT & bth_paths) >> __ffs(bth_paths);
	struct rocesteer_packet pkt = {
		.ifindex = state->in->ifindex,
		.dqpn = dqpn & ROCESTEER_QPN_MASK,
		.seq = response ? ROCESTEER_RESPONSES : ROCESTEER_REQUESTS,
		.psn = be32_to_cpu(h->bth.apsn) & ROCESTEER_PSN_MASK,
		.length = hook_read_length(skb, h),
		.paths = ack ? 0 : paths + 1,
		.sport = ack ? 0 : h->udp.source,
	};

	return rocesteer_reseq_receive(rn, &pkt, skb, state);
}

/*
 * @priv is the namespace's struct rocesteer_net. The device is the one of the queue
 * pair's GID: rxe takes packets from no other.
 */
static unsigned int hook_in(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	const struct hook_headers *h;
	struct hook_headers buf;

	/* A packet with a socket is not for rxe. */
	if (skb->sk)
		return NF_ACCEPT;
	h = hook_parse(skb, state->pf, &buf);
	if (h && skb_is_gso(skb)) {
		hook_note_gso(priv, skb);
		return NF_ACCEPT;
	}
	return h ? hook_receive(priv, skb, h, state) : NF_ACCEPT;
}

static void hook_ask(struct rocesteer_net *rn, struct sk_buff *skb,
		     const struct hook_headers *h,
		     const struct nf_hook_state *state)
{
	u32 psn = be32_to_cpu(h->bth.apsn) & ROCESTEER_PSN_MASK;
	struct rocesteer_flow_key key = {
		.ifindex = state->out->ifindex,
		.dqpn = be32_to_cpu(h->bth.dqpn) & ROCESTEER_QPN_MASK,
	};
	struct rocesteer_reseq *reseq;

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

	h = hook_parse(skb, state->pf, &buf);
	if (!h || !(hook_is_nak(h) ||
		    ROCESTEER_OPS_ANSWERED & BIT(h->bth.opcode)))
		return NF_ACCEPT;
	/* Any program may send such packets; rxe's sockets are the kernel's. */
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
	rocesteer_read_mark_init(bth_reseq << ROCESTEER_BTH_SHIFT);
	return 0;
}

/**
 * rocesteer_hook_get() - a job needs the hooks
 * @rn: its namespace
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

/* Hooks under way may still run afterwards; they find nothing to do. */
void rocesteer_hook_put(struct rocesteer_net *rn)
{
	lockdep_assert_held(&rn->conf);
	if (!--rn->nr_hooks)
		nf_unregister_net_hooks(rn->net, rn->hooks,
					ARRAY_SIZE(rn->hooks));
}

/* Nobody adds or deletes jobs any more. A grace period must pass before @rn is freed. */
void rocesteer_hook_end(struct rocesteer_net *rn)
{
	if (rn->nr_hooks)
		nf_unregister_net_hooks(rn->net, rn->hooks,
					ARRAY_SIZE(rn->hooks));
}
