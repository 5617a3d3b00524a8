// SPDX-License-Identifier: GPL-2.0
/* Steal a packet from LOCAL_IN, and deliver it from there later. */
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <net/netfilter/nf_conntrack.h>
#endif

#include "reseq_deliver.h"

/*
 * Without this connection tracking would allocate and free a connection for each packet. See
 * rocesteer_deliver_steal().
 */
unsigned int rocesteer_deliver_confirm(struct sk_buff *skb)
{
	unsigned int verdict = NF_ACCEPT;
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
	struct nf_conntrack *nfct = skb_nfct(skb);
	const struct nf_ct_hook *hook;

	hook = nf_ct_is_confirmed(container_of(nfct, struct nf_conn, ct_general)) ? NULL :
	       rcu_dereference(nf_ct_hook);
	if (hook)
		verdict = hook->confirm(skb);
#endif
	return verdict == NF_ACCEPT ? NF_STOLEN : verdict;
}

/**
 * rocesteer_deliver_continue() - deliver a packet to the host
 * @net: namespace
 * @skb: packet that was stolen; consumed
 * @okfn: of the hook
 * @route: where @skb has left its route
 *
 * Context: BH disabled, RCU read-side critical section.
 */
void rocesteer_deliver_continue(struct net *net, struct sk_buff *skb, rocesteer_okfn okfn,
				struct dst_entry *route)
{
	if (!skb_dst(skb))
		skb_dst_set_noref(skb, route);
	okfn(net, NULL, skb);
}
