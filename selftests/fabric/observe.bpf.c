// SPDX-License-Identifier: GPL-2.0
/*
 * Which flows pass here: RC request packets and bytes by destination and
 * destination QPN, counted at a switch's ingress. The judge of where flows
 * went: it shares the parser with what it judges, but none of the tables.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>
#include "../../bpf/lib/parse.bpf.h"

struct seen {
	__u64 packets;
	__u64 bytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct rocesteer_flow_key);
	__type(value, struct seen);
} seen SEC(".maps");

SEC("tc")
int observe(struct __sk_buff *skb)
{
	struct seen one = { 1, skb->len }, *seen_so_far;
	struct packet pkt;

	if (parse_roce(skb, &pkt, false) != FURTHER ||
	    pkt.opcode > ROCESTEER_OP_RC_LAST ||
	    pkt.opcode == ROCESTEER_OP_RC_ACK)
		return TC_ACT_UNSPEC;
	pkt.key.ifindex = 0;	/* whatever the link: a switch is one place */
	if (!bpf_map_update_elem(&seen, &pkt.key, &one, BPF_NOEXIST))
		return TC_ACT_UNSPEC;
	seen_so_far = bpf_map_lookup_elem(&seen, &pkt.key);
	if (seen_so_far) {
		__sync_fetch_and_add(&seen_so_far->packets, 1);
		__sync_fetch_and_add(&seen_so_far->bytes, skb->len);
	}
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
