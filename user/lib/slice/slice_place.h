/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a job goes in a leaf-spine fabric so that no other job shares a link
 * with it: vClos (arXiv 2308.05692). Pure: no kernel, no I/O, integers only.
 *
 * A job of N GPUs that fits under one leaf takes servers of that leaf and no
 * links. Another takes l leaves with s GPUs each, whole servers, l * s = N, and
 * from each of these leaves a link to the same s spines; the links are its own.
 *
 * Where there are several links between a leaf and a spine, a job may take more
 * than one of them, the same number at each of its leaves: the spine then
 * counts, and is listed, as often. Neither hosts nor switches can tell them apart,
 * so that no other job gets one of them.
 */
#ifndef ROCESTEER_LIB_SLICE_PLACE_H
#define ROCESTEER_LIB_SLICE_PLACE_H

#include <stddef.h>
#include <stdio.h>
#include <linux/types.h>

#define SLICE_MAX_LEAVES	4096u
#define SLICE_MAX_SPINES	1024u
#define SLICE_MAX_GPUS		1024u	/* per leaf */
#define SLICE_MAX_LINKS		16u	/* per leaf and spine */
#define SLICE_MAX_UPLINKS	1024u	/* per leaf */
#define SLICE_MAX_SHAPES	78	/* of 55440 GPUs: no number has more */

/**
 * struct slice_fabric - what is there, and what of it a job may have
 * @leaves: 1..SLICE_MAX_LEAVES
 * @spines: 1..SLICE_MAX_SPINES
 * @gpus_per_leaf: 1..SLICE_MAX_GPUS, a multiple of @gpus_per_server
 * @gpus_per_server: at least 1
 * @links_per_pair: links between a leaf and a spine; times @spines at most
 *	SLICE_MAX_UPLINKS
 * @free_gpus: by leaf, then server: 0..@gpus_per_server
 * @free_links: by leaf, then spine: 0..@links_per_pair; 0 where another job has one
 */
struct slice_fabric {
	__u32 leaves;
	__u32 spines;
	__u32 gpus_per_leaf;
	__u32 gpus_per_server;
	__u32 links_per_pair;
	__u16 *free_gpus;
	__u8 *free_links;
};

enum slice_stage {
	SLICE_SERVER,	/* inside a server */
	SLICE_LEAF,	/* inside a leaf */
	SLICE_VCLOS,	/* over several leaves */
	SLICE_OCS,	/* likewise, after circuits were re-wired */
};

/* Why there is no place: what slice_place() returns. */
enum slice_refusal {
	SLICE_NO_GPUS = 1,	/* fewer are free */
	SLICE_NO_LOCALITY,	/* too few servers are wholly free */
	SLICE_NO_NETWORK,	/* too few leaves with links to the same spines */
};

struct slice_server {
	__u32 leaf;
	__u32 server;	/* on its leaf */
	__u32 gpus;
};

/**
 * struct slice - a job's part of the fabric
 * @stage: where it was found
 * @leaves: ascending
 * @nr_leaves: at least 1
 * @spines: ascending, one entry per link that each leaf has; the k-th GPU of a
 *	leaf sends by the k-th
 * @nr_spines: GPUs per leaf, 0 inside a leaf
 * @servers: ascending by leaf, then server
 * @nr_servers: at least 1
 * @oxcs: the OXC of each link, by leaf, then spine; NULL where links are not
 *	circuits: see ocs.h
 * @objective: what was least: free GPUs of the leaf before, the sum of the
 *	leaves' free uplinks before, or the circuits that were taken down
 */
struct slice {
	enum slice_stage stage;
	__u32 *leaves;
	__u32 nr_leaves;
	__u32 *spines;
	__u32 nr_spines;
	struct slice_server *servers;
	__u32 nr_servers;
	__u32 *oxcs;
	__u64 objective;
};

/**
 * slice_place() - find the best place for a job
 * @fabric: stays as it is
 * @gpus: at least 1
 * @slice: filled; to be freed by slice_free()
 *
 * Exact in every stage: a place is found where there is one, and none has a
 * smaller objective. Its leaves take links to as few spines as have enough of them.
 * Equal input gives equal output on every machine.
 *
 * Return: 0; an enum slice_refusal; -ENOMEM.
 */
int slice_place(const struct slice_fabric *fabric, __u32 gpus,
		struct slice *slice);

/**
 * slice_place_at() - give a job servers that were chosen already
 * @fabric: stays as it is
 * @servers: ascending by leaf, then server, no two the same; GPUs of each
 * @nr: number of @servers, at least 1
 * @slice: filled; to be freed by slice_free()
 *
 * Over several leaves each of them gets as many links as the one with the most
 * GPUs needs, to the same spines, as few as have enough of them.
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
int slice_make_room(struct slice *slice, __u32 leaves, __u32 spines,
		    __u32 servers);

/**
 * struct slice_shape - a way to divide a job over leaves
 * @leaves: number of leaves
 * @gpus: per leaf, and links per leaf
 */
struct slice_shape {
	__u32 leaves;
	__u32 gpus;
};

/**
 * slice_shapes() - all ways to divide a job over several leaves
 * @fabric: its sizes
 * @gpus: of the job
 * @shapes: filled, the fewest leaves first, at most SLICE_MAX_SHAPES; they are
 *	tried in this order
 *
 * Return: how many there are.
 */
unsigned int slice_shapes(const struct slice_fabric *fabric, __u32 gpus,
			  struct slice_shape *shapes);

/**
 * slice_write_lp() - write the placement over leaves as an integer program
 * @file: in the LP format that glpsol and cbc read
 * @fabric: what a job may have
 * @shapes: the program is to take one of them; its least objective is then that
 *	of the best place of these shapes, and it has no solution where there is
 *	none
 * @nr: number of @shapes, may be 0
 *
 * Of shape t, leaf i is used when xt_i is 1, and yt_j links to spine j are used
 * at each such leaf. Errors of writing are left in @file.
 */
void slice_write_lp(FILE *file, const struct slice_fabric *fabric,
		    const struct slice_shape *shapes, unsigned int nr);

#endif /* ROCESTEER_LIB_SLICE_PLACE_H */
