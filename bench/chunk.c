// SPDX-License-Identifier: GPL-2.0
/*
 * How long planning takes: an All-Reduce of 1 GiB over four dimensions,
 * 4x4x8x8, in 64 and in 4,096 chunks. Least of some rounds, in us, as JSON;
 * bench/run makes the table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "chunk/chunk.h"

static void plan(const struct chunk_collective *of)
{
	struct chunk_plan plan;

	if (chunk_plan_make(&plan, of, CHUNK_THEMIS))
		abort();
	chunk_plan_free(&plan);
}

/* With its prediction. */
static void predict(const struct chunk_collective *of)
{
	struct chunk_model *model = chunk_model_new(of);
	struct chunk_plan plan;

	if (!model || chunk_plan_make(&plan, of, CHUNK_THEMIS))
		abort();
	chunk_model_run(model, &plan, NULL, NULL);
	chunk_plan_free(&plan);
	chunk_model_free(model);
}

static void search(const struct chunk_collective *of)
{
	struct chunk_plan plan;

	if (chunk_search(&plan, of, CHUNK_QUEUES_ALL))
		abort();
	chunk_plan_free(&plan);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static double least(void (*run)(const struct chunk_collective *of),
		    __u32 chunks, int rounds)
{
	static const __u32 dims[][2] = {
		{ 4, 250 }, { 4, 200 }, { 8, 100 }, { 8, 50 }
	};
	struct chunk_collective of = {
		.size = 0x40000000,
		.chunks = chunks,
		.dims = 4,
	};
	double best = 0;
	__u32 k;

	for (k = 0; k < of.dims; k++) {
		of.dim[k].endpoints = dims[k][0];
		of.dim[k].bandwidth = dims[k][1] * CHUNK_BANDWIDTH_UNIT;
	}
	while (rounds--) {
		double took = now();

		run(&of);
		took = now() - took;
		if (!best || took < best)
			best = took;
	}
	return best;
}

int main(void)
{
	printf("{\"themis\": {\"64\": %.2f, \"4096\": %.1f},\n",
	       least(plan, 64, 200), least(plan, 4096, 50));
	printf(" \"predict\": {\"64\": %.2f, \"4096\": %.1f},\n",
	       least(predict, 64, 200), least(predict, 4096, 50));
	printf(" \"best\": {\"64\": %.0f, \"4096\": %.0f}}\n",
	       least(search, 64, 5), least(search, 4096, 5));
	return 0;
}
