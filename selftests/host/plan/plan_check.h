/* SPDX-License-Identifier: GPL-2.0 */
/* Properties of every plan */
#ifndef ROCESTEER_TEST_PLAN_CHECK_H
#define ROCESTEER_TEST_PLAN_CHECK_H

#include <stdbool.h>
#include <stdlib.h>

#include "../../random.h"
#include "plan/plan.h"

static inline __u64 gcd(__u64 a, __u64 b)
{
	return b ? gcd(b, a % b) : a;
}

/* Pieces ascend, are not empty, and each flow is covered without a gap. */
static inline bool covers(const struct plan *plan)
{
	__u64 at = plan->unit;
	__u32 flow = -1;
	size_t i;

	for (i = 0; i < plan->nr_pieces; i++) {
		const struct plan_piece *p = &plan->pieces[i];

		if (p->flow != flow) {
			if (at != plan->unit || p->flow != flow + 1)
				return false;
			flow = p->flow;
			at = 0;
		}
		if (p->from != at || p->to <= p->from || p->to > plan->unit ||
		    p->path >= plan->paths)
			return false;
		at = p->to;
	}
	return at == plan->unit && flow == plan->flows - 1;
}

/* load[p] / weight[p] is the same for all p, and loads are the pieces' sums. */
static inline bool loads_exact(const struct plan *plan, const __u32 *weights)
{
	__u64 *load = calloc(plan->paths, sizeof(*load)), sum = 0;
	bool ok = true;
	size_t i;
	__u32 p;

	for (i = 0; i < plan->nr_pieces; i++)
		load[plan->pieces[i].path] += plan->pieces[i].to -
					      plan->pieces[i].from;
	for (p = 0; p < plan->paths; p++)
		sum += weights ? weights[p] : 1;
	for (p = 0; p < plan->paths && ok; p++) {
		__u32 weight = weights ? weights[p] : 1;

		ok = load[p] == plan->load[p] &&
		     (__uint128_t)load[p] * sum ==
		     (__uint128_t)plan->unit * plan->flows * weight;
	}
	free(load);
	return ok;
}

/* The unit is minimal: unit and loads have no common divisor. */
static inline bool unit_is_smallest(const struct plan *plan)
{
	__u64 common = plan->unit;
	__u32 p;

	for (p = 0; p < plan->paths; p++)
		common = gcd(common, plan->load[p]);
	return common == 1;
}

/* The number of whole flows is the number that fits into the shares of their paths. */
static inline bool whole_is_most(const struct plan *plan)
{
	__u32 fit = 0, whole = 0, p;
	size_t i;

	for (p = 0; p < plan->paths; p++)
		fit += plan->load[p] / plan->unit;
	for (i = 0; i < plan->nr_pieces; i++)
		whole += plan->pieces[i].to - plan->pieces[i].from ==
			 plan->unit;
	return whole == fit;
}

/* Within the precision of a double */
static inline bool is_near(double a, double b)
{
	return a - b < 0.000001 && b - a < 0.000001;
}

static inline size_t extra(const struct plan *plan)
{
	return plan->nr_pieces - plan->flows;
}

#endif /* ROCESTEER_TEST_PLAN_CHECK_H */
