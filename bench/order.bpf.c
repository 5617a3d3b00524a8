// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the frames of bench/order: each the next packet of a flow that is dealt
 * to some paths, or of two packets the second one first.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "rocesteer/roce.h"
#include "rocesteer/types.h"

__u32 qpn, paths, swap, next;

SEC("xdp.frags")	/* or veth takes it at a lower MTU only */
int make_frame(struct xdp_md *ctx)
{
	struct {
		struct ethhdr eth;
		struct iphdr ip;
		struct udphdr udp;
		struct rocesteer_bth bth;
	} __attribute__((packed)) *h = (void *)(long)ctx->data;
	__u32 psn;

	/* Packets that hosts send on their own take no PSN. */
	if ((void *)(h + 1) > (void *)(long)ctx->data_end ||
	    h->udp.dest != bpf_htons(ROCESTEER_ROCE_PORT))
		return XDP_PASS;
	psn = next++ ^ swap;
	h->udp.source = bpf_htons(ROCESTEER_SPORT_MIN + psn % paths);
	h->bth.dqpn = bpf_htonl(qpn | rocesteer_bth_paths(ROCESTEER_BTH_PATHS, paths - 1));
	h->bth.apsn = bpf_htonl(psn & ROCESTEER_PSN_MASK);
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
