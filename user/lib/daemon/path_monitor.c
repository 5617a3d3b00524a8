// SPDX-License-Identifier: GPL-2.0
/* Choose paths to examine: suspected paths, paths that are due, and doubts. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "discover/discover.h"
#include "steer/steer.h"
#include "path_monitor_priv.h"

/**
 * struct nic - a device without a carrier
 * @ifindex: number
 * @told: the event was emitted
 */
struct nic {
	__u32 ifindex;
	bool told;
};

bool path_monitor_is_dark(const struct path_monitor *monitor, __u32 ifindex)
{
	return set_find(&monitor->dark, &ifindex, sizeof(ifindex));
}

static struct json_object *nic_event(const char *name, const struct nic *nic)
{
	struct json_object *event = event_new(name);

	out_device(event, "device", nic->ifindex);
	return event;
}

bool path_monitor_has_group(const struct path_monitor *monitor, __u32 ifindex)
{
	size_t i;

	for (i = 0; i < monitor->groups->group.nr; i++) {
		const struct group *group = monitor->groups->group.item[i];

		if (group->key.ifindex == ifindex)
			return true;
	}
	return false;
}

/* Report devices of jobs that lost their carrier. A device that is gone has an event of its own. */
static void tell_dark(struct path_monitor *monitor)
{
	char name[IF_NAMESIZE];
	size_t i;

	for (i = 0; i < monitor->dark.nr; i++) {
		struct nic *nic = monitor->dark.item[i];

		if (nic->told || !path_monitor_has_group(monitor, nic->ifindex) ||
		    !if_indextoname(nic->ifindex, name))
			continue;
		nic->told = true;
		monitor->config->emit(nic_event("no-carrier", nic), monitor->config->arg);
	}
}

struct path_health *path_monitor_health(struct group *group)
{
	if (!group->health) {
		group->health = calloc(1, sizeof(*group->health));
		if (group->health)
			group->health->nr_paths = group->nr_paths;
	}
	return group->health;
}

static int step_group(struct path_monitor *monitor, struct group *group, __u64 now)
{
	struct path_health *health = group->health;
	__u64 due, watched, at;
	__u32 p;

	if (!health || health->out || path_monitor_is_dark(monitor, group->key.ifindex))
		return 0;
	due = path_health_due(health, now, &at);
	for (p = 0; p < group->nr_paths; p++) {
		struct path *path = &health->path[p];

		if (!(due >> p & 1) || !path_health_recovers(path, now))
			continue;
		due &= ~(1ull << p);
		path_judge_up(monitor, group, p, now);
	}
	watched = health->suspects ? 0 : health->doubts;
	return due || health->suspects || watched ?
	       path_exam_start(monitor->exams, group, due, watched) : 0;
}

static void path_exam_note(__u32 ifindex, const char *line, void *arg)
{
	struct json_object *event = event_new("error");
	struct path_monitor *monitor = arg;

	out_device(event, "device", ifindex);
	out_string(event, "message", line);
	monitor->config->emit(event, monitor->config->arg);
}

int path_monitor_step(struct path_monitor *monitor)
{
	__u64 now = clock_ns();
	size_t i;
	int ret = 0;

	monitor->changes = 0;
	for (i = 0; !ret && i < monitor->groups->group.nr; i++)
		ret = step_group(monitor, monitor->groups->group.item[i], now);
	ret = ret ?: path_watch_step(monitor, now);
	if (!ret)
		path_exams_step(monitor->exams);
	return ret ?: monitor->changes;
}

__u64 path_monitor_due(struct path_monitor *monitor)
{
	__u64 now = clock_ns(), due = path_watch_due(monitor), at;
	size_t i;

	for (i = 0; i < monitor->groups->group.nr; i++) {
		const struct group *group = monitor->groups->group.item[i];

		if (!group->health || group->health->out ||
		    path_monitor_is_dark(monitor, group->key.ifindex))
			continue;
		path_health_due(group->health, now, &at);
		if (group->health->suspects | group->health->doubts)
			at = now;
		if (at < due)
			due = at;
	}
	at = path_exams_due(monitor->exams);
	return at < due ? at : due;
}

/* Return: 0 where the path cannot be suspected, 1, or -ENOMEM. */
static int suspect(struct path_monitor *monitor, struct group *group, __u32 path,
		   bool lost, const __u8 peer[16], const __u8 source[16])
{
	struct path_health *health = path_monitor_health(group);

	if (!health)
		return -ENOMEM;
	if (path >= health->nr_paths || path_monitor_is_dark(monitor, group->key.ifindex))
		return 0;
	path_health_suspect(health, path, lost, clock_ns());
	memcpy(health->peer, peer, 16);
	memcpy(health->source, source, 16);
	return 1;
}

int path_monitor_suspect(struct path_monitor *monitor, struct group *group,
			 const struct rocesteer_flow_key *flow, __u32 path)
{
	struct rocesteer_flow_path takes = {};
	struct path_health *health;
	int ret;
	__u32 i;

	steer_flow_get(monitor->groups->steer, flow, &takes);
	ret = suspect(monitor, group, path, true, flow->peer, takes.source);
	if (ret <= 0)
		return ret;
	health = group->health;
	for (i = 0; i < takes.nr_pieces && i < ROCESTEER_MAX_PATHS; i++)
		health->doubts |= 1ull << (takes.piece[i].path & 63);
	if (takes.detour.until)
		health->doubts |= 1ull << (takes.detour.to & 63);
	health->doubts &= ~group->down;
	return 0;
}

/* Anybody can send an ICMP error: the path is examined, but has lost nothing. */
static int suspect_refused(struct path_monitor *monitor, struct group *group,
			   const struct quote *refusal)
{
	struct rocesteer_peer_key key = { .job = group->key.job, .ifindex = group->key.ifindex };
	struct rocesteer_peer peer;
	int ret = 0;
	__u32 p;

	memcpy(key.addr, refusal->peer, 16);
	memcpy(key.source, refusal->source, 16);
	if (steer_peer_get(monitor->groups->steer, &key, &peer) || peer.qpn_hash ||
	    memcmp(peer.leaf, group->key.leaf, 16))
		return 0;
	for (p = 0; p < peer.nr_paths && ret >= 0; p++) {
		if (peer.sport[p] != refusal->sport)
			continue;
		ret = suspect(monitor, group, p, false, refusal->peer, refusal->source);
		if (ret > 0)
			group->health->path[p].refused = clock_ns();
	}
	return ret;
}

static void refused(const struct quote *refusal, void *arg)
{
	struct path_monitor *monitor = arg;
	const struct set *all = &monitor->groups->group;
	size_t i;

	for (i = 0; i < all->nr && suspect_refused(monitor, all->item[i], refusal) >= 0; i++)
		;
}

/* The table says which paths are down, the monitor since when: the table is right. */
static int read_group(struct path_monitor *monitor, struct group *group, __u64 now)
{
	struct path_health *health = group->health;
	__u32 p;

	if (!health && !group->down)
		return 0;
	health = path_monitor_health(group);
	if (!health)
		return -ENOMEM;
	if (health->nr_paths != group->nr_paths) {	/* another job of this number */
		path_monitor_forget(monitor, group);
		memset(health, 0, sizeof(*health));
		health->nr_paths = group->nr_paths;
	}
	for (p = 0; p < group->nr_paths; p++) {
		bool known = health->path[p].state == PATH_DOWN;
		bool down = group->down >> p & 1;

		if (down == known)
			continue;
		if (known) {
			path_health_up(health, p, now);
			continue;
		}
		path_health_down(health, p, VERDICT_UNKNOWN, monitor->config->hold, now);
		health->path[p].due = now;
	}
	return 0;
}

int path_monitor_read(struct path_monitor *monitor)
{
	__u64 now = clock_ns();
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < monitor->groups->group.nr; i++)
		ret = read_group(monitor, monitor->groups->group.item[i], now);
	tell_dark(monitor);
	return ret ?: path_watch_read(monitor, now);
}

void path_monitor_forget(struct path_monitor *monitor, struct group *group)
{
	path_exam_cancel(monitor->exams, group);
}

void path_monitor_forget_all(struct path_monitor *monitor)
{
	size_t i;

	for (i = 0; i < monitor->groups->group.nr; i++)
		path_monitor_forget(monitor, monitor->groups->group.item[i]);
	set_clear(&monitor->watches, free);
}

void path_monitor_each(struct path_monitor *monitor,
		       void (*fn)(struct json_object *event, void *arg),
		       void *arg)
{
	size_t i;
	__u32 p;

	for (i = 0; i < monitor->dark.nr; i++) {
		const struct nic *nic = monitor->dark.item[i];

		if (nic->told)
			fn(nic_event("no-carrier", nic), arg);
	}
	for (i = 0; i < monitor->groups->group.nr; i++) {
		const struct group *group = monitor->groups->group.item[i];

		for (p = 0; group->health && p < group->nr_paths; p++)
			if (group->health->path[p].state != PATH_UP)
				fn(path_judge_event(group, p), arg);
	}
}

/* Without a carrier no router answers, which says nothing about paths. */
static void carrier_changed(struct path_monitor *monitor, __u32 ifindex, bool carrier)
{
	struct nic *nic = set_find(&monitor->dark, &ifindex, sizeof(ifindex));
	size_t i;

	if (carrier == !nic)
		return;
	if (carrier) {
		if (nic->told)
			monitor->config->emit(nic_event("carrier-back", nic), monitor->config->arg);
		set_remove(&monitor->dark, &ifindex, sizeof(ifindex));
		free(nic);
		return;
	}
	set_get(&monitor->dark, &ifindex, sizeof(ifindex), sizeof(*nic));
	for (i = 0; i < monitor->groups->group.nr; i++) {
		struct group *group = monitor->groups->group.item[i];

		if (group->key.ifindex == ifindex)
			path_monitor_forget(monitor, group);
	}
}

static void device_changed(__u32 ifindex, const char *name, bool carrier, void *arg)
{
	struct path_monitor *monitor = arg;

	carrier_changed(monitor, ifindex, carrier);
	if (!name)
		path_exams_forget(monitor->exams, ifindex);
	monitor->config->device(ifindex, name, monitor->config->arg);
}

static int carriers_ready(void *arg)
{
	struct path_monitor *monitor = arg;
	int ret = carrier_read(monitor->carriers, device_changed, monitor);

	tell_dark(monitor);
	return ret;
}

int path_monitor_open(struct path_monitor **out,
		      const struct path_monitor_config *config,
		      struct groups *groups, struct loop *loop, struct err *err)
{
	struct path_monitor *monitor = calloc(1, sizeof(*monitor));

	if (!monitor)
		return -ENOMEM;
	*out = monitor;
	monitor->config = config;
	monitor->groups = groups;
	monitor->loop = loop;
	monitor->exams = path_exams_new(&(struct path_exam_config) {
		.groups = groups,
		.loop = loop,
		.timeout_ms = config->timeout_ms,
		.short_quotes = config->short_quotes,
		.done = path_judge_all,
		.note = path_exam_note,
		.arg = monitor,
	});
	monitor->carriers = monitor->exams ? carrier_open(err) : NULL;
	if (!monitor->carriers)
		return -ENOMEM;
	monitor->source = (struct source) {
		.fd = carrier_fd(monitor->carriers),
		.ready = carriers_ready,
		.arg = monitor,
	};
	monitor->refusals = (struct refusals) { .loop = loop, .heard = refused, .arg = monitor };
	return loop_add(loop, &monitor->source) ?: refusals_open(&monitor->refusals);
}

void path_monitor_close(struct path_monitor *monitor)
{
	if (!monitor)
		return;
	refusals_close(&monitor->refusals);
	path_exams_free(monitor->exams);
	set_clear(&monitor->dark, free);
	set_clear(&monitor->watches, free);
	if (monitor->carriers)
		loop_remove(monitor->loop, &monitor->source);
	carrier_close(monitor->carriers);
	free(monitor);
}
