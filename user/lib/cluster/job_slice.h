/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A slice as the hosts of its job see it: addresses of its GPUs and spines, by which a port
 * map is restricted to the slice.
 */
#ifndef ROCESTEER_LIB_JOB_SLICE_H
#define ROCESTEER_LIB_JOB_SLICE_H

#include <linux/types.h>

#include "portmap/portmap.h"
#include "slice/slice.h"
#include "cluster_file.h"

/**
 * struct job_link - the ends of a link
 * @up: addresses; the spine answers from one of them if a probe came up by the link
 * @nr_up: at least 1
 * @down: address from which the leaf answers if a probe came down by the link
 */
struct job_link {
	__u8 (*up)[16];
	size_t nr_up;
	__u8 down[16];
};

/**
 * struct job_slice - a slice with addresses
 * @slice: leaves of the ranks, and lanes
 * @job: name of the job, or empty
 * @routers: by leaf, then lane: address of the spine; NULL: @link has the addresses
 * @link: by leaf, then lane, then link; NULL: the spine tells the lanes of a leaf apart
 * @nr_links: number of @link
 * @first_link: by leaf: index of its first link
 * @nic: by rank: address of the GPU's NIC
 *
 * A slice under one leaf needs no addresses: all pointers are NULL.
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
 * job_slice_read() - read the output of slice alloc or show
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
 * job_slice_restrict() - restrict a port map to the slice
 * @js: slice
 * @ports: port map of a host of the slice; keeps the slice's ranks as peers, with the paths
 *	by the slice's lanes, weighted by the number of lanes that a path serves. The path
 *	of the lane of the host's GPU is its home
 * @rank: set to the rank of the GPU that has the port map, 0 under one leaf
 * @err: filled on failure: "not-in-slice": the host is not in the slice; "no-port": a path
 *	of the slice is missing; "other-leaf": a rank of the same leaf is under another one
 *
 * Return: 0 or a negative errno.
 */
int job_slice_restrict(struct job_slice *js, struct portmap *ports, __u32 *rank, struct err *err);

#endif /* ROCESTEER_LIB_JOB_SLICE_H */
