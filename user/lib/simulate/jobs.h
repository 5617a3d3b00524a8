/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs that communicate at one time, each its traffic round by round. */
#ifndef ROCESTEER_LIB_SIMULATE_JOBS_H
#define ROCESTEER_LIB_SIMULATE_JOBS_H

#include "run.h"

/**
 * struct sim_job - a job
 * @traffic: a round; hosts are those of the fabric
 * @bound: seconds of a round that no network beats, where the job is alone
 * @mean: seconds of a round beside the other jobs: mean
 * @worst: the longest
 */
struct sim_job {
	struct sim_traffic traffic;
	double bound;
	double mean;
	double worst;
};

/**
 * struct sim_jobs - what is played
 * @fabric: fabric
 * @job: jobs
 * @nr: number of @job
 * @policy: of all jobs
 * @seed: of what is random, also of when each job begins
 * @rounds: each job plays at least as many, and goes on until all have done so
 * @progress: called now and then with the rounds of that job, or NULL
 * @arg: passed to @progress
 */
struct sim_jobs {
	const struct sim_fabric *fabric;
	struct sim_job *job;
	__u32 nr;
	struct sim_policy policy;
	__u64 seed;
	__u32 rounds;
	void (*progress)(__u32 rounds, void *arg);
	void *arg;
};

/**
 * sim_play_jobs() - play
 * @jobs: @bound, @mean and @worst of each are set
 * @err: says why the policy does not take this fabric or traffic
 *
 * Each job begins within the bound of its round, so jobs are not in step with each other.
 *
 * Return: 0 or a negative errno.
 */
int sim_play_jobs(const struct sim_jobs *jobs, struct err *err);

#endif /* ROCESTEER_LIB_SIMULATE_JOBS_H */
