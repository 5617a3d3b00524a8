/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Play a trace of jobs through a queue and an allocator, in memory, to compare policies.
 * Pure; integers only: equal input gives equal output everywhere.
 *
 * rocesteer-slice(8), **replay**, has the model. A flow between leaves takes a link up to a spine
 * and a link down for as long as the job runs. The model leaves out that contention makes the
 * share of communication of other jobs grow.
 */
#ifndef ROCESTEER_LIB_REPLAY_H
#define ROCESTEER_LIB_REPLAY_H

#include <linux/types.h>

#include "slice/slice.h"
#include "trace.h"

/*
 * Without slices, a job starts when enough GPUs are free: in a server, under a leaf, or over
 * as few leaves as possible.
 */
enum replay_policy {
	REPLAY_ECMP,	/* each flow takes a random link */
	REPLAY_BALANCED,	/* links with the fewest flows when the job starts */
	REPLAY_SOURCE,	/* the link of the GPU's place on the leaf */
	REPLAY_VCLOS,	/* slices by slice_place() */
	REPLAY_OCS,	/* slices by ocs_place() */
	REPLAY_IDEAL,	/* no link is ever shared */
	REPLAY_POLICIES
};

/* Their names on the command line. */
extern const char * const replay_policy_names[REPLAY_POLICIES + 1];

/**
 * struct replay_spec - input
 * @fabric: parts for jobs
 * @ocs: circuits, or circuits in place of cables
 * @job: trace
 * @jobs: number of jobs, at least 1
 * @order: order of the queue
 * @seed: seed of random choices
 * @progress: called now and then with the number of jobs that ended, or NULL
 * @arg: passed to @progress
 */
struct replay_spec {
	const struct slice_fabric *fabric;
	const struct ocs *ocs;
	const struct trace_job *job;
	__u32 jobs;
	enum queue_order order;
	__u32 seed;
	void (*progress)(__u32 done, void *arg);
	void *arg;
};

/**
 * struct replay_result - result; times in microseconds
 * @placed: jobs that ran
 * @refused: jobs that had no place in the empty cluster
 * @slowed: jobs that met contention
 * @jrt: sum of the times from start to finish
 * @jwt: sum of the times from arrival to start
 * @jct_p99: 99th percentile of the time from arrival to finish
 * @makespan: end of the last job
 * @used: GPUs in use, times microseconds
 * @usable: the same with the GPUs that the first jobs of the queue would have used in an
 *	ideal network
 * @moved: circuits taken down
 */
struct replay_result {
	__u32 placed;
	__u32 refused;
	__u32 slowed;
	__u64 jrt;
	__u64 jwt;
	__u64 jct_p99;
	__u64 makespan;
	__u64 used;
	__u64 usable;
	__u64 moved;
};

/**
 * replay_run() - play a trace
 * @spec: input
 * @policy: rule by which jobs are placed and flows routed
 * @result: filled
 *
 * Return: 0 or -ENOMEM.
 */
int replay_run(const struct replay_spec *spec, enum replay_policy policy,
	       struct replay_result *result);

#endif /* ROCESTEER_LIB_REPLAY_H */
