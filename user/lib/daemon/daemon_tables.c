// SPDX-License-Identifier: GPL-2.0
/* The copy of the tables, which follows jobs, their devices and their flows. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rocesteer/roce.h>

#include "daemon_priv.h"

/* Delay until the next attempt to open tables that a command has locked, ns. */
#define AGAIN		50000000ull
#define ATTEMPTS	20	/* before an event says so */

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

static void emit_detour(struct daemon *d, const struct group *group,
			const struct rocesteer_event *from)
{
	struct json_object *event = event_path("detour", group, from->path);

	out_addr(event, "peer", from->key.peer);
	out_uint(event, "dqpn", from->key.dqpn & ROCESTEER_QPN_MASK);
	daemon_emit(event, d);
}

static void take_event(const struct rocesteer_event *event, void *arg)
{
	struct rocesteer_group_key key = { .job = event->job,
					   .ifindex = event->key.ifindex };
	struct daemon *d = arg;
	struct group *group;
	int ret;

	if (event->type == ROCESTEER_EVENT_PEER) {
		peer_search_want(&d->peer_search, event);
		return;
	}
	memcpy(key.leaf, event->leaf, sizeof(key.leaf));
	group = groups_find(&d->groups, &key);
	if (!group) {
		d->reload = true;
		return;
	}
	if (event->type == ROCESTEER_EVENT_DETOUR) {
		ret = path_monitor_suspect(d->monitor, group, &event->key, event->path);
		emit_detour(d, group, event);
	} else if (event->type == ROCESTEER_EVENT_FULL) {
		daemon_emit(event_group("table-full", group), d);
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
		daemon_plan_soon(d);
	}
	if (ret)
		d->reload = true;
}

/* Only these events say more than the tables. */
static void take_full(const struct rocesteer_event *event, void *arg)
{
	if (event->type == ROCESTEER_EVENT_FULL || event->type == ROCESTEER_EVENT_PEER)
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

static void group_gone(struct group *group, void *arg)
{
	struct daemon *d = arg;

	path_monitor_forget(d->monitor, group);
}

static struct json_object *device_event(const char *name, __u32 job, const char *device)
{
	struct json_object *event = event_new(name);

	out_uint(event, "job", job);
	out_string(event, "device", device);
	return event;
}

/* The event is emitted once. */
static void device_found(__u32 id, const char *device, enum steer_device is, void *arg)
{
	struct daemon *d = arg;
	struct missing_device *missing = set_find(&d->missing, &id, sizeof(id));

	if (is != STEER_DEVICE_GONE) {
		if (missing || is == STEER_DEVICE_BACK)
			daemon_emit(device_event("device-back", id, device), d);
		return;
	}
	if (missing) {
		missing->still = true;
		return;
	}
	daemon_emit(device_event("device-gone", id, device), d);
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
		daemon_emit_error(d);
	for (i = d->missing.nr; i--;) {
		missing = d->missing.item[i];
		if (missing->still)
			continue;
		set_remove(&d->missing, &missing->job, sizeof(missing->job));
		free(missing);
	}
}

void daemon_tables_missing(struct daemon *d, void (*fn)(struct json_object *event, void *arg),
			   void *arg)
{
	size_t i;

	for (i = 0; i < d->missing.nr; i++) {
		const struct missing_device *missing = d->missing.item[i];

		fn(device_event("device-gone", missing->job, missing->device), arg);
	}
}

void daemon_tables_close(struct daemon *d)
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

void daemon_tables_reload_later(struct daemon *d)
{
	d->reload = true;
	d->reload_at = clock_ns() + AGAIN;
}

/* A command holds the lock: go on with the copy of the tables. */
static int is_locked(struct daemon *d)
{
	daemon_tables_reload_later(d);
	if (++d->attempts == ATTEMPTS)
		daemon_emit_error(d);
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
	daemon_tables_close(d);
	if (ret == -ENOENT) {	/* no job is loaded */
		d->err->code = NULL;
		path_monitor_forget_all(d->monitor);
		groups_clear(&d->groups);
		set_clear(&d->missing, free);
		set_clear(&d->peer_search.jobs, free);
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
	return ret ?: peer_search_read(&d->peer_search) ?: path_monitor_read(d->monitor) ?:
	       daemon_plan(d) ?: groups_move_acks(&d->groups);
}

int daemon_tables_reload(struct daemon *d)
{
	int ret = read_tables(d);

	if (!ret && !d->reload && !d->ready) {
		struct json_object *event = event_new("start");

		out_uint(event, "jobs", d->groups.jobs.nr);
		daemon_emit(event, d);
		d->ready = true;
		d->config->ready(d->config->arg);
	}
	return ret;
}
