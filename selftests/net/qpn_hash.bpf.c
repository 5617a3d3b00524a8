// SPDX-License-Identifier: GPL-2.0
/*
 * Hashes of switches that Linux does not have, at the ingress of a router's devices:
 * what is set here is what Linux takes where fib_multipath_hash_policy is 1.
 *
 * qpn_hash	addresses, UDP source port and destination queue pair number
 * linear_hash	the CRC32 of addresses, ports and protocol, rotated: Linux takes the highest bits
 * linear_qpn_hash	the same with the destination queue pair number
 * packet_hash	nothing: each packet has a path of its own
 *
 * Other packets than RoCE v2 keep Linux's hash.
 *
 * lose		loses one packet in eight, and no more than that
 *
 * bond_hash	at the egress of a host's device: a bond of the policy layer3+4, as Linux hashes,
 *		with another member, MEMBER
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "rocesteer/roce.h"
#include "rocesteer/types.h"

/*
 * Of the router or the host. Seeds differ, so that routers behind each other do not choose alike.
 * One linear hash of two seeds differs by a constant only: routers with the same bits still choose
 * alike.
 */
enum { SEED, ROTATION, MEMBER, NR_SETTINGS };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NR_SETTINGS);
	__type(key, __u32);
	__type(value, __u32);
} hash_settings SEC(".maps");

/* The hashed words, the last of which has 24 bits. */
struct hashed {
	__be32 addr[8];
	__be16 sport;
	__be16 dport;
	__be32 dqpn;
};

/* MurmurHash3: no linear function, by which all ports would change their paths alike. */
static __always_inline __u32 mix(__u32 hash, __u32 word)
{
	word *= 0xcc9e2d51;
	word = word << 15 | word >> 17;
	hash ^= word * 0x1b873593;
	hash = hash << 13 | hash >> 19;
	return hash * 5 + 0xe6546b64;
}

static __always_inline __u32 end(__u32 hash)
{
	hash ^= hash >> 16;
	hash *= 0x85ebca6b;
	hash ^= hash >> 13;
	hash *= 0xc2b2ae35;
	return hash ^ hash >> 16;
}

/* Return: offset of the UDP header, or 0. */
static __always_inline __u32 load_addresses(struct __sk_buff *skb, struct hashed *in)
{
	struct ipv6hdr ip6;
	struct iphdr ip;

	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		if (bpf_skb_load_bytes(skb, ETH_HLEN, &ip, sizeof(ip)) || ip.ihl != 5 ||
		    ip.protocol != IPPROTO_UDP)
			return 0;
		in->addr[0] = ip.saddr;
		in->addr[1] = ip.daddr;
		return ETH_HLEN + sizeof(ip);
	}
	if (skb->protocol != bpf_htons(ETH_P_IPV6) ||
	    bpf_skb_load_bytes(skb, ETH_HLEN, &ip6, sizeof(ip6)) ||
	    ip6.nexthdr != IPPROTO_UDP)
		return 0;
	__builtin_memcpy(in->addr, &ip6.saddr, sizeof(in->addr));
	return ETH_HLEN + sizeof(ip6);
}

static __always_inline bool load_fields(struct __sk_buff *skb, struct hashed *in)
{
	__u32 off = load_addresses(skb, in);

	if (!off || bpf_skb_load_bytes(skb, off, &in->sport, 4) ||
	    in->dport != bpf_htons(ROCESTEER_ROCE_PORT) ||
	    bpf_skb_load_bytes(skb, off + sizeof(struct udphdr) +
			       offsetof(struct rocesteer_bth, dqpn), &in->dqpn, 4))
		return false;
	in->dqpn &= bpf_htonl(ROCESTEER_QPN_MASK);
	return true;
}

SEC("tc")
int qpn_hash(struct __sk_buff *skb)
{
	__u32 i, sum, key = SEED, *seed = bpf_map_lookup_elem(&hash_settings, &key);
	struct hashed in = {};

	if (!seed || !load_fields(skb, &in))
		return TC_ACT_UNSPEC;
	sum = end(*seed);
	for (i = 0; i < 8; i++)
		sum = mix(sum, in.addr[i]);
	sum = mix(sum, in.sport);
	sum = mix(sum, in.dqpn);
	bpf_set_hash(skb, end(sum));
	return TC_ACT_UNSPEC;
}

static __always_inline __u32 crc32(__u32 crc, __u32 word)
{
	int i;

	crc ^= word;
	for (i = 0; i < 32; i++)
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	return crc;
}

static __always_inline int set_linear_hash(struct __sk_buff *skb, bool qpn)
{
	__u32 key = SEED, *seed = bpf_map_lookup_elem(&hash_settings, &key);
	__u32 i, crc, *rotation;
	struct hashed in = {};

	key = ROTATION;
	rotation = bpf_map_lookup_elem(&hash_settings, &key);
	if (!seed || !rotation || !load_fields(skb, &in))
		return TC_ACT_UNSPEC;
	crc = *seed;
	for (i = 0; i < 8; i++)
		crc = crc32(crc, in.addr[i]);
	crc = crc32(crc, in.sport | in.dport << 16);
	if (qpn)
		crc = crc32(crc, in.dqpn);
	crc = crc32(crc, IPPROTO_UDP);
	bpf_set_hash(skb, crc << (*rotation & 31) | crc >> (-*rotation & 31));
	return TC_ACT_UNSPEC;
}

SEC("tc")
int linear_hash(struct __sk_buff *skb)
{
	return set_linear_hash(skb, false);
}

SEC("tc")
int linear_qpn_hash(struct __sk_buff *skb)
{
	return set_linear_hash(skb, true);
}

SEC("tc")
int packet_hash(struct __sk_buff *skb)
{
	struct hashed in = {};

	if (load_fields(skb, &in))
		bpf_set_hash(skb, bpf_get_prandom_u32());
	return TC_ACT_UNSPEC;
}

SEC("tc")
int lose(struct __sk_buff *skb)
{
	return bpf_get_prandom_u32() % 8 ? TC_ACT_UNSPEC : TC_ACT_SHOT;
}

/* Ports and addresses, folded, without the lowest bit */
SEC("tc")
int bond_hash(struct __sk_buff *skb)
{
	__u32 i, hash, key = MEMBER, *member = bpf_map_lookup_elem(&hash_settings, &key);
	struct hashed in = {};

	if (!member || !load_fields(skb, &in))
		return TC_ACT_UNSPEC;
	hash = in.sport | in.dport << 16;
	for (i = 0; i < 8; i++)
		hash ^= in.addr[i];
	hash ^= hash >> 16;
	hash ^= hash >> 8;
	return hash >> 1 & 1 ? bpf_redirect(*member, 0) : TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
