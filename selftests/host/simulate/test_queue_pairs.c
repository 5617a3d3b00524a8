// SPDX-License-Identifier: GPL-2.0
/* Several flows of a pair in one step: each has a queue pair, hashed or dealt by itself. */
#include <stdlib.h>

#include "../../ktap.h"
#include "base/base.h"
#include "near.h"
#include "simulate/simulate.h"

#define SPINES	4u
#define BYTES	1000000.0
#define RATE	1000000.0

/* Flows from host 0 to host 1, of two steps with @nr each, in the order of a file */
static int make_traffic(struct sim_traffic *traffic, __u32 nr)
{
	*traffic = (struct sim_traffic) { .flow = calloc(2 * nr, sizeof(*traffic->flow)) };
	if (!traffic->flow)
		return -1;
	for (; traffic->nr < 2 * nr; traffic->nr++)
		traffic->flow[traffic->nr] = (struct sim_flow) {
			.to = 1, .step = 7 - 4 * (traffic->nr & 1), .bytes = BYTES,
		};
	sim_traffic_order(traffic);
	return 0;
}

static void test_order(void)
{
	struct sim_traffic traffic;
	bool ok = !make_traffic(&traffic, 3) && traffic.steps == 2 && traffic.all_steps == 2;
	size_t i;

	for (i = 0; ok && i < traffic.nr; i++)
		ok = traffic.flow[i].step == i / 3 && traffic.flow[i].qp == i % 3;
	ktap_result(ok, "steps and the queue pairs of a pair are numbered from 0");
	sim_traffic_free(&traffic);
}

/* Seconds of both steps over links of hosts that are no limit */
static double played(const char *policy, __u32 nr)
{
	struct sim_shape shape = { .pods = 1, .leaves = 2, .hosts = 1, .aggs = SPINES,
				   .rate = RATE, .host_rate = 1000 * RATE };
	struct sim_fabric fabric = {};
	struct sim_traffic traffic = {};
	struct sim_run run = { .fabric = &fabric, .traffic = &traffic, .seed = 1 };
	struct sim_result result = {};
	struct err err = {};
	int ret = make_traffic(&traffic, nr) ?: sim_policy_read(&run.policy, policy) ?:
		  sim_fabric_init(&fabric, &shape) ?: sim_play(&run, &result, &err);

	sim_traffic_free(&traffic);
	sim_fabric_free(&fabric);
	return ret ? -1 : result.completion;
}

int main(void)
{
	static const char * const dealt[] = { "place", "label", "fewest", "place-4qp" };
	double ecmp;
	__u32 i;

	ktap_begin();
	test_order();
	for (i = 0; i < ARRAY_SIZE(dealt); i++)
		ktap_result(is_near(played(dealt[i], SPINES), 2 * BYTES / RATE) &&
			    is_near(played(dealt[i], 3 * SPINES), 6 * BYTES / RATE),
			    "%s: the flows of a pair are dealt to all paths", dealt[i]);
	ecmp = played("ecmp", 64);
	ktap_result(ecmp > 2 * 64 / SPINES * BYTES / RATE && ecmp < 2 * 40 * BYTES / RATE,
		    "ecmp: 64 flows of a pair are neither on one path nor even: %.0f on one",
		    ecmp / 2);
	return ktap_end();
}
