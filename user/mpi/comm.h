/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Communicators, and the groups that switches have for them.
 *
 * The first call on a communicator makes what its ranks need: a communicator of their own, on
 * which they agree, and a port of each rank. The first call of a type and an operation loads a
 * group, since a group has one of each. All of that lasts until the communicator is freed.
 *
 * All ranks decide alike. What they decide by is the same on all of them (the arguments of the
 * call, the settings of rank 0), or they have agreed on it: a rank that fails says so to the
 * others in the next agreement, and all ranks leave the network to itself.
 */
#ifndef ROCESTEER_MPI_COMM_H
#define ROCESTEER_MPI_COMM_H

#include <mpi.h>

#include "config.h"
#include "count.h"
#include "kind.h"

/* Prepare for communicators, after MPI_Init(). Return: an error of MPI. */
int comm_init(const struct config *config);

/* Unload all groups that are left, before MPI_Finalize(). */
void comm_exit(void);

/**
 * comm_allreduce() - MPI_Allreduce() by the network, or by MPI
 * @from: input, or MPI_IN_PLACE
 * @to: result
 * @count: elements, more than none
 * @datatype: type
 * @op: operation
 * @comm: communicator
 * @kind: @datatype and @op, as switches name them
 *
 * Return: an error of MPI.
 */
int comm_allreduce(const void *from, void *to, int count, MPI_Datatype datatype, MPI_Op op,
		   MPI_Comm comm, const struct kind *kind);

#endif /* ROCESTEER_MPI_COMM_H */
