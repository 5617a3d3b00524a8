// SPDX-License-Identifier: GPL-2.0
#include "contention.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "plan/plan.h"

const char * const contention_pattern_names[] = {
	[CONTENTION_RING] = "ring",
	[CONTENTION_HALVING] = "halving-doubling",
	[CONTENTION_ALL_TO_ALL] = "all-to-all",
	[CONTENTION_PERMUTATION] = "permutation",
	[CONTENTION_PATTERNS] = NULL
};

/* Links of one direction. */
struct links {
	const struct contention_layout *layout;
	bool up;
};

/* The link by which a flow leaves its source leaf, or enters its destination leaf. */
static size_t link_of(const struct links *links,
		      const struct contention_flow *flow)
{
	const struct contention_layout *layout = links->layout;

	return (size_t)layout->leaf[links->up ? flow->from : flow->to] *
	       layout->width + layout->place[flow->from];
}

static bool leaves_leaf(const struct contention_layout *layout,
			const struct contention_flow *flow)
{
	return layout->leaf[flow->from] != layout->leaf[flow->to];
}

/* Put the flows that take a link first. Return: how many. */
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

/* Whether any link has two flows: a bit per link is enough to see that. */
static int any_shared(const struct links *links,
		      const struct contention_flow *flows, size_t n)
{
	size_t all = (size_t)links->layout->leaves * links->layout->width, i;
	__u64 *taken = calloc(all / 64 + 1, sizeof(*taken));
	int shared = 0;

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
		       void (*report)(const struct contention_link *link,
				      void *arg),
		       void *arg)
{
	__u32 width = links->layout->width;
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
			.leaf = link / width,
			.place = link % width,
			.flows = &flows[from],
			.nr_flows = to - from,
		}, arg);
	}
	return found;
}

long contention_test(const struct contention_layout *layout,
		     struct contention_flow *flows, size_t n,
		     void (*report)(const struct contention_link *link,
				    void *arg),
		     void *arg)
{
	long up, down;

	n = keep_leaving(layout, flows, n);
	up = test_links(&(struct links) { layout, true }, flows, n, report, arg);
	if (up < 0)
		return up;
	down = test_links(&(struct links) { layout, false }, flows, n, report,
			  arg);
	return down < 0 ? down : up + down;
}

long contention_steps(enum contention_pattern pattern, __u32 ranks)
{
	switch (pattern) {
	case CONTENTION_HALVING:
		return ranks & (ranks - 1) ? -EINVAL : __builtin_ctz(ranks);
	case CONTENTION_ALL_TO_ALL:
		return (long)ranks - 1;
	default:
		return 1;
	}
}

static int permute(__u32 ranks, __u32 seed, struct contention_flow *flows)
{
	__u32 *order = calloc(ranks, sizeof(*order)), rank;

	if (!order)
		return -ENOMEM;
	plan_order(seed, ranks, order);
	for (rank = 0; rank < ranks; rank++)
		flows[rank].to = order[rank];
	free(order);
	return 0;
}

int contention_step(enum contention_pattern pattern, __u32 ranks, __u32 seed,
		    __u32 step, struct contention_flow *flows)
{
	__u32 rank, shift = pattern == CONTENTION_ALL_TO_ALL ? step + 1 : 1;

	for (rank = 0; rank < ranks; rank++) {
		flows[rank].from = rank;
		flows[rank].step = step;
		if (pattern == CONTENTION_HALVING)
			flows[rank].to = rank ^ 1u << step;
		else
			flows[rank].to = (rank + shift) % ranks;
	}
	return pattern == CONTENTION_PERMUTATION ?
	       permute(ranks, seed, flows) : 0;
}

long contention_test_pattern(const struct contention_layout *layout,
			     enum contention_pattern pattern, __u32 seed,
			     void (*report)(const struct contention_link *link,
					    void *arg),
			     void *arg)
{
	struct contention_flow *flows = calloc(layout->ranks, sizeof(*flows));
	long steps = contention_steps(pattern, layout->ranks), links = 0, step;
	long ret = flows ? 0 : -ENOMEM;

	for (step = 0; ret >= 0 && step < steps; step++) {
		ret = contention_step(pattern, layout->ranks, seed, step, flows);
		if (!ret)
			ret = contention_test(layout, flows, layout->ranks,
					      report, arg);
		links += ret;
	}
	free(flows);
	return ret < 0 ? ret : links;
}
