/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by run.c and run_all.c. */
#ifndef ROCESTEER_PERF_RUN_PRIV_H
#define ROCESTEER_PERF_RUN_PRIV_H

#include "perf.h"
#include "meet/rendezvous.h"
#include "meet/setting.h"
#include "switch/reducer.h"
#include "switch/sums.h"

/**
 * struct run - state of all runs
 * @config: options
 * @err: filled on failure
 * @settings: settings that ranks compare
 * @meeting: options of the rendezvous
 * @window: window of this rank
 * @nic: NIC of each dimension
 * @reducer: switches that sum a whole All-Reduce, if any
 * @sums: dimension that sums in the network, if any
 * @began: start of the present run, ns
 * @same: all ranks find the failure at the same time
 * @result: results
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
	struct sums sums;
	struct engine *engine;
	__u64 began;
	bool same;
	struct perf_result *result;
};

/**
 * struct sample - result of a run on one rank
 * @ns: time
 * @wrong: wrong elements
 * @stuck: nothing has happened for long
 * @awaited: if @stuck: what the rank waits for
 * @failed: a sum by switches has failed
 */
struct sample {
	__u64 ns;
	__u64 wrong;
	__u64 stuck;
	struct awaited awaited;
	bool failed;
};

/* Do all runs, warmup first. Return: 0, or a negative errno with @run->err filled. */
int run_all(struct run *run);

#endif /* ROCESTEER_PERF_RUN_PRIV_H */
