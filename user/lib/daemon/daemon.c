// SPDX-License-Identifier: GPL-2.0
/* The loop: what wakes the daemon, and plans of groups that have changed. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemon_priv.h"

/* Delay of a plan, ns: flows begin many at once. */
#define SETTLE	2000000ull

/* Delay until the next attempt to load jobs from files, ns. */
#define JOBS_AGAIN	2000000000ull

#define STOP	1

void daemon_emit(struct json_object *event, void *arg)
{
	struct daemon *d = arg;

	event_socket_send(d->server, event);
	d->config->emit(event, d->config->arg);
	json_object_put(event);
}

void daemon_emit_error(struct daemon *d)
{
	struct json_object *event = event_new("error");

	out_string(event, "message", d->err->message);
	daemon_emit(event, d);
	d->err->code = NULL;
}

void daemon_plan_soon(struct daemon *d)
{
	if (d->plan_at == LOOP_NEVER)
		d->plan_at = clock_ns() + SETTLE;
}

static void emit_plan(struct daemon *d, const struct group *group, const struct group_plan *plan)
{
	struct json_object *event = event_group("replan", group);

	out_uint(event, "flows", plan->flows);
	out_uint(event, "pieces", plan->pieces);
	out_uint(event, "written", plan->written);
	out_uint(event, "moved", plan->moved);
	daemon_emit(event, d);
}

int daemon_plan(struct daemon *d)
{
	struct group_plan plan;
	size_t i;
	int ret;

	d->plan_at = LOOP_NEVER;
	groups_level(&d->groups);
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
		     d->config->jobs(all, daemon_emit, d, d->config->arg);

	d->jobs_at = again ? clock_ns() + JOBS_AGAIN : LOOP_NEVER;
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

static void path_moved(struct group *group, __u32 p, void *arg)
{
	struct daemon *d = arg;

	flow_search_again(&d->flow_search);
	if (rediscovery_start(&d->rediscovery, group) > 0)
		daemon_emit(event_path("path-moved", group, p), d);
}

static void device_changed(__u32 ifindex, const char *name, void *arg)
{
	struct daemon *d = arg;

	if (!groups_know(&d->groups, ifindex, name))
		d->reload = true;
	if (name && d->jobs_at != LOOP_NEVER)
		d->jobs_at = clock_ns();
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
	daemon_emit(event, d);
	d->reload = true;
	return 0;
}

/* What a task says at its end; nothing where it did not fail. */
static void emit_failure(struct daemon *d, const char *message)
{
	struct json_object *event;

	if (!message[0])
		return;
	event = event_new("error");
	out_string(event, "message", message);
	daemon_emit(event, d);
}

/* A search ended: plan the flows of queue pairs that have ports now. */
static int qpns_found(const char *message, void *arg)
{
	struct daemon *d = arg;
	struct group *group;
	size_t i;

	emit_failure(d, message);
	for (i = 0; i < d->groups.group.nr; i++) {
		group = d->groups.group.item[i];
		group->changed = true;
	}
	daemon_plan_soon(d);
	return 0;
}

/* A search for peers ended: read those that were found. */
static int peers_found(const char *message, void *arg)
{
	struct daemon *d = arg;

	emit_failure(d, message);
	d->reload = true;
	return 0;
}

/* A search for the paths of flows ended. */
static int flows_found(const char *message, void *arg)
{
	emit_failure(arg, message);
	return 0;
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

static int add_source(struct daemon *d, struct source *source, int fd, int (*ready)(void *arg))
{
	*source = (struct source) { .fd = fd, .ready = ready, .arg = d };
	return fd < 0 ? fd : loop_add(&d->loop, source);
}

static void send_one(struct json_object *event, void *arg)
{
	event_socket_send(arg, event);
	json_object_put(event);
}

/* A new client learns what is wrong: devices that are gone, paths that are not up, NICs. */
static void send_snapshot(struct event_socket *server, void *arg)
{
	struct daemon *d = arg;

	daemon_tables_missing(d, send_one, server);
	path_monitor_each(d->monitor, send_one, server);
	nic_proof_each(&d->nic_proof, send_one, server);
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
			  watch_ready) ?: daemon_tables_reload(d);
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
	if (peer_search_due(&d->peer_search) < due)
		due = peer_search_due(&d->peer_search);
	if (flow_search_due(&d->flow_search) < due)
		due = flow_search_due(&d->flow_search);
	if (nic_proof_due(&d->nic_proof) < due)
		due = nic_proof_due(&d->nic_proof);
	return due < d->plan_at ? due : d->plan_at;
}

static int do_step(struct daemon *d)
{
	int ret = 0;

	nic_proof_step(&d->nic_proof);
	peer_search_step(&d->peer_search);
	if (clock_ns() >= d->jobs_at)
		load_jobs(d, false);
	if (d->reload && clock_ns() >= d->reload_at)
		ret = daemon_tables_reload(d);
	ret = ret ?: qpn_search_step(&d->qpn_search) ?: flow_search_step(&d->flow_search) ?:
	      path_monitor_step(d->monitor);
	if (ret > 0)
		flow_search_again(&d->flow_search);
	if (ret > 0)	/* the flows with data first */
		return daemon_plan(d) ?: groups_move_acks(&d->groups);
	if (!ret && clock_ns() >= d->plan_at)
		ret = daemon_plan(d);
	return ret;
}

static int step(struct daemon *d)
{
	int ret = do_step(d);

	if (d->groups.stale)
		daemon_tables_reload_later(d);
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
			.emit = daemon_emit,
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
		.peer_search = {
			.groups = &d.groups, .short_quotes = config->short_quotes,
			.task = { .loop = &d.loop, .done = peers_found, .arg = &d },
			.walk = { .loop = &d.loop, .done = peers_found, .arg = &d },
			.at = LOOP_NEVER,
			.walk_at = LOOP_NEVER,
		},
		.flow_search = {
			.groups = &d.groups, .short_quotes = config->short_quotes,
			.task = { .loop = &d.loop, .done = flows_found, .arg = &d },
			.at = LOOP_NEVER,
		},
		.nic_proof = {
			.groups = &d.groups, .emit = daemon_emit, .arg = &d,
			.task.loop = &d.loop,
		},
		.plan_at = LOOP_NEVER,
	};
	int ret;

	ret = start(&d) ?: run(&d);
	task_stop(&d.rediscovery.task);
	task_stop(&d.qpn_search.task);
	task_stop(&d.peer_search.task);
	task_stop(&d.peer_search.walk);
	task_stop(&d.flow_search.task);
	task_stop(&d.nic_proof.task);
	path_monitor_close(d.monitor);
	daemon_tables_close(&d);
	groups_clear(&d.groups);
	set_clear(&d.missing, free);
	set_clear(&d.peer_search.jobs, free);
	event_socket_close(d.server);
	close_source(&d.source_watch);
	close_source(&d.source_signal);
	loop_close(&d.loop);
	return ret;
}
