// SPDX-License-Identifier: GPL-2.0
/*
 * Does a switch that sums forward an input, or a part of a result to a host? At the ports of
 * the hosts: what comes to a virtual queue pair number is an input, and is remembered by its
 * first bytes; what leaves must have neither such a number, by which no host takes it, nor
 * such a payload. At the ports of leaves to spines: what goes up has to be a part, and is
 * remembered; what comes down has to be a result. The judge of the switches: it shares
 * nothing with them but the parser of the programs.
 *
 * Payloads are random; a sum of this many bytes is no input by accident. A minimum is
 * one now and then.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "../../../bpf/lib/parse.bpf.h"

#define PAYLOAD_BYTES	64
#define VIRTUAL_QPN	0xC00000u
#define KIND		0xC0u	/* of a virtual number */
#define KIND_PART	0x40u
#define KIND_RESULT	0x80u

struct payload {
	__u8 bytes[PAYLOAD_BYTES];
};

/* Payloads of inputs. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct payload);
	__type(value, __u8);
} inputs SEC(".maps");

/* Payloads of parts. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct payload);
	__type(value, __u8);
} parts SEC(".maps");

/* Queue pairs that a host writes to by their own number: that is none of the switch. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct rocesteer_flow_key);
	__type(value, __u8);
} written_to SEC(".maps");

/**
 * enum seen - index of a counter
 * @SEEN_INPUT: an input comes
 * @SEEN_OUTPUT: a payload leaves that no host has sent to this queue pair
 * @SEEN_VIRTUAL: a packet leaves with a virtual queue pair number
 * @SEEN_RAW: an output, or a part that goes up, is an input
 * @SEEN_PART: a part goes up
 * @SEEN_RESULT: a result comes down
 * @SEEN_PARTIAL: an output, or a result that comes down, is a part
 * @SEEN_STRAY: what goes up to a virtual queue pair number is no part, or what comes down
 *	is no result
 */
enum seen {
	SEEN_INPUT,
	SEEN_OUTPUT,
	SEEN_VIRTUAL,
	SEEN_RAW,
	SEEN_PART,
	SEEN_RESULT,
	SEEN_PARTIAL,
	SEEN_STRAY,
	SEEN_MAX,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SEEN_MAX);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

static __always_inline void count(__u32 counter)
{
	__u64 *value = bpf_map_lookup_elem(&seen, &counter);

	if (value)
		__sync_fetch_and_add(value, 1);
}

static __always_inline bool is_write(const struct packet *pkt)
{
	return pkt->opcode >= ROCESTEER_OP_RC_WRITE_FIRST &&
	       pkt->opcode <= ROCESTEER_OP_RC_WRITE_ONLY_IMM;
}

static __always_inline bool is_virtual(const struct packet *pkt)
{
	return pkt->key.dqpn >= VIRTUAL_QPN;
}

/* False where the payload is shorter than what is looked at. */
static __always_inline bool payload_get(struct __sk_buff *skb, const struct packet *pkt,
					struct payload *payload)
{
	__u32 off = sizeof(struct udphdr) + sizeof(struct rocesteer_bth);
	__u8 op = pkt->opcode;

	if (op == ROCESTEER_OP_RC_WRITE_FIRST || op >= ROCESTEER_OP_RC_WRITE_ONLY)
		off += sizeof(struct rocesteer_reth);
	if (op == ROCESTEER_OP_RC_WRITE_LAST_IMM || op == ROCESTEER_OP_RC_WRITE_ONLY_IMM)
		off += sizeof(__be32);
	return off + PAYLOAD_BYTES + ROCESTEER_ICRC_SIZE <= pkt->udp_len &&
	       !bpf_skb_load_bytes(skb, pkt->l4_off + off, payload, sizeof(*payload));
}

static __always_inline bool write_get(struct __sk_buff *skb, struct packet *pkt)
{
	if (parse_roce(skb, pkt, false) != CONTINUE || !is_write(pkt))
		return false;
	pkt->key.ifindex = 0;
	return true;
}

static __always_inline void remember(struct __sk_buff *skb, const struct packet *pkt)
{
	struct payload payload;
	__u8 yes = 1;

	if (!payload_get(skb, pkt, &payload))
		return;
	bpf_map_update_elem(&inputs, &payload, &yes, BPF_ANY);
	count(SEEN_INPUT);
}

/* From a host. */
SEC("tc")
int comes(struct __sk_buff *skb)
{
	struct packet pkt;
	__u8 yes = 1;

	if (!write_get(skb, &pkt))
		return TC_ACT_UNSPEC;
	if (is_virtual(&pkt))
		remember(skb, &pkt);
	else
		bpf_map_update_elem(&written_to, &pkt.key, &yes, BPF_ANY);
	return TC_ACT_UNSPEC;
}

/* In its place, to see that the other one finds something: all is input */
SEC("tc")
int comes_all(struct __sk_buff *skb)
{
	struct packet pkt;

	if (write_get(skb, &pkt))
		remember(skb, &pkt);
	return TC_ACT_UNSPEC;
}

/* To a host. */
SEC("tc")
int leaves(struct __sk_buff *skb)
{
	struct payload payload;
	struct packet pkt;

	if (!write_get(skb, &pkt))
		return TC_ACT_UNSPEC;
	if (is_virtual(&pkt)) {
		count(SEEN_VIRTUAL);
		return TC_ACT_UNSPEC;
	}
	if (bpf_map_lookup_elem(&written_to, &pkt.key) || !payload_get(skb, &pkt, &payload))
		return TC_ACT_UNSPEC;
	count(SEEN_OUTPUT);
	if (bpf_map_lookup_elem(&inputs, &payload))
		count(SEEN_RAW);
	if (bpf_map_lookup_elem(&parts, &payload))
		count(SEEN_PARTIAL);
	return TC_ACT_UNSPEC;
}

/* Between a leaf and a spine. False: it is none of the group's, or of another kind. */
static __always_inline bool virtual_get(struct __sk_buff *skb, __u32 kind, struct payload *payload)
{
	struct packet pkt;

	if (!write_get(skb, &pkt) || !is_virtual(&pkt))
		return false;
	if ((pkt.key.dqpn & KIND) != kind) {
		count(SEEN_STRAY);
		return false;
	}
	return payload_get(skb, &pkt, payload);
}

/* From a leaf that has more than one host. */
SEC("tc")
int goes_up(struct __sk_buff *skb)
{
	struct payload payload;
	__u8 yes = 1;

	if (!virtual_get(skb, KIND_PART, &payload))
		return TC_ACT_UNSPEC;
	count(SEEN_PART);
	if (bpf_map_lookup_elem(&inputs, &payload))
		count(SEEN_RAW);
	bpf_map_update_elem(&parts, &payload, &yes, BPF_ANY);
	return TC_ACT_UNSPEC;
}

/* To a leaf. */
SEC("tc")
int comes_down(struct __sk_buff *skb)
{
	struct payload payload;

	if (!virtual_get(skb, KIND_RESULT, &payload))
		return TC_ACT_UNSPEC;
	count(SEEN_RESULT);
	if (bpf_map_lookup_elem(&parts, &payload) || bpf_map_lookup_elem(&inputs, &payload))
		count(SEEN_PARTIAL);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
