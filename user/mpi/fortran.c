// SPDX-License-Identifier: GPL-2.0
/*
 * Entries of Open MPI for Fortran, which do not reach the calls of C by their own names; those of
 * MPICH do. Programs of "use mpi" and mpif.h have mpi_allreduce_(); Allreduces of "use mpi_f08"
 * are MPI's, but libraries of C that such a program uses are served.
 */
#include <dlfcn.h>
#include <mpi.h>

#include "calls.h"

#ifdef OPEN_MPI

typedef void init_fn(void *error);
typedef void init_thread_fn(void *required, void *provided, void *error);

/* MPI's own entry is there: who calls ours is linked with it. */
static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static void start(void)
{
	int is = 0;

	if (!PMPI_Initialized(&is) && is)
		calls_start();
}

static void init(const char *name, MPI_Fint *error)
{
	init_fn *own = next(name);

	own(error);
	start();
}

static void init_thread(const char *name, MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error)
{
	init_thread_fn *own = next(name);

	own(required, provided, error);
	start();
}

static void finalize(const char *name, MPI_Fint *error)
{
	init_fn *own = next(name);

	calls_end();
	own(error);
}

CALL void mpi_init_(MPI_Fint *error)
{
	init("mpi_init_", error);
}

CALL void mpi_init_f08_(MPI_Fint *error)
{
	init("mpi_init_f08_", error);
}

CALL void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error)
{
	init_thread("mpi_init_thread_", required, provided, error);
}

CALL void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error)
{
	init_thread("mpi_init_thread_f08_", required, provided, error);
}

CALL void mpi_finalize_(MPI_Fint *error)
{
	finalize("mpi_finalize_", error);
}

CALL void mpi_finalize_f08_(MPI_Fint *error)
{
	finalize("mpi_finalize_f08_", error);
}

/* A variable of Fortran stands for each special address. */
static void *address(void *buffer)
{
	static void *in_place, *bottom;

	if (!in_place) {
		bottom = dlsym(RTLD_DEFAULT, "mpi_fortran_bottom_");
		in_place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
	}
	if (buffer == in_place)
		return MPI_IN_PLACE;
	return buffer == bottom ? MPI_BOTTOM : buffer;
}

CALL void mpi_allreduce_(void *from, void *to, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op,
			 MPI_Fint *comm, MPI_Fint *error)
{
	int ret = MPI_Allreduce(address(from), address(to), *count, PMPI_Type_f2c(*datatype),
				PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm));

	if (error)
		*error = ret;
}

#endif /* OPEN_MPI */
