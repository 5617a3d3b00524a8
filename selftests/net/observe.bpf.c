// SPDX-License-Identifier: GPL-2.0
/*
 * Which flows pass where, and when: RC packets by flow, source port and the
 * link that they came by; and what rxe drops for its ICRC. The judge of
 * where flows went: it shares the parser with what it judges, but none of the
 * tables.
 *
 * For IPv4 without options, which is what the fabric carries.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>
#include <stddef.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "../../bpf/lib/parse.bpf.h"
#include "link.bpf.h"

/**
 * struct seen_key - a flow on one port on one link
 * @source: address of its sender
 * @peer: address of its receiver
 * @dqpn: destination queue pair number
 * @sport: UDP source port
 * @sender: enum link_sender
 * @leaf: leaf of the link, or its agg where the other end is a core
 * @index: the other end of the link
 * @ack: 1 for acknowledgments, 0 for all else
 * @reserved: zero
 */
struct seen_key {
	__u8 source[4];
	__u8 peer[4];
	__u32 dqpn;
	__u16 sport;
	__u8 sender;
	__u8 leaf;
	__u8 index;
	__u8 ack;
	__u8 reserved[2];
};

/**
 * struct seen - what was seen of it
 * @packets: packets
 * @bytes: of frames
 * @first: CLOCK_MONOTONIC of the first packet, in ns
 * @last: of the last
 */
struct seen {
	__u64 packets;
	__u64 bytes;
	__u64 first;
	__u64 last;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct seen_key);
	__type(value, struct seen);
} seen SEC(".maps");

/* Packets that rxe has dropped for a wrong ICRC; it does not count them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} icrc_drops SEC(".maps");

/* False for a frame that is of no interest. */
static __always_inline bool identify(struct __sk_buff *skb, struct seen_key *key)
{
	struct packet pkt;
	struct link link;

	if (parse_roce(skb, &pkt, false) != CONTINUE || !is_rc(&pkt) ||
	    bpf_skb_load_bytes(skb, offsetof(struct ethhdr, h_source), &link, sizeof(link)) ||
	    bpf_skb_load_bytes(skb, ETH_HLEN + offsetof(struct iphdr, saddr),
			       key->source, sizeof(key->source)))
		return false;
	__builtin_memcpy(key->peer, pkt.key.peer + 12, sizeof(key->peer));
	key->dqpn = pkt.key.dqpn;
	key->sport = bpf_ntohs(pkt.sport);
	key->sender = link.sender;
	key->leaf = link.leaf;
	key->index = link.index;
	key->ack = pkt.opcode == ROCESTEER_OP_RC_ACK;
	return true;
}

SEC("tc")
int observe(struct __sk_buff *skb)
{
	struct seen_key key = {};
	struct seen one, *so_far;

	if (!identify(skb, &key))
		return TC_ACT_UNSPEC;
	one.packets = 1;
	one.bytes = skb->len;
	one.first = bpf_ktime_get_ns();
	one.last = one.first;
	if (!bpf_map_update_elem(&seen, &key, &one, BPF_NOEXIST))
		return TC_ACT_UNSPEC;
	so_far = bpf_map_lookup_elem(&seen, &key);
	if (so_far) {
		__sync_fetch_and_add(&so_far->packets, 1);
		__sync_fetch_and_add(&so_far->bytes, skb->len);
		so_far->last = one.last;
	}
	return TC_ACT_UNSPEC;
}

SEC("fexit/rxe_icrc_check")
int BPF_PROG(icrc_check, void *skb, void *pkt, int err)
{
	__u32 zero = 0;
	__u64 *drops = bpf_map_lookup_elem(&icrc_drops, &zero);

	if (drops && err)
		__sync_fetch_and_add(drops, 1);
	return 0;
}

struct bpf_map;

static long forget_one(struct bpf_map *map, const void *key, void *value, void *arg)
{
	bpf_map_delete_elem(map, key);
	return 0;
}

/* Empties the tables, by "bpftool prog run". */
SEC("tc")
int forget(struct __sk_buff *skb)
{
	__u32 key = 0;
	__u64 none = 0;

	bpf_map_update_elem(&icrc_drops, &key, &none, BPF_ANY);
	bpf_for_each_map_elem(&seen, forget_one, NULL, 0);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
