/* SPDX-License-Identifier: GPL-2.0 */
/* Which job a flow belongs to and which path its group deals it. */
#ifndef DEAL_BPF_H
#define DEAL_BPF_H

#include "maps.bpf.h"
#include "parse.bpf.h"
#include "sport.bpf.h"

/* Rounds of a deal that other CPUs keep winning. */
#define DEAL_TRIES	8

/* kmod/steer_bpf.c */
extern __s64 bpf_rocesteer_flow_job(struct __sk_buff *skb,
				    const struct rocesteer_flow_key *key,
				    __u32 key__sz) __ksym __weak;

/* The job that claims the flow, else the one that has the device, else 0. */
static __always_inline __u32 flow_job(struct __sk_buff *skb,
				      const struct rocesteer_flow_key *key)
{
	__u32 *job;

	if (rs_use_module && bpf_ksym_exists(bpf_rocesteer_flow_job)) {
		__s64 claimed = bpf_rocesteer_flow_job(skb, key, sizeof(*key));

		if (claimed > 0)
			return claimed;
	}
	job = bpf_map_lookup_elem(&rs_devices, &key->ifindex);
	return job ? *job : 0;
}

/* The usable path with the fewest flows, from the group's first one on. */
static __always_inline int least_loaded(const struct rocesteer_group *group,
					const struct rocesteer_peer *peer,
					__u32 *flows)
{
	__u32 nr = group->nr_paths, first = group->first;
	int best = -1, i;

	bpf_for(i, 0, ROCESTEER_MAX_PATHS) {
		__u32 p = first + i, n;

		if ((__u32)i >= nr)
			break;
		if (p >= nr)
			p -= nr;
		if (p >= ROCESTEER_MAX_PATHS || !peer->sport[p])
			continue;
		n = group->flows[p];
		if (best < 0 || n < *flows) {
			best = p;
			*flows = n;
		}
	}
	return best;
}

/*
 * Take a share of the least loaded path. The compare-and-swap makes the count
 * and the choice one step: of two CPUs that chose the same path one looks again.
 */
static __always_inline int deal_path(struct rocesteer_group *group,
				     const struct rocesteer_peer *peer)
{
	int try;

	bpf_for(try, 0, DEAL_TRIES) {
		__u32 flows = 0;
		int p = least_loaded(group, peer, &flows);

		if (p < 0 || p >= ROCESTEER_MAX_PATHS)
			break;
		if (__sync_val_compare_and_swap(&group->flows[p], flows,
						flows + 1) == flows)
			return p;
	}
	return -1;
}

/**
 * deal_flow() - path of a flow that has none yet
 * @skb: its first request packet
 * @pkt: that packet, parsed
 * @path: set to the entry in rs_flows when FURTHER is returned
 *
 * A flow that only acknowledges takes no share: its few packets would count
 * as much as another's many.
 */
static __always_inline int deal_flow(struct __sk_buff *skb,
				     const struct packet *pkt,
				     struct rocesteer_flow_path **path)
{
	struct rocesteer_flow_path new = {};
	struct rocesteer_group_key gkey;
	struct rocesteer_peer_key pkey;
	struct rocesteer_group *group;
	struct rocesteer_peer *peer;
	long err;
	int p;

	new.job = flow_job(skb, &pkt->key);
	if (!new.job)
		return ROCESTEER_UNTAGGED;
	pkey.job = new.job;
	pkey.ifindex = pkt->key.ifindex;
	__builtin_memcpy(pkey.addr, pkt->key.peer, sizeof(pkey.addr));
	peer = bpf_map_lookup_elem(&rs_peers, &pkey);
	if (!peer)
		return ROCESTEER_NO_PEER;
	if (pkt->opcode == ROCESTEER_OP_RC_ACK ||
	    pkt->opcode == ROCESTEER_OP_RC_ATOMIC_ACK)
		return ROCESTEER_UNASSIGNED;
	gkey.job = new.job;
	gkey.ifindex = pkt->key.ifindex;
	__builtin_memcpy(gkey.leaf, peer->leaf, sizeof(gkey.leaf));
	group = bpf_map_lookup_elem(&rs_groups, &gkey);
	if (!group)
		return ROCESTEER_NO_PATH;
	p = deal_path(group, peer);
	if (p < 0 || p >= ROCESTEER_MAX_PATHS)
		return ROCESTEER_NO_PATH;
	new.path = p;
	new.sport = peer->sport[p];
	__builtin_memcpy(new.leaf, peer->leaf, sizeof(new.leaf));
	err = bpf_map_update_elem(&rs_flows, &pkt->key, &new, BPF_NOEXIST);
	if (err)	/* no room, or another CPU was first */
		__sync_fetch_and_sub(&group->flows[p], 1);
	*path = bpf_map_lookup_elem(&rs_flows, &pkt->key);
	return *path ? FURTHER : ROCESTEER_TABLE_FULL;
}

/* Forget a flow that is gone and give its share back. */
static __always_inline void forget_flow(const struct rocesteer_flow_key *key)
{
	struct rocesteer_flow_path *path = bpf_map_lookup_elem(&rs_flows, key);
	struct rocesteer_group_key gkey;
	struct rocesteer_group *group;
	__u32 p;

	if (!path)
		return;
	p = path->path;
	gkey.job = path->job;
	gkey.ifindex = key->ifindex;
	__builtin_memcpy(gkey.leaf, path->leaf, sizeof(gkey.leaf));
	if (bpf_map_delete_elem(&rs_flows, key))
		return;
	group = bpf_map_lookup_elem(&rs_groups, &gkey);
	if (group && p < ROCESTEER_MAX_PATHS)
		__sync_fetch_and_sub(&group->flows[p], 1);
}

#endif /* DEAL_BPF_H */
