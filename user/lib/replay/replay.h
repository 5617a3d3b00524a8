/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace of jobs played through a queue and an allocator, in memory, to compare
 * policies. Pure; integers only: equal input gives equal output everywhere.
 *
 * The model. A job computes and communicates in turns; its duration in the trace
 * is without contention. When it communicates, all its GPUs send, one flow each: to
 * the next one (ring), or half of the job away (halving-doubling, all-to-all), or
 * to one at random (permutation); in hierarchical patterns to the next server, or half of
 * the servers away. A flow between leaves takes a link up to a
 * spine and one down, for as long as the job runs. Flows that are on a link at the same
 * time share its bandwidth evenly, and the slowest flow of a job holds back all others.
 *
 * Flows of one job are always there at the same time. Those of another job are there in
 * the share d of the time in which it communicates, whenever that is, and so count as d
 * flows. With k flows on its worst link so counted, its own among them, a job whose
 * communication takes the share c of its duration runs 1 + c * (k - 1) times as long
 * while that lasts. That d grows when contention makes communication longer is left out.
 *
 * The links of a leaf are its circuits, each to the spine that it leads to. Two leaves
 * may have no spine in common; a flow then enters by any link of the other leaf, as if
 * there were ways without contention between spines.
 */
#ifndef ROCESTEER_LIB_REPLAY_H
#define ROCESTEER_LIB_REPLAY_H

#include <linux/types.h>

#include "slice/slice.h"
#include "trace.h"

/*
 * Without slices, a job starts when there are enough free GPUs: in a server,
 * under a leaf, or else over as few leaves as possible.
 */
enum replay_policy {
	REPLAY_ECMP,	/* each flow takes a link at random */
	REPLAY_BALANCED,	/* the links that have the fewest flows at its start */
	REPLAY_SOURCE,	/* the link of its GPU's place on the leaf */
	REPLAY_VCLOS,	/* in slices: slice_place() */
	REPLAY_OCS,	/* likewise: ocs_place() */
	REPLAY_IDEAL,	/* as if no link was ever shared */
	REPLAY_POLICIES
};

/* Their names on the command line. */
extern const char * const replay_policy_names[REPLAY_POLICIES + 1];

/**
 * struct replay_spec - what is played
 * @fabric: what jobs may have
 * @ocs: its circuits, or those that make its cables
 * @job: the trace
 * @jobs: at least 1
 * @order: of the queue
 * @seed: of what is random
 * @progress: called now and then with the number of jobs that ended, or NULL
 * @arg: passed on
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
 * struct replay_result - what came of it; times in microseconds
 * @placed: jobs that ran
 * @refused: jobs that had no place though nothing else ran
 * @slowed: jobs that met contention
 * @jrt: sum of the times from start to finish
 * @jwt: likewise from arrival to start
 * @jct_p99: the time from arrival to finish that 99 % of the jobs kept to
 * @makespan: when the last one ended
 * @used: GPUs in use, times microseconds
 * @usable: likewise with those that the first jobs of the queue would have used
 *	in an ideal network, beside those that ran
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
 * @spec: what
 * @policy: how jobs are placed, and flows routed
 * @result: filled
 *
 * Return: 0 or -ENOMEM.
 */
int replay_run(const struct replay_spec *spec, enum replay_policy policy,
	       struct replay_result *result);

#endif /* ROCESTEER_LIB_REPLAY_H */
