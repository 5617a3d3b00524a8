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

#include "base/base.h"
#include "event.h"
#include "event_socket.h"
#include "group.h"
#include "path_monitor.h"
#include "qpn_search.h"
#include "rediscovery.h"

/* Flows come many at once: how long a plan waits for more of them, ns. */
#define SETTLE	2000000ull

/* Until the next attempt at tables that a command has locked, ns. */
#define AGAIN		50000000ull
#define TIME_SCALE	20	/* attempts before that is told */

/* Until the next attempt at jobs that could not be loaded, ns. */
#define JOBS_AGAIN	2000000000ull

#define STOP	1

/**
 * struct daemon - state
 * @config: the caller's
 * @err: likewise
 * @loop: what is waited for
 * @server: who listens
 * @events: reader of @source_events, NULL while no job is loaded
 * @groups: the tables
 * @monitor: what is known of the paths
 * @gone: of struct gone: jobs whose device is gone
 * @path_monitor_config: of @monitor
 * @rediscovery: finds the ports of paths again
 * @qpn_search: finds those of queue pairs, where switches hash their numbers
 * @plan_at: when to plan what has changed, or LOOP_NEVER
 * @jobs_at: when to try to load jobs from files again, or LOOP_NEVER
 * @reload: the tables have to be read again
 * @reload_at: not before
 * @attempts: in vain, as they were locked
 * @ready: they were read once
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
	struct set gone;
	struct path_monitor_config path_monitor_config;
	struct path_monitor *monitor;
	struct rediscovery rediscovery;
	struct qpn_search qpn_search;
	__u64 plan_at;
	__u64 jobs_at;
	bool reload;
	__u64 reload_at;
	unsigned int attempts;
	bool ready;
};

/**
 * struct gone - a job whose device is gone
 * @job: its number
 * @device: name of the device
 * @still: found so at the last look
 */
struct gone {
	__u32 job;
	char device[IF_NAMESIZE];
	bool still;
};

static void tell(struct json_object *event, void *arg)
{
	struct daemon *k = arg;

	event_socket_tell(k->server, event);
	k->config->tell(event, k->config->arg);
	json_object_put(event);
}

/* What is in the way now, but ends nothing. */
static void tell_error(struct daemon *k)
{
	struct json_object *event = event_new("error");

	out_string(event, "message", k->err->message);
	tell(event, k);
	k->err->code = NULL;
}

static void plan_soon(struct daemon *k)
{
	if (k->plan_at == LOOP_NEVER)
		k->plan_at = clock_ns() + SETTLE;
}

static void tell_plan(struct daemon *k, const struct group *group,
		      const struct group_plan *plan)
{
	struct json_object *event = event_group("replan", group);

	out_uint(event, "flows", plan->flows);
	out_uint(event, "pieces", plan->pieces);
	out_uint(event, "written", plan->written);
	out_uint(event, "moved", plan->moved);
	tell(event, k);
}

static int plan_groups(struct daemon *k)
{
	struct group_plan plan;
	size_t i;
	int ret;

	k->plan_at = LOOP_NEVER;
	for (i = 0; i < k->groups.group.nr; i++) {
		struct group *group = k->groups.group.item[i];

		while (group->changed) {
			ret = group_plan(&k->groups, group, &plan);
			if (ret)
				return ret;
			if (plan.written)
				tell_plan(k, group, &plan);
		}
	}
	return 0;
}

/* Loading touches the tables, which thereby are read again. */
static void load_jobs(struct daemon *k, bool all)
{
	bool again = k->config->jobs &&
		     k->config->jobs(all, tell, k, k->config->arg);

	k->jobs_at = again ? clock_ns() + JOBS_AGAIN : LOOP_NEVER;
}

static void tell_detour(struct daemon *k, const struct group *group,
			const struct rocesteer_event *from)
{
	struct json_object *event = event_path("detour", group, from->path);

	out_addr(event, "peer", from->key.peer);
	out_uint(event, "dqpn", from->key.dqpn);
	tell(event, k);
}

static void take_event(const struct rocesteer_event *event, void *arg)
{
	struct rocesteer_group_key key = { .job = event->job,
					   .ifindex = event->key.ifindex };
	struct daemon *k = arg;
	struct group *group;
	int ret;

	memcpy(key.leaf, event->leaf, sizeof(key.leaf));
	group = groups_find(&k->groups, &key);
	if (!group) {
		k->reload = true;
		return;
	}
	if (event->type == ROCESTEER_EVENT_DETOUR) {
		ret = path_monitor_suspect(k->monitor, group, &event->key,
					   event->path);
		tell_detour(k, group, event);
	} else if (event->type == ROCESTEER_EVENT_FULL) {
		tell(event_group("table-full", group), k);
		ret = 0;
	} else if (event->type == ROCESTEER_EVENT_QPN) {
		qpn_search_soon(&k->qpn_search);
		ret = 0;
	} else {
		ret = group_update(&k->groups, group, &event->key);
		plan_soon(k);
	}
	if (ret)
		k->reload = true;
}

/* What the tables do not tell. */
static void take_full(const struct rocesteer_event *event, void *arg)
{
	if (event->type == ROCESTEER_EVENT_FULL)
		take_event(event, arg);
}

/* Events say what to look at; where some are lost, look at everything. */
static int events_ready(void *arg)
{
	struct daemon *k = arg;
	int ret;

	ret = steer_events_read(k->events, take_event, k);
	if (ret == -ENOBUFS)
		k->reload = true;
	else if (ret)
		return ret;
	return 0;
}

static int watch_ready(void *arg)
{
	struct daemon *k = arg;
	int ret = steer_watch_read(k->source_watch.fd);

	if (ret > 0)
		k->reload = true;
	return ret < 0 ? ret : 0;
}

static int signal_ready(void *arg)
{
	struct daemon *k = arg;
	struct signalfd_siginfo info;

	if (read(k->source_signal.fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (info.ssi_signo != SIGHUP)
		return STOP;
	load_jobs(k, true);
	k->reload = true;
	return 0;
}

static void group_gone(struct group *group, void *arg)
{
	struct daemon *k = arg;

	path_monitor_forget(k->monitor, group);
}

static void path_moved(struct group *group, __u32 p, void *arg)
{
	struct daemon *k = arg;

	if (rediscovery_start(&k->rediscovery, group) > 0)
		tell(event_path("path-moved", group, p), k);
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
	struct daemon *k = arg;

	if (!groups_know(&k->groups, ifindex, name))
		k->reload = true;
	if (name && k->jobs_at != LOOP_NEVER)
		k->jobs_at = clock_ns();
}

/* Told once. */
static void device_found(__u32 id, const char *device, enum steer_device is,
			 void *arg)
{
	struct daemon *k = arg;
	struct gone *gone = set_find(&k->gone, &id, sizeof(id));

	if (is != STEER_DEVICE_GONE) {
		if (gone || is == STEER_DEVICE_BACK)
			tell(device_event("device-back", id, device), k);
		return;
	}
	if (gone) {
		gone->still = true;
		return;
	}
	tell(device_event("device-gone", id, device), k);
	gone = set_get(&k->gone, &id, sizeof(id), sizeof(*gone));
	if (!gone)
		return;
	snprintf(gone->device, sizeof(gone->device), "%s", device);
	gone->still = true;
}

/* Programs are attached to the devices of all jobs, or it is told that one is gone. */
static void check_devices(struct daemon *k)
{
	struct gone *gone;
	size_t i;

	for (i = 0; i < k->gone.nr; i++) {
		gone = k->gone.item[i];
		gone->still = false;
	}
	if (steer_devices_check(k->groups.steer, device_found, k, k->err))
		tell_error(k);
	for (i = k->gone.nr; i--;) {
		gone = k->gone.item[i];
		if (gone->still)
			continue;
		set_remove(&k->gone, &gone->job, sizeof(gone->job));
		free(gone);
	}
}

/* The ports are in the tables, or some of them. */
static int remapped(const char *message, void *arg)
{
	struct daemon *k = arg;
	struct json_object *event = event_new(message[0] ? "error" : "remapped");

	out_uint(event, "job", k->rediscovery.job);
	out_device(event, "device", k->rediscovery.ifindex);
	if (message[0])
		out_string(event, "message", message);
	tell(event, k);
	k->reload = true;
	return 0;
}

/* Queue pairs have ports: those that sent already are planned, others enter the tables. */
static int qpns_found(const char *message, void *arg)
{
	struct json_object *event;
	struct daemon *k = arg;
	struct group *group;
	size_t i;

	if (message[0]) {
		event = event_new("error");
		out_string(event, "message", message);
		tell(event, k);
	}
	for (i = 0; i < k->groups.group.nr; i++) {
		group = k->groups.group.item[i];
		group->changed = true;
	}
	plan_soon(k);
	return 0;
}

static void close_tables(struct daemon *k)
{
	if (k->events) {
		loop_remove(&k->loop, &k->source_events);
		steer_events_close(k->events);
		k->events = NULL;
	}
	steer_close(k->groups.steer);
	k->groups.steer = NULL;
}

static int open_events(struct daemon *k)
{
	k->events = steer_events_open(k->groups.steer, k->err);
	if (!k->events)
		return -EIO;
	k->source_events.fd = steer_events_fd(k->events);
	k->source_events.ready = events_ready;
	k->source_events.arg = k;
	return loop_add(&k->loop, &k->source_events);
}

static void reload_later(struct daemon *k)
{
	k->reload = true;
	k->reload_at = clock_ns() + AGAIN;
}

/* A command has the tables: go on with what is known until it has done. */
static int is_locked(struct daemon *k)
{
	reload_later(k);
	if (++k->attempts == TIME_SCALE)
		tell_error(k);
	k->err->code = NULL;
	return 0;
}

/*
 * Take the events first: most are about what is read next. While we have the lock,
 * no job is half there.
 */
static int read_tables(struct daemon *k)
{
	struct steer *steer = NULL;
	int ret;

	ret = steer_open(&steer, STEER_NO_WAIT, k->err);
	if (ret == -EAGAIN)
		return is_locked(k);
	k->reload = false;
	k->attempts = 0;
	close_tables(k);
	if (ret == -ENOENT) {	/* no job is loaded */
		k->err->code = NULL;
		path_monitor_forget_all(k->monitor);
		groups_clear(&k->groups);
		set_clear(&k->gone, free);
		return 0;
	}
	if (ret)
		return ret;
	k->groups.steer = steer;
	ret = open_events(k);
	if (ret)
		return ret;
	ret = steer_events_read(k->events, take_full, k);
	if (ret && ret != -ENOBUFS)
		return ret;
	check_devices(k);
	ret = groups_read(&k->groups, group_gone, k);
	steer_unlock(k->groups.steer);
	qpn_search_soon(&k->qpn_search);
	return ret ?: path_monitor_read(k->monitor) ?: plan_groups(k) ?:
	       groups_move_acks(&k->groups);
}

static int reload(struct daemon *k)
{
	int ret = read_tables(k);

	if (!ret && !k->reload && !k->ready) {
		struct json_object *event = event_new("start");

		out_uint(event, "jobs", k->groups.jobs.nr);
		tell(event, k);
		k->ready = true;
		k->config->ready(k->config->arg);
	}
	return ret;
}

/* Signals as something to wait for. */
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

static int add_source(struct daemon *k, struct source *source, int fd,
		      int (*ready)(void *arg))
{
	*source = (struct source) { .fd = fd, .ready = ready, .arg = k };
	return fd < 0 ? fd : loop_add(&k->loop, source);
}

static void greet_path(struct json_object *event, void *arg)
{
	event_socket_tell(arg, event);
	json_object_put(event);
}

/* Who comes is told of the devices that are gone, and the paths that are not up. */
static void greet(struct event_socket *server, void *arg)
{
	struct daemon *k = arg;
	size_t i;

	for (i = 0; i < k->gone.nr; i++) {
		const struct gone *gone = k->gone.item[i];

		greet_path(device_event("device-gone", gone->job,
					gone->device), server);
	}
	path_monitor_each(k->monitor, greet_path, server);
}

/* Who can connect can also end it as one should: by a signal. */
static int start(struct daemon *k)
{
	int ret;

	ret = loop_open(&k->loop) ?:
	      event_socket_open(&k->server, &k->loop, greet, k, k->err) ?:
	      add_source(k, &k->source_signal, open_signals(), signal_ready) ?:
	      path_monitor_open(&k->monitor, &k->path_monitor_config,
				&k->groups, &k->loop, k->err) ?:
	      event_socket_listen(k->server, k->err);
	if (ret)
		return ret;
	load_jobs(k, true);
	return add_source(k, &k->source_watch, steer_watch_open(k->err),
			  watch_ready) ?: reload(k);
}

static __u64 next_time(const struct daemon *k)
{
	__u64 due = path_monitor_due(k->monitor);

	if (k->reload && k->reload_at < due)
		due = k->reload_at;
	if (k->jobs_at < due)
		due = k->jobs_at;
	if (qpn_search_due(&k->qpn_search) < due)
		due = qpn_search_due(&k->qpn_search);
	return due < k->plan_at ? due : k->plan_at;
}

static int do_step(struct daemon *k)
{
	int ret = 0;

	if (clock_ns() >= k->jobs_at)
		load_jobs(k, false);
	if (k->reload && clock_ns() >= k->reload_at)
		ret = reload(k);
	ret = ret ?: qpn_search_step(&k->qpn_search) ?:
	      path_monitor_step(k->monitor);
	if (ret > 0)	/* the flows first: they have the data */
		return plan_groups(k) ?: groups_move_acks(&k->groups);
	if (!ret && clock_ns() >= k->plan_at)
		ret = plan_groups(k);
	return ret;
}

static int step(struct daemon *k)
{
	int ret = do_step(k);

	if (k->groups.stale)
		reload_later(k);
	k->groups.stale = false;
	return ret;
}

static int run(struct daemon *k)
{
	int ret;

	do {
		ret = loop_wait(&k->loop, next_time(k)) ?: step(k);
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
	struct daemon k = {
		.config = config,
		.err = err,
		.loop.fd = -1,
		.source_signal.fd = -1,
		.source_watch.fd = -1,
		.path_monitor_config = {
			.hold = config->hold_ms * 1000000ull,
			.timeout_ms = config->timeout_ms,
			.short_quotes = config->short_quotes,
			.tell = tell,
			.moved = path_moved,
			.device = device_changed,
			.arg = &k,
		},
		.rediscovery = {
			.groups = &k.groups, .short_quotes = config->short_quotes,
			.errand = { .loop = &k.loop, .done = remapped, .arg = &k },
		},
		.qpn_search = {
			.groups = &k.groups, .short_quotes = config->short_quotes,
			.errand = { .loop = &k.loop, .done = qpns_found, .arg = &k },
			.at = LOOP_NEVER,
		},
		.plan_at = LOOP_NEVER,
	};
	int ret;

	ret = start(&k) ?: run(&k);
	errand_stop(&k.rediscovery.errand);
	errand_stop(&k.qpn_search.errand);
	path_monitor_close(k.monitor);
	close_tables(&k);
	groups_clear(&k.groups);
	set_clear(&k.gone, free);
	event_socket_close(k.server);
	close_source(&k.source_watch);
	close_source(&k.source_signal);
	loop_close(&k.loop);
	return ret;
}
