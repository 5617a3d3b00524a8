/* SPDX-License-Identifier: GPL-2.0 */
/* The traffic of a step of a training job. */
#ifndef ROCESTEER_LIB_SIMULATE_STEP_H
#define ROCESTEER_LIB_SIMULATE_STEP_H

#include "chunk/chunk.h"
#include "traffic.h"

struct err;

/**
 * sim_traffic_step() - the collectives of a step, one after the other
 * @traffic: filled; to be freed by sim_traffic_free() in any case
 * @step: the step; its ranks are the hosts, in order
 * @alg: algorithm of the collectives: CHUNK_RING, CHUNK_HALVING, CHUNK_DIRECT, or CHUNK_TREE, which
 *	is a ring where the collective is no All-Reduce. An All-to-All is one step with all others
 * @hosts: number of hosts, at least 2
 * @err: says why the hosts do not take a collective
 *
 * A collective runs in all groups of its kind at the same time. Its @count times are one with all
 * of their bytes, and so are steps that follow each other if their pairs are equal, as those of a
 * ring; and an All-Gather and the Reduce-Scatter that is its reverse.
 *
 * Return: 0 or a negative errno.
 */
int sim_traffic_step(struct sim_traffic *traffic, const struct chunk_step *step, enum chunk_alg alg,
		     __u32 hosts, struct err *err);

#endif /* ROCESTEER_LIB_SIMULATE_STEP_H */
