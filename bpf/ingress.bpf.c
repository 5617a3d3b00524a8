// SPDX-License-Identifier: GPL-2.0
/*
 * On TCX at ingress: counts packets that arrive, and notes acknowledgments in the flow of the
 * queue pair that they are for.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "lib/deal.bpf.h"
#include "lib/handover.bpf.h"
#include "lib/psn.bpf.h"
#include "lib/repair.bpf.h"

/* kmod/steer/kfunc.c */
extern __s64 bpf_rocesteer_flow_dqpn(struct __sk_buff *skb,
				     const struct rocesteer_flow_key *key,
				     __u32 key__sz) __ksym __weak;

/**
 * note_peer_reseq() - the peer of a flow begins to resequence the flow, or ceases to
 * @key: the flow
 * @reseq: the peer resequences it
 *
 * The peer ceases when its job or its module goes: then the flow is whole at once.
 *
 * Return: 0, or -1 where the flow is no more.
 */
__noinline int note_peer_reseq(const struct rocesteer_flow_key *key, bool reseq)
{
	struct rocesteer_flow_path *flow;
	struct rocesteer_ports ports;
	__u64 state = 0;

	flow = key ? find_flow(key, &state) : NULL;
	if (!flow)
		return -1;
	if (!change_flags(flow, &state, reseq ? 0 : ROCESTEER_FLOW_PEER_RESEQ,
			  reseq ? ROCESTEER_FLOW_PEER_RESEQ : 0))
		return -1;
	if (!reseq)
		set_nr_pieces(flow, 1);
	else if (state & ROCESTEER_FLOW_SHARE && !copy_ports(key, flow, &ports))
		spread(flow, find_group(key, flow->job, flow->leaf), &ports);
	notify_flow(ROCESTEER_EVENT_PEER_RESEQ, key, flow, 0);
	return 0;
}

/* Return: whether the packet ends the response to a READ or an atomic. */
static __always_inline bool is_answer(const struct packet *pkt)
{
	return pkt->opcode == ROCESTEER_OP_RC_READ_LAST ||
	       pkt->opcode == ROCESTEER_OP_RC_READ_ONLY ||
	       pkt->opcode == ROCESTEER_OP_RC_ATOMIC_ACK;
}

/* Return: whether the packet tells anything about the local queue pair's own flow. */
static __always_inline bool concerns_flow(const struct packet *pkt)
{
	return pkt->opcode == ROCESTEER_OP_RC_ACK || pkt->opcode == ROCESTEER_OP_CNP ||
	       pkt->opcode == ROCESTEER_OP_RC_READ || is_answer(pkt);
}

/* Note the progress of the requests that an answer tells. */
static __always_inline void note_answer(struct rocesteer_flow_path *flow,
					const struct packet *pkt, __u32 psn)
{
	const struct rocesteer_psns *psns = &flow->psns[ROCESTEER_REQUESTS];
	struct rocesteer_resent *resent = &flow->resent[ROCESTEER_REQUESTS];
	bool silent;

	switch (pkt->syndrome & ROCESTEER_AETH_TYPE) {
	case ROCESTEER_AETH_ACK:
		flow->acked = psn;
		psn_acked(resent, (psn + 1) & ROCESTEER_PSN_MASK);
		flow->late += !!pkt->late;
		break;
	case ROCESTEER_AETH_RNR:
		psn_asked(psns, resent, psn, true, false);
		break;
	default:
		silent = pkt->late == 1 && is_of_pieces(flow, psn);
		begin_repair(flow, psn, silent);
		psn_asked(psns, resent, psn, false, silent);
	}
}

/*
 * Return: whether the peer's READ request can have this PSN. Before this end has sent anything,
 * each PSN is accepted: the request may say that the peer resequences.
 */
static __always_inline bool may_ask(const struct rocesteer_flow_path *flow,
				    __u32 psn)
{
	return psn_continues(&flow->psns[ROCESTEER_RESPONSES], psn) ||
	       (flow->psns[ROCESTEER_RESPONSES].next == ROCESTEER_PSN_NONE &&
		flow->psns[ROCESTEER_REQUESTS].next == ROCESTEER_PSN_NONE);
}

/**
 * note_ack() - an acknowledgment was received, a READ request, or its last data
 * @skb: the packet
 * @pkt: parsed, with the flow that the local queue pair sends
 * @change: also where the flow is not known yet, or the peer says another thing of its
 *	order than before
 *
 * Anybody can send an acknowledgment in the peer's name: it is believed where its PSN fits.
 *
 * Return: whether it takes @change.
 */
static __always_inline bool note_ack(struct __sk_buff *skb,
				     const struct packet *pkt, bool change)
{
	const struct rocesteer_flow_key *key = &pkt->key;
	bool asks = pkt->opcode == ROCESTEER_OP_RC_READ;
	struct rocesteer_flow_path *flow;
	__u32 psn = ROCESTEER_PSN_NONE;

	flow = bpf_map_lookup_elem(&rs_flows, key);
	if (pkt->opcode == ROCESTEER_OP_CNP) {
		if (flow)
			__sync_fetch_and_add(&flow->cnps, 1);
		return false;
	}
	/* READ requests come before the first packet is sent. */
	if (!flow && pkt->reseq && asks) {
		if (!change)
			return true;
		if (enter_packet(skb, pkt, true) == CONTINUE)
			flow = bpf_map_lookup_elem(&rs_flows, key);
	}
	if (!flow)
		return false;
	if (!asks)
		psn = psn_answers(&flow->psns[ROCESTEER_REQUESTS], pkt->psn,
				  is_answer(pkt));
	else if (may_ask(flow, pkt->psn))
		psn = pkt->psn;
	if (psn == ROCESTEER_PSN_NONE)
		return false;
	if (!is_answer(pkt) && flow->flags & ROCESTEER_FLOW_RESEQ_AUTO &&
	    !(flow->flags & ROCESTEER_FLOW_PEER_RESEQ) == pkt->reseq) {
		if (!change)
			return true;
		note_peer_reseq(key, pkt->reseq);
	}
	if (!asks)
		note_answer(flow, pkt, psn);
	return false;
}

/*
 * From the local queue pair to the flow that it sends, which only the module knows.
 * Return: whether there is one.
 */
static __always_inline bool find_sent_flow(struct __sk_buff *skb,
					   struct rocesteer_flow_key *key)
{
	__s64 dqpn;

	if (!rs_use_module || !bpf_ksym_exists(bpf_rocesteer_flow_dqpn))
		return false;
	dqpn = bpf_rocesteer_flow_dqpn(skb, key, sizeof(*key));
	if (dqpn < 0)
		return false;
	key->dqpn = dqpn;
	return true;
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

int rocesteer_peer_reseq(struct __sk_buff *skb);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__uint(key_size, sizeof(__u32));
	__array(values, int (struct __sk_buff *));
} rs_peer_reseq SEC(".maps") = {
	.values = { (void *)&rocesteer_peer_reseq },
};

SEC("tcx/ingress")
int rocesteer_ingress(struct __sk_buff *skb)
{
	const struct plain_frame *frame;
	struct packet pkt;
	int verdict;

	frame = find_plain(skb, &verdict);
	if (frame)
		read_plain(&pkt, frame, true);
	else if (verdict != CONTINUE || parse_any(skb, &pkt, true) != CONTINUE)
		return TCX_NEXT;
	count(&rs_observed, classify(&pkt), ROCESTEER_OBSERVED_MAX);
	if (!concerns_flow(&pkt))
		return TCX_NEXT;
	if (frame)
		plain_key(&pkt.key, skb, frame, true);
	if (find_sent_flow(skb, &pkt.key) && note_ack(skb, &pkt, false)) {
		if (frame)
			plain_source(&pkt, frame, true);
		hand_over(HANDOVER_INGRESS, &pkt, 0);
		bpf_tail_call_static(skb, &rs_peer_reseq, 0);
	}
	return TCX_NEXT;
}

/* The peer begins to resequence a flow, or ceases to. */
SEC("tcx/ingress")
int rocesteer_peer_reseq(struct __sk_buff *skb)
{
	struct handover *h = find_handover(HANDOVER_INGRESS);

	if (h)
		note_ack(skb, &h->pkt, true);
	return TCX_NEXT;
}
