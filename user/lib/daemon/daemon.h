/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps the tables of this network namespace true: plans a group when its
 * flows change, or one of its paths dies or comes back.
 */
#ifndef ROCESTEER_LIB_DAEMON_H
#define ROCESTEER_LIB_DAEMON_H

#include <stdbool.h>
#include <json-c/json.h>

#include "base/base.h"
#include "event.h"
#include "event_socket.h"
#include "group.h"
#include "rates.h"

/**
 * struct daemon_config - how
 * @hold_ms: how long a path that is dead is held down at least
 * @timeout_ms: how long the first answer to a probe is waited for
 * @short_quotes: as in struct probe_batch_config
 * @ready: called once, when everything is as it should be
 * @tell: called for each event; released behind
 * @jobs: called at the beginning and on SIGHUP with @all, to load jobs that files describe;
 *	@say takes events. Where it returns true, some could not be loaded: it is called
 *	again, without @all, soon; may be NULL
 * @arg: passed to these
 */
struct daemon_config {
	unsigned int hold_ms;
	unsigned int timeout_ms;
	bool short_quotes;
	void (*ready)(void *arg);
	void (*tell)(struct json_object *event, void *arg);
	bool (*jobs)(bool all, void (*say)(struct json_object *event, void *daemon),
		     void *daemon, void *arg);
	void *arg;
};

/**
 * daemon_run() - keep the tables true until SIGTERM or SIGINT
 * @config: how
 * @err: filled on failure: "running" and those of steer_open()
 *
 * Everything stays in the tables at the end.
 *
 * Return: 0 or a negative errno.
 */
int daemon_run(const struct daemon_config *config, struct err *err);

#endif /* ROCESTEER_LIB_DAEMON_H */
