/* SPDX-License-Identifier: GPL-2.0 */
/* How a flow begins, and on which path, for the programs and for user space. */
#ifndef ROCESTEER_FLOW_H
#define ROCESTEER_FLOW_H

#include "types.h"

/* A flow before anything is known of it */
static const struct rocesteer_flow_path rocesteer_flow_init = {
	.acked = ROCESTEER_PSN_NONE,
	.psns[ROCESTEER_REQUESTS].next = ROCESTEER_PSN_NONE,
	.resent[ROCESTEER_REQUESTS].repeats = ROCESTEER_PSN_NONE,
	.psns[ROCESTEER_RESPONSES].next = ROCESTEER_PSN_NONE,
};

/**
 * enum rocesteer_deal_by - whose flows a path is chosen by
 * @ROCESTEER_BY_GROUP: those of the group
 * @ROCESTEER_BY_PEER: those to the peer
 * @ROCESTEER_BY_BOTH: those to the peer, and where paths have equally many of these those
 *	of the group: each connection of several queue pairs is balanced in itself
 */
enum rocesteer_deal_by {
	ROCESTEER_BY_GROUP = 1,
	ROCESTEER_BY_PEER = 2,
	ROCESTEER_BY_BOTH = ROCESTEER_BY_GROUP | ROCESTEER_BY_PEER,
};

/* 2 to the power of this are more flows than the tables have. */
#define ROCESTEER_GROUP_SHIFT	20

/**
 * rocesteer_path_load() - what a path has, to be compared with others by its weight
 * @group: its group
 * @peer: port map to the peer
 * @p: path, below ROCESTEER_MAX_PATHS
 * @by: enum rocesteer_deal_by
 *
 * Without a branch, which the BPF verifier would follow twice.
 *
 * Return: below 2^37, as no path has more than ROCESTEER_MAX_FLOWS flows.
 */
static inline __u64 rocesteer_path_load(const struct rocesteer_group *group,
					const struct rocesteer_peer *peer, __u32 p,
					__u32 by)
{
	__u64 to_peer = (__u64)(by >> 1) * peer->flows[p];

	return (to_peer << (ROCESTEER_GROUP_SHIFT * (by & 1))) +
	       (by & 1) * group->flows[p];
}

/* Return: the flows that count where one is dealt, that of a queue pair or of packets. */
static inline __u32 rocesteer_deal_by(__u32 deal, int queue_pair)
{
	if (deal == ROCESTEER_DEAL_PLACE)
		return ROCESTEER_BY_PEER;
	return queue_pair ? ROCESTEER_BY_BOTH : ROCESTEER_BY_GROUP;
}

#endif /* ROCESTEER_FLOW_H */
