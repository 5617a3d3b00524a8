// SPDX-License-Identifier: GPL-2.0
/*
 * What steering is measured against: a program that does nothing, which tells
 * what the measurement itself costs, and the least that rewrites the source
 * port of RoCE v2 packets, which leaves the ICRC broken.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <stddef.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "rocesteer/types.h"

SEC("tcx/egress")
int nothing(struct __sk_buff *skb)
{
	return TCX_NEXT;
}

struct headers {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
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

/* By the helper: packets of others stay shared. */
SEC("tcx/egress")
int port_only(struct __sk_buff *skb)
{
	__be16 sport = bpf_htons(ROCESTEER_SPORT_MAX);

	if (roce(skb))
		bpf_skb_store_bytes(skb, offsetof(struct headers, udp.source),
				    &sport, sizeof(sport), 0);
	return TCX_NEXT;
}

/* In place: the kernel unshares each packet that the program sees. */
SEC("tcx/egress")
int port_direct(struct __sk_buff *skb)
{
	struct headers *h = roce(skb);

	if (h)
		h->udp.source = bpf_htons(ROCESTEER_SPORT_MAX);
	return TCX_NEXT;
}

char _license[] SEC("license") = "GPL";
