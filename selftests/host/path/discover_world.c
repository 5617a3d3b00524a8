// SPDX-License-Identifier: GPL-2.0
#include "discover_world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/base.h"
#include "discover/route.h"

#define FIRST		0x0a010000	/* a subnet of 256 addresses for each leaf */

struct world world;

static __u32 v4(const __u8 addr[16])
{
	return addr[12] << 24 | addr[13] << 16 | addr[14] << 8 | addr[15];
}

static void put_v4(__u8 addr[16], __u32 value)
{
	const __u8 all[16] = { [10] = 0xff, 0xff, value >> 24, value >> 16, value >> 8, value };

	memcpy(addr, all, 16);
}

/* One of so many peers, in no order */
static bool one_of(unsigned int many, __u32 peer)
{
	return many && (peer * 2654435761u >> 8) % many == 0;
}

static unsigned int leaf_of(__u32 peer)
{
	unsigned int leaf = (peer - FIRST) >> 8;

	if (world.rails)
		return leaf * 2 + peer % 2;
	return one_of(world.moved, peer) ? leaf ^ 1 : leaf;
}

/* Which of our leaves has a port? */
static unsigned int member_of(__u32 peer, __u16 port)
{
	return world.bond.next_hops ? fabric_next_hop(&world.bond, peer, port, 0) : 0;
}

static unsigned int next_hop(__u32 peer, __u16 port, __u32 dqpn)
{
	struct fabric fabric = world.fabric;

	fabric.seed += member_of(peer, port);
	if (one_of(world.odd, peer))
		fabric.family = CRC32_HIGH;
	fabric.order = world.order && leaf_of(peer) % world.order == world.order - 1;
	return fabric_next_hop(&fabric, peer, port, dqpn);
}

/* Own arc4random(): each run is the same. */
unsigned int arc4random(void)
{
	return draw(0x7fffffff);
}

int route_lookup(const char *device, const __u8 peer[16], const __u8 *source,
		 struct route *route, struct err *err)
{
	(void)device;
	(void)peer;
	(void)source;
	(void)err;
	*route = (struct route) {};
	put_v4(route->source, 0x0a00c801);
	return 0;
}

/* The core of a port to another pod */
static __u32 core_of(__u32 peer, __u16 port, __u32 dqpn)
{
	unsigned int agg = next_hop(peer, port, dqpn);
	struct fabric fabric = world.aggs;

	fabric.offset = (fabric.offset + (world.each ? agg : 0)) % 16;
	return 0x0afd0001 + (world.shared ? 0 : agg << 8) +
	       fabric_next_hop(&fabric, peer, port, dqpn);
}

/* Is a peer in another pod? */
static bool is_across(__u32 peer)
{
	return world.pod && leaf_of(peer) >= world.pod;
}

/* How many hops away a peer is */
static unsigned int distance(__u32 peer)
{
	if ((int)leaf_of(peer) == world.own)
		return 2;
	return is_across(peer) ? 6 : 4;
}

/* The router at a distance on the way to a peer; addresses of aggs of other pods are not used. */
static __u32 router_at(unsigned int hop, __u32 peer, __u16 port, __u32 dqpn)
{
	if (hop == distance(peer) - 1)
		return 0x0aff0000 + leaf_of(peer);
	if (hop == 1)
		return 0x0afc0001 + member_of(peer, port);
	return hop == 2 ? 0x0afe0001 + next_hop(peer, port, dqpn) : core_of(peer, port, dqpn);
}

/* The peer says that nobody listens, where nobody does. */
static bool reply(const struct batch_probe *probe, const __u8 peer[16], struct probe_answer *answer)
{
	__u32 router;

	answer->type = PROBE_PORT_UNREACHABLE;
	memcpy(answer->from, peer, 16);
	if (probe->ttl >= distance(v4(peer)))
		return probe->kind == PROBE_NEAR || probe->kind == PROBE_PEER;
	answer->type = PROBE_TIME_EXCEEDED;
	router = router_at(probe->ttl, v4(peer), probe->port, probe->dqpn);
	put_v4(answer->from, router);
	return router != world.dead;
}

/* A probe and its repetitions */
static int answer(const struct probe_batch_ops *ops, void *client, struct batch_probe *probe,
		  const __u8 peer[16])
{
	struct probe_answer got = {};

	world.asked[probe->kind]++;
	for (probe->sent = 1; probe->sent <= 4; probe->sent++)
		if (draw(1000) >= world.loss && reply(probe, peer, &got))
			return ops->answer(client, probe, &got);
	return ops->lost(client, probe);
}

int probe_batch_run(const struct probe_batch_config *config, const struct probe_batch_ops *ops,
		    void *client, struct err *err)
{
	static struct batch_probe probe[PROBE_BATCH_ACTIVE];
	static const __u8 *peer[PROBE_BATCH_ACTIVE];
	unsigned int i, n;
	const __u8 *source;
	int ret = 0;

	(void)config;
	(void)err;
	do {
		for (n = 0; n < PROBE_BATCH_ACTIVE; n++) {
			probe[n] = (struct batch_probe) {};
			if (ops->next(client, &probe[n], &source, &peer[n]))
				break;
		}
		for (i = 0; !ret && i < n; i++)
			ret = answer(ops, client, &probe[i], peer[i]);
	} while (!ret && n);
	return ret;
}

static void take_note(void *arg, const char *line)
{
	struct found *found = arg;

	found->shared |= !strncmp(line, "4 of 4 cores", 12);
}

/* Each agg has as many paths, if there are more than a peer may have. */
static bool is_even(const struct portmap_peer *peer)
{
	unsigned int paths[256] = {}, p, a, least;

	for (p = 0; p < peer->nr_paths; p++)
		paths[peer->paths[p].via[15]]++;
	least = ROCESTEER_MAX_PATHS / world.fabric.next_hops;
	for (a = 1; a <= world.fabric.next_hops; a++)
		if (paths[a] != least)
			return false;
	return true;
}

static bool is_right(const struct portmap_peer *peer)
{
	bool across = is_across(v4(peer->addr));
	unsigned int expected = (world.shared && across ? 1 : world.fabric.next_hops) *
				(across ? world.aggs.next_hops : 1) *
				(world.bond.next_hops ?: 1), p;
	bool via = (across && !world.shared) || world.bond.next_hops;
	size_t k;

	if (expected > ROCESTEER_MAX_PATHS && !is_even(peer))
		return false;
	if (expected > ROCESTEER_MAX_PATHS)
		expected = ROCESTEER_MAX_PATHS;
	for (p = 0; p < peer->nr_paths; p++)
		for (k = 0; k < peer->paths[p].nr_ports; k++)
			if (v4(peer->paths[p].router) !=
			    router_at(across ? 3 : 2, v4(peer->addr), peer->paths[p].ports[k], 0) ||
			    (via && v4(peer->paths[p].via) !=
			     router_at(across ? 2 : 1, v4(peer->addr), peer->paths[p].ports[k], 0)))
				return false;
	return peer->nr_paths == expected - (across && world.dead) &&
	       peer->hop == (across ? 3 : 2) && peer->leaf_hop == (across ? 5 : 3);
}

static void judge(const struct portmap_peer *peer, struct found *found)
{
	found->local += peer->local;
	if (peer->local)
		return;
	found->wrong += !is_right(peer);
	found->astray += v4(peer->leaf) != 0x0aff0000 + leaf_of(v4(peer->addr));
	found->linear += peer->linear;
	found->predicted += peer->linear && !peer->probed;
	found->across += peer->linear && peer->hop == 3;
	if (peer->linear && peer->probed > found->learn)
		found->learn = peer->probed;
}

static double cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

struct found search_again(const char *what, const struct portmap *known, struct portmap *map,
			  unsigned int nr)
{
	static __u8 peers[PEERS][16];
	static __u32 order[PEERS];
	struct discover discover = {
		.config = { .device = "eth0", .ports = PROBE_BATCH_PORTS },
		.peers = peers, .nr_peers = nr, .known = known,
	};
	struct found found = { .cpu = cpu() };
	struct err err;
	unsigned int i;

	random_order(draw(1000) + 1, nr, order);
	for (i = 0; i < nr; i++) {
		__u32 n = i * (PEERS / nr);

		put_v4(peers[order[i]], FIRST + (n / world.hosts << 8) + n % world.hosts + 1);
	}
	memset(world.asked, 0, sizeof(world.asked));
	discover.note = take_note;
	discover.arg = &found;
	if (discover_run(&discover, map, &err))
		return (struct found) { .wrong = nr };
	found.cpu = cpu() - found.cpu;
	for (i = 0; i < nr; i++)
		judge(&map->peers[i], &found);
	found.asked = world.asked[PROBE_PATH] + world.asked[PROBE_QPN] +
		      world.asked[PROBE_BEFORE];
	found.leaves = world.asked[PROBE_LEAF] + world.asked[PROBE_PEER];
	if (!*what)
		return found;
	printf("# %s: %.3f probes a peer, %.3f of them of its leaf, %.2f s of CPU\n", what,
	       (double)(found.asked + found.leaves) / nr, (double)found.leaves / nr,
	       found.cpu);
	printf("# %u linear, %u of them predicted, %u wrong, %u astray, %u local\n", found.linear,
	       found.predicted, found.wrong, found.astray, found.local);
	return found;
}

struct found search_some(const char *what, unsigned int nr)
{
	struct portmap map;
	struct found found = search_again(what, NULL, &map, nr);

	portmap_free(&map);
	return found;
}

struct found search(const char *what)
{
	return search_some(what, PEERS);
}
