/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a plan on one rank: which write is next, what a message means, what is
 * added to what. It knows no network: writes go through a callback, and it is
 * told what was written and what has arrived.
 *
 * Each dimension has its stages in the order in which the model of the plan
 * begins them, which is the same on all ranks. Of these the first that are not
 * done, as many as may be in flight, begin as soon as their chunks get there.
 * Since no stage waits for a later one in this order, ranks cannot deadlock,
 * however far they are apart. Messages that wait to be sent are to leave in this
 * order, too: in another one they would only be late.
 *
 * A message arrives at a place that nothing else is written to in the same run,
 * also when the stage has not begun yet here.
 */
#ifndef ROCESTEER_PERF_ENGINE_H
#define ROCESTEER_PERF_ENGINE_H

#include "data.h"
#include "layout.h"

/**
 * struct message - that a rank writes to another
 * @dim: dimension
 * @member: who it goes to in the group
 * @source: whose message the rank gets in exchange
 * @from: where it is, in elements of the window
 * @to: where it goes, in elements of the other's window
 * @elements: may be 0
 * @order: of its stage among all, from 0
 * @id: which one it is, for the other: the immediate
 */
struct message {
	__u32 dim;
	__u32 member;
	__u32 source;
	__u64 from;
	__u64 to;
	__u64 elements;
	__u32 order;
	__u32 id;
};

/* Return: 0 or a negative errno. What is told of it may come later only. */
typedef int engine_write_fn(void *arg, const struct message *message);

struct engine;

/**
 * engine_new() - make ready to run a plan
 * @layout: of the plan
 * @rank: who we are
 * @type: of the elements
 * @window: of @layout->elements
 * @in_flight: stages per dimension, 1 or more
 * @write: called for each message
 * @arg: passed on
 *
 * Return: the engine, to be freed, or NULL without memory.
 */
struct engine *engine_new(const struct layout *layout, __u32 rank,
			  enum data_type type, void *window, __u32 in_flight,
			  engine_write_fn *write, void *arg);

void engine_free(struct engine *engine);

/* Forget the run before, when everything of it is done. */
void engine_reset(struct engine *engine);

/* Begin. Messages may have arrived before. Return: 0 or a negative errno. */
int engine_start(struct engine *engine);

/**
 * engine_arrived() - a message is here
 * @engine: engine
 * @dim: dimension
 * @member: who sent it
 * @id: its id
 *
 * Return: 0, a negative errno of the callback, or -EPROTO for a message that is
 * not to come.
 */
int engine_arrived(struct engine *engine, __u32 dim, __u32 member, __u32 id);

/* A message has left, and is acknowledged. Return: as engine_arrived(). */
int engine_sent(struct engine *engine, __u32 id);

bool engine_is_done(const struct engine *engine);

/**
 * struct awaited - what a rank that is not done waits for
 * @rank: to send it, or to take what was sent to it
 * @dim: in which dimension
 * @chunk: of which chunk
 * @stage: in which stage
 * @arrival: to receive; else only to know that something was received
 * @order: of what different ranks wait for, the one with the least is not
 *	waiting for any of the others
 */
struct awaited {
	__u32 rank;
	__u32 dim;
	__u32 chunk;
	__u32 stage;
	bool arrival;
	__u64 order;
};

/* Of what the engine waits for, when it is not done, the first. */
struct awaited engine_awaits(const struct engine *engine);

/* When stages began and ended: called as a stage ends, with times in ns. */
typedef void engine_watch_fn(void *arg, __u32 chunk, __u32 stage, __u32 dim,
			     __u64 from, __u64 to);

void engine_watch(struct engine *engine, engine_watch_fn *fn, void *arg);

/* Called for each message that a run writes. */
typedef void engine_message_fn(void *arg, __u32 chunk, __u32 stage,
			       const struct message *message);

/* Tell of all messages of a run in advance, chunk by chunk; @order is 0. */
void engine_messages(const struct layout *layout, __u32 rank,
		     engine_message_fn *fn, void *arg);

#endif /* ROCESTEER_PERF_ENGINE_H */
