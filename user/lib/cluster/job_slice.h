/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A slice as the hosts of its job see it: the addresses that its GPUs and spines
 * have in port maps, and what is left of a port map within it.
 */
#ifndef ROCESTEER_LIB_JOB_SLICE_H
#define ROCESTEER_LIB_JOB_SLICE_H

#include <linux/types.h>

#include "portmap/portmap.h"
#include "slice/slice.h"
#include "cluster_file.h"

/**
 * struct job_link - the ends of a link
 * @up: addresses, one of which the spine answers from where a probe came up by it
 * @nr_up: at least 1
 * @down: address that the leaf answers from where a probe came down by it
 */
struct job_link {
	__u8 (*up)[16];
	size_t nr_up;
	__u8 down[16];
};

/**
 * struct job_slice - a slice with addresses
 * @slice: which ranks are on which leaf, and its lanes
 * @job: its name, empty where the file has none
 * @routers: by leaf, then lane: address of its spine; NULL: @link has them
 * @link: by leaf, then lane, then link of the leaf there; NULL: a lane of a leaf is told by
 *	its spine
 * @nr_links: number of @link
 * @first_link: by leaf: where its links begin
 * @nic: by rank: address of the GPU's NIC
 *
 * Under one leaf there is no spine, and no need for addresses: all are NULL.
 */
struct job_slice {
	struct contention_slice slice;
	char job[CLUSTER_MAX_ID + 1];
	__u8 (*routers)[16];
	struct job_link *link;
	size_t nr_links;
	__u32 *first_link;
	__u8 (*nic)[16];
};

/**
 * job_slice_read() - read what slice alloc and show print
 * @js: filled; to be freed by job_slice_free() in any case
 * @obj: the JSON
 * @file: name for messages
 * @err: names file and field
 *
 * Return: 0 or a negative errno.
 */
int job_slice_read(struct job_slice *js, struct json_object *obj,
		   const char *file, struct err *err);

void job_slice_free(struct job_slice *js);

/**
 * job_slice_restrict() - leave in a port map what is in the slice
 * @js: slice
 * @ports: port map of one of its hosts; keeps the slice's ranks as peers, and for each
 *	of these the paths by the slice's lanes, weighted by the lanes that they serve;
 *	the path of the lane of the host's GPU is its home
 * @rank: set to the rank of the GPU that has the port map, 0 under one leaf
 * @err: filled on failure: "not-in-slice" where the port map is none of the
 *	slice's; "no-port" where it lacks a path of the slice; "other-leaf" where
 *	it has a rank of the same leaf under another one
 *
 * Return: 0 or a negative errno.
 */
int job_slice_restrict(struct job_slice *js, struct portmap *ports,
		       __u32 *rank, struct err *err);

#endif /* ROCESTEER_LIB_JOB_SLICE_H */
