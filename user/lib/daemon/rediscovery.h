/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fabric hashes otherwise than it did: find the ports of a job's paths again.
 * In a process of its own, as that takes its time where routers limit their ICMP.
 */
#ifndef ROCESTEER_LIB_REDISCOVERY_H
#define ROCESTEER_LIB_REDISCOVERY_H

#include <stdbool.h>
#include <linux/types.h>

#include "task.h"
#include "group.h"

/**
 * struct rediscovery - state
 * @groups: tables and groups
 * @short_quotes: as in struct probe_batch_config
 * @task: its @loop, @done and @arg are the caller's
 * @job: of the one under way
 * @ifindex: its device
 * @again: when another may begin for them, CLOCK_MONOTONIC ns
 */
struct rediscovery {
	struct groups *groups;
	bool short_quotes;
	struct task task;
	__u32 job;
	__u32 ifindex;
	__u64 again;
};

/**
 * rediscovery_start() - probe for ports, and put those found into rs_peers
 * @rediscovery: state
 * @group: of the job and device
 *
 * The port of a path that is up but was not found becomes 0; one that is down
 * keeps its port, to be asked again. One at a time, and not for the same job again
 * within ten seconds: nothing is done where it is too early. Nor are ports put into
 * another job that has got this number by then, unless it has the same paths. What is in
 * rs_qpns is to be found again.
 *
 * Return: 1 when it began, 0, or a negative errno.
 */
int rediscovery_start(struct rediscovery *rediscovery, const struct group *group);

#endif /* ROCESTEER_LIB_REDISCOVERY_H */
