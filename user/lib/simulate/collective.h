/* SPDX-License-Identifier: GPL-2.0 */
/* The flows of collectives, added to a traffic step by step. */
#ifndef ROCESTEER_LIB_SIMULATE_COLLECTIVE_H
#define ROCESTEER_LIB_SIMULATE_COLLECTIVE_H

#include "chunk/chunk.h"
#include "traffic.h"

/**
 * struct sim_groups - hosts that run a collective with each other, in groups at the same time
 * @n: members of a group, at least 2
 * @nr: number of groups
 * @stride: from a member to the next one
 * @apart: from the first member of a group to the first one of the next group
 */
struct sim_groups {
	__u32 n;
	__u32 nr;
	__u32 stride;
	__u32 apart;
};

/**
 * sim_add_flow() - add a flow to the step behind those of a traffic
 * @traffic: traffic; @steps is the number of the step
 * @from: host
 * @to: another host; if it is the same one, nothing is added
 * @bytes: above 0
 *
 * Return: 0; -E2BIG beyond SIM_MAX_FLOWS; -ENOMEM.
 */
int sim_add_flow(struct sim_traffic *traffic, __u32 from, __u32 to, double bytes);

/**
 * sim_add_collective() - add the steps of a collective
 * @traffic: traffic
 * @groups: who takes part
 * @kind: kind
 * @alg: CHUNK_RING, CHUNK_HALVING, CHUNK_DIRECT, or CHUNK_TREE, which is a ring where the
 *	collective is no All-Reduce; an All-to-All is one step with all others
 * @bytes: of a member's buffer
 *
 * Steps that follow each other are one with all of their bytes if their pairs are equal, as those
 * of a ring; and so are a step of a Reduce-Scatter and that of the All-Gather which reverses it.
 *
 * Return: as sim_add_flow().
 */
int sim_add_collective(struct sim_traffic *traffic, const struct sim_groups *groups,
		       enum chunk_kind kind, enum chunk_alg alg, double bytes);

#endif /* ROCESTEER_LIB_SIMULATE_COLLECTIVE_H */
