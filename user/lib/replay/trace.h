/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traces of jobs: arrival, size, and duration in a network without contention
 * (Documentation/formats.rst). Times are in microseconds, shares in millionths.
 */
#ifndef ROCESTEER_LIB_TRACE_H
#define ROCESTEER_LIB_TRACE_H

#include <stdio.h>
#include <linux/types.h>

#include "base/base.h"
#include "slice/slice.h"

#define TRACE_SECOND	1000000ull
#define TRACE_SHARE	1000000u	/* all */
#define TRACE_MAX_TIME	(10000000 * TRACE_SECOND)
#define TRACE_MAX_JOBS	1000000u

/**
 * struct trace_job - a job
 * @arrival: not before the previous job, at most TRACE_MAX_TIME
 * @duration: 1 to TRACE_MAX_TIME
 * @gpus: at least 1
 * @communication: share of the duration that waits for the network, at most TRACE_SHARE
 * @pattern: pattern of the traffic
 */
struct trace_job {
	__u64 arrival;
	__u64 duration;
	__u32 gpus;
	__u32 communication;
	enum contention_pattern pattern;
};

/**
 * trace_read() - read a trace
 * @file: name
 * @max_gpus: most that a job may have
 * @jobs: set; to be freed
 * @nr: set, at least 1
 * @err: names file, line and field
 *
 * Return: 0 or a negative errno.
 */
int trace_read(const char *file, __u32 max_gpus, struct trace_job **jobs,
	       __u32 *nr, struct err *err);

/* Kinds of generated jobs; see rocesteer-slice(8). */
enum trace_like {
	TRACE_POWERS,	/* powers of two of GPUs, a quarter of the cluster at most */
	TRACE_PAPER,	/* jobs by which vClos was evaluated */
	TRACE_LIKES
};

/* Their names on the command line. */
extern const char * const trace_like_names[TRACE_LIKES + 1];

#define TRACE_PAPER_GPUS	512u	/* of its largest jobs */

/**
 * struct trace_spec - parameters of a generated trace
 * @like: kind of jobs
 * @jobs: 1 to TRACE_MAX_JOBS
 * @gpus: GPUs of the cluster; TRACE_PAPER: at least TRACE_PAPER_GPUS
 * @load: share of the GPUs that the jobs would keep busy, at least 1
 * @seed: seed of random choices
 */
struct trace_spec {
	enum trace_like like;
	__u32 jobs;
	__u32 gpus;
	__u32 load;
	__u64 seed;
};

/**
 * trace_make() - generate a trace
 * @spec: parameters
 * @jobs: filled, @spec->jobs of them
 */
void trace_make(const struct trace_spec *spec, struct trace_job *jobs);

/* Write a trace as trace_read() reads it. Errors are left in @file. */
void trace_write(FILE *file, const struct trace_job *jobs, __u32 nr);

#endif /* ROCESTEER_LIB_TRACE_H */
