/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the engine. */
#ifndef ROCESTEER_PERF_ENGINE_PRIV_H
#define ROCESTEER_PERF_ENGINE_PRIV_H

#include "engine.h"

/* An id: chunk, stage, index of the exchange in the stage. */
#define INDEX_BITS	13
#define STAGE_BITS	4

/**
 * struct work - a stage of a chunk
 * @chunk: number of the chunk
 * @number: number of the stage
 * @order: order in which the model begins the stage, over all dimensions
 * @stage: kind of the stage
 * @range: elements of the stage
 * @members: members of the group
 * @width: exchanges of a step
 * @reduces: exchanges of the Reduce-Scatter, or of an All-to-All: what is received is staged;
 *	those of the All-Gather follow
 * @exchanges: exchanges of both
 * @arrived: by exchange: its message has arrived
 * @index: first exchange of the present step
 * @left: exchanges of that step that have not arrived
 * @unsent: messages that are not acknowledged
 * @begun: messages are being sent
 * @from: time of the begin, ns
 */
struct work {
	__u32 chunk;
	__u32 number;
	__u32 order;
	struct stage stage;
	struct range range;
	__u32 members;
	__u32 width;
	__u32 reduces;
	__u32 exchanges;
	bool *arrived;
	__u32 index;
	__u32 left;
	__u32 unsent;
	bool begun;
	__u64 from;
};

/**
 * struct line - stages of a dimension, in order
 * @work: stages
 * @nr: number of these
 * @received: the first ones, of which all messages have arrived: no longer in flight
 * @done: the first ones, of which all messages are acknowledged as well
 */
struct line {
	struct work **work;
	__u32 nr;
	__u32 received;
	__u32 done;
};

/**
 * struct engine - a rank that runs a plan
 * @layout: layout of the plan
 * @rank: this rank
 * @type: type of the elements
 * @window: window of this rank
 * @in_flight: stages of a dimension at a time, at most
 * @write: called for each message
 * @arg: passed to @write
 * @watch: called for each stage that is done, or NULL
 * @watch_arg: passed to @watch
 * @line: stages of each dimension
 * @works: number of all stages
 * @reached: by chunk: stages whose messages have all arrived
 * @work: stages, by chunk and number
 * @arrived: flags of all stages
 * @nr_arrived: number of flags
 */
struct engine {
	const struct layout *layout;
	__u32 rank;
	enum data_type type;
	char *window;
	__u32 in_flight;
	engine_write_fn *write;
	void *arg;
	engine_watch_fn *watch;
	void *watch_arg;
	struct line line[CHUNK_MAX_DIMS];
	__u32 works;
	__u32 *reached;
	struct work *work;
	bool *arrived;
	size_t nr_arrived;
};

/* Exchange @index of a stage, as this rank has it. */
struct chunk_exchange engine_exchange(const struct layout *layout, __u32 rank,
				      const struct work *work, __u32 index);

/* The message of an exchange. */
struct message engine_message(const struct layout *layout, __u32 rank,
			      const struct work *work, __u32 index);

#endif /* ROCESTEER_PERF_ENGINE_PRIV_H */
