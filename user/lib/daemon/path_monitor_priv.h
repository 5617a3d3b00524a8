/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the monitor of paths. */
#ifndef ROCESTEER_LIB_PATH_MONITOR_PRIV_H
#define ROCESTEER_LIB_PATH_MONITOR_PRIV_H

#include "base/base.h"
#include "path_exam.h"
#include "path_health.h"
#include "path_monitor.h"
#include "refusal.h"

#define MSEC	1000000ull

/**
 * struct path_monitor - state
 * @config: settings of the caller
 * @groups: groups of the caller
 * @carriers: state of devices
 * @source: source of @carriers
 * @dark: set of struct nic: devices without a carrier
 * @exams: examinations
 * @refusals: listener for ICMP errors
 * @changes: paths that went down or came up in this step
 * @watches: set of struct watch: checks of ports, by device
 */
struct path_monitor {
	const struct path_monitor_config *config;
	struct groups *groups;
	struct loop *loop;
	struct carrier_monitor *carriers;
	struct source source;
	struct set dark;
	struct path_exams *exams;
	struct refusals refusals;
	int changes;
	struct set watches;
};

/* The state of a group's paths, NULL without memory. */
struct path_health *path_monitor_health(struct group *group);

/* Has a device no carrier? */
bool path_monitor_is_dark(const struct path_monitor *monitor, __u32 ifindex);

/* Is there a group of the device? */
bool path_monitor_has_group(const struct path_monitor *monitor, __u32 ifindex);

/* The groups were read again: check ports of their devices. Return: 0 or -ENOMEM. */
int path_watch_read(struct path_monitor *monitor, __u64 now);

/* Check a port of each device that is due. Return: 0 or -ENOMEM. */
int path_watch_step(struct path_monitor *monitor, __u64 now);

/* When path_watch_step() has something to do, or LOOP_NEVER. */
__u64 path_watch_due(const struct path_monitor *monitor);

/* An event with the state of a path. */
struct json_object *path_judge_event(const struct group *group, __u32 p);

/* A path is up: use it, and say so. */
void path_judge_up(struct path_monitor *monitor, struct group *group, __u32 p, __u64 now);

/* Judge all paths of an examination that is done; @arg: struct path_monitor. */
void path_judge_all(struct group *group, void *arg);

#endif /* ROCESTEER_LIB_PATH_MONITOR_PRIV_H */
