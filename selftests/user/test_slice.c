// SPDX-License-Identifier: GPL-2.0
/*
 * The planner of slices against all there is to choose from: in small fabrics,
 * every set of leaves with every choice of links to the spines is tried.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../random.h"
#include "slice/slice.h"
#include "ktap.h"

#define ROUNDS		200000
#define MAX_LEAVES	7
#define MAX_SPINES	6
#define MAX_SERVERS	6
#define NONE		(~0ull)

#define WIDE_LEAVES	150
#define WIDE_SPINES	130

static __u16 gpus_room[WIDE_LEAVES * MAX_SERVERS];
static __u8 links_room[WIDE_LEAVES * WIDE_SPINES];
static struct slice_fabric fabric;

static __u32 nr_servers(void)
{
	return fabric.gpus_per_leaf / fabric.gpus_per_server;
}

static __u32 gpus_at(__u32 leaf, __u32 server)
{
	return fabric.free_gpus[leaf * nr_servers() + server];
}

static __u32 links_at(__u32 leaf, __u32 spine)
{
	return fabric.free_links[leaf * fabric.spines + spine];
}

/* What is expected: the answer by trying everything. */
struct expected {
	int refusal;
	enum slice_stage stage;
	__u64 objective;
	__u32 leaves;
	__u32 spines;
};

static __u32 count_servers(__u32 leaf, __u32 gpus)
{
	__u32 n = 0, v;

	for (v = 0; v < nr_servers(); v++)
		n += gpus_at(leaf, v) >= gpus;
	return n;
}

static __u32 sum_gpus(__u32 leaf)
{
	__u32 n = 0, v;

	for (v = 0; v < nr_servers(); v++)
		n += gpus_at(leaf, v);
	return n;
}

static __u64 try_inside(__u32 gpus)
{
	__u32 size = fabric.gpus_per_server, leaf;
	__u32 need = (gpus + size - 1) / size;
	__u64 best = NONE;

	for (leaf = 0; leaf < fabric.leaves; leaf++)
		if (count_servers(leaf, gpus < size ? gpus : size) >= need &&
		    sum_gpus(leaf) < best)
			best = sum_gpus(leaf);
	return best;
}

/* Whether each leaf of a set has @links[] links to the spines. */
static bool has_links(__u32 set, const __u32 *links)
{
	__u32 leaf, spine;

	for (leaf = 0; leaf < fabric.leaves; leaf++)
		for (spine = 0; set >> leaf & 1 && spine < fabric.spines;
		     spine++)
			if (links_at(leaf, spine) < links[spine])
				return false;
	return true;
}

/* Go through all ways to take @left links from spine @spine on. */
static bool try_spines(__u32 set, __u32 *links, __u32 spine, __u32 left)
{
	if (spine == fabric.spines)
		return !left && has_links(set, links);
	for (links[spine] = 0; links[spine] <= fabric.links_per_pair;
	     links[spine]++)
		if (links[spine] <= left &&
		    try_spines(set, links, spine + 1, left - links[spine]))
			return true;
	return false;
}

static __u64 try_shape(__u32 l, __u32 s)
{
	__u32 links[MAX_SPINES], set, leaf, spine;
	__u64 best = NONE;

	for (set = 0; set < 1u << fabric.leaves; set++) {
		__u64 cost = 0;

		if ((__u32)__builtin_popcount(set) != l)
			continue;
		for (leaf = 0; leaf < fabric.leaves; leaf++) {
			if (!(set >> leaf & 1))
				continue;
			if (count_servers(leaf, fabric.gpus_per_server) *
			    fabric.gpus_per_server < s)
				break;
			for (spine = 0; spine < fabric.spines; spine++)
				cost += links_at(leaf, spine);
		}
		if (leaf == fabric.leaves && cost < best &&
		    try_spines(set, links, 0, s))
			best = cost;
	}
	return best;
}

static void try_across(__u32 gpus, struct expected *want)
{
	__u32 l;

	for (l = 2; l <= fabric.leaves && l <= gpus; l++) {
		__u32 s = gpus / l;

		if (gpus % l || s % fabric.gpus_per_server ||
		    s > fabric.spines * fabric.links_per_pair)
			continue;
		want->objective = try_shape(l, s);
		if (want->objective == NONE)
			continue;
		want->stage = SLICE_VCLOS;
		want->leaves = l;
		want->spines = s;
		return;
	}
}

static struct expected expect(__u32 gpus)
{
	struct expected want = { .leaves = 1 };
	__u32 all = 0, whole = 0, leaf;

	for (leaf = 0; leaf < fabric.leaves; leaf++) {
		all += sum_gpus(leaf);
		whole += count_servers(leaf, fabric.gpus_per_server);
	}
	want.objective = try_inside(gpus);
	want.stage = gpus > fabric.gpus_per_server ? SLICE_LEAF : SLICE_SERVER;
	if (want.objective == NONE)
		try_across(gpus, &want);
	if (gpus > all)
		want.refusal = SLICE_NO_GPUS;
	else if (want.objective != NONE)
		want.refusal = 0;
	else if (whole * fabric.gpus_per_server < gpus)
		want.refusal = SLICE_NO_LOCALITY;
	else
		want.refusal = SLICE_NO_NETWORK;
	return want;
}

/* Add or take away what a slice has. Return: false when it cannot have it. */
static bool apply(const struct slice *slice, bool take)
{
	__u32 i, j;

	for (i = 0; i < slice->nr_servers; i++) {
		const struct slice_server *server = &slice->servers[i];
		__u16 *gpus;

		gpus = &fabric.free_gpus[server->leaf * nr_servers() +
					 server->server];
		if (server->server >= nr_servers() ||
		    (take && *gpus < server->gpus))
			return false;
		*gpus += take ? -server->gpus : server->gpus;
	}
	for (i = 0; i < slice->nr_leaves; i++) {
		for (j = 0; j < slice->nr_spines; j++) {
			__u8 *links = &fabric.free_links[slice->leaves[i] *
					fabric.spines + slice->spines[j]];

			if (slice->spines[j] >= fabric.spines ||
			    (take && !*links))
				return false;
			*links += take ? -1 : 1;
		}
	}
	return true;
}

/* The servers add up on each leaf, are whole, and all is in order. */
static bool is_sound(const struct slice *slice, __u32 gpus)
{
	__u32 each = gpus / slice->nr_leaves, i, leaf = 0, sum = 0;

	for (i = 1; i < slice->nr_leaves; i++)
		if (slice->leaves[i] <= slice->leaves[i - 1])
			return false;
	for (i = 1; i < slice->nr_spines; i++)
		if (slice->spines[i] < slice->spines[i - 1])
			return false;
	for (i = 0; i < slice->nr_servers; i++) {
		const struct slice_server *server = &slice->servers[i];

		if (i && server->leaf == server[-1].leaf &&
		    server->server <= server[-1].server)
			return false;
		if (sum == each) {
			leaf++;
			sum = 0;
		}
		sum += server->gpus;
		if (server->leaf != slice->leaves[leaf] || sum > each ||
		    !server->gpus)
			return false;
		if (slice->stage == SLICE_VCLOS &&
		    server->gpus != fabric.gpus_per_server)
			return false;
	}
	return sum == each && leaf == slice->nr_leaves - 1;
}

/* Links to a spine that all leaves of a slice have. */
static __u32 links_in_common(const struct slice *slice, __u32 spine)
{
	__u32 least = fabric.links_per_pair, i;

	for (i = 0; i < slice->nr_leaves; i++)
		if (links_at(slice->leaves[i], spine) < least)
			least = links_at(slice->leaves[i], spine);
	return least;
}

/* No fewer spines have the links: those that remain, others can have. */
static bool has_fewest_spines(const struct slice *slice)
{
	__u32 used = 0, fewest = 0, sum = 0, links, spine, i;

	for (i = 0; i < slice->nr_spines; i++)
		used += !i || slice->spines[i] != slice->spines[i - 1];
	for (links = fabric.links_per_pair; links; links--) {
		for (spine = 0; spine < fabric.spines; spine++) {
			if (sum >= slice->nr_spines ||
			    links_in_common(slice, spine) != links)
				continue;
			sum += links;
			fewest++;
		}
	}
	return used == fewest;
}

static void make_fabric(void)
{
	__u32 i;

	fabric = (struct slice_fabric) {
		.leaves = 1 + random_below(MAX_LEAVES),
		.spines = 1 + random_below(MAX_SPINES),
		.gpus_per_server = 1 + random_below(3),
		.links_per_pair = random_below(4) ? 1 : 1 + random_below(3),
		.free_gpus = gpus_room,
		.free_links = links_room,
	};
	fabric.gpus_per_leaf = fabric.gpus_per_server *
			       (1 + random_below(MAX_SERVERS));
	for (i = 0; i < fabric.leaves * nr_servers(); i++)
		fabric.free_gpus[i] = fabric.gpus_per_server;
	for (i = 0; i < fabric.leaves * fabric.spines; i++)
		fabric.free_links[i] = fabric.links_per_pair;
}

static void use_at_random(void)
{
	__u32 of_gpus = 1 + random_below(8), of_links = 1 + random_below(8), i;

	for (i = 0; i < fabric.leaves * nr_servers(); i++)
		if (!random_below(of_gpus))
			fabric.free_gpus[i] =
				random_below(fabric.gpus_per_server + 1);
	for (i = 0; i < fabric.leaves * fabric.spines; i++)
		if (!random_below(of_links))
			fabric.free_links[i] =
				random_below(fabric.links_per_pair + 1);
}

static __u32 random_gpus(void)
{
	__u32 all = fabric.leaves * fabric.gpus_per_leaf;

	return 1 + random_below(all + all / 8 + 1);
}

/* Jobs come and some go: what stays is scattered. */
static void use_by_jobs(void)
{
	struct slice slice;
	int jobs = random_below(12);

	while (jobs--) {
		if (slice_place(&fabric, random_gpus(), &slice))
			continue;
		if (random_below(3))
			apply(&slice, true);
		slice_free(&slice);
	}
}

static void test_small(void)
{
	bool stage = true, refusal = true, objective = true, shape = true;
	__u32 seen[3 + 4] = {}, i;
	bool sound = true, few = true;

	for (i = 0; i < ROUNDS; i++) {
		struct expected want;
		struct slice slice;
		__u32 gpus;
		int ret;

		make_fabric();
		if (i & 1)
			use_by_jobs();
		if (i & 2)
			use_at_random();
		gpus = random_gpus();
		want = expect(gpus);
		ret = slice_place(&fabric, gpus, &slice);
		refusal &= ret == want.refusal;
		seen[ret ? 2 + ret : (int)slice.stage]++;
		if (ret)
			continue;
		stage &= slice.stage == want.stage;
		objective &= slice.objective == want.objective;
		shape &= slice.nr_leaves == want.leaves &&
			 slice.nr_spines == want.spines;
		few &= has_fewest_spines(&slice);
		sound &= is_sound(&slice, gpus) && apply(&slice, true);
		slice_free(&slice);
	}
	ktap_result(refusal, "%u fabrics: placed or refused as by trying all",
		    ROUNDS);
	ktap_result(stage && shape, "the stage and shape are the first");
	ktap_result(objective, "no place has a smaller objective");
	ktap_result(few, "no fewer spines have as many links");
	ktap_result(sound, "what is given is free, whole and in order");
	printf("# server %u, leaf %u, vclos %u, no gpus %u, no locality %u, no network %u\n",
	       seen[0], seen[1], seen[2], seen[3], seen[4], seen[5]);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Sum of the lightest leaves that have links to two spines. */
static __u64 try_pair(__u32 l, __u32 a, __u32 b, const int *weight)
{
	__u32 leaf, n = 0, i;
	int found[WIDE_LEAVES];
	__u64 sum = 0;

	for (leaf = 0; leaf < fabric.leaves; leaf++)
		if (links_at(leaf, a) && links_at(leaf, b) &&
		    count_servers(leaf, 1) == 2)
			found[n++] = weight[leaf];
	if (n < l)
		return NONE;
	qsort(found, n, sizeof(*found), compare);
	for (i = 0; i < l; i++)
		sum += found[i];
	return sum;
}

static __u64 try_pairs(__u32 l)
{
	__u32 leaf, a, b;
	int weight[WIDE_LEAVES] = {};
	__u64 best = NONE;

	for (leaf = 0; leaf < fabric.leaves; leaf++)
		for (a = 0; a < fabric.spines; a++)
			weight[leaf] += links_at(leaf, a);
	for (a = 0; a < fabric.spines; a++) {
		for (b = a + 1; b < fabric.spines; b++) {
			__u64 cost = try_pair(l, a, b, weight);

			if (cost < best)
				best = cost;
		}
	}
	return best;
}

/* More leaves and spines than a word has bits; two spines are to be found. */
static void test_wide(void)
{
	__u32 placed = 0, refused = 0, i, round;
	bool ok = true;

	for (round = 0; round < 40; round++) {
		__u32 l = 3 + 2 * random_below(8), of = 2 + random_below(8);
		struct slice slice;
		__u64 want;
		int ret;

		fabric = (struct slice_fabric) {
			.leaves = WIDE_LEAVES, .spines = WIDE_SPINES,
			.gpus_per_leaf = 2, .gpus_per_server = 1,
			.links_per_pair = 1,
			.free_gpus = gpus_room, .free_links = links_room,
		};
		for (i = 0; i < WIDE_LEAVES * 2; i++)
			gpus_room[i] = !!random_below(8);
		for (i = 0; i < WIDE_LEAVES * WIDE_SPINES; i++)
			links_room[i] = !random_below(of);
		want = try_pairs(l);
		ret = slice_place(&fabric, 2 * l, &slice);
		if (ret || slice.nr_spines != 2) {
			ok &= want == NONE;
			refused++;
		} else {
			ok &= slice.objective == want && is_sound(&slice, 2 * l);
			placed++;
		}
		slice_free(&slice);
	}
	ktap_result(ok && placed && refused, "%ux%u: two spines as by trying all",
		    WIDE_LEAVES, WIDE_SPINES);
	printf("# placed %u, not placed %u\n", placed, refused);
}

/* Take and give back: the fabric is as it was, and the answer the same. */
static void test_repeat(void)
{
	__u16 gpus_before[sizeof(gpus_room) / sizeof(*gpus_room)];
	__u8 links_before[sizeof(links_room)];
	bool same = true, back = true;
	struct slice slice, again;
	int i;

	for (i = 0; i < 2000; i++) {
		__u32 gpus;

		make_fabric();
		use_by_jobs();
		gpus = random_gpus();
		memcpy(gpus_before, gpus_room, sizeof(gpus_room));
		memcpy(links_before, links_room, sizeof(links_room));
		if (slice_place(&fabric, gpus, &slice))
			continue;
		apply(&slice, true);
		apply(&slice, false);
		back &= !memcmp(gpus_before, gpus_room, sizeof(gpus_room)) &&
			!memcmp(links_before, links_room, sizeof(links_room));
		same &= !slice_place(&fabric, gpus, &again) &&
			again.nr_servers == slice.nr_servers &&
			!memcmp(again.servers, slice.servers,
				slice.nr_servers * sizeof(*slice.servers)) &&
			!memcmp(again.spines, slice.spines,
				slice.nr_spines * sizeof(*slice.spines));
		slice_free(&slice);
		slice_free(&again);
	}
	ktap_result(back && same, "the same fabric gives the same place");
}

int main(void)
{
	ktap_begin();
	test_small();
	test_wide();
	test_repeat();
	return ktap_end();
}
