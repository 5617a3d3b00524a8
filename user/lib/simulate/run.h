/* SPDX-License-Identifier: GPL-2.0 */
/* Play a traffic on a fabric under a policy. */
#ifndef ROCESTEER_LIB_SIMULATE_RUN_H
#define ROCESTEER_LIB_SIMULATE_RUN_H

#include "fabric.h"
#include "route.h"
#include "traffic.h"

/**
 * struct sim_result - what came of it
 * @completion: seconds, sum over the steps
 * @bound: seconds that no network beats: in each step the fullest row, or the fullest link of a
 *	host, is always busy. Switches that sum beat the bound, as they have fewer bytes
 * @worst_step: completion of a step over its bound, at most
 * @over_ideal: load of the fullest link between switches over that of the ideal network's, both
 *	in seconds at the rate of the link, and summed over the steps; 1 where no flow leaves its
 *	leaf. The ideal network shares what a row has to carry out evenly
 * @class_over_ideal: the same among the links of each class
 */
struct sim_result {
	double completion;
	double bound;
	double worst_step;
	double over_ideal;
	double class_over_ideal[SIM_CLASSES];
};

/**
 * struct sim_run - what is played
 * @fabric: fabric
 * @traffic: traffic
 * @policy: policy
 * @seed: of what is random
 * @load: NULL, or by link between switches: in each class the loads over that of the ideal network,
 *	the fullest first: sums over the steps of the fullest link's, then of the next one's, ..;
 *	filled, and 0 for links of hosts
 * @progress: called now and then with the steps that have ended, or NULL
 * @arg: passed to @progress
 */
struct sim_run {
	const struct sim_fabric *fabric;
	const struct sim_traffic *traffic;
	struct sim_policy policy;
	__u64 seed;
	double *load;
	void (*progress)(__u32 steps, void *arg);
	void *arg;
};

/**
 * sim_play() - play
 * @run: what
 * @result: filled
 * @err: says why the policy does not take this fabric or traffic
 *
 * Return: 0 or a negative errno.
 */
int sim_play(const struct sim_run *run, struct sim_result *result, struct err *err);

#endif /* ROCESTEER_LIB_SIMULATE_RUN_H */
