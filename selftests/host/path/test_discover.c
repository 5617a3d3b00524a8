// SPDX-License-Identifier: GPL-2.0
/*
 * The search for the paths to 10,000 peers, over models of switches, in two tiers and in three: how
 * many ports it asks, how much CPU it takes, and whether the map is right. Routes and probes are
 * fakes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/base.h"
#include "discover/discover_run.h"
#include "discover/route.h"
#include "hash_models.h"
#include "../../ktap.h"

#define PEERS		10000
#define FIRST		0x0a010000	/* a subnet of 256 addresses for each leaf */

/**
 * struct world - a fabric, and the peers behind it
 * @fabric: our leaf
 * @aggs: the aggs of our pod, if there are three tiers
 * @each: the hash of each agg has another offset
 * @pod: leaves of a pod, if there are three tiers; the first pod is ours
 * @dead: core that does not answer, or 0
 * @hosts: peers of each leaf
 * @loss: answers of 1000 that are lost; each probe is sent again three times
 * @rails: peers of a subnet are under two leaves in turn
 * @moved: one peer of so many is under another leaf, or 0
 * @odd: one peer of so many has another hash, or 0
 * @order: one leaf of so many has its next hops in another order, or 0
 * @own: this leaf is ours, or -1
 * @asked: probes, by kind, of which each may be sent several times
 */
struct world {
	struct fabric fabric;
	struct fabric aggs;
	bool each;
	unsigned int pod;
	__u32 dead;
	unsigned int hosts;
	unsigned int loss;
	bool rails;
	unsigned int moved;
	unsigned int odd;
	unsigned int order;
	int own;
	unsigned long asked[PROBE_PEER + 1];
};

static struct world world;

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

static unsigned int next_hop(__u32 peer, __u16 port, __u32 dqpn)
{
	struct fabric fabric = world.fabric;

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
	return 0x0afd0001 + (agg << 8) + fabric_next_hop(&fabric, peer, port, dqpn);
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

/**
 * struct found - what was found of all peers
 * @wrong: peers of which a port takes another path than the map says, or paths are missing
 * @astray: peers that are under another leaf than the map says
 * @local: peers under our own leaf
 * @linear: peers that follow from the model
 * @predicted: of these, peers of which no port was asked
 * @across: peers of other pods that follow from the model
 * @learn: most probes of one peer that follows, which the model was learnt from
 * @asked: probes to the routers of paths
 * @leaves: probes to leaves
 * @cpu: s
 */
struct found {
	unsigned int wrong;
	unsigned int astray;
	unsigned int local;
	unsigned int linear;
	unsigned int predicted;
	unsigned int across;
	unsigned int learn;
	unsigned long asked;
	unsigned long leaves;
	double cpu;
};

static bool is_right(const struct portmap_peer *peer)
{
	bool across = is_across(v4(peer->addr));
	unsigned int expected = world.fabric.next_hops * (across ? world.aggs.next_hops : 1), p;
	size_t k;

	for (p = 0; p < peer->nr_paths; p++)
		for (k = 0; k < peer->paths[p].nr_ports; k++)
			if (v4(peer->paths[p].router) !=
			    router_at(across ? 3 : 2, v4(peer->addr), peer->paths[p].ports[k], 0) ||
			    (across && v4(peer->paths[p].via) !=
			     router_at(2, v4(peer->addr), peer->paths[p].ports[k], 0)))
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

/*
 * Search for @nr peers all over the world, in no order; @known: an earlier map, or NULL. Nothing is
 * printed for a search without a name.
 */
static struct found search_again(const char *what, const struct portmap *known, struct portmap *map,
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

/* So many peers, all over the world */
static struct found search_some(const char *what, unsigned int nr)
{
	struct portmap map;
	struct found found = search_again(what, NULL, &map, nr);

	portmap_free(&map);
	return found;
}

static struct found search(const char *what)
{
	return search_some(what, PEERS);
}

static struct world world_of(enum family family, unsigned int hosts)
{
	struct world new = { .fabric = fabric_of(family, 16), .hosts = hosts, .own = -1 };

	if (family == XOR16)	/* by the bits of the port that change */
		new.fabric.offset = 0;
	return new;
}

/* One probe for each peer, and all is right. */
static bool is_cheap(const struct found *found)
{
	return !found->wrong && !found->astray && found->asked + found->leaves <= PEERS &&
	       found->cpu <= 2;
}

static bool families(void)
{
	static const char *const name[] = { "CRC16", "CRC32", "CRC32, high", "XOR16", "random" };
	bool ok = true;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(name); i++) {
		struct found found;

		world = world_of(i, 40);
		found = search(name[i]);
		ok &= is_cheap(&found) && found.predicted > PEERS * 9 / 10;
	}
	return ok;
}

static bool small_leaves(void)
{
	struct found found;

	world = world_of(CRC16, 16);
	found = search("16 peers a leaf");
	return is_cheap(&found);
}

static bool other_widths(void)
{
	struct found few, many;

	world = world_of(CRC16, 40);
	world.fabric.next_hops = 4;
	few = search("4 next hops");
	world.fabric.next_hops = 64;
	many = search("64 next hops");
	return is_cheap(&few) && is_cheap(&many);
}

static bool losses(void)
{
	struct found found;

	world = world_of(CRC32_LOW, 40);
	world.loss = 10;
	found = search("1 % lost");
	return is_cheap(&found);
}

static bool own_leaf(void)
{
	struct found found;

	world = world_of(CRC16, 40);
	world.own = 77;
	found = search("our own leaf");
	return !found.wrong && !found.astray && found.local == 40 &&
	       found.asked + found.leaves <= PEERS;
}

/* Wrong ports of one peer in 1,000 */
static bool few_wrong(const char *what)
{
	struct found found = search(what);

	return found.wrong <= PEERS / 1000 && !found.astray;
}

static bool functions(void)
{
	world = world_of(CRC16, 40);
	world.fabric.macro = true;
	return few_wrong("a function by address");
}

static bool orders(void)
{
	world = world_of(CRC16, 40);
	world.order = 1;
	return few_wrong("an order by leaf");
}

/* Other leaves are not doubted for them. */
static bool some_orders(void)
{
	struct found found;

	world = world_of(CRC16, 40);
	world.order = 50;
	found = search("another order at one leaf of 50");
	return found.wrong <= PEERS / 1000 && found.linear >= PEERS * 98 / 100 &&
	       found.predicted > PEERS * 8 / 10;
}

static bool odd_peers(void)
{
	world = world_of(CRC16, 250);
	world.odd = 100;
	return few_wrong("one peer of 100 is odd");
}

/* The walk misses a path of one peer in 1,000. */
static bool not_linear(void)
{
	struct found found;

	world = world_of(JHASH, 40);
	found = search("not linear");
	return !found.linear && found.wrong <= PEERS / 500;
}

static bool two_rails(void)
{
	struct found found;

	world = world_of(CRC16, 40);
	world.rails = true;
	found = search("two leaves in turn");
	return !found.wrong && !found.astray;
}

static bool moved_peers(void)
{
	struct found found;

	world = world_of(CRC16, 40);
	world.moved = 50;
	found = search("one peer of 50 is under another leaf");
	return !found.wrong && found.astray <= PEERS / 1000;
}

/* Nothing that an earlier map says is believed without new checks. */
static bool known_map(void)
{
	struct portmap known, map;
	struct found first, again, changed;

	world = world_of(CRC16, 40);
	first = search_again("a new map", NULL, &known, PEERS);
	again = search_again("the same again", &known, &map, PEERS);
	portmap_free(&map);
	world.fabric.seed++;
	changed = search_again("another seed", &known, &map, PEERS);
	portmap_free(&map);
	portmap_free(&known);
	return is_cheap(&first) && is_cheap(&again) && again.asked < first.asked &&
	       !changed.wrong && changed.asked > first.asked;
}

/* 4 aggs, 4 cores behind each, pods of 10 leaves */
static struct world tiers_of(enum family family, unsigned int offset)
{
	struct world new = world_of(family, 40);

	new.aggs = new.fabric;
	new.aggs.seed = draw(0x7fffffff);
	new.fabric.next_hops = 4;
	new.aggs.next_hops = 4;
	new.aggs.offset = (new.fabric.offset + offset) % 16;
	new.pod = 10;
	return new;
}

/* What the first peers cost, of which one teaches the model */
static bool learning(void)
{
	unsigned int i, k, most = 0;

	for (k = 2; k <= 4; k += 2)
		for (i = 0; i < 20; i++) {
			struct found found;

			world = tiers_of(i % 2 ? CRC16 : CRC32_LOW, 4);
			world.fabric.next_hops = k;
			world.aggs.next_hops = k;
			found = search_some("", 40);
			if (found.wrong || found.learn > 80)
				return false;
			if (found.learn > most)
				most = found.learn;
			if (i == 19)
				printf("# %u x %u: %u probes to learn, %lu for 40 peers\n",
				       k, k, most, found.asked + found.leaves);
		}
	return true;
}

static bool three_tiers(void)
{
	struct found found;
	unsigned int i;
	bool ok = true;

	for (i = 0; i < 5; i++) {
		world = tiers_of(i % 2 ? CRC16 : CRC32_LOW, 2 + 2 * i);
		found = search("three tiers");
		ok &= is_cheap(&found) && found.predicted > PEERS * 8 / 10;
	}
	return ok;
}

/* A few peers: how many of these fabrics have a model, and how many of their ports are wrong? */
static bool aggs_that_differ(void)
{
	unsigned int i, taken = 0, wrong = 0;

	for (i = 0; i < 300; i++) {
		struct found found;

		world = tiers_of(i % 2 ? CRC16 : CRC32_LOW, 4);
		world.each = true;
		found = search_some("", 40);
		taken += found.across > 0;
		wrong += found.across && found.wrong;
	}
	printf("# %u of 300 fabrics taken as linear, %u of them wrongly\n", taken, wrong);
	return !wrong;
}

static bool dead_core(void)
{
	unsigned int i, right = 0, across = 0;

	for (i = 0; i < 50; i++) {
		struct found found;

		world = tiers_of(i % 2 ? CRC16 : CRC32_LOW, 4);
		world.fabric.next_hops = i < 25 ? 4 : 2;
		world.aggs.next_hops = world.fabric.next_hops;
		world.dead = 0x0afd0001 + (i % 2 << 8) + i / 2 % 2;
		found = search_some("", 40);
		right += !found.wrong;
		across += found.across > 0;
	}
	printf("# %u of 50 fabrics with a silent core mapped, %u of them by a model\n", right,
	       across);
	return right == 50 && across > 40;
}

int main(void)
{
	ktap_begin();
	ktap_result(families(), "10,000 peers take a probe each at most, and 2 s of CPU");
	ktap_result(small_leaves(), "so they do with 16 peers below each leaf");
	ktap_result(other_widths(), "and with 4 next hops, and with 64");
	ktap_result(losses(), "one lost answer in 100 changes nothing");
	ktap_result(own_leaf(), "peers under our own leaf are found to be");
	ktap_result(functions(), "a hash chosen by address is noticed");
	ktap_result(orders(), "leaves with next hops in another order are noticed");
	ktap_result(some_orders(), "and do no harm to others");
	ktap_result(odd_peers(), "one peer in 100 with another hash is noticed");
	ktap_result(two_rails(), "leaves that alternate are noticed");
	ktap_result(moved_peers(), "one peer in 50 under another leaf is noticed");
	ktap_result(known_map(), "an earlier map saves probes, and is not believed blindly");
	ktap_result(not_linear(), "a hash that is not linear is walked through");
	ktap_result(three_tiers(), "in three tiers it is the same, in the pod and across");
	ktap_result(learning(), "80 probes teach the model of cores at most");
	ktap_result(aggs_that_differ(), "aggs with different hashes are not taken for one");
	ktap_result(dead_core(), "a core that does not answer is left out");
	return ktap_end();
}
