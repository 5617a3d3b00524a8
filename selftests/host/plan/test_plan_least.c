// SPDX-License-Identifier: GPL-2.0
/*
 * Plans of few flows and paths, compared with the best of all plans with the same loads: the
 * fewest pieces, then the most whole flows, then the least that moves.
 *
 * A plan with the fewest pieces has no cycle of flows and paths, so it can be
 * dealt such that each piece finishes a flow or a path. The search tries all
 * orders of that, and remembers where it has been.
 */
#include <stdlib.h>
#include <string.h>

#include "../../ktap.h"
#include "plan_check.h"

#define MAX_FLOWS	6
#define MAX_PATHS	4
#define NR_SLOTS	262144
#define ROUNDS		2000

/* The best way to deal the rest of flows and paths */
struct best {
	__u32 pieces;
	__u32 whole;
	__u32 kept;
};

struct slot {
	__u32 round;
	__u8 left[MAX_FLOWS + MAX_PATHS];
	struct best best;
};

/* @had: what flows had on paths, in units of 1 / @scale. */
struct search {
	__u32 round;
	__u32 flows;
	__u32 paths;
	__u32 unit;
	__u32 scale;
	__u32 had[MAX_FLOWS][MAX_PATHS];
	struct slot slots[NR_SLOTS];
};

static struct slot *find_slot(struct search *s, const __u8 *left)
{
	__u32 hash = 2166136261u, i;

	for (i = 0; i < MAX_FLOWS + MAX_PATHS; i++)
		hash = (hash ^ left[i]) * 16777619u;
	for (;; hash++) {
		struct slot *slot = &s->slots[hash % NR_SLOTS];

		if (slot->round != s->round || !memcmp(slot->left, left, sizeof(slot->left)))
			return slot;
	}
}

static bool is_better(const struct best *a, const struct best *b)
{
	if (a->pieces != b->pieces)
		return a->pieces < b->pieces;
	if (a->whole != b->whole)
		return a->whole > b->whole;
	return a->kept > b->kept;
}

static struct best search(struct search *s, __u8 *left)
{
	struct slot *slot = find_slot(s, left);
	struct best best = { .pieces = -1 };
	__u8 *paths = left + MAX_FLOWS;
	bool done = true;
	__u32 f, p;

	if (slot->round == s->round)
		return slot->best;
	for (f = 0; f < s->flows; f++) {
		for (p = 0; p < s->paths; p++) {
			__u8 flow = left[f], path = paths[p];
			__u32 piece = flow < path ? flow : path;
			__u32 had = s->had[f][p];
			struct best got;

			if (!piece)
				continue;
			done = false;
			left[f] -= piece;
			paths[p] -= piece;
			got = search(s, left);
			left[f] = flow;
			paths[p] = path;
			got.pieces++;
			got.whole += piece == s->unit;
			piece *= s->scale;
			got.kept += piece < had ? piece : had;
			if (is_better(&got, &best))
				best = got;
		}
	}
	if (done)
		best.pieces = 0;
	slot = find_slot(s, left);
	slot->round = s->round;
	memcpy(slot->left, left, sizeof(slot->left));
	slot->best = best;
	return best;
}

/* Properties of the best plan for @spec, moved in units of @change */
static struct best search_best(struct search *s, const struct plan *plan,
			       const struct plan_spec *spec,
			       const struct plan_change *change)
{
	__u8 left[MAX_FLOWS + MAX_PATHS] = {};
	size_t i, last = 0;
	__u32 n;

	s->round++;
	s->flows = plan->flows;
	s->paths = plan->paths;
	s->unit = plan->unit;
	s->scale = change->unit / plan->unit;
	memset(s->had, 0, sizeof(s->had));
	for (i = 0; i < spec->nr_prior; i++) {
		const struct plan_piece *piece = &spec->prior[i];

		for (last = i; last + 1 < spec->nr_prior; last++)
			if (spec->prior[last + 1].flow != piece->flow)
				break;
		s->had[piece->flow][piece->path] = (piece->to - piece->from) *
			(change->unit / spec->prior[last].to);
	}
	for (n = 0; n < plan->flows; n++)
		left[n] = plan->unit;
	for (n = 0; n < plan->paths; n++)
		left[MAX_FLOWS + n] = plan->load[n];
	return search(s, left);
}

/* Properties of a plan */
static struct best rate(const struct search *s, const struct plan *plan)
{
	struct best best = { .pieces = plan->nr_pieces };
	size_t i;

	for (i = 0; i < plan->nr_pieces; i++) {
		const struct plan_piece *piece = &plan->pieces[i];
		__u32 share = piece->to - piece->from;
		__u32 had = s->had[piece->flow][piece->path];

		best.whole += share == plan->unit;
		share *= s->scale;
		best.kept += share < had ? share : had;
	}
	return best;
}

/* A prior: the plan for other flows and paths, or whole flows anywhere. */
static size_t make_prior(struct plan_piece *prior, __u32 flows, __u32 paths, const __u32 *weights)
{
	struct plan_spec spec = { .flows = 1 + random_below(MAX_FLOWS),
				  .paths = paths, .weights = weights };
	struct plan plan;
	size_t nr = 0, i;

	if (!random_below(4)) {
		for (; nr < flows; nr++)
			prior[nr] = (struct plan_piece) {
				.flow = nr, .path = random_below(paths), .to = 1,
			};
		return nr;
	}
	if (plan_make(&plan, &spec))
		return 0;
	for (i = 0; i < plan.nr_pieces; i++)
		if (plan.pieces[i].flow < flows)
			prior[nr++] = plan.pieces[i];
	plan_free(&plan);
	return nr;
}

static void random_weights(__u32 *weights, __u32 max)
{
	__u32 p;

	for (p = 0; p < MAX_PATHS; p++)
		weights[p] = random_below(4) ? 1 + random_below(max) : 0;
	weights[0] += !weights[0];
}

static void test(struct search *s, const char *name, __u32 max_weight, double enough)
{
	struct plan_piece prior[MAX_FLOWS * MAX_PATHS];
	__u32 before[MAX_PATHS], weights[MAX_PATHS], fewest = 0, least = 0, i;
	double most = 0;

	for (i = 0; i < ROUNDS; i++) {
		struct plan_spec spec = {
			.flows = 1 + random_below(MAX_FLOWS),
			.paths = 1 + random_below(MAX_PATHS),
			.weights = weights,
			.prior = prior,
		};
		struct plan_change change;
		struct best best, made;
		struct plan plan;

		random_weights(before, max_weight);
		random_weights(weights, max_weight);
		spec.nr_prior = make_prior(prior, spec.flows, spec.paths, before);
		if (plan_make(&plan, &spec) || plan_compare(&change, &plan, &spec))
			continue;
		best = search_best(s, &plan, &spec, &change);
		made = rate(s, &plan);
		if (made.pieces == best.pieces && made.whole == best.whole) {
			fewest++;
			least += made.kept == best.kept;
			if ((double)best.kept - made.kept > most * change.unit)
				most = ((double)best.kept - made.kept) /
				       change.unit;
		}
		plan_free(&plan);
	}
	ktap_result(max_weight > 1 ? fewest >= enough * ROUNDS :
				     fewest == ROUNDS,
		    "%s: a plan has the fewest pieces and the most whole flows", name);
	ktap_result(least >= enough * fewest && most <= 0.5, "%s: a plan moves the least", name);
	printf("# of %u: %u fewest, of these %u least, others %.2f flows more\n",
	       ROUNDS, fewest, least, most);
}

int main(void)
{
	struct search *s = calloc(1, sizeof(*s));

	ktap_begin();
	test(s, "alike", 1, 0.95);
	test(s, "weights", 3, 0.9);
	free(s);
	return ktap_end();
}
