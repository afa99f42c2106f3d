/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 comes late to a barrier, in a program that begins with a session (MPI 4). */
#include "planted.h"

int
main(void)
{
	MPI_Session session;
	MPI_Group group;
	MPI_Comm world;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "verdicts", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &world);
	MPI_Comm_rank(world, &rank);
	for (int step = 0; step < STEPS; step++) {
		part(rank == SLOW);
		MPI_Barrier(world);
	}
	MPI_Comm_free(&world);
	MPI_Group_free(&group);
	return MPI_Session_finalize(&session);
}
