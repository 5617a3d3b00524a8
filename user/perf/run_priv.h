/* SPDX-License-Identifier: GPL-2.0 */
/* What run.c and run_all.c share: what a run holds. */
#ifndef ROCESTEER_PERF_RUN_PRIV_H
#define ROCESTEER_PERF_RUN_PRIV_H

#include "perf.h"
#include "reducer.h"
#include "rendezvous.h"
#include "setting.h"

/**
 * struct run - what a run holds
 * @config: what to run
 * @err: why it fails
 * @settings: that ranks compare
 * @meeting: of the rendezvous
 * @window: of this rank
 * @nic: by dimension
 * @reducer: the switches that sum, if some do
 * @began: ns, the run under way
 * @same: all ranks find the failure at the same time
 * @result: to be filled
 */
struct run {
	const struct perf_config *config;
	struct err *err;
	struct setting settings[PERF_SETTINGS];
	struct rendezvous_config meeting;
	struct loop loop;
	struct rendezvous *rendezvous;
	void *window;
	struct nic nic[CHUNK_MAX_DIMS];
	struct reducer reducer;
	struct engine *engine;
	__u64 began;
	bool same;
	struct perf_result *result;
};

/**
 * struct sample - how a run went on one rank
 * @ns: it took
 * @wrong: elements of the result
 * @stuck: nothing has happened for long
 * @awaited: then: what it waits for
 * @failed: the sum of some switch has
 */
struct sample {
	__u64 ns;
	__u64 wrong;
	__u64 stuck;
	struct awaited awaited;
	bool failed;
};

/* All runs, warmup first. Return: 0, or a negative errno with @err of @run filled. */
int run_all(struct run *run);

#endif /* ROCESTEER_PERF_RUN_PRIV_H */
