/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fabric hashes otherwise than it did: find the ports of a job's paths again.
 * In a process of its own, as that takes its time where routers limit their ICMP.
 */
#ifndef ROCESTEER_REMAP_H
#define ROCESTEER_REMAP_H

#include <stdbool.h>
#include <sys/types.h>

#include "group.h"
#include "loop.h"

/**
 * struct remap - state; @pid is 0 while none is under way
 * @loop: where its end is waited for
 * @short_quotes: as in struct survey_config
 * @done: called at the end; the message says what went wrong, or is empty
 * @arg: passed to @done
 * @source: what the process says
 * @pid: the process
 * @job: its job
 * @ifindex: and device
 * @again: when another may begin for them, CLOCK_MONOTONIC ns
 */
struct remap {
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
 * remap_start() - probe for ports, and put those found into rs_peers
 * @remap: all up to @arg is set
 * @groups: tables and groups
 * @group: of the job and device
 *
 * The port of a path that is up but was not found becomes 0; one that is down
 * keeps its port, to be asked again. One at a time, and not for the same job again
 * within ten seconds: nothing is done where it is too early. Nor are ports put into
 * another job that has got this number by then, unless it has the same routers.
 *
 * Return: 1 when it began, 0, or a negative errno.
 */
int remap_start(struct remap *remap, struct groups *groups,
		const struct group *group);

void remap_stop(struct remap *remap);

#endif /* ROCESTEER_REMAP_H */
