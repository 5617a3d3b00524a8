/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of the calls that the network has summed, and of the others by their reasons. */
#ifndef ROCESTEER_MPI_COUNT_H
#define ROCESTEER_MPI_COUNT_H

#include "base/base.h"

/**
 * enum count - outcome of a call
 * @COUNT_TAKEN: the network has reduced all of it
 * @COUNT_OFF: there is no switch, or a variable has a wrong value
 * @COUNT_SMALL: below the threshold
 * @COUNT_TYPE: another type than those that switches know
 * @COUNT_OP: another operation
 * @COUNT_NONBLOCKING: MPI_Iallreduce
 * @COUNT_COMM: an intercommunicator, too few or too many ranks, or ranks of another world
 * @COUNT_DEVICE: a rank has no RDMA device that will do
 * @COUNT_HOST: neighbours are on one host: their packets do not pass the switch
 * @COUNT_SWITCH: the switch has refused the group, or all numbers are in use
 * @COUNT_CONNECT: a rank could not connect
 * @COUNT_FAILED: the group has failed during the call
 * @COUNT_GIVEN_UP: the group has failed twice before
 */
enum count {
	COUNT_TAKEN,
	COUNT_OFF,
	COUNT_SMALL,
	COUNT_TYPE,
	COUNT_OP,
	COUNT_NONBLOCKING,
	COUNT_COMM,
	COUNT_DEVICE,
	COUNT_HOST,
	COUNT_SWITCH,
	COUNT_CONNECT,
	COUNT_FAILED,
	COUNT_GIVEN_UP,
	COUNT_NR
};

/* One more call. Context: any thread. */
void count_call(enum count count);

/* The network has reduced @bytes of input. */
void count_bytes(__u64 bytes);

/* Groups that were loaded. */
void count_group(void);

/* Calls of a kind so far. */
__u64 count_get(enum count count);

/* Print all counters of a rank, as config_counters() says. */
void count_print(const char *where, int rank);

/* Say once in this process why something is left to MPI. */
void count_explain(int rank, const char *fmt, ...) __printf(2, 3);

#endif /* ROCESTEER_MPI_COUNT_H */
