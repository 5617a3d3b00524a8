// SPDX-License-Identifier: GPL-2.0
/* The place of this host among the hosts of a job, which each host finds by itself. */
#include <string.h>

#include "portmap.h"

/**
 * struct pod - the hosts that are numbered
 * @map: port map
 * @hop: peers in the pod have a smaller one; 0: two tiers, where only local peers count
 * @own: our address
 * @lowest: lowest address under our leaf
 */
struct pod {
	const struct portmap *map;
	unsigned int hop;
	const __u8 *own;
	const __u8 *lowest;
};

static bool crosses_pods(const struct portmap_peer *peer)
{
	unsigned int p;

	for (p = 0; p < peer->nr_paths; p++)
		if (!addr_is_none(peer->paths[p].via))
			return true;
	return false;
}

static bool is_inside(const struct pod *pod, const struct portmap_peer *peer)
{
	return (peer->local || peer->hop < pod->hop) &&
	       (!pod->own || !addr_compare(peer->source, pod->own));
}

static void find_pod(struct pod *pod)
{
	const struct portmap *map = pod->map;
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		if (crosses_pods(&map->peers[i]) &&
		    (!pod->hop || map->peers[i].hop < pod->hop))
			pod->hop = map->peers[i].hop;
	for (i = 0; !pod->own && i < map->nr_peers; i++)
		if (is_inside(pod, &map->peers[i]))
			pod->own = map->peers[i].source;
	pod->lowest = pod->own;
	for (i = 0; i < map->nr_peers; i++)
		if (map->peers[i].local && is_inside(pod, &map->peers[i]) &&
		    addr_compare(map->peers[i].addr, pod->lowest) < 0)
			pod->lowest = map->peers[i].addr;
}

/* Does the leaf of this peer come before our own? */
static bool is_leaf_before(const struct pod *pod, const struct portmap_peer *peer)
{
	const struct portmap *map = pod->map;
	size_t i;

	for (i = 0; i < map->nr_peers; i++)
		if (!map->peers[i].local && is_inside(pod, &map->peers[i]) &&
		    !addr_compare(map->peers[i].leaf, peer->leaf) &&
		    addr_compare(map->peers[i].addr, pod->lowest) < 0)
			return true;
	return false;
}

bool portmap_place(const struct portmap *map, __u32 *place)
{
	struct pod pod = { .map = map };
	size_t i;

	*place = 0;
	find_pod(&pod);
	for (i = 0; pod.own && i < map->nr_peers; i++) {
		const struct portmap_peer *peer = &map->peers[i];

		if (is_inside(&pod, peer))
			*place += peer->local ? addr_compare(peer->addr, pod.own) < 0 :
						is_leaf_before(&pod, peer);
	}
	return pod.own;
}

__u32 portmap_hosts(const struct portmap *map)
{
	struct pod pod = { .map = map };
	__u32 hosts = 1;
	size_t i;

	find_pod(&pod);
	if (!pod.own || pod.hop)
		return 0;
	for (i = 0; i < map->nr_peers; i++)
		hosts += is_inside(&pod, &map->peers[i]);
	return hosts;
}
