// SPDX-License-Identifier: GPL-2.0
/*
 * Programs to compare steering with: one that does nothing, which tells
 * what the measurement itself costs; the least that rewrites the source port of RoCE v2
 * packets, which leaves the ICRC broken; and the least that knows of flows, which only
 * looks the packet's flow up.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <stddef.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "rocesteer/roce.h"
#include "rocesteer/types.h"

SEC("tcx/egress")
int nothing(struct __sk_buff *skb)
{
	return TCX_NEXT;
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_FLOWS);
	__type(key, struct rocesteer_flow_key);
	__type(value, __u64);
} flows SEC(".maps");

struct headers {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	struct rocesteer_bth bth;
} __attribute__((packed));

/* Those of a RoCE v2 packet in plain IPv4, or NULL. */
static __always_inline struct headers *roce(struct __sk_buff *skb)
{
	struct headers *h = (void *)(long)skb->data;

	if ((void *)(h + 1) > (void *)(long)skb->data_end ||
	    h->eth.h_proto != bpf_htons(ETH_P_IP) || h->ip.ihl != 5 ||
	    h->ip.protocol != IPPROTO_UDP ||
	    h->udp.dest != bpf_htons(ROCESTEER_ROCE_PORT))
		return NULL;
	return h;
}

/* Write by the helper: packets of others stay shared. */
SEC("tcx/egress")
int port_only(struct __sk_buff *skb)
{
	__be16 sport = bpf_htons(ROCESTEER_SPORT_MAX);

	if (roce(skb))
		bpf_skb_store_bytes(skb, offsetof(struct headers, udp.source),
				    &sport, sizeof(sport), 0);
	return TCX_NEXT;
}

/* Write in place: the kernel unshares each packet that the program sees. */
SEC("tcx/egress")
int port_direct(struct __sk_buff *skb)
{
	struct headers *h = roce(skb);

	if (h)
		h->udp.source = bpf_htons(ROCESTEER_SPORT_MAX);
	return TCX_NEXT;
}

/* The lookup in rs_flows. */
SEC("tcx/egress")
int lookup(struct __sk_buff *skb)
{
	struct headers *h = roce(skb);
	struct rocesteer_flow_key key = {};
	__be32 *peer = (__be32 *)key.peer;
	__u64 *found;

	if (!h)
		return TCX_NEXT;
	key.ifindex = skb->ifindex;
	key.dqpn = bpf_ntohl(h->bth.dqpn) & ROCESTEER_QPN_MASK;
	peer[2] = bpf_htonl(0xffff);
	peer[3] = h->ip.daddr;
	found = bpf_map_lookup_elem(&flows, &key);
	if (found)
		++*found;
	return TCX_NEXT;
}

char _license[] SEC("license") = "GPL";
