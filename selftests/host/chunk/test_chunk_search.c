// SPDX-License-Identifier: GPL-2.0
/* The search for the best plan, and how long planning takes. */
#include "base/base.h"
#include "chunk_plans.h"
#include "../../ktap.h"

static double micros(void)
{
	return clock_ns() / 1e3;
}

static __u64 predict_best(const struct chunk_collective *of)
{
	struct chunk_plan plan;
	__u64 time;

	if (chunk_search(&plan, of, CHUNK_QUEUES_ALL))
		return 0;
	time = time_of(&plan);
	chunk_plan_free(&plan);
	return time;
}

static void test_best(void)
{
	unsigned int better = 0, rounds = 0;
	bool never_worse = true, same = true, obeys = true;

	while (rounds < 40) {
		struct chunk_collective of = random_collective();
		struct chunk_plan plan, again;
		__u64 time, least = -1;
		int policy, queue;

		if (chunk_search(&plan, &of, CHUNK_QUEUES_ALL))
			continue;
		chunk_search(&again, &of, CHUNK_QUEUES_ALL);
		same &= chunk_plan_hash(&plan) == chunk_plan_hash(&again);
		time = time_of(&plan);
		for (policy = 0; policy < 2; policy++)
			for (queue = 0; queue < 2; queue++) {
				__u64 other = predict(&of, policy, queue);

				least = other < least ? other : least;
			}
		never_worse &= time <= least;
		better += time < least;
		chunk_plan_free(&plan);
		chunk_plan_free(&again);
		queue = random_below(2);
		chunk_search(&plan, &of, 1u << queue);
		obeys &= plan.queue == (enum chunk_queue)queue;
		never_worse &= time_of(&plan) <=
			       predict(&of, CHUNK_THEMIS, queue) &&
			       time_of(&plan) <=
			       predict(&of, CHUNK_BASELINE, queue);
		chunk_plan_free(&plan);
		rounds++;
	}
	printf("# better than all in %u of %u\n", better, rounds);
	ktap_result(never_worse, "best is never worse than themis or baseline");
	ktap_result(better > rounds / 4, "best is often better");
	ktap_result(same, "best is the same each time");
	ktap_result(obeys, "best takes the queue it is told to");
}

/* The paper's networks, of 1,024 endpoints each */
static const __u32 paper_dims[6][5][2] = {
	{ { 16, 150 }, { 64, 100 } },
	{ { 16, 100 }, { 8, 100 }, { 8, 100 } },
	{ { 16, 200 }, { 8, 100 }, { 8, 50 } },
	{ { 8, 175 }, { 16, 100 }, { 8, 50 } },
	{ { 4, 250 }, { 4, 200 }, { 8, 100 }, { 8, 50 } },
	{ { 4, 375 }, { 8, 175 }, { 4, 150 }, { 8, 100 } },
};

static void test_six(void)
{
	double mean[4] = {};
	int i;

	for (i = 0; i < 6; i++) {
		struct chunk_collective of = collective(GIB, 64, paper_dims[i]);
		double ideal = chunk_model_ideal(&of) / 6.0 * 100;

		mean[0] += ideal / predict(&of, CHUNK_BASELINE, CHUNK_FIFO);
		mean[1] += ideal / predict(&of, CHUNK_THEMIS, CHUNK_FIFO);
		mean[2] += ideal / predict(&of, CHUNK_THEMIS, CHUNK_SCF);
		mean[3] += ideal / predict_best(&of);
	}
	printf("# utilisation %.2f %% %.2f %% %.2f %% %.2f %%\n", mean[0],
	       mean[1], mean[2], mean[3]);
	ktap_result(mean[0] >= 56.3 && mean[1] >= 87.1 && mean[2] >= 97.4 &&
		    mean[3] >= 99.5,
		    "the best plans use the paper's six networks nearly fully");
}

/* The largest numbers do not overflow. */
static void test_largest(void)
{
	struct chunk_collective of = {
		.size = CHUNK_MAX_SIZE,
		.chunks = CHUNK_MAX_CHUNKS,
		.dims = CHUNK_MAX_DIMS,
	};
	double start = micros();
	struct chunk_plan plan;
	__u64 fifo, scf;
	__u32 k;

	for (k = 0; k < of.dims; k++) {
		of.dim[k].endpoints = CHUNK_MAX_ENDPOINTS;
		of.dim[k].bandwidth = CHUNK_MAX_BANDWIDTH >> k;
		of.dim[k].latency = CHUNK_MAX_LATENCY;
	}
	fifo = predict(&of, CHUNK_THEMIS, CHUNK_FIFO);
	scf = predict(&of, CHUNK_THEMIS, CHUNK_SCF);
	ktap_result(scf && scf <= fifo && fifo < 1ull << 60 &&
		    !chunk_search(&plan, &of, CHUNK_QUEUES_ALL) &&
		    time_of(&plan) <= scf, "the largest collective is planned");
	printf("# in %.0f ms\n", (micros() - start) / 1e3);
	chunk_plan_free(&plan);
}

/* Least time of a plan of four dimensions, us. */
static double speed(__u32 chunks, int rounds)
{
	struct chunk_collective of = collective(GIB, chunks, paper_dims[4]);
	struct chunk_plan plan;
	double best = 1e9;

	while (rounds--) {
		double start = micros(), took;

		chunk_plan_make(&plan, &of, CHUNK_THEMIS);
		took = micros() - start;
		best = took < best ? took : best;
		chunk_plan_free(&plan);
	}
	return best;
}

static void test_speed(void)
{
	struct chunk_collective of = collective(GIB, 64, paper_dims[4]);
	double few = speed(64, 100), many = speed(4096, 20), best = 1e9;
	int i;

	for (i = 0; i < 3; i++) {
		double start = micros(), took;

		predict_best(&of);
		took = micros() - start;
		best = took < best ? took : best;
	}
	printf("# %.1f us, %.0f us, %.0f ms\n", few, many, best / 1e3);
	ktap_result(few < 20, "64 chunks in four dimensions are planned in less than 20 us");
	ktap_result(many < 2000, "4096 chunks are planned in less than 2 ms");
	ktap_result(best < 500000, "the best plan is found in less than 500 ms");
}

int main(void)
{
	ktap_begin();
	test_best();
	test_six();
	test_largest();
	test_speed();
	return ktap_end();
}
