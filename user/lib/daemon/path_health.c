// SPDX-License-Identifier: GPL-2.0
#include "path_health.h"

#include <string.h>

#define MSEC		1000000ull

#define ANSWERS		3	/* more than silences before a path is used again */
#define CONTROLS	2
#define UNSURE_MAX	3	/* examinations more by other controls */
#define CALM		(100 * MSEC)
#define CALM_MAX	2	/* doublings: 400 ms */
#define HOLD_MAX	64	/* times the shortest */
#define WAIT_MAX	(1600 * MSEC)

/* A Linux router answers a host at least once a second: icmp_ratelimit. */
#define LIMIT		(1000 * MSEC)

/* A path that was not suspected for so long starts afresh. */
#define FORGET		(10000 * MSEC)

/* A path is lossy by at least so many rounds, and so many times those of other paths. */
#define LOSSY_ROUNDS	8
#define LOSSY_FACTOR	4

static __u64 bit(__u32 p)
{
	return 1ull << p;
}

void path_health_suspect(struct path_health *health, __u32 p, bool lost, __u64 now)
{
	struct path *path = &health->path[p];

	if (path->state == PATH_DOWN)
		return;
	if (!path->suspected || now - path->suspected > FORGET) {
		path->fresh = true;
		path->lost = 0;
		path->detours = 0;
		path->calm = 0;
		path->sent = 0;
		path->answered = 0;
	}
	path->suspected = now;
	path->doubted = false;
	if (lost) {
		path->lost = now;
		path->detours++;
		path->unsure = 0;
	}
	if (path->state == PATH_LOSSY)
		path->due = now + FORGET;
	if (now >= path->calm_until)
		health->suspects |= bit(p);
	else
		path->due = path->calm_until;
}

void path_health_confirm(struct path_health *health, __u64 doubts, __u64 now)
{
	bool answers = false;
	__u32 p;

	for (p = 0; p < health->nr_paths; p++)
		answers |= health->path[p].router;
	for (p = 0; answers && p < health->nr_paths; p++)
		if (doubts & bit(p) && !health->path[p].router && !health->path[p].moved) {
			path_health_suspect(health, p, true, now);
			health->path[p].doubted = true;
		}
}

__u64 path_health_due(const struct path_health *health, __u64 now, __u64 *at)
{
	__u64 due = 0;
	__u32 p;

	*at = ~0ull;
	for (p = 0; p < health->nr_paths; p++) {
		const struct path *path = &health->path[p];

		if (!path->due)
			continue;
		if (path->due <= now)
			due |= bit(p);
		if (path->due < *at)
			*at = path->due;
	}
	return due;
}

bool path_health_recovers(const struct path *path, __u64 now)
{
	if (path->state == PATH_LOSSY)
		return now - path->suspected >= FORGET;
	return path->state == PATH_DOWN && path->cause == VERDICT_DATA;
}

bool path_health_is_fresh(const struct path_health *health)
{
	__u32 p;

	for (p = 0; p < health->nr_paths; p++)
		if (health->path[p].fresh)
			return true;
	return false;
}

void path_health_examine(struct path_health *health, __u64 due, __u64 watched,
			 __u64 usable, const struct traffic *traffic)
{
	__u32 p;

	health->examined = (due | health->suspects | watched) & usable;
	health->watched = watched & ~(due | health->suspects);
	health->suspects = 0;
	health->controls = 0;
	health->witnesses = 0;
	health->router = false;
	health->leaf = false;
	for (p = 0; p < health->nr_paths; p++) {
		struct path *path = &health->path[p];

		path->router = false;
		path->leaf = false;
		path->moved = false;
		path->unreachable = false;
		if (path->state != PATH_DOWN && due & bit(p))
			path->due = path->state == PATH_LOSSY ? path->suspected + FORGET : 0;
		if (!path->fresh)
			continue;
		path->packets = traffic->packets[p];
		path->rounds = traffic->rounds[p];
		path->fresh = false;
	}
}

static bool wants_controls(const struct path *path)
{
	return !path->leaf && !path->moved && !path->unreachable &&
	       (path->state != PATH_DOWN || path->cause == VERDICT_UNKNOWN);
}

static __u64 down_paths(const struct path_health *health)
{
	__u64 down = 0;
	__u32 p;

	for (p = 0; p < health->nr_paths; p++)
		if (health->path[p].state == PATH_DOWN)
			down |= bit(p);
	return down;
}

/* A few paths of @among, from @first on. */
static void pick_controls(struct path_health *health, __u64 among, __u32 first)
{
	__u32 nr = health->nr_paths, n = 0, i, p;

	for (i = 0; i < nr && n < CONTROLS; i++) {
		p = (first + i) % nr;
		if (!(among & bit(p)))
			continue;
		health->controls |= bit(p);
		health->router |= health->path[p].router;
		n++;
	}
}

__u64 path_health_examine_again(struct path_health *health, __u64 usable)
{
	__u64 again = 0, up;
	bool asks_all = false;
	__u32 first = 0, p;

	if (health->controls)	/* that was it */
		return 0;
	for (p = 0; p < health->nr_paths; p++)
		if (health->examined & ~health->watched & bit(p) &&
		    wants_controls(&health->path[p])) {
			again |= bit(p);
			asks_all |= health->path[p].router;
			first = p + 1 + CONTROLS * health->path[p].unsure;
		}
	if (!again)
		return 0;
	usable &= ~again;
	up = usable & ~down_paths(health);
	pick_controls(health, up ?: usable, first);
	if (asks_all)
		health->witnesses = usable;
	return health->controls ? again : 0;
}

void path_health_postpone(struct path_health *health, __u64 now)
{
	__u32 p;

	health->suspects = 0;
	health->doubts = 0;
	health->examined = 0;
	health->controls = 0;
	health->witnesses = 0;
	health->out = 0;
	for (p = 0; p < health->nr_paths; p++)
		if (health->path[p].state == PATH_DOWN)
			health->path[p].due = now + health->path[p].hold;
}

/* Since the first suspicion. A flow that is gone has taken its counts along. */
static __u64 since(__u64 now, __u64 then)
{
	return now > then ? now - then : 0;
}

/*
 * On a dead path every second round begins with the same packet as the round before, and
 * then the flow leaves the path. On a lossy path few rounds do.
 */
static bool only_this_loses(const struct path_health *health, __u32 p,
			    const struct traffic *traffic)
{
	const struct path *path = &health->path[p];
	__u32 q;

	for (q = 0; q < health->nr_paths; q++)
		if (q != p && health->path[q].state != PATH_DOWN &&
		    health->path[q].lost &&
		    health->path[q].lost + FORGET > path->lost)
			return false;
	return path->detours >= 2 &&
	       since(traffic->rounds[p], path->rounds) <= 4 * path->detours;
}

/* Paths whose router does not answer while other routers do, a bit for each. */
static __u64 dead_routers(const struct path_health *health)
{
	__u64 asked = (health->examined & ~health->watched) | health->witnesses;
	const struct path *path = health->path;
	__u64 dead = 0;
	__u32 p;

	for (p = 0; health->router && p < health->nr_paths; p++)
		if (asked & bit(p) && !path[p].router && !path[p].leaf)
			dead |= bit(p);
	return dead;
}

/*
 * A router that answered just now may be silent because of its limit, if another path is
 * down that accounts for the loss.
 */
static bool is_limited(const struct path_health *health, __u32 p, __u64 now)
{
	const struct path *path = &health->path[p];

	return path->state == PATH_UP && path->doubted && !path->router &&
	       down_paths(health) && now - path->heard < LIMIT;
}

/* The leaf's answers to probes by these controls may all come back by what is dead. */
static bool is_unsure(const struct path_health *health, __u32 p)
{
	const struct path *path = &health->path[p];

	return path->state == PATH_UP && path->router && !path->leaf && !health->leaf &&
	       path->unsure < UNSURE_MAX;
}

enum path_verdict path_health_judge(const struct path_health *health, __u32 p,
				    const struct traffic *traffic, __u64 now)
{
	const struct path *path = &health->path[p];
	__u64 dead;

	if (path->unreachable)
		return VERDICT_UNREACHABLE;
	if (path->leaf)
		return VERDICT_ALIVE;
	if (is_limited(health, p, now))
		return VERDICT_UNKNOWN;
	/* Packets of flows use up the limit of a router's answers: a probe may get none. */
	if (health->router && !path->router)
		return path->refused && now - path->refused < LIMIT ? VERDICT_UNREACHABLE :
								      VERDICT_ROUTER;
	/*
	 * If a router is dead, the leaf's answers to probes by good paths may come
	 * back by this router: its path has to be taken down first.
	 */
	dead = dead_routers(health);
	if (dead & ~down_paths(health))
		return VERDICT_UNKNOWN;
	if (health->leaf && !dead)
		return VERDICT_LEAF;
	if (is_unsure(health, p))
		return VERDICT_UNKNOWN;
	return only_this_loses(health, p, traffic) ? VERDICT_DATA :
						     VERDICT_UNKNOWN;
}

static double ratio(__u64 rounds, __u64 packets)
{
	return packets ? (double)rounds / packets : 0;
}

bool path_health_is_lossy(struct path_health *health, __u32 p, const struct traffic *traffic)
{
	struct path *path = &health->path[p];
	__u64 rounds = since(traffic->rounds[p], path->rounds);
	__u64 other_rounds = 0, other_packets = 0;
	__u32 q;

	path->loss = ratio(rounds, since(traffic->packets[p], path->packets));
	for (q = 0; q < health->nr_paths; q++) {
		if (q == p || health->path[q].state != PATH_UP)
			continue;
		other_rounds += traffic->rounds[q];
		other_packets += traffic->packets[q];
	}
	return rounds >= LOSSY_ROUNDS &&
	       path->loss > LOSSY_FACTOR * ratio(other_rounds, other_packets);
}

void path_health_unknown(struct path_health *health, __u32 p, __u64 now)
{
	struct path *path = &health->path[p];

	if (is_limited(health, p, now))
		path->due = path->heard + LIMIT;
	else if (is_unsure(health, p))
		path->due = now + (CALM << path->unsure++);
}

void path_health_lossy(struct path_health *health, __u32 p, __u64 now)
{
	health->path[p].state = PATH_LOSSY;
	health->path[p].since = now;
	health->path[p].due = now + FORGET;
}

void path_health_alive(struct path_health *health, __u32 p, __u64 now)
{
	struct path *path = &health->path[p];

	path->calm_until = now + (CALM << path->calm);
	if (path->calm < CALM_MAX)
		path->calm++;
}

void path_health_down(struct path_health *health, __u32 p,
		      enum path_verdict cause, __u64 hold, __u64 now)
{
	struct path *path = &health->path[p];
	bool again = path->hold && now - path->since < FORGET;

	path->hold = again ? path->hold * 2 : hold;
	if (path->hold > HOLD_MAX * hold)
		path->hold = HOLD_MAX * hold;
	path->wait = path->hold;
	path->state = PATH_DOWN;
	path->cause = cause;
	path->since = now;
	path->due = now + path->hold;
	path->streak = 0;
}

bool path_health_probed(struct path_health *health, __u32 p,
			const struct traffic *traffic, __u64 now)
{
	struct path *path = &health->path[p];
	enum path_verdict verdict;

	if (path->cause == VERDICT_UNKNOWN) {	/* it was down when we started */
		verdict = path_health_judge(health, p, traffic, now);
		if (verdict == VERDICT_UNKNOWN)
			path->cause = VERDICT_DATA;
		else if (verdict != VERDICT_ALIVE)
			path->cause = verdict;
	}
	if (path->cause == VERDICT_DATA)	/* nobody to ask: try */
		return true;
	if (path->leaf || (path->cause != VERDICT_LEAF && path->router)) {
		path->streak++;
		path->due = now + path->hold;
	} else {
		if (path->streak)	/* a router may be limited */
			path->streak--;
		path->due = now + path->wait;
		if (path->wait < WAIT_MAX)
			path->wait *= 2;
	}
	return path->streak >= ANSWERS;
}

void path_health_up(struct path_health *health, __u32 p, __u64 now)
{
	struct path *path = &health->path[p];

	path->state = PATH_UP;
	path->since = now;
	path->due = 0;
	path->suspected = 0;
	path->lost = 0;
	path->calm_until = 0;
}
