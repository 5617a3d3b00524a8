// SPDX-License-Identifier: GPL-2.0
#include "rediscovery.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "discover/discover.h"
#include "portmap/portmap.h"
#include "found_peers.h"

#define PAUSE	10000000000ull

/* A peer, and our address that its flows have */
struct known {
	__u8 source[16];
	struct rocesteer_peer peer;
};

/* Peers of the job behind the device; @addr: for discover_run() */
struct peers {
	const struct groups *groups;
	__u32 job;
	__u32 ifindex;
	char device[IF_NAMESIZE];
	__u8 (*addr)[16];
	struct known *peer;
	size_t nr;
};

static int add_peer(const struct rocesteer_peer_key *key,
		    const struct rocesteer_peer *peer, void *arg)
{
	struct peers *peers = arg;
	size_t n = peers->nr + 1;

	if (key->ifindex != peers->ifindex)
		return 0;
	peers->addr = reallocarray(peers->addr, n, sizeof(*peers->addr));
	peers->peer = reallocarray(peers->peer, n, sizeof(*peers->peer));
	if (!peers->addr || !peers->peer)
		return -ENOMEM;
	memcpy(peers->addr[peers->nr], key->addr, 16);
	memcpy(peers->peer[peers->nr].source, key->source, 16);
	peers->peer[peers->nr++].peer = *peer;
	return 0;
}

/* Path @p of a group among the paths found, or NULL. */
static struct portmap_path *
find_path(const struct portmap_peer *found, const struct group *group, __u32 p)
{
	unsigned int i = portmap_peer_find_path(found, group->router[p], group->via[p],
						group->leaf[p]);

	return i < ROCESTEER_MAX_PATHS ? &found->paths[i] : NULL;
}

/*
 * The port that takes a path now: the previous one if it still does. That of a path that is down is
 * the one that takes a router that does not answer.
 */
static __be16 port_of(const struct portmap_peer *found, const struct portmap_path *path,
		      __be16 old, bool down)
{
	if (path)
		return htons(portmap_path_port(path, ntohs(old)));
	if (down && found->silent_port)
		return htons(found->silent_port);
	return down ? old : 0;
}

static bool same_paths(const struct rocesteer_group *group, const struct group *before)
{
	return !memcmp(group->router, before->router, sizeof(group->router)) &&
	       !memcmp(group->leaf, before->leaf, sizeof(group->leaf)) &&
	       !memcmp(group->via, before->via, sizeof(group->via));
}

/* Add what the search leaves out, as the job knows it. */
static void complete(struct portmap_peer *found, const struct rocesteer_peer *peer,
		     const struct group *group)
{
	struct portmap_path *path;
	__u32 p;

	memcpy(found->leaf, peer->leaf, 16);
	found->qpn_hash = peer->qpn_hash;
	if (found->expected < group->nr_paths)
		found->expected = group->nr_paths;
	for (p = 0; p < group->nr_paths; p++) {
		path = find_path(found, group, p);
		if (path)
			path->weight = group->weight[p];
	}
}

/*
 * Another job may have got the number: the ports are right if it has the same paths. If not, @found
 * loses its paths.
 */
static int put_peer(const struct rediscovery *rediscovery, struct steer *steer,
		    struct portmap_peer *found)
{
	struct rocesteer_set_peer set = { .key.job = rediscovery->job,
					  .key.ifindex = rediscovery->ifindex };
	struct rocesteer_group_key gkey = { .job = rediscovery->job,
					    .ifindex = rediscovery->ifindex };
	const struct group *before = NULL;
	struct rocesteer_group group;
	__be16 *sport = set.peer.sport;
	__u32 p;

	memcpy(set.key.addr, found->addr, 16);
	memcpy(set.key.source, found->source, 16);
	if (!steer_peer_get(steer, &set.key, &set.peer)) {
		memcpy(gkey.leaf, set.peer.leaf, 16);
		before = groups_find(rediscovery->groups, &gkey);
	}
	if (!before || steer_group_get(steer, &gkey, &group) || !same_paths(&group, before)) {
		portmap_peer_free(found);
		return 0;
	}
	for (p = 0; p < before->nr_paths; p++)
		sport[p] = port_of(found, find_path(found, before, p), sport[p],
				   group.down >> p & 1);
	complete(found, &set.peer, before);
	return steer_set_peer(steer, &set) ?:
	       steer_qpns_forget(steer, set.key.job, &set.key);
}

/* Under the lock no job comes or goes. */
static int put_ports(const struct rediscovery *rediscovery, struct portmap *map,
		     struct err *err)
{
	struct steer *steer = NULL;
	size_t i;
	int ret;

	ret = steer_open(&steer, 0, err);
	if (ret == -ENOENT) {
		err->code = NULL;
		return 0;
	}
	for (i = 0; !ret && i < map->nr_peers; i++)
		if (!map->peers[i].local)
			ret = put_peer(rediscovery, steer, &map->peers[i]);
	steer_close(steer);
	return ret;
}

/* All peers with the source address of the first one. */
static size_t take_alike(struct peers *peers)
{
	const struct known first = peers->peer[0];
	size_t i, n = 0;

	for (i = 0; i < peers->nr; i++) {
		const struct known peer = peers->peer[i];
		__u8 addr[16];

		if (memcmp(peer.source, first.source, 16))
			continue;
		memcpy(addr, peers->addr[i], 16);
		memcpy(peers->addr[i], peers->addr[n], 16);
		peers->peer[i] = peers->peer[n];
		memcpy(peers->addr[n], addr, 16);
		peers->peer[n++] = peer;
	}
	return n;
}

static const struct group *group_of(const struct peers *peers, size_t i)
{
	struct rocesteer_group_key key = { .job = peers->job,
					   .ifindex = peers->ifindex };

	memcpy(key.leaf, peers->peer[i].peer.leaf, 16);
	return groups_find(peers->groups, &key);
}

/* The job may have only some of the fabric's paths: stop when its own are found. */
static bool enough(void *arg, size_t i, const struct portmap_peer *found)
{
	const struct group *group = group_of(arg, i);
	__u32 p;

	for (p = 0; group && p < group->nr_paths; p++)
		if (!find_path(found, group, p))
			return false;
	return true;
}

/* Tell links apart if the group's paths are told apart by leaf. */
static bool split(void *arg, size_t i)
{
	const struct group *group = group_of(arg, i);
	__u32 p;

	for (p = 0; group && p < group->nr_paths; p++)
		if (!addr_is_none(group->leaf[p]))
			return true;
	return false;
}

/* Are they told apart by our leaf? */
static bool is_bonded(const struct peers *peers, size_t nr)
{
	size_t i;
	__u32 p;

	for (i = 0; i < nr; i++) {
		const struct rocesteer_peer *peer = &peers->peer[i].peer;
		const struct group *group = group_of(peers, i);

		for (p = 0; group && peer->leaf_hop == peer->hop + 1 && p < group->nr_paths; p++)
			if (!addr_is_none(group->via[p]))
				return true;
	}
	return false;
}

static int find_ports(const struct rediscovery *rediscovery, struct peers *peers,
		      size_t nr, struct err *err)
{
	__u8 (*hops)[2] = calloc(nr, sizeof(*hops));
	struct discover discover = {
		.config = { .device = peers->device,
			    .ports = PROBE_BATCH_PORTS, .rate = PROBE_BATCH_RATE,
			    .retries = PROBE_BATCH_RETRIES,
			    .timeout_ms = PROBE_BATCH_TIMEOUT,
			    .short_quotes = rediscovery->short_quotes },
		.source = peers->peer[0].source,
		.peers = peers->addr,
		.nr_peers = nr,
		.hops = (const __u8 (*)[2])hops,
		.bonded = is_bonded(peers, nr),
		.enough = enough,
		.split = split,
		.arg = peers,
	};
	struct portmap map;
	size_t i;
	int ret;

	if (!hops)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		hops[i][0] = peers->peer[i].peer.hop;
		hops[i][1] = peers->peer[i].peer.leaf_hop;
	}
	ret = discover_run(&discover, &map, err);
	free(hops);
	if (ret)
		return ret;
	ret = put_ports(rediscovery, &map, err);
	found_peers_keep(rediscovery->groups->steer, rediscovery->job, &map);
	portmap_free(&map);
	return ret;
}

static int run(void *what, struct err *err)
{
	const struct rediscovery *rediscovery = what;
	struct peers peers = { .groups = rediscovery->groups, .job = rediscovery->job,
			       .ifindex = rediscovery->ifindex };
	size_t n;
	int ret;

	if (!if_indextoname(peers.ifindex, peers.device))
		return -errno;
	found_peers_forget(peers.groups->steer, peers.job, peers.device);
	ret = steer_peer_each(peers.groups->steer, rediscovery->job, add_peer, &peers);
	while (!ret && peers.nr) {
		n = take_alike(&peers);
		ret = find_ports(rediscovery, &peers, n, err);
		peers.nr -= n;
		peers.peer += n;
		peers.addr += n;
	}
	return ret;
}

int rediscovery_start(struct rediscovery *rediscovery, const struct group *group)
{
	__u64 now = clock_ns();
	int ret;

	if (rediscovery->task.pid || (rediscovery->job == group->key.job &&
				      rediscovery->ifindex == group->key.ifindex &&
				      now < rediscovery->again))
		return 0;
	rediscovery->again = now + PAUSE;
	rediscovery->job = group->key.job;
	rediscovery->ifindex = group->key.ifindex;
	rediscovery->task.run = run;
	rediscovery->task.what = rediscovery;
	ret = task_start(&rediscovery->task);
	return ret ?: 1;
}
