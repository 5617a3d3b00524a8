// SPDX-License-Identifier: GPL-2.0
/* Traces that are made up; rocesteer-slice(8) says of what distributions. */
#include <math.h>
#include <stddef.h>

#include "trace.h"

#define MEDIAN		1200.0	/* of durations, seconds */
#define SIGMA		1.5	/* of their logarithm */
#define SHORTEST	10.0
#define LONGEST		432000.0

/* Of a thousand jobs, those with 2^i GPUs. */
static const __u32 sizes[] = {
	300, 100, 100, 200, 80, 70, 60, 45, 25, 12, 6, 2,
};

/* Of a hundred jobs. */
static const struct {
	enum contention_pattern pattern;
	__u32 share;
} patterns[] = {
	{ CONTENTION_RING, 50 },
	{ CONTENTION_HALVING, 25 },
	{ CONTENTION_ALL_TO_ALL, 25 },
};

/* From 0, below 1. */
static double uniform(__u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 11) / (double)(1ull << 53);
}

static __u32 draw_gpus(__u64 *state, __u32 most)
{
	__u32 left, i;

	do {
		left = uniform(state) * 1000;
		for (i = 0; left >= sizes[i]; i++)
			left -= sizes[i];
	} while (1u << i > most);
	return 1u << i;
}

static __u64 draw_duration(__u64 *state)
{
	double radius = sqrt(-2 * log(1 - uniform(state)));
	double normal = radius * cos(2 * M_PI * uniform(state));
	double s = MEDIAN * exp(SIGMA * normal);

	s = s < SHORTEST ? SHORTEST : s > LONGEST ? LONGEST : s;
	return s * 1000;
}

static enum contention_pattern draw_pattern(__u64 *state)
{
	__u32 left = uniform(state) * 100, i;

	for (i = 0; left >= patterns[i].share; i++)
		left -= patterns[i].share;
	return patterns[i].pattern;
}

void trace_make(const struct trace_spec *spec, struct trace_job *jobs)
{
	__u64 state = (spec->seed + 1) * 0x9e3779b97f4a7c15 | 1;
	__u32 most = spec->gpus / 4 ? : 1, i;
	double busy = 0, mean, now = 0;

	for (i = 0; i < spec->jobs; i++) {
		jobs[i] = (struct trace_job) {
			.gpus = draw_gpus(&state, most),
			.duration = draw_duration(&state) * 1000,
			.communication = (100 + (__u32)(uniform(&state) * 401)) *
					 1000,
			.pattern = draw_pattern(&state),
		};
		busy += (double)jobs[i].gpus * jobs[i].duration;
	}
	mean = busy / spec->jobs / spec->gpus * TRACE_SHARE / spec->load;
	for (i = 0; i < spec->jobs; i++) {
		now -= mean * log(1 - uniform(&state));
		jobs[i].arrival = (__u64)(now / 1000) * 1000;
	}
}
