// SPDX-License-Identifier: GPL-2.0
/*
 * Places with moved circuits: allocations are valid, and few of the places that an ideal
 * wiring has are missed.
 */
#include <stdlib.h>
#include <string.h>

#include "../../random.h"
#include "slice/slice.h"
#include "../../ktap.h"

#define ROUNDS		20000
#define MAX_LEAVES	12
#define MAX_SPINES	8
#define MAX_OXCS	8

static __u16 gpus_room[MAX_LEAVES * MAX_OXCS];
static __u8 links_room[MAX_LEAVES * MAX_SPINES];
static struct slice_fabric fabric;
static struct ocs ocs;

static __u16 circuit_at(__u32 i, __u32 oxc)
{
	return ocs.circuit[ocs_port(&ocs, i, oxc)];
}

static bool fixed_at(__u32 i, __u32 oxc)
{
	return ocs.fixed[ocs_port(&ocs, i, oxc)];
}

static void shut_spine(__u32 spine)
{
	__u32 i;

	for (i = 0; i < ocs.leaves; i++)
		ocs.shut[ocs_pair(&ocs, i, spine)] = true;
}

/* Random circuits. Fixed circuits have failed, or belong to jobs. */
static void wire_at_random(void)
{
	__u32 oxc, i, tries, of = 1 + random_below(6);
	__u32 dark = 1 + random_below(8), jobs = random_below(3);

	for (oxc = 0; oxc < ocs.oxcs; oxc++) {
		__u32 left[MAX_SPINES];

		for (i = 0; i < ocs.spines; i++)
			left[i] = ocs.spine_ports;
		for (i = 0; i < ocs.leaves; i++) {
			size_t port = ocs_port(&ocs, i, oxc);

			ocs.circuit[port] = OCS_DARK;
			ocs.fixed[port] = !random_below(of);
			for (tries = 0; tries < 4; tries++) {
				__u32 spine = random_below(ocs.spines);

				if (!left[spine] || !random_below(dark))
					continue;
				left[spine]--;
				ocs.circuit[port] = spine;
				ocs.shut[ocs_pair(&ocs, i, spine)] |=
					ocs.fixed[port] && random_below(3) < jobs;
				break;
			}
		}
	}
	for (i = 0; i < ocs.spines; i++)
		if (!random_below(10))
			shut_spine(i);
}

static void make_cluster(void)
{
	__u32 i, servers;

	fabric = (struct slice_fabric) {
		.leaves = 2 + random_below(MAX_LEAVES - 1),
		.spines = 1 + random_below(MAX_SPINES),
		.gpus_per_server = 1 + random_below(2),
		.links_per_pair = 1, .parallel = 1 + random_below(MAX_OXCS),
		.free_gpus = gpus_room, .free_links = links_room,
	};
	servers = 1 + random_below(MAX_OXCS / fabric.gpus_per_server);
	fabric.gpus_per_leaf = fabric.gpus_per_server * servers;
	for (i = 0; i < fabric.leaves * servers; i++)
		fabric.free_gpus[i] = random_below(10) ?
				      fabric.gpus_per_server : 0;
	ocs_free(&ocs);
	ocs = (struct ocs) {
		.leaves = fabric.leaves, .spines = fabric.spines,
		.oxcs = 1 + random_below(MAX_OXCS),
		.spine_ports = 1 + random_below(3),
	};
	if (ocs_init(&ocs))
		exit(1);
	if (random_below(4))
		wire_at_random();
	else
		ocs_wire_default(&ocs);
}

/*
 * Fixed circuits stay, none is made beside those of other jobs, no spine has more than
 * its ports; count the changes.
 */
static bool is_wiring(const __u16 *circuit, __u32 *changed)
{
	__u32 oxc, i;

	*changed = 0;
	for (oxc = 0; oxc < ocs.oxcs; oxc++) {
		__u32 used[MAX_SPINES] = {};

		for (i = 0; i < ocs.leaves; i++) {
			__u16 old = circuit_at(i, oxc);
			__u16 now = circuit[ocs_port(&ocs, i, oxc)];

			if (old != now && fixed_at(i, oxc))
				return false;
			*changed += old != now && old != OCS_DARK;
			if (now == OCS_DARK)
				continue;
			if (now >= ocs.spines || ++used[now] > ocs.spine_ports)
				return false;
			if (old != now && ocs.shut[ocs_pair(&ocs, i, now)])
				return false;
		}
	}
	return true;
}

/* Each link of the slice is a circuit of its own that may be had. */
static bool has_links(const struct slice *slice, const __u16 *circuit)
{
	bool taken[MAX_LEAVES * MAX_OXCS] = {};
	const __u32 *oxc = slice->oxcs;
	__u32 i, j;

	for (i = 0; i < slice->nr_leaves; i++) {
		__u32 links = slice->lane_links[i];

		for (j = 0; j < slice->nr_spines * links; j++, oxc++) {
			size_t port = ocs_port(&ocs, slice->leaves[i], *oxc);
			__u32 spine = slice->spines[j / links];

			if (*oxc >= ocs.oxcs || taken[port] ||
			    ocs.fixed[port] || circuit[port] != spine ||
			    ocs.shut[ocs_pair(&ocs, slice->leaves[i], spine)])
				return false;
			taken[port] = true;
		}
	}
	return true;
}

/* Circuits of each pair, no more than the job may have; and no flows meet. */
static bool is_proven(const struct slice *slice)
{
	struct contention_layout layout;
	__u32 i, j, same = 0;
	bool ok;

	for (i = 0; i < slice->nr_leaves; i++) {
		for (j = 0; j < slice->nr_spines; j++) {
			same = j && slice->spines[j] == slice->spines[j - 1] ? same + 1 : 1;
			if (same * slice->lane_links[i] > fabric.parallel)
				return false;
		}
	}
	ok = !contention_layout_of(slice, &layout) && !contention_prove(&layout);
	contention_layout_free(&layout);
	return ok;
}

static __u32 nr_servers(void)
{
	return fabric.gpus_per_leaf / fabric.gpus_per_server;
}

/* Any leaf can have all ports of all spines, so only their number counts. */
static void make_empty(void)
{
	size_t port;

	make_cluster();
	fabric.parallel = MAX_OXCS;
	memset(ocs.fixed, 0, (size_t)ocs.leaves * ocs.oxcs);
	memset(ocs.shut, 0, (size_t)ocs.leaves * ocs.spines);
	for (port = 0; port < (size_t)ocs.leaves * nr_servers(); port++)
		fabric.free_gpus[port] = fabric.gpus_per_server;
}

static void test_small(void)
{
	__u32 placed = 0, refused = 0, moved = 0, uneven = 0, i;
	bool sound = true, proven = true, counted = true;
	__u16 circuit[MAX_LEAVES * MAX_OXCS];

	for (i = 0; i < ROUNDS; i++) {
		struct slice slice;
		__u32 changed, gpus;
		int ret;

		make_cluster();
		gpus = 2 + random_below(fabric.leaves * fabric.gpus_per_leaf);
		ret = ocs_place(&fabric, &ocs, gpus, &slice, circuit);
		refused += ret == SLICE_NO_NETWORK;
		if (ret || !slice.nr_spines) {
			slice_free(&slice);
			continue;
		}
		placed++;
		sound &= is_wiring(circuit, &changed) && has_links(&slice, circuit);
		counted &= slice.stage == (memcmp(circuit, ocs.circuit, ocs.leaves *
						  ocs.oxcs * sizeof(*circuit)) ?
					   SLICE_OCS : SLICE_VCLOS) &&
			   (slice.stage == SLICE_VCLOS || slice.objective == changed);
		moved += slice.stage == SLICE_OCS;
		proven &= is_proven(&slice);
		uneven += slice.nr_servers % slice.nr_leaves != 0;
		slice_free(&slice);
	}
	ktap_result(sound && placed > ROUNDS / 10 && refused > ROUNDS / 100,
		    "%u clusters: only idle circuits are moved, to ports that are there",
		    ROUNDS);
	ktap_result(counted && moved > ROUNDS / 40, "circuits that are taken down are counted");
	ktap_result(proven && uneven > ROUNDS / 100, "no flows meet, under uneven leaves too");
	printf("# placed %u, of these with circuits moved %u, uneven %u; refused %u\n",
	       placed, moved, uneven, refused);
}

/* A job over the whole of an empty cluster that has ports for each of its GPUs. */
static void test_whole(void)
{
	__u16 circuit[MAX_LEAVES * MAX_OXCS];
	__u32 asked = 0, missed = 0, i;

	for (i = 0; i < ROUNDS; i++) {
		struct slice slice;
		__u32 gpus;

		make_empty();
		gpus = fabric.leaves * fabric.gpus_per_leaf;
		if (fabric.leaves < 3 || fabric.gpus_per_leaf != ocs.oxcs ||
		    ocs.spines * (ocs.spine_ports * ocs.oxcs / fabric.leaves) < ocs.oxcs)
			continue;
		asked++;
		missed += ocs_place(&fabric, &ocs, gpus, &slice, circuit) != 0;
		slice_free(&slice);
	}
	ktap_result(asked > ROUNDS / 100 && missed * 100 <= asked,
		    "at most 1 %% of the jobs that need all ports of all leaves are refused");
	printf("# asked %u, refused %u\n", asked, missed);
}

/* All-to-all circuits have the links of a plain fabric. */
static void test_links(void)
{
	static __u8 links[8 * 4];
	struct slice_fabric plain = {
		.leaves = 8, .spines = 4, .free_links = links,
	};
	bool ok = true;
	__u32 i;

	ocs = (struct ocs) {
		.leaves = 8, .spines = 4, .oxcs = 4, .spine_ports = 2,
	};
	if (ocs_init(&ocs))
		exit(1);
	ocs_wire_default(&ocs);
	ocs_links(&ocs, &plain);
	for (i = 0; i < 8 * 4; i++)
		ok &= links[i] == 1;
	ocs.fixed[ocs_port(&ocs, 3, 2)] = true;
	shut_spine(0);
	ocs.shut[ocs_pair(&ocs, 5, 1)] = true;
	ocs_links(&ocs, &plain);
	for (i = 0; i < 8 * 4; i++)
		ok &= links[i] == (i % 4 && i != 3 * 4 + (3 + 2) % 4 && i != 5 * 4 + 1);
	ktap_result(ok && plain.links_per_pair == 1, "idle circuits are links");
	ocs_free(&ocs);
}

int main(void)
{
	ktap_begin();
	test_small();
	test_whole();
	test_links();
	return ktap_end();
}
