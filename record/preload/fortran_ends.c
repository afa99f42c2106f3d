/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Fortran routines that call_table.h does not cover: beginning and end of recording, and marks.
 */
#include "wrap.h"

#define ROUTINE(name, ...) \
	void pmpi_##name##_(__VA_ARGS__) __attribute__((weak)); \
	void record_##name(__VA_ARGS__); \
	ALIAS(record_##name) void mpi_##name##_(__VA_ARGS__); \
	ALIAS(record_##name) void mpi_##name##_f08_(__VA_ARGS__); \
	void record_##name(__VA_ARGS__)

static inline void
set_ierr(MPI_Fint *ierr, int result)
{
	if (ierr != NULL)
		*ierr = result;
}

ROUTINE(init, MPI_Fint *ierr)
{
	INIT(Init, pmpi_init_(&result));
	set_ierr(ierr, result);
}

ROUTINE(init_thread, MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr)
{
	INIT(Init_thread, pmpi_init_thread_(required, provided, &result));
	set_ierr(ierr, result);
}

ROUTINE(finalize, MPI_Fint *ierr)
{
	FINALIZE(pmpi_finalize_(&result));
	set_ierr(ierr, result);
}

/* A session of mpi_f08 is one integer, like other handles. */
#if defined HAVE_MPI_4 && defined MPICH_VERSION
ROUTINE(session_init, MPI_Fint *info, MPI_Fint *handler, MPI_Fint *session, MPI_Fint *ierr)
{
	SESSION_INIT(pmpi_session_init_(info, handler, session, &result),
	    PMPI_Session_f2c(*session));
	set_ierr(ierr, result);
}

ROUTINE(session_finalize, MPI_Fint *session, MPI_Fint *ierr)
{
	SESSION_FINALIZE(pmpi_session_finalize_(session, &result), PMPI_Session_f2c(*session));
	set_ierr(ierr, result);
}
#endif

ROUTINE(abort, MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr)
{
	abort_noted(PMPI_Comm_f2c(*comm), *code, __builtin_return_address(0));
	set_ierr(ierr, PMPI_Abort(PMPI_Comm_f2c(*comm), *code));
}

ROUTINE(pcontrol, MPI_Fint *level)
{
	pcontrol_noted(*level, NULL, __builtin_return_address(0));
	PMPI_Pcontrol(*level);
}
