/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI library's own functions, which this library overrides. It is below the profiling
 * interface, for MPI_X and PMPI_X alike, so that a recorder above and Fortran's wrappers reach it.
 */
#ifndef REAL_H
#define REAL_H

#include <mpi.h>

#include "../replaced.h"

#define REAL_FUNCTIONS(F) REPLACED_FUNCTIONS(F) F(Init) F(Init_thread) F(Finalize)

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

/* Calls of mock-ups, when compiled for this library. */
#ifdef OF_MOCKUPS
#define MPI_Gather(...) noted(real.Gather(__VA_ARGS__))
#define MPI_Scatter(...) noted(real.Scatter(__VA_ARGS__))
#define MPI_Allgather(...) noted(real.Allgather(__VA_ARGS__))
#define MPI_Alltoall(...) noted(real.Alltoall(__VA_ARGS__))
#define MPI_Bcast(...) noted(real.Bcast(__VA_ARGS__))
#define MPI_Reduce(...) noted(real.Reduce(__VA_ARGS__))
#define MPI_Allreduce(...) noted(real.Allreduce(__VA_ARGS__))
#define MPI_Reduce_scatter(...) noted(real.Reduce_scatter(__VA_ARGS__))
#define MPI_Reduce_scatter_block(...) noted(real.Reduce_scatter_block(__VA_ARGS__))
#define MPI_Scan(...) noted(real.Scan(__VA_ARGS__))
#define MPI_Barrier(...) noted(real.Barrier(__VA_ARGS__))
#define MPI_Sendrecv(...) noted(real.Sendrecv(__VA_ARGS__))
#define MPI_Exscan(...) noted(PMPI_Exscan(__VA_ARGS__))
#define MPI_Gatherv(...) noted(PMPI_Gatherv(__VA_ARGS__))
#define MPI_Scatterv(...) noted(PMPI_Scatterv(__VA_ARGS__))
#define MPI_Allgatherv(...) noted(PMPI_Allgatherv(__VA_ARGS__))
#define MPI_Alltoallv(...) noted(PMPI_Alltoallv(__VA_ARGS__))
#define MPI_Reduce_local(...) noted(PMPI_Reduce_local(__VA_ARGS__))
#define MPI_Isend(...) noted(PMPI_Isend(__VA_ARGS__))
#define MPI_Irecv(...) noted(PMPI_Irecv(__VA_ARGS__))
#define MPI_Send(...) noted(PMPI_Send(__VA_ARGS__))
#define MPI_Recv(...) noted(PMPI_Recv(__VA_ARGS__))
#define MPI_Wait(...) noted(PMPI_Wait(__VA_ARGS__))
#define MPI_Waitall(...) noted(PMPI_Waitall(__VA_ARGS__))
#define MPI_Pack(...) noted(PMPI_Pack(__VA_ARGS__))
#define MPI_Unpack(...) noted(PMPI_Unpack(__VA_ARGS__))
#define MPI_Igather(...) noted(PMPI_Igather(__VA_ARGS__))
#define MPI_Iscatter(...) noted(PMPI_Iscatter(__VA_ARGS__))
#define MPI_Iallgather(...) noted(PMPI_Iallgather(__VA_ARGS__))
#define MPI_Ialltoall(...) noted(PMPI_Ialltoall(__VA_ARGS__))
#define MPI_Ibcast(...) noted(PMPI_Ibcast(__VA_ARGS__))
#define MPI_Ireduce(...) noted(PMPI_Ireduce(__VA_ARGS__))
#define MPI_Iallreduce(...) noted(PMPI_Iallreduce(__VA_ARGS__))
#define MPI_Ibarrier(...) noted(PMPI_Ibarrier(__VA_ARGS__))
#endif

#endif
