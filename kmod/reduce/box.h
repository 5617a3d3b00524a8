/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REDUCE_BOX_H
#define REDUCE_BOX_H

#include <linux/in6.h>
#include <linux/types.h>

struct net;
struct sk_buff;
struct sock;

/* Is this an address of the namespace? IPv4-mapped for IPv4. Context: any. */
bool reduce_box_is_local(struct net *net, const struct in6_addr *address);

/**
 * reduce_box_send() - send a packet from the box
 * @net: namespace
 * @sk: not used; the function is an okfn of netfilter
 * @skb: packet with its new addresses, without a route; consumed
 *
 * Context: any. Return: as ip_local_out(), or a negative errno without a route.
 */
int reduce_box_send(struct net *net, struct sock *sk, struct sk_buff *skb);

#endif /* REDUCE_BOX_H */
