// SPDX-License-Identifier: GPL-2.0
/*
 * Collectives run by their engines over links with a rate and a latency take as long as the
 * model of their plans predicts, for all algorithms and numbers of stages in flight, also where
 * latencies are as long as what they are hidden behind. What switches sum arrives when the
 * messages of all members have left.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../../user/perf/engine/outbox.h"
#include "chunk/chunk.h"
#include "../../ktap.h"

#define RANKS	16u
#define DIMS	2u
#define SECOND	1000000000000ull	/* ps */

/* Events: a message leaves a link, arrives, or is acknowledged. */
struct event {
	__u64 at;
	enum { LEFT, ARRIVED, SENT } what;
	__u32 rank;		/* that has sent it */
	__u32 dim;
	__u32 index;		/* in its outbox */
	struct message message;
};

static struct layout layout;
static struct engine *engines[RANKS];
static struct outbox outboxes[RANKS][DIMS];
static __u64 free_at[RANKS][DIMS];	/* the link, when it has sent all */
static struct event events[RANKS * DIMS * 256];
static __u32 nr_events;
static struct event held[RANKS * DIMS * 256];	/* by switches */
static __u32 nr_held;
static __u64 now, latency;

static void add_event(struct event event, __u64 after)
{
	event.at = after;
	events[nr_events++] = event;
}

/* The first event of a time is taken first, as links keep their order. */
static struct event next_event(void)
{
	struct event event;
	__u32 next = 0, i;

	for (i = 1; i < nr_events; i++)
		if (events[i].at < events[next].at)
			next = i;
	event = events[next];
	nr_events--;
	memmove(&events[next], &events[next + 1], (nr_events - next) * sizeof(*events));
	return event;
}

static __u64 bytes_per_second(__u32 dim)
{
	return ((__u64)layout.plan->of.dim[dim].bandwidth << 30) / CHUNK_BANDWIDTH_UNIT;
}

/* The NIC takes what it is given, and sends it in that order. */
static void link_feed(__u32 rank, __u32 dim)
{
	__u64 *until = &free_at[rank][dim];
	const struct message *message;
	__u32 index;

	while ((message = outbox_get(&outboxes[rank][dim], &index))) {
		if (*until < now)
			*until = now;
		*until += message->elements * ELEMENT * SECOND / bytes_per_second(dim);
		add_event((struct event) {
			.what = LEFT, .rank = rank, .dim = dim, .index = index,
			.message = *message,
		}, *until);
	}
}

static int host_write(void *arg, const struct message *message)
{
	__u32 rank = (struct engine **)arg - engines;

	outbox_put(&outboxes[rank][message->dim], message);
	link_feed(rank, message->dim);
	return 0;
}

static bool is_peer(const struct event *event, __u32 rank)
{
	return layout_rank(&layout, event->rank, event->dim, 0) ==
	       layout_rank(&layout, rank, event->dim, 0);
}

/* The messages of all members at a place arrive together. */
static void hold(struct event event)
{
	__u32 here = 1, left = 0, i;

	for (i = 0; i < nr_held; i++)
		here += held[i].dim == event.dim && held[i].message.id == event.message.id &&
			is_peer(&held[i], event.rank);
	held[nr_held++] = event;
	if (here < layout.plan->of.dim[event.dim].endpoints)
		return;
	for (i = 0; i < nr_held; i++) {
		struct event one = held[i];

		if (one.dim == event.dim && one.message.id == event.message.id &&
		    is_peer(&one, event.rank)) {
			one.what = ARRIVED;
			add_event(one, now + latency);
		} else {
			held[left++] = one;
		}
	}
	nr_held = left;
}

static int happen(struct event event)
{
	const struct message *message = &event.message;
	__u32 to = layout_rank(&layout, event.rank, event.dim, message->member);

	now = event.at;
	switch (event.what) {
	case LEFT:
		if (message->sum) {
			hold(event);
			return 0;
		}
		event.what = ARRIVED;
		add_event(event, now + latency);
		return 0;
	case ARRIVED:
		event.what = SENT;
		add_event(event, now + latency);
		return engine_arrived(engines[to], event.dim,
				      layout_member(&layout, event.rank, event.dim), message->id);
	case SENT:
		outbox_done(&outboxes[event.rank][event.dim], event.index);
		link_feed(event.rank, event.dim);
		return engine_sent(engines[event.rank], message->id);
	}
	return -1;
}

static void count(void *arg, __u32 chunk, __u32 stage, const struct message *message)
{
	struct outbox *outbox = arg;

	(void)chunk;
	(void)stage;
	outbox[message->dim].room++;
}

/* Return: ps, or 0 when it was not done. */
static __u64 run(const struct chunk_plan *plan, __u32 in_flight)
{
	bool done = true;
	__u32 rank, k;
	void *window;
	int ret = 0;

	layout_init(&layout, plan);
	window = calloc(layout.elements, ELEMENT);
	memset(outboxes, 0, sizeof(outboxes));
	memset(free_at, 0, sizeof(free_at));
	now = 0;
	for (rank = 0; rank < layout.ranks; rank++) {
		engines[rank] = engine_new(&layout, rank, DATA_INT32, window,
					   in_flight, host_write,
					   &engines[rank]);
		engine_messages(&layout, rank, count, outboxes[rank]);
		for (k = 0; k < DIMS; k++) {
			outboxes[rank][k].most = 1024;
			/* The bytes that a link carries until a message is acknowledged */
			if (plan->of.dim[k].latency)
				outboxes[rank][k].under_way = (__uint128_t)2 * latency *
							      bytes_per_second(k) / SECOND;
			outbox_init(&outboxes[rank][k]);
		}
	}
	for (rank = 0; rank < layout.ranks; rank++)
		ret |= engine_start(engines[rank]);
	while (nr_events)
		ret |= happen(next_event());
	for (rank = 0; rank < layout.ranks; rank++) {
		done &= engine_is_done(engines[rank]);
		engine_free(engines[rank]);
		for (k = 0; k < DIMS; k++)
			outbox_free(&outboxes[rank][k]);
	}
	free(window);
	layout_free(&layout);
	return done && !ret ? now : 0;
}

/* All ways to run a collective, compared with the model; @sums: by switches in dimension 0 */
static void test_plan(const char *name, __u32 n0, __u32 n1,
		      enum chunk_policy policy, enum chunk_queue queue, bool sums)
{
	struct chunk_collective of = {
		.size = 4 << 20, .chunks = 32, .dims = DIMS,
		.dim = { { .endpoints = n0, .bandwidth = 2000 },
			 { .endpoints = n1, .bandwidth = 1000 } },
	};
	__u64 predicted, worst = 0, least = -1;
	struct chunk_model *model;
	struct chunk_plan plan;
	__u32 in_flight;
	int alg;

	if (sums)
		of.dim[0].alg = CHUNK_NETREDUCE;
	chunk_plan_make(&plan, &of, policy);
	plan.queue = queue;
	model = chunk_model_new(&of);
	predicted = chunk_model_run(model, &plan, NULL, NULL);
	chunk_model_free(model);
	/* A hundredth of what a message takes. */
	latency = predicted / 32 / 3 / 100;
	for (alg = CHUNK_RING; alg <= CHUNK_DIRECT; alg++)
		for (in_flight = 3; in_flight <= 32; in_flight += 5) {
			__u64 time;

			if (!sums)
				plan.of.dim[0].alg = alg;
			plan.of.dim[1].alg = alg;
			time = run(&plan, in_flight);
			if (time > worst)
				worst = time;
			if (time < least)
				least = time;
		}
	ktap_result(least && worst <= predicted + predicted / 50,
		    "%s over %ux%u%s: %.1f %% of what is predicted", name, n0, n1,
		    sums ? ", with sums by switches" : "", 100.0 * worst / predicted);
	chunk_plan_free(&plan);
}

/* Time of a run over its prediction, where a step has a latency of a share of a stage's bytes. */
static double run_over_model(enum chunk_kind kind, __u32 n0, __u32 n1, enum chunk_alg alg,
			     __u32 in_flight, __u32 share, __u32 chunks)
{
	struct chunk_collective of = {
		.kind = kind, .size = 4 << 20, .chunks = chunks, .in_flight = in_flight,
		.dims = DIMS,
		.dim = { { .endpoints = n0, .bandwidth = 2000000, .alg = alg },
			 { .endpoints = n1, .bandwidth = 1000000, .alg = alg } },
	};
	struct chunk_model *model;
	struct chunk_plan plan;
	double ratio;
	__u32 k;

	latency = chunk_time(&of.dim[0], of.size / chunks) / share;
	for (k = 0; k < DIMS; k++)
		of.dim[k].latency = latency * chunk_alg_steps(alg, of.dim[k].endpoints);
	if (chunk_plan_make(&plan, &of, CHUNK_THEMIS))
		return 0;
	model = chunk_model_new(&of);
	ratio = (double)run(&plan, in_flight) / chunk_model_run(model, &plan, NULL, NULL);
	chunk_model_free(model);
	chunk_plan_free(&plan);
	return ratio;
}

/* With latencies of as much as the bytes of a stage take, or a fourth of that */
static void test_latency(enum chunk_kind kind, __u32 n0, __u32 n1)
{
	static const __u32 in_flight[] = { 1, 2, 4, 8, 32 };
	static const enum chunk_alg algs[] = { CHUNK_RING, CHUNK_DIRECT, CHUNK_HALVING };
	double least = 1e9, most = 0, sum = 0, ratio;
	__u32 combinations, i;

	combinations = (ARRAY_SIZE(algs) - (kind == CHUNK_ALL_TO_ALL)) * 5 * 2 * 3;
	for (i = 0; i < combinations; i++) {
		enum chunk_alg alg = algs[i / 30];

		ratio = run_over_model(kind, n0, n1, alg, in_flight[i % 5], 1 << i / 5 % 2 * 2,
				       1 << i / 10 % 3 * 2);
		sum += ratio;
		least = ratio < least ? ratio : least;
		most = ratio > most ? ratio : most;
	}
	ktap_result(least > 0.85 && most < 1.15 && fabs(sum / i - 1) < 0.03,
		    "%s over %ux%u with latencies: %.1f to %.1f %% of what is predicted, %.1f in the mean",
		    chunk_kinds[kind], n0, n1, 100 * least, 100 * most, 100 * sum / i);
}

int main(void)
{
	static const struct {
		const char *name;
		enum chunk_policy policy;
		enum chunk_queue queue;
	} how[] = {
		{ "the baseline", CHUNK_BASELINE, CHUNK_FIFO },
		{ "Themis, FIFO", CHUNK_THEMIS, CHUNK_FIFO },
		{ "Themis, SCF", CHUNK_THEMIS, CHUNK_SCF },
	};
	__u32 i;

	ktap_begin();
	for (i = 0; i < ARRAY_SIZE(how); i++) {
		test_plan(how[i].name, 4, 2, how[i].policy, how[i].queue, false);
		test_plan(how[i].name, 4, 4, how[i].policy, how[i].queue, false);
		test_plan(how[i].name, 2, 8, how[i].policy, how[i].queue, false);
		test_plan(how[i].name, 4, 2, how[i].policy, how[i].queue, true);
		test_plan(how[i].name, 8, 2, how[i].policy, how[i].queue, true);
	}
	test_latency(CHUNK_ALL_REDUCE, 4, 2);
	test_latency(CHUNK_ALL_REDUCE, 4, 4);
	test_latency(CHUNK_ALL_TO_ALL, 4, 2);
	test_latency(CHUNK_ALL_TO_ALL, 4, 4);
	return ktap_end();
}
