/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_BOX_H
#define REDUCE_BOX_H

#include <linux/in6.h>
#include <linux/types.h>

struct net;
struct sk_buff;
struct sock;

/* Is this an address of the namespace? IPv4-mapped for IPv4. */
bool reduce_box_is_local(struct net *net, const struct in6_addr *address);

/*
 * Send a packet from the box: an okfn() of netfilter, @sk is not used. @skb has its new addresses
 * and no route; consumed. BH off. Return: as ip_local_out(), or a negative errno without a route.
 */
int reduce_box_send(struct net *net, struct sock *sk, struct sk_buff *skb);

#endif /* REDUCE_BOX_H */
