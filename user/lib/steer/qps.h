/* SPDX-License-Identifier: GPL-2.0 */
/* The queue pairs of this network namespace's RDMA devices, as "rdma resource show qp". */
#ifndef ROCESTEER_LIB_QPS_H
#define ROCESTEER_LIB_QPS_H

#include <linux/types.h>

#include "base/base.h"

/**
 * qps_each() - walk the RC queue pairs of all RDMA devices
 * @fn: called for each, with the net device of the RDMA device's first port that has one,
 *	and the number of the queue pair; what it returns, if not 0, ends the walk
 * @arg: passed to @fn
 * @err: filled on failure
 *
 * Return: 0, what @fn returned, or a negative errno.
 */
int qps_each(int (*fn)(__u32 ifindex, __u32 sqpn, void *arg), void *arg, struct err *err);

#endif /* ROCESTEER_LIB_QPS_H */
