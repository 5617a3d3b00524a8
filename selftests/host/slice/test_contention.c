// SPDX-License-Identifier: GPL-2.0
/* Contention of flows, compared with a count link by link */
#include <stdlib.h>
#include <string.h>

#include "../../random.h"
#include "slice/slice.h"
#include "../../ktap.h"

#define ROUNDS		5000
#define SLICES		1500
#define MAX_RANKS	256
#define MAX_LEAVES	128
#define MAX_FLOWS	300

static struct contention_layout layout;

static void begin_layout(__u32 lanes)
{
	contention_layout_free(&layout);
	if (contention_layout_init(&layout, MAX_RANKS, MAX_LEAVES, lanes))
		exit(1);
}

/* Each leaf gets the links that its ranks need, or with @cut at most as many as others. */
static void end_layout(bool cut)
{
	__u32 all = 0, i;

	for (i = 0; i < layout.leaves; i++)
		all += contention_links_needed(&layout, i);
	for (i = 0; i < layout.leaves; i++) {
		__u32 need = contention_links_needed(&layout, i);

		layout.links[i] = cut && need > all - need ? all - need : need;
		layout.links[i] += !layout.links[i];
	}
	contention_layout_count(&layout);
}

/* @width GPUs on each leaf. */
static void make_even(__u32 leaves, __u32 width)
{
	begin_layout(width);
	while (leaves--)
		contention_layout_add(&layout, true, width);
	end_layout(false);
}

/* Any number of GPUs on each leaf, in all a multiple of the lanes, or not. */
static void make_uneven(bool divides, bool big)
{
	__u32 lanes = 2 + random_below(15), left, most;

	left = lanes * (1 + random_below(MAX_RANKS / lanes - 1));
	left += divides ? 0 : 1 + random_below(lanes - 1);
	begin_layout(lanes);
	most = big ? left / 2 + 1 + random_below(left / 2) : 0;
	while (left) {
		__u32 gpus = most ?: 1 + random_below(left < 32 ? left : 32);

		gpus = gpus < left || layout.leaves ? gpus : left - 1;
		contention_layout_add(&layout, true, gpus);
		left -= gpus;
		most = 0;
	}
	end_layout(big);
}

/* Reported flows on each link, down first */
struct seen {
	__u32 flows[2][MAX_LEAVES][MAX_RANKS];
	bool sound;
};

/* The link of the lane that a rank of a leaf with links for all of its ranks has. */
static __u32 own_link(__u32 rank)
{
	return (rank - layout.first[layout.leaf[rank]]) / layout.lanes;
}

/* Whether a flow takes the link from a leaf up, or down to it. */
static bool takes(const struct contention_flow *flow, bool up, __u32 leaf, __u32 lane, __u32 link)
{
	__u32 rank = up ? flow->from : flow->to;

	return layout.leaf[flow->from] != layout.leaf[flow->to] &&
	       layout.leaf[rank] == leaf && flow->from % layout.lanes == lane &&
	       own_link(rank) == link;
}

static void note(const struct contention_link *link, void *arg)
{
	struct seen *seen = arg;
	size_t i;

	seen->flows[link->up][link->leaf][link->lane * layout.most + link->link] +=
		link->nr_flows;
	for (i = 0; i < link->nr_flows; i++)
		seen->sound &= takes(&link->flows[i], link->up, link->leaf, link->lane, link->link);
}

/* Flows that take a link, one by one. */
static __u32 count(const struct contention_flow *flows, size_t n, bool up,
		   __u32 leaf, __u32 lane, __u32 link)
{
	__u32 found = 0;
	size_t i;

	for (i = 0; i < n; i++)
		found += takes(&flows[i], up, leaf, lane, link);
	return found;
}

static bool agrees(struct contention_flow *flows, size_t n)
{
	__u32 each = layout.lanes * layout.most, links = 0, most = 0, i;
	static struct seen seen;
	long ret, worst;

	memset(&seen, 0, sizeof(seen));
	seen.sound = true;
	ret = contention_test(&layout, flows, n, note, &seen);
	worst = contention_worst(&layout, flows, n);
	for (i = 0; i < 2 * layout.leaves * each; i++) {
		__u32 leaf = i / 2 / each, at = i / 2 % each;
		__u32 want = count(flows, n, i & 1, leaf, at / layout.most, at % layout.most);

		links += want > 1;
		most = want > most ? want : most;
		if (seen.flows[i & 1][leaf][at] != (want > 1 ? want : 0))
			return false;
	}
	return seen.sound && ret == links && worst == most;
}

static void test_random(void)
{
	static struct contention_flow flows[MAX_FLOWS];
	bool ok = true;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		size_t n = random_below(MAX_FLOWS), i;

		if (round & 1)
			make_even(1 + random_below(12), 1 + random_below(16));
		else
			make_uneven(random_below(2), false);
		for (i = 0; i < n; i++)
			flows[i] = (struct contention_flow) {
				random_below(layout.ranks),
				random_below(layout.ranks), 0
			};
		ok &= agrees(flows, n);
	}
	ktap_result(ok, "links and flows of random flows agree with a count one by one");
}

/* The flows of a lane that leave or enter a leaf are no more than its links. */
static bool fits(const struct contention_flow *flows)
{
	__u32 flow[2][MAX_LEAVES][16] = {}, rank, leaf, lane;
	bool ok = true;

	for (rank = 0; rank < layout.ranks; rank++) {
		__u32 from = layout.leaf[flows[rank].from];
		__u32 to = layout.leaf[flows[rank].to];

		lane = flows[rank].from % layout.lanes;
		flow[0][from][lane] += from != to;
		flow[1][to][lane] += from != to;
	}
	for (leaf = 0; leaf < layout.leaves; leaf++)
		for (lane = 0; lane < layout.lanes; lane++)
			ok &= flow[0][leaf][lane] <= layout.links[leaf] &&
			      flow[1][leaf][lane] <= layout.links[leaf];
	return ok;
}

/* Steps of all patterns but the permutation, and those in which flows meet. */
static void count_steps(long *steps, long *shared, bool *agree)
{
	struct contention_flow flows[MAX_RANKS];
	long all, step;
	int pattern;

	for (pattern = 0; pattern < CONTENTION_PATTERNS; pattern++) {
		__u32 group = layout.ranks % layout.lanes ? 0 : layout.lanes;

		if (pattern == CONTENTION_PERMUTATION)
			continue;
		all = contention_steps(pattern, layout.ranks, group);
		for (step = 0; step < all; step++) {
			bool free, counted;

			contention_step(pattern, layout.ranks, group, 1, step, flows);
			counted = fits(flows);
			free = contention_worst(&layout, flows, layout.ranks) < 2;
			*agree &= !free || counted;
			*shared += !free;
			++*steps;
		}
	}
}

static void test_uneven(bool divides, bool big)
{
	long steps = 0, shared = 0, proven = 0;
	bool agree = true;
	int i;

	for (i = 0; i < SLICES; i++) {
		long before = shared;

		make_uneven(divides, big);
		count_steps(&steps, &shared, &agree);
		proven += !contention_prove(&layout) != (before == shared);
	}
	ktap_result(agree && !proven && (divides ? !shared : shared > steps / 10),
		    "%s leaves of any size, %sa multiple of the lanes: flows %s",
		    big ? "one of more than half and other" : "all",
		    divides ? "" : "not ", divides ? "never meet" : "meet");
	printf("# %d slices, %ld steps, flows meet in %ld\n", SLICES, steps, shared);
}

static void test_even(void)
{
	long steps = 0, shared = 0;
	__u32 leaves, width;
	bool agree = true;

	for (leaves = 1; leaves <= 16; leaves++) {
		for (width = 1; width <= 16; width++) {
			make_even(leaves, width);
			count_steps(&steps, &shared, &agree);
		}
	}
	ktap_result(agree && !shared, "flows never meet under equal leaves");
	ktap_result(contention_steps(CONTENTION_HALVING, 12, 0) < 0 &&
		    contention_steps(CONTENTION_HALVING, 16, 0) == 4,
		    "halving-doubling takes a power of two");
}

/* Each rank sends inside its group, then to the same number in another one. */
static void test_hierarchical(void)
{
	struct contention_flow flows[24];
	__u32 sent[24][24] = {}, rank, i;
	bool ok = true;

	for (i = 0; i < 8; i++) {
		contention_step(CONTENTION_HIERARCHICAL_ALL_TO_ALL, 24, 4, 0, i, flows);
		for (rank = 0; rank < 24; rank++)
			sent[flows[rank].from][flows[rank].to]++;
	}
	for (i = 0; i < 24 * 24; i++) {
		__u32 from = i / 24, to = i % 24;

		ok &= sent[from][to] == (from != to && (from / 4 == to / 4 || from % 4 == to % 4));
	}
	ktap_result(ok && contention_steps(CONTENTION_HIERARCHICAL_ALL_TO_ALL, 24, 4) == 8,
		    "a hierarchical all-to-all goes through groups, then through their equals");
	for (i = 0; i < 2; i++) {
		contention_step(CONTENTION_HIERARCHICAL_RING, 24, 4, 0, i, flows);
		for (rank = 0; rank < 24; rank++)
			ok &= flows[rank].to == (i ? (rank + 4) % 24 :
						 rank / 4 * 4 + (rank + 1) % 4);
	}
	ktap_result(ok && contention_steps(CONTENTION_HIERARCHICAL_RING, 24, 4) == 2 &&
		    contention_steps(CONTENTION_HIERARCHICAL_RING, 24, 24) == 1,
		    "a hierarchical ring goes to the next in the group, then to the next group");
}

/* Each rank sends once and receives once; some links are contended. */
static void test_permutation(void)
{
	struct contention_flow flows[MAX_RANKS];
	__u32 seed, rank, bad = 0;
	bool ok = true;

	make_even(8, 8);
	for (seed = 0; seed < 100; seed++) {
		bool to[MAX_RANKS] = {};

		contention_step(CONTENTION_PERMUTATION, layout.ranks, 0, seed, 0, flows);
		for (rank = 0; rank < layout.ranks; rank++) {
			ok &= flows[rank].from == rank && !to[flows[rank].to];
			to[flows[rank].to] = true;
		}
		bad += contention_worst(&layout, flows, layout.ranks) > 1;
	}
	ktap_result(ok && bad > 90, "random permutations are contended");
}

/* Each uplink has one flow, but a downlink three. */
static void test_counter_example(void)
{
	struct contention_flow flows[] = { { 4, 0, 0 }, { 8, 1, 0 },
					   { 12, 2, 0 }, { 5, 3, 0 } };
	static struct seen seen = { .sound = true };

	make_even(4, 4);
	ktap_result(contention_test(&layout, flows, 4, note, &seen) == 1 &&
		    seen.flows[0][0][0] == 3,
		    "flows of one lane from three leaves into one have load 3");
}

int main(void)
{
	ktap_begin();
	test_random();
	test_even();
	test_uneven(true, false);
	test_uneven(true, true);
	test_uneven(false, false);
	test_hierarchical();
	test_permutation();
	test_counter_example();
	contention_layout_free(&layout);
	return ktap_end();
}
