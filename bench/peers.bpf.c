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

SEC("tcx/egress")
int port_only(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data;
	void *end = (void *)(long)skb->data_end;
	struct {
		struct ethhdr eth;
		struct iphdr ip;
		struct udphdr udp;
	} __attribute__((packed)) *h = data;
	__be16 sport = bpf_htons(ROCESTEER_SPORT_MAX);

	if ((void *)(h + 1) > end || h->eth.h_proto != bpf_htons(ETH_P_IP) ||
	    h->ip.ihl != 5 || h->ip.protocol != IPPROTO_UDP ||
	    h->udp.dest != bpf_htons(ROCESTEER_ROCE_PORT))
		return TCX_NEXT;
	bpf_skb_store_bytes(skb, sizeof(h->eth) + sizeof(h->ip) +
			    offsetof(struct udphdr, source), &sport,
			    sizeof(sport), 0);
	return TCX_NEXT;
}

char _license[] SEC("license") = "GPL";
