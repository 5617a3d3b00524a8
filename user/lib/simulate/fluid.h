/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows on links as a fluid: at each moment every flow has its max-min fair rate. When flows come
 * or end, rates change, but only where flows are connected by links with those. Pure: no fabric,
 * no packets, and so no queues, losses or order.
 *
 * A flow has one way or more. A way is a set of links, with the part of the way's bytes that each
 * link carries: 1 where all bytes pass, less where the flow is spread over links in fixed parts.
 * The ways of one flow share its bytes: each is as fast as its own links let it be.
 */
#ifndef ROCESTEER_LIB_SIMULATE_FLUID_H
#define ROCESTEER_LIB_SIMULATE_FLUID_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* Flows that end within this part of their age end together. */
#define FLUID_TOGETHER	0.000001
/*
 * Where flows have very many parts the rates follow when this part of the flows has ended: of as
 * many parts as FLUID_MANY, and of more; where there are fewer, when a smaller part has, and of
 * some thousand parts after each end.
 */
#define FLUID_LAG	0.25
#define FLUID_MANY	1048576

/**
 * struct fluid_part - a link of a way
 * @part: of the way's bytes, above 0, at most 1
 * @link: link
 * @way: way
 * @next: next one on the link, or FLUID_NONE
 */
struct fluid_part {
	float part;
	__u32 link;
	__u32 way;
	__u32 next;
};

/**
 * struct fluid_way - a way of a flow
 * @rate: bytes per second
 * @flow: flow
 * @first: first of its parts
 * @nr: number of its parts
 * @seen: round of the solver that has seen the way; FLUID_NONE: its flow has ended
 */
struct fluid_way {
	double rate;
	__u32 flow;
	__u32 first;
	__u32 nr;
	__u32 seen;
};

/**
 * struct fluid_flow - a flow
 * @left: bytes at @since
 * @rate: sum of the rates of its ways
 * @since: time when @rate began
 * @began: time when the flow began
 * @end: time when the flow ends, if no rate changes
 * @first: first of its ways
 * @nr: number of its ways; 0: the flow has ended
 * @tag: the caller's
 */
struct fluid_flow {
	double left;
	double rate;
	double since;
	double began;
	double end;
	__u32 first;
	__u32 nr;
	__u32 tag;
};

/**
 * struct fluid_link - a link
 * @left: in a round of the solver, rate that is not given away, bytes per second
 * @use: parts of ways whose rate is open
 * @open: number of these ways
 * @first: first part on the link, or FLUID_NONE; parts of flows that have ended may be among them
 * @seen: round of the solver that has seen the link
 */
struct fluid_link {
	double left;
	double use;
	__u32 open;
	__u32 first;
	__u32 seen;
};

/* The smallest key first */
struct fluid_heap {
	struct fluid_key {
		double key;
		__u32 number;
	} *item;
	size_t nr;
	size_t room;
};

/**
 * struct fluid - links and flows
 * @now: time, seconds
 * @link: links
 * @rate: of each link, bytes per second
 * @sent: by link, bytes of all flows so far; those of a flow with one way count when it begins
 * @nr_links: number of @link
 * @flow: flows, some of which have ended
 * @nr_flows: number of @flow
 * @flow_room: room of @flow
 * @active: flows that have not ended
 * @way: ways
 * @nr_ways: number of @way
 * @way_room: room of @way
 * @part: parts
 * @nr_parts: number of @part
 * @part_room: room of @part
 * @live: parts of flows that have not ended
 * @ends: ends of flows; an end that is not the flow's any more is void
 * @levels: in a round of the solver, links by the rate at which each of them is full
 * @round: of the solver
 * @dirty: links whose flows have changed
 * @nr_dirty: number of @dirty
 * @changes: flows that have begun or ended since the last round
 * @begun: a flow has begun since then
 * @met: in a round, ways whose rate is found
 * @met_room: room of @met
 * @err: 0 or -ENOMEM
 */
struct fluid {
	double now;
	struct fluid_link *link;
	const double *rate;
	double *sent;
	__u32 nr_links;
	struct fluid_flow *flow;
	size_t nr_flows;
	size_t flow_room;
	size_t active;
	struct fluid_way *way;
	size_t nr_ways;
	size_t way_room;
	struct fluid_part *part;
	size_t nr_parts;
	size_t part_room;
	size_t live;
	struct fluid_heap ends;
	struct fluid_heap levels;
	__u32 round;
	__u32 *dirty;
	size_t nr_dirty;
	size_t changes;
	bool begun;
	__u32 *met;
	size_t met_room;
	int err;
};

#define FLUID_NONE	0xffffffffu

/**
 * fluid_init() - links without flows
 * @fluid: filled; to be freed by fluid_free() in any case
 * @rates: of the links, bytes per second, which stay; those that are used are above 0
 * @nr: number of links
 *
 * Return: 0 or -ENOMEM.
 */
int fluid_init(struct fluid *fluid, const double *rates, __u32 nr);
void fluid_free(struct fluid *fluid);

/**
 * fluid_begin() - a flow begins now
 * @fluid: fluid
 * @bytes: above 0
 * @tag: for fluid_advance()
 *
 * Its first way follows, by fluid_part() for each link; fluid_way() begins another one. Errors are
 * kept until fluid_advance().
 */
void fluid_begin(struct fluid *fluid, double bytes, __u32 tag);
void fluid_way(struct fluid *fluid);
void fluid_part(struct fluid *fluid, __u32 link, double part);

/* The flow has all of its ways. */
void fluid_done(struct fluid *fluid);

/**
 * fluid_advance() - go on until flows end
 * @fluid: fluid; @now is then the time of these ends, or @until
 * @until: not further than this time
 * @ended: called for each flow that ends, or NULL
 * @arg: passed to @ended
 *
 * Return: the number of flows that have ended; 0: none has until then, or ever; -ENOMEM.
 */
long fluid_advance(struct fluid *fluid, double until, void (*ended)(__u32 tag, void *arg),
		   void *arg);

#endif /* ROCESTEER_LIB_SIMULATE_FLUID_H */
