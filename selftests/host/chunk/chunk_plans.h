/* SPDX-License-Identifier: GPL-2.0 */
/* Collectives, known and random, and the times of their plans. */
#ifndef CHUNK_PLANS_H
#define CHUNK_PLANS_H

#include <math.h>
#include <stdio.h>

#include "../../random.h"
#include "chunk/chunk.h"

#define GIB	0x40000000ull

/* An All-Reduce: endpoints and GiB/s of each dimension, ended by zeroes. */
static inline struct chunk_collective collective(__u64 size, __u32 chunks, const __u32 (*dims)[2])
{
	struct chunk_collective of = { .size = size, .chunks = chunks };

	for (; of.dims < CHUNK_MAX_DIMS && (*dims)[0]; dims++) {
		of.dim[of.dims].endpoints = (*dims)[0];
		of.dim[of.dims++].bandwidth =
			(__u64)(*dims)[1] * CHUNK_BANDWIDTH_UNIT;
	}
	return of;
}

/* One call a statement: the same networks by every compiler. */
static inline struct chunk_collective random_collective(void)
{
	struct chunk_collective of = { .kind = random_below(CHUNK_ALL_TO_ALL + 1) };
	__u32 limit, k;

	limit = 1u << random_below(7);
	of.chunks = 1 + random_below(limit);
	of.in_flight = random_below(2) * (1 + random_below(8));
	of.dims = 1 + random_below(5);
	of.size = random_below(1u << 31);
	of.size = of.chunks + (of.size << random_below(9));
	for (k = 0; k < of.dims; k++) {
		struct chunk_dim *dim = &of.dim[k];

		limit = 1u << random_below(8);
		dim->endpoints = 1 + random_below(limit);
		limit = 1u << random_below(30);
		dim->bandwidth = 1000 + random_below(limit);
		if (random_below(4) == 0)
			dim->latency = random_below(100000000);
		if (k && random_below(4) == 0)
			*dim = *(dim - 1);
	}
	k = random_below(of.dims);
	of.dim[k].endpoints = 2 + random_below(100);
	return of;
}

/* An All-Reduce with some dimensions that leave chunks whole */
static inline struct chunk_collective random_summed(void)
{
	struct chunk_collective of = random_collective();
	__u32 k;

	of.kind = CHUNK_ALL_REDUCE;
	for (k = 0; k < of.dims; k++)
		if (chunk_alg_takes(CHUNK_NETREDUCE, of.dim[k].endpoints) && random_below(2))
			of.dim[k].alg = random_below(2) ? CHUNK_NETREDUCE : CHUNK_TREE;
	return of;
}

static inline struct chunk_collective random_any(void)
{
	return random_below(3) ? random_collective() : random_summed();
}

/* Place of the dimension that is the last one of an order */
static inline __u32 last_place(const struct chunk_collective *of, const __u8 *order)
{
	__u32 last = 0, i;

	for (i = 0; i < of->dims; i++)
		if (of->dim[order[i]].endpoints > 1)
			last = i;
	return last;
}

static inline bool is_summed(const struct chunk_collective *of, const __u8 *order, __u32 place)
{
	return (of->dim[order[place]].alg == CHUNK_NETREDUCE ||
		of->dim[order[place]].alg == CHUNK_TREE) && place == last_place(of, order);
}

static inline __u64 time_of(const struct chunk_plan *plan)
{
	struct chunk_model *model = chunk_model_new(&plan->of);
	__u64 time = chunk_model_run(model, plan, NULL, NULL);

	chunk_model_free(model);
	return time;
}

/* Predicted time of a policy, ps. */
static inline __u64 predict(const struct chunk_collective *of, enum chunk_policy policy,
			    enum chunk_queue queue)
{
	struct chunk_plan plan;
	__u64 time;

	if (chunk_plan_make(&plan, of, policy))
		return 0;
	plan.queue = queue;
	time = time_of(&plan);
	chunk_plan_free(&plan);
	return time;
}

static inline bool is_near(double is, double want, double percent)
{
	printf("# %.3f, expected %.3f within %.1f %%\n", is, want, percent);
	return fabs(is - want) <= want * percent / 100;
}

#endif /* CHUNK_PLANS_H */
