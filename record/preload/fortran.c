/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wrappers of the Fortran routines, expanded from call_table.h: include 'mpif.h', use mpi and
 * use mpi_f08.
 *
 * They call the library's own pmpi_ routine with the caller's arguments, so that sentinels,
 * callbacks and logicals keep their Fortran form. Only an ignored status is replaced. mpi_f08 calls
 * mpi_x_f08_, which in Open MPI takes the same arguments except that ierror may be absent. If we
 * wrapped the routine that it calls in turn, the call site would be in the library. pmpi_x_
 * bypasses all of these names, so no call is recorded twice.
 *
 * Names are those of gfortran and flang, with one trailing underscore. Other manglings (mpi_send,
 * mpi_send__, MPI_SEND) are not wrapped: a C library may have its own functions of such names.
 *
 * MPICH's mpi_f08 has no such bypass: buffers are descriptors, and routines with buffers are called
 * mpi_x_f08ts_. The wrapper calls the next definition of that name.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "wrap.h"

#ifdef MPICH_VERSION
/*
 * mpi.h does not declare all of them. Since MPICH 4.1 only the Fortran library has them, which a C
 * program does not load. The initialisation of Fortran finds the first one.
 */
extern void *MPIR_F_MPI_IN_PLACE __attribute__((weak));
extern int MPIR_F08_MPI_IN_PLACE __attribute__((weak));
extern MPI_F08_status *MPI_F08_STATUS_IGNORE __attribute__((weak));
extern MPI_F08_status *MPI_F08_STATUSES_IGNORE __attribute__((weak));

static inline bool
is_mpi_fortran_in_place(const void *p)
{
	return (&MPIR_F08_MPI_IN_PLACE != NULL && p == &MPIR_F08_MPI_IN_PLACE) ||
	    (&MPIR_F_MPI_IN_PLACE != NULL && p == MPIR_F_MPI_IN_PLACE);
}

static inline bool
is_mpi_fortran_status_ignore(const void *p)
{
	return p == MPI_F_STATUS_IGNORE ||
	    (&MPI_F08_STATUS_IGNORE != NULL && p == (void *)MPI_F08_STATUS_IGNORE);
}

static inline bool
is_mpi_fortran_statuses_ignore(const void *p)
{
	return p == MPI_F_STATUSES_IGNORE ||
	    (&MPI_F08_STATUSES_IGNORE != NULL && p == (void *)MPI_F08_STATUSES_IGNORE);
}
#else
/* The common blocks of mpif.h, under the names that compilers use. */
#define SENTINEL(name, NAME) \
	extern int name##_[] __attribute__((weak)), name[] __attribute__((weak)), \
	    name##__[] __attribute__((weak)), NAME[] __attribute__((weak)); \
	static inline bool is_##name(const void *p) \
	{ \
		return p == name##_ || p == name || p == name##__ || p == NAME; \
	}
SENTINEL(mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE)
SENTINEL(mpi_fortran_status_ignore, MPI_FORTRAN_STATUS_IGNORE)
SENTINEL(mpi_fortran_statuses_ignore, MPI_FORTRAN_STATUSES_IGNORE)
#endif

/* A descriptor begins with the base address. */
static inline const void *
buffer(const void *p, bool is_descriptor)
{
	if (is_descriptor)
		p = *(const void *const *)p;
	return is_mpi_fortran_in_place(p) ? MPI_IN_PLACE : p;
}

/* A C status and a Fortran status have the same size, so both use a thread's storage. */
static const MPI_Status *
statuses_to_c(struct thread *thread, int count, MPI_Fint *from)
{
	MPI_Status *to = own_statuses(thread, 2 * count);
	const int words = (int)(sizeof(MPI_Status) / sizeof(MPI_Fint));

	/* The caller's array may be the first half of the same storage: see KIND_STATUSES. */
	for (int i = 0; i < count && to != NULL; i++)
		PMPI_Status_f2c(from + i * words, &to[count + i]);
	return to != NULL ? to + count : NULL;
}

/* All parameters are addresses. */
#define PARAM(kind, name) void *p_##name
#define PLAIN(kind, name) void *
#define ARGUMENT(kind, name) p_##name
#define GIVEN(type, n) (*(type *)p_##n)
#define STORED(type) MPI_Fint
#define TO_C(kind, handle) PMPI_##kind##_f2c(handle)
#define BUFFER(n) buffer(p_##n, descriptors)
#define TEXT_LENGTH(n) length_##n
#define FIRST_INDEX 1
#define RETURN return
#define KIND_STATUS(n) (), \
	(if (is_mpi_fortran_status_ignore(p_##n)) \
		p_##n = own_statuses(at.thread, 1);), \
	(PMPI_Status_f2c(p_##n, &at.thread->status); \
	const MPI_Status *n UNUSED = &at.thread->status;)
#define KIND_STATUSES(n) (), \
	(MPI_Status *n##_seen = own_statuses(at.thread, 2 * count); \
	if (n##_seen != NULL && is_mpi_fortran_statuses_ignore(p_##n)) \
		p_##n = n##_seen;), \
	(NEEDS(n##_seen) \
	const MPI_Status *n = statuses_to_c(at.thread, count, p_##n);)

EACH_OF(bytes_of_each, int)
EACH_OF(large_bytes_of_each, MPI_Count)

/*
 * Lengths of strings follow ierr, by value. Kinds with a length have LENGTH_TOO behind a comma; for
 * others HAS_LENGTH_kind stays as it is, and NO_LENGTH follows it.
 */
#define LENGTH(kind, name) LENGTH_BY(HAS_LENGTH_##kind, NO_LENGTH, )(, size_t length_##name)
#define PASS_LENGTH(kind, name) LENGTH_BY(HAS_LENGTH_##kind, NO_LENGTH, )(, length_##name)
#define LENGTH_BY(...) SECOND(__VA_ARGS__)
#define NO_LENGTH(...)
#define LENGTH_TOO(...) __VA_ARGS__
#define HAS_LENGTH_STRING ~, LENGTH_TOO
#define HAS_LENGTH_STRINGS ~, LENGTH_TOO
#define HAS_LENGTH_ARGUMENTS ~, LENGTH_TOO
#define HAS_LENGTH_ARGUMENTS_EACH ~, LENGTH_TOO

/* OWN passes the call on to CALLEE; BUFFERS: with buffers as descriptors. */
#define WRAPPER(own, callee, buffers, Name, class, params, record) \
	void own(LIST(PARAM, params), MPI_Fint *ierr EACH(LENGTH, params)); \
	void own(LIST(PARAM, params), MPI_Fint *ierr EACH(LENGTH, params)) \
	{ \
		enum { descriptors = buffers }; \
		MPI_Fint own_ierr; \
		if (ierr == NULL) \
			ierr = &own_ierr; \
		RECORDED(Name, class, params, \
		    callee(LIST(ARGUMENT, params), ierr EACH(PASS_LENGTH, params)), \
		    *ierr == MPI_SUCCESS, record); \
	}

#ifdef MPICH_VERSION
/* The front's, if it loaded this recorder: RTLD_NEXT then does not find the program's MPI. */
void *longpole_next(const char *name) __attribute__((weak));

/*
 * Finds the routine with or without buffers; for large counts under the name of MPICH 4.0 or 4.2.
 */
static void *
next_f08(const char *name, bool large)
{
	static const char *const tails[2][4] = { { "_f08ts_", "_f08_" },
		{ "_f08ts_large_", "_f08_large_", "_c_f08ts_", "_c_f08_" } };
	char symbol[128];
	void *found = NULL;

	for (size_t i = 0; i < 4 && tails[large][i] != NULL && found == NULL; i++) {
		snprintf(symbol, sizeof symbol, "mpi_%s%s", name, tails[large][i]);
		found = longpole_next != NULL ? longpole_next(symbol) : dlsym(RTLD_NEXT, symbol);
	}
	return found;
}
#define DESCRIPTORS(name, large, Number, CLASS, params, record) \
	static void next_##name##large(LIST(PARAM, params), MPI_Fint *ierr EACH(LENGTH, params)) \
	{ \
		static void (*next)(LIST(PLAIN, params), MPI_Fint * EACH(LENGTH, params)); \
		if (next == NULL) \
			*(void **)&next = next_f08(#name, sizeof #large > 1); \
		next(LIST(ARGUMENT, params), ierr EACH(PASS_LENGTH, params)); \
	} \
	WRAPPER(record_##name##_f08##large, next_##name##large, true, Number, CLASS, params, \
	    record) \
	ALIAS(record_##name##_f08##large) void mpi_##name##_f08_##large(LIST(PLAIN, params), \
	    void *); \
	ALIAS(record_##name##_f08##large) void mpi_##name##_f08ts_##large(LIST(PLAIN, params), \
	    void *);
#define F08(Name, name, CLASS, params, record) DESCRIPTORS(name, , Name, CLASS, params, record)
#else
#define F08(Name, name, CLASS, params, record) \
	ALIAS(record_##name) void mpi_##name##_f08_(LIST(PLAIN, params), void *);
#endif
#define SPECIAL(Name, name, NAME, CLASS)
#define CALL(Name, name, NAME, CLASS, params, record) \
	void pmpi_##name##_(LIST(PLAIN, params), void * EACH(LENGTH, params)) \
	    __attribute__((weak)); \
	WRAPPER(record_##name, pmpi_##name##_, false, Name, CLASS, params, record) \
	ALIAS(record_##name) void mpi_##name##_(LIST(PLAIN, params), void *); \
	F08(Name, name, CLASS, params, record)
#ifndef HAVE_MPI_4
#define CALL_4(Name, name, NAME, CLASS, params, record)
#endif
#define COUNT_TYPE int
#pragma GCC diagnostic ignored "-Wattribute-alias"
#include "../../base/mpi/call_table.h"
#undef COUNT_TYPE

/* Only mpi_f08 has large counts. */
#if defined HAVE_LARGE_COUNTS && defined DESCRIPTORS
#define SPECIAL(Name, name, NAME, CLASS)
#define CALL(Name, name, NAME, CLASS, params, record)
#define LARGE(Name, name, NAME, CLASS, params, record) \
	DESCRIPTORS(name, large_, Name##_c, CLASS, params, record) \
	ALIAS(record_##name##_f08large_) void mpi_##name##_c_f08_(LIST(PLAIN, params), void *); \
	ALIAS(record_##name##_f08large_) void mpi_##name##_c_f08ts_(LIST(PLAIN, params), void *);
#define COUNT_TYPE MPI_Count
#include "../../base/mpi/call_table.h"
#endif

/* The variants with a C pointer have the same arguments. */
ALIAS(record_win_allocate) void mpi_win_allocate_cptr_(void *, void *, void *, void *, void *,
    void *, void *);
ALIAS(record_win_allocate_shared) void mpi_win_allocate_shared_cptr_(void *, void *, void *, void *,
    void *, void *, void *);

/* ---- beginning and end of recording, and marks: call_table.h does not cover these ---- */

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
	abort_noted(PMPI_Comm_f2c(*comm), __builtin_return_address(0));
	set_ierr(ierr, PMPI_Abort(PMPI_Comm_f2c(*comm), *code));
}

ROUTINE(pcontrol, MPI_Fint *level)
{
	pcontrol_noted(*level, NULL, __builtin_return_address(0));
	PMPI_Pcontrol(*level);
}
