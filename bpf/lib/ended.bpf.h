/* SPDX-License-Identifier: GPL-2.0 */
/* Sums over the flows that ended. */
#ifndef ENDED_BPF_H
#define ENDED_BPF_H

#include "deal.bpf.h"

static const struct rocesteer_ended nothing_ended;

/* The sums of a flow's group, from its first flow that ends on; or NULL. */
static __always_inline struct rocesteer_ended *
find_ended(const struct rocesteer_flow_key *key, const struct rocesteer_flow_path *flow)
{
	struct rocesteer_group_key gkey = {
		.job = flow->job,
		.ifindex = key->ifindex,
	};
	struct rocesteer_ended *ended;

	copy_addr(gkey.leaf, flow->leaf);
	ended = bpf_map_lookup_elem(&rs_ended, &gkey);
	if (ended)
		return ended;
	bpf_map_update_elem(&rs_ended, &gkey, &nothing_ended, BPF_NOEXIST);
	return bpf_map_lookup_elem(&rs_ended, &gkey);
}

static __always_inline void add_sent(struct rocesteer_ended_path *to,
				     const struct rocesteer_sent *sent)
{
	__sync_fetch_and_add(&to->packets, sent->packets);
	__sync_fetch_and_add(&to->bytes, sent->bytes);
}

static __always_inline void add_ended(struct rocesteer_ended_path *to,
				      const struct rocesteer_flow_path *flow, __u32 p)
{
	add_sent(to, &flow->sent[p]);
	__sync_fetch_and_add(&to->rounds, flow->rounds[p]);
}

/**
 * count_ended() - add what a flow has sent to the sums of its group
 * @key: the flow
 * @flow: its entry, which has ROCESTEER_FLOW_GONE and is about to be deleted
 *
 * Return: 0, or -1 where there is no room for the sums.
 */
__noinline int count_ended(const struct rocesteer_flow_key *key,
			   const struct rocesteer_flow_path *flow)
{
	struct rocesteer_ended_path *to;
	struct rocesteer_ended *ended;
	__u32 from = 0, first, p;

	ended = key && flow ? find_ended(key, flow) : NULL;
	if (!ended)
		return -1;
	if (flow->piece[0].path == ROCESTEER_PATH_UNKNOWN) {
		add_ended(&ended->unknown, flow, 0);
		from = 1;
	}
	/* Also where nothing was sent: the verifier would follow each branch. */
	bpf_for(p, from, ROCESTEER_MAX_PATHS)
		add_ended(&ended->path[p], flow, p);
	first = flow->first_path;
	to = &ended->unknown;
	if (first < ROCESTEER_MAX_PATHS) {
		barrier_var(first);	/* or clang indexes before it checks */
		to = &ended->path[first];
	}
	add_sent(to, &flow->first);
	__sync_fetch_and_add(&ended->cnps, flow->cnps);
	__sync_fetch_and_add(&ended->flows, 1);
	return 0;
}

#endif /* ENDED_BPF_H */
