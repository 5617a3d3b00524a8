// SPDX-License-Identifier: GPL-2.0
/*
 * On TCX at egress: gives every packet of a job's RC flows the UDP source port of the path of
 * the flow, or of the piece of the flow that the packet is in.
 *
 * A flow that sends already when its job comes changes its path once, and may be received out
 * of order at that moment.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "lib/move.bpf.h"
#include "lib/detour.bpf.h"
#include "lib/handover.bpf.h"
#include "lib/pieces.bpf.h"
#include "lib/psn.bpf.h"
#include "lib/repair.bpf.h"
#include "lib/sport.bpf.h"
#include "lib/tags.bpf.h"

/* Of every UDP length, see rocesteer/icrc.h; user space fills it. */
__u32 rs_icrc[ROCESTEER_ICRC_WORDS][ROCESTEER_ICRC_TABLE] __attribute__((aligned(64)));

/*
 * rocesteer_egress is enough for most packets. Another program goes on with the rest.
 *
 * TAIL_WRITE: the packet has to be changed. TAIL_WRITE_TAGGED: likewise, and it is tagged.
 * TAIL_PARSE: the frame is not plain.
 * TAIL_NEW_FLOW: the flow, or its sender, is not known, or the flow has no share.
 * TAIL_SLOW: the PSN was sent before, or rocesteer_parse or rocesteer_new_flow is done.
 * TAIL_OBSERVE: likewise, and the flow is observed.
 */
enum {
	TAIL_WRITE,
	TAIL_WRITE_TAGGED,
	TAIL_PARSE,
	TAIL_NEW_FLOW,
	TAIL_SLOW,
	TAIL_OBSERVE,
	TAIL_MAX,
};

int rocesteer_write(struct __sk_buff *skb);
int rocesteer_write_tagged(struct __sk_buff *skb);
int rocesteer_parse(struct __sk_buff *skb);
int rocesteer_new_flow(struct __sk_buff *skb);
int rocesteer_slow(struct __sk_buff *skb);
int rocesteer_observe(struct __sk_buff *skb);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, TAIL_MAX);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__uint(key_size, sizeof(__u32));
	__array(values, int (struct __sk_buff *));
} rs_tail_calls SEC(".maps") = {
	.values = {
		[TAIL_WRITE] = (void *)&rocesteer_write,
		[TAIL_WRITE_TAGGED] = (void *)&rocesteer_write_tagged,
		[TAIL_PARSE] = (void *)&rocesteer_parse,
		[TAIL_NEW_FLOW] = (void *)&rocesteer_new_flow,
		[TAIL_SLOW] = (void *)&rocesteer_slow,
		[TAIL_OBSERVE] = (void *)&rocesteer_observe,
	},
};

/* Go on in another program. Return: the verdict where that program is unloaded. */
static __always_inline int go_on(struct __sk_buff *skb, __u32 tail)
{
	bpf_tail_call_static(skb, &rs_tail_calls, tail);
	return ROCESTEER_VERDICT_REWRITE_FAILED;
}

static __always_inline int count_verdict(int verdict)
{
	count(&rs_verdicts, verdict, ROCESTEER_VERDICT_MAX);
	return TCX_NEXT;
}

/* count_verdict(), verified once for all verdicts, but slower */
__noinline int count_slow_verdict(int verdict)
{
	return count_verdict(verdict);
}

/*
 * The change of one packet, handed to rocesteer_write in skb->cb. A program that writes to
 * packets directly is several times as fast as bpf_skb_store_bytes(), but the kernel
 * unshares every packet before the program runs. So only steered packets get there.
 */
enum {
	CB_L4_OFF,
	CB_UDP_LEN,
	CB_SPORT_XOR,	/* port that it has ^ port that it gets */
	CB_SPORT = CB_MARKED,	/* network order; the mark of tag_request() is above it */
	CB_DQPN,	/* bits of the BTH's dqpn that are set, in network order */
};

/* count_verdict(ROCESTEER_VERDICT_STEERED), without an index that has to be checked */
static __always_inline int count_steered(void)
{
	__u32 zero = 0;
	struct rocesteer_verdicts *verdicts = bpf_map_lookup_elem(&rs_verdicts, &zero);

	if (verdicts)
		verdicts->steered++;
	return TCX_NEXT;
}

static __always_inline int write_packet(struct __sk_buff *skb)
{
	__u32 l4_off = skb->cb[CB_L4_OFF], udp_len = skb->cb[CB_UDP_LEN], word = udp_len / 4;
	__u32 delta;

	barrier_var(word);	/* make clang index with the register that it checked */
	if (word >= ROCESTEER_ICRC_WORDS)
		return count_verdict(ROCESTEER_VERDICT_REWRITE_FAILED);
	delta = rocesteer_icrc_sum(rs_icrc[word], skb->cb[CB_SPORT_XOR]);
	barrier_var(delta);	/* or clang keeps its four words apart */
	if (write_sport(skb, l4_off, l4_off + udp_len - ROCESTEER_ICRC_SIZE, skb->cb[CB_SPORT],
			delta, skb->cb[CB_DQPN]))
		return count_steered();
	return count_verdict(ROCESTEER_VERDICT_REWRITE_FAILED);
}

SEC("tcx/egress")
int rocesteer_write(struct __sk_buff *skb)
{
	return write_packet(skb);
}

/* The same, and the DSCP: the packet is tagged, and in a plain frame. */
SEC("tcx/egress")
int rocesteer_write_tagged(struct __sk_buff *skb)
{
	struct iphdr *ip = (void *)(long)skb->data + ETH_HLEN;
	__u32 dscp = skb->cb[CB_SPORT] >> CB_MARK_SHIFT & CB_MARK_DSCP;

	if (dscp != ROCESTEER_NO_DSCP && (void *)(ip + 1) <= (void *)(long)skb->data_end)
		set_dscp(ip, dscp);
	return write_packet(skb);
}

/*
 * Atomic, as a queue pair sends requests by one task and responses by another. User
 * space takes a counter that falls for one of a new flow. Return: whether there is such a path.
 */
static __always_inline bool count_sent(struct rocesteer_flow_path *flow, __u32 path, __u32 len)
{
	struct rocesteer_sent *sent = &flow->first;

	barrier_var(path);	/* make clang index with the register that it checked */
	if (path != flow->first_path) {
		if (path >= ROCESTEER_MAX_PATHS)
			return false;
		sent = &flow->sent[path];
	}
	__sync_fetch_and_add(&sent->packets, 1);
	__sync_fetch_and_add(&sent->bytes, len);
	return true;
}

/* Compare the port of a queue pair that is steered by its label with the planned one. */
__noinline int check_port(struct rocesteer_flow_path *flow, __u32 sport,
			  __u32 len)
{
	if (!flow)	/* global functions are verified on their own */
		return ROCESTEER_VERDICT_UNASSIGNED;
	count_sent(flow, flow->piece[0].path, len);
	return sport == flow->piece[0].sport ? ROCESTEER_VERDICT_ON_PLAN :
					       ROCESTEER_VERDICT_OFF_PLAN;
}

/* Hand the change of a packet over. Arguments: as of take_route() */
static __always_inline void set_change(struct __sk_buff *skb, __be16 to, __be16 sport,
				       __u32 l4_off, __u32 udp_len, __be32 bits)
{
	skb->cb[CB_L4_OFF] = l4_off;
	skb->cb[CB_UDP_LEN] = udp_len;
	skb->cb[CB_SPORT_XOR] = sport ^ to;
	skb->cb[CB_SPORT] = to;
	skb->cb[CB_DQPN] = bits;
}

/**
 * take_route() - let a packet leave by a route
 * @skb: the packet
 * @flow: its flow
 * @route: from find_route()
 * @sport: source port that it has
 * @l4_off: offset of its UDP header
 * @udp_len: length of its UDP datagram
 * @bits: of the BTH's dqpn that are set, in network order
 *
 * Return: the verdict, unless rocesteer_write goes on.
 */
static __always_inline int take_route(struct __sk_buff *skb, struct rocesteer_flow_path *flow,
				      struct route route, __be16 sport, __u32 l4_off,
				      __u32 udp_len, __be32 bits)
{
	if (!route.sport || !count_sent(flow, route.path, skb->len))
		return rarely(ROCESTEER_VERDICT_NO_PATH);
	if (sport == route.sport && !bits)
		return rarely(ROCESTEER_VERDICT_STEERED);
	set_change(skb, route.sport, sport, l4_off, udp_len, bits);
	return go_on(skb, TAIL_WRITE);
}

/*
 * Bits of the BTH's dqpn, in network order, by which an acknowledgment says that this end
 * resequences. @said: by tell_answers(). Without a branch, which the verifier would follow twice.
 */
static __always_inline __be32 ack_bits(const struct rocesteer_flow_path *flow, __be32 said)
{
	__u32 reseq = flow->flags / ROCESTEER_FLOW_LOCAL_RESEQ & 1;

	barrier_var(reseq);
	return -reseq & said;
}

/* Move a whole flow that waits to move, where the packet overtakes nothing. */
static __always_inline void move_if_idle(struct rocesteer_flow_path *flow)
{
	if (flow->next.end && may_move(flow, coarse_now()))
		move(flow);
}

/*
 * A packet of a plain frame. What the packet says is read where it is needed: a value that
 * is kept across a call is stored and loaded again.
 */
static __always_inline int take_plain_route(struct __sk_buff *skb,
					    const struct plain_frame *frame,
					    struct rocesteer_flow_path *flow,
					    struct route route, __be32 bits)
{
	return take_route(skb, flow, route, frame->roce.udp.source, PLAIN_L4_OFF,
			  plain_udp_len(frame), bits);
}

/*
 * The same for a request of a flow whose packets are tagged. What is not in skb->cb is done before
 * the tag is looked for: the verifier follows what comes next once.
 */
static __always_inline int take_tagged_route(struct __sk_buff *skb,
					     const struct plain_frame *frame,
					     const struct rocesteer_flow_key *key,
					     struct rocesteer_flow_path *flow,
					     struct route route, __be32 bits)
{
	if (!route.sport || !count_sent(flow, route.path, skb->len))
		return rarely(ROCESTEER_VERDICT_NO_PATH);
	set_change(skb, route.sport, frame->roce.udp.source, PLAIN_L4_OFF,
		   plain_udp_len(frame), bits);
	if (tag_request(skb, key, flow, frame->roce.bth.opcode, read_psn(&frame->roce)))
		return go_on(skb, TAIL_WRITE_TAGGED);
	return go_on(skb, TAIL_WRITE);
}

/*
 * Steer a request. @varies: the flow has ROCESTEER_FLOW_VARIES; @tagged: ROCESTEER_FLOW_TAGGED.
 * Return: as steer().
 */
static __always_inline int steer_request(struct __sk_buff *skb, const struct plain_frame *frame,
					 const struct rocesteer_flow_key *key,
					 struct rocesteer_flow_path *flow, bool varies, bool tagged)
{
	struct rocesteer_psns *psns = &flow->psns[ROCESTEER_REQUESTS];
	__u32 psn = read_psn(&frame->roce), i = 0;
	__be32 bits = 0;
	struct route route;

	if (psn_before(psn, psns->next))
		return rarely(GO_SLOW);
	psn_advance(psns, psn);
	flow->idle = 0;
	if (!varies) {
		route = piece_route(flow, 0);
	} else {
		if (flow->nr_pieces > 1)
			i = find_piece(flow, psn);
		else
			move_if_idle(flow);
		route = find_route(flow, i);
		bits = flow->bth_paths;
	}
	if (tagged)
		return take_tagged_route(skb, frame, key, flow, route, bits);
	return take_plain_route(skb, frame, flow, route, bits);
}

/* Steer a response. Return: as steer(). */
static __always_inline int steer_response(struct __sk_buff *skb, const struct plain_frame *frame,
					  struct rocesteer_flow_path *flow, __be32 said)
{
	struct rocesteer_psns *psns = &flow->psns[ROCESTEER_RESPONSES];
	__u32 psn = read_psn(&frame->roce), i = 0;
	__u8 opcode = frame->roce.bth.opcode;
	__be32 bits;

	if (!opcode_is_nak(opcode, frame->roce.syndrome)) {
		if (psn_before(psn, psns->next))
			return rarely(GO_SLOW);
		psn_advance(psns, psn);
	}
	flow->idle = 0;
	flow->responded = coarse_now();
	if (opcode_is_ack(opcode)) {
		bits = ack_bits(flow, said);
	} else {
		move_if_idle(flow);
		bits = flow->bth_paths;
		i = find_piece(flow, psn);
	}
	return take_plain_route(skb, frame, flow, find_route(flow, i), bits);
}

/*
 * Count a packet that leaves as it came on the path that its port takes. While nobody knows the
 * path, that is what rocesteer_set_flow() counts elsewhere later.
 */
static __always_inline int count_observed(struct rocesteer_flow_path *flow, __u32 len)
{
	count_sent(flow, flow->piece[0].path, len);
	flow->idle = 0;
	return ROCESTEER_VERDICT_OBSERVED;
}

/*
 * A packet of a queue pair that is steered by its label, or of an observed flow, which is counted
 * unless it is a NAK, or its PSN was sent before. An acknowledgment needs no share. @kind: the
 * opcode in bits 7..0, the syndrome above. Return: as steer().
 */
__noinline int keep_port(struct rocesteer_flow_path *flow, __u32 kind, __u32 sport, __u32 psn,
			 __u32 len)
{
	struct rocesteer_psns *psns;
	__u8 opcode = kind;
	bool response;

	if (!flow)	/* global functions are verified on their own */
		return ROCESTEER_VERDICT_UNASSIGNED;
	if (flow->flags & ROCESTEER_FLOW_QP)
		return check_port(flow, sport, len);
	if (sport != flow->piece[0].sport || opcode_is_nak(opcode, kind >> 8) ||
	    (!(flow->flags & ROCESTEER_FLOW_SHARE) && !opcode_is_ack(opcode)))
		return GO_SLOW;
	response = opcode >= ROCESTEER_OP_RC_RESPONSE && opcode <= ROCESTEER_OP_RC_ATOMIC_ACK;
	psns = &flow->psns[response];
	if (psn_before(psn, psns->next))
		return GO_SLOW;
	psn_advance(psns, psn);
	if (response)
		flow->responded = coarse_now();
	return count_observed(flow, len);
}

/**
 * steer() - steer a packet whose flow and sender are known, and whose PSN is new
 * @skb: the packet
 * @frame: its frame
 * @key: its flow
 * @said: by tell_answers()
 *
 * Return: the verdict; GO_NEW_FLOW, GO_SLOW.
 */
static __always_inline int steer(struct __sk_buff *skb, const struct plain_frame *frame,
				 const struct rocesteer_flow_key *key, __be32 said)
{
	const struct sock___sender *sk = packet_socket(skb);
	struct rocesteer_flow_path *flow;
	__u32 flags;
	__u8 opcode;

	if (!sk)
		return rarely(GO_NEW_FLOW);
	if (is_jobless(sk, key))
		return rarely(ROCESTEER_VERDICT_UNTAGGED);
	flow = bpf_map_lookup_elem(&rs_flows, key);
	if (!flow || !is_sender(sk, flow->sender))
		return rarely(GO_NEW_FLOW);
	flags = flow->flags & (ROCESTEER_FLOW_QP | ROCESTEER_FLOW_SHARE | ROCESTEER_FLOW_VARIES |
			       ROCESTEER_FLOW_OBSERVED | ROCESTEER_FLOW_TAGGED);
	opcode = frame->roce.bth.opcode;
	if (opcode < ROCESTEER_OP_RC_RESPONSE || opcode > ROCESTEER_OP_RC_ATOMIC_ACK) {
		if (flags == ROCESTEER_FLOW_SHARE)
			return steer_request(skb, frame, key, flow, false, false);
		if (flags == (ROCESTEER_FLOW_SHARE | ROCESTEER_FLOW_VARIES))
			return steer_request(skb, frame, key, flow, true, false);
		if ((flags & ~ROCESTEER_FLOW_VARIES) ==
		    (ROCESTEER_FLOW_SHARE | ROCESTEER_FLOW_TAGGED))
			return steer_request(skb, frame, key, flow,
					     flags & ROCESTEER_FLOW_VARIES, true);
	}
	if (flags & (ROCESTEER_FLOW_OBSERVED | ROCESTEER_FLOW_QP))
		return keep_port(flow, frame->roce.syndrome << 8 | opcode,
				 frame->roce.udp.source, read_psn(&frame->roce), skb->len);
	if (!(flags & ROCESTEER_FLOW_SHARE) && !opcode_is_ack(opcode))
		return rarely(GO_NEW_FLOW);
	return steer_response(skb, frame, flow, said);
}

/* kmod/steer/kfunc.c */
extern __s64 bpf_rocesteer_flow_answers(struct __sk_buff *skb,
					const struct rocesteer_flow_key *key,
					__u32 key__sz) __ksym __weak;

/*
 * Tell the module, once, of a packet by which its queue pair says what it will receive, whatever
 * the verdict. The module may change the reserved bits of the BTH, and the ICRC.
 *
 * Return: bits of the BTH's dqpn, in network order, by which an acknowledgment says that this end
 * resequences, and which path is late.
 */
static __always_inline __be32 tell_answers(struct __sk_buff *skb,
					   const struct rocesteer_flow_key *key, __u8 opcode)
{
	__s64 late = 0;

	if (opcode_tells_answers(opcode) && rs_use_module &&
	    bpf_ksym_exists(bpf_rocesteer_flow_answers))
		late = bpf_rocesteer_flow_answers(skb, key, sizeof(*key));
	return bpf_htonl(rocesteer_bth_late(rs_bth_paths, late < 0 ? 0 : late));
}

SEC("tcx/egress")
int rocesteer_egress(struct __sk_buff *skb)
{
	const struct plain_frame *frame;
	struct rocesteer_flow_key key __attribute__((aligned(8)));
	struct packet pkt;
	int verdict;
	__be32 said = 0;
	__u8 opcode;

	frame = find_plain(skb, &verdict);
	if (!frame)
		return count_verdict(verdict == CONTINUE ? go_on(skb, TAIL_PARSE) : verdict);
	plain_key(&key, skb, frame, false);
	opcode = frame->roce.bth.opcode;
	if (opcode >= ROCESTEER_OP_RC_READ) {
		if (!opcode_is_rc(opcode))
			return count_verdict(rarely(ROCESTEER_VERDICT_NOT_RC));
		said = tell_answers(skb, &key, opcode);
	}
	verdict = steer(skb, frame, &key, said);
	if (verdict >= 0)
		return count_verdict(verdict);
	pkt.key = key;
	read_plain(&pkt, frame, false);
	plain_source(&pkt, frame, false);
	hand_over(HANDOVER_EGRESS, &pkt, said);
	return count_verdict(verdict == GO_SLOW ? go_on(skb, TAIL_SLOW) :
						  go_on(skb, TAIL_NEW_FLOW));
}

SEC("tcx/egress")
int rocesteer_parse(struct __sk_buff *skb)
{
	struct packet pkt;
	int verdict = parse_any(skb, &pkt, false);

	if (verdict != CONTINUE)
		return count_verdict(verdict);
	if (!is_rc(&pkt))
		return count_verdict(ROCESTEER_VERDICT_NOT_RC);
	hand_over(HANDOVER_EGRESS, &pkt, tell_answers(skb, &pkt.key, pkt.opcode));
	return count_verdict(go_on(skb, TAIL_SLOW));
}

/* Note a packet that may have been sent before, of piece @i. Return: 0, or -1 without arguments. */
__noinline int note_packet(const struct handover *h, struct rocesteer_flow_path *flow, __u32 i)
{
	__u32 seq, rounds;

	if (!h || !flow)	/* global functions are verified on their own */
		return -1;
	seq = is_response(&h->pkt);
	if (!is_nak(&h->pkt)) {
		rounds = psn_note(&flow->psns[seq], &flow->resent[seq], h->pkt.psn);
		if (rounds)
			note_round(&h->pkt.key, flow, i, rounds, seq);
	}
	if (seq == ROCESTEER_RESPONSES)
		flow->responded = coarse_now();
	return 0;
}

/**
 * steer_slow() - steer any packet
 * @skb: the packet
 * @h: parsed
 *
 * Return: the verdict, unless another program goes on.
 */
static __always_inline int steer_slow(struct __sk_buff *skb, const struct handover *h)
{
	struct rocesteer_flow_path *flow = bpf_map_lookup_elem(&rs_flows, &h->pkt.key);
	__be32 bits;
	__u32 i = 0;

	if (!h->known && (!flow || !is_sent_by(skb, flow->sender)))
		return go_on(skb, TAIL_NEW_FLOW);
	if (!flow)
		return ROCESTEER_VERDICT_UNASSIGNED;
	if (flow->flags & ROCESTEER_FLOW_QP)
		return check_port(flow, h->pkt.sport, skb->len);
	if (flow->flags & ROCESTEER_FLOW_OBSERVED)
		return go_on(skb, TAIL_OBSERVE);
	if (!h->known && !(flow->flags & ROCESTEER_FLOW_SHARE) && !is_ack(&h->pkt))
		return go_on(skb, TAIL_NEW_FLOW);
	flow->idle = 0;
	if (is_ack(&h->pkt)) {
		bits = ack_bits(flow, h->said);
	} else {
		move_if_idle(flow);
		bits = flow->bth_paths;
		i = search_piece(flow, h->pkt.psn);
		barrier_var(i);	/* or clang 22 drops what the verifier asks for */
		i %= ROCESTEER_MAX_PATHS;
	}
	note_packet(h, flow, i);
	if (is_spared(&h->pkt, flow, i)) {
		flow->spared++;
		return ROCESTEER_VERDICT_SPARED;
	}
	return take_route(skb, flow, find_route(flow, i), h->pkt.sport, h->pkt.l4_off,
			  h->pkt.udp_len, bits);
}

SEC("tcx/egress")
int rocesteer_slow(struct __sk_buff *skb)
{
	struct handover *h = find_handover(HANDOVER_EGRESS);
	int verdict = h ? steer_slow(skb, h) : ROCESTEER_VERDICT_REWRITE_FAILED;

	count_slow_verdict(verdict);
	/* To no device: the packet is freed, and its sender is not told, as TCX_DROP would. */
	return verdict == ROCESTEER_VERDICT_SPARED ? bpf_redirect(0, 0) : TCX_NEXT;
}

SEC("tcx/egress")
int rocesteer_new_flow(struct __sk_buff *skb)
{
	struct handover *h = find_handover(HANDOVER_EGRESS);
	int verdict = h ? new_packet(skb, &h->pkt) : ROCESTEER_VERDICT_REWRITE_FAILED;
	struct rocesteer_flow_path *flow;

	if (verdict != CONTINUE)
		return count_slow_verdict(verdict);
	flow = bpf_map_lookup_elem(&rs_flows, &h->pkt.key);
	if (flow && !(flow->flags & (ROCESTEER_FLOW_QP | ROCESTEER_FLOW_OBSERVED)) &&
	    !is_ack(&h->pkt))
		take_share(&h->pkt.key);
	h->known = true;
	return count_slow_verdict(go_on(skb, TAIL_SLOW));
}

/* Give an observed flow its share, which is counted when its path is known. */
static __always_inline void share_unknown(const struct rocesteer_flow_key *key)
{
	const __u32 share = ROCESTEER_FLOW_SHARE |
			    (__u32)ROCESTEER_PATH_UNKNOWN << ROCESTEER_FLOW_HOME_SHIFT;
	struct rocesteer_flow_path *flow;
	__u64 state = 0;

	flow = find_flow(key, &state);
	if (flow && !(state & (ROCESTEER_FLOW_SHARE | ROCESTEER_FLOW_GONE)) &&
	    change_flags(flow, &state, 0, share))
		notify_flow(ROCESTEER_EVENT_SHARE, key, flow, ROCESTEER_PATH_UNKNOWN);
}

/*
 * A packet of an observed flow. Its port is new with the first packet; where the queue pair gets
 * another one, rocesteer daemon finds out when it looks at all paths again.
 */
SEC("tcx/egress")
int rocesteer_observe(struct __sk_buff *skb)
{
	struct handover *h = find_handover(HANDOVER_EGRESS);
	struct rocesteer_flow_path *flow;

	flow = h ? bpf_map_lookup_elem(&rs_flows, &h->pkt.key) : NULL;
	if (!flow)
		return count_slow_verdict(ROCESTEER_VERDICT_UNASSIGNED);
	flow->piece[0].sport = h->pkt.sport;
	if (!(flow->flags & ROCESTEER_FLOW_SHARE) && !is_ack(&h->pkt))
		share_unknown(&h->pkt.key);
	note_packet(h, flow, 0);
	return count_slow_verdict(count_observed(flow, skb->len));
}
