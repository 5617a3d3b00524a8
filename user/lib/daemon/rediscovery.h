/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fabric hashes in another way than before: find the ports of a job's paths again, in a
 * background task, because routers limit their ICMP.
 */
#ifndef ROCESTEER_LIB_REDISCOVERY_H
#define ROCESTEER_LIB_REDISCOVERY_H

#include <stdbool.h>
#include <linux/types.h>

#include "groups/groups.h"
#include "task.h"

/**
 * struct rediscovery - state
 * @groups: tables and groups
 * @short_quotes: as in struct probe_batch_config
 * @task: the probing; the caller sets @loop, @done and @arg
 * @job: job of the last task
 * @ifindex: device of the last task
 * @again: time when the same job and device may be probed again, CLOCK_MONOTONIC ns
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
 * rediscovery_start() - probe for ports, and write them into rs_peers
 * @rediscovery: state
 * @group: of the job and device
 *
 * A path that is up but was not found gets port 0; a path that is down keeps its port. One
 * task runs at a time, and none for the same job within ten seconds. If another job has got
 * the number by then, it gets the ports only if it has the same paths. The ports of rs_qpns
 * are forgotten.
 *
 * Return: 1 if the task began, 0, or a negative errno.
 */
int rediscovery_start(struct rediscovery *rediscovery, const struct group *group);

#endif /* ROCESTEER_LIB_REDISCOVERY_H */
