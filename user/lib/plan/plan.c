// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan_priv.h"

__u64 plan_gcd(__u64 a, __u64 b)
{
	while (b) {
		__u64 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * With W the sum of the weights and g their greatest common divisor, path p
 * carries n * w_p / W flows. In lowest terms, W' = W / g and d = gcd(W', n),
 * that is (w_p / g) * (n / d) units for unit = W' / d, and for no smaller one.
 */
int plan_scale(const struct plan_spec *spec, __u64 *unit, __u64 *share)
{
	__u64 sum = 0, g = 0, d;
	__u32 p;

	for (p = 0; p < spec->paths; p++) {
		__u32 weight = spec->weights ? spec->weights[p] : 1;

		sum += weight;
		g = plan_gcd(g, weight);
	}
	if (!sum)
		return -EINVAL;
	sum /= g;
	d = plan_gcd(sum, spec->flows);
	*unit = sum / d;
	if ((__uint128_t)*unit * spec->flows > INT64_MAX)
		return -EOVERFLOW;
	for (p = 0; share && p < spec->paths; p++)
		share[p] = (spec->weights ? spec->weights[p] / g : 1) *
			   (spec->flows / d);
	return 0;
}

/*
 * Pieces a flow had, @prior from @first to before @end, come first and in their
 * order: in front is its home path.
 */
static void keep_order(struct plan_piece *pieces, size_t nr,
		       const struct plan_piece *prior, size_t first, size_t end)
{
	size_t i, at, done = 0;

	for (i = first; i < end && done < nr; i++) {
		struct plan_piece found;

		for (at = done; at < nr; at++)
			if (pieces[at].path == prior[i].path)
				break;
		if (at == nr)
			continue;
		found = pieces[at];
		memmove(&pieces[done + 1], &pieces[done], (at - done) * sizeof(found));
		pieces[done++] = found;
	}
}

/* Sort what was dealt by flows, and lay out each flow from 0. */
static int collect(struct plan *plan, const struct deal *deal, const struct plan_spec *spec)
{
	size_t *end, i, at = 0, prior = 0;
	__u32 flow;

	end = calloc(plan->flows + 1, sizeof(*end));
	plan->pieces = calloc(deal->nr_pieces, sizeof(*plan->pieces));
	if (!end || !plan->pieces) {
		free(end);
		return -ENOMEM;
	}
	plan->nr_pieces = deal->nr_pieces;
	for (i = 0; i < deal->nr_pieces; i++)
		end[deal->pieces[i].flow + 1]++;
	for (flow = 0; flow < plan->flows; flow++)
		end[flow + 1] += end[flow];
	for (i = 0; i < deal->nr_pieces; i++)
		plan->pieces[end[deal->pieces[i].flow]++] = deal->pieces[i];

	for (flow = 0; flow < plan->flows; flow++) {
		size_t had = prior;
		__u64 from = 0;

		while (prior < spec->nr_prior && spec->prior[prior].flow == flow)
			prior++;
		keep_order(&plan->pieces[at], end[flow] - at, spec->prior, had, prior);
		for (; at < end[flow]; at++) {
			plan->pieces[at].from = from;
			from += plan->pieces[at].to / deal->fine;
			plan->pieces[at].to = from;
		}
	}
	free(end);
	return 0;
}

int plan_make(struct plan *plan, const struct plan_spec *spec)
{
	struct deal deal = {};
	int err;

	memset(plan, 0, sizeof(*plan));
	if (!spec->flows || spec->flows > PLAN_MAX_FLOWS ||
	    !spec->paths || spec->paths > PLAN_MAX_PATHS)
		return -EINVAL;
	plan->flows = spec->flows;
	plan->paths = spec->paths;
	plan->load = calloc(spec->paths, sizeof(*plan->load));
	if (!plan->load)
		return -ENOMEM;
	err = plan_scale(spec, &plan->unit, plan->load) ?:
	      deal_begin(&deal, plan, spec);
	if (!err) {
		deal_fewest(&deal);
		err = collect(plan, &deal, spec);
	}
	deal_end(&deal);
	if (err)
		plan_free(plan);
	return err;
}

void plan_free(struct plan *plan)
{
	free(plan->pieces);
	free(plan->load);
	memset(plan, 0, sizeof(*plan));
}
