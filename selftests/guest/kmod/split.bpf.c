// SPDX-License-Identifier: GPL-2.0
/*
 * A minimal splitter: distributes RC request packets of rxe over four paths, four PSNs at a
 * time, and sets the number of paths in them.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stddef.h>
#include <bpf/bpf_helpers.h>
#include "../../icrc.bpf.h"

#define PATHS		4
#define RUN		4
#define FIRST_PORT	50000

SEC("tc")
int split(struct __sk_buff *skb)
{
	struct packet pkt;
	__be32 dqpn;
	__u16 sport;

	if (parse_roce(skb, &pkt, false) != CONTINUE ||
	    pkt.opcode & ROCESTEER_OP_SERVICE || is_response(&pkt) ||
	    bpf_ntohs(pkt.sport) < ROCESTEER_SPORT_MIN)
		return TC_ACT_UNSPEC;
	dqpn = bpf_htonl(pkt.key.dqpn | rocesteer_bth_paths(ROCESTEER_BTH_PATHS, PATHS - 1));
	bpf_skb_store_bytes(skb, pkt.l4_off + sizeof(struct udphdr) +
			    offsetof(struct rocesteer_bth, dqpn),
			    &dqpn, sizeof(dqpn), 0);
	sport = FIRST_PORT + pkt.psn / RUN % PATHS;
	set_sport(skb, &pkt, bpf_htons(sport), 0);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
