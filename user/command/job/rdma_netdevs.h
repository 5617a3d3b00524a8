/* SPDX-License-Identifier: GPL-2.0 */
/* The network devices of RDMA devices. */
#ifndef ROCESTEER_RDMA_NETDEVS_H
#define ROCESTEER_RDMA_NETDEVS_H

#include <stddef.h>
#include <linux/types.h>

/**
 * rdma_netdevs() - list network devices that GIDs of RoCE v2 belong to, in this network namespace
 * @ifindex: filled
 * @most: how many fit
 *
 * Return: their number, at most @most.
 */
size_t rdma_netdevs(__u32 *ifindex, size_t most);

#endif /* ROCESTEER_RDMA_NETDEVS_H */
