/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Switches that sum: ranks exchange their queue pairs, and rank 0 loads the groups on the
 * switches, and unloads them at the end.
 *
 * The buffer is dealt to groups, which sum their parts at the same time. If one fails, all
 * stop. Before the next run the other groups get new queue pairs, and all of the buffer. A
 * group that failed, or whose switches refuse it then, is left out from then on.
 */
#ifndef ROCESTEER_PERF_REDUCER_H
#define ROCESTEER_PERF_REDUCER_H

#include "ring/ring.h"
#include "../perf.h"
#include "../meet/rendezvous.h"

/**
 * struct reducer - state of a rank
 * @config: options
 * @nic: NIC of the only dimension
 * @rendezvous: connection to all ranks
 * @failed: filled: why groups are left out
 * @err: filled on failure of any rank
 * @results: buffer as large as the input
 * @mr: memory region of @results
 * @group: groups, with the ranks and the switches
 * @part: connections of each group
 * @groups: number of groups
 * @alive: a bit for each group that is not left out
 * @connected: groups have queue pairs that their switches know
 * @round: number of the set of queue pairs
 */
struct reducer {
	const struct perf_config *config;
	struct nic *nic;
	struct rendezvous *rendezvous;
	char (*failed)[PERF_REASON];
	struct err *err;
	void *results;
	struct ibv_mr *mr;
	struct group *group;
	struct netreduce part[REDUCTION_GROUPS];
	__u32 groups;
	__u64 alive;
	bool connected;
	__u32 round;
};

/* Types of switches, by those of data.h */
extern const enum rocesteer_reduce_type reducer_types[];

/* The most bytes of a rank in rendezvous_gather(). */
size_t reducer_largest(const struct perf_config *config);

/**
 * reducer_open() - load the groups
 * @reducer: with @config, @nic, @rendezvous, @failed, @err set; to be closed, also after a
 *	failure
 *
 * All ranks call this and the functions below together. A switch that refuses is a failure.
 *
 * Return: 0, or a negative errno with @err filled.
 */
int reducer_open(struct reducer *reducer);

/**
 * reducer_prepare() - prepare a run
 * @reducer: reducer
 *
 * Afterwards no group may be @alive.
 *
 * Return: as reducer_open().
 */
int reducer_prepare(struct reducer *reducer);

/* Begin a run on all ranks; it goes on in loop_wait(). */
void reducer_start(struct reducer *reducer);

/* Is the run over in each group, or has it failed? */
bool reducer_is_over(const struct reducer *reducer);

/* Fail the groups that are not done: nothing has happened for @ns. */
void reducer_give_up(struct reducer *reducer, __u64 ns);

/* Has a group failed on this rank? */
bool reducer_has_failed(const struct reducer *reducer);

/* A group has failed on a rank: find it, and stop. Return: as reducer_open(). */
int reducer_stop(struct reducer *reducer);

/* Reverse reducer_open(). @left is filled if a switch does not unload a group. */
void reducer_close(struct reducer *reducer, struct err *left);

#endif /* ROCESTEER_PERF_REDUCER_H */
