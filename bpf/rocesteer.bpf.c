// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer in BPF. On TCX: gives every packet of a job's RC flows the UDP source
 * port of its path: that of the whole flow, or of the piece of the flow that it
 * is in; tags packets with the class of their chunk. As the module's policy: gives
 * queue pairs the port of the whole flow.
 *
 * A flow that is tagged while it sends changes its path once, and may be
 * received out of order that once.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "lib/ack.bpf.h"
#include "lib/chunk.bpf.h"
#include "lib/detour.bpf.h"
#include "lib/pieces.bpf.h"
#include "lib/plan.bpf.h"
#include "lib/policy.bpf.h"
#include "lib/psn.bpf.h"
#include "lib/sweep.bpf.h"

/* SO_NETNS_COOKIE of the namespace these tables serve. */
const volatile __u64 rs_netns;

/* Keep account of what is sent on a path. */
static __always_inline void count_sent(struct rocesteer_flow_path *flow,
				       __u32 path, __u32 len)
{
	barrier_var(path);	/* or clang checks another copy than it uses */
	if (path >= ROCESTEER_MAX_PATHS)
		return;
	__sync_fetch_and_add(&flow->sent[path].packets, 1);
	__sync_fetch_and_add(&flow->sent[path].bytes, len);
}

/* What became of the plan for a queue pair. */
__noinline int check_port(struct rocesteer_flow_path *flow, __u32 sport,
			  __u32 len)
{
	if (!flow)
		return ROCESTEER_UNASSIGNED;
	count_sent(flow, flow->piece[0].path, len);
	return sport == flow->piece[0].sport ? ROCESTEER_ON_PLAN :
					       ROCESTEER_OFF_PLAN;
}

static __always_inline int steer(struct __sk_buff *skb)
{
	struct rocesteer_flow_path *flow;
	struct packet pkt;
	__u32 rounds, bits, seq, way, i;
	int verdict;

	verdict = parse_roce(skb, &pkt, false);
	if (verdict != FURTHER)
		return verdict;
	if (!is_rc(&pkt))
		return ROCESTEER_NOT_RC;
	flow = bpf_map_lookup_elem(&rs_flows, &pkt.key);
	if (!flow) {
		verdict = enter_packet(skb, &pkt.key, false);
		if (verdict != FURTHER)
			return verdict;
		flow = bpf_map_lookup_elem(&rs_flows, &pkt.key);
	} else if (!is_sender(skb, &flow->sender)) {
		verdict = meet_sender(skb, &pkt.key, flow);
		if (verdict != FURTHER)
			return verdict;
	}
	if (!flow)
		return ROCESTEER_UNASSIGNED;
	if (flow->flags & ROCESTEER_FLOW_QP)
		return check_port(flow, pkt.sport, skb->len);
	if (is_ack(&pkt)) {
		seq = ROCESTEER_RESPONSES;
		/* No branch: the verifier would look at the rest twice. */
		bits = !!(flow->flags & ROCESTEER_FLOW_ORDERS) *
		       (rs_bth_paths << ROCESTEER_BTH_SHIFT);
		i = 0;
	} else {
		if (!(flow->flags & ROCESTEER_FLOW_SHARE))
			take_share(&pkt.key);
		seq = is_response(&pkt) ? ROCESTEER_RESPONSES :
					  ROCESTEER_REQUESTS;
		if (flow->next.end && may_move(flow, seq))
			move(flow);
		bits = rocesteer_bth_paths(rs_bth_paths, flow->nr_pieces - 1 -
							 flow->detour.shared);
		i = find_piece(flow, pkt.psn);
	}
	seq = forget_range(skb, seq) % ROCESTEER_PSNS_MAX;
	bits = forget_range(skb, bits);
	i = forget_range(skb, i) % ROCESTEER_MAX_PATHS;
	rounds = is_nak(&pkt) ? 0 : psn_note(&flow->psns[seq], pkt.psn);
	flow->idle = 0;
	if (rounds)
		note_round(&pkt.key, flow, i, rounds, seq);
	if (seq == ROCESTEER_RESPONSES)
		flow->responded = coarse_now();
	way = find_way(flow, i);
	count_sent(flow, way >> 16, skb->len);
	if (!(__be16)way)
		return ROCESTEER_NO_PATH;
	return set_sport(skb, &pkt, (__be16)way, &flow->icrc_cache[i], bits);
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

	if (parse_roce(skb, &pkt, true) != FURTHER)
		return TCX_NEXT;
	count(&rs_observed, classify(&pkt), ROCESTEER_OBSERVED_MAX);
	if (is_told(&pkt))
		note_ack(skb, &pkt);
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
	bpf_map_delete_elem(&rs_tags, &key);
	forget_flow(&key);
	return 0;
}

char _license[] SEC("license") = "GPL";
