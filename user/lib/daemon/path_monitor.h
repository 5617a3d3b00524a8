/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The path monitor examines paths that flows avoid, takes dead ones down, and takes them up
 * when they answer again. It also checks ports in turn: does each still take its path?
 */
#ifndef ROCESTEER_LIB_PATH_MONITOR_H
#define ROCESTEER_LIB_PATH_MONITOR_H

#include <json-c/json.h>

#include "base/base.h"
#include "groups/groups.h"

/**
 * struct path_monitor_config - settings and callbacks
 * @hold: time that a dead path is held down at least, ns
 * @timeout_ms: time to wait for the first answer to a probe
 * @short_quotes: as in struct probe_batch_config
 * @emit: called for each event, which it releases
 * @moved: called when the port of path @p takes another path
 * @device: called for each device that changed; @name is NULL if the device is gone
 * @arg: passed to the callbacks
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
 * path_monitor_open() - start to monitor paths
 * @monitor: set; to be given back by path_monitor_close()
 * @config: kept
 * @groups: kept
 * @loop: event loop
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int path_monitor_open(struct path_monitor **monitor,
		      const struct path_monitor_config *config,
		      struct groups *groups, struct loop *loop,
		      struct err *err);

void path_monitor_close(struct path_monitor *monitor);

/* The tables were read again: examine the paths that are down in them. */
int path_monitor_read(struct path_monitor *monitor);

/* A group is freed, or all are. */
void path_monitor_forget(struct path_monitor *monitor, struct group *group);
void path_monitor_forget_all(struct path_monitor *monitor);

/* A flow of @group avoids @path. Return: 0 or -ENOMEM. */
int path_monitor_suspect(struct path_monitor *monitor, struct group *group,
			 const struct rocesteer_flow_key *flow, __u32 path);

/* When path_monitor_step() is to be called: CLOCK_MONOTONIC ns, or LOOP_NEVER. */
__u64 path_monitor_due(struct path_monitor *monitor);

/**
 * path_monitor_step() - do the work that is due
 * @monitor: monitor
 *
 * A group is marked as changed if one of its paths goes down or comes up.
 *
 * Return: the number of such paths, or a negative errno.
 */
int path_monitor_step(struct path_monitor *monitor);

/* Call @fn with an event for each device without carrier, and for each path that is not up. */
void path_monitor_each(struct path_monitor *monitor,
		       void (*fn)(struct json_object *event, void *arg),
		       void *arg);

#endif /* ROCESTEER_LIB_PATH_MONITOR_H */
