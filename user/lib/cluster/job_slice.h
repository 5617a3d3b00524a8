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
 * struct job_slice - a slice with addresses
 * @slice: which ranks are on which leaf, and its spines
 * @job: its name, empty where the file has none
 * @routers: by leaf, then lane: address of its spine
 * @router: those of the first leaf; from job_slice_restrict() on, of the host's leaf
 * @lane: of the host's GPU, from job_slice_restrict() on
 * @nic: by rank: address of the GPU's NIC
 *
 * Under one leaf there is no spine, and no need for addresses: all are NULL.
 */
struct job_slice {
	struct contention_slice slice;
	char job[CLUSTER_MAX_ID + 1];
	__u8 (*routers)[16];
	const __u8 (*router)[16];
	__u32 lane;
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
 * @js: slice; its @router becomes that of the host's leaf
 * @ports: port map of one of its hosts; keeps the slice's ranks as peers, and
 *	their paths by the slice's spines
 * @place: set to the place on its leaf of the GPU that has the port map
 * @err: filled on failure: "not-in-slice" where the port map is none of the
 *	slice's; "no-port" where it lacks a path of the slice; "other-leaf" where
 *	it has a rank of the same leaf under another one
 *
 * Return: 0 or a negative errno.
 */
int job_slice_restrict(struct job_slice *js, struct portmap *ports,
		       __u32 *place, struct err *err);

#endif /* ROCESTEER_LIB_JOB_SLICE_H */
