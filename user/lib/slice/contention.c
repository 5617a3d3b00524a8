// SPDX-License-Identifier: GPL-2.0
#include "contention.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/base.h"
#include "slice_priv.h"

#define MOST_FLOWS	524288	/* of the steps of a pattern, for a proof */

const char * const contention_pattern_names[] = {
	[CONTENTION_RING] = "ring",
	[CONTENTION_HALVING] = "halving-doubling",
	[CONTENTION_ALL_TO_ALL] = "all-to-all",
	[CONTENTION_PERMUTATION] = "permutation",
	[CONTENTION_HIERARCHICAL_RING] = "hierarchical-ring",
	[CONTENTION_HIERARCHICAL_ALL_TO_ALL] = "hierarchical-all-to-all",
	[CONTENTION_PATTERNS] = NULL
};

/* Links of one direction. */
struct links {
	const struct contention_layout *layout;
	bool up;
};

/* The link of a rank, among the links of its leaf in the lane of the flow. */
static __u32 link_of_rank(const struct contention_layout *layout, __u32 rank)
{
	return (rank - layout->first[layout->leaf[rank]]) / layout->lanes;
}

/*
 * The link of a flow at the leaf of @rank: that of the rank. A leaf with fewer links than
 * its ranks need has as many as all other leaves; then the other end gives the number.
 */
__u32 contention_link_at(const struct contention_layout *layout, __u32 rank, __u32 other)
{
	__u32 leaf = layout->leaf[rank], to = layout->leaf[other], link;

	link = link_of_rank(layout, rank);
	if (layout->links[leaf] < contention_links_needed(layout, leaf))
		link = layout->before[to] + link_of_rank(layout, other) -
		       (to > leaf ? contention_links_needed(layout, leaf) : 0);
	return layout->joined ? 0 : link % layout->links[leaf];
}

/* The link by which a flow leaves its source leaf, or enters its destination leaf. */
static size_t link_of(const struct links *links, const struct contention_flow *flow)
{
	const struct contention_layout *layout = links->layout;
	__u32 rank = links->up ? flow->from : flow->to;
	__u32 lane = layout->pair[flow->from % layout->lanes];

	return ((size_t)layout->leaf[rank] * layout->lanes + lane) * layout->most +
	       contention_link_at(layout, rank, links->up ? flow->to : flow->from);
}

static size_t all_links(const struct contention_layout *layout)
{
	return (size_t)layout->leaves * layout->lanes * layout->most;
}

static bool leaves_leaf(const struct contention_layout *layout, const struct contention_flow *flow)
{
	return layout->leaf[flow->from] != layout->leaf[flow->to];
}

/* Move flows that take a link to the front. Return: their number. */
static size_t keep_leaving(const struct contention_layout *layout,
			   struct contention_flow *flows, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		struct contention_flow flow = flows[i];

		if (!leaves_leaf(layout, &flow))
			continue;
		flows[i] = flows[kept];
		flows[kept++] = flow;
	}
	return kept;
}

static int compare_flows(const void *a, const void *b, void *arg)
{
	size_t left = link_of(arg, a), right = link_of(arg, b);
	const struct contention_flow *one = a, *other = b;

	if (left != right)
		return left < right ? -1 : 1;
	if (one->from != other->from)
		return one->from < other->from ? -1 : 1;
	return one->to < other->to ? -1 : one->to > other->to;
}

/* Does any link have two flows? One bit per link is enough to see. */
static int any_shared(const struct links *links, const struct contention_flow *flows, size_t n)
{
	__u64 *taken = calloc(all_links(links->layout) / 64 + 1, sizeof(*taken));
	int shared = 0;
	size_t i;

	if (!taken)
		return -ENOMEM;
	for (i = 0; i < n && !shared; i++) {
		size_t link = link_of(links, &flows[i]);

		shared = taken[link / 64] >> link % 64 & 1;
		taken[link / 64] |= 1ULL << link % 64;
	}
	free(taken);
	return shared;
}

/* Find the links of one direction that flows between leaves meet on. */
static long test_links(const struct links *links, struct contention_flow *flows,
		       size_t n,
		       void (*report)(const struct contention_link *link, void *arg),
		       void *arg)
{
	const struct contention_layout *layout = links->layout;
	size_t from, to;
	long found = 0;
	int shared;

	shared = any_shared(links, flows, n);
	if (shared <= 0)
		return shared;
	qsort_r(flows, n, sizeof(*flows), compare_flows, (void *)links);
	for (from = 0; from < n; from = to) {
		size_t link = link_of(links, &flows[from]);

		for (to = from + 1; to < n; to++)
			if (link_of(links, &flows[to]) != link)
				break;
		if (to - from < 2)
			continue;
		found++;
		report(&(struct contention_link) {
			.up = links->up,
			.leaf = link / layout->most / layout->lanes,
			.lane = link / layout->most % layout->lanes,
			.link = link % layout->most,
			.flows = &flows[from],
			.nr_flows = to - from,
		}, arg);
	}
	return found;
}

__u32 contention_links_needed(const struct contention_layout *layout, __u32 leaf)
{
	return slice_divide_up(layout->first[leaf + 1] - layout->first[leaf], layout->lanes);
}

void contention_layout_count(struct contention_layout *layout)
{
	__u32 i, n = 0;

	layout->most = 1;
	for (i = 0; i < layout->leaves; i++) {
		layout->before[i] = n;
		n += layout->lanes ? contention_links_needed(layout, i) : 0;
		if (layout->links[i] > layout->most)
			layout->most = layout->links[i];
	}
	for (i = 0; i < layout->lanes; i++)
		layout->pair[i] = i;
}

int contention_layout_init(struct contention_layout *layout, __u32 ranks, __u32 leaves, __u32 lanes)
{
	*layout = (struct contention_layout) {
		.lanes = lanes,
		.leaf = calloc(ranks + 1, sizeof(*layout->leaf)),
		.first = calloc(leaves + 1, sizeof(*layout->first)),
		.links = calloc(leaves + 1, sizeof(*layout->links)),
		.before = calloc(leaves + 1, sizeof(*layout->before)),
		.pair = calloc(lanes + 1, sizeof(*layout->pair)),
	};
	return layout->leaf && layout->first && layout->links && layout->before &&
	       layout->pair ? 0 : -ENOMEM;
}

void contention_layout_add(struct contention_layout *layout, bool new_leaf, __u32 gpus)
{
	if (new_leaf)
		layout->links[layout->leaves++] = 1;
	for (; gpus; gpus--)
		layout->leaf[layout->ranks++] = layout->leaves - 1;
	layout->first[layout->leaves] = layout->ranks;
}

int contention_layout_of(const struct slice *slice, struct contention_layout *layout)
{
	__u32 ranks = 0, i;
	int ret;

	for (i = 0; i < slice->nr_servers; i++)
		ranks += slice->servers[i].gpus;
	ret = contention_layout_init(layout, ranks, slice->nr_leaves, slice->nr_spines);
	if (ret)
		return ret;
	for (i = 0; i < slice->nr_servers; i++)
		contention_layout_add(layout, !i || slice->servers[i].leaf !=
				      slice->servers[i - 1].leaf, slice->servers[i].gpus);
	for (i = 0; slice->nr_spines && i < slice->nr_leaves; i++)
		layout->links[i] = slice->lane_links[i];
	contention_layout_count(layout);
	return 0;
}

void contention_layout_free(struct contention_layout *layout)
{
	free(layout->leaf);
	free(layout->first);
	free(layout->links);
	free(layout->before);
	free(layout->pair);
}

long contention_test(const struct contention_layout *layout,
		     struct contention_flow *flows, size_t n,
		     void (*report)(const struct contention_link *link, void *arg),
		     void *arg)
{
	long up, down;

	n = keep_leaving(layout, flows, n);
	if (!n)
		return 0;
	up = test_links(&(struct links) { layout, true }, flows, n, report, arg);
	if (up < 0)
		return up;
	down = test_links(&(struct links) { layout, false }, flows, n, report,
			  arg);
	return down < 0 ? down : up + down;
}

/* Most flows on a link of one direction. */
static long worst_link(const struct links *links, const struct contention_flow *flows, size_t n)
{
	__u32 *count = calloc(all_links(links->layout) + 1, sizeof(*count)), most = 0;
	size_t i;

	if (!count)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		__u32 here = ++count[link_of(links, &flows[i])];

		most = here > most ? here : most;
	}
	free(count);
	return most;
}

long contention_worst(const struct contention_layout *layout,
		      struct contention_flow *flows, size_t n)
{
	long up, down;

	n = keep_leaving(layout, flows, n);
	if (!n)
		return 0;
	up = worst_link(&(struct links) { layout, true }, flows, n);
	down = worst_link(&(struct links) { layout, false }, flows, n);
	return up < 0 || down > up ? down : up;
}

/* Ranks of a group, or ranks with one number in all groups. */
static __u32 group_size(__u32 ranks, __u32 group)
{
	return group ?: ranks;
}

long contention_steps(enum contention_pattern pattern, __u32 ranks, __u32 group)
{
	__u32 inside = group_size(ranks, group), groups = ranks / inside;

	switch (pattern) {
	case CONTENTION_HALVING:
		return ranks & (ranks - 1) ? -EINVAL : __builtin_ctz(ranks);
	case CONTENTION_ALL_TO_ALL:
		return (long)ranks - 1;
	case CONTENTION_HIERARCHICAL_RING:
		return (inside > 1) + (groups > 1);
	case CONTENTION_HIERARCHICAL_ALL_TO_ALL:
		return (long)inside - 1 + groups - 1;
	default:
		return 1;
	}
}

static int permute(__u32 ranks, __u32 seed, struct contention_flow *flows)
{
	__u32 *order = calloc(ranks, sizeof(*order)), rank;

	if (!order)
		return -ENOMEM;
	random_order(seed, ranks, order);
	for (rank = 0; rank < ranks; rank++)
		flows[rank].to = order[rank];
	free(order);
	return 0;
}

/* First inside the groups, then between them. */
static __u32 hierarchical(__u32 rank, __u32 ranks, __u32 inside, __u32 shift)
{
	if (shift < inside)
		return rank / inside * inside + (rank + shift) % inside;
	return (rank + (shift - inside + 1) * inside) % ranks;
}

static __u32 destination(enum contention_pattern pattern, __u32 rank, __u32 ranks,
			 __u32 inside, __u32 step)
{
	switch (pattern) {
	case CONTENTION_HALVING:
		return rank ^ 1u << step;
	case CONTENTION_ALL_TO_ALL:
		return (rank + step + 1) % ranks;
	case CONTENTION_HIERARCHICAL_RING:
		return hierarchical(rank, ranks, inside, step || inside == 1 ? inside : 1);
	case CONTENTION_HIERARCHICAL_ALL_TO_ALL:
		return hierarchical(rank, ranks, inside, step + 1);
	default:
		return (rank + 1) % ranks;
	}
}

int contention_step(enum contention_pattern pattern, __u32 ranks, __u32 group,
		    __u32 seed, __u32 step, struct contention_flow *flows)
{
	__u32 inside = group_size(ranks, group), rank;

	for (rank = 0; rank < ranks; rank++)
		flows[rank] = (struct contention_flow) {
			rank, destination(pattern, rank, ranks, inside, step), step,
		};
	return pattern == CONTENTION_PERMUTATION ?
	       permute(ranks, seed, flows) : 0;
}

/* Groups of as many ranks as the job has lanes, if these divide the job. */
static __u32 group_of(const struct contention_layout *layout)
{
	return layout->lanes && !(layout->ranks % layout->lanes) ? layout->lanes : 0;
}

long contention_pattern_steps(const struct contention_layout *layout,
			      enum contention_pattern pattern)
{
	return contention_steps(pattern, layout->ranks, group_of(layout));
}

/* The steps of a pattern in which flows meet, or -ENOMEM. */
static long prove(const struct contention_layout *layout,
		  enum contention_pattern pattern, struct contention_flow *flows)
{
	long steps = contention_pattern_steps(layout, pattern), shared = 0, step;
	long stride = steps < 0 ? 1 : 1 + steps * layout->ranks / MOST_FLOWS;

	for (step = 0; step < steps; step += stride) {
		long worst;

		contention_step(pattern, layout->ranks, group_of(layout), 0, step, flows);
		worst = contention_worst(layout, flows, layout->ranks);
		if (worst < 0)
			return worst;
		shared += worst > 1;
	}
	return shared;
}

long contention_prove(const struct contention_layout *layout)
{
	struct contention_flow *flows;
	long shared = 0, ret = 0;
	int pattern;

	if (layout->leaves == 1)
		return 0;
	flows = calloc(layout->ranks, sizeof(*flows));
	if (!flows)
		return -ENOMEM;
	for (pattern = 0; ret >= 0 && pattern < CONTENTION_PATTERNS; pattern++) {
		if (pattern == CONTENTION_PERMUTATION)
			continue;
		ret = prove(layout, pattern, flows);
		shared += ret;
	}
	free(flows);
	return ret < 0 ? ret : shared;
}

long contention_test_pattern(const struct contention_layout *layout,
			     enum contention_pattern pattern, __u32 seed,
			     void (*report)(const struct contention_link *link, void *arg),
			     void *arg)
{
	struct contention_flow *flows = calloc(layout->ranks, sizeof(*flows));
	long steps = contention_pattern_steps(layout, pattern), links = 0, step;
	__u32 group = group_of(layout);
	long ret = flows ? 0 : -ENOMEM;

	for (step = 0; ret >= 0 && step < steps; step++) {
		ret = contention_step(pattern, layout->ranks, group, seed, step, flows);
		if (!ret)
			ret = contention_test(layout, flows, layout->ranks, report, arg);
		links += ret;
	}
	free(flows);
	return ret < 0 ? ret : links;
}
