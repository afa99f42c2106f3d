/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Fortran routines that call_table.h does not cover: beginning and end of recording, and marks.
 */
#include "wrap.h"

/* ---- MPI_Init, MPI_Init_thread and MPI_Finalize ---- */

void pmpi_init_(MPI_Fint *ierr) __attribute__((weak));
void pmpi_init_thread_(MPI_Fint *required, MPI_Fint *provided,
    MPI_Fint *ierr) __attribute__((weak));
void pmpi_finalize_(MPI_Fint *ierr) __attribute__((weak));

struct init_arguments {
	MPI_Fint *required, *provided;
};

static int
init(void *arguments)
{
	MPI_Fint ierr;

	(void)arguments;
	pmpi_init_(&ierr);
	return ierr;
}

static int
init_thread(void *arguments)
{
	struct init_arguments *a = arguments;
	MPI_Fint ierr;

	pmpi_init_thread_(a->required, a->provided, &ierr);
	return ierr;
}

static int
finalize(void)
{
	MPI_Fint ierr;

	pmpi_finalize_(&ierr);
	return ierr;
}

static inline void
set_ierr(MPI_Fint *ierr, int result)
{
	if (ierr != NULL)
		*ierr = result;
}

void record_init(MPI_Fint *ierr);
void record_init_thread(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr);
void record_finalize(MPI_Fint *ierr);

void
record_init(MPI_Fint *ierr)
{
	set_ierr(ierr, init_wrapper(init, NULL, NUMBER_Init, __builtin_return_address(0)));
}

void
record_init_thread(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr)
{
	struct init_arguments a = { required, provided };

	set_ierr(ierr, init_wrapper(init_thread, &a, NUMBER_Init_thread,
	    __builtin_return_address(0)));
}

void
record_finalize(MPI_Fint *ierr)
{
	set_ierr(ierr, finalize_wrapper(finalize, __builtin_return_address(0)));
}

#define NAMES(name, ...) \
	ALIAS(record_##name) void mpi_##name##_(__VA_ARGS__); \
	ALIAS(record_##name) void mpi_##name##_f08_(__VA_ARGS__);
NAMES(init, MPI_Fint *)
NAMES(init_thread, MPI_Fint *, MPI_Fint *, MPI_Fint *)
NAMES(finalize, MPI_Fint *)

/* ---- sessions: a handle of mpi_f08 is one integer, like other handles ---- */

#if defined HAVE_MPI_4 && defined MPICH_VERSION
void pmpi_session_init_(MPI_Fint *info, MPI_Fint *handler, MPI_Fint *session,
    MPI_Fint *ierr) __attribute__((weak));
void pmpi_session_finalize_(MPI_Fint *session, MPI_Fint *ierr) __attribute__((weak));

struct session_arguments {
	MPI_Fint *info, *handler, *session;
};

static int
session_init(void *arguments, MPI_Session *made)
{
	struct session_arguments *a = arguments;
	MPI_Fint ierr;

	pmpi_session_init_(a->info, a->handler, a->session, &ierr);
	*made = PMPI_Session_f2c(*a->session);
	return ierr;
}

static int
session_finalize(void *session)
{
	MPI_Fint ierr;

	pmpi_session_finalize_(session, &ierr);
	return ierr;
}

void record_session_init(MPI_Fint *info, MPI_Fint *handler, MPI_Fint *session, MPI_Fint *ierr);
void record_session_finalize(MPI_Fint *session, MPI_Fint *ierr);

void
record_session_init(MPI_Fint *info, MPI_Fint *handler, MPI_Fint *session, MPI_Fint *ierr)
{
	struct session_arguments a = { info, handler, session };

	set_ierr(ierr, session_init_wrapper(session_init, &a, __builtin_return_address(0)));
}

void
record_session_finalize(MPI_Fint *session, MPI_Fint *ierr)
{
	set_ierr(ierr, session_finalize_wrapper(session_finalize, session,
	    PMPI_Session_f2c(*session), __builtin_return_address(0)));
}
NAMES(session_init, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *)
NAMES(session_finalize, MPI_Fint *, MPI_Fint *)
#endif

/* ---- routines that do not return or have no ierr ---- */

void record_abort(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr);
void record_pcontrol(MPI_Fint *level);

void
record_abort(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr)
{
	abort_noted(PMPI_Comm_f2c(*comm), *code, __builtin_return_address(0));
	set_ierr(ierr, PMPI_Abort(PMPI_Comm_f2c(*comm), *code));
}

void
record_pcontrol(MPI_Fint *level)
{
	pcontrol_noted(*level, NULL, __builtin_return_address(0));
	PMPI_Pcontrol(*level);
}
NAMES(abort, MPI_Fint *, MPI_Fint *, MPI_Fint *)
NAMES(pcontrol, MPI_Fint *)
