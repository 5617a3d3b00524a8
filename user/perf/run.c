// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
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

/* All of them together fit a frame. */
_Static_assert(LAYOUT_MAX_RANKS *
	       (CHUNK_MAX_DIMS * (sizeof(struct nic_address) + sizeof(__u32)) +
		LAYOUT_MAX_RANKS * sizeof(__u32)) <= ~0u,
	       "addresses of all ranks");

/*
 * What a rank tells of itself: for each dimension with a NIC its address, then
 * a queue pair for each member of the group.
 */
static size_t card_size(const struct chunk_collective *of)
{
	size_t size = 0;
	__u32 k;

	for (k = 0; k < of->dims; k++)
		size += sizeof(struct nic_address) +
			of->dim[k].endpoints * sizeof(__u32);
	return size;
}

static int meet(struct run *run)
{
	const struct perf_config *config = run->config;
	size_t largest = card_size(&config->plan.of);
	int ret;

	if (largest < sizeof(struct sample))
		largest = sizeof(struct sample);
	if (largest < reducer_largest(config))
		largest = reducer_largest(config);
	perf_settings_fill(run->settings, config);
	run->meeting = (struct rendezvous_config) {
		.rank = config->launch.rank,
		.ranks = config->layout.ranks,
		.host = config->launch.host,
		.port = config->launch.port,
		.listen = config->listen,
		.token = &config->token,
		.largest = largest,
		.timeout = config->timeout,
		.settings = run->settings,
	};
	ret = loop_open(&run->loop);
	return ret ?: rendezvous_open(&run->rendezvous, &run->meeting,
				      &run->loop, run->err);
}

static bool has_nic(const struct run *run, __u32 k)
{
	return run->config->plan.of.dim[k].endpoints > 1;
}

static int window_get(struct run *run)
{
	size_t bytes = run->config->layout.elements * ELEMENT;

	run->window = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (run->window != MAP_FAILED)
		return 0;
	run->window = NULL;
	return err_errno(run->err, errno, "memory",
			 "no memory for a buffer of %zu bytes", bytes);
}

static int nics_open(struct run *run)
{
	const struct perf_config *config = run->config;
	int ret = 0;
	__u32 k;

	for (k = 0; !ret && k < config->plan.of.dims; k++) {
		struct nic *nic = &run->nic[k];

		if (!has_nic(run, k))
			continue;
		nic->dim = k;
		nic->layout = &config->layout;
		nic->rank = config->launch.rank;
		nic->name = config->dev[k].name;
		nic->gid_index = config->dev[k].gid_index;
		nic->guests = config->reduce.groups.nr * NETREDUCE_COMPLETIONS;
		nic->err = run->err;
		ret = nic_open(nic, run->window, config->timeout / 4);
	}
	return ret;
}

static struct nic_address *card_address(const struct chunk_collective *of,
					char *card, __u32 dim)
{
	__u32 k;

	for (k = 0; k < dim; k++)
		card += sizeof(struct nic_address) +
			of->dim[k].endpoints * sizeof(__u32);
	return (struct nic_address *)card;
}

static int connect_dim(struct run *run, char *cards, __u32 k)
{
	const struct layout *layout = &run->config->layout;
	const struct chunk_collective *of = &layout->plan->of;
	__u32 self = run->config->launch.rank, m;
	__u32 me = layout_member(layout, self, k);
	int ret = 0;

	for (m = 0; !ret && m < of->dim[k].endpoints; m++) {
		__u32 rank = layout_rank(layout, self, k, m);
		struct nic_address *address =
			card_address(of, cards + rank * card_size(of), k);
		const __u32 *qpns = (const __u32 *)(address + 1);

		if (m != me)
			ret = nic_connect(&run->nic[k], m, address, qpns[me]);
	}
	return ret;
}

/* Ranges are written down before anybody sends. */
static int nics_connect(struct run *run)
{
	const struct perf_config *config = run->config;
	const struct chunk_collective *of = &config->plan.of;
	size_t size = card_size(of);
	char *cards = calloc(config->layout.ranks, size);
	char *mine = calloc(1, size);
	int ret = cards && mine ? 0 : -ENOMEM;
	__u32 k;

	for (k = 0; !ret && k < of->dims; k++)
		if (has_nic(run, k)) {
			struct nic_address *address = card_address(of, mine, k);

			nic_describe(&run->nic[k], address,
				     (__u32 *)(address + 1));
		}
	ret = ret ?: rendezvous_gather(run->rendezvous, "addresses", mine,
				       cards, size, 0, run->err);
	for (k = 0; !ret && k < of->dims; k++)
		if (has_nic(run, k))
			ret = connect_dim(run, cards, k);
	if (!ret && config->ranges)
		ret = perf_ranges_write(config, run->nic, run->err);
	/* Where there are no runs, it is the end. */
	ret = ret ?: rendezvous_gather(run->rendezvous,
				       "word that it is connected", NULL, NULL,
				       0, 0, run->err);
	free(cards);
	free(mine);
	return ret;
}

static int write_message(void *arg, const struct message *message)
{
	struct run *run = arg;

	return nic_write(&run->nic[message->dim], message);
}

static void watch(void *arg, __u32 chunk, __u32 stage, __u32 dim, __u64 from,
		  __u64 to)
{
	struct run *run = arg;

	run->result->stage[run->result->stages++] = (struct perf_stage) {
		.chunk = chunk,
		.stage = stage,
		.dim = dim,
		.from = from - run->began,
		.to = to - run->began,
	};
}

static int engine_open(struct run *run)
{
	const struct perf_config *config = run->config;
	__u32 k;
	int ret = 0;

	run->engine = engine_new(&config->layout, config->launch.rank,
				 config->type, run->window, config->in_flight,
				 write_message, run);
	run->result->stage = calloc((size_t)config->plan.of.chunks *
				    config->layout.stages,
				    sizeof(*run->result->stage));
	if (!run->engine || !run->result->stage)
		return -ENOMEM;
	engine_watch(run->engine, watch, run);
	for (k = 0; !ret && k < config->plan.of.dims; k++)
		if (has_nic(run, k))
			ret = nic_start(&run->nic[k], run->engine, &run->loop);
	return ret;
}

static int switch_open(struct run *run)
{
	if (!run->config->reduce.command)
		return 0;
	run->reducer.config = run->config;
	run->reducer.nic = &run->nic[0];
	run->reducer.rendezvous = run->rendezvous;
	run->reducer.failed = run->result->failed;
	run->reducer.err = run->err;
	return reducer_open(&run->reducer);
}

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

/* Until it is over, or nothing has happened for @patience: that is set in @stuck. */
static int wait_over(struct run *run, bool (*is_over)(const struct run *run), __u64 patience,
		     __u64 *stuck)
{
	__u64 until = run->began + patience, before;
	int ret = 0;

	while (!ret && !is_over(run) && !*stuck) {
		before = completed(run);
		ret = loop_wait(&run->loop, until);
		if (completed(run) != before)
			until = progress_now() + patience;
		else if (progress_now() >= until)
			*stuck = patience;
	}
	if (ret && rendezvous_error(run->rendezvous))
		*run->err = *rendezvous_error(run->rendezvous);
	return ret;
}

/* From start to end, while something happens. */
static int go(struct run *run, struct sample *sample)
{
	int ret;

	run->began = progress_now();
	ret = engine_start(run->engine);
	ret = ret ?: wait_over(run, ring_is_over, run->config->timeout / 2, &sample->stuck);
	sample->ns = progress_now() - run->began;
	if (sample->stuck)
		sample->awaited = engine_awaits(run->engine);
	return ret;
}

/* The same by switches. They are given up sooner: the others have patience until then. */
static int sum(struct run *run, struct sample *sample)
{
	__u64 stuck = 0;
	int ret;

	run->began = progress_now();
	reducer_start(&run->reducer);
	ret = wait_over(run, sum_is_over, run->config->timeout / 4, &stuck);
	sample->ns = progress_now() - run->began;
	if (stuck)
		reducer_give_up(&run->reducer, stuck);
	sample->failed = reducer_has_failed(&run->reducer);
	return ret;
}

/*
 * What most ranks wait for has to wait for something itself. A rank that does not
 * even say that it is stuck is found out before.
 */
static int check_stuck(struct run *run, const struct sample *all)
{
	const struct sample *first = NULL;
	__u32 i;

	for (i = 0; i < run->config->layout.ranks; i++)
		if (all[i].stuck && (!first ||
				     all[i].awaited.order < first->awaited.order))
			first = &all[i];
	if (!first)
		return 0;
	run->same = true;
	return err_set(run->err, EXIT_FAILED, "stuck",
		       "rank %u waits for rank %u to %s in dimension %u, for %llu seconds (chunk %u, stage %u)",
		       (__u32)(first - all), first->awaited.rank,
		       first->awaited.arrival ? "send" : "acknowledge",
		       first->awaited.dim, first->stuck / 1000000000,
		       first->awaited.chunk, first->awaited.stage);
}

/* The first reason of all is told with the result. */
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
		snprintf(name, sizeof(name), "group %u: ", reduce->groups.group[i].number);
	snprintf(result->reason, sizeof(result->reason), "%s%s", name, result->failed[i]);
}

/* As go_ring(), of the same input, which stays as it is; unless @done in the end. */
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

/* Filled and checked outside the time, begun and ended by all together. */
static int go_ring(struct run *run, struct sample *all)
{
	const struct perf_config *config = run->config;
	struct sample mine = {};
	int ret;

	engine_reset(run->engine);
	run->result->stages = 0;
	ret = rendezvous_gather(run->rendezvous, "word that it is ready", NULL,
				NULL, 0, 0, run->err);
	ret = ret ?: go(run, &mine);
	if (ret)
		return ret;
	mine.wrong = data_check(&config->layout, config->type,
				config->launch.rank, run->window);
	return rendezvous_gather(run->rendezvous, "result", &mine, all,
				 sizeof(mine), mine.stuck, run->err) ?:
	       check_stuck(run, all);
}

/* What switches fail to sum, the ring does at once. */
static int go_once(struct run *run, struct sample *all, bool measured)
{
	const struct perf_config *config = run->config;
	bool done = false;
	int ret = 0;

	data_fill(&config->layout, config->type, config->launch.rank,
		  run->window);
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

static int go_all(struct run *run)
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
			add_samples(run->result, samples, ranks,
				    i >= config->warmup);
	}
	progress_end(&progress);
	free(samples);
	return ret;
}

/* A failure of ours gets our rank; one of others has theirs. */
static void explain(struct run *run, int ret)
{
	struct err *err = run->err;
	char message[sizeof(err->message) - 16];

	if (!err->code)
		err_set(err, EXIT_FAILED, "system", "%s", strerror(-ret));
	if (run->same || (run->rendezvous && rendezvous_error(run->rendezvous)))
		return;
	snprintf(message, sizeof(message), "%.*s", (int)sizeof(message) - 1,
		 err->message);
	snprintf(err->message, sizeof(err->message), "rank %u: %s",
		 run->config->launch.rank, message);
}

static void close_all(struct run *run)
{
	__u32 k;

	rendezvous_close(run->rendezvous, run->err);
	reducer_close(&run->reducer, &run->result->left);
	for (k = 0; k < run->config->plan.of.dims; k++)
		if (has_nic(run, k))
			nic_close(&run->nic[k]);
	engine_free(run->engine);
	if (run->window)
		munmap(run->window, run->config->layout.elements * ELEMENT);
	loop_close(&run->loop);
}

int perf_run(const struct perf_config *config, struct perf_result *result,
	     struct err *err)
{
	struct run run = {
		.config = config,
		.err = err,
		.result = result,
		.loop.fd = -1,
	};
	int ret;

	ret = meet(&run) ?: window_get(&run) ?: nics_open(&run) ?:
	      nics_connect(&run) ?: engine_open(&run) ?: switch_open(&run) ?: go_all(&run);
	if (ret)
		explain(&run, ret);
	close_all(&run);
	return ret;
}
