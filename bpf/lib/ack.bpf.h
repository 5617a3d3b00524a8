/* SPDX-License-Identifier: GPL-2.0 */
/* What acknowledgments tell a flow's sender. */
#ifndef ACK_BPF_H
#define ACK_BPF_H

#include "deal.bpf.h"
#include "psn.bpf.h"

/* kmod/steer_bpf.c */
extern __s64 bpf_rocesteer_flow_dqpn(struct __sk_buff *skb,
				     const struct rocesteer_flow_key *key,
				     __u32 key__sz) __ksym __weak;

/*
 * Whether the peer @restores the order of what a flow that asks for it sends. That
 * ends with its job, or module: then the flow is whole at once.
 */
static __always_inline void note_restores(const struct rocesteer_flow_key *key,
					  struct rocesteer_flow_path *flow,
					  bool restores)
{
	__u32 flags = flow->flags;

	if (!(flags & ROCESTEER_FLOW_ASKS) ||
	    !(flags & ROCESTEER_FLOW_ORDERED) == !restores)
		return;
	if (restores) {
		__sync_fetch_and_or(&flow->flags, ROCESTEER_FLOW_ORDERED);
		if (flags & ROCESTEER_FLOW_SHARE)
			spread(flow, find_group(key, flow->job, flow->leaf),
			       find_peer(key, flow->job));
	} else {
		__sync_fetch_and_and(&flow->flags, ~ROCESTEER_FLOW_ORDERED);
		flow->nr_pieces = 1;
	}
	tell(new_event(ROCESTEER_EVENT_ORDERED, key, flow, 0));
}

/**
 * note_ack() - an acknowledgment was received, or a READ request
 * @skb: the packet
 * @pkt: parsed, as received
 *
 * It names the local queue pair; which flow that sends only the module knows.
 */
static __always_inline void note_ack(struct __sk_buff *skb,
				     const struct packet *pkt)
{
	struct rocesteer_flow_key key = pkt->key;
	struct rocesteer_flow_path *flow;
	struct rocesteer_psns *psns;
	__s64 dqpn;

	if (!rs_use_module || !bpf_ksym_exists(bpf_rocesteer_flow_dqpn))
		return;
	dqpn = bpf_rocesteer_flow_dqpn(skb, &key, sizeof(key));
	if (dqpn < 0)
		return;
	key.dqpn = dqpn;
	flow = bpf_map_lookup_elem(&rs_flows, &key);
	/* READ requests come before the first packet is sent. */
	if (!flow && pkt->restores && enter_packet(skb, &key) == FURTHER)
		flow = bpf_map_lookup_elem(&rs_flows, &key);
	if (!flow)
		return;
	note_restores(&key, flow, pkt->restores);
	if (pkt->opcode != ROCESTEER_OP_RC_ACK)
		return;
	psns = &flow->psns[ROCESTEER_REQUESTS];
	switch (pkt->syndrome & ROCESTEER_AETH_TYPE) {
	case ROCESTEER_AETH_ACK:
		flow->acked = pkt->psn;
		psn_acked(psns, (pkt->psn + 1) & ROCESTEER_PSN_MASK);
		break;
	case ROCESTEER_AETH_RNR:
		psn_asked(psns, pkt->psn, true);
		break;
	default:
		psn_asked(psns, pkt->psn, false);
	}
}

/* Has the peer acknowledged all requests? Where it cannot be known, yes. */
static __always_inline bool is_idle(const struct rocesteer_flow_path *flow)
{
	if (flow->acked == ROCESTEER_PSN_NONE)
		return !(flow->flags & ROCESTEER_FLOW_ASKS);
	return ((flow->acked + 1) & ROCESTEER_PSN_MASK) ==
	       flow->psns[ROCESTEER_REQUESTS].next;
}

/* Let a whole flow go where it shall, now that it overtakes nothing. */
static __always_inline void move_idle(struct rocesteer_flow_path *flow)
{
	if (!flow->next.end || !is_idle(flow))
		return;
	flow->piece[0] = flow->next;
	flow->next.end = 0;
}

#endif /* ACK_BPF_H */
