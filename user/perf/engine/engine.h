/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine runs a plan on one rank: it chooses the next write, adds what arrives, and
 * knows no network. Writes go through a callback, and the caller reports writes and
 * arrivals.
 *
 * The stages of a dimension are in the order in which the model of the plan begins them,
 * which is the same on all ranks. The first unfinished stages, as many as may be in flight,
 * begin as soon as their chunks arrive. No stage waits for a later one in this order, so
 * ranks cannot deadlock, however far they are apart. Waiting messages should leave in this
 * order too; otherwise they are late, but not wrong.
 *
 * Switches know what they sum by its place among all that a rank sends. So stages that switches
 * sum begin one after the other, in the same order, and so are their messages written.
 *
 * A message arrives at a place that nothing else is written to in the same run, also before
 * its stage begins here.
 *
 * In a step of a tree a rank may have nothing to send, or nothing to receive. Then the rank is
 * itself the destination, or the source.
 */
#ifndef ROCESTEER_PERF_ENGINE_H
#define ROCESTEER_PERF_ENGINE_H

#include "data.h"
#include "layout.h"

/**
 * struct message - a message from this rank to another
 * @dim: dimension
 * @member: destination in the group
 * @source: member whose message this rank gets in exchange
 * @from: offset in the window, in elements
 * @to: offset in the window of the destination, in elements
 * @elements: length, may be 0
 * @order: order of its stage among all stages, from 0
 * @id: number of the message, sent as the immediate
 * @sum: switches sum it with those of all members; what comes from @source is the sum
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
	bool sum;
};

/* Return: 0 or a negative errno. The caller reports the end of the write later. */
typedef int engine_write_fn(void *arg, const struct message *message);

struct engine;

/**
 * engine_new() - create an engine
 * @layout: layout of the plan
 * @rank: this rank
 * @type: type of the elements
 * @window: window of @layout->elements
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

/* Forget the last run, which is done. */
void engine_reset(struct engine *engine);

/* Begin a run. Messages may have arrived before. Return: 0 or a negative errno. */
int engine_start(struct engine *engine);

/**
 * engine_arrived() - a message has arrived
 * @engine: engine
 * @dim: dimension
 * @from: sender, by its member number
 * @id: id of the message
 *
 * Return: 0, a negative errno of the callback, or -EPROTO for an unexpected message.
 */
int engine_arrived(struct engine *engine, __u32 dim, __u32 from, __u32 id);

/* A message is acknowledged. Return: as engine_arrived(). */
int engine_sent(struct engine *engine, __u32 id);

bool engine_is_done(const struct engine *engine);

/**
 * struct awaited - the message that an unfinished rank waits for
 * @rank: sender, or receiver that has not acknowledged
 * @dim: dimension
 * @chunk: chunk
 * @stage: stage
 * @arrival: wait for the message, else for its acknowledgment
 * @sum: switches sum the message
 * @order: of the messages that ranks wait for, the one with the least order waits for none of
 *	the others
 */
struct awaited {
	__u32 rank;
	__u32 dim;
	__u32 chunk;
	__u32 stage;
	bool arrival;
	bool sum;
	__u64 order;
};

/* The first thing that an unfinished engine waits for. */
struct awaited engine_awaits(const struct engine *engine);

/* Called at the end of a stage, with the times in ns at which it began and ended. */
typedef void engine_watch_fn(void *arg, __u32 chunk, __u32 stage, __u32 dim, __u64 from, __u64 to);

void engine_watch(struct engine *engine, engine_watch_fn *fn, void *arg);

/* Called for each message that a run writes. */
typedef void engine_message_fn(void *arg, __u32 chunk, __u32 stage, const struct message *message);

/* List all messages of a run in advance, chunk by chunk; @order is 0. */
void engine_messages(const struct layout *layout, __u32 rank, engine_message_fn *fn, void *arg);

#endif /* ROCESTEER_PERF_ENGINE_H */
