/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Place a job in a leaf-spine fabric so that no other job shares a link with it: vClos (arXiv
 * 2308.05692). Pure: no kernel, no I/O, integers only.
 *
 * A job of N GPUs that fits under one leaf takes servers of that leaf and no links. Another
 * job takes whole servers under several leaves, and P lanes, where P divides N. A lane leads
 * over one spine. Rank r sends by lane r mod P to any destination. A leaf with n of the GPUs
 * has ceil(n / P) links in each lane, one for each of its ranks of that lane: a rank r of a
 * leaf whose first rank is f sends by link (r - f) / P, and receives by the link of that
 * number in the lane of the source. No other job uses these links.
 *
 * Flows of collectives do not meet then: Documentation/design.rst, "Slices". A leaf needs no more
 * links in a lane than all others have together. If it has fewer than ceil(n / P), a flow takes
 * the link with the number of the link at its other end.
 *
 * If a leaf and a spine have several links, other jobs do not get the remaining ones: hosts
 * send by a hash over all of them.
 */
#ifndef ROCESTEER_LIB_SLICE_PLACE_H
#define ROCESTEER_LIB_SLICE_PLACE_H

#include <stddef.h>
#include <linux/types.h>

#define SLICE_MAX_LEAVES	4096u
#define SLICE_MAX_SPINES	1024u
#define SLICE_MAX_GPUS		1024u	/* per leaf */
#define SLICE_MAX_LINKS		16u	/* per leaf and spine */
#define SLICE_MAX_UPLINKS	1024u	/* per leaf */

/**
 * struct slice_fabric - sizes of a fabric, and its free parts
 * @leaves: 1..SLICE_MAX_LEAVES
 * @spines: 1..SLICE_MAX_SPINES
 * @gpus_per_leaf: 1..SLICE_MAX_GPUS, a multiple of @gpus_per_server
 * @gpus_per_server: at least 1
 * @links_per_pair: links between a leaf and a spine; times @spines at most
 *	SLICE_MAX_UPLINKS
 * @parallel: links of a pair that one job may have, because hosts can tell them apart; 0:
 *	jobs are placed under one leaf only
 * @free_gpus: by leaf, then server: 0..@gpus_per_server
 * @free_links: by leaf, then spine: 0..@links_per_pair; 0 where another job has one
 * @progress: called for each number of lanes that is tried, or NULL
 * @arg: passed to @progress
 */
struct slice_fabric {
	__u32 leaves;
	__u32 spines;
	__u32 gpus_per_leaf;
	__u32 gpus_per_server;
	__u32 links_per_pair;
	__u32 parallel;
	__u16 *free_gpus;
	__u8 *free_links;
	void (*progress)(void *arg);
	void *arg;
};

enum slice_stage {
	SLICE_SERVER,	/* inside a server */
	SLICE_LEAF,	/* inside a leaf */
	SLICE_VCLOS,	/* over several leaves */
	SLICE_OCS,	/* over several leaves, by moved circuits */
};

/* Why slice_place() finds no place. */
enum slice_refusal {
	SLICE_NO_GPUS = 1,	/* too few GPUs are free */
	SLICE_NO_LOCALITY,	/* too few servers are free as a whole */
	SLICE_NO_NETWORK,	/* leaves have too few lanes in common */
};

struct slice_server {
	__u32 leaf;
	__u32 server;	/* on its leaf */
	__u32 gpus;
};

/**
 * struct slice - a job's part of the fabric
 * @stage: extent of the slice
 * @leaves: ascending
 * @lane_links: by leaf: links in each lane
 * @nr_leaves: at least 1
 * @spines: spine of each lane, ascending; a spine may have several lanes
 * @nr_spines: number of lanes, 0 inside a leaf
 * @servers: ascending by leaf, then server
 * @nr_servers: at least 1
 * @oxcs: OXC of each link, by leaf, then lane; NULL if links are no circuits: see ocs.h
 * @objective: minimised value: free GPUs of the leaf before, links of the slice, or
 *	circuits taken down
 */
struct slice {
	enum slice_stage stage;
	__u32 *leaves;
	__u32 *lane_links;
	__u32 nr_leaves;
	__u32 *spines;
	__u32 nr_spines;
	struct slice_server *servers;
	__u32 nr_servers;
	__u32 *oxcs;
	__u64 objective;
};

/* Links that it has: @spines times all of @lane_links. */
__u32 slice_links(const struct slice *slice);

/**
 * slice_place() - find a place for a job
 * @fabric: stays as it is
 * @gpus: at least 1
 * @slice: filled; to be freed by slice_free()
 *
 * Under one leaf exact: the leaf with the fewest free GPUs that has the servers. Over
 * leaves, of the places that are found for each number of lanes, the one with the fewest
 * leaves, then links. Equal input gives equal output on every machine.
 *
 * Return: 0; an enum slice_refusal; -ENOMEM.
 */
int slice_place(const struct slice_fabric *fabric, __u32 gpus, struct slice *slice);

/**
 * slice_place_at() - give a job servers that were chosen already
 * @fabric: stays as it is
 * @servers: ascending by leaf, then server, no two the same; GPUs of each
 * @nr: number of @servers, at least 1
 * @slice: filled; to be freed by slice_free()
 *
 * Over several leaves, of the numbers of lanes that divide the job the one that needs
 * the fewest links is taken. If the leaves have links for none of them, each gets as
 * many links of its own as the fullest leaf has GPUs: flows of the job can meet there.
 *
 * Return: 0; SLICE_NO_LOCALITY: a server has fewer free GPUs; SLICE_NO_NETWORK;
 * -ENOMEM.
 */
int slice_place_at(const struct slice_fabric *fabric,
		   const struct slice_server *servers, __u32 nr,
		   struct slice *slice);

void slice_free(struct slice *slice);

/* Servers that each leaf has. */
__u32 slice_servers_per_leaf(const struct slice_fabric *fabric);

/* GPUs of a leaf that are free. */
__u32 slice_free_on_leaf(const struct slice_fabric *fabric, __u32 leaf);

/* Make room in an empty slice. Return: 0 or -ENOMEM. */
int slice_make_room(struct slice *slice, __u32 leaves, __u32 spines, __u32 servers);

#endif /* ROCESTEER_LIB_SLICE_PLACE_H */
