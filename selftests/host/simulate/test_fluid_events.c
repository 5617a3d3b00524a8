// SPDX-License-Identifier: GPL-2.0
/*
 * Many flows: rates stay max-min fair while flows come and end, memory does not grow, and rates
 * that follow late change little.
 */
#include <math.h>
#include <stdlib.h>

#include "../../ktap.h"
#include "../../random.h"
#include "base/base.h"
#include "near.h"
#include "simulate/simulate.h"

/* Sum and largest of the rates of ways on a link */
static double load_of(const struct fluid *fluid, __u32 link, double *most)
{
	double sum = 0;
	__u32 p;

	*most = 0;
	for (p = fluid->link[link].first; p != FLUID_NONE; p = fluid->part[p].next) {
		const struct fluid_way *way = &fluid->way[fluid->part[p].way];

		if (way->seen == FLUID_NONE)
			continue;
		sum += way->rate * fluid->part[p].part;
		*most = fmax(*most, way->rate);
	}
	return sum;
}

/* The way has a full link on which no way is faster. */
static bool is_held(const struct fluid *fluid, const struct fluid_way *way, const double *load,
		    const double *most)
{
	__u32 p, l;

	for (p = way->first; p < way->first + way->nr; p++) {
		l = fluid->part[p].link;
		if (is_near(load[l], fluid->rate[l]) && most[l] <= way->rate * (1 + NEAR))
			return true;
	}
	return false;
}

/* Rates are max-min fair: no link has too much, and each way is held by a link. */
static bool is_fair(const struct fluid *fluid)
{
	double *load = calloc(fluid->nr_links, sizeof(*load));
	double *most = calloc(fluid->nr_links, sizeof(*most));
	bool fair = true;
	__u32 l, w;
	size_t f;

	for (l = 0; l < fluid->nr_links; l++) {
		load[l] = load_of(fluid, l, &most[l]);
		fair &= load[l] <= fluid->rate[l] * (1 + NEAR);
	}
	for (f = 0; f < fluid->nr_flows; f++)
		for (w = 0; w < fluid->flow[f].nr; w++)
			fair &= is_held(fluid, &fluid->way[fluid->flow[f].first + w], load, most);
	free(load);
	free(most);
	return fair;
}

/* Begin a flow at random on @n links */
static void begin_random(struct fluid *fluid, __u32 n)
{
	__u32 ways = random_below(4) ? 1 : 1 + random_below(5), w, p;

	fluid_begin(fluid, 1 + random_below(10000), 0);
	for (w = 0; w < ways; w++) {
		if (w)
			fluid_way(fluid);
		for (p = random_below(6) + 1; p--;)
			fluid_part(fluid, random_below(n),
				   random_below(2) ? 1 : 1.0 / (1 + random_below(64)));
	}
	fluid_done(fluid);
}

/* Flows come, and others end: rates are fair each time. */
static bool stays_fair(__u32 links, __u32 flows)
{
	double *rate = calloc(links, sizeof(*rate));
	struct fluid fluid;
	bool fair = true;
	long ret = 0;
	__u32 i;

	for (i = 0; i < links; i++)
		rate[i] = 1 + random_below(4);
	fair = !fluid_init(&fluid, rate, links);
	for (i = 0; fair && ret >= 0 && (i < flows || fluid.active); i++) {
		if (i < flows)
			begin_random(&fluid, links);
		else
			ret = fluid_advance(&fluid, INFINITY, NULL, NULL);
		if (i < flows && i > flows / 2)
			ret = fluid_advance(&fluid, fluid.now + 10, NULL, NULL);
		/* Rates follow, and time does not go on. */
		while (ret >= 0 && fluid_advance(&fluid, fluid.now, NULL, NULL) > 0)
			;
		fair &= is_fair(&fluid);
	}
	fluid_free(&fluid);
	free(rate);
	return fair && ret >= 0;
}

static void test_fair(void)
{
	__u32 runs = ktap_all() ? 100 : 5, i;
	bool fair = true;

	for (i = 0; i < runs; i++)
		fair &= stays_fair(20 + random_below(200), 300);
	ktap_result(fair, "300 flows: no way is slower than its links let it be, after any event");
}

static void begin_alone(struct fluid *fluid, double bytes)
{
	fluid_begin(fluid, bytes, 0);
	fluid_part(fluid, 0, 1);
	fluid_done(fluid);
}

/* Batches of flows come and end on the link of long flows: a hundred flows at a time. */
static void check_memory(int longs)
{
	enum { BATCHES = 3000, ALL = 100 };
	double rate = 1;
	struct fluid fluid;
	size_t most = 0;
	long ret = 1;
	int b, i;

	fluid_init(&fluid, &rate, 1);
	for (i = 0; i < longs; i++)
		begin_alone(&fluid, BATCHES);
	for (b = 0; b < BATCHES && ret > 0; b++) {
		for (i = longs; i < ALL; i++)
			begin_alone(&fluid, 1);
		while (fluid.active > (b + 1 < BATCHES ? (size_t)longs : 0) && ret > 0)
			ret = fluid_advance(&fluid, INFINITY, NULL, NULL);
		/* Rates follow, before the next flows begin. */
		if (fluid.active && ret > 0)
			ret = fluid_advance(&fluid, fluid.now, NULL, NULL) ?: 1;
		most = fluid.part_room > most ? fluid.part_room : most;
		most = fluid.ends.room > most ? fluid.ends.room : most;
	}
	ktap_result(most <= 1 << 17, "%d flows that see %d others end need no more memory", longs,
		    BATCHES * (ALL - longs));
	ktap_result(ret > 0 && is_near(fluid.now, BATCHES * ALL),
		    "%d such flows get their share of each moment", longs);
	fluid_free(&fluid);
}

/* How long a traffic takes under ECMP; @at_once: rates follow each end at once */
static double time_of(const struct sim_fabric *fabric, const struct sim_traffic *traffic,
		      bool at_once)
{
	const struct sim_policy policy = { SIM_ECMP, 1 };
	struct sim_route route;
	struct fluid fluid;
	struct err err = {};
	double seconds;
	long ret = 1;
	size_t i;

	if (sim_route_init(&route, fabric, traffic, &policy, 1, &err) ||
	    fluid_init(&fluid, fabric->rate, fabric->first_row[SIM_CLASSES]))
		return 0;
	for (i = 0; i < traffic->nr; i++)
		sim_route_begin(&route, i, &fluid, 0);
	while (fluid.active && ret > 0) {
		fluid.begun |= at_once;
		ret = fluid_advance(&fluid, INFINITY, NULL, NULL);
	}
	seconds = fluid.now;
	fluid_free(&fluid);
	sim_route_free(&route);
	return ret > 0 ? seconds : 0;
}

static void test_lag(void)
{
	const struct sim_shape shape = {
		.pods = 1, .leaves = 8, .hosts = 8, .aggs = 8, .rate = 1, .host_rate = 1,
	};
	struct sim_traffic traffic;
	struct sim_fabric fabric;
	double lagging, exact;
	size_t i;

	sim_fabric_init(&fabric, &shape);
	sim_traffic_make(&traffic, SIM_ALL_TO_ALL, sim_hosts(&shape), shape.hosts, 1, 1);
	for (i = 0; i < traffic.nr; i++)
		traffic.flow[i].bytes = 1 + random_below(1000);
	lagging = time_of(&fabric, &traffic, false);
	exact = time_of(&fabric, &traffic, true);
	ktap_result(exact > 0 && fabs(lagging / exact - 1) < 0.01,
		    "%zu flows: rates that follow later change completion by %.3f %%",
		    traffic.nr, 100 * fabs(lagging / exact - 1));
	sim_traffic_free(&traffic);
	sim_fabric_free(&fabric);
}

int main(void)
{
	ktap_begin();
	test_fair();
	check_memory(1);
	check_memory(75);
	test_lag();
	return ktap_end();
}
