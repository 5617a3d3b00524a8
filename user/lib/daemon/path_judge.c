// SPDX-License-Identifier: GPL-2.0
/* Results of an examination: the tables get the paths that are down, and events report them. */
#include "steer/steer.h"
#include "path_monitor_priv.h"

static const char *const causes[] = {
	[VERDICT_UNKNOWN] = "before",
	[VERDICT_ROUTER] = "router",
	[VERDICT_LEAF] = "leaf",
	[VERDICT_DATA] = "data",
	[VERDICT_UNREACHABLE] = "unreachable",
};

static const char *const states[] = {
	[PATH_UP] = "path-up",
	[PATH_LOSSY] = "path-lossy",
	[PATH_DOWN] = "path-down",
};

struct json_object *path_judge_event(const struct group *group, __u32 p)
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

static void emit(struct path_monitor *monitor, const struct group *group, __u32 p)
{
	monitor->config->emit(path_judge_event(group, p), monitor->config->arg);
}

static void put_down(struct path_monitor *monitor, struct group *group)
{
	struct rocesteer_set_group set = {
		.key = group->key,
		.down = group->down,
	};

	/* An event follows if the group is gone. */
	steer_set_group(monitor->groups->steer, &set);
	group->changed = true;
	monitor->changes++;
}

void path_judge_up(struct path_monitor *monitor, struct group *group, __u32 p, __u64 now)
{
	path_health_up(group->health, p, now);
	if (group->down >> p & 1) {
		group->down &= ~(1ull << p);
		put_down(monitor, group);
	}
	emit(monitor, group, p);
}

/*
 * The last path that is up is @dead, and controls, which are down, have answered: use these.
 * Return: true if there is one.
 */
static bool controls_up(struct path_monitor *monitor, struct group *group, __u32 dead, __u64 now)
{
	const struct path_health *health = group->health;
	__u64 controls = health->controls & ~(1ull << dead);
	__u32 p;

	if (!health->router && !health->leaf)
		return false;
	for (p = 0; p < group->nr_paths; p++)
		if (controls >> p & 1)
			path_judge_up(monitor, group, p, now);
	return controls;
}

static void path_down(struct path_monitor *monitor, struct group *group, __u32 p,
		      enum path_verdict cause, __u64 now)
{
	__u64 all = group->nr_paths < 64 ? (1ull << group->nr_paths) - 1 : ~0ull;

	if (!(all & ~group->down & ~(1ull << p)) && !controls_up(monitor, group, p, now))
		return;		/* the last one is better than none */
	path_health_down(group->health, p, cause, monitor->config->hold, now);
	group->down |= 1ull << p;
	put_down(monitor, group);
	emit(monitor, group, p);
}

static void judge_suspect(struct path_monitor *monitor, struct group *group,
			  __u32 p, const struct traffic *traffic, __u64 now)
{
	enum path_verdict verdict =
		path_health_judge(group->health, p, traffic, now);
	struct path *path = &group->health->path[p];

	if (verdict > VERDICT_UNKNOWN) {
		path_down(monitor, group, p, verdict, now);
		return;
	}
	if (verdict == VERDICT_UNKNOWN) {
		path_health_unknown(group->health, p, now);
		return;
	}
	path_health_alive(group->health, p, now);
	if (path->state == PATH_UP && path_health_is_lossy(group->health, p, traffic)) {
		path_health_lossy(group->health, p, now);
		emit(monitor, group, p);
	}
}

void path_judge_all(struct group *group, void *arg)
{
	struct path_health *health = group->health;
	struct path_monitor *monitor = arg;
	__u64 now = clock_ns();
	struct traffic traffic = {};
	__u64 doubts = health->doubts & health->watched, down = group->down;
	__u32 p;

	/* A path that is only watched is not judged by its traffic. */
	if (health->examined & ~health->watched)
		group_traffic(monitor->groups, group, &traffic);
	for (p = 0; p < health->nr_paths; p++) {
		if (!(health->examined >> p & 1))
			continue;
		if (health->path[p].moved) {
			if (health->path[p].state == PATH_DOWN)
				health->path[p].due = now +
						      health->path[p].hold;
			monitor->config->moved(group, p, monitor->config->arg);
		} else if (health->watched >> p & 1) {
			if (health->path[p].unreachable)	/* for this peer, or for all */
				path_health_suspect(health, p, false, now);
		} else if (health->path[p].state != PATH_DOWN) {
			judge_suspect(monitor, group, p, &traffic, now);
		} else if (path_health_probed(health, p, &traffic, now)) {
			path_judge_up(monitor, group, p, now);
		}
	}
	/* Watched paths were not judged. */
	health->suspects &= ~health->examined | health->watched;
	if (doubts || group->down & ~down)	/* it was that one */
		health->doubts = 0;
	health->examined = 0;
	health->controls = 0;
	health->witnesses = 0;
	path_health_confirm(health, doubts, now);
}
