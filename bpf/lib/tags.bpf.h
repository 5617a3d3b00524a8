/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The chunks that flows have in flight. rocesteer_egress tags most packets of the flows that it
 * steers; bpf/chunk.bpf.c tags all other packets, and finds the chunks of messages.
 */
#ifndef TAGS_BPF_H
#define TAGS_BPF_H

#include "rocesteer/chunk.h"
#include "maps.bpf.h"
#include "parse.bpf.h"

/* Messages in flight. Written by the programs, one entry per flow. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ROCESTEER_MAX_FLOWS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct rocesteer_flow_key);
	__type(value, struct rocesteer_tags);
} rs_tags SEC(".maps");

/* Counts of packets, by index: an array, which needs no search. rs_chunk_counts has the indices. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ROCESTEER_MAX_COUNTS);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u32);
	__type(value, struct rocesteer_count);
} rs_chunk_sums SEC(".maps");

static __always_inline bool has_psn(const struct rocesteer_message *message,
				    __u32 psn)
{
	return ((psn - message->psn) & ROCESTEER_PSN_MASK) < message->packets;
}

static __always_inline bool begins_write(__u8 opcode)
{
	return opcode == ROCESTEER_OP_RC_WRITE_FIRST ||
	       opcode == ROCESTEER_OP_RC_WRITE_ONLY ||
	       opcode == ROCESTEER_OP_RC_WRITE_ONLY_IMM;
}

static __always_inline bool continues_write(__u8 opcode)
{
	return opcode > ROCESTEER_OP_RC_WRITE_FIRST &&
	       opcode <= ROCESTEER_OP_RC_WRITE_LAST_IMM;
}

/* Count a packet of a job. @begins: it is the first of a WRITE */
static __always_inline void count_tag(__u32 at, __u32 len, bool begins)
{
	struct rocesteer_count *count = bpf_map_lookup_elem(&rs_chunk_sums, &at);

	if (!count)
		return;
	count->messages += begins;
	count->packets++;
	count->bytes += len;
}

/**
 * begin_tag() - note the message that the first packet of a WRITE begins, and count the packet
 * @skb: the packet, in a plain frame
 * @key: its flow
 * @flow: the flow's entry, whose message it becomes
 *
 * Return: 0, or -1 where rocesteer_chunk has to look at the packet.
 */
int begin_tag(struct __sk_buff *skb, const struct rocesteer_flow_key *key,
	      struct rocesteer_flow_path *flow);

/*
 * The mark of a packet that rocesteer_egress has tagged: the DSCP of struct rocesteer_tag, and
 * bits above it. It is in skb->cb, in the word that has the source port. rocesteer_chunk, which
 * runs next, leaves such a packet alone.
 */
#define CB_MARKED	3
#define CB_MARK		0x5c80
#define CB_MARK_DSCP	(ROCESTEER_NO_DSCP | 63u)
#define CB_MARK_SHIFT	16

static __always_inline bool is_marked(__u32 word)
{
	return (word >> CB_MARK_SHIFT & ~CB_MARK_DSCP) == CB_MARK;
}

/**
 * tag_request() - tag a request of a flow with ROCESTEER_FLOW_TAGGED
 * @skb: the packet, in a plain frame, which is sent for the first time
 * @key: its flow
 * @flow: the flow's entry
 * @opcode: of the BTH
 * @psn: its PSN
 *
 * Return: whether it is tagged, and has its mark, above the port; else rocesteer_chunk tags it.
 */
static __always_inline bool tag_request(struct __sk_buff *skb,
					const struct rocesteer_flow_key *key,
					struct rocesteer_flow_path *flow, __u8 opcode, __u32 psn)
{
	if (continues_write(opcode)) {
		if (!has_psn(&flow->message, psn))
			return false;
		flow->tagged++;
		count_tag(flow->message.tag.count, skb->len, false);
	} else if (!begins_write(opcode) || begin_tag(skb, key, flow)) {
		return false;
	}
	if (flow->message.tag.class)
		skb->priority = flow->message.tag.class;
	skb->cb[CB_MARKED] |= (CB_MARK | (flow->message.tag.dscp & CB_MARK_DSCP)) << CB_MARK_SHIFT;
	return true;
}

/**
 * set_dscp() - set the DSCP of an IPv4 packet
 * @ip: its header
 * @dscp: 0..63
 *
 * Neither the ICRC nor the UDP checksum covers the DSCP; ECN stays. The header's checksum follows
 * by RFC 1624.
 */
static __always_inline void set_dscp(struct iphdr *ip, __u32 dscp)
{
	__be16 *first = (__be16 *)ip;	/* version, IHL, TOS */
	__u32 old = *first, new = (old & bpf_htons(0xff03)) | bpf_htons(dscp << 2), sum;

	sum = (ip->check ^ 0xffff) + (old ^ 0xffff) + new;
	sum = (sum & 0xffff) + (sum >> 16);
	*first = new;
	ip->check = ~(sum + (sum >> 16));
}

#endif /* TAGS_BPF_H */
