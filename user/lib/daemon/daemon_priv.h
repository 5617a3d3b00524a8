/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of daemon_run(). */
#ifndef ROCESTEER_LIB_DAEMON_PRIV_H
#define ROCESTEER_LIB_DAEMON_PRIV_H

#include "base/base.h"
#include "steer/steer.h"
#include "daemon.h"
#include "flow_search.h"
#include "nic_proof.h"
#include "path_monitor.h"
#include "peer_search.h"
#include "qpn_search.h"
#include "rediscovery.h"

/**
 * struct daemon - state
 * @config: settings of the caller
 * @err: filled on failure
 * @loop: event loop
 * @server: socket for clients
 * @events: reader of @source_events, NULL while no job is loaded
 * @groups: copy of the tables
 * @monitor: state of the paths
 * @missing: of struct missing_device: jobs whose device is gone
 * @path_monitor_config: of @monitor
 * @rediscovery: finds the ports of paths again
 * @qpn_search: finds the ports of queue pairs, where switches hash their numbers
 * @peer_search: finds the ports of peers that no port map has
 * @flow_search: finds the paths of observed flows
 * @nic_proof: has NICs prove the paths of queue pairs
 * @plan_at: time to plan changed groups, or LOOP_NEVER
 * @jobs_at: time to load jobs from files again, or LOOP_NEVER
 * @reload: the tables have to be read again
 * @reload_at: earliest time to read them
 * @attempts: times in a row that the tables were locked
 * @ready: the tables have been read
 */
struct daemon {
	const struct daemon_config *config;
	struct err *err;
	struct loop loop;
	struct event_socket *server;
	struct source source_signal;
	struct source source_watch;
	struct source source_events;
	struct steer_events *events;
	struct groups groups;
	struct set missing;
	struct path_monitor_config path_monitor_config;
	struct path_monitor *monitor;
	struct rediscovery rediscovery;
	struct qpn_search qpn_search;
	struct peer_search peer_search;
	struct flow_search flow_search;
	struct nic_proof nic_proof;
	__u64 plan_at;
	__u64 jobs_at;
	bool reload;
	__u64 reload_at;
	unsigned int attempts;
	bool ready;
};

/* Emit an event, and release it; @arg: struct daemon. */
void daemon_emit(struct json_object *event, void *arg);

/* Emit a failure that does not end the daemon. */
void daemon_emit_error(struct daemon *d);

/* Plan changed groups: after a delay, or now. Return: 0 or a negative errno. */
void daemon_plan_soon(struct daemon *d);
int daemon_plan(struct daemon *d);

/* Read the tables, or later if a command has locked them. Return: 0 or a negative errno. */
int daemon_tables_reload(struct daemon *d);
void daemon_tables_reload_later(struct daemon *d);
void daemon_tables_close(struct daemon *d);

/* Call @fn with an event for each job whose device is gone. */
void daemon_tables_missing(struct daemon *d, void (*fn)(struct json_object *event, void *arg),
			   void *arg);

#endif /* ROCESTEER_LIB_DAEMON_PRIV_H */
