// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "run_priv.h"

/* The addresses of all ranks fit a frame. */
_Static_assert(LAYOUT_MAX_RANKS *
	       (CHUNK_MAX_DIMS * (sizeof(struct nic_address) + sizeof(__u32)) +
		LAYOUT_MAX_RANKS * sizeof(__u32)) <= ~0u,
	       "addresses of all ranks");

/*
 * The card of a rank: for each dimension with a NIC its address, then a queue pair for each
 * member of the group.
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
	if (largest < sizeof(struct netreduce_card))
		largest = sizeof(struct netreduce_card);
	if (largest < sums_largest(config))
		largest = sums_largest(config);
	perf_settings_fill(run->settings, config);
	run->meeting = (struct rendezvous_config) {
		.rank = config->launch.rank,
		.ranks = config->layout.ranks,
		.host = config->launch.host,
		.port = config->launch.port,
		.listen = config->listen,
		.largest = largest,
		.timeout = config->timeout,
		.settings = run->settings,
	};
	ret = loop_open(&run->loop);
	return ret ?: rendezvous_open(&run->rendezvous, &run->meeting, &run->loop, run->err);
}

static bool has_nic(const struct run *run, __u32 k)
{
	return run->config->plan.of.dim[k].endpoints > 1;
}

static int window_get(struct run *run)
{
	size_t bytes = run->config->layout.elements * ELEMENT;

	run->window = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (run->window != MAP_FAILED)
		return 0;
	run->window = NULL;
	return err_errno(run->err, errno, "memory", "no memory for a buffer of %zu bytes", bytes);
}

/* Completions of others than the plan's queue pairs */
static __u32 guests(const struct perf_config *config, __u32 dim)
{
	if (config->sums.command)
		return config->sums.dim == dim ? NETREDUCE_COMPLETIONS : 0;
	return config->reduce.groups.nr * NETREDUCE_COMPLETIONS;
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
		nic->device.name = config->dev[k].name;
		nic->device.gid_index = config->dev[k].gid_index;
		nic->guests = guests(config, k);
		nic->device.err = run->err;
		ret = nic_open(nic, run->window, config->timeout / 4);
	}
	return ret;
}

static struct nic_address *card_address(const struct chunk_collective *of, char *card, __u32 dim)
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

/* The file of ranges is written before any rank sends. */
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

			nic_describe(&run->nic[k], address, (__u32 *)(address + 1));
		}
	ret = ret ?: rendezvous_gather(run->rendezvous, "addresses", mine,
				       cards, size, 0, run->err);
	for (k = 0; !ret && k < of->dims; k++)
		if (has_nic(run, k))
			ret = connect_dim(run, cards, k);
	if (!ret && config->ranges)
		ret = perf_ranges_write(config, run->nic, run->err);
	/* Without runs this is the end. */
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

	return message->sum ? sums_write(&run->sums, message) :
			      nic_write(&run->nic[message->dim], message);
}

static void watch(void *arg, __u32 chunk, __u32 stage, __u32 dim, __u64 from, __u64 to)
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
				 config->type, run->window, config->plan.of.in_flight,
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
	const struct perf_sums *sums = &run->config->sums;

	if (sums->command) {
		run->sums.config = run->config;
		run->sums.nic = &run->nic[sums->dim];
		run->sums.rendezvous = run->rendezvous;
		run->sums.err = run->err;
		return sums_open(&run->sums);
	}
	if (!run->config->reduce.command)
		return 0;
	run->reducer.config = run->config;
	run->reducer.nic = &run->nic[0];
	run->reducer.rendezvous = run->rendezvous;
	run->reducer.failed = run->result->failed;
	run->reducer.err = run->err;
	return reducer_open(&run->reducer);
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
	snprintf(message, sizeof(message), "%.*s", (int)sizeof(message) - 1, err->message);
	snprintf(err->message, sizeof(err->message), "rank %u: %s",
		 run->config->launch.rank, message);
}

static void close_all(struct run *run)
{
	__u32 k;

	rendezvous_close(run->rendezvous, run->err);
	reducer_close(&run->reducer, &run->result->left);
	sums_close(&run->sums, &run->result->left);
	for (k = 0; k < run->config->plan.of.dims; k++)
		if (has_nic(run, k))
			nic_close(&run->nic[k]);
	engine_free(run->engine);
	if (run->window)
		munmap(run->window, run->config->layout.elements * ELEMENT);
	loop_close(&run->loop);
}

int perf_run(const struct perf_config *config, struct perf_result *result, struct err *err)
{
	struct run run = {
		.config = config,
		.err = err,
		.result = result,
		.loop.fd = -1,
	};
	int ret;

	ret = meet(&run) ?: window_get(&run) ?: nics_open(&run) ?:
	      nics_connect(&run) ?: engine_open(&run) ?: switch_open(&run) ?: run_all(&run);
	if (ret)
		explain(&run, ret);
	close_all(&run);
	return ret;
}
