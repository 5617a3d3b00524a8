/* SPDX-License-Identifier: GPL-2.0 */
/* What the module asks BPF when a queue pair is connected: kmod/steer/policy.c. */
#ifndef ROCESTEER_POLICY_H
#define ROCESTEER_POLICY_H

#include "types.h"

/* The packets of the queue pair are made by the kernel: they pass TC. */
#define ROCESTEER_QP_SOFTWARE	0x1
/* It has a flow label that no application chose: of a lane of UCX, or of rdma_cm. */
#define ROCESTEER_QP_LABELLED	0x2

/**
 * struct rocesteer_policy - steers the queue pairs of a network namespace,
 * a struct_ops type
 * @source_port: the UDP source port of a queue pair that is about to be
 *	connected, network order; 0 leaves it to the driver, as does a port
 *	below ROCESTEER_SPORT_MIN, which no flow label yields. Called once a
 *	connection, for RC over RoCE v2, unless the application chose a flow
 *	label. The flow is registered, maybe since a flow-add: its end,
 *	rocesteer_flow_del, will follow.
 *	@key: flow; @job: its number, 0 where no owner claims the flow;
 *	@flags: ROCESTEER_QP_*. Not sleepable, mandatory
 * @netns: SO_NETNS_COOKIE of the namespace, immutable
 */
struct rocesteer_policy {
	__be16 (*source_port)(const struct rocesteer_flow_key *key, __u32 job,
			      __u32 flags);
	__u64 netns;
};

#endif /* ROCESTEER_POLICY_H */
