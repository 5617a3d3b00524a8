// SPDX-License-Identifier: GPL-2.0
/*
 * The planner of slices, compared with a search of all places in small fabrics: every number
 * of servers under each leaf with every number of lanes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../random.h"
#include "slice/slice.h"
#include "../../ktap.h"

#define ROUNDS		200000
#define MAX_LEAVES	6
#define MAX_SPINES	6
#define MAX_SERVERS	5
#define NONE		(~0ull)

static __u16 gpus_room[MAX_LEAVES * MAX_SERVERS];
static __u8 links_room[MAX_LEAVES * MAX_SPINES];
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

/* Result of the search of all places; the objective only inside a leaf */
struct expected {
	int refusal;
	enum slice_stage stage;
	__u64 objective;
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

/* GPUs free on the leaf that a job inside one has: of the tightest server, or of all. */
static __u64 try_inside(__u32 gpus)
{
	__u32 size = fabric.gpus_per_server, leaf, v;
	__u32 need = (gpus + size - 1) / size, fit = size + 1;
	__u64 best = NONE;

	for (leaf = 0; gpus <= size && leaf < fabric.leaves; leaf++)
		for (v = 0; v < nr_servers(); v++)
			if (gpus_at(leaf, v) >= gpus && gpus_at(leaf, v) < fit)
				fit = gpus_at(leaf, v);
	for (leaf = 0; leaf < fabric.leaves; leaf++) {
		bool fits = gpus > size && count_servers(leaf, size) >= need;

		for (v = 0; gpus <= size && v < nr_servers() && !fits; v++)
			fits = gpus_at(leaf, v) == fit;
		if (fits && sum_gpus(leaf) < best)
			best = sum_gpus(leaf);
	}
	return best;
}

static __u32 divide_up(__u32 a, __u32 b)
{
	return (a + b - 1) / b;
}

/* Links that a leaf needs in each lane: no more than all others. */
static __u32 links_needed(const __u32 *on, __u32 leaf, __u32 lanes)
{
	__u32 all = 0, own = divide_up(on[leaf], lanes), i;

	for (i = 0; i < fabric.leaves; i++)
		all += divide_up(on[i], lanes);
	return own < all - own ? own : all - own;
}

static bool has_lanes(const __u32 *on, __u32 lanes)
{
	__u32 sum = 0, spine, leaf;

	for (spine = 0; spine < fabric.spines; spine++) {
		__u32 most = ~0u;

		for (leaf = 0; leaf < fabric.leaves; leaf++) {
			__u32 links = links_at(leaf, spine);

			if (!on[leaf])
				continue;
			links = links < fabric.parallel ? links : fabric.parallel;
			links /= links_needed(on, leaf, lanes);
			most = links < most ? links : most;
		}
		sum += most;
	}
	return sum >= lanes;
}

/* Go through all numbers of servers on each leaf from @leaf on. */
static bool try_across(__u32 gpus, __u32 *on, __u32 leaf, __u32 left)
{
	__u32 each = fabric.gpus_per_server, lanes;

	if (leaf < fabric.leaves) {
		for (on[leaf] = 0; on[leaf] <= left &&
		     on[leaf] <= each * count_servers(leaf, each); on[leaf] += each)
			if (try_across(gpus, on, leaf + 1, left - on[leaf]))
				return true;
		return false;
	}
	for (lanes = each; !left && lanes <= gpus; lanes += each)
		if (!(gpus % lanes) && has_lanes(on, lanes))
			return true;
	return false;
}

static struct expected expect(__u32 gpus)
{
	__u32 all = 0, whole = 0, leaf, on[MAX_LEAVES];
	struct expected want = {};

	for (leaf = 0; leaf < fabric.leaves; leaf++) {
		all += sum_gpus(leaf);
		whole += count_servers(leaf, fabric.gpus_per_server);
	}
	want.objective = try_inside(gpus);
	want.stage = gpus > fabric.gpus_per_server ? SLICE_LEAF : SLICE_SERVER;
	if (gpus > all)
		want.refusal = SLICE_NO_GPUS;
	else if (want.objective != NONE)
		want.refusal = 0;
	else if (whole * fabric.gpus_per_server < gpus)
		want.refusal = SLICE_NO_LOCALITY;
	else if (!try_across(gpus, on, 0, gpus))
		want.refusal = SLICE_NO_NETWORK;
	else
		want.stage = SLICE_VCLOS;
	return want;
}

/* Add or remove a slice. Return: false when its parts are not free. */
static bool apply(const struct slice *slice, bool take)
{
	__u32 i, j, u;

	for (i = 0; i < slice->nr_servers; i++) {
		const struct slice_server *server = &slice->servers[i];
		__u16 *gpus;

		gpus = &fabric.free_gpus[server->leaf * nr_servers() +
					 server->server];
		if (server->server >= nr_servers() || (take && *gpus < server->gpus))
			return false;
		*gpus += take ? -server->gpus : server->gpus;
	}
	for (i = 0; i < slice->nr_leaves; i++) {
		for (j = 0; j < slice->nr_spines; j++) {
			__u8 *links = &fabric.free_links[slice->leaves[i] *
					fabric.spines + slice->spines[j]];

			for (u = 0; u < slice->lane_links[i]; u++) {
				if (slice->spines[j] >= fabric.spines || (take && !*links))
					return false;
				*links += take ? -1 : 1;
			}
		}
	}
	return true;
}

/* All is in order, the servers add up and are whole, and no flows meet. */
static bool is_sound(const struct slice *slice, __u32 gpus)
{
	struct contention_layout layout;
	__u32 i, leaf = 0, sum = 0;
	bool ok;

	for (i = 1; i < slice->nr_leaves; i++)
		if (slice->leaves[i] <= slice->leaves[i - 1])
			return false;
	for (i = 1; i < slice->nr_spines; i++)
		if (slice->spines[i] < slice->spines[i - 1])
			return false;
	for (i = 0; i < slice->nr_servers; i++) {
		const struct slice_server *server = &slice->servers[i];

		if (i && server->leaf == server[-1].leaf && server->server <= server[-1].server)
			return false;
		leaf += server->leaf != slice->leaves[leaf];
		if (leaf == slice->nr_leaves || server->leaf != slice->leaves[leaf])
			return false;
		sum += server->gpus;
		if (slice->stage == SLICE_VCLOS && server->gpus != fabric.gpus_per_server)
			return false;
	}
	ok = !contention_layout_of(slice, &layout) && !contention_prove(&layout);
	contention_layout_free(&layout);
	return ok && sum == gpus && leaf == slice->nr_leaves - 1;
}

static void make_fabric(void)
{
	__u32 i;

	fabric = (struct slice_fabric) {
		.leaves = 1 + random_below(MAX_LEAVES),
		.spines = 1 + random_below(MAX_SPINES),
		.gpus_per_server = 1 + random_below(3),
		.links_per_pair = random_below(4) ? 1 : 1 + random_below(3),
		.parallel = 1 + random_below(3),
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

/* Jobs come, and some go, so free servers are scattered. */
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
	bool inside = true, refusal = true, sound = true;
	__u32 seen[3 + 4] = {}, missed = 0, i;

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
		seen[ret ? 2 + ret : (int)slice.stage]++;
		if (ret == SLICE_NO_NETWORK && want.stage == SLICE_VCLOS)
			missed++;
		else
			refusal &= ret == want.refusal;
		if (ret)
			continue;
		inside &= slice.stage == want.stage &&
			  (slice.stage == SLICE_VCLOS || slice.objective == want.objective);
		sound &= is_sound(&slice, gpus) && apply(&slice, true);
		slice_free(&slice);
	}
	ktap_result(refusal, "%u fabrics: jobs are refused as by a search of all places", ROUNDS);
	ktap_result(inside, "under one leaf no place has a smaller objective");
	ktap_result(sound, "allocated servers and links were free, in order, and no flows meet");
	ktap_result(missed * 100 < seen[2],
		    "the planner misses less than 1 %% of the places over several leaves");
	printf("# server %u, leaf %u, vclos %u, missed %u, ", seen[0], seen[1], seen[2], missed);
	printf("no gpus %u, no locality %u, no network %u\n", seen[3], seen[4], seen[5]);
}

/* After allocation and release the fabric and the next place are the same. */
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
	test_repeat();
	return ktap_end();
}
