/* SPDX-License-Identifier: GPL-2.0 */
/* Choice of the source port when a queue pair is connected: kmod/steer/policy.c */
#ifndef ROCESTEER_POLICY_H
#define ROCESTEER_POLICY_H

#include "types.h"

struct in6_addr;

/* The kernel generates the packets of the queue pair: they pass TC. */
#define ROCESTEER_QP_SOFTWARE	0x1
/* The flow label is of a lane of UCX or of rdma_cm, not chosen by the application. */
#define ROCESTEER_QP_LABELLED	0x2

/**
 * struct rocesteer_policy - struct_ops type that steers queue pairs of a network namespace
 * @source_port: returns the UDP source port of a queue pair that is about to be connected,
 *	network order; below ROCESTEER_SPORT_MIN, for example 0, the driver chooses. Called
 *	once for each connection of RC over RoCE v2, unless the application chose a flow
 *	label. The flow @key is registered: rocesteer_flow_del will follow. @job is 0 if no
 *	job owns the flow; @flags are ROCESTEER_QP_*; @source is our address. Mandatory, not
 *	sleepable
 * @netns: SO_NETNS_COOKIE of the namespace, immutable
 */
struct rocesteer_policy {
	__be16 (*source_port)(const struct rocesteer_flow_key *key, __u32 job,
			      __u32 flags, const struct in6_addr *source);
	__u64 netns;
};

#endif /* ROCESTEER_POLICY_H */
