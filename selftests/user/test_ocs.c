// SPDX-License-Identifier: GPL-2.0
/*
 * Places that take moved circuits, against all there is to choose from: in small
 * fabrics, every set of leaves, every number of circuits to each spine, and at
 * each OXC every way to join the leaves' ports.
 */
#include <stdlib.h>
#include <string.h>

#include "../random.h"
#include "slice/slice.h"
#include "ktap.h"

#define ROUNDS		6000
#define MAX_LEAVES	6
#define MAX_SPINES	4
#define MAX_OXCS	5
#define BIG_LEAVES	16
#define BIG_SPINES	8
#define BIG_OXCS	8
#define NONE		(~0u)

static __u16 gpus_room[MAX_LEAVES * MAX_OXCS];
static __u8 links_room[MAX_LEAVES * MAX_SPINES];
static struct slice_fabric fabric;
static struct ocs ocs;

/* What is tried: leaves, and circuits to each spine that are still wanted. */
static __u32 leaf[MAX_LEAVES];
static int want[MAX_LEAVES][MAX_SPINES];
static __u32 nr_leaves;
static __u32 best;

static __u16 circuit_at(__u32 i, __u32 oxc)
{
	return ocs.circuit[ocs_port(&ocs, i, oxc)];
}

static bool fixed_at(__u32 i, __u32 oxc)
{
	return ocs.fixed[ocs_port(&ocs, i, oxc)];
}

/* Circuits taken down at an OXC when the leaves' ports are joined as said. */
static __u32 cost_of(__u32 oxc, const int *spine)
{
	int after[MAX_SPINES] = {}, used[MAX_SPINES] = {};
	__u32 cost = 0, i, j;

	for (i = 0; i < ocs.leaves; i++) {
		__u16 to = circuit_at(i, oxc);

		for (j = 0; j < nr_leaves; j++) {
			if (leaf[j] != i || spine[j] < 0)
				continue;
			cost += to != OCS_DARK && to != spine[j];
			to = spine[j];
			used[to]++;
		}
		if (to == OCS_DARK)
			continue;
		after[to]++;
		used[to] += fixed_at(i, oxc);
	}
	for (j = 0; j < ocs.spines; j++) {
		if (used[j] > (int)ocs.spine_ports)
			return NONE;
		if (after[j] > (int)ocs.spine_ports)
			cost += after[j] - ocs.spine_ports;
	}
	return cost;
}

static void try_oxc(__u32 oxc, __u32 cost);

static void try_port(__u32 oxc, __u32 j, int *spine, __u32 cost)
{
	int to;

	if (j == nr_leaves) {
		__u32 more = cost_of(oxc, spine);

		if (more != NONE)
			try_oxc(oxc + 1, cost + more);
		return;
	}
	for (to = -1; to < (int)ocs.spines; to++) {
		if (to >= 0 && (fixed_at(leaf[j], oxc) || want[j][to] <= 0))
			continue;
		spine[j] = to;
		if (to >= 0)
			want[j][to]--;
		try_port(oxc, j + 1, spine, cost);
		if (to >= 0)
			want[j][to]++;
	}
}

static void try_oxc(__u32 oxc, __u32 cost)
{
	int spine[MAX_LEAVES];
	__u32 i, j;

	if (cost >= best)
		return;
	for (i = 0; i < nr_leaves; i++) {
		int left = 0;

		for (j = 0; j < ocs.spines; j++)
			left += want[i][j];
		if (left > (int)(ocs.oxcs - oxc))
			return;
	}
	if (oxc == ocs.oxcs)
		best = cost;
	else
		try_port(oxc, 0, spine, cost);
}

/* Whether another job has circuits between the leaves and a spine, or it is marked. */
static bool is_shut(__u32 spine)
{
	__u32 i;

	for (i = 0; i < nr_leaves; i++)
		if (ocs.shut[ocs_pair(&ocs, leaf[i], spine)])
			return true;
	return false;
}

static void try_spines(__u32 spine, __u32 units)
{
	__u32 n, i;

	if (spine == ocs.spines) {
		if (!units)
			try_oxc(0, 0);
		return;
	}
	for (n = 0; n <= (is_shut(spine) ? 0 : units); n++) {
		for (i = 0; i < nr_leaves; i++)
			want[i][spine] = n;
		try_spines(spine + 1, units - n);
	}
}

static __u32 whole_servers(__u32 i)
{
	__u32 servers = fabric.gpus_per_leaf / fabric.gpus_per_server;
	__u32 n = 0, v;

	for (v = 0; v < servers; v++)
		n += fabric.free_gpus[i * servers + v] ==
		     fabric.gpus_per_server;
	return n;
}

static void try_leaves(__u32 from, __u32 take, __u32 each)
{
	if (nr_leaves == take) {
		try_spines(0, each);
		return;
	}
	for (; from < ocs.leaves; from++) {
		if (whole_servers(from) * fabric.gpus_per_server < each)
			continue;
		leaf[nr_leaves++] = from;
		try_leaves(from + 1, take, each);
		nr_leaves--;
	}
}

/* Return: leaves of the first shape that fits, 0 when none does. */
static __u32 expect(__u32 gpus)
{
	__u32 l;

	best = NONE;
	for (l = 2; l <= ocs.leaves && l <= gpus; l++) {
		if (gpus % l || gpus / l % fabric.gpus_per_server ||
		    gpus / l > ocs.oxcs)
			continue;
		try_leaves(0, l, gpus / l);
		if (best != NONE)
			return l;
	}
	return 0;
}

static void shut_spine(__u32 spine)
{
	__u32 i;

	for (i = 0; i < ocs.leaves; i++)
		ocs.shut[ocs_pair(&ocs, i, spine)] = true;
}

/* What is left of torn circuits. Some of those that are fixed failed, others are jobs'. */
static void wire_at_random(void)
{
	__u32 oxc, i, tries, of = 1 + random_below(6);
	__u32 dark = 1 + random_below(8), jobs = random_below(3);

	for (oxc = 0; oxc < ocs.oxcs; oxc++) {
		__u32 left[BIG_SPINES];

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
		.links_per_pair = 1,
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
			if (now >= ocs.spines ||
			    ++used[now] > ocs.spine_ports)
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
		for (j = 0; j < slice->nr_spines; j++, oxc++) {
			size_t port = ocs_port(&ocs, slice->leaves[i], *oxc);

			if (*oxc >= ocs.oxcs || taken[port] ||
			    ocs.fixed[port] ||
			    circuit[port] != slice->spines[j] ||
			    ocs.shut[ocs_pair(&ocs, slice->leaves[i],
					      slice->spines[j])])
				return false;
			taken[port] = true;
		}
	}
	return true;
}

static void test_small(void)
{
	bool feasible = true, shape = true, cost = true, sound = true;
	__u32 placed = 0, refused = 0, moved = 0, i;
	__u16 circuit[MAX_LEAVES * MAX_OXCS];
	bool proven = true;

	for (i = 0; i < ROUNDS; i++) {
		struct slice slice;
		__u32 l, changed, gpus;
		bool all;
		int ret;

		make_cluster();
		gpus = 2 + random_below(fabric.leaves * fabric.gpus_per_leaf);
		l = expect(gpus);
		ret = ocs_place(&fabric, &ocs, gpus, ~0ull, &slice, circuit,
				&all);
		proven &= all;
		feasible &= (ret == 0) == !!l && ret >= 0;
		if (ret) {
			refused++;
			continue;
		}
		placed++;
		moved += !!slice.objective;
		shape &= slice.nr_leaves == l && slice.nr_spines == gpus / l &&
			 slice.stage == SLICE_OCS;
		cost &= slice.objective == best;
		sound &= is_wiring(circuit, &changed) &&
			 changed == slice.objective &&
			 has_links(&slice, circuit);
		slice_free(&slice);
	}
	ktap_result(feasible && proven && refused > ROUNDS / 10,
		    "%u fabrics: placed or refused as by trying all", ROUNDS);
	ktap_result(shape, "the shape is the first");
	ktap_result(cost && moved > ROUNDS / 40,
		    "no place takes down fewer circuits");
	ktap_result(sound, "only idle circuits are moved, and as few as is said");
	printf("# placed %u, of these with circuits moved %u; refused %u\n",
	       placed, moved, refused);
	ocs_free(&ocs);
}

/*
 * What is too large to try all: other numbers for the same leaves, spines and OXCs
 * change nothing, so that two searches which prove something have to agree.
 */
#define BIG_ROUNDS	400
#define BIG_STEPS	1000000

struct big {
	__u16 gpus[BIG_LEAVES * BIG_OXCS];
	__u8 links[BIG_LEAVES * BIG_SPINES];
	struct slice_fabric fabric;
	struct ocs ocs;
};

static void make_big(struct big *big)
{
	__u32 i;

	big->fabric = (struct slice_fabric) {
		.leaves = BIG_LEAVES, .spines = BIG_SPINES,
		.gpus_per_leaf = BIG_OXCS, .gpus_per_server = 1,
		.links_per_pair = 1,
		.free_gpus = big->gpus, .free_links = big->links,
	};
	big->ocs = (struct ocs) {
		.leaves = BIG_LEAVES, .spines = BIG_SPINES,
		.oxcs = BIG_OXCS, .spine_ports = 1 + random_below(3),
	};
	if (ocs_init(&big->ocs))
		exit(1);
	for (i = 0; i < BIG_LEAVES * BIG_OXCS; i++)
		big->gpus[i] = !!random_below(4);
}

/* A random order of 0..n - 1 */
static void shuffle(__u32 *order, __u32 n)
{
	__u32 i, j;

	for (i = 0; i < n; i++) {
		j = random_below(i + 1);
		order[i] = order[j];
		order[j] = i;
	}
}

/* Give all of @from other numbers. */
static void renumber(struct big *to, const struct big *from)
{
	__u32 leaves[BIG_LEAVES], spines[BIG_SPINES], oxcs[BIG_OXCS], i, k;

	to->ocs.spine_ports = from->ocs.spine_ports;
	shuffle(leaves, BIG_LEAVES);
	shuffle(spines, BIG_SPINES);
	shuffle(oxcs, BIG_OXCS);
	for (i = 0; i < BIG_LEAVES; i++) {
		for (k = 0; k < BIG_SPINES; k++)
			to->ocs.shut[ocs_pair(&to->ocs, leaves[i], spines[k])] =
				from->ocs.shut[ocs_pair(&from->ocs, i, k)];
		for (k = 0; k < BIG_OXCS; k++) {
			size_t old = ocs_port(&from->ocs, i, k);
			size_t new = ocs_port(&to->ocs, leaves[i], oxcs[k]);
			__u16 circuit = from->ocs.circuit[old];

			to->ocs.fixed[new] = from->ocs.fixed[old];
			to->ocs.circuit[new] = circuit == OCS_DARK ?
					       OCS_DARK : spines[circuit];
			to->gpus[leaves[i] * BIG_OXCS + k] =
				from->gpus[i * BIG_OXCS + k];
		}
	}
}

/*
 * Return: of a place, leaves << 16 and circuits that it takes down, as shapes are tried
 * by rising leaves; NONE where there is no place.
 */
static __u32 place(const struct big *big, __u32 gpus, bool *proven)
{
	__u16 circuit[BIG_LEAVES * BIG_OXCS];
	struct slice slice;
	__u32 found;

	if (ocs_place(&big->fabric, &big->ocs, gpus, BIG_STEPS, &slice,
		      circuit, proven))
		return NONE;
	found = slice.nr_leaves << 16 | slice.objective;
	slice_free(&slice);
	return found;
}

static void test_renumbered(void)
{
	static const __u32 sizes[] = { 8, 16, 32, 64 };
	__u32 proofs = 0, moved = 0, wrong = 0, i;
	static struct big one, other;

	for (i = 0; i < BIG_ROUNDS; i++) {
		__u32 gpus = sizes[random_below(4)], a, b;
		bool proven_a, proven_b;

		make_big(&one);
		make_big(&other);
		ocs = one.ocs;
		wire_at_random();
		renumber(&other, &one);
		a = place(&one, gpus, &proven_a);
		b = place(&other, gpus, &proven_b);
		wrong += (proven_a && a > b) || (proven_b && b > a);
		proofs += proven_a + proven_b;
		moved += a != NONE && a & 0xffff;
		ocs_free(&one.ocs);
		ocs_free(&other.ocs);
	}
	printf("# %u proven of %u, circuits moved for %u\n", proofs,
	       2 * BIG_ROUNDS, moved);
	ktap_result(!wrong && proofs > BIG_ROUNDS && moved > BIG_ROUNDS / 10,
		    "%u larger ones: numbers do not matter", BIG_ROUNDS);
}

/* Of a wiring that is all to all, the links are those of a plain fabric. */
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
		ok &= links[i] == (i % 4 && i != 3 * 4 + (3 + 2) % 4 &&
				   i != 5 * 4 + 1);
	ktap_result(ok && plain.links_per_pair == 1,
		    "circuits that are idle are links");
	ocs_free(&ocs);
}

int main(void)
{
	ktap_begin();
	test_small();
	test_renumbered();
	test_links();
	return ktap_end();
}
