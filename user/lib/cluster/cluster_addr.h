/* SPDX-License-Identifier: GPL-2.0 */
/* The addresses that a cluster file has of spines and GPUs, for the hosts. */
#ifndef ROCESTEER_LIB_CLUSTER_ADDR_H
#define ROCESTEER_LIB_CLUSTER_ADDR_H

#include "base/base.h"
#include "cluster_file.h"

/**
 * cluster_addr_check() - check the addresses, where there are any
 * @r: the file
 * @root: all of it
 * @fabric: its sizes
 *
 * Return: 0 or a negative errno.
 */
int cluster_addr_check(struct reader *r, struct json_object *root,
		       const struct slice_fabric *fabric);

/**
 * cluster_addr_put() - add the addresses to a slice, where there are any
 * @c: cluster
 * @slice: as cluster_slice_json() has it; "routers" come in the order of its
 *	spines, "nics" of each server that is all the job's
 */
void cluster_addr_put(const struct cluster *c, struct json_object *slice);

#endif /* ROCESTEER_LIB_CLUSTER_ADDR_H */
