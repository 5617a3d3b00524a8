// SPDX-License-Identifier: GPL-2.0
/* Which port is checked next: does it still take its path? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "steer/steer.h"
#include "path_monitor_priv.h"

/*
 * Interval between checks of ports by one device. Routers limit their ICMP: 2,048 hosts below 16
 * spines take 2,048 * 0.2 / 16 = 26 answers a second of each spine, of the 600 packets that the
 * default CoPP group of SONiC lets through. When a group of N next hops hashes otherwise, each
 * check finds out with probability 1 - 1/N: after 5 s in the mean, and within 15 s but for
 * (1/N)^3. One next hop that changes alone takes 5 s for each path at worst.
 */
#define WATCH	(5000 * MSEC)

/**
 * struct watch - checks by a device
 * @ifindex: number
 * @at: time of the next check
 * @group: place in the set of groups from which the next one is looked for
 * @path: path from which the next one is looked for
 */
struct watch {
	__u32 ifindex;
	__u64 at;
	size_t group;
	__u32 path;
};

/* The search for a peer of a group; @wrapped: @key is not behind @after. */
struct next_peer {
	const struct group *group;
	struct rocesteer_peer_key after;
	struct rocesteer_peer_key key;
	struct rocesteer_peer peer;
	bool found;
	bool wrapped;
};

static int take_next(const struct rocesteer_peer_key *key, const struct rocesteer_peer *peer,
		     void *arg)
{
	struct next_peer *next = arg;
	bool wrapped = memcmp(key, &next->after, sizeof(*key)) <= 0;

	if (key->ifindex != next->group->key.ifindex ||
	    memcmp(peer->leaf, next->group->key.leaf, 16))
		return 0;
	if (next->found && (wrapped > next->wrapped ||
			    (wrapped == next->wrapped &&
			     memcmp(key, &next->key, sizeof(*key)) > 0)))
		return 0;
	next->key = *key;
	next->peer = *peer;
	next->found = true;
	next->wrapped = wrapped;
	return 0;
}

/* The peer of the group whose turn it is: for as many checks as it has ports. */
static bool get_peer(struct steer *steer, const struct group *group, struct rocesteer_peer *peer)
{
	struct path_health *health = group->health;
	struct next_peer next = { .group = group, .after = health->turn_peer };

	if (health->turn && !steer_peer_get(steer, &health->turn_peer, peer)) {
		health->turn &= path_exam_usable(group, peer);
		if (health->turn)
			return true;
	}
	steer_peer_each(steer, group->key.job, take_next, &next);
	*peer = next.peer;
	health->turn_peer = next.key;
	health->turn = path_exam_usable(group, peer);
	return health->turn;
}

/* A path whose turn it is: the next one of the device, if possible. */
static __u32 next_path(struct watch *watch, struct path_health *health)
{
	__u64 later = health->turn & ~0ull << watch->path;
	__u32 p = __builtin_ctzll(later ?: health->turn);

	health->turn &= ~(1ull << p);
	watch->path = (p + 1) % ROCESTEER_MAX_PATHS;
	return p;
}

static struct group *next_group(const struct set *all, struct watch *watch)
{
	size_t i;

	for (i = 0; i < all->nr; i++) {
		struct group *group = all->item[watch->group++ % all->nr];

		if (group->key.ifindex == watch->ifindex)
			return group;
	}
	return NULL;
}

/* A group under examination loses its turn. */
static int check_next(struct path_monitor *monitor, struct watch *watch)
{
	struct group *group = next_group(&monitor->groups->group, watch);
	struct path_health *health = group ? path_monitor_health(group) : NULL;
	struct rocesteer_peer peer = {};

	if (!health || health->out || health->suspects || health->doubts ||
	    !get_peer(monitor->groups->steer, group, &peer))
		return 0;
	return path_exam_watch(monitor->exams, group, &peer, next_path(watch, health));
}

int path_watch_step(struct path_monitor *monitor, __u64 now)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < monitor->watches.nr; i++) {
		struct watch *watch = monitor->watches.item[i];

		if (now < watch->at)
			continue;
		watch->at = now + WATCH;
		if (!path_monitor_is_dark(monitor, watch->ifindex))
			ret = check_next(monitor, watch);
	}
	return ret;
}

__u64 path_watch_due(const struct path_monitor *monitor)
{
	__u64 due = LOOP_NEVER;
	size_t i;

	for (i = 0; i < monitor->watches.nr; i++) {
		const struct watch *watch = monitor->watches.item[i];

		if (watch->at < due)
			due = watch->at;
	}
	return due;
}

/* Hosts that begin together do not check the same path at the same time. */
static int add_watch(struct path_monitor *monitor, __u32 ifindex, __u64 now)
{
	struct watch *watch = set_get(&monitor->watches, &ifindex, sizeof(ifindex),
				      sizeof(*watch));

	if (!watch)
		return -ENOMEM;
	if (!watch->at) {
		watch->at = now + now % WATCH;
		watch->path = now % ROCESTEER_MAX_PATHS;
	}
	return 0;
}

int path_watch_read(struct path_monitor *monitor, __u64 now)
{
	const struct set *all = &monitor->groups->group;
	size_t i;
	int ret = 0;

	for (i = monitor->watches.nr; i--;) {
		struct watch *watch = monitor->watches.item[i];

		if (path_monitor_has_group(monitor, watch->ifindex))
			continue;
		set_remove(&monitor->watches, &watch->ifindex, sizeof(watch->ifindex));
		free(watch);
	}
	for (i = 0; !ret && i < all->nr; i++) {
		const struct group *group = all->item[i];

		ret = add_watch(monitor, group->key.ifindex, now);
	}
	return ret;
}
