// SPDX-License-Identifier: GPL-2.0
#include "replay.h"

#include <errno.h>
#include <stdlib.h>

#include "replay_priv.h"

#define NEVER		(~0ull)
#define PROGRESS	64	/* events between two reports */

const char * const replay_policy_names[] = {
	[REPLAY_ECMP] = "ecmp",
	[REPLAY_BALANCED] = "balanced",
	[REPLAY_SOURCE] = "source-routing",
	[REPLAY_VCLOS] = "vclos",
	[REPLAY_OCS] = "ocs-vclos",
	[REPLAY_IDEAL] = "ideal",
	[REPLAY_POLICIES] = NULL
};

/**
 * struct running - a job that runs
 * @job: of the trace
 * @place: where
 * @links: that its worst step takes, and others may
 * @nr_links: how many
 * @factor: in millionths, how many times as long it takes
 * @since: when that began
 * @left: of its duration, then
 * @end: when it will be finished if nothing changes
 * @slowed: it met contention
 */
struct running {
	const struct trace_job *job;
	struct replay_place place;
	struct replay_link *links;
	__u32 nr_links;
	__u64 factor;
	__u64 since;
	__u64 left;
	__u64 end;
	bool slowed;
};

struct replay {
	const struct replay_spec *spec;
	enum replay_policy policy;
	struct replay_result *result;
	struct replay_site site;
	struct replay_load load;
	struct queue queue;
	struct running *run;
	__u32 running;
	__u32 arrived;
	__u32 ended;
	__u32 *no_place;	/* by GPUs, from 1: @ended then, plus 1 */
	bool changed;		/* the load */
	__u64 now;
	__u64 *jct;		/* of jobs that ended */
};

/* @worst: flows on its worst link, in millionths */
static void set_factor(struct running *r, __u64 now, __u64 worst)
{
	__u64 factor = TRACE_SHARE + (__uint128_t)r->job->communication *
				     (worst - TRACE_SHARE) / TRACE_SHARE;

	if (factor == r->factor)
		return;
	r->left -= (__uint128_t)(now - r->since) * TRACE_SHARE / r->factor;
	r->since = now;
	r->factor = factor;
	r->end = now + ((__uint128_t)r->left * factor + TRACE_SHARE - 1) /
		 TRACE_SHARE;
	r->slowed |= factor > TRACE_SHARE;
}

/* If flows came or went, other jobs may run at another speed. */
static void set_factors(struct replay *p)
{
	__u32 i;

	for (i = 0; p->changed && i < p->running; i++) {
		struct running *r = &p->run[i];

		if (r->nr_links)
			set_factor(r, p->now,
				   replay_load_worst(&p->load, r->job, r->links, r->nr_links));
	}
	p->changed = false;
}

static void add_load(struct replay *p, const struct running *r, int sign)
{
	replay_load_add(&p->load, r->job, r->links, r->nr_links, sign);
	p->changed |= r->nr_links;
}

/* In a slice a job shares no link with other jobs, only with itself. */
static int route(struct replay *p, struct running *r, __u32 seed)
{
	__s64 worst;
	int ret;

	if (p->policy == REPLAY_IDEAL || r->job->gpus < 2)
		return 0;
	if (r->place.slice.nr_spines) {
		worst = replay_load_alone(&p->load, r->job, &r->place, seed);
		if (worst > 0)
			set_factor(r, p->now, worst);
		return worst < 0 ? worst : 0;
	}
	r->links = calloc(r->job->gpus, 2 * sizeof(*r->links));
	if (!r->links)
		return -ENOMEM;
	ret = replay_load_route(&p->load, p->policy, r->job, &r->place, seed,
				r->links, &r->nr_links);
	add_load(p, r, 1);
	return ret;
}

/* Return: 1 if the job has started, 0, or -ENOMEM. */
static int start(struct replay *p, __u32 number)
{
	const struct trace_job *job = &p->spec->job[number];
	struct running *r = &p->run[p->running];
	int ret;

	/* A place comes free only when a job ends. */
	if (p->no_place[job->gpus - 1] == p->ended + 1)
		return 0;
	*r = (struct running) {
		.job = job, .factor = TRACE_SHARE, .since = p->now,
		.left = job->duration, .end = p->now + job->duration,
	};
	ret = replay_site_take(&p->site, p->policy, job->gpus, &r->place, p->result);
	if (!ret)
		p->no_place[job->gpus - 1] = p->ended + 1;
	if (ret <= 0)
		return ret;
	p->running++;
	p->result->placed++;
	p->result->jwt += p->now - job->arrival;
	return route(p, r, p->spec->seed + number) ?: 1;
}

static void end(struct replay *p, __u32 i)
{
	struct replay_result *result = p->result;
	struct running *r = &p->run[i];
	__u64 jct = p->now - r->job->arrival;

	p->jct[p->ended++] = jct;
	result->jrt += jct;
	result->slowed += r->slowed;
	result->makespan = p->now;
	add_load(p, r, -1);
	replay_site_give(&p->site, &r->place);
	free(r->links);
	*r = p->run[--p->running];
}

/* Start jobs of the queue, and refuse jobs that have no place at all. */
static int start_all(struct replay *p)
{
	__u32 i = 0;

	while (i < queue_tries(&p->queue)) {
		int ret = start(p, queue_job(&p->queue, i)->number);

		if (ret < 0)
			return ret;
		if (!ret && p->running) {
			i++;
			continue;
		}
		p->result->refused += !ret;
		queue_take(&p->queue, i);
	}
	return 0;
}

static void end_all(struct replay *p)
{
	__u32 i;

	for (i = p->running; i--;)
		if (p->run[i].end == p->now)
			end(p, i);
}

static void arrive(struct replay *p)
{
	const struct trace_job *job = p->spec->job;

	for (; p->arrived < p->spec->jobs &&
	     job[p->arrived].arrival == p->now; p->arrived++)
		queue_add(&p->queue, &(struct queue_job) {
			.number = p->arrived,
			.gpus = job[p->arrived].gpus,
			.duration = job[p->arrived].duration,
		});
}

/* GPUs that the first jobs of the queue would use in an ideal network. */
static __u32 count_blocked(const struct replay *p)
{
	__u32 n = 0, i;

	for (i = 0; i < p->queue.nr; i++) {
		__u32 gpus = queue_job(&p->queue, i)->gpus;

		if (n + gpus > p->site.free_gpus)
			break;
		n += gpus;
	}
	return n;
}

/* Go on to the next event. Return: false if there is none. */
static bool advance(struct replay *p, __u32 all)
{
	__u64 next = NEVER, used = all - p->site.free_gpus;
	__u32 i;

	if (p->arrived < p->spec->jobs)
		next = p->spec->job[p->arrived].arrival;
	for (i = 0; i < p->running; i++)
		if (p->run[i].end < next)
			next = p->run[i].end;
	if (next == NEVER)
		return false;
	p->result->used += used * (next - p->now);
	p->result->usable += (used + count_blocked(p)) * (next - p->now);
	p->now = next;
	return true;
}

static int play(struct replay *p)
{
	__u32 all = p->site.free_gpus, events = 0;
	int ret = 0;

	while (!ret && advance(p, all)) {
		end_all(p);
		arrive(p);
		ret = start_all(p);
		set_factors(p);
		if (p->spec->progress && !(++events % PROGRESS))
			p->spec->progress(p->ended, p->spec->arg);
	}
	return ret;
}

static int compare_times(const void *a, const void *b)
{
	const __u64 *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

int replay_run(const struct replay_spec *spec, enum replay_policy policy,
	       struct replay_result *result)
{
	__u32 gpus = spec->fabric->leaves * spec->fabric->gpus_per_leaf;
	struct replay p = {
		.spec = spec, .policy = policy, .result = result,
		.no_place = calloc(gpus, sizeof(*p.no_place)),
		.run = calloc(spec->jobs, sizeof(*p.run)),
		.jct = calloc(spec->jobs, sizeof(*p.jct)),
	};
	__u32 n;
	int ret = -ENOMEM;

	*result = (struct replay_result) {};
	if (p.no_place && p.run && p.jct &&
	    !replay_load_init(&p.load, spec->ocs, spec->fabric) &&
	    !replay_site_init(&p.site, spec, policy) &&
	    !queue_init(&p.queue, spec->order, spec->jobs))
		ret = play(&p);
	n = result->placed;
	if (!ret && n) {
		qsort(p.jct, n, sizeof(*p.jct), compare_times);
		result->jct_p99 = p.jct[(n * 99ull + 99) / 100 - 1];
		result->jrt -= result->jwt;
	}
	while (p.running)
		end(&p, 0);
	queue_free(&p.queue);
	replay_site_free(&p.site);
	replay_load_free(&p.load);
	free(p.no_place);
	free(p.run);
	free(p.jct);
	return ret;
}
