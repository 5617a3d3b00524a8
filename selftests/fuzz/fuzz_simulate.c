// SPDX-License-Identifier: GPL-2.0
/* Lists of flows for simulate: what is read is played on a small fabric of three tiers. */
#include <math.h>

#include "fuzz.h"
#include "simulate/simulate.h"

#define MAX_FLOWS	64	/* that are played */

static bool has_all_paths(const struct sim_shape *shape, const struct sim_traffic *traffic)
{
	size_t i;

	for (i = 0; i < traffic->nr; i++)
		if (!sim_is_near(shape, &traffic->flow[i]) && !traffic->flow[i].nr_ways)
			return false;
	return true;
}

/* A run ends, and takes no less than the bound; all bytes may be in the last 1 / 10^6 of a flow. */
static void play(const struct sim_fabric *fabric, const struct sim_traffic *traffic,
		 enum sim_kind kind)
{
	struct sim_run run = {
		.fabric = fabric, .traffic = traffic, .policy = { kind, 1 }, .seed = 1,
	};
	struct sim_result result;
	struct err err = {};

	assert(!sim_play(&run, &result, &err));
	assert(isfinite(result.completion) && result.completion > result.bound * 0.999);
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	static const struct sim_shape shape = {
		.pods = 2, .leaves = 2, .hosts = 3, .aggs = 2, .cores = 2, .rate = 1000,
		.host_rate = 2000,
	};
	struct sim_traffic traffic;
	struct sim_fabric fabric;
	struct err err = {};
	size_t i;

	if (sim_traffic_read(&traffic, fuzz_file(data, size), &shape, &err)) {
		assert(err.code);
		sim_traffic_free(&traffic);
		return 0;
	}
	for (i = 1; i < traffic.nr; i++)
		assert(traffic.flow[i - 1].step <= traffic.flow[i].step);
	assert(!sim_fabric_init(&fabric, &shape));
	if (traffic.nr <= MAX_FLOWS) {
		play(&fabric, &traffic, SIM_FEWEST);
		if (has_all_paths(&shape, &traffic))
			play(&fabric, &traffic, SIM_RECORDED);
	}
	sim_fabric_free(&fabric);
	sim_traffic_free(&traffic);
	return 0;
}
