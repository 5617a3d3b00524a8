/* SPDX-License-Identifier: GPL-2.0 */
/* Which paths the flows of a traffic take: by hash, or as rocesteer plans and deals them. */
#ifndef ROCESTEER_LIB_SIMULATE_ROUTE_H
#define ROCESTEER_LIB_SIMULATE_ROUTE_H

#include <rocesteer/types.h>

#include "fabric.h"
#include "fluid.h"
#include "policy.h"
#include "traffic.h"

struct err;

/* Parts of ways that one step may have: some gigabytes */
#define SIM_MAX_PARTS	100000000u

/* Ways of a flow that is dealt, in @way of the route; of a whole flow one for each queue pair */
struct sim_dealt {
	size_t first;
	size_t nr;
};

/**
 * struct sim_route - paths of the flows of a traffic
 * @fabric: fabric
 * @traffic: traffic
 * @policy: policy
 * @seed: of hashes, and of what hosts choose at random
 * @nr_chosen: paths that a host has to another pod
 * @chosen: these, by place
 * @dealt: by flow; NULL where nothing is dealt
 * @way: ways of the flows that are dealt
 */
struct sim_route {
	const struct sim_fabric *fabric;
	const struct sim_traffic *traffic;
	struct sim_policy policy;
	__u64 seed;
	__u32 nr_chosen;
	__u32 *chosen;
	struct sim_dealt *dealt;
	struct sim_way *way;
};

/**
 * sim_route_init() - deal the flows of a traffic
 * @route: filled; to be freed by sim_route_free() in any case
 * @fabric: fabric
 * @traffic: traffic
 * @policy: policy
 * @seed: seed
 * @err: says why the policy does not take this fabric or traffic
 *
 * Return: 0 or a negative errno.
 */
int sim_route_init(struct sim_route *route, const struct sim_fabric *fabric,
		   const struct sim_traffic *traffic, const struct sim_policy *policy, __u64 seed,
		   struct err *err);
void sim_route_free(struct sim_route *route);

/**
 * sim_route_begin() - a flow of the traffic begins
 * @route: route
 * @flow: number of the flow
 * @fluid: links of the fabric and behind them its rows
 * @tag: of the flows there
 *
 * Return: how many flows begin there.
 */
__u32 sim_route_begin(const struct sim_route *route, size_t flow, struct fluid *fluid, __u32 tag);

/* Are both hosts of a flow below one leaf? */
static inline bool sim_is_near(const struct sim_shape *shape, const struct sim_flow *flow)
{
	return sim_leaf(shape, flow->from) == sim_leaf(shape, flow->to);
}

/* Instead of the flows, for SIM_NETREDUCE: begin one flow, the sum */
void sim_route_sum(const struct sim_route *route, struct fluid *fluid, __u32 tag);

/* Paths that a host deals flows to: those of sim_paths(), or at most ROCESTEER_MAX_PATHS of them */
__u32 sim_route_paths(const struct sim_route *route, __u32 from, __u32 to);

/* The largest number of these */
__u32 sim_route_most(const struct sim_route *route);

/* The number of one of these in the fabric */
__u32 sim_route_path(const struct sim_route *route, __u32 from, __u32 to, __u32 i);

/* The weight of one of these, as a port map has it: 0, 1 or 2 */
__u32 sim_route_weight(const struct sim_route *route, __u32 from, __u32 to, __u32 i);

/* A number below @n, evenly, that depends on the others alone */
__u32 sim_random(__u64 seed, __u32 a, __u32 b, __u32 c, __u32 n);

/* The place of a host, as portmap_place() finds it where all hosts are of one job */
__u32 sim_place(const struct sim_shape *shape, __u32 host);

/* Deal the flows, group by group: deal.c. Return: 0 or -ENOMEM. */
int sim_deal(struct sim_route *route);

#endif /* ROCESTEER_LIB_SIMULATE_ROUTE_H */
