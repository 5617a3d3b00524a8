/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_DELIVER_H
#define ROCESTEER_RESEQ_DELIVER_H

#include <linux/netfilter.h>
#include <linux/skbuff.h>

struct dst_entry;
struct net;
struct sock;

/* okfn() of LOCAL_IN */
typedef int (*rocesteer_okfn)(struct net *net, struct sock *sk, struct sk_buff *skb);

unsigned int rocesteer_deliver_confirm(struct sk_buff *skb);
void rocesteer_deliver_continue(struct net *net, struct sk_buff *skb, rocesteer_okfn okfn,
				struct dst_entry *route);

/**
 * rocesteer_deliver_steal() - prepare a packet for rocesteer_deliver_continue()
 * @skb: packet at LOCAL_IN
 *
 * Context: BH disabled, RCU read-side critical section.
 * Return: NF_STOLEN, or the verdict of connection tracking, usually NF_DROP.
 */
static inline unsigned int rocesteer_deliver_steal(struct sk_buff *skb)
{
	return likely(!skb_nfct(skb)) ? NF_STOLEN : rocesteer_deliver_confirm(skb);
}

#endif /* ROCESTEER_RESEQ_DELIVER_H */
