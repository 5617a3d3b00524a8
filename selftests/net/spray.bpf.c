// SPDX-License-Identifier: GPL-2.0
/*
 * Packet spraying, the peers that rocesteer is compared with: each packet to another
 * host has a path of its own. Its sender says in the BTH to how many paths, for a
 * receiver that restores the order; others ignore that.
 *
 * spray	the next path, one after the other. At a host's egress
 * reps		a path that a packet came by without congestion, or else the next one:
 *		after the idea of REPS, Recycled Entropy Packet Spraying (Bonato et al.,
 *		arXiv 2407.21625); the sizes and times are ours. At a host's egress
 * recycle	the other half of reps, at a host's ingress
 *
 * All hosts are of one kernel. So recycle tells the sender through a map, at once, what
 * REPS learns from acknowledgments half a round trip later, and no feedback is ever
 * lost. That favours REPS.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stddef.h>
#include <bpf/bpf_helpers.h>
#include "../icrc.bpf.h"

#define ECN_MASK	3
#define ECN_ECT_0	2
#define ECN_CE		3

#define REPS_SIZE	8
#define REPS_FREEZE	4000000000ULL	/* ns */

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

/**
 * struct reps_key - a flow
 * @hosts: its sender and receiver
 * @dqpn: destination queue pair number
 */
struct reps_key {
	struct spray_key hosts;
	__u32 dqpn;
};

/**
 * struct reps_flow - what REPS knows of it
 * @lock: guards the rest
 * @newest: PSN that was sent last, but for what is sent again
 * @put: ports that were recycled so far
 * @taken: how many of them were used or overwritten
 * @reused: how often one was used once more
 * @frozen: until then, as bpf_ktime_get_ns(), no paths are tried
 * @sport: the last recycled ones, a ring
 */
struct reps_flow {
	struct bpf_spin_lock lock;
	__u32 newest;
	__u32 put;
	__u32 taken;
	__u32 reused;
	__u64 frozen;
	__be16 sport[REPS_SIZE];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct reps_key);
	__type(value, struct reps_flow);
} reps_flows SEC(".maps");

/* False for a packet that is not dealt: no RC packet, or an acknowledgment. */
static __always_inline bool identify(struct __sk_buff *skb, struct packet *pkt,
				     struct spray_key *key)
{
	return parse_roce(skb, pkt, false) == CONTINUE && is_rc(pkt) && !is_ack(pkt) &&
	       !bpf_skb_load_bytes(skb, pkt->l3_off + offsetof(struct iphdr, saddr),
				   key, sizeof(*key));
}

static __always_inline __be16 next_port(struct spray_ports *ports)
{
	__u32 path = __sync_fetch_and_add(&ports->next, 1) % ports->nr_paths;

	return ports->sport[path & (ROCESTEER_MAX_PATHS - 1)];
}

static __always_inline void send_by(struct __sk_buff *skb, const struct packet *pkt,
				    const struct spray_ports *ports, __be16 sport)
{
	set_sport(skb, pkt, sport, rocesteer_bth_paths(ROCESTEER_BTH_PATHS, ports->nr_paths - 1));
}

SEC("tc")
int spray(struct __sk_buff *skb)
{
	struct spray_ports *ports;
	struct spray_key key;
	struct packet pkt;

	if (!identify(skb, &pkt, &key))
		return TC_ACT_UNSPEC;
	ports = bpf_map_lookup_elem(&spray_ports, &key);
	if (ports && ports->nr_paths)
		send_by(skb, &pkt, ports, next_port(ports));
	return TC_ACT_UNSPEC;
}

static __always_inline struct reps_flow *flow_of(const struct reps_key *key, __u32 psn)
{
	struct reps_flow *flow = bpf_map_lookup_elem(&reps_flows, key);
	struct reps_flow fresh = {};

	if (flow)
		return flow;
	fresh.newest = psn - 1;
	bpf_map_update_elem(&reps_flows, key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&reps_flows, key);
}

/*
 * The port that was recycled first of those not used since. A sender that sends again
 * has lost something on a path that may be dead: for a while it tries no path, but
 * uses ports again. Return: the port, or 0 where a path is to be tried.
 */
static __always_inline __be16 take_port(struct reps_flow *flow, __u32 psn)
{
	__u64 now = bpf_ktime_get_ns();
	__be16 sport = 0;

	bpf_spin_lock(&flow->lock);
	if (rocesteer_psn_diff(psn, flow->newest) > 0)
		flow->newest = psn;
	else
		flow->frozen = now + REPS_FREEZE;
	if (flow->put != flow->taken)
		sport = flow->sport[flow->taken++ % REPS_SIZE];
	else if (flow->put >= REPS_SIZE && now < flow->frozen)
		sport = flow->sport[flow->reused++ % REPS_SIZE];
	bpf_spin_unlock(&flow->lock);
	return sport;
}

static __always_inline void put_port(struct reps_flow *flow, __be16 sport)
{
	bpf_spin_lock(&flow->lock);
	if (flow->put - flow->taken == REPS_SIZE)
		flow->taken++;
	flow->sport[flow->put++ % REPS_SIZE] = sport;
	bpf_spin_unlock(&flow->lock);
}

/* Return: the first word of an IPv4 header, with the bits of ECN, which the ICRC leaves out. */
static __always_inline __be16 load_ecn(struct __sk_buff *skb, const struct packet *pkt)
{
	__be16 word = 0;

	bpf_skb_load_bytes(skb, pkt->l3_off, &word, sizeof(word));
	return word;
}

/* Say that the packet may be marked where others are dropped: rxe does not. */
static __always_inline void set_ect(struct __sk_buff *skb, const struct packet *pkt)
{
	__be16 old = load_ecn(skb, pkt);
	__be16 ect = (old & ~bpf_htons(ECN_MASK)) | bpf_htons(ECN_ECT_0);

	bpf_l3_csum_replace(skb, pkt->l3_off + offsetof(struct iphdr, check), old, ect,
			    sizeof(ect));
	bpf_skb_store_bytes(skb, pkt->l3_off, &ect, sizeof(ect), 0);
}

SEC("tc")
int reps(struct __sk_buff *skb)
{
	struct spray_ports *ports;
	struct reps_key key = {};
	struct reps_flow *flow;
	struct packet pkt;
	__be16 sport = 0;

	if (!identify(skb, &pkt, &key.hosts))
		return TC_ACT_UNSPEC;
	ports = bpf_map_lookup_elem(&spray_ports, &key.hosts);
	if (!ports || !ports->nr_paths)
		return TC_ACT_UNSPEC;
	key.dqpn = pkt.key.dqpn;
	flow = flow_of(&key, pkt.psn);
	if (flow)
		sport = take_port(flow, pkt.psn);
	set_ect(skb, &pkt);
	send_by(skb, &pkt, ports, sport ?: next_port(ports));
	return TC_ACT_UNSPEC;
}

SEC("tc")
int recycle(struct __sk_buff *skb)
{
	struct reps_key key = {};
	struct reps_flow *flow;
	struct packet pkt;

	if (!identify(skb, &pkt, &key.hosts) ||
	    (bpf_ntohs(load_ecn(skb, &pkt)) & ECN_MASK) == ECN_CE)
		return TC_ACT_UNSPEC;
	key.dqpn = pkt.key.dqpn;
	flow = bpf_map_lookup_elem(&reps_flows, &key);
	if (flow)
		put_port(flow, pkt.sport);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
