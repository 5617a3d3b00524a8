/* SPDX-License-Identifier: GPL-2.0 */
/* Policies: who chooses the path of a flow. */
#ifndef ROCESTEER_LIB_SIMULATE_POLICY_H
#define ROCESTEER_LIB_SIMULATE_POLICY_H

#include <linux/types.h>

#define SIM_MAX_QPS	64u

/**
 * enum sim_kind - who chooses a path
 * @SIM_ECMP: the switches, at random for each queue pair
 * @SIM_SPRAY: the switches, for each packet, evenly
 * @SIM_REPS: the sender, for each packet, among paths that were good: each path gets what its
 *	links let through
 * @SIM_PLACE: rocesteer, queue pairs by the place of the host
 * @SIM_FEWEST: rocesteer, flows in the fewest pieces
 * @SIM_ALL: rocesteer, every flow over all paths
 * @SIM_LABEL: rocesteer, queue pairs when they connect, by their flow labels
 * @SIM_NETREDUCE: rocesteer_reduce: switches sum
 * @SIM_SLICE: rocesteer, by the lanes of the job's slice; the traffic has the paths
 * @SIM_RECORDED: the traffic has the paths
 *
 * Spraying, and flows over all paths or in pieces, send in fixed parts: a flow is as slow as its
 * slowest path.
 */
enum sim_kind {
	SIM_ECMP,
	SIM_SPRAY,
	SIM_REPS,
	SIM_PLACE,
	SIM_FEWEST,
	SIM_ALL,
	SIM_LABEL,
	SIM_NETREDUCE,
	SIM_SLICE,
	SIM_RECORDED,
};

/* Their names, ended by NULL. */
extern const char * const sim_kinds[];

/**
 * struct sim_policy - a policy
 * @kind: who chooses
 * @qps: queue pairs of a connection, which share its bytes: 1..SIM_MAX_QPS, 1 but for
 *	SIM_ECMP, SIM_PLACE and SIM_LABEL
 */
struct sim_policy {
	enum sim_kind kind;
	__u32 qps;
};

#define SIM_POLICY_NAME	16

/* Read the name of a policy: ecmp, ecmp-4qp, .. Return: 0 or -EINVAL. */
int sim_policy_read(struct sim_policy *policy, const char *name);

/* The name of a policy. Return: @buf. */
const char *sim_policy_name(const struct sim_policy *policy, char buf[SIM_POLICY_NAME]);

#endif /* ROCESTEER_LIB_SIMULATE_POLICY_H */
