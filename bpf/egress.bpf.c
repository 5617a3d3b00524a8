// SPDX-License-Identifier: GPL-2.0
/*
 * On TCX at egress: gives every packet of a job's RC flows the UDP source port of its
 * path: that of the whole flow, or of the piece of the flow that the packet is in.
 *
 * A flow that is tagged while it sends changes its path once, and may be received out
 * of order that once.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "lib/move.bpf.h"
#include "lib/detour.bpf.h"
#include "lib/handover.bpf.h"
#include "lib/pieces.bpf.h"
#include "lib/psn.bpf.h"
#include "lib/sport.bpf.h"

/* K of every UDP length, see rocesteer/icrc.h; user space fills it. */
const volatile __u32 rs_icrc[ROCESTEER_ICRC_WORDS];

/* The sixteen steps are verified once. */
__noinline __u32 icrc_compute(__u32 v, __u32 word)
{
	return word < ROCESTEER_ICRC_WORDS ?
	       rocesteer_icrc_delta(v, rs_icrc[word]) : 0;
}

/* One XOR where the last packet on the path had the same length and port. */
static __always_inline __u32 icrc_delta(volatile __u64 *icrc, __u16 v,
					__u32 udp_len)
{
	__u64 cache = *icrc;
	__u32 tag = udp_len << 16 | v;
	__u32 delta;

	if ((__u32)cache == tag)
		return cache >> 32;
	delta = icrc_compute(v, udp_len / 4);
	*icrc = (__u64)delta << 32 | tag;
	return delta;
}

/*
 * rocesteer_egress does what most packets need. Another program goes on with the rest.
 *
 * TAIL_WRITE: the packet has to be changed. TAIL_PARSE: the frame is not linear, or not plain
 * IPv4. TAIL_NEW_FLOW: the flow, or its sender, is not known, or the flow has no share. TAIL_SLOW:
 * the PSN was sent before, or rocesteer_parse or rocesteer_new_flow is done.
 */
enum {
	TAIL_WRITE,
	TAIL_PARSE,
	TAIL_NEW_FLOW,
	TAIL_SLOW,
	TAIL_MAX,
};

int rocesteer_write(struct __sk_buff *skb);
int rocesteer_parse(struct __sk_buff *skb);
int rocesteer_new_flow(struct __sk_buff *skb);
int rocesteer_slow(struct __sk_buff *skb);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, TAIL_MAX);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__uint(key_size, sizeof(__u32));
	__array(values, int (struct __sk_buff *));
} rs_tail_calls SEC(".maps") = {
	.values = {
		[TAIL_WRITE] = (void *)&rocesteer_write,
		[TAIL_PARSE] = (void *)&rocesteer_parse,
		[TAIL_NEW_FLOW] = (void *)&rocesteer_new_flow,
		[TAIL_SLOW] = (void *)&rocesteer_slow,
	},
};

/* What steer() returns instead of a verdict: the program that goes on */
#define TAIL(go)	(-1 - (go))

static __always_inline int count_verdict(int verdict)
{
	count(&rs_verdicts, verdict < 0 ? ROCESTEER_VERDICT_REWRITE_FAILED : verdict,
	      ROCESTEER_VERDICT_MAX);
	return TCX_NEXT;
}

/* Likewise, verified once whatever the verdict may be, but slower. */
__noinline int count_slow_verdict(int verdict)
{
	return count_verdict(verdict);
}

/*
 * The change of one packet, handed to rocesteer_write in skb->cb: writing to
 * packets directly is several times as fast as bpf_skb_store_bytes(), but makes
 * the kernel unshare every packet the program sees. In a program of its own it
 * does so for those that are steered, and foreign traffic stays untouched.
 */
enum {
	CB_L4_OFF,
	CB_ICRC_OFF,
	CB_ICRC_XOR,
	CB_SPORT,	/* network order */
	CB_DQPN,	/* bits of the BTH's dqpn that are set */
};

SEC("tcx/egress")
int rocesteer_write(struct __sk_buff *skb)
{
	bool written = write_sport(skb, skb->cb[CB_L4_OFF], skb->cb[CB_ICRC_OFF],
				   skb->cb[CB_SPORT], skb->cb[CB_ICRC_XOR],
				   skb->cb[CB_DQPN]);

	return count_verdict(written ? ROCESTEER_VERDICT_STEERED :
					ROCESTEER_VERDICT_REWRITE_FAILED);
}

/* Keep account of what is sent on a path. */
static __always_inline void count_sent(struct rocesteer_sent *sent, __u32 len)
{
	__sync_fetch_and_add(&sent->packets, 1);
	__sync_fetch_and_add(&sent->bytes, len);
}

/* What became of the plan for a queue pair. */
__noinline int check_port(struct rocesteer_flow_path *flow, __u32 sport,
			  __u32 len)
{
	__u32 path;

	if (!flow)	/* global functions are verified on their own */
		return ROCESTEER_VERDICT_UNASSIGNED;
	path = flow->piece[0].path;
	barrier_var(path);
	if (path < ROCESTEER_MAX_PATHS)
		count_sent(&flow->sent[path], len);
	return sport == flow->piece[0].sport ? ROCESTEER_VERDICT_ON_PLAN :
					       ROCESTEER_VERDICT_OFF_PLAN;
}

/*
 * A number through the context, from where it comes back as one that the verifier
 * knows nothing of: what follows is verified once, however the number came about.
 */
static __always_inline __u32 forget_range(struct __sk_buff *skb, __u32 number)
{
	volatile __u32 *cb = skb->cb;

	*cb = number;
	return *cb;
}

/* The packet goes by this piece of its flow. Return: as steer(). */
static __always_inline int take_piece(struct __sk_buff *skb,
				      const struct packet *pkt,
				      struct rocesteer_flow_path *flow, __u32 i,
				      __u32 bits)
{
	__u32 way = find_way(flow, i), path = way >> 16;
	struct rocesteer_sent *sent;
	__be16 sport = way;

	barrier_var(path);	/* or clang checks another copy than it uses */
	if (path >= ROCESTEER_MAX_PATHS || !sport)
		return ROCESTEER_VERDICT_NO_PATH;
	sent = &flow->sent[path];
	count_sent(sent, skb->len);
	if (pkt->sport == sport && !bits)
		return ROCESTEER_VERDICT_STEERED;
	skb->cb[CB_L4_OFF] = pkt->l4_off;
	skb->cb[CB_ICRC_OFF] = pkt->l4_off + pkt->udp_len - ROCESTEER_ICRC_SIZE;
	skb->cb[CB_ICRC_XOR] = icrc_delta(&sent->icrc, pkt->sport ^ sport,
					  pkt->udp_len);
	skb->cb[CB_SPORT] = sport;
	skb->cb[CB_DQPN] = bits;
	return TAIL(TAIL_WRITE);
}

/* psn_note(), verified once */
__noinline __u32 note_psn(struct rocesteer_psns *psns, __u32 psn)
{
	return psns ? psn_note(psns, psn) : 0;
}

/* Find the path of a packet of a flow. Return: as steer(). */
static __always_inline int steer_flow(struct __sk_buff *skb,
				      const struct packet *pkt,
				      struct rocesteer_flow_path *flow, bool rare)
{
	__u32 bits, seq, i = 0, rounds = 0;
	struct rocesteer_psns *psns;

	seq = forget_range(skb, is_response(pkt)) % ROCESTEER_PSNS_MAX;
	psns = &flow->psns[seq];
	if (!rare && !is_nak(pkt) && !psn_is_new(psns, pkt->psn))
		return TAIL(TAIL_SLOW);
	flow->idle = 0;
	if (is_ack(pkt)) {
		bits = flow->flags & ROCESTEER_FLOW_LOCAL_RESEQ ?
		       rs_bth_paths << ROCESTEER_BTH_SHIFT : 0;
	} else {
		if (flow->next.end && may_move(flow, coarse_now()))
			move(flow);
		bits = rocesteer_bth_paths(rs_bth_paths, flow->nr_pieces - 1 -
							 flow->detour.shared);
		i = rare ? search_piece(flow, pkt->psn) :
			   find_piece(flow, pkt->psn);
	}
	bits = forget_range(skb, bits | i);
	i = bits % ROCESTEER_MAX_PATHS;
	bits &= ROCESTEER_BTH_RESV6 << ROCESTEER_BTH_SHIFT;
	if (rare && !is_nak(pkt))
		rounds = note_psn(psns, pkt->psn);
	else if (!is_nak(pkt))
		psn_advance(psns, pkt->psn);
	if (rounds)
		note_round(&pkt->key, flow, i, rounds, seq);
	if (seq == ROCESTEER_RESPONSES)
		flow->responded = coarse_now();
	return take_piece(skb, pkt, flow, i, bits);
}

/**
 * steer() - what becomes of a packet
 * @skb: the packet
 * @pkt: parsed
 * @rare: in rocesteer_slow
 * @met: rocesteer_new_flow has seen it
 *
 * Return: the verdict, or TAIL().
 */
static __always_inline int steer(struct __sk_buff *skb, const struct packet *pkt,
				 bool rare, bool met)
{
	struct rocesteer_flow_path *flow;

	if (!is_rc(pkt))
		return ROCESTEER_VERDICT_NOT_RC;
	flow = bpf_map_lookup_elem(&rs_flows, &pkt->key);
	if (!flow) {
		if (met)
			return ROCESTEER_VERDICT_UNASSIGNED;
		if (!(__u32)flow_job(skb, &pkt->key))
			return ROCESTEER_VERDICT_UNTAGGED;
		return TAIL(TAIL_NEW_FLOW);
	}
	if (!met && !is_sender(skb, &flow->sender))
		return TAIL(TAIL_NEW_FLOW);
	if (flow->flags & ROCESTEER_FLOW_QP)
		return check_port(flow, pkt->sport, skb->len);
	if (!met && !(flow->flags & ROCESTEER_FLOW_SHARE) && !is_ack(pkt))
		return TAIL(TAIL_NEW_FLOW);
	return steer_flow(skb, pkt, flow, rare);
}

SEC("tcx/egress")
int rocesteer_egress(struct __sk_buff *skb)
{
	struct packet pkt;
	int verdict;

	verdict = parse_plain(skb, &pkt, false);
	if (verdict == NOT_PLAIN) {
		bpf_tail_call_static(skb, &rs_tail_calls, TAIL_PARSE);
		verdict = ROCESTEER_VERDICT_FOREIGN;	/* being unloaded */
	}
	if (verdict != CONTINUE)
		return count_verdict(verdict);
	verdict = steer(skb, &pkt, false, false);
	if (verdict == TAIL(TAIL_WRITE))
		bpf_tail_call_static(skb, &rs_tail_calls, TAIL_WRITE);
	if (verdict >= 0)
		return count_verdict(verdict);
	hand_over(HANDOVER_EGRESS, &pkt);
	if (verdict == TAIL(TAIL_NEW_FLOW))
		bpf_tail_call_static(skb, &rs_tail_calls, TAIL_NEW_FLOW);
	else
		bpf_tail_call_static(skb, &rs_tail_calls, TAIL_SLOW);
	return count_verdict(verdict);
}

SEC("tcx/egress")
int rocesteer_parse(struct __sk_buff *skb)
{
	struct packet pkt;
	int verdict = parse_any(skb, &pkt, false);

	if (verdict == CONTINUE) {
		hand_over(HANDOVER_EGRESS, &pkt);
		bpf_tail_call_static(skb, &rs_tail_calls, TAIL_SLOW);
	}
	return count_verdict(verdict);
}

SEC("tcx/egress")
int rocesteer_slow(struct __sk_buff *skb)
{
	struct handover *h = find_handover(HANDOVER_EGRESS);
	int verdict = h ? steer(skb, &h->pkt, true, h->met) :
			  ROCESTEER_VERDICT_REWRITE_FAILED;

	if (verdict == TAIL(TAIL_WRITE))
		bpf_tail_call_static(skb, &rs_tail_calls, TAIL_WRITE);
	if (verdict == TAIL(TAIL_NEW_FLOW))
		bpf_tail_call_static(skb, &rs_tail_calls, TAIL_NEW_FLOW);
	return count_slow_verdict(verdict);
}

SEC("tcx/egress")
int rocesteer_new_flow(struct __sk_buff *skb)
{
	struct handover *h = find_handover(HANDOVER_EGRESS);
	int verdict = h ? meet_packet(skb, &h->pkt.key) : ROCESTEER_VERDICT_REWRITE_FAILED;
	struct rocesteer_flow_path *flow;

	if (verdict != CONTINUE)
		return count_slow_verdict(verdict);
	flow = bpf_map_lookup_elem(&rs_flows, &h->pkt.key);
	if (flow && !(flow->flags & ROCESTEER_FLOW_QP) && !is_ack(&h->pkt))
		take_share(&h->pkt.key);
	h->met = true;
	bpf_tail_call_static(skb, &rs_tail_calls, TAIL_SLOW);
	return count_slow_verdict(ROCESTEER_VERDICT_REWRITE_FAILED);
}
