// SPDX-License-Identifier: GPL-2.0
/*
 * Prior plans: a plan that follows one has exact loads and as few pieces as
 * plan.h says, moves no less than it must, and is kept when planned again.
 */
#include "command/plan/plan.h"
#include "plan/plan_priv.h"
#include "fuzz.h"

#define HEAD	12	/* bytes of what is to be planned, before the file */
#define MAX_PATHS	8

static void check_pieces(const struct plan *plan)
{
	__u64 carry[MAX_PATHS] = {};
	size_t i;
	__u32 p;

	for (i = 0; i < plan->nr_pieces; i++) {
		const struct plan_piece *piece = &plan->pieces[i];
		bool next = i && piece->flow == piece[-1].flow;

		assert(piece->path < plan->paths && piece->to > piece->from);
		assert(piece->from == (next ? piece[-1].to : 0));
		assert(next || !i || (piece[-1].to == plan->unit &&
				      piece->flow == piece[-1].flow + 1));
		carry[piece->path] += piece->to - piece->from;
	}
	assert(plan->pieces[i - 1].to == plan->unit && plan->pieces[i - 1].flow == plan->flows - 1);
	for (p = 0; p < plan->paths; p++)
		assert(carry[p] == plan->load[p]);
}

static void check_few(const struct plan *plan, const struct plan_spec *spec)
{
	__u32 used = 0, p;

	for (p = 0; p < plan->paths; p++)
		used += !!plan->load[p];
	if (spec->weights)
		assert(plan->nr_pieces <= spec->flows + used - 1);
	else
		assert(plan->nr_pieces == spec->flows + used - plan_gcd(spec->flows, used));
}

static void check_again(const struct plan *plan, const struct plan_spec *spec)
{
	struct plan_spec again = *spec;
	struct plan two;

	again.prior = plan->pieces;
	again.nr_prior = plan->nr_pieces;
	assert(!plan_make(&two, &again));
	assert(two.nr_pieces == plan->nr_pieces &&
	       !memcmp(two.pieces, plan->pieces, two.nr_pieces * sizeof(*two.pieces)));
	plan_free(&two);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	struct plan_piece *pieces = NULL;
	struct plan_spec spec = {};
	struct plan_change change;
	__u32 weights[MAX_PATHS], i;
	struct err err = {};
	struct plan plan;

	if (size < HEAD)
		return 0;
	spec.flows = 1 + data[1] % 40;
	spec.paths = 1 + data[2] % MAX_PATHS;
	spec.seed = data[3];
	for (i = 0; i < MAX_PATHS; i++)
		weights[i] = data[4 + i] * (data[0] & 4 ? 16777213u : 1u);
	if (data[0] & 2)
		spec.weights = weights;
	if (plan_prior_read(fuzz_file(data + HEAD, size - HEAD), spec.flows, &pieces,
			    &spec.nr_prior, &err)) {
		assert(err.code);
		free(pieces);
		return 0;
	}
	spec.prior = pieces;
	if (!plan_make(&plan, &spec)) {
		check_pieces(&plan);
		check_few(&plan, &spec);
		if (!plan_compare(&change, &plan, &spec))
			assert(change.moved >= change.must);
		check_again(&plan, &spec);
		plan_free(&plan);
	}
	free(pieces);
	return 0;
}
