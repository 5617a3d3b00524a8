/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_QP_H
#define ROCESTEER_QP_H

#include <linux/in6.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include <uapi/linux/rocesteer.h>

struct pid;

/**
 * struct rocesteer_qp - queue pair of a flow
 * @qp: compared, never dereferenced, as a flow holds no reference. NULL for a flow of
 *	flow-add
 * @owner: thread group that connected it; NULL for the kernel
 * @uid: user that the flow is charged to; 0 for the kernel
 * @sqpn: queue pair number
 * @local: own address, as a GID
 * @path_mtu: in bytes
 * @rq_psn: PSN of the first packet that it receives
 * @label: who chose the flow label
 * @running: connected before it was learnt, may be in use
 * @software: the kernel generates its packets, which pass TC
 * @device: name of the RDMA device when the queue pair was connected
 */
struct rocesteer_qp {
	const struct ib_qp *qp;
	struct pid *owner;
	u32 uid;
	u32 sqpn;
	struct in6_addr local;
	u32 path_mtu;
	u32 rq_psn;
	enum rocesteer_label label;
	bool running;
	bool software;
	char device[IB_DEVICE_NAME_MAX];
};

#endif /* ROCESTEER_QP_H */
