// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of MPI that a program finds here before MPI's own: LD_PRELOAD. Whatever the network
 * does not reduce goes to MPI, by the PMPI_ name of the call.
 */
#include <stdio.h>

#include "calls.h"
#include "comm.h"

static struct config config;
static bool started;

/* Rank 0 reads the environment for all. */
void calls_start(void)
{
	struct err err = {};
	int rank;

	if (started)
		return;
	started = true;
	kind_init();
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!rank && config_read(&config, &err))
		fprintf(stderr, "librocesteer-mpi: %s; MPI reduces by itself\n", err.message);
	if (PMPI_Bcast(&config, sizeof(config), MPI_BYTE, 0, MPI_COMM_WORLD) ||
	    (config.on && comm_init(&config)))
		config.on = false;
}

void calls_end(void)
{
	const char *where = config_counters();
	int rank;

	if (!started)
		return;
	if (config.on)
		comm_exit();
	config.on = false;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (where)
		count_print(where, rank);
}

/* The reason that leaves a call to MPI; COUNT_TAKEN: the network may take the call. */
static enum count examine(int count, MPI_Datatype datatype, MPI_Op op, struct kind *kind)
{
	__u32 size;

	if (!config.on)
		return COUNT_OFF;
	size = kind_size(datatype);
	if (!size)
		return COUNT_TYPE;
	if (count <= 0 || (__u64)count * size < config.min)
		return COUNT_SMALL;
	return kind_of(datatype, op, kind) ? COUNT_TAKEN : COUNT_OP;
}

CALL int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype datatype, MPI_Op op,
		       MPI_Comm comm)
{
	struct kind kind;
	enum count why = examine(count, datatype, op, &kind);

	if (why == COUNT_TAKEN)
		return comm_allreduce(from, to, count, datatype, op, comm, &kind);
	count_call(why);
	return PMPI_Allreduce(from, to, count, datatype, op, comm);
}

/*
 * A rank may start the call, and then be needed by another rank before that one starts the call:
 * nothing here may wait. Only MPI goes on in other calls of the program.
 */
CALL int MPI_Iallreduce(const void *from, void *to, int count, MPI_Datatype datatype, MPI_Op op,
			MPI_Comm comm, MPI_Request *request)
{
	count_call(COUNT_NONBLOCKING);
	return PMPI_Iallreduce(from, to, count, datatype, op, comm, request);
}

CALL int MPI_Init(int *argc, char ***argv)
{
	int ret = PMPI_Init(argc, argv);

	if (ret == MPI_SUCCESS)
		calls_start();
	return ret;
}

CALL int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int ret = PMPI_Init_thread(argc, argv, required, provided);

	if (ret == MPI_SUCCESS)
		calls_start();
	return ret;
}

CALL int MPI_Finalize(void)
{
	calls_end();
	return PMPI_Finalize();
}
