// SPDX-License-Identifier: GPL-2.0
/* Which flows meet on which link, against counting them link by link. */
#include <stdlib.h>
#include <string.h>

#include "../random.h"
#include "slice/slice.h"
#include "ktap.h"

#define ROUNDS		5000
#define MAX_RANKS	256
#define MAX_FLOWS	300

static __u32 leaf_room[MAX_RANKS], place_room[MAX_RANKS];

/* @width GPUs on each leaf. */
static struct contention_layout make_layout(__u32 leaves, __u32 width)
{
	struct contention_layout layout = {
		.ranks = leaves * width, .leaves = leaves, .width = width,
		.leaf = leaf_room, .place = place_room,
	};
	__u32 rank;

	for (rank = 0; rank < layout.ranks; rank++) {
		leaf_room[rank] = rank / width;
		place_room[rank] = rank % width;
	}
	return layout;
}

/* What was reported: flows on each link, those down first. */
struct seen {
	__u32 flows[2][MAX_RANKS][MAX_RANKS];
	bool sound;
	const struct contention_layout *layout;
};

/* Whether a flow takes the link from a leaf up, or down to it. */
static bool takes(const struct contention_flow *flow, bool up, __u32 leaf,
		  __u32 place)
{
	__u32 from = leaf_room[flow->from], to = leaf_room[flow->to];

	return from != to && (up ? from : to) == leaf &&
	       place_room[flow->from] == place;
}

static void note(const struct contention_link *link, void *arg)
{
	struct seen *seen = arg;
	size_t i;

	seen->flows[link->up][link->leaf][link->place] += link->nr_flows;
	for (i = 0; i < link->nr_flows; i++)
		seen->sound &= takes(&link->flows[i], link->up, link->leaf,
				     link->place);
}

/* Flows that take a link, one by one. */
static __u32 count(const struct contention_flow *flows, size_t n, bool up,
		   __u32 leaf, __u32 place)
{
	__u32 found = 0;
	size_t i;

	for (i = 0; i < n; i++)
		found += takes(&flows[i], up, leaf, place);
	return found;
}

static bool agrees(const struct contention_layout *layout,
		   struct contention_flow *flows, size_t n)
{
	static struct seen seen;
	__u32 links = 0, i, all = 2 * layout->leaves * layout->width;
	long ret;

	memset(&seen, 0, sizeof(seen));
	seen.sound = true;
	ret = contention_test(layout, flows, n, note, &seen);
	for (i = 0; i < all; i++) {
		__u32 leaf = i / 2 / layout->width;
		__u32 place = i / 2 % layout->width;
		__u32 want = count(flows, n, i & 1, leaf, place);

		links += want > 1;
		if (seen.flows[i & 1][leaf][place] != (want > 1 ? want : 0))
			return false;
	}
	return seen.sound && ret == links;
}

static void test_random(void)
{
	static struct contention_flow flows[MAX_FLOWS];
	bool ok = true;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		struct contention_layout layout;
		size_t n = random_below(MAX_FLOWS), i;

		layout = make_layout(1 + random_below(12), 1 + random_below(16));
		for (i = 0; i < n; i++)
			flows[i] = (struct contention_flow) {
				random_below(layout.ranks),
				random_below(layout.ranks), 0
			};
		ok &= agrees(&layout, flows, n);
	}
	ktap_result(ok, "random flows: links and flows as counted one by one");
}

static void none(const struct contention_link *link, void *arg)
{
	(void)link;
	(void)arg;
}

/* Number of steps of a pattern in which links are contended. */
static long contended(const struct contention_layout *layout,
		      enum contention_pattern pattern)
{
	long steps = contention_steps(pattern, layout->ranks), step, bad = 0;
	struct contention_flow flows[MAX_RANKS];

	for (step = 0; step < steps; step++) {
		contention_step(pattern, layout->ranks, 1, step, flows);
		bad += contention_test(layout, flows, layout->ranks, none,
				       NULL) != 0;
	}
	return bad;
}

static void test_patterns(void)
{
	bool ring = true, all = true, halving = true;
	__u32 leaves, width;

	for (leaves = 1; leaves <= 16; leaves++) {
		for (width = 1; width <= 16; width++) {
			struct contention_layout layout;

			layout = make_layout(leaves, width);
			ring &= !contended(&layout, CONTENTION_RING);
			all &= !contended(&layout, CONTENTION_ALL_TO_ALL);
			if (contention_steps(CONTENTION_HALVING,
					     layout.ranks) >= 0)
				halving &= !contended(&layout,
						      CONTENTION_HALVING);
		}
	}
	ktap_result(ring, "a ring is free of contention");
	ktap_result(all, "every shift of an all-to-all is");
	ktap_result(halving, "every step of halving-doubling is");
	ktap_result(contention_steps(CONTENTION_HALVING, 12) < 0 &&
		    contention_steps(CONTENTION_HALVING, 16) == 4,
		    "halving-doubling takes a power of two");
}

/* Each rank sends once and receives once; some links are contended. */
static void test_permutation(void)
{
	struct contention_layout layout = make_layout(8, 8);
	struct contention_flow flows[MAX_RANKS];
	__u32 seed, rank, bad = 0;
	bool ok = true;

	for (seed = 0; seed < 100; seed++) {
		bool to[MAX_RANKS] = {};

		contention_step(CONTENTION_PERMUTATION, layout.ranks, seed, 0,
				flows);
		for (rank = 0; rank < layout.ranks; rank++) {
			ok &= flows[rank].from == rank && !to[flows[rank].to];
			to[flows[rank].to] = true;
		}
		bad += contention_test(&layout, flows, layout.ranks, none,
				       NULL) > 0;
	}
	ktap_result(ok && bad > 90, "random permutations are contended");
}

/* Uplinks are taken once, and yet a downlink three times. */
static void test_counter_example(void)
{
	struct contention_layout layout = make_layout(4, 4);
	struct contention_flow flows[] = { { 4, 0, 0 }, { 8, 1, 0 },
					   { 12, 2, 0 }, { 5, 3, 0 } };
	struct seen seen = { .sound = true };

	ktap_result(contention_test(&layout, flows, 4, note, &seen) == 1 &&
		    seen.flows[0][0][0] == 3 && seen.sound,
		    "the same place of three leaves into one: load 3");
}

int main(void)
{
	ktap_begin();
	test_random();
	test_patterns();
	test_permutation();
	test_counter_example();
	return ktap_end();
}
