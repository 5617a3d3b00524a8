// SPDX-License-Identifier: GPL-2.0
#include "jobs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/base.h"

/**
 * struct working - a job that is played
 * @job: job
 * @route: paths of its flows
 * @at: first flow that has not begun
 * @active: flows that are under way
 * @start: time when its round begins, or has begun
 * @sum: seconds of its rounds so far
 * @rounds: number of these
 */
struct working {
	struct sim_job *job;
	struct sim_route route;
	size_t at;
	size_t active;
	double start;
	double sum;
	__u32 rounds;
};

/**
 * struct playing - all jobs
 * @jobs: what is played
 * @working: by job
 * @fluid: links and rows
 */
struct playing {
	const struct sim_jobs *jobs;
	struct working *working;
	struct fluid fluid;
};

/* The next step of a job begins now. */
static void begin_step(struct playing *p, __u32 number)
{
	struct working *w = &p->working[number];
	const struct sim_traffic *traffic = &w->job->traffic;
	__u32 step = traffic->flow[w->at].step;

	for (; w->at < traffic->nr && traffic->flow[w->at].step == step; w->at++)
		w->active += sim_route_begin(&w->route, w->at, &p->fluid, number);
}

static void end_round(struct playing *p, struct working *w)
{
	double seconds = p->fluid.now - w->start;

	w->sum += seconds;
	w->rounds++;
	w->job->mean = w->sum / w->rounds;
	w->job->worst = fmax(w->job->worst, seconds);
	w->at = 0;
	w->start = p->fluid.now;
}

static void ended(__u32 tag, void *arg)
{
	struct playing *p = arg;

	p->working[tag].active--;
}

/* Begin what is to begin. Return: the time of the next beginning. */
static double begin_due(struct playing *p)
{
	double next = INFINITY;
	__u32 i;

	for (i = 0; i < p->jobs->nr; i++) {
		struct working *w = &p->working[i];

		if (w->active)
			continue;
		if (w->at == w->job->traffic.nr)
			end_round(p, w);
		if (w->start > p->fluid.now)
			next = fmin(next, w->start);
		else
			begin_step(p, i);
	}
	return next;
}

/* Rounds of the job that has the fewest */
static __u32 least_rounds(const struct playing *p)
{
	__u32 least = p->jobs->rounds, i;

	for (i = 0; i < p->jobs->nr; i++)
		if (p->working[i].rounds < least)
			least = p->working[i].rounds;
	return least;
}

static int play(struct playing *p, struct err *err)
{
	const struct sim_jobs *jobs = p->jobs;
	char name[SIM_POLICY_NAME];
	__u32 done = 0, before;
	double next;
	long ret;

	while (done < jobs->rounds) {
		next = begin_due(p);
		ret = fluid_advance(&p->fluid, next, ended, p);
		if (ret < 0)
			return ret;
		if (!ret && isinf(next))
			return err_set(err, EXIT_BAD_INPUT, "dead",
				       "policy %s: flows with a dead link on their way never end",
				       sim_policy_name(&jobs->policy, name));
		before = done;
		done = least_rounds(p);
		if (jobs->progress && done > before)
			jobs->progress(done, jobs->arg);
	}
	return 0;
}

/* Each job alone, in a network that no other beats */
static int find_bound(const struct sim_jobs *jobs, struct sim_job *job, struct err *err)
{
	struct sim_run alone = {
		.fabric = jobs->fabric, .traffic = &job->traffic,
		.policy = { .kind = SIM_SPRAY, .qps = 1 }, .seed = jobs->seed,
	};
	struct sim_result result;
	int ret = sim_play(&alone, &result, err);

	job->bound = result.bound;
	job->mean = 0;
	job->worst = 0;
	return ret;
}

static int start(struct playing *p, __u32 i, struct err *err)
{
	const struct sim_jobs *jobs = p->jobs;
	struct working *w = &p->working[i];

	w->job = &jobs->job[i];
	w->start = w->job->bound * sim_random(jobs->seed, i, jobs->nr, 0, 1000) / 1000;
	return sim_route_init(&w->route, jobs->fabric, &w->job->traffic, &jobs->policy,
			      jobs->seed + i, err);
}

int sim_play_jobs(const struct sim_jobs *jobs, struct err *err)
{
	const struct sim_fabric *fabric = jobs->fabric;
	struct playing p = { .jobs = jobs };
	__u32 i;
	int ret;

	p.working = calloc(jobs->nr, sizeof(*p.working));
	ret = p.working ? fluid_init(&p.fluid, fabric->rate, fabric->first_row[SIM_CLASSES]) :
			  -ENOMEM;
	for (i = 0; !ret && i < jobs->nr; i++)
		ret = find_bound(jobs, &jobs->job[i], err) ?: start(&p, i, err);
	ret = ret ?: play(&p, err);
	for (i = 0; p.working && i < jobs->nr; i++)
		sim_route_free(&p.working[i].route);
	fluid_free(&p.fluid);
	free(p.working);
	return ret;
}
