/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The daemon plans a group again when its flows change, or when one of its paths goes down
 * or comes back.
 */
#ifndef ROCESTEER_LIB_DAEMON_H
#define ROCESTEER_LIB_DAEMON_H

#include <stdbool.h>
#include <json-c/json.h>

#include "base/base.h"
#include "groups/groups.h"

/**
 * struct daemon_config - settings and callbacks
 * @hold_ms: time that a dead path is held down, at least
 * @timeout_ms: time to wait for the first answer to a probe
 * @short_quotes: as in struct probe_batch_config
 * @ready: called once, when all groups are planned
 * @emit: called for each event, which is released by the caller
 * @jobs: loads jobs that files describe, or NULL; called at the start and on SIGHUP with
 *	@all, and again without @all while it returns true: a job could not be loaded.
 *	@say takes events
 * @arg: passed to the callbacks
 */
struct daemon_config {
	unsigned int hold_ms;
	unsigned int timeout_ms;
	bool short_quotes;
	void (*ready)(void *arg);
	void (*emit)(struct json_object *event, void *arg);
	bool (*jobs)(bool all, void (*say)(struct json_object *event, void *daemon),
		     void *daemon, void *arg);
	void *arg;
};

/**
 * daemon_run() - serve until SIGTERM or SIGINT
 * @config: settings
 * @err: filled on failure: "running" and those of steer_open()
 *
 * The tables stay as they are at the end.
 *
 * Return: 0 or a negative errno.
 */
int daemon_run(const struct daemon_config *config, struct err *err);

#endif /* ROCESTEER_LIB_DAEMON_H */
