/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recordings of one period on several hosts, joined over the links of the fabric. A directed link
 * is known by the leaf at one end and the address by which it enters the router at its other end.
 */
#ifndef ROCESTEER_LIB_REPORT_JOIN_H
#define ROCESTEER_LIB_REPORT_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "leaves.h"
#include "recording.h"
#include "share.h"

/**
 * struct report_link - a directed link
 * @down: from a spine to a leaf; else from a leaf to a spine
 * @leaf: number of the leaf
 * @spine: number of the spine
 * @address: by which the link enters its end, or the spine's own
 * @share: bytes, flows and choice
 * @packets: packets
 * @rounds: rounds of go-back-N of the paths over the link
 * @cnps: congestion notifications of flows that have one path
 */
struct report_link {
	bool down;
	size_t leaf;
	size_t spine;
	__u8 address[16];
	struct report_share share;
	__u64 packets;
	__u64 rounds;
	__u64 cnps;
};

/**
 * struct report_group - a group of a recording, and its links
 * @recording: the recording
 * @group: the group
 * @own: number of the host's own leaf
 * @leaf: number of the leaf that the group leads to
 * @up: by path, number of the link to the spine
 * @down: by path, number of the link from the spine
 */
struct report_group {
	const struct recording *recording;
	const struct recording_group *group;
	size_t own;
	size_t leaf;
	size_t up[ROCESTEER_MAX_PATHS];
	size_t down[ROCESTEER_MAX_PATHS];
};

/**
 * struct report_join - recordings of a period
 * @recording: recordings
 * @nr: number of recordings
 * @leaves: addresses of the leaves
 * @leaf_name: by number of a leaf, the address by which groups call it, else the smallest
 * @spines: addresses of the spines
 * @link: links
 * @nr_links: number of links
 * @group: groups, of one recording after the other
 * @nr_groups: number of groups
 */
struct report_join {
	const struct recording *recording;
	size_t nr;
	struct report_leaves leaves;
	const __u8 **leaf_name;
	struct report_leaves spines;
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
 * if the leaf has an entry for each path.
 *
 * Return: 0; -E2BIG where there are too many leaves; -ENOMEM.
 */
int report_join(struct report_join *join, const struct recording *recording, size_t nr);

void report_join_free(struct report_join *join);

#endif /* ROCESTEER_LIB_REPORT_JOIN_H */
