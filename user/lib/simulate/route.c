// SPDX-License-Identifier: GPL-2.0
#include "route.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocesteer/types.h>

#include "base/base.h"
#include "chunk/chunk.h"
#include "portmap/portmap.h"

__u32 sim_random(__u64 seed, __u32 a, __u32 b, __u32 c, __u32 n)
{
	const __u32 add[] = { a, b, c };
	__u64 x = seed;

	/* splitmix64 (Steele, Lea, Flood, 2014) */
	for (size_t i = 0; i < ARRAY_SIZE(add); i++) {
		x += 0x9e3779b97f4a7c15ull + add[i];
		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
		x = (x ^ x >> 27) * 0x94d049bb133111ebull;
		x ^= x >> 31;
	}
	return (x >> 32) * n >> 32;
}

__u32 sim_place(const struct sim_shape *shape, __u32 host)
{
	return host % (shape->cores ? shape->leaves * shape->hosts : shape->hosts);
}

static void name_path(struct portmap_path *path, const struct sim_shape *shape, __u32 number)
{
	__u32 agg = htobe32(number % shape->aggs), core = htobe32(number / shape->aggs);

	*path = (struct portmap_path) {};
	memcpy(path->router, &agg, sizeof(agg));
	memcpy(path->router + sizeof(agg), &core, sizeof(core));
	if (shape->cores) {
		memcpy(path->via, &agg, sizeof(agg));
		path->via[sizeof(agg)] = 1;
	}
}

static __u32 path_number(const struct portmap_path *path, const struct sim_shape *shape)
{
	__u32 agg, core;

	memcpy(&agg, path->router, sizeof(agg));
	memcpy(&core, path->router + sizeof(agg), sizeof(core));
	return be32toh(agg) + be32toh(core) * shape->aggs;
}

/* Where there are more paths than a port map has, hosts choose, each by its place. */
static int choose_paths(struct sim_route *route)
{
	const struct sim_shape *shape = &route->fabric->shape;
	__u32 all = shape->aggs * (shape->cores ?: 1), places, place, p, n = 0;
	struct portmap_path *paths;

	if (all <= ROCESTEER_MAX_PATHS)
		return 0;
	places = shape->hosts * (shape->cores ? shape->leaves : 1);
	paths = calloc(all, sizeof(*paths));
	route->chosen = calloc((size_t)places * ROCESTEER_MAX_PATHS, sizeof(*route->chosen));
	for (place = 0; paths && route->chosen && place < places; place++) {
		for (p = 0; p < all; p++)
			name_path(&paths[p], shape, p);
		route->nr_chosen = portmap_choose(paths, all, ROCESTEER_MAX_PATHS, place);
		for (p = 0; p < route->nr_chosen; p++)
			route->chosen[n++] = path_number(&paths[p], shape);
	}
	free(paths);
	return paths && route->chosen ? 0 : -ENOMEM;
}

/* Do hosts choose among these paths? A pod has no more aggs than a port map has paths. */
static bool is_chosen(const struct sim_route *route, __u32 from, __u32 to)
{
	const struct sim_shape *shape = &route->fabric->shape;

	return route->chosen && (!shape->cores || sim_pod(shape, from) != sim_pod(shape, to));
}

__u32 sim_route_paths(const struct sim_route *route, __u32 from, __u32 to)
{
	return is_chosen(route, from, to) ? route->nr_chosen :
					    sim_paths(&route->fabric->shape, from, to);
}

__u32 sim_route_most(const struct sim_route *route)
{
	const struct sim_shape *shape = &route->fabric->shape;
	__u32 paths = shape->aggs * (shape->cores ?: 1);

	return paths < ROCESTEER_MAX_PATHS ? paths : ROCESTEER_MAX_PATHS;
}

__u32 sim_route_path(const struct sim_route *route, __u32 from, __u32 to, __u32 i)
{
	__u32 place = sim_place(&route->fabric->shape, from);

	return is_chosen(route, from, to) ? route->chosen[place * route->nr_chosen + i] : i;
}

__u32 sim_route_weight(const struct sim_route *route, __u32 from, __u32 to, __u32 i)
{
	const struct sim_fabric *fabric = route->fabric;

	if (!fabric->broken)
		return 2;
	return 2 * sim_path_rate(fabric, from, to, sim_route_path(route, from, to, i)) /
	       fabric->shape.rate + 0.5;
}

static int check_sum(const struct sim_route *route, struct err *err)
{
	const struct sim_shape *shape = &route->fabric->shape;

	if (!route->traffic->sum)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--policy netreduce: the traffic is no All-Reduce of all hosts");
	if (shape->cores || sim_hosts(shape) > CHUNK_MAX_SUMMED || route->fabric->broken)
		return err_set(err, EXIT_BAD_INPUT, "usage",
			       "--policy netreduce: switches sum for up to %u hosts, in two tiers without a broken link",
			       CHUNK_MAX_SUMMED);
	return 0;
}

/* Is there a path for each flow? */
static int check_paths(const struct sim_route *route, struct err *err)
{
	size_t i;

	for (i = 0; route->fabric->broken && i < route->traffic->nr; i++) {
		const struct sim_flow *flow = &route->traffic->flow[i];
		__u32 nr = sim_route_paths(route, flow->from, flow->to), p;

		for (p = 0; !sim_is_near(&route->fabric->shape, flow) && p < nr; p++)
			if (sim_route_weight(route, flow->from, flow->to, p))
				break;
		if (p == nr)
			return err_set(err, EXIT_BAD_INPUT, "usage",
				       "--dead: no path is left between leaves %u and %u",
				       sim_leaf(&route->fabric->shape, flow->from),
				       sim_leaf(&route->fabric->shape, flow->to));
	}
	return 0;
}

static int check_known(const struct sim_route *route, struct err *err)
{
	char name[SIM_POLICY_NAME];
	size_t i;

	for (i = 0; i < route->traffic->nr; i++)
		if (!sim_is_near(&route->fabric->shape, &route->traffic->flow[i]) &&
		    !route->traffic->flow[i].nr_ways)
			return err_set(err, EXIT_BAD_INPUT, "usage",
				       "--policy %s: the flow from %u to %u has no paths",
				       sim_policy_name(&route->policy, name),
				       route->traffic->flow[i].from, route->traffic->flow[i].to);
	return 0;
}

/* Parts that a flow has, at most */
static __u64 parts_of(const struct sim_route *route)
{
	const struct sim_shape *shape = &route->fabric->shape;
	__u64 paths = (__u64)shape->aggs * (shape->cores ?: 1);

	switch (route->policy.kind) {
	case SIM_SPRAY:
		return route->fabric->broken ? 4 * paths + 2 : 6;
	case SIM_REPS:
		return route->fabric->broken ? 6 * sim_route_most(route) : 6;
	case SIM_ALL:
		if (paths > ROCESTEER_MAX_PATHS)
			return 2 * ROCESTEER_MAX_PATHS + 4;
		return route->fabric->broken ? 4 * paths + 2 : 6;
	default:
		return 6 * route->policy.qps;
	}
}

static int check_size(const struct sim_route *route, struct err *err)
{
	const struct sim_traffic *traffic = route->traffic;
	char name[SIM_POLICY_NAME];
	size_t most = 0, nr = 0, i;

	for (i = 0; i < traffic->nr; i++) {
		nr = i && traffic->flow[i].step == traffic->flow[i - 1].step ? nr + 1 : 1;
		most = nr > most ? nr : most;
	}
	if (most * parts_of(route) <= SIM_MAX_PARTS)
		return 0;
	return err_set(err, EXIT_BAD_INPUT, "usage",
		       "%zu flows at one time are too many for policy %s on this fabric", most,
		       sim_policy_name(&route->policy, name));
}

static bool is_dealt(const struct sim_policy *policy)
{
	return policy->kind == SIM_PLACE || policy->kind == SIM_LABEL ||
	       policy->kind == SIM_FEWEST;
}

int sim_route_init(struct sim_route *route, const struct sim_fabric *fabric,
		   const struct sim_traffic *traffic, const struct sim_policy *policy, __u64 seed,
		   struct err *err)
{
	int ret;

	*route = (struct sim_route) {
		.fabric = fabric, .traffic = traffic, .policy = *policy, .seed = seed,
	};
	if (policy->kind == SIM_NETREDUCE)
		return check_sum(route, err);
	ret = choose_paths(route) ?: check_size(route, err) ?: check_paths(route, err);
	if (!ret && (policy->kind == SIM_RECORDED || policy->kind == SIM_SLICE))
		ret = check_known(route, err);
	if (!ret && is_dealt(policy))
		ret = sim_deal(route);
	return ret;
}

void sim_route_free(struct sim_route *route)
{
	free(route->chosen);
	free(route->dealt);
	free(route->way);
}
