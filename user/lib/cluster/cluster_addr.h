/* SPDX-License-Identifier: GPL-2.0 */
/* The addresses that a cluster file has of spines and GPUs, for the hosts. */
#ifndef ROCESTEER_LIB_CLUSTER_ADDR_H
#define ROCESTEER_LIB_CLUSTER_ADDR_H

#include "base/base.h"
#include "cluster_file.h"

/**
 * cluster_routers_read() - read the addresses with which spines answer probes
 * @r: the file; "routers" is the field
 * @array: by spine; or by leaf, then spine, where each leaf sees other addresses
 * @leaves: number of leaves
 * @n: number of spines
 * @spines: their numbers, of which equal ones follow each other; NULL: no two are equal
 * @routers: filled, by leaf, then spine; may be NULL
 *
 * No two spines have the same address for a leaf.
 *
 * Return: 0 or a negative errno.
 */
int cluster_routers_read(struct reader *r, struct json_object *array,
			 __u32 leaves, __u32 n, const __u32 *spines,
			 __u8 (*routers)[16]);

/**
 * cluster_addr_check() - check the addresses, where there are any
 * @r: the file
 * @root: all of it
 * @fabric: its sizes
 * @oxcs: 0: links are cables
 *
 * Return: 0 or a negative errno.
 */
int cluster_addr_check(struct reader *r, struct json_object *root,
		       const struct slice_fabric *fabric, __u32 oxcs);

/**
 * cluster_addr_put() - add the addresses to a slice, where there are any
 * @c: cluster
 * @slice: as cluster_slice_json() has it; "routers" come in the order of its
 *	spines, by leaf where the file has them so, "nics" of each server that is all the job's;
 *	"up" and "down" are the addresses of both ends of each of its links, where the
 *	file has them
 */
void cluster_addr_put(const struct cluster *c, struct json_object *slice);

#endif /* ROCESTEER_LIB_CLUSTER_ADDR_H */
