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
 * @alg: algorithm of the collectives, as of sim_add_collective()
 * @hosts: number of hosts, at least 2
 * @err: says why the hosts do not take a collective
 *
 * A collective runs in all groups of its kind at the same time. Its @count times are one with all
 * of their bytes.
 *
 * Return: 0 or a negative errno.
 */
int sim_traffic_step(struct sim_traffic *traffic, const struct chunk_step *step, enum chunk_alg alg,
		     __u32 hosts, struct err *err);

#endif /* ROCESTEER_LIB_SIMULATE_STEP_H */
