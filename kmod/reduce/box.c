// SPDX-License-Identifier: GPL-2.0
/*
 * A box beside the switches. Queue pairs are connected to the box's address; what the box
 * sends is routed from this address, as packets of its own are.
 */
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "box.h"

bool reduce_box_is_local(struct net *net, const struct in6_addr *address)
{
	if (ipv6_addr_v4mapped(address))
		return inet_addr_type(net, address->s6_addr32[3]) == RTN_LOCAL;
	return ipv6_chk_addr(net, address, NULL, 0);
}

static int box_send4(struct net *net, struct sk_buff *skb)
{
	struct iphdr *ip = ip_hdr(skb);
	const struct udphdr *udp = (void *)(ip + 1);
	struct flowi4 flow = {
		.saddr = ip->saddr,
		.daddr = ip->daddr,
		.flowi4_proto = IPPROTO_UDP,
		.fl4_sport = udp->source,
		.fl4_dport = udp->dest,
	};
	struct rtable *route = ip_route_output_key(net, &flow);

	if (IS_ERR(route)) {
		kfree_skb_reason(skb, SKB_DROP_REASON_IP_OUTNOROUTES);
		return PTR_ERR(route);
	}
	skb_dst_set(skb, &route->dst);
	ip->ttl = ip4_dst_hoplimit(&route->dst);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	return ip_local_out(net, NULL, skb);
}

static int box_send6(struct net *net, struct sk_buff *skb)
{
	struct ipv6hdr *ip6 = ipv6_hdr(skb);
	const struct udphdr *udp = (void *)(ip6 + 1);
	struct flowi6 flow = {
		.saddr = ip6->saddr,
		.daddr = ip6->daddr,
		.flowlabel = ip6_flowinfo(ip6),
		.flowi6_proto = IPPROTO_UDP,
		.fl6_sport = udp->source,
		.fl6_dport = udp->dest,
	};
	struct dst_entry *dst = ip6_route_output(net, NULL, &flow);
	int err = dst->error;

	if (err) {
		dst_release(dst);
		kfree_skb_reason(skb, SKB_DROP_REASON_IP_OUTNOROUTES);
		return err;
	}
	skb_dst_set(skb, dst);
	ip6->hop_limit = ip6_dst_hoplimit(dst);
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	return ip6_local_out(net, NULL, skb);
}

int reduce_box_send(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	/* fq would take the time of arrival for that of departure. */
	skb_clear_tstamp(skb);
	return skb->protocol == htons(ETH_P_IP) ? box_send4(net, skb) : box_send6(net, skb);
}
