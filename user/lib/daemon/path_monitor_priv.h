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
 * @watch_at: time of the next check of a port
 * @watch_group: number of its group
 * @watch_path: its path
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
	__u64 watch_at;
	size_t watch_group;
	__u32 watch_path;
};

/* An event with the state of a path. */
struct json_object *path_judge_event(const struct group *group, __u32 p);

/* A path is up: use it, and say so. */
void path_judge_up(struct path_monitor *monitor, struct group *group, __u32 p, __u64 now);

/* Judge all paths of an examination that is done; @arg: struct path_monitor. */
void path_judge_all(struct group *group, void *arg);

#endif /* ROCESTEER_LIB_PATH_MONITOR_PRIV_H */
