// SPDX-License-Identifier: GPL-2.0
/*
 * The search for the paths to 10,000 peers, over models of switches, in two tiers and in three: how
 * many ports it asks, how much CPU it takes, and whether the map is right.
 */
#include "base/base.h"
#include "discover_world.h"
#include "../../ktap.h"

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

/* 128 and 256 cores, of which a host takes 64 */
static bool many_cores(void)
{
	unsigned int i, k, most = 0;

	for (k = 2; k <= 8; k *= 2)
		for (i = 0; i < 10; i++) {
			struct found found;

			world = tiers_of(i % 2 ? CRC16 : CRC32_LOW, 6);
			world.fabric.next_hops = k;
			world.aggs.next_hops = k == 8 ? 32 : 128 / k;
			found = search_some("", 40);
			if (found.wrong || found.across != 38)
				return false;
			if (found.learn > most)
				most = found.learn;
		}
	printf("# %u probes to learn\n", most);
	return true;
}

/* Four aggs with the same four cores: which one a path goes by is said to be a guess. */
static bool shared_cores(void)
{
	unsigned int i, right = 0;

	for (i = 0; i < 20; i++) {
		struct found found;

		world = tiers_of(i % 2 ? CRC16 : CRC32_LOW, 4);
		world.shared = true;
		found = search_some("", 40);
		right += !found.wrong && found.shared && !found.across;
		world.shared = false;
		found = search_some("", 40);
		right -= found.shared;
	}
	printf("# %u of 20 fabrics\n", right);
	return right == 20;
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

/* The walk asks all ports twice. */
static bool bond(enum family family, enum family hash, bool linear)
{
	static const char *const name[] = { "CRC16", "CRC32", "CRC32, high", "XOR16", "random",
					    "not linear" };
	struct found found;
	char what[64];

	world = world_of(family, 40);
	world.fabric.next_hops = 8;
	world.bond = fabric_of(hash, 2);
	world.bond.offset = 0;	/* by the bits of the port that change */
	snprintf(what, sizeof(what), "members by %s, leaves by %s", name[hash], name[family]);
	found = search(what);
	return linear ? is_cheap(&found) && found.predicted > PEERS * 8 / 10 :
			!found.linear && !found.astray && found.wrong <= PEERS / 500;
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
	ktap_result(many_cores(), "of more cores than 64, each agg has as many");
	ktap_result(shared_cores(), "aggs that share cores are noticed");
	ktap_result(dead_core(), "a core that does not answer is left out");
	ktap_result(bond(CRC16, XOR16, true) && bond(CRC32_LOW, CRC16, true),
		    "behind a bond our leaf is learnt as well");
	ktap_result(bond(JHASH, XOR16, false) && bond(CRC16, JHASH, false),
		    "or walked through with the path");
	return ktap_end();
}
