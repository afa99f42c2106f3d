/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI library's own functions, which this library overrides. It is below the profiling
 * interface, for MPI_X and PMPI_X alike, so that a recorder above and Fortran's wrappers reach it.
 */
#ifndef REAL_H
#define REAL_H

#include <mpi.h>

#include "../replaced.h"

/* Those that it overrides, and those that mock-ups call. */
#define REAL_FUNCTIONS(F) \
	REPLACED_FUNCTIONS(F) F(Init) F(Init_thread) F(Finalize) \
	F(Exscan) F(Gatherv) F(Scatterv) F(Allgatherv) F(Alltoallv) F(Reduce_local) F(Isend) \
	F(Irecv) F(Wait) F(Waitall) F(Pack) F(Unpack) F(Igather) F(Iscatter) F(Iallgather) \
	F(Ialltoall) F(Ibcast) F(Ireduce) F(Iallreduce) F(Ibarrier)

#define FIELD(name) __typeof__(&PMPI_##name) name;
extern struct real { REAL_FUNCTIONS(FIELD) } real;
#undef FIELD

/* The first error among the calls that replace one call. */
extern _Thread_local int first_error;
static inline int noted(int error)
{
	if (error != MPI_SUCCESS && first_error == MPI_SUCCESS)
		first_error = error;
	return error;
}

#ifdef OF_MOCKUPS	/* see measure.h */
#define CALL(name, ...) noted(real.name(__VA_ARGS__))
#endif

#endif
