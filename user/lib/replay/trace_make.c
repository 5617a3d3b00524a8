// SPDX-License-Identifier: GPL-2.0
/* Generated traces; rocesteer-slice(8) has the distributions. */
#include <math.h>
#include <stddef.h>

#include "trace.h"

#define MEDIAN		1200.0	/* of durations, seconds */
#define SIGMA		1.5	/* of their logarithm */
#define SHORTEST	10.0
#define LONGEST		432000.0

const char * const trace_like_names[] = {
	[TRACE_POWERS] = "powers-of-two",
	[TRACE_PAPER] = "paper",
	[TRACE_LIKES] = NULL
};

/* @share of a thousand jobs have @gpus. */
struct size {
	__u32 gpus;
	__u32 share;
};

static const struct size powers[] = {
	{ 1, 300 }, { 2, 100 }, { 4, 100 }, { 8, 200 }, { 16, 80 }, { 32, 70 },
	{ 64, 60 }, { 128, 45 }, { 256, 25 }, { 512, 12 }, { 1024, 6 },
	{ 2048, 2 },
};

static const struct size paper[] = {
	{ 8, 89 }, { 64, 300 }, { 128, 140 }, { 192, 6 }, { 256, 100 },
	{ 384, 1 }, { TRACE_PAPER_GPUS, 364 },
};

/* Durations in the paper: @share of the jobs take up to @seconds, linear between. */
struct quantile {
	double share;
	double seconds;
};

static const struct quantile small[] = {	/* 8 and 64 GPUs */
	{ 0.734, 1000 }, { 0.86, 2000 }, { 0.9, 4000 }, { 0.92, 5000 },
	{ 0.95, 10000 }, { 0.97, 13000 }, { 0.98, 36000 }, { 0.99, 84000 },
	{ 1, 100000 },
};

static const struct quantile large[] = {
	{ 0.781, 1000 }, { 0.8, 2000 }, { 0.84, 4000 }, { 0.88, 11000 },
	{ 0.9, 16000 }, { 0.92, 23000 }, { 0.94, 44000 }, { 0.96, 76000 },
	{ 0.97, 100000 }, { 1, 100000 },
};

/* @share of a hundred jobs have @pattern. */
struct traffic {
	enum contention_pattern pattern;
	__u32 share;
};

static const struct traffic mixed[] = {
	{ CONTENTION_RING, 50 },
	{ CONTENTION_HALVING, 25 },
	{ CONTENTION_ALL_TO_ALL, 25 },
};

/* The paper does not say how often each pattern is. */
static const struct traffic even[] = {
	{ CONTENTION_RING, 20 },
	{ CONTENTION_HIERARCHICAL_RING, 20 },
	{ CONTENTION_HALVING, 20 },
	{ CONTENTION_ALL_TO_ALL, 20 },
	{ CONTENTION_HIERARCHICAL_ALL_TO_ALL, 20 },
};

/* Return: a number in [0, 1). */
static double uniform(__u64 *state)
{
	return (xorshift64(state) >> 11) / (double)(1ull << 53);
}

static __u32 draw_gpus(const struct size *sizes, __u64 *state, __u32 most)
{
	__u32 left, i;

	do {
		left = uniform(state) * 1000;
		for (i = 0; left >= sizes[i].share; i++)
			left -= sizes[i].share;
	} while (sizes[i].gpus > most);
	return sizes[i].gpus;
}

static __u64 draw_duration(__u64 *state)
{
	double radius = sqrt(-2 * log(1 - uniform(state)));
	double normal = radius * cos(2 * M_PI * uniform(state));
	double s = MEDIAN * exp(SIGMA * normal);

	s = s < SHORTEST ? SHORTEST : s > LONGEST ? LONGEST : s;
	return s * 1000;
}

static __u64 draw_from_table(const struct quantile *q, __u64 *state)
{
	double share = uniform(state);

	if (share <= q->share)
		return q->seconds * 1000;
	while (share > q[1].share)
		q++;
	return (q[0].seconds + (q[1].seconds - q[0].seconds) *
		(share - q[0].share) / (q[1].share - q[0].share)) * 1000;
}

static enum contention_pattern draw_pattern(const struct traffic *traffic, __u64 *state)
{
	__u32 left = uniform(state) * 100, i;

	for (i = 0; left >= traffic[i].share; i++)
		left -= traffic[i].share;
	return traffic[i].pattern;
}

static void make_power(__u32 most, __u64 *state, struct trace_job *job)
{
	job->duration = draw_duration(state) * 1000;
	job->gpus = draw_gpus(powers, state, most);
	job->communication = (100 + (__u32)(uniform(state) * 401)) * 1000;
	job->pattern = draw_pattern(mixed, state);
}

static void make_paper(__u64 *state, struct trace_job *job)
{
	job->gpus = draw_gpus(paper, state, TRACE_PAPER_GPUS);
	job->duration = draw_from_table(job->gpus <= 64 ? small : large, state) * 1000;
	job->communication = (20 + (__u32)(uniform(state) * 331)) * 1000;
	job->pattern = draw_pattern(even, state);
	if (contention_steps(job->pattern, job->gpus, 0) < 0)
		job->pattern = CONTENTION_RING;
}

void trace_make(const struct trace_spec *spec, struct trace_job *jobs)
{
	__u64 state = (spec->seed + 1) * 0x9e3779b97f4a7c15 | 1;
	double busy = 0, mean, now = 0;
	__u32 i;

	for (i = 0; i < spec->jobs; i++) {
		if (spec->like == TRACE_PAPER)
			make_paper(&state, &jobs[i]);
		else
			make_power(spec->gpus / 4 ? : 1, &state, &jobs[i]);
		busy += (double)jobs[i].gpus * jobs[i].duration;
	}
	mean = busy / spec->jobs / spec->gpus * TRACE_SHARE / spec->load;
	for (i = 0; i < spec->jobs; i++) {
		now -= mean * log(1 - uniform(&state));
		jobs[i].arrival = (__u64)(now / 1000) * 1000;
	}
}
