/* SPDX-License-Identifier: GPL-2.0 */
/* The queue pairs of this network namespace's RDMA devices, as "rdma resource show qp" has them. */
#ifndef ROCESTEER_LIB_QPS_H
#define ROCESTEER_LIB_QPS_H

#include "base/base.h"

struct genl;

/**
 * qps_adopt() - have the module learn queue pairs that were connected before it came
 * @genl: connection
 * @err: filled on failure
 *
 * All RC queue pairs of RDMA devices with a net device are tried; the module refuses what it
 * has no use for.
 *
 * Return: how many the module knows, or a negative errno.
 */
long qps_adopt(struct genl *genl, struct err *err);

#endif /* ROCESTEER_LIB_QPS_H */
