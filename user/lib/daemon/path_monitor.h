/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds out which paths are dead: examines those that flows avoid, takes them
 * out of use, and back when they answer again. And which are others now: looks at
 * one a second.
 */
#ifndef ROCESTEER_LIB_PATH_MONITOR_H
#define ROCESTEER_LIB_PATH_MONITOR_H

#include <json-c/json.h>

#include "base/base.h"
#include "group.h"

/**
 * struct path_monitor_config - how, and who wants to know
 * @hold: how long a path is held down at least, ns
 * @timeout_ms: how long the first answer to a probe is waited for
 * @short_quotes: as in struct probe_batch_config
 * @emit: called for each event, which is released there
 * @moved: called when the port of path @p takes another one now
 * @device: called for each device that changed; @name is NULL where it is gone
 * @arg: passed to all
 */
struct path_monitor_config {
	__u64 hold;
	unsigned int timeout_ms;
	bool short_quotes;
	void (*emit)(struct json_object *event, void *arg);
	void (*moved)(struct group *group, __u32 p, void *arg);
	void (*device)(__u32 ifindex, const char *name, void *arg);
	void *arg;
};

struct path_monitor;

/**
 * path_monitor_open() - watch over paths
 * @monitor: set; to be given back by path_monitor_close()
 * @config: has to stay
 * @groups: likewise
 * @loop: where answers are waited for
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int path_monitor_open(struct path_monitor **monitor,
		      const struct path_monitor_config *config,
		      struct groups *groups, struct loop *loop,
		      struct err *err);

void path_monitor_close(struct path_monitor *monitor);

/* The tables were read again: what is down in them is examined. */
int path_monitor_read(struct path_monitor *monitor);

/* A group goes, or all. */
void path_monitor_forget(struct path_monitor *monitor, struct group *group);
void path_monitor_forget_all(struct path_monitor *monitor);

/* A flow of @group avoids @path. Return: 0 or -ENOMEM. */
int path_monitor_suspect(struct path_monitor *monitor, struct group *group,
			 const struct rocesteer_flow_key *flow, __u32 path);

/* When path_monitor_step() is to be called: CLOCK_MONOTONIC ns, or LOOP_NEVER. */
__u64 path_monitor_due(struct path_monitor *monitor);

/**
 * path_monitor_step() - do what can be done now
 * @monitor: monitor
 *
 * Groups are marked as changed where a path went down or came up.
 *
 * Return: how many did, or a negative errno.
 */
int path_monitor_step(struct path_monitor *monitor);

/* Call @fn with an event for each path that is not up. */
void path_monitor_each(struct path_monitor *monitor,
		       void (*fn)(struct json_object *event, void *arg),
		       void *arg);

#endif /* ROCESTEER_LIB_PATH_MONITOR_H */
