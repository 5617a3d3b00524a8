// SPDX-License-Identifier: GPL-2.0
/* The links that flows have, by policy. */
#include <rocesteer/types.h>

#include "route.h"

/* The links of hosts, which each way has */
static void add_ends(const struct sim_route *route, const struct sim_flow *flow,
		     struct fluid *fluid)
{
	fluid_part(fluid, route->fabric->first[SIM_HOST_UP] + flow->from, 1);
	fluid_part(fluid, route->fabric->first[SIM_HOST_DOWN] + flow->to, 1);
}

static void add_path(const struct sim_route *route, const struct sim_flow *flow, __u32 path,
		     double part, struct fluid *fluid)
{
	__u32 link[4];
	unsigned int nr = sim_path_links(route->fabric, flow->from, flow->to, path, link), i;

	for (i = 0; i < nr; i++)
		fluid_part(fluid, link[i], part);
}

/* Live paths by an agg; the one with number @nth among them is put into @path. */
static __u32 live_by(const struct sim_route *route, const struct sim_flow *flow, __u32 agg,
		     __u32 nth, __u32 *path)
{
	const struct sim_shape *shape = &route->fabric->shape;
	__u32 all = sim_paths(shape, flow->from, flow->to), n = 0, p;

	for (p = agg; p < all; p += shape->aggs)
		if (sim_path_rate(route->fabric, flow->from, flow->to, p) > 0 && n++ == nth)
			*path = p;
	return n;
}

/* Likewise aggs with live paths */
static __u32 live_aggs(const struct sim_route *route, const struct sim_flow *flow, __u32 nth,
		       __u32 *agg)
{
	__u32 n = 0, unused, a;

	for (a = 0; a < route->fabric->shape.aggs; a++)
		if (live_by(route, flow, a, 0, &unused) && n++ == nth)
			*agg = a;
	return n;
}

static __u32 hashed(const struct sim_route *route, const struct sim_flow *flow, __u32 what,
		    __u32 n)
{
	return sim_random(route->seed, flow->from, flow->to, what, n);
}

/* The path that switches choose: the leaf an agg, and this agg a core. Each knows what is dead. */
static __u32 hashed_path(const struct sim_route *route, const struct sim_flow *flow, __u32 qp)
{
	const struct sim_shape *shape = &route->fabric->shape;
	__u32 paths = sim_paths(shape, flow->from, flow->to), agg = 0, path = 0, n;

	if (!route->fabric->broken)
		return hashed(route, flow, 2 * qp, shape->aggs) +
		       hashed(route, flow, 2 * qp + 1, paths / shape->aggs) * shape->aggs;
	n = live_aggs(route, flow, 0, &agg);
	live_aggs(route, flow, hashed(route, flow, 2 * qp, n), &agg);
	n = live_by(route, flow, agg, 0, &path);
	live_by(route, flow, agg, hashed(route, flow, 2 * qp + 1, n), &path);
	return path;
}

static void begin_whole(const struct sim_route *route, const struct sim_flow *flow, __u32 path,
			struct fluid *fluid, __u32 tag)
{
	fluid_begin(fluid, flow->bytes / route->policy.qps, tag);
	add_ends(route, flow, fluid);
	if (!sim_is_near(&route->fabric->shape, flow))
		add_path(route, flow, path, 1, fluid);
	fluid_done(fluid);
}

static void add_row(const struct sim_route *route, enum sim_class class, __u32 host,
		    struct fluid *fluid)
{
	fluid_part(fluid, sim_row_of(route->fabric, class, host), 1);
}

/* What takes all links of rows evenly takes the rows. */
static void add_rows(const struct sim_route *route, const struct sim_flow *flow, bool cores,
		     struct fluid *fluid)
{
	add_row(route, SIM_LEAF_UP, flow->from, fluid);
	add_row(route, SIM_LEAF_DOWN, flow->to, fluid);
	if (!cores)
		return;
	add_row(route, SIM_AGG_UP, flow->from, fluid);
	add_row(route, SIM_AGG_DOWN, flow->to, fluid);
}

static bool crosses_pods(const struct sim_route *route, const struct sim_flow *flow)
{
	const struct sim_shape *shape = &route->fabric->shape;

	return sim_pod(shape, flow->from) != sim_pod(shape, flow->to);
}

/* Each switch sends a part of the packets by each next hop. */
static void add_sprayed(const struct sim_route *route, const struct sim_flow *flow,
			struct fluid *fluid)
{
	__u32 aggs, agg = 0, path = 0, cores, i, j;

	if (!route->fabric->broken) {
		add_rows(route, flow, crosses_pods(route, flow), fluid);
		return;
	}
	aggs = live_aggs(route, flow, 0, &agg);
	for (i = 0; i < aggs; i++) {
		live_aggs(route, flow, i, &agg);
		cores = live_by(route, flow, agg, 0, &path);
		for (j = 0; j < cores; j++) {
			live_by(route, flow, agg, j, &path);
			add_path(route, flow, path, 1.0 / aggs / cores, fluid);
		}
	}
}

/* Do the paths of a flow have all links of a leaf, or all of a pod, evenly? */
static bool has_rows(const struct sim_route *route, const struct sim_flow *flow, bool cores)
{
	__u32 paths = sim_route_paths(route, flow->from, flow->to);
	const struct sim_shape *shape = &route->fabric->shape;

	if (route->fabric->broken)
		return false;
	return cores || !shape->cores ? paths == sim_paths(shape, flow->from, flow->to) :
					!(paths % shape->aggs);
}

/* Links between aggs and cores, of paths that have some of these */
static void add_cores(const struct sim_route *route, const struct sim_flow *flow,
		      struct fluid *fluid)
{
	__u32 nr = sim_route_paths(route, flow->from, flow->to), i, link[4];

	for (i = 0; i < nr; i++) {
		sim_path_links(route->fabric, flow->from, flow->to,
			       sim_route_path(route, flow->from, flow->to, i), link);
		fluid_part(fluid, link[1], 1.0 / nr);
		fluid_part(fluid, link[2], 1.0 / nr);
	}
}

/* Packets in a row on a path; 0: it is dead */
static __u32 run_on(const struct sim_route *route, const struct sim_flow *flow, __u32 i, __u32 most)
{
	__u32 weight = sim_route_weight(route, flow->from, flow->to, i);

	return weight ? rocesteer_run(weight, most) : 0;
}

/* Runs of packets on all paths in turn, by their weights: spread() of bpf/deal.bpf.c */
static void add_spread(const struct sim_route *route, const struct sim_flow *flow,
		       struct fluid *fluid)
{
	__u32 nr = sim_route_paths(route, flow->from, flow->to), most = 0, sum = 0, i;
	bool across = crosses_pods(route, flow);

	if (has_rows(route, flow, false)) {
		add_rows(route, flow, across && has_rows(route, flow, true), fluid);
		if (across && !has_rows(route, flow, true))
			add_cores(route, flow, fluid);
		return;
	}
	for (i = 0; i < nr; i++) {
		__u32 weight = sim_route_weight(route, flow->from, flow->to, i);

		most = weight > most ? weight : most;
	}
	for (i = 0; i < nr; i++)
		sum += run_on(route, flow, i, most);
	for (i = 0; i < nr; i++)
		if (run_on(route, flow, i, most))
			add_path(route, flow, sim_route_path(route, flow->from, flow->to, i),
				 (double)run_on(route, flow, i, most) / sum, fluid);
}

/*
 * A way for each path, as fast as its links let it be. All flows have as many ways, those with
 * fewer paths several on some, as flows that share the link of a host are as fast as each other.
 */
static void add_each(const struct sim_route *route, const struct sim_flow *flow,
		     struct fluid *fluid)
{
	__u32 nr = sim_route_paths(route, flow->from, flow->to), ways = sim_route_most(route);
	__u32 i = (flow->from + flow->to) % nr;
	bool near = sim_is_near(&route->fabric->shape, flow);

	for (; ways; i = (i + 1) % nr) {
		if (!near && !sim_route_weight(route, flow->from, flow->to, i))
			continue;
		if (!near)
			add_path(route, flow, sim_route_path(route, flow->from, flow->to, i), 1,
				 fluid);
		if (!--ways)
			break;
		fluid_way(fluid);
		add_ends(route, flow, fluid);
	}
}

static void add_ways(const struct sim_route *route, const struct sim_flow *flow,
		     const struct sim_way *way, size_t nr, struct fluid *fluid)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		sum += way[i].bytes;
	for (i = 0; i < nr; i++)
		add_path(route, flow, way[i].path, way[i].bytes / sum, fluid);
}

/* A flow that has all of its paths in fixed parts, or each as fast as it can be */
static void begin_split(const struct sim_route *route, size_t number, struct fluid *fluid,
			__u32 tag)
{
	const struct sim_flow *flow = &route->traffic->flow[number];
	/* Without a broken link sprayed flows are as fast, and have fewer parts. */
	bool each = route->policy.kind == SIM_REPS && route->fabric->broken;

	fluid_begin(fluid, flow->bytes, tag);
	add_ends(route, flow, fluid);
	if (sim_is_near(&route->fabric->shape, flow) && !each)
		goto done;
	switch (route->policy.kind) {
	case SIM_ALL:
		add_spread(route, flow, fluid);
		break;
	case SIM_FEWEST:
		add_ways(route, flow, route->way + route->dealt[number].first,
			 route->dealt[number].nr, fluid);
		break;
	case SIM_SLICE:
	case SIM_RECORDED:
		add_ways(route, flow, route->traffic->way + flow->first_way, flow->nr_ways, fluid);
		break;
	default:
		if (each)
			add_each(route, flow, fluid);
		else
			add_sprayed(route, flow, fluid);
	}
done:
	fluid_done(fluid);
}

/* The path of a queue pair; 0 below one leaf, where there is none */
static __u32 path_of(const struct sim_route *route, size_t number, __u32 qp)
{
	const struct sim_flow *flow = &route->traffic->flow[number];

	if (sim_is_near(&route->fabric->shape, flow))
		return 0;
	return route->dealt ? route->way[route->dealt[number].first + qp].path :
			      hashed_path(route, flow, flow->qp * route->policy.qps + qp);
}

__u32 sim_route_begin(const struct sim_route *route, size_t number, struct fluid *fluid, __u32 tag)
{
	const struct sim_flow *flow = &route->traffic->flow[number];
	__u32 qps = route->policy.qps, q;

	if (!(route->policy.kind == SIM_ECMP || route->policy.kind == SIM_PLACE ||
	      route->policy.kind == SIM_LABEL)) {
		begin_split(route, number, fluid, tag);
		return 1;
	}
	for (q = 0; q < qps; q++)
		begin_whole(route, flow, path_of(route, number, q), fluid, tag);
	return qps;
}

/* The group of all hosts: leaves add up what their hosts send, spines what leaves send. */
void sim_route_sum(const struct sim_route *route, struct fluid *fluid, __u32 tag)
{
	const struct sim_shape *shape = &route->fabric->shape;
	__u32 hosts = sim_hosts(shape), i;

	fluid_begin(fluid, route->traffic->sum, tag);
	for (i = 0; i < hosts; i++) {
		fluid_part(fluid, route->fabric->first[SIM_HOST_UP] + i, 1);
		fluid_part(fluid, route->fabric->first[SIM_HOST_DOWN] + i, 1);
	}
	for (i = 0; shape->leaves > 1 && i < hosts; i += shape->hosts) {
		add_row(route, SIM_LEAF_UP, i, fluid);
		add_row(route, SIM_LEAF_DOWN, i, fluid);
	}
	fluid_done(fluid);
}
