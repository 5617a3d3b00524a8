/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_RESEQ_DELIVER_H
#define ROCESTEER_RESEQ_DELIVER_H

#include <linux/types.h>

struct dst_entry;
struct net;
struct nf_hook_state;
struct sk_buff;

unsigned int rocesteer_deliver_steal(struct sk_buff *skb,
				     const struct nf_hook_state *state);
void rocesteer_deliver_continue(struct net *net, struct sk_buff *skb,
				struct dst_entry *route);

#endif /* ROCESTEER_RESEQ_DELIVER_H */
