// SPDX-License-Identifier: GPL-2.0
/*
 * Packet spraying, the peer that splitting is compared with: each packet to a
 * peer takes the next path, one after the other, and nobody puts them in order
 * again. At a host's egress.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stddef.h>
#include <bpf/bpf_helpers.h>
#include "../icrc.bpf.h"

/**
 * struct spray_key - a pair of hosts
 * @source: address of the sender, IPv4
 * @peer: address of the receiver
 */
struct spray_key {
	__u8 source[4];
	__u8 peer[4];
};

/**
 * struct spray_ports - how to reach the peer
 * @next: packets sent so far
 * @nr_paths: 1..ROCESTEER_MAX_PATHS
 * @sport: a UDP source port for each path, network order
 */
struct spray_ports {
	__u32 next;
	__u32 nr_paths;
	__be16 sport[ROCESTEER_MAX_PATHS];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct spray_key);
	__type(value, struct spray_ports);
} spray_ports SEC(".maps");

SEC("tc")
int spray(struct __sk_buff *skb)
{
	struct spray_ports *ports;
	struct spray_key key;
	struct packet pkt;
	__u32 path;

	if (parse_roce(skb, &pkt, false) != FURTHER || !is_rc(&pkt) ||
	    pkt.opcode == ROCESTEER_OP_RC_ACK ||
	    bpf_skb_load_bytes(skb, ETH_HLEN + offsetof(struct iphdr, saddr),
			       key.source, sizeof(key.source)))
		return TC_ACT_UNSPEC;
	__builtin_memcpy(key.peer, pkt.key.peer + 12, sizeof(key.peer));
	ports = bpf_map_lookup_elem(&spray_ports, &key);
	if (!ports || !ports->nr_paths)
		return TC_ACT_UNSPEC;
	path = __sync_fetch_and_add(&ports->next, 1) % ports->nr_paths;
	set_sport(skb, &pkt, ports->sport[path & (ROCESTEER_MAX_PATHS - 1)]);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
