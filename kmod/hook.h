/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_HOOK_H
#define ROCESTEER_HOOK_H

struct net;
struct rocesteer_net;
struct sk_buff;

int rocesteer_hook_init(void);
int rocesteer_hook_get(struct rocesteer_net *rn);
void rocesteer_hook_put(struct rocesteer_net *rn);
void rocesteer_hook_end(struct rocesteer_net *rn);
unsigned int rocesteer_hook_steal(struct sk_buff *skb);
void rocesteer_hook_continue(struct net *net, struct sk_buff *skb);

#endif /* ROCESTEER_HOOK_H */
