/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A dimension of a plan that sums in the network (CHUNK_NETREDUCE). Each group of ranks in this
 * dimension is a group of its own on the switch, so there are as many as ranks over members. The
 * engine begins the stages that the switch sums in an order that all ranks know, and each stage
 * is cut into messages (lib/ring), without a gap between two stages.
 *
 * A failure of a group ends the run: other dimensions of a chunk may be done, and its input is
 * gone.
 */
#ifndef ROCESTEER_PERF_SUMS_H
#define ROCESTEER_PERF_SUMS_H

#include "ring/ring.h"
#include "../perf.h"
#include "../meet/rendezvous.h"

/**
 * struct sum - a stage that the switch sums
 * @id: id of its message, for the engine
 * @source: member that the sum comes from
 * @end: messages of the run up to its last one
 */
struct sum {
	__u32 id;
	__u32 source;
	__u64 end;
};

/**
 * struct sums - state of a rank
 * @config: options
 * @nic: NIC of the dimension
 * @rendezvous: connection to all ranks
 * @err: filled on failure of any rank
 * @group: all groups, by their numbers; on rank 0 with their ranks, for the switch
 * @groups: number of groups
 * @lane: connections of this rank's group
 * @message: messages of the run so far
 * @sum: stages of the run so far
 * @nr: number of these
 * @arrived: stages whose sums have arrived
 * @sent: stages whose messages are acknowledged
 */
struct sums {
	const struct perf_config *config;
	struct nic *nic;
	struct rendezvous *rendezvous;
	struct err *err;
	struct group *group;
	__u32 groups;
	struct netreduce lane;
	struct netreduce_message *message;
	struct sum *sum;
	__u32 nr;
	__u32 arrived;
	__u32 sent;
};

/* Number of groups of a dimension; number of the group of a rank, on the switch */
__u32 sums_groups(const struct chunk_collective *of, __u32 dim);
__u32 sums_group(const struct perf_config *config, __u32 rank);

/* The most bytes that a rank tells the others, as reducer_largest(); 0: no dimension sums. */
size_t sums_largest(const struct perf_config *config);

/**
 * sums_open() - connect, and load the groups
 * @sums: with @config, @nic, @rendezvous, @err set; to be closed, also after a failure
 *
 * The NIC has been started. All ranks call this together; rank 0 tells the switch.
 *
 * Return: 0, or a negative errno with @err filled.
 */
int sums_open(struct sums *sums);

/* Forget the last run, which all ranks have ended. */
void sums_reset(struct sums *sums);

/* Have the switch sum a message of the engine. Return: as sums_open(). */
int sums_write(struct sums *sums, const struct message *message);

/* Reverse sums_open(). @left is filled if the switch does not unload a group. */
void sums_close(struct sums *sums, struct err *left);

#endif /* ROCESTEER_PERF_SUMS_H */
