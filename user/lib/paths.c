// SPDX-License-Identifier: GPL-2.0
#include "paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "exam.h"
#include "health.h"
#include "link.h"
#include "progress.h"

#define MSEC	1000000ull

/* From the port of one path to that of the next, of all groups. */
#define WATCH	(1000 * MSEC)

/**
 * struct paths - state
 * @config: the caller's
 * @groups: likewise
 * @link: which devices have a carrier
 * @source: of @link
 * @dark: of struct nic: devices without a carrier
 * @exams: examinations
 * @changes: paths that went down or came up in this step
 * @watch_at: when to look at a path
 * @watch_group: the number of its group
 * @watch_path: the path
 */
struct paths {
	const struct paths_config *config;
	struct groups *groups;
	struct loop *loop;
	struct link_monitor *link;
	struct source source;
	struct set dark;
	struct exams *exams;
	int changes;
	__u64 watch_at;
	size_t watch_group;
	__u32 watch_path;
};

struct nic {
	__u32 ifindex;
};

static const char *const causes[] = {
	[VERDICT_UNKNOWN] = "before",
	[VERDICT_ROUTER] = "router",
	[VERDICT_LEAF] = "leaf",
	[VERDICT_DATA] = "data",
};

static const char *const states[] = {
	[PATH_UP] = "path-up",
	[PATH_LOSSY] = "path-lossy",
	[PATH_DOWN] = "path-down",
};

static struct json_object *path_event(const struct group *group, __u32 p)
{
	const struct path *path = &group->health->path[p];
	struct json_object *event = event_path(states[path->state], group, p);

	if (path->state == PATH_DOWN) {
		out_string(event, "cause", causes[path->cause]);
		out_uint(event, "hold_ms", path->hold / MSEC);
	}
	if (path->state == PATH_LOSSY) {
		out_decimal(event, "loss", path->loss * 10000 + 0.5, 4);
		out_uint(event, "probes", path->sent);
		out_uint(event, "answers", path->answered);
	}
	return event;
}

static void tell(struct paths *paths, const struct group *group, __u32 p)
{
	paths->config->tell(path_event(group, p), paths->config->arg);
}

static bool is_dark(const struct paths *paths, __u32 ifindex)
{
	return set_find(&paths->dark, &ifindex, sizeof(ifindex));
}

static struct health *get_health(struct group *group)
{
	if (!group->health) {
		group->health = calloc(1, sizeof(*group->health));
		if (group->health)
			group->health->nr_paths = group->nr_paths;
	}
	return group->health;
}

static void put_down(struct paths *paths, struct group *group)
{
	struct rocesteer_set_group set = {
		.key = group->key,
		.down = group->down,
	};

	/* That it is gone will be told. */
	steer_set_group(paths->groups->steer, &set);
	group->changed = true;
	paths->changes++;
}

static void path_up(struct paths *paths, struct group *group, __u32 p,
		    __u64 now)
{
	health_up(group->health, p, now);
	if (group->down >> p & 1) {
		group->down &= ~(1ull << p);
		put_down(paths, group);
	}
	tell(paths, group, p);
}

/*
 * The last path that is up is @dead, as one of the controls answered, which are
 * held down: use them. Return: is there one?
 */
static bool controls_up(struct paths *paths, struct group *group, __u32 dead,
			__u64 now)
{
	const struct health *health = group->health;
	__u64 controls = health->controls & ~(1ull << dead);
	__u32 p;

	if (!health->router && !health->leaf)
		return false;
	for (p = 0; p < group->nr_paths; p++)
		if (controls >> p & 1)
			path_up(paths, group, p, now);
	return controls;
}

static void path_down(struct paths *paths, struct group *group, __u32 p,
		      enum path_verdict cause, __u64 now)
{
	__u64 all = group->nr_paths < 64 ? (1ull << group->nr_paths) - 1 : ~0ull;

	if (!(all & ~group->down & ~(1ull << p)) &&
	    !controls_up(paths, group, p, now))
		return;		/* the last one is better than none */
	health_down(group->health, p, cause, paths->config->hold, now);
	group->down |= 1ull << p;
	put_down(paths, group);
	tell(paths, group, p);
}

static void judge_suspect(struct paths *paths, struct group *group, __u32 p,
			  const struct traffic *traffic, __u64 now)
{
	enum path_verdict verdict = health_judge(group->health, p, traffic, now);
	struct path *path = &group->health->path[p];

	if (verdict > VERDICT_UNKNOWN) {
		path_down(paths, group, p, verdict, now);
		return;
	}
	if (verdict == VERDICT_UNKNOWN) {
		health_unknown(group->health, p, now);
		return;
	}
	health_alive(group->health, p, now);
	if (path->state == PATH_UP &&
	    health_is_lossy(group->health, p, traffic)) {
		health_lossy(group->health, p, now);
		tell(paths, group, p);
	}
}

/* All answers are in, or late. */
static void exam_done(struct group *group, void *arg)
{
	struct health *health = group->health;
	struct paths *paths = arg;
	__u64 now = progress_now();
	struct traffic traffic;
	__u64 doubts = health->doubts & health->watched, down = group->down;
	__u32 p;

	group_traffic(paths->groups, group, &traffic);
	for (p = 0; p < health->nr_paths; p++) {
		if (!(health->examined >> p & 1))
			continue;
		if (health->path[p].moved) {
			if (health->path[p].state == PATH_DOWN)
				health->path[p].due = now +
						      health->path[p].hold;
			paths->config->moved(group, p, paths->config->arg);
		} else if (health->watched >> p & 1) {
			continue;
		} else if (health->path[p].state != PATH_DOWN) {
			judge_suspect(paths, group, p, &traffic, now);
		} else if (health_probed(health, p, &traffic, now)) {
			path_up(paths, group, p, now);
		}
	}
	/* Those that were only watched were not judged. */
	health->suspects &= ~health->examined | health->watched;
	if (doubts || group->down & ~down)	/* it was that one */
		health->doubts = 0;
	health->examined = 0;
	health->controls = 0;
	health->witnesses = 0;
	health_confirm(health, doubts, now);
}

/* What needs no probe, and what does. */
static int step_group(struct paths *paths, struct group *group, __u64 watched,
		      __u64 now)
{
	struct health *health = group->health;
	__u64 due, at;
	__u32 p;

	if (!health || health->out || is_dark(paths, group->key.ifindex))
		return 0;
	due = health_due(health, now, &at);
	for (p = 0; p < group->nr_paths; p++) {
		struct path *path = &health->path[p];

		if (!(due >> p & 1) || path->state == PATH_UP ||
		    (path->state == PATH_DOWN && path->cause != VERDICT_DATA))
			continue;
		due &= ~(1ull << p);
		path_up(paths, group, p, now);
	}
	if (!health->suspects)
		watched |= health->doubts;
	return due || health->suspects || watched ?
	       exam_start(paths->exams, group, due, watched) : 0;
}

/* The group whose turn it is to have a path looked at, or NULL. */
static struct group *watch_next(struct paths *paths, __u64 now)
{
	const struct set *all = &paths->groups->group;
	struct group *group;

	if (now < paths->watch_at || !all->nr)
		return NULL;
	paths->watch_at = now + WATCH;
	if (paths->watch_group >= all->nr)
		paths->watch_group = 0;
	group = all->item[paths->watch_group];
	if (++paths->watch_path >= group->nr_paths) {
		paths->watch_path = 0;
		paths->watch_group = (paths->watch_group + 1) % all->nr;
		group = all->item[paths->watch_group];
	}
	return get_health(group) ? group : NULL;
}

static void exam_note(__u32 ifindex, const char *line, void *arg)
{
	struct json_object *event = event_new("error");
	struct paths *paths = arg;

	out_device(event, "device", ifindex);
	out_string(event, "message", line);
	paths->config->tell(event, paths->config->arg);
}

int paths_step(struct paths *paths)
{
	__u64 now = progress_now();
	const struct group *watched = watch_next(paths, now);
	size_t i;
	int ret = 0;

	paths->changes = 0;
	for (i = 0; !ret && i < paths->groups->group.nr; i++) {
		struct group *group = paths->groups->group.item[i];

		ret = step_group(paths, group, group == watched ?
				 1ull << paths->watch_path : 0, now);
	}
	if (!ret)
		exams_step(paths->exams);
	return ret ?: paths->changes;
}

__u64 paths_due(struct paths *paths)
{
	__u64 now = progress_now(), due = LOOP_NEVER, at;
	size_t i;

	if (paths->groups->group.nr)
		due = paths->watch_at;
	for (i = 0; i < paths->groups->group.nr; i++) {
		const struct group *group = paths->groups->group.item[i];

		if (!group->health || group->health->out ||
		    is_dark(paths, group->key.ifindex))
			continue;
		health_due(group->health, now, &at);
		if (group->health->suspects | group->health->doubts)
			at = now;
		if (at < due)
			due = at;
	}
	at = exams_due(paths->exams);
	return at < due ? at : due;
}

int paths_suspect(struct paths *paths, struct group *group,
		  const struct rocesteer_flow_key *flow, __u32 path)
{
	struct health *health = get_health(group);
	struct rocesteer_flow_path takes = {};
	__u32 i;

	if (!health)
		return -ENOMEM;
	if (path >= health->nr_paths || is_dark(paths, flow->ifindex))
		return 0;
	health_suspect(health, path, progress_now());
	steer_flow_get(paths->groups->steer, flow, &takes);
	for (i = 0; i < takes.nr_pieces && i < ROCESTEER_MAX_PATHS; i++)
		health->doubts |= 1ull << (takes.piece[i].path & 63);
	if (takes.detour.until)
		health->doubts |= 1ull << (takes.detour.to & 63);
	health->doubts &= ~group->down;
	memcpy(health->peer, flow->peer, 16);
	return 0;
}

/* The table knows which are down, we know since when: the table is right. */
static int read_group(struct paths *paths, struct group *group, __u64 now)
{
	struct health *health = group->health;
	__u32 p;

	if (!health && !group->down)
		return 0;
	health = get_health(group);
	if (!health)
		return -ENOMEM;
	if (health->nr_paths != group->nr_paths) {	/* another job of this number */
		paths_forget(paths, group);
		memset(health, 0, sizeof(*health));
		health->nr_paths = group->nr_paths;
	}
	for (p = 0; p < group->nr_paths; p++) {
		bool known = health->path[p].state == PATH_DOWN;
		bool down = group->down >> p & 1;

		if (down == known)
			continue;
		if (known) {
			health_up(health, p, now);
			continue;
		}
		health_down(health, p, VERDICT_UNKNOWN, paths->config->hold,
			    now);
		health->path[p].due = now;
	}
	return 0;
}

int paths_read(struct paths *paths)
{
	__u64 now = progress_now();
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < paths->groups->group.nr; i++)
		ret = read_group(paths, paths->groups->group.item[i], now);
	paths->watch_at = now + WATCH;
	return ret;
}

void paths_forget(struct paths *paths, struct group *group)
{
	exam_cancel(paths->exams, group);
}

void paths_forget_all(struct paths *paths)
{
	size_t i;

	for (i = 0; i < paths->groups->group.nr; i++)
		paths_forget(paths, paths->groups->group.item[i]);
}

void paths_each(struct paths *paths,
		void (*fn)(struct json_object *event, void *arg), void *arg)
{
	size_t i;
	__u32 p;

	for (i = 0; i < paths->groups->group.nr; i++) {
		const struct group *group = paths->groups->group.item[i];

		for (p = 0; group->health && p < group->nr_paths; p++)
			if (group->health->path[p].state != PATH_UP)
				fn(path_event(group, p), arg);
	}
}

/* Without a carrier nothing answers, and that says nothing about paths. */
static void carrier_changed(struct paths *paths, __u32 ifindex, bool carrier)
{
	struct nic *nic = set_find(&paths->dark, &ifindex, sizeof(ifindex));
	size_t i;

	if (carrier == !nic)
		return;
	if (carrier) {
		set_remove(&paths->dark, &ifindex, sizeof(ifindex));
		free(nic);
		return;
	}
	set_get(&paths->dark, &ifindex, sizeof(ifindex), sizeof(*nic));
	for (i = 0; i < paths->groups->group.nr; i++) {
		struct group *group = paths->groups->group.item[i];

		if (group->key.ifindex == ifindex)
			paths_forget(paths, group);
	}
}

static void device_changed(__u32 ifindex, const char *name, bool carrier,
			   void *arg)
{
	struct paths *paths = arg;

	carrier_changed(paths, ifindex, carrier);
	if (!name)
		exams_forget(paths->exams, ifindex);
	paths->config->device(ifindex, name, paths->config->arg);
}

static int link_ready(void *arg)
{
	struct paths *paths = arg;

	return link_read(paths->link, device_changed, paths);
}

int paths_open(struct paths **out, const struct paths_config *config,
	       struct groups *groups, struct loop *loop, struct err *err)
{
	struct paths *paths = calloc(1, sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	*out = paths;
	paths->config = config;
	paths->groups = groups;
	paths->loop = loop;
	paths->exams = exams_new(&(struct exam_config) {
		.groups = groups,
		.loop = loop,
		.timeout_ms = config->timeout_ms,
		.short_quotes = config->short_quotes,
		.done = exam_done,
		.note = exam_note,
		.arg = paths,
	});
	paths->link = paths->exams ? link_open(err) : NULL;
	if (!paths->link)
		return -ENOMEM;
	paths->source = (struct source) {
		.fd = link_fd(paths->link),
		.ready = link_ready,
		.arg = paths,
	};
	return loop_add(loop, &paths->source);
}

void paths_close(struct paths *paths)
{
	if (!paths)
		return;
	exams_free(paths->exams);
	set_clear(&paths->dark, free);
	if (paths->link)
		loop_remove(paths->loop, &paths->source);
	link_close(paths->link);
	free(paths);
}
