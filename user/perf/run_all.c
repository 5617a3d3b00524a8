// SPDX-License-Identifier: GPL-2.0
/* The runs, by switches and by the ring, when all ranks are connected. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "run_priv.h"

static __u64 completed(const struct run *run)
{
	__u64 sum = 0;
	__u32 k;

	for (k = 0; k < run->config->plan.of.dims; k++)
		sum += run->nic[k].completed;
	return sum;
}

static bool ring_is_over(const struct run *run)
{
	return engine_is_done(run->engine);
}

static bool sum_is_over(const struct run *run)
{
	return reducer_is_over(&run->reducer);
}

/* Until it is over, or nothing has happened for @limit: that is set in @stuck. */
static int wait_over(struct run *run, bool (*is_over)(const struct run *run), __u64 limit,
		     __u64 *stuck)
{
	__u64 until = run->began + limit, before;
	int ret = 0;

	while (!ret && !is_over(run) && !*stuck) {
		before = completed(run);
		ret = loop_wait(&run->loop, until);
		if (completed(run) != before)
			until = clock_ns() + limit;
		else if (clock_ns() >= until)
			*stuck = limit;
	}
	if (ret && rendezvous_error(run->rendezvous))
		*run->err = *rendezvous_error(run->rendezvous);
	return ret;
}

/* Run from start to end, while something happens. */
static int go(struct run *run, struct sample *sample)
{
	int ret;

	run->began = clock_ns();
	ret = engine_start(run->engine);
	ret = ret ?: wait_over(run, ring_is_over, run->config->timeout / 2, &sample->stuck);
	sample->ns = clock_ns() - run->began;
	if (sample->stuck)
		sample->awaited = engine_awaits(run->engine);
	return ret;
}

/* Run by switches. They are given up sooner, while other ranks still wait for this one. */
static int sum(struct run *run, struct sample *sample)
{
	__u64 stuck = 0;
	int ret;

	run->began = clock_ns();
	reducer_start(&run->reducer);
	ret = wait_over(run, sum_is_over, run->config->timeout / 4, &stuck);
	sample->ns = clock_ns() - run->began;
	if (stuck)
		reducer_give_up(&run->reducer, stuck);
	sample->failed = reducer_has_failed(&run->reducer);
	return ret;
}

/*
 * If most ranks wait for one rank, that rank has to wait for something itself. A rank that
 * does not report at all is found before.
 */
static int check_stuck(struct run *run, const struct sample *all)
{
	const struct sample *first = NULL;
	__u32 i, rank, group;

	for (i = 0; i < run->config->layout.ranks; i++)
		if (all[i].stuck && (!first || all[i].awaited.order < first->awaited.order))
			first = &all[i];
	if (!first)
		return 0;
	run->same = true;
	rank = first - all;
	if (first->awaited.sum) {
		group = sums_group(run->config, rank);
		return err_set(run->err, EXIT_FAILED, "stuck",
			       "dimension %u: group %u: rank %u has waited for the sum of chunk %u for %llu seconds: rocesteer reduce show %u on the switch may say why",
			       first->awaited.dim, group, rank, first->awaited.chunk,
			       first->stuck / 1000000000, group);
	}
	return err_set(run->err, EXIT_FAILED, "stuck",
		       "rank %u waits for rank %u to %s in dimension %u, for %llu seconds (chunk %u, stage %u)",
		       rank, first->awaited.rank,
		       first->awaited.arrival ? "send" : "acknowledge",
		       first->awaited.dim, first->stuck / 1000000000,
		       first->awaited.chunk, first->awaited.stage);
}

/* Keep the first reason, for the result. */
static void note_reason(struct run *run)
{
	const struct perf_reduce *reduce = &run->config->reduce;
	struct perf_result *result = run->result;
	char name[32] = "";
	__u32 i = 0;

	while (i < reduce->groups.nr && !result->failed[i][0])
		i++;
	if (i == reduce->groups.nr || result->reason[0])
		return;
	if (reduce->file)
		snprintf(name, sizeof(name), "group %u: ", reduce->groups.group[i].config.id);
	snprintf(result->reason, sizeof(result->reason), "%s%s", name, result->failed[i]);
}

/* A run by switches, of the input of the ring. @done: the results are kept. */
static int go_switch(struct run *run, struct sample *all, bool *done)
{
	const struct perf_config *config = run->config;
	struct sample mine = {};
	int ret = reducer_prepare(&run->reducer);
	__u32 i;

	if (ret || !run->reducer.alive)
		return ret;
	ret = rendezvous_gather(run->rendezvous, "word that it is ready", NULL,
				NULL, 0, 0, run->err);
	ret = ret ?: sum(run, &mine);
	if (ret)
		return ret;
	mine.wrong = data_check(&config->layout, config->type, config->launch.rank,
				run->reducer.results);
	ret = rendezvous_gather(run->rendezvous, "sum", &mine, all, sizeof(mine), 0, run->err);
	*done = true;
	for (i = 0; !ret && i < config->layout.ranks; i++)
		*done &= !all[i].failed;
	if (ret || *done)
		return ret;
	ret = reducer_stop(&run->reducer);
	note_reason(run);
	return ret;
}

/* A run by the ring, whose time is without fill and check. All ranks begin and end together. */
static int go_ring(struct run *run, struct sample *all)
{
	const struct perf_config *config = run->config;
	struct sample mine = {};
	int ret;

	engine_reset(run->engine);
	if (config->sums.command)
		sums_reset(&run->sums);
	run->result->stages = 0;
	ret = rendezvous_gather(run->rendezvous, "word that it is ready", NULL,
				NULL, 0, 0, run->err);
	ret = ret ?: go(run, &mine);
	if (ret)
		return ret;
	mine.wrong = data_check(&config->layout, config->type, config->launch.rank, run->window);
	return rendezvous_gather(run->rendezvous, "result", &mine, all,
				 sizeof(mine), mine.stuck, run->err) ?:
	       check_stuck(run, all);
}

/* If the switches fail, the ring sums at once. */
static int go_once(struct run *run, struct sample *all, bool measured)
{
	const struct perf_config *config = run->config;
	bool done = false;
	int ret = 0;

	data_fill(&config->layout, config->type, config->launch.rank, run->window);
	if (run->reducer.alive)
		ret = go_switch(run, all, &done);
	if (ret || done)
		return ret;
	run->result->by_ring += !!config->reduce.command;
	run->result->measured_by_ring += config->reduce.command && measured;
	return go_ring(run, all);
}

static void add_samples(struct perf_result *result, const struct sample *all,
			__u32 ranks, bool measured)
{
	__u64 most = 0;
	__u32 i;

	for (i = 0; i < ranks; i++) {
		if (all[i].ns > most)
			most = all[i].ns;
		if (all[i].wrong && !result->wrong)
			result->wrong_rank = i;
		result->wrong += all[i].wrong;
	}
	if (!measured)
		return;
	result->ns += most;
	if (most > result->most)
		result->most = most;
	if (most < result->least || !result->least)
		result->least = most;
}

int run_all(struct run *run)
{
	const struct perf_config *config = run->config;
	__u32 ranks = config->layout.ranks, all = config->warmup + config->iters;
	struct sample *samples = calloc(ranks, sizeof(*samples));
	struct progress progress;
	int ret = samples ? 0 : -ENOMEM;
	__u32 i;

	progress_start(&progress);
	for (i = 0; !ret && i < all; i++) {
		if (!config->launch.rank)
			progress_update(&progress, "run %u of %u", i + 1, all);
		ret = go_once(run, samples, i >= config->warmup);
		if (!ret)
			add_samples(run->result, samples, ranks, i >= config->warmup);
	}
	progress_end(&progress);
	free(samples);
	return ret;
}
