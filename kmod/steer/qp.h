/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROCESTEER_QP_H
#define ROCESTEER_QP_H

#include <linux/in6.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include <uapi/linux/rocesteer.h>

struct pid;

/**
 * struct rocesteer_qp - what is known of a flow's queue pair
 * @qp: which one: compared, never dereferenced, since a flow holds no
 *	reference. NULL when the flow was only given by flow-add
 * @owner: thread group that connected it; NULL for the kernel's own
 * @uid: user that connected it, to whom the flow is charged; 0 for the kernel
 * @sqpn: its number
 * @local: its own address, as a GID
 * @path_mtu: in bytes
 * @rq_psn: PSN of the first packet it receives
 * @label: who chose its flow label
 * @running: it was connected before it was learnt, and may be in use
 * @software: its packets are made by the kernel and pass TC
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
