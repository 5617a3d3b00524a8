/* SPDX-License-Identifier: GPL-2.0 */
/* Observe a job before its flows are steered. */
#ifndef ROCESTEER_LIB_STEER_OBSERVE_H
#define ROCESTEER_LIB_STEER_OBSERVE_H

#include "steer_tables.h"

/**
 * steer_job_observe() - observe, or steer, groups of a job
 * @s: open and locked
 * @job: its number
 * @observe: observe them; false: steer them
 * @groups: groups of the job
 * @nr: number of groups
 * @flows: set to the number of flows that change
 *
 * These flows are forgotten, with what they have sent, and entered by their next packet. A
 * queue pair that is steered by its label keeps it.
 *
 * Return: 0; -ENOENT if a group is gone; another negative errno.
 */
int steer_job_observe(struct steer *s, __u32 job, bool observe,
		      const struct rocesteer_group_key *groups, size_t nr, size_t *flows);

/**
 * struct steer_steering - groups of a job
 * @steered: number of groups whose flows are steered
 * @observed: number of groups whose flows are observed
 */
struct steer_steering {
	size_t steered;
	size_t observed;
};

/* Count the groups of a job. Return: 0 or a negative errno. */
int steer_job_steering(struct steer *s, __u32 job, struct steer_steering *steering);

/* Set whether new groups of a job are observed. Return: 0 or a negative errno. */
int steer_job_put_observe(struct steer *s, __u32 id, bool observe);

/*
 * Enter a flow that its job lists. It takes its share with its first request; an observed flow
 * has the port of its first packet. Return: 0 or a negative errno.
 */
int steer_flow_enter(struct steer *s, __u32 job, const struct rocesteer_flow_key *flow,
		     const __u8 source[16], bool observe);

#endif /* ROCESTEER_LIB_STEER_OBSERVE_H */
