/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fabric hashes otherwise than it did: find the ports of a job's paths again.
 * In a process of its own, as that takes its time where routers limit their ICMP.
 */
#ifndef ROCESTEER_LIB_REDISCOVERY_H
#define ROCESTEER_LIB_REDISCOVERY_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/base.h"
#include "group.h"

/**
 * struct rediscovery - state; @pid is 0 while none is under way
 * @loop: where its end is waited for
 * @short_quotes: as in struct probe_batch_config
 * @done: called at the end; the message says what went wrong, or is empty
 * @arg: passed to @done
 * @source: what the process says
 * @pid: the process
 * @job: its job
 * @ifindex: and device
 * @again: when another may begin for them, CLOCK_MONOTONIC ns
 */
struct rediscovery {
	struct loop *loop;
	bool short_quotes;
	int (*done)(const char *message, void *arg);
	void *arg;
	struct source source;
	pid_t pid;
	__u32 job;
	__u32 ifindex;
	__u64 again;
};

/**
 * rediscovery_start() - probe for ports, and put those found into rs_peers
 * @rediscovery: all up to @arg is set
 * @groups: tables and groups
 * @group: of the job and device
 *
 * The port of a path that is up but was not found becomes 0; one that is down
 * keeps its port, to be asked again. One at a time, and not for the same job again
 * within ten seconds: nothing is done where it is too early. Nor are ports put into
 * another job that has got this number by then, unless it has the same paths.
 *
 * Return: 1 when it began, 0, or a negative errno.
 */
int rediscovery_start(struct rediscovery *rediscovery, struct groups *groups,
		      const struct group *group);

void rediscovery_stop(struct rediscovery *rediscovery);

#endif /* ROCESTEER_LIB_REDISCOVERY_H */
