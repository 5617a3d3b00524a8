// SPDX-License-Identifier: GPL-2.0
/*
 * Whatever the policy, the links of each host, leaf and pod together carry the bytes of the flows
 * that pass, a dead link carries none, and paths lead from switch to switch.
 */
#include <math.h>
#include <stdlib.h>

#include "../../ktap.h"
#include "../../random.h"
#include "base/base.h"
#include "near.h"
#include "simulate/simulate.h"

static const struct sim_shape shapes[] = {
	{ .pods = 1, .leaves = 4, .hosts = 3, .aggs = 5, .rate = 50, .host_rate = 25 },
	{ .pods = 1, .leaves = 3, .hosts = 3, .aggs = 70, .rate = 50, .host_rate = 50 },
	{ .pods = 3, .leaves = 2, .hosts = 2, .aggs = 4, .cores = 2, .rate = 50, .host_rate = 50 },
	{ .pods = 2, .leaves = 2, .hosts = 3, .aggs = 12, .cores = 8, .rate = 50, .host_rate = 50 },
};

static const char * const policies[] = {
	"ecmp", "ecmp-4qp", "spray", "reps", "place", "place-3qp", "fewest", "all", "label-8qp",
};

/**
 * struct passed - what flows have put on rows
 * @fabric: fabric
 * @bytes: by row, from the first one on
 */
struct passed {
	const struct sim_fabric *fabric;
	double *bytes;
};

static void count_pass(struct passed *passed, enum sim_class class, __u32 host, double bytes)
{
	passed->bytes[sim_row_of(passed->fabric, class, host) - passed->fabric->first_row[0]] +=
		bytes;
}

static void count_passes(struct passed *passed, const struct sim_flow *flow)
{
	const struct sim_shape *shape = &passed->fabric->shape;

	count_pass(passed, SIM_HOST_UP, flow->from, flow->bytes);
	count_pass(passed, SIM_HOST_DOWN, flow->to, flow->bytes);
	if (flow->from / shape->hosts == flow->to / shape->hosts)
		return;
	count_pass(passed, SIM_LEAF_UP, flow->from, flow->bytes);
	count_pass(passed, SIM_LEAF_DOWN, flow->to, flow->bytes);
	if (flow->from / shape->hosts / shape->leaves == flow->to / shape->hosts / shape->leaves)
		return;
	count_pass(passed, SIM_AGG_UP, flow->from, flow->bytes);
	count_pass(passed, SIM_AGG_DOWN, flow->to, flow->bytes);
}

/* Bytes on a row and on its links, or NAN where a dead link has some */
static double sent_on(const struct fluid *fluid, const struct sim_fabric *fabric,
		      enum sim_class class, __u32 number)
{
	struct sim_row row = sim_row_links(fabric, class, number);
	double sent = fluid->sent[number];
	__u32 l;

	for (l = row.first; l < row.first + row.nr; l++) {
		if (fluid->sent[l] > 0 && !fabric->rate[l])
			return NAN;
		sent += fluid->sent[l];
	}
	return sent;
}

static bool is_passed(const struct passed *passed, const struct fluid *fluid)
{
	const struct sim_fabric *fabric = passed->fabric;
	enum sim_class class;
	bool same = true;
	__u32 r;

	for (class = 0; class < SIM_CLASSES; class++)
		for (r = fabric->first_row[class]; r < fabric->first_row[class + 1]; r++)
			same &= is_within(sent_on(fluid, fabric, class, r),
					  passed->bytes[r - fabric->first_row[0]], 10 * NEAR);
	return same;
}

/* Play an all-to-all of flows of different sizes to its end. */
static bool play(const struct sim_fabric *fabric, const struct sim_traffic *traffic,
		 const char *name, __u64 seed)
{
	struct passed passed = {
		.fabric = fabric, .bytes = calloc(fabric->first_row[SIM_CLASSES], sizeof(double)),
	};
	struct sim_policy policy;
	struct sim_route route;
	struct fluid fluid;
	struct err err = {};
	long ret = 1;
	bool ok;
	size_t i;

	ok = !sim_policy_read(&policy, name) &&
	     !sim_route_init(&route, fabric, traffic, &policy, seed, &err) &&
	     !fluid_init(&fluid, fabric->rate, fabric->first_row[SIM_CLASSES]);
	for (i = 0; ok && i < traffic->nr; i++) {
		sim_route_begin(&route, i, &fluid, 0);
		count_passes(&passed, &traffic->flow[i]);
	}
	while (ok && fluid.active && ret > 0)
		ret = fluid_advance(&fluid, INFINITY, NULL, NULL);
	ok = ok && ret > 0 && is_passed(&passed, &fluid);
	if (!ok)
		printf("# %s, seed %llu: wrong. %s\n", name, (unsigned long long)seed,
		       err.message);
	fluid_free(&fluid);
	sim_route_free(&route);
	free(passed.bytes);
	return ok;
}

static bool play_all(struct sim_fabric *fabric, __u32 broken, __u64 seed)
{
	__u32 hosts = sim_hosts(&fabric->shape);
	struct sim_traffic traffic;
	bool ok = !sim_fabric_break(fabric, broken, broken, seed);
	size_t i;

	ok &= !sim_traffic_make(&traffic, SIM_ALL_TO_ALL, hosts, fabric->shape.hosts, 1, seed);
	for (i = 0; i < traffic.nr; i++)
		traffic.flow[i].bytes = 1 + random_below(1000);
	for (i = 0; i < ARRAY_SIZE(policies); i++)
		ok &= play(fabric, &traffic, policies[i], seed);
	sim_traffic_free(&traffic);
	return ok;
}

static void check_bytes(const struct sim_shape *shape)
{
	struct sim_fabric fabric;
	bool ok = !sim_fabric_init(&fabric, shape);
	__u64 seed;

	for (seed = 1; seed <= 3; seed++)
		ok &= play_all(&fabric, 0, seed);
	ktap_result(ok, "%u hosts in %u pods: links carry what passes", sim_hosts(shape),
		    shape->pods);
	for (ok = true, seed = 1; seed <= 3; seed++)
		ok &= play_all(&fabric, 1, seed);
	ktap_result(ok, "%u hosts in %u pods: live links carry what passes, dead ones nothing",
		    sim_hosts(shape), shape->pods);
	sim_fabric_free(&fabric);
}

/* The number of a link in its class */
static __u32 number_of(const struct sim_fabric *fabric, enum sim_class class, __u32 link)
{
	return link - fabric->first[class];
}

/* The links of a path follow each other, from the leaf of one host to that of another. */
static bool leads(const struct sim_fabric *fabric, __u32 from, __u32 to, __u32 path)
{
	const struct sim_shape *s = &fabric->shape;
	__u32 link[4], up, down, agg_up, agg_down;
	unsigned int nr = sim_path_links(fabric, from, to, path, link);

	up = number_of(fabric, SIM_LEAF_UP, link[0]);
	down = number_of(fabric, SIM_LEAF_DOWN, link[nr - 1]);
	if (up / s->aggs != from / s->hosts || down / s->aggs != to / s->hosts ||
	    up % s->aggs != down % s->aggs)
		return false;
	if (sim_pod(s, from) == sim_pod(s, to))
		return nr == 2;
	agg_up = number_of(fabric, SIM_AGG_UP, link[1]);
	agg_down = number_of(fabric, SIM_AGG_DOWN, link[2]);
	/* Core c of agg a of each pod is one switch. */
	return nr == 4 && agg_up / s->cores / s->aggs == sim_pod(s, from) &&
	       agg_down / s->cores / s->aggs == sim_pod(s, to) &&
	       agg_up / s->cores % s->aggs == up % s->aggs &&
	       agg_up % (s->cores * s->aggs) == agg_down % (s->cores * s->aggs);
}

/* All paths between two hosts lead from one to the other, and no two are the same. */
static bool paths_lead(const struct sim_fabric *fabric, __u32 from, __u32 to)
{
	__u32 paths = sim_paths(&fabric->shape, from, to), link[4], other[4], p, q;
	bool ok = true;

	for (p = 0; p < paths; p++) {
		ok &= leads(fabric, from, to, p);
		sim_path_links(fabric, from, to, p, link);
		for (q = 0; q < p; q++) {
			sim_path_links(fabric, from, to, q, other);
			ok &= link[0] != other[0] || link[1] != other[1];
		}
	}
	return ok;
}

static void check_paths(const struct sim_shape *shape)
{
	__u32 hosts = sim_hosts(shape), from, to;
	struct sim_fabric fabric;
	bool ok = !sim_fabric_init(&fabric, shape);

	for (from = 0; from < hosts; from++)
		for (to = 0; to < hosts; to++)
			if (from / shape->hosts != to / shape->hosts)
				ok &= paths_lead(&fabric, from, to);
	ktap_result(ok, "%u hosts in %u pods: each path leads from switch to switch", hosts,
		    shape->pods);
	sim_fabric_free(&fabric);
}

/* Links of a class with this part of their rate */
static __u32 with_rate(const struct sim_fabric *fabric, enum sim_class class, double part)
{
	__u32 l, n = 0;

	for (l = fabric->first[class]; l < fabric->first[class + 1]; l++)
		n += fabric->rate[l] == fabric->shape.rate * part;
	return n;
}

/* Both directions of a cable break, and those of the break before are as they were built. */
static void check_break(const struct sim_shape *shape)
{
	enum sim_class up[] = { SIM_LEAF_UP, SIM_AGG_UP };
	enum sim_class down[] = { SIM_LEAF_DOWN, SIM_AGG_DOWN };
	__u32 dead = 0, slow = 0, i, l;
	struct sim_fabric fabric;
	bool ok = !sim_fabric_init(&fabric, shape) && !sim_fabric_break(&fabric, 5, 5, 1) &&
		  !sim_fabric_break(&fabric, 2, 3, 2);

	for (i = 0; i < ARRAY_SIZE(up); i++) {
		dead += with_rate(&fabric, up[i], 0);
		slow += with_rate(&fabric, up[i], 0.5);
		for (l = fabric.first[up[i]]; l < fabric.first[up[i] + 1]; l++)
			ok &= fabric.rate[l] ==
			      fabric.rate[l - fabric.first[up[i]] + fabric.first[down[i]]];
	}
	ktap_result(ok && dead == 2 && slow == 3,
		    "%u hosts in %u pods: as many cables break as asked, in both directions",
		    sim_hosts(shape), shape->pods);
	sim_fabric_free(&fabric);
}

int main(void)
{
	size_t i;

	ktap_begin();
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		check_paths(&shapes[i]);
		check_break(&shapes[i]);
		check_bytes(&shapes[i]);
	}
	return ktap_end();
}
