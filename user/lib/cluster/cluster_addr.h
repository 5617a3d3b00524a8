/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of spines and GPUs in a cluster file. */
#ifndef ROCESTEER_LIB_CLUSTER_ADDR_H
#define ROCESTEER_LIB_CLUSTER_ADDR_H

#include "base/base.h"
#include "cluster_file.h"

/**
 * cluster_routers_read() - read the addresses with which spines answer probes
 * @r: reader; the field is "routers"
 * @array: by spine; or by leaf, then spine, if each leaf sees other addresses
 * @leaves: number of leaves
 * @n: number of spines
 * @spines: numbers of the spines, in which equal ones are adjacent; NULL: no two are equal
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
 * cluster_addr_check() - check the addresses, if there are any
 * @r: reader
 * @root: root of the file
 * @fabric: sizes
 * @oxcs: 0: links are cables
 *
 * Return: 0 or a negative errno.
 */
int cluster_addr_check(struct reader *r, struct json_object *root,
		       const struct slice_fabric *fabric, __u32 oxcs);

/**
 * cluster_addr_put() - add addresses to a slice, if there are any
 * @c: cluster
 * @slice: from cluster_slice_json(); gets "routers" in the order of its spines, by leaf if
 *	the file has routers by leaf, "nics" of each server that the job has as a whole, and
 *	"up" and "down", the addresses of both ends of each link
 */
void cluster_addr_put(const struct cluster *c, struct json_object *slice);

#endif /* ROCESTEER_LIB_CLUSTER_ADDR_H */
