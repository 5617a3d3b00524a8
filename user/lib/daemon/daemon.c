// SPDX-License-Identifier: GPL-2.0
#include "daemon.h"

#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <rocesteer/roce.h>

#include "base/base.h"
#include "steer/steer.h"
#include "flow_search.h"
#include "path_monitor.h"
#include "qpn_search.h"
#include "rediscovery.h"

/* Delay of a plan, ns: flows begin many at once. */
#define SETTLE	2000000ull

/* Delay until the next attempt to open tables that a command has locked, ns. */
#define AGAIN		50000000ull
#define ATTEMPTS	20	/* before an event says so */

/* Delay until the next attempt to load jobs from files, ns. */
#define JOBS_AGAIN	2000000000ull

#define STOP	1

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
 * @flow_search: finds the paths of observed flows
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
	struct flow_search flow_search;
	__u64 plan_at;
	__u64 jobs_at;
	bool reload;
	__u64 reload_at;
	unsigned int attempts;
	bool ready;
};

/**
 * struct missing_device - a job whose device is gone
 * @job: number
 * @device: name
 * @still: the last check found no such device
 */
struct missing_device {
	__u32 job;
	char device[IF_NAMESIZE];
	bool still;
};

static void emit_event(struct json_object *event, void *arg)
{
	struct daemon *d = arg;

	event_socket_send(d->server, event);
	d->config->emit(event, d->config->arg);
	json_object_put(event);
}

/* A failure that does not end the daemon. */
static void emit_error(struct daemon *d)
{
	struct json_object *event = event_new("error");

	out_string(event, "message", d->err->message);
	emit_event(event, d);
	d->err->code = NULL;
}

static void plan_soon(struct daemon *d)
{
	if (d->plan_at == LOOP_NEVER)
		d->plan_at = clock_ns() + SETTLE;
}

static void emit_plan(struct daemon *d, const struct group *group,
		      const struct group_plan *plan)
{
	struct json_object *event = event_group("replan", group);

	out_uint(event, "flows", plan->flows);
	out_uint(event, "pieces", plan->pieces);
	out_uint(event, "written", plan->written);
	out_uint(event, "moved", plan->moved);
	emit_event(event, d);
}

static int plan_groups(struct daemon *d)
{
	struct group_plan plan;
	size_t i;
	int ret;

	d->plan_at = LOOP_NEVER;
	for (i = 0; i < d->groups.group.nr; i++) {
		struct group *group = d->groups.group.item[i];

		while (group->changed) {
			ret = group_plan(&d->groups, group, &plan);
			if (ret)
				return ret;
			if (plan.written)
				emit_plan(d, group, &plan);
		}
	}
	return 0;
}

/* Loading a job touches the tables, so that they are read again. */
static void load_jobs(struct daemon *d, bool all)
{
	bool again = d->config->jobs &&
		     d->config->jobs(all, emit_event, d, d->config->arg);

	d->jobs_at = again ? clock_ns() + JOBS_AGAIN : LOOP_NEVER;
}

static void emit_detour(struct daemon *d, const struct group *group,
			const struct rocesteer_event *from)
{
	struct json_object *event = event_path("detour", group, from->path);

	out_addr(event, "peer", from->key.peer);
	out_uint(event, "dqpn", from->key.dqpn & ROCESTEER_QPN_MASK);
	emit_event(event, d);
}

static void take_event(const struct rocesteer_event *event, void *arg)
{
	struct rocesteer_group_key key = { .job = event->job,
					   .ifindex = event->key.ifindex };
	struct daemon *d = arg;
	struct group *group;
	int ret;

	memcpy(key.leaf, event->leaf, sizeof(key.leaf));
	group = groups_find(&d->groups, &key);
	if (!group) {
		d->reload = true;
		return;
	}
	if (event->type == ROCESTEER_EVENT_DETOUR) {
		ret = path_monitor_suspect(d->monitor, group, &event->key,
					   event->path);
		emit_detour(d, group, event);
	} else if (event->type == ROCESTEER_EVENT_FULL) {
		emit_event(event_group("table-full", group), d);
		ret = 0;
	} else if (event->type == ROCESTEER_EVENT_QPN) {
		qpn_search_soon(&d->qpn_search);
		ret = 0;
	} else if (event->path == ROCESTEER_PATH_UNKNOWN) {
		if (event->type == ROCESTEER_EVENT_SHARE)
			flow_search_soon(&d->flow_search);
		ret = 0;
	} else {
		ret = group_update(&d->groups, group, &event->key);
		plan_soon(d);
	}
	if (ret)
		d->reload = true;
}

/* Only the event of a full table says more than the tables. */
static void take_full(const struct rocesteer_event *event, void *arg)
{
	if (event->type == ROCESTEER_EVENT_FULL)
		take_event(event, arg);
}

static int events_ready(void *arg)
{
	struct daemon *d = arg;
	int ret;

	ret = steer_events_read(d->events, take_event, d);
	if (ret == -ENOBUFS)
		d->reload = true;
	else if (ret)
		return ret;
	return 0;
}

static int watch_ready(void *arg)
{
	struct daemon *d = arg;
	int ret = steer_watch_read(d->source_watch.fd);

	if (ret > 0)
		d->reload = true;
	return ret < 0 ? ret : 0;
}

static int signal_ready(void *arg)
{
	struct daemon *d = arg;
	struct signalfd_siginfo info;

	if (read(d->source_signal.fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (info.ssi_signo != SIGHUP)
		return STOP;
	load_jobs(d, true);
	d->reload = true;
	return 0;
}

static void group_gone(struct group *group, void *arg)
{
	struct daemon *d = arg;

	path_monitor_forget(d->monitor, group);
}

static void path_moved(struct group *group, __u32 p, void *arg)
{
	struct daemon *d = arg;

	flow_search_again(&d->flow_search);
	if (rediscovery_start(&d->rediscovery, group) > 0)
		emit_event(event_path("path-moved", group, p), d);
}

static struct json_object *device_event(const char *name, __u32 job,
					const char *device)
{
	struct json_object *event = event_new(name);

	out_uint(event, "job", job);
	out_string(event, "device", device);
	return event;
}

static void device_changed(__u32 ifindex, const char *name, void *arg)
{
	struct daemon *d = arg;

	if (!groups_know(&d->groups, ifindex, name))
		d->reload = true;
	if (name && d->jobs_at != LOOP_NEVER)
		d->jobs_at = clock_ns();
}

/* The event is emitted once. */
static void device_found(__u32 id, const char *device, enum steer_device is,
			 void *arg)
{
	struct daemon *d = arg;
	struct missing_device *missing = set_find(&d->missing, &id, sizeof(id));

	if (is != STEER_DEVICE_GONE) {
		if (missing || is == STEER_DEVICE_BACK)
			emit_event(device_event("device-back", id, device), d);
		return;
	}
	if (missing) {
		missing->still = true;
		return;
	}
	emit_event(device_event("device-gone", id, device), d);
	missing = set_get(&d->missing, &id, sizeof(id), sizeof(*missing));
	if (!missing)
		return;
	snprintf(missing->device, sizeof(missing->device), "%s", device);
	missing->still = true;
}

/* Attach the programs to the devices of all jobs; emit an event where a device is gone. */
static void check_devices(struct daemon *d)
{
	struct missing_device *missing;
	size_t i;

	for (i = 0; i < d->missing.nr; i++) {
		missing = d->missing.item[i];
		missing->still = false;
	}
	if (steer_devices_check(d->groups.steer, device_found, d, d->err))
		emit_error(d);
	for (i = d->missing.nr; i--;) {
		missing = d->missing.item[i];
		if (missing->still)
			continue;
		set_remove(&d->missing, &missing->job, sizeof(missing->job));
		free(missing);
	}
}

/* A rediscovery ended: ports were written, or some of them. */
static int remapped(const char *message, void *arg)
{
	struct daemon *d = arg;
	struct json_object *event = event_new(message[0] ? "error" : "remapped");

	out_uint(event, "job", d->rediscovery.job);
	out_device(event, "device", d->rediscovery.ifindex);
	if (message[0])
		out_string(event, "message", message);
	emit_event(event, d);
	d->reload = true;
	return 0;
}

/* A search ended: plan the flows of queue pairs that have ports now. */
static int qpns_found(const char *message, void *arg)
{
	struct json_object *event;
	struct daemon *d = arg;
	struct group *group;
	size_t i;

	if (message[0]) {
		event = event_new("error");
		out_string(event, "message", message);
		emit_event(event, d);
	}
	for (i = 0; i < d->groups.group.nr; i++) {
		group = d->groups.group.item[i];
		group->changed = true;
	}
	plan_soon(d);
	return 0;
}

/* A search for the paths of flows ended. */
static int flows_found(const char *message, void *arg)
{
	struct json_object *event;
	struct daemon *d = arg;

	if (!message[0])
		return 0;
	event = event_new("error");
	out_string(event, "message", message);
	emit_event(event, d);
	return 0;
}

static void close_tables(struct daemon *d)
{
	if (d->events) {
		loop_remove(&d->loop, &d->source_events);
		steer_events_close(d->events);
		d->events = NULL;
	}
	steer_close(d->groups.steer);
	d->groups.steer = NULL;
}

static int open_events(struct daemon *d)
{
	d->events = steer_events_open(d->groups.steer, d->err);
	if (!d->events)
		return -EIO;
	d->source_events.fd = steer_events_fd(d->events);
	d->source_events.ready = events_ready;
	d->source_events.arg = d;
	return loop_add(&d->loop, &d->source_events);
}

static void reload_later(struct daemon *d)
{
	d->reload = true;
	d->reload_at = clock_ns() + AGAIN;
}

/* A command holds the lock: go on with the copy of the tables. */
static int is_locked(struct daemon *d)
{
	reload_later(d);
	if (++d->attempts == ATTEMPTS)
		emit_error(d);
	d->err->code = NULL;
	return 0;
}

/*
 * Take the events before the tables: most of them are about entries that are read next.
 * Under the lock no job is half loaded.
 */
static int read_tables(struct daemon *d)
{
	struct steer *steer = NULL;
	int ret;

	ret = steer_open(&steer, STEER_NO_WAIT, d->err);
	if (ret == -EAGAIN)
		return is_locked(d);
	d->reload = false;
	d->attempts = 0;
	close_tables(d);
	if (ret == -ENOENT) {	/* no job is loaded */
		d->err->code = NULL;
		path_monitor_forget_all(d->monitor);
		groups_clear(&d->groups);
		set_clear(&d->missing, free);
		return 0;
	}
	if (ret)
		return ret;
	d->groups.steer = steer;
	ret = open_events(d);
	if (ret)
		return ret;
	ret = steer_events_read(d->events, take_full, d);
	if (ret && ret != -ENOBUFS)
		return ret;
	check_devices(d);
	ret = groups_read(&d->groups, group_gone, d);
	steer_unlock(d->groups.steer);
	qpn_search_soon(&d->qpn_search);
	flow_search_again(&d->flow_search);
	return ret ?: path_monitor_read(d->monitor) ?: plan_groups(d) ?:
	       groups_move_acks(&d->groups);
}

static int reload(struct daemon *d)
{
	int ret = read_tables(d);

	if (!ret && !d->reload && !d->ready) {
		struct json_object *event = event_new("start");

		out_uint(event, "jobs", d->groups.jobs.nr);
		emit_event(event, d);
		d->ready = true;
		d->config->ready(d->config->arg);
	}
	return ret;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int add_source(struct daemon *d, struct source *source, int fd,
		      int (*ready)(void *arg))
{
	*source = (struct source) { .fd = fd, .ready = ready, .arg = d };
	return fd < 0 ? fd : loop_add(&d->loop, source);
}

static void send_one(struct json_object *event, void *arg)
{
	event_socket_send(arg, event);
	json_object_put(event);
}

/* A new client learns which devices are gone, and which paths are not up. */
static void send_snapshot(struct event_socket *server, void *arg)
{
	struct daemon *d = arg;
	size_t i;

	for (i = 0; i < d->missing.nr; i++) {
		const struct missing_device *missing = d->missing.item[i];

		send_one(device_event("device-gone", missing->job,
				      missing->device), server);
	}
	path_monitor_each(d->monitor, send_one, server);
}

/* Handle signals before clients can connect: a client may send one. */
static int start(struct daemon *d)
{
	int ret;

	ret = loop_open(&d->loop) ?:
	      event_socket_open(&d->server, &d->loop, send_snapshot, d, d->err) ?:
	      add_source(d, &d->source_signal, open_signals(), signal_ready) ?:
	      path_monitor_open(&d->monitor, &d->path_monitor_config,
				&d->groups, &d->loop, d->err) ?:
	      event_socket_listen(d->server, d->err);
	if (ret)
		return ret;
	load_jobs(d, true);
	return add_source(d, &d->source_watch, steer_watch_open(d->err),
			  watch_ready) ?: reload(d);
}

static __u64 next_time(const struct daemon *d)
{
	__u64 due = path_monitor_due(d->monitor);

	if (d->reload && d->reload_at < due)
		due = d->reload_at;
	if (d->jobs_at < due)
		due = d->jobs_at;
	if (qpn_search_due(&d->qpn_search) < due)
		due = qpn_search_due(&d->qpn_search);
	if (flow_search_due(&d->flow_search) < due)
		due = flow_search_due(&d->flow_search);
	return due < d->plan_at ? due : d->plan_at;
}

static int do_step(struct daemon *d)
{
	int ret = 0;

	if (clock_ns() >= d->jobs_at)
		load_jobs(d, false);
	if (d->reload && clock_ns() >= d->reload_at)
		ret = reload(d);
	ret = ret ?: qpn_search_step(&d->qpn_search) ?: flow_search_step(&d->flow_search) ?:
	      path_monitor_step(d->monitor);
	if (ret > 0)
		flow_search_again(&d->flow_search);
	if (ret > 0)	/* the flows with data first */
		return plan_groups(d) ?: groups_move_acks(&d->groups);
	if (!ret && clock_ns() >= d->plan_at)
		ret = plan_groups(d);
	return ret;
}

static int step(struct daemon *d)
{
	int ret = do_step(d);

	if (d->groups.stale)
		reload_later(d);
	d->groups.stale = false;
	return ret;
}

static int run(struct daemon *d)
{
	int ret;

	do {
		ret = loop_wait(&d->loop, next_time(d)) ?: step(d);
	} while (!ret);
	return ret == STOP ? 0 : ret;
}

static void close_source(struct source *source)
{
	if (source->fd >= 0)
		close(source->fd);
}

int daemon_run(const struct daemon_config *config, struct err *err)
{
	struct daemon d = {
		.config = config,
		.err = err,
		.loop.fd = -1,
		.source_signal.fd = -1,
		.source_watch.fd = -1,
		.path_monitor_config = {
			.hold = config->hold_ms * 1000000ull,
			.timeout_ms = config->timeout_ms,
			.short_quotes = config->short_quotes,
			.emit = emit_event,
			.moved = path_moved,
			.device = device_changed,
			.arg = &d,
		},
		.rediscovery = {
			.groups = &d.groups, .short_quotes = config->short_quotes,
			.task = { .loop = &d.loop, .done = remapped, .arg = &d },
		},
		.qpn_search = {
			.groups = &d.groups, .short_quotes = config->short_quotes,
			.task = { .loop = &d.loop, .done = qpns_found, .arg = &d },
			.at = LOOP_NEVER,
		},
		.flow_search = {
			.groups = &d.groups, .short_quotes = config->short_quotes,
			.task = { .loop = &d.loop, .done = flows_found, .arg = &d },
			.at = LOOP_NEVER,
		},
		.plan_at = LOOP_NEVER,
	};
	int ret;

	ret = start(&d) ?: run(&d);
	task_stop(&d.rediscovery.task);
	task_stop(&d.qpn_search.task);
	task_stop(&d.flow_search.task);
	path_monitor_close(d.monitor);
	close_tables(&d);
	groups_clear(&d.groups);
	set_clear(&d.missing, free);
	event_socket_close(d.server);
	close_source(&d.source_watch);
	close_source(&d.source_signal);
	loop_close(&d.loop);
	return ret;
}
