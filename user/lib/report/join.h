/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recordings of one period on several hosts, joined over the links of the fabric. A directed link
 * is known by its ends and by the address at which it enters the second one.
 */
#ifndef ROCESTEER_LIB_REPORT_JOIN_H
#define ROCESTEER_LIB_REPORT_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "gray.h"
#include "leaves.h"
#include "recording.h"
#include "share.h"

/* Tiers of routers; where there are cores, spines are called aggs. */
enum report_tier {
	REPORT_LEAF,
	REPORT_SPINE,
	REPORT_CORE,
	REPORT_TIERS,
};

/**
 * struct report_router - an end of a link
 * @tier: its tier
 * @number: in this tier
 */
struct report_router {
	enum report_tier tier;
	__u32 number;
};

/**
 * struct report_link - a directed link; where an agg is not known, what is between leaf and core
 * @from: where the link begins
 * @to: where the link ends
 * @address: by which the link enters its end, or that of the spine or core
 * @share: bytes, flows and choice
 * @packets: packets
 * @rounds: rounds of go-back-N of the paths over the link
 * @cnps: congestion notifications of flows that have one path
 */
struct report_link {
	struct report_router from;
	struct report_router to;
	__u8 address[16];
	struct report_share share;
	__u64 packets;
	__u64 rounds;
	__u64 cnps;
};

static inline bool report_link_is_down(const struct report_link *link)
{
	return link->from.tier > link->to.tier;
}

/**
 * struct report_group - a group of a recording, and its links
 * @recording: the recording
 * @group: the group
 * @own: number of the host's own leaf
 * @leaf: number of the leaf that the group leads to
 * @link: by path, numbers of its links in their order; behind the last one REPORT_NO_LINK
 */
struct report_group {
	const struct recording *recording;
	const struct recording_group *group;
	size_t own;
	size_t leaf;
	size_t link[ROCESTEER_MAX_PATHS][REPORT_PATH_LINKS];
};

/**
 * struct report_join - recordings of a period
 * @recording: recordings
 * @nr: number of recordings
 * @routers: by tier, addresses of the routers
 * @leaf_name: by number of a leaf, the address by which groups call it, else the smallest
 * @link: links
 * @nr_links: number of links
 * @group: groups, of one recording after the other
 * @nr_groups: number of groups
 */
struct report_join {
	const struct recording *recording;
	size_t nr;
	struct report_leaves routers[REPORT_TIERS];
	const __u8 **leaf_name;
	struct report_link *link;
	size_t nr_links;
	struct report_group *group;
	size_t nr_groups;
};

/**
 * report_join() - join recordings
 * @join: filled; to be freed by report_join_free(), also on failure
 * @recording: kept
 * @nr: number of recordings
 *
 * A host's own leaf has the address by which other hosts know the leaf of this host, and that of
 * its first hop. Two addresses of spines are one spine where they lead to one entry of a leaf,
 * if the leaf has an entry for each spine. Cores and what aggs behind them answer from are alike.
 *
 * Return: 0; -E2BIG where a tier has too many routers; -ENOMEM.
 */
int report_join(struct report_join *join, const struct recording *recording, size_t nr);

/* The address that names a router. */
const __u8 *report_join_name(const struct report_join *join, const struct report_router *router);

void report_join_free(struct report_join *join);

#endif /* ROCESTEER_LIB_REPORT_JOIN_H */
