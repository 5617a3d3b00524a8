// SPDX-License-Identifier: GPL-2.0
/*
 * Properties of plans with a prior that plan.h guarantees, while flows come and go, and paths
 * die and come back.
 */
#include <stdlib.h>
#include <string.h>

#include "../../ktap.h"
#include "plan_check.h"

#define MAX_FLOWS	512
#define MAX_PATHS	64
#define STEPS		20

enum event {
	NOTHING,
	FLOW_COMES,
	FLOW_GOES,
	FLOW_SWAPPED,	/* one goes, another comes */
	PATH_DIES,
	PATH_IS_BACK,
	UNPLANNED,	/* all flows are whole, anywhere */
	NR_EVENTS
};

/* Some flows on some paths, and how they are planned now. */
struct world {
	__u32 flows;
	__u32 paths;
	__u32 max_weight;
	__u32 weights[MAX_PATHS];
	struct plan_piece prior[MAX_FLOWS * MAX_PATHS];
	size_t nr_prior;
	struct plan plan;
	struct plan_change change;
};

/* Violations over all instances */
struct verdict {
	bool made;
	bool covers;
	bool exact;
	bool unit;
	bool pieces;
	bool whole;
	bool base;
	bool steady;
	bool bound;
	bool limit;
};

/**
 * struct stats - of one event
 * @nr: how often
 * @at_bound: how often no more was moved than has to be
 * @moved: flows moved, in all
 * @must: the bound, in all
 * @beyond: most that was moved beyond the bound
 */
struct stats {
	__u32 nr;
	__u32 at_bound;
	double moved;
	double must;
	double beyond;
};

static struct plan_spec spec_of(const struct world *w)
{
	return (struct plan_spec) {
		.flows = w->flows,
		.paths = w->paths,
		.weights = w->weights,
		.prior = w->prior,
		.nr_prior = w->nr_prior,
	};
}

static __u32 paths_used(const struct world *w)
{
	__u32 used = 0, p;

	for (p = 0; p < w->paths; p++)
		used += !!w->weights[p];
	return used;
}

/* A path that is used, or one that is not. */
static __u32 random_path(const struct world *w, bool used)
{
	__u32 p;

	do
		p = random_below(w->paths);
	while (!w->weights[p] == used);
	return p;
}

static void remove_flow(struct world *w, __u32 flow)
{
	size_t i, nr = 0;

	for (i = 0; i < w->nr_prior; i++) {
		if (w->prior[i].flow == flow)
			continue;
		w->prior[nr] = w->prior[i];
		w->prior[nr++].flow -= w->prior[i].flow > flow;
	}
	w->nr_prior = nr;
	w->flows--;
}

static void unplan(struct world *w)
{
	__u32 flow;

	for (flow = 0; flow < w->flows; flow++)
		w->prior[flow] = (struct plan_piece) {
			.flow = flow,
			.path = random_below(w->paths),
			.to = 1,
		};
	w->nr_prior = w->flows;
}

/* Return: whether it can happen. */
static bool happen(struct world *w, enum event event)
{
	__u32 used = paths_used(w);
	size_t i;

	for (i = 0; i < w->plan.nr_pieces; i++)
		w->prior[i] = w->plan.pieces[i];
	w->nr_prior = i;
	switch (event) {
	case FLOW_COMES:
		if (w->flows == MAX_FLOWS)
			return false;
		w->flows++;
		break;
	case FLOW_GOES:
		if (w->flows == 1)
			return false;
		remove_flow(w, random_below(w->flows));
		break;
	case FLOW_SWAPPED:
		remove_flow(w, random_below(w->flows));
		w->flows++;
		break;
	case PATH_DIES:
		if (used == 1)
			return false;
		w->weights[random_path(w, true)] = 0;
		break;
	case PATH_IS_BACK:
		if (used == w->paths)
			return false;
		w->weights[random_path(w, false)] = 1 +
			random_below(w->max_weight);
		break;
	case UNPLANNED:
		unplan(w);
		break;
	default:
		break;
	}
	return true;
}

static bool pieces_right(const struct world *w)
{
	__u32 used = paths_used(w);

	if (w->max_weight == 1)
		return extra(&w->plan) == used - gcd(w->flows, used);
	return extra(&w->plan) <= used - 1;
}

/* Whole flows left a path only as far as it had more than fit. */
static bool base_stays(const struct world *w)
{
	__u32 were[MAX_PATHS] = {}, stayed[MAX_PATHS] = {}, p;
	const struct plan *plan = &w->plan;
	size_t i, now = 0;

	for (i = 0; i < w->nr_prior; i++) {
		const struct plan_piece *piece = &w->prior[i];

		if (piece->from || (i + 1 < w->nr_prior && piece[1].flow == piece->flow))
			continue;
		were[piece->path]++;
		while (plan->pieces[now].flow != piece->flow)
			now++;
		stayed[piece->path] += plan->pieces[now].path == piece->path &&
				       plan->pieces[now].to == plan->unit;
	}
	for (p = 0; p < w->paths; p++) {
		__u32 fit = plan->load[p] / plan->unit;

		if (stayed[p] != (were[p] < fit ? were[p] : fit))
			return false;
	}
	return true;
}

/* A second plan is the same. */
static bool is_steady(const struct world *w)
{
	struct plan_spec spec = spec_of(w);
	struct plan again;
	bool same;

	spec.prior = w->plan.pieces;
	spec.nr_prior = w->plan.nr_pieces;
	if (plan_make(&again, &spec))
		return false;
	same = again.nr_pieces == w->plan.nr_pieces &&
	       !memcmp(again.pieces, w->plan.pieces, again.nr_pieces * sizeof(*again.pieces));
	plan_free(&again);
	return same;
}

/* The bound on what has to move, by the definition and without plan_compare(). */
static bool bound_right(const struct world *w)
{
	double had[MAX_PATHS] = {}, must = 0;
	size_t i, last;
	__u32 p;

	for (i = 0, last = 0; i < w->nr_prior; i++) {
		const struct plan_piece *piece = &w->prior[i];

		for (; last < i || (last + 1 < w->nr_prior &&
				    w->prior[last + 1].flow == piece->flow);)
			last++;
		had[piece->path] += (double)(piece->to - piece->from) /
				    w->prior[last].to;
	}
	for (p = 0; p < w->paths; p++) {
		double share = (double)w->plan.load[p] / w->plan.unit;

		must += had[p] > share ? had[p] - share : 0;
	}
	return is_near(must, (double)w->change.must / w->change.unit) &&
	       w->change.moved >= w->change.must;
}

/* No path has more whole flows than one above those that fit. */
static bool is_level(const struct world *w)
{
	__u32 flows[MAX_PATHS] = {}, homeless = w->flows - w->nr_prior, p;
	size_t i;

	for (i = 0; i < w->nr_prior; i++) {
		if (w->prior[i].to != w->prior[0].to || w->prior[i].from ||
		    (i && w->prior[i].flow == w->prior[i - 1].flow))
			return false;
		flows[w->prior[i].path]++;
		homeless += !w->weights[w->prior[i].path];
	}
	for (p = 0; p < w->paths; p++) {
		__u32 fit = w->plan.load[p] / w->plan.unit;

		if (!w->weights[p])
			continue;
		if (flows[p] > fit + 1)
			return false;
		if (flows[p] < fit && fit - flows[p] > homeless)
			return false;
		if (flows[p] < fit)
			homeless -= fit - flows[p];
	}
	return true;
}

/* The limit of plan.h beyond the bound, in flows */
static bool within_limit(const struct world *w, enum event event)
{
	double unit = w->change.unit, moved = w->change.moved / unit;
	double must = w->change.must / unit;

	if (w->max_weight > 1 && !is_level(w))
		return moved <= 2 * must + 2 + paths_used(w) / 4.0;
	if (event == NOTHING || event == FLOW_SWAPPED)
		return !w->change.moved;
	if (is_level(w))
		return w->change.moved == w->change.must;
	switch (event) {
	case FLOW_COMES:
	case FLOW_GOES:
		return moved <= must + 2.25;
	default:
		return moved <= 2 * must + 2;
	}
}

static void judge(const struct world *w, enum event event, struct verdict *v)
{
	v->covers &= covers(&w->plan);
	v->exact &= loads_exact(&w->plan, w->weights);
	v->unit &= unit_is_smallest(&w->plan);
	v->pieces &= pieces_right(w);
	v->whole &= whole_is_most(&w->plan);
	v->base &= base_stays(w);
	v->steady &= is_steady(w);
	v->bound &= bound_right(w);
	v->limit &= within_limit(w, event);
}

static void count(const struct world *w, struct stats *stats)
{
	double moved = (double)w->change.moved / w->change.unit;
	double must = (double)w->change.must / w->change.unit;

	stats->nr++;
	stats->at_bound += w->change.moved == w->change.must;
	stats->moved += moved;
	stats->must += must;
	if (moved - must > stats->beyond)
		stats->beyond = moved - must;
}

static void run(struct world *w, __u32 flows, __u32 paths, struct verdict *v, struct stats *stats)
{
	enum event event;
	__u32 p;
	int i;

	w->flows = 1 + random_below(flows);
	w->paths = 1 + random_below(paths);
	for (p = 0; p < w->paths; p++)
		w->weights[p] = 1 + random_below(w->max_weight);
	memset(&w->plan, 0, sizeof(w->plan));
	for (i = 0; i < STEPS; i++) {
		struct plan_spec spec;

		event = i ? random_below(NR_EVENTS) : UNPLANNED;
		if (!happen(w, event))
			continue;
		plan_free(&w->plan);
		spec = spec_of(w);
		if (plan_make(&w->plan, &spec) || plan_compare(&w->change, &w->plan, &spec)) {
			v->made = false;
			return;
		}
		judge(w, event, v);
		count(w, &stats[event]);
	}
	plan_free(&w->plan);
}

static void print_stats(const struct stats *stats)
{
	static const char * const names[] = {
		"nothing", "flow comes", "flow goes", "flow swapped",
		"path dies", "path is back", "unplanned",
	};
	int i;

	puts("# in flows     INSTANCES   MOVED   MUST  NO MORE  AT MOST MORE");
	for (i = 0; i < NR_EVENTS; i++)
		printf("# %-12s %9u %7.3f %6.3f %7.0f %% %12.3f\n",
		       names[i], stats[i].nr, stats[i].moved / stats[i].nr,
		       stats[i].must / stats[i].nr,
		       100.0 * stats[i].at_bound / stats[i].nr,
		       stats[i].beyond);
}

static void test(const char *name, __u32 max_weight)
{
	struct verdict v = { true, true, true, true, true, true, true, true,
			     true, true };
	struct world *w = calloc(1, sizeof(*w));
	struct stats stats[NR_EVENTS] = {};
	int i;

	w->max_weight = max_weight;
	for (i = 0; i < 1000; i++) {
		run(w, 12, 6, &v, stats);
		run(w, 80, 24, &v, stats);
		run(w, 500, MAX_PATHS, &v, stats);
	}
	free(w);
	ktap_result(v.made && v.covers, "%s: pieces cover each flow", name);
	ktap_result(v.exact, "%s: loads are exact", name);
	ktap_result(v.unit, "%s: the unit is the smallest", name);
	ktap_result(v.pieces, "%s: the fewest pieces", name);
	ktap_result(v.whole, "%s: as many flows are whole as fit", name);
	ktap_result(v.base, "%s: whole flows stay where they fit", name);
	ktap_result(v.steady, "%s: a plan that is right is kept", name);
	ktap_result(v.bound, "%s: the bound is the load above the shares", name);
	ktap_result(v.limit, "%s: no more is moved than plan.h says", name);
	print_stats(stats);
}

int main(void)
{
	ktap_begin();
	test("alike", 1);
	test("weights", 5);
	return ktap_end();
}
