// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer on TCX: keeps every RC flow of a job on the path that its group
 * dealt it, by its UDP source port.
 *
 * Whole flows only. A flow that is tagged while it sends changes its path
 * once, and may be received out of order that once.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "lib/deal.bpf.h"

/* SO_NETNS_COOKIE of the namespace these tables serve. */
const volatile __u64 rs_netns;

static __always_inline int steer(struct __sk_buff *skb)
{
	struct rocesteer_flow_path *path;
	struct packet pkt;
	int verdict;

	verdict = parse_roce(skb, &pkt);
	if (verdict != FURTHER)
		return verdict;
	if (pkt.opcode > ROCESTEER_OP_RC_LAST)
		return ROCESTEER_NOT_RC;
	path = bpf_map_lookup_elem(&rs_flows, &pkt.key);
	if (!path) {
		verdict = deal_flow(skb, &pkt, &path);
		if (verdict != FURTHER)
			return verdict;
	}
	__sync_fetch_and_add(&path->packets, 1);
	__sync_fetch_and_add(&path->bytes, skb->len);
	return set_sport(skb, &pkt, path);
}

SEC("tcx/egress")
int rocesteer_egress(struct __sk_buff *skb)
{
	count(&rs_verdicts, steer(skb), ROCESTEER_VERDICT_MAX);
	return TCX_NEXT;
}

static __always_inline enum rocesteer_observed classify(const struct packet *pkt)
{
	if (pkt->opcode == ROCESTEER_OP_CNP)
		return ROCESTEER_SAW_CNP;
	if (pkt->opcode != ROCESTEER_OP_RC_ACK)
		return ROCESTEER_SAW_OTHER;
	switch (pkt->syndrome & ROCESTEER_AETH_TYPE) {
	case ROCESTEER_AETH_ACK:
		return ROCESTEER_SAW_ACK;
	case ROCESTEER_AETH_RNR:
		return ROCESTEER_SAW_RNR;
	case ROCESTEER_AETH_NAK:
		return pkt->syndrome == ROCESTEER_AETH_NAK_PSN ?
		       ROCESTEER_SAW_NAK_SEQUENCE : ROCESTEER_SAW_NAK_OTHER;
	}
	return ROCESTEER_SAW_OTHER;
}

SEC("tcx/ingress")
int rocesteer_ingress(struct __sk_buff *skb)
{
	struct packet pkt;

	if (parse_roce(skb, &pkt) == FURTHER)
		count(&rs_observed, classify(&pkt), ROCESTEER_OBSERVED_MAX);
	return TCX_NEXT;
}

/* The module lost a flow, or the flow its job: kmod/trace.h. */
SEC("tp_btf/rocesteer_flow_del")
int BPF_PROG(rocesteer_flow_del, __u64 netns,
	     const struct rocesteer_flow_key *gone)
{
	struct rocesteer_flow_key key;

	/* Never NULL, but Linux 7 wants to see it checked. */
	if (netns != rs_netns || !gone)
		return 0;
	key.ifindex = gone->ifindex;
	key.dqpn = gone->dqpn;
	bpf_probe_read_kernel(key.peer, sizeof(key.peer), gone->peer);
	forget_flow(&key);
	return 0;
}

char _license[] SEC("license") = "GPL";
