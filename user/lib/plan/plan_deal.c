// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/base.h"
#include "plan_priv.h"

/* A prior seldom has whole numbers of new units: divide units. */
#define FINE_MAX	1048576

/* A side of @nr with nothing open; @left is to be freed. Return: 0, -ENOMEM. */
static int init_side(struct deal_side *side, __u32 nr)
{
	side->left = calloc(nr, sizeof(*side->left) + sizeof(*side->rest) + sizeof(*side->open));
	if (!side->left)
		return -ENOMEM;
	side->rest = side->left + nr;
	side->open = (__u32 *)(side->rest + nr);
	return 0;
}

/* Add the prior pieces, in parts of @whole, the length of a flow. */
static int add_links(struct deal *deal, const struct plan_spec *spec, __u64 whole)
{
	const struct plan_piece *prior = spec->prior;
	size_t i, last = 0, nr = spec->nr_prior;

	for (i = 0; i < nr; i++) {
		bool first = !i || prior[i].flow != prior[i - 1].flow;

		if (prior[i].flow >= spec->flows ||
		    prior[i].to <= prior[i].from ||
		    prior[i].from != (first ? 0 : prior[i - 1].to) ||
		    (first && i && prior[i].flow < prior[i - 1].flow))
			return -EINVAL;
		if (first)
			for (last = i; last + 1 < nr; last++)
				if (prior[last + 1].flow != prior[i].flow)
					break;
		if (prior[i].path >= spec->paths)
			continue;
		deal->links[deal->nr_links++] = (struct deal_link) {
			.end = { prior[i].flow, prior[i].path },
			.have = (__uint128_t)(prior[i].to - prior[i].from) *
				whole / prior[last].to,
		};
	}
	return 0;
}

int deal_begin(struct deal *deal, const struct plan *plan, const struct plan_spec *spec)
{
	struct deal_side *flows = &deal->side[FLOWS];
	struct deal_side *paths = &deal->side[PATHS];
	__u32 i, nr = 0, most;

	*deal = (struct deal) { .fine = 1 };
	while (deal->fine < FINE_MAX && plan->unit * plan->flows * deal->fine <= INT64_MAX / 2)
		deal->fine *= 2;
	if (init_side(flows, plan->flows) || init_side(paths, plan->paths))
		return -ENOMEM;
	for (i = 0; i < plan->flows; i++) {
		flows->open[i] = i;
		flows->left[i] = plan->unit * deal->fine;
	}
	flows->nr_open = plan->flows;
	for (i = 0; i < plan->paths; i++)
		paths->open[i] = i;
	if (spec->seed)
		random_order(spec->seed, plan->paths, paths->open);
	for (i = 0; i < plan->paths; i++) {
		paths->left[i] = plan->load[i] * deal->fine;
		if (plan->load[paths->open[i]])
			paths->open[nr++] = paths->open[i];
	}
	paths->nr_open = nr;

	most = plan->flows > plan->paths ? plan->flows : plan->paths;
	deal->pieces = calloc(plan->flows + nr - 1, sizeof(*deal->pieces));
	deal->links = calloc(spec->nr_prior + 1, sizeof(*deal->links));
	deal->choices = calloc(spec->nr_prior + most, sizeof(*deal->choices));
	if (!deal->pieces || !deal->links || !deal->choices)
		return -ENOMEM;
	return add_links(deal, spec, plan->unit * deal->fine);
}

void deal_end(struct deal *deal)
{
	free(deal->side[FLOWS].left);
	free(deal->side[PATHS].left);
	free(deal->links);
	free(deal->choices);
	free(deal->pieces);
}
