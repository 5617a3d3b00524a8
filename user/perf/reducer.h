/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The switches that sum, from their beginning to their end: ranks tell each other of their
 * queue pairs, rank 0 tells the switches of all of them, and in the end to forget them.
 *
 * The buffer is dealt to groups, which sum their parts at the same time. When one fails, all
 * stop. Before the next run those that have not failed get new queue pairs, and all of the
 * buffer; one that failed, or whose switches refuse it then, is left out from then on.
 */
#ifndef ROCESTEER_PERF_REDUCER_H
#define ROCESTEER_PERF_REDUCER_H

#include "netreduce.h"
#include "perf.h"
#include "rendezvous.h"

/**
 * struct reducer - of a rank
 * @config: of the run
 * @nic: of the one dimension
 * @rendezvous: of all ranks
 * @failed: why groups are left out; to be filled
 * @err: why a function fails, on whichever rank
 * @results: as large as the buffer
 * @mr: of @results
 * @group: with what switches have to know of ranks, and what they have said
 * @part: of each group
 * @groups: how many
 * @alive: a bit for each group that is not left out
 * @connected: they have queue pairs, and their switches know these
 * @round: of queue pairs
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

/* Bytes of a rank in any rendezvous_gather() here. */
size_t reducer_largest(const struct perf_config *config);

/**
 * reducer_open() - make switches sum
 * @reducer: with @config, @nic, @rendezvous, @failed, @err set; to be closed, also after a
 *	failure
 *
 * All ranks do the same, also in the functions below. A switch that refuses is a failure.
 *
 * Return: 0, or a negative errno with @err filled.
 */
int reducer_open(struct reducer *reducer);

/**
 * reducer_prepare() - get ready for a run
 * @reducer: reducer
 *
 * Where no group is @alive then, there is nobody to run it.
 *
 * Return: as reducer_open().
 */
int reducer_prepare(struct reducer *reducer);

/* Begin a run, when all ranks are ready: the rest happens in loop_wait(). */
void reducer_start(struct reducer *reducer);

/* The run is over, in each group, or has failed. */
bool reducer_is_over(const struct reducer *reducer);

/* Give up what is not over, since nothing has happened for @ns. */
void reducer_give_up(struct reducer *reducer, __u64 ns);

/* Has some group failed on this rank? */
bool reducer_has_failed(const struct reducer *reducer);

/* Some group has failed on some rank: which, and stop. Return: as reducer_open(). */
int reducer_stop(struct reducer *reducer);

/* The reverse of reducer_open(). @left is filled where a switch does not forget a group. */
void reducer_close(struct reducer *reducer, struct err *left);

#endif /* ROCESTEER_PERF_REDUCER_H */
