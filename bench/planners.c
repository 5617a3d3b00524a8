// SPDX-License-Identifier: GPL-2.0
/*
 * How long planning takes: 4,096 flows on 64 paths, and an All-Reduce of 1 GiB over four
 * dimensions. The least of some rounds counts. Exits 1 where one takes too long.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include "chunk/chunk.h"
#include "plan/plan.h"

#define NR_FLOWS	4096
#define NR_PATHS	64

static __u32 one_dead[NR_PATHS];
static struct plan level;

static void flows(__u32 unused)
{
	const struct plan_spec spec = { .flows = NR_FLOWS, .paths = NR_PATHS };
	struct plan plan;

	(void)unused;
	if (plan_make(&plan, &spec))
		abort();
	plan_free(&plan);
}

/* Again, as a path has died. */
static void flows_again(__u32 unused)
{
	const struct plan_spec spec = { .flows = NR_FLOWS, .paths = NR_PATHS,
					.weights = one_dead, .prior = level.pieces,
					.nr_prior = level.nr_pieces };
	struct plan plan;

	(void)unused;
	if (plan_make(&plan, &spec))
		abort();
	plan_free(&plan);
}

static struct chunk_collective collective(__u32 chunks)
{
	static const __u32 dims[][2] = { { 4, 250 }, { 4, 200 }, { 8, 100 }, { 8, 50 } };
	struct chunk_collective of = { .size = 1 << 30, .chunks = chunks,
				       .dims = ARRAY_SIZE(dims) };
	__u32 k;

	for (k = 0; k < of.dims; k++) {
		of.dim[k].endpoints = dims[k][0];
		of.dim[k].bandwidth = dims[k][1] * CHUNK_BANDWIDTH_UNIT;
	}
	return of;
}

static void themis(__u32 chunks)
{
	const struct chunk_collective of = collective(chunks);
	struct chunk_plan plan;

	if (chunk_plan_make(&plan, &of, CHUNK_THEMIS))
		abort();
	chunk_plan_free(&plan);
}

static void best(__u32 chunks)
{
	const struct chunk_collective of = collective(chunks);
	struct chunk_plan plan;

	if (chunk_search(&plan, &of, CHUNK_QUEUES_ALL))
		abort();
	chunk_plan_free(&plan);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(__u32 chunks);
		__u32 chunks;
		int rounds;
		double most;	/* us */
	} cases[] = {
		{ "4,096 flows on 64 paths", flows, 0, 300, 1e3 },
		{ "the same, as a path has died", flows_again, 0, 300, 1e3 },
		{ "64 chunks, themis", themis, 64, 200, 20 },
		{ "4,096 chunks, themis", themis, 4096, 50, 2e3 },
		{ "64 chunks, best", best, 64, 5, 500e3 },
		{ "4,096 chunks, best", best, 4096, 5, 500e3 },
	};
	const struct plan_spec all = { .flows = NR_FLOWS, .paths = NR_PATHS };
	bool failed = false;
	size_t i;

	for (i = 0; i < NR_PATHS; i++)
		one_dead[i] = i != 7;
	if (plan_make(&level, &all))
		abort();
	puts("this machine, planning");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		double least = 0, took;
		int r;

		for (r = 0; r < cases[i].rounds; r++) {
			took = now();
			cases[i].run(cases[i].chunks);
			took = now() - took;
			if (!r || took < least)
				least = took;
		}
		printf("  %-32s%11.1f us, at most %.0f\n", cases[i].name, least, cases[i].most);
		failed |= least > cases[i].most;
	}
	plan_free(&level);
	return failed;
}
