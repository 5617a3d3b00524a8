// SPDX-License-Identifier: GPL-2.0
/*
 * Deal flows to paths as rocesteer does, by its own planner and rules: the flows of a host to the
 * hosts of one leaf are a group. All queue pairs are there before the first flow begins.
 */
#include <errno.h>
#include <stdlib.h>

#include <rocesteer/flow.h>

#include "base/base.h"
#include "plan/plan.h"
#include "route.h"

/**
 * struct dealing - a group that is dealt
 * @route: route
 * @order: numbers of the flows between leaves, group by group, and by queue pair
 * @group: of the tables, with the flows of each path
 * @peer: of its queue pairs those to one peer
 * @weight: of each path
 * @paths: number of paths
 * @room: of @route->way
 * @nr: number of @route->way
 */
struct dealing {
	struct sim_route *route;
	size_t *order;
	struct rocesteer_group group;
	struct rocesteer_peer peer;
	__u32 weight[ROCESTEER_MAX_PATHS];
	__u32 paths;
	size_t room;
	size_t nr;
};

static int compare_flows(const void *a, const void *b, void *arg)
{
	const struct sim_flow *flow = arg;
	const struct sim_flow *left = &flow[*(const size_t *)a], *right = &flow[*(const size_t *)b];

	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	if (left->to != right->to)
		return left->to < right->to ? -1 : 1;
	return left->qp < right->qp ? -1 : left->qp > right->qp;
}

static int add(struct dealing *d, __u32 path, double bytes)
{
	struct sim_way *more;

	if (d->nr == d->room) {
		d->room = d->room ? 2 * d->room : 1024;
		more = reallocarray(d->route->way, d->room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		d->route->way = more;
	}
	d->route->way[d->nr++] = (struct sim_way) { path, bytes };
	return 0;
}

/* The path of one more queue pair to the peer */
static int choose(const struct dealing *d)
{
	bool label = d->route->policy.kind == SIM_LABEL;
	__u32 by = rocesteer_deal_by(label ? ROCESTEER_DEAL_LEAST : ROCESTEER_DEAL_PLACE, label);
	__u64 load[ROCESTEER_MAX_PATHS];
	__u32 p;

	for (p = 0; p < d->paths; p++)
		load[p] = rocesteer_path_load(&d->group, &d->peer, p, by);
	return plan_least_loaded(load, d->weight, d->paths, d->group.first);
}

/* Whole queue pairs of one connection; each flow of a pair in a step has as many. */
static int deal_whole(struct dealing *d, const struct sim_flow *flow)
{
	__u32 q;
	int ret = 0;

	if (!flow->qp)
		d->peer = (struct rocesteer_peer) {};
	for (q = 0; !ret && q < d->route->policy.qps; q++) {
		int p = choose(d);

		d->peer.flows[p]++;
		d->group.flows[p]++;
		ret = add(d, sim_route_path(d->route, flow->from, flow->to, p), 1);
	}
	return ret;
}

static bool is_same(const struct dealing *d, size_t i, size_t other)
{
	const struct sim_flow *flow = d->route->traffic->flow;
	const struct sim_flow *a = &flow[d->order[i]], *b = &flow[d->order[other]];

	return a->to == b->to && a->qp == b->qp;
}

/* Give a flow, and those of the same queue pairs behind it, the ways from @first on. */
static size_t give(struct dealing *d, size_t i, size_t n, size_t first, size_t nr)
{
	size_t begin = i;

	for (; i < n && is_same(d, i, begin); i++)
		d->route->dealt[d->order[i]] = (struct sim_dealt) { first, nr };
	return i;
}

/* Flows from @order[@begin] on, before @order[@end], in the fewest pieces */
static int deal_fewest(struct dealing *d, size_t begin, size_t end)
{
	const struct sim_flow *flow = d->route->traffic->flow;
	struct plan_spec spec = {
		.paths = d->paths, .weights = d->weight, .seed = d->group.first + 1,
	};
	struct plan plan;
	size_t i, p = 0;
	int ret;

	for (i = begin; i < end; i++)
		spec.flows += i == begin || !is_same(d, i, i - 1);
	ret = plan_make(&plan, &spec);
	for (i = begin; !ret && i < end;) {
		const struct sim_flow *at = &flow[d->order[i]];
		const struct plan_piece *piece = &plan.pieces[p];
		__u32 number = piece->flow;
		size_t first = d->nr;

		for (; !ret && p < plan.nr_pieces && piece->flow == number; p++, piece++)
			ret = add(d, sim_route_path(d->route, at->from, at->to, piece->path),
				  piece->to - piece->from);
		i = give(d, i, end, first, d->nr - first);
	}
	plan_free(&plan);
	return ret;
}

static int deal_group(struct dealing *d, size_t begin, size_t end)
{
	const struct sim_flow *flow = d->route->traffic->flow, *at = &flow[d->order[begin]];
	const struct sim_shape *shape = &d->route->fabric->shape;
	size_t i = begin, first;
	int ret = 0;
	__u32 p;

	d->paths = sim_route_paths(d->route, at->from, at->to);
	d->group = (struct rocesteer_group) {
		.first = d->route->policy.kind == SIM_PLACE ?
			 sim_place(shape, at->from) % d->paths :
			 sim_random(d->route->seed, at->from, sim_leaf(shape, at->to), 0, d->paths),
	};
	for (p = 0; p < d->paths; p++)
		d->weight[p] = sim_route_weight(d->route, at->from, at->to, p);
	if (d->route->policy.kind == SIM_FEWEST)
		return deal_fewest(d, begin, end);
	while (!ret && i < end) {
		first = d->nr;
		ret = deal_whole(d, &flow[d->order[i]]);
		i = give(d, i, end, first, d->nr - first);
	}
	return ret;
}

/* Is a flow the first one of its group? */
static bool begins_group(const struct dealing *d, size_t i)
{
	const struct sim_shape *shape = &d->route->fabric->shape;
	const struct sim_flow *flow = d->route->traffic->flow;
	const struct sim_flow *now = &flow[d->order[i]], *before = &flow[d->order[i - 1]];

	return now->from != before->from || sim_leaf(shape, now->to) != sim_leaf(shape, before->to);
}

int sim_deal(struct sim_route *route)
{
	const struct sim_traffic *traffic = route->traffic;
	const struct sim_shape *shape = &route->fabric->shape;
	struct dealing d = { .route = route };
	size_t n = 0, i, begin = 0;
	int ret = 0;

	d.order = calloc(traffic->nr + 1, sizeof(*d.order));
	route->dealt = calloc(traffic->nr + 1, sizeof(*route->dealt));
	if (!d.order || !route->dealt) {
		free(d.order);
		return -ENOMEM;
	}
	for (i = 0; i < traffic->nr; i++)
		if (!sim_is_near(shape, &traffic->flow[i]))
			d.order[n++] = i;
	qsort_r(d.order, n, sizeof(*d.order), compare_flows, traffic->flow);
	for (i = 1; !ret && i <= n; i++) {
		if (i < n && !begins_group(&d, i))
			continue;
		ret = deal_group(&d, begin, i);
		begin = i;
	}
	free(d.order);
	return ret;
}
