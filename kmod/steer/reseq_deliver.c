// SPDX-License-Identifier: GPL-2.0
/* Steal a packet from LOCAL_IN, and deliver it from there later. */
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <net/netfilter/nf_conntrack.h>
#endif

#include "reseq_deliver.h"

/*
 * okfn() of LOCAL_IN for IPv4 and for IPv6. The functions are not exported: the first
 * packet of each family tells them.
 */
static int (*deliver_okfn[2])(struct net *net, struct sock *sk,
			      struct sk_buff *skb);

/* Return: whether rocesteer_deliver_continue() will call the okfn() of @state. */
static bool deliver_learn(const struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	bool ipv6 = state->pf == NFPROTO_IPV6;

	if (skb->protocol != (ipv6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP)))
		return false;
	if (likely(READ_ONCE(deliver_okfn[ipv6]) == state->okfn))
		return true;
	return !cmpxchg(&deliver_okfn[ipv6], NULL, state->okfn);
}

/* Without this connection tracking would allocate and free a connection for each packet. */
static unsigned int deliver_confirm(struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
	struct nf_conntrack *nfct = skb_nfct(skb);
	const struct nf_ct_hook *hook;

	if (likely(!nfct) ||
	    nf_ct_is_confirmed(container_of(nfct, struct nf_conn, ct_general)))
		return NF_ACCEPT;
	hook = rcu_dereference(nf_ct_hook);
	if (hook)
		return hook->confirm(skb);
#endif
	return NF_ACCEPT;
}

/**
 * rocesteer_deliver_steal() - prepare a packet for rocesteer_deliver_continue()
 * @skb: packet at LOCAL_IN
 * @state: state of the hook
 *
 * Context: BH disabled, RCU read-side critical section.
 * Return: NF_STOLEN; NF_ACCEPT if the packet cannot be delivered later; or the verdict of
 * connection tracking, usually NF_DROP.
 */
unsigned int rocesteer_deliver_steal(struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	unsigned int verdict;

	if (!deliver_learn(skb, state))
		return NF_ACCEPT;
	verdict = deliver_confirm(skb);
	return verdict == NF_ACCEPT ? NF_STOLEN : verdict;
}

/**
 * rocesteer_deliver_continue() - deliver a packet to the host
 * @net: namespace
 * @skb: packet that was stolen; consumed
 * @route: where @skb has left its route
 *
 * Context: BH disabled, RCU read-side critical section.
 */
void rocesteer_deliver_continue(struct net *net, struct sk_buff *skb,
				struct dst_entry *route)
{
	bool ipv6 = skb->protocol == htons(ETH_P_IPV6);
	int (*okfn)(struct net *net, struct sock *sk, struct sk_buff *skb);

	if (!skb_dst(skb))
		skb_dst_set_noref(skb, route);
	okfn = READ_ONCE(deliver_okfn[ipv6]);
	okfn(net, NULL, skb);
}
