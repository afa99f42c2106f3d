/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrappers of the C functions, expanded from call_table.h. */
#include <stdarg.h>

#include "wrap.h"

/* The list of MPI_Pready_list is const only in some libraries. */
#if defined MPICH_VERSION || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
typedef __typeof__(_Generic(&PMPI_Pready_list, int (*)(int, int *, MPI_Request): (int *)0,
    default: (const int *)0)) partition_list;
#else
typedef const int *partition_list;
#endif

/*
 * For each kind: (1) the parameter as in mpi.h; (2) before the call, a view of the input or a
 * substitute for an ignored status; (3) after the call, a view of the output.
 */
#define PARAM(kind, name) KIND(1, kind, name)
#define BEFORE(kind, name) KIND(2, kind, name)
#define AFTER(kind, name) KIND(3, kind, name)
#define ARGUMENT(kind, name) p_##name
#define VIEW_IN(type, name) type name UNUSED = p_##name;
#define VIEW_OUT(type, name) type name UNUSED = *p_##name;
/* Without memory, recording has ended, and there is nothing to note. */
#define NEEDS(own) \
	if (own == NULL) { \
		end_call(&at); \
		return result; \
	}
#define KIND_BUF(n) (void *p_##n), (VIEW_IN(const void *, n)), ()
#define KIND_CBUF(n) (const void *p_##n), (VIEW_IN(const void *, n)), ()
#define KIND_INT(n) (int p_##n), (VIEW_IN(int, n)), ()
#define KIND_TYPE(n) (MPI_Datatype p_##n), (VIEW_IN(MPI_Datatype, n)), ()
#define KIND_COUNT(n) (COUNT_TYPE p_##n), (VIEW_IN(COUNT_TYPE, n)), ()
#define KIND_COUNTS(n) (const COUNT_TYPE p_##n[]), (VIEW_IN(const COUNT_TYPE *, n)), ()
#define KIND_DISPLS(n) (const DISPL_TYPE p_##n[]), (), ()
#define KIND_UNIT(n) (DISPL_TYPE p_##n), (), ()
#define KIND_OUTSIZE(n) (COUNT_TYPE *p_##n), (), ()
#define KIND_BIG(n) (MPI_Count p_##n), (VIEW_IN(MPI_Count, n)), ()
#define KIND_INTS(n) (partition_list p_##n), (), ()
#define KIND_ERRORS(n) (MPI_Errhandler p_##n), (), ()
#define KIND_OP(n) (MPI_Op p_##n), (), ()
#define KIND_COMM(n) (MPI_Comm p_##n), (VIEW_IN(MPI_Comm, n)), ()
#define KIND_GROUP(n) (MPI_Group p_##n), (VIEW_IN(MPI_Group, n)), ()
#define KIND_WIN(n) (MPI_Win p_##n), (struct communicator *n = win_of(p_##n);), ()
#define KIND_NEWWIN(n) (MPI_Win *p_##n), (), (VIEW_OUT(MPI_Win, n))
#define KIND_OLDWIN(n) (MPI_Win *p_##n), (struct communicator *n = win_of(*p_##n);), ()
#define KIND_FILE(n) (MPI_File p_##n), (struct communicator *n = file_of(p_##n);), ()
#define KIND_NEWFILE(n) (MPI_File *p_##n), (), (VIEW_OUT(MPI_File, n))
#define KIND_OLDFILE(n) (MPI_File *p_##n), (struct communicator *n = file_of(*p_##n);), ()
#define KIND_ADDRESS(n) (MPI_Aint p_##n), (), ()
#define KIND_OFFSET(n) (MPI_Offset p_##n), (), ()
#define KIND_STRING(n) \
	(const char *p_##n), \
	(VIEW_IN(const char *, n) const size_t n##_length UNUSED = SIZE_MAX;), ()
#define KIND_STRINGS(n) (char *p_##n[]), (), ()
#define KIND_ARGUMENTS(n) (char *p_##n[]), (), ()
#define KIND_ARGUMENTS_EACH(n) (char **p_##n[]), (), ()
#define KIND_INFOS(n) (const MPI_Info p_##n[]), (), ()
#define KIND_OUTPUT(n) (int *p_##n), (), ()
#define KIND_CREQ(n) (MPI_Request p_##n), (VIEW_IN(MPI_Request, n)), ()
#define KIND_INFO(n) (MPI_Info p_##n), (), ()
#define KIND_CINTS(n) (const int p_##n[]), (VIEW_IN(const int *, n)), ()
#define KIND_ADDRESSES(n) (const MPI_Aint p_##n[]), (), ()
#define KIND_CTYPES(n) (const MPI_Datatype p_##n[]), (VIEW_IN(const MPI_Datatype *, n)), ()
#define KIND_STATUS(n) (MPI_Status *p_##n), \
	(if (p_##n == MPI_STATUS_IGNORE) \
		p_##n = &at.thread->status; \
	const MPI_Status *n UNUSED = p_##n;), ()
#define KIND_STATUSES(n) (MPI_Status p_##n[]), \
	(MPI_Status *n##_seen = \
	    p_##n == MPI_STATUSES_IGNORE ? own_statuses(at.thread, count) : p_##n; \
	const MPI_Status *n UNUSED = n##_seen; \
	if (n##_seen != NULL) \
		p_##n = n##_seen;), \
	(NEEDS(n##_seen))
#define KIND_NEWREQ(n) (MPI_Request *p_##n), (), (VIEW_OUT(MPI_Request, n))
#define KIND_REQ(n) (MPI_Request *p_##n), (MPI_Request n##_before = *p_##n;), ()
#define KIND_REQS(n) (MPI_Request p_##n[]), \
	(MPI_Request *n##_before = own_requests(at.thread, count); \
	for (int i = 0; i < count && n##_before != NULL; i++) \
		n##_before[i] = p_##n[i];), \
	(NEEDS(n##_before))
#define KIND_INDEX(n) (int *p_##n), (), (VIEW_OUT(int, n))
#define KIND_INDICES(n) (int p_##n[]), (), (const int *n = p_##n; enum { n##_base = 0 };)
#define KIND_OUTCOUNT(n) (int *p_##n), (), (VIEW_OUT(int, n))
#define KIND_FLAG(n) (int *p_##n), (), (VIEW_OUT(int, n))
#define KIND_MESSAGE(n) (MPI_Message *p_##n), (struct probed n = take_message(*p_##n);), ()
#define KIND_NEWMESSAGE(n) (MPI_Message *p_##n), (), (VIEW_OUT(MPI_Message, n))
#define KIND_NEWCOMM(n) (MPI_Comm *p_##n), (), (VIEW_OUT(MPI_Comm, n))
#define KIND_OLDCOMM(n) (MPI_Comm *p_##n), (struct communicator *n = communicator_of(*p_##n);), ()

#define EACH_OF(name, count_type) \
	static uint64_t \
	name(const count_type *counts, int n, const MPI_Datatype *types) \
	{ \
		uint64_t sum = 0; \
		for (int i = 0; i < n; i++) \
			sum += bytes_of(counts[i], types[i]); \
		return sum; \
	}
EACH_OF(bytes_of_each, int)
EACH_OF(large_bytes_of_each, MPI_Count)

#ifdef MPI_STANDARD_ABI		/* its header leaves these to the table */
#define DECLARE(function, params) \
	int P##function(LIST(PARAM, params)); \
	EXPORT int function(LIST(PARAM, params));
#else
#define DECLARE(function, params)
#endif

#define WRAPPER(function, Number, class, params, record) \
	DECLARE(function, params) \
	EXPORT int function(LIST(PARAM, params)) \
	{ \
		struct at at; \
		int result; \
		if (!enter_call(&at, NUMBER_##Number, __builtin_return_address(0))) \
			return P##function(LIST(ARGUMENT, params)); \
		EACH(BEFORE, params) \
		OPEN_CALL(Number, CAT(CLASS_, class), params); \
		result = P##function(LIST(ARGUMENT, params)); \
		leave_call(&at); \
		if (result == MPI_SUCCESS) { \
			EACH(AFTER, params) \
			record; \
		} else \
			note_error(&at); \
		end_call(&at); \
		return result; \
	}

#define SPECIAL(Name, name, NAME, CLASS)
#define CALL(Name, name, NAME, CLASS, params, record) \
	WRAPPER(MPI_##Name, Name, CLASS, params, record)
#ifndef HAVE_MPI_4
#define CALL_4(Name, name, NAME, CLASS, params, record)
#ifdef OPEN_MPI		/* not every build of Open MPI declares it */
#define PERSISTENT(Name, name, NAME, CLASS, params, record) \
	int PMPIX_##Name(LIST(PARAM, params)) __attribute__((weak)); \
	EXPORT int MPIX_##Name(LIST(PARAM, params)); \
	WRAPPER(MPIX_##Name, Name, CLASS, params, record)
#endif
#endif
#define COUNT_TYPE int
#define DISPL_TYPE int
#include "../../base/mpi/call_table.h"
#undef COUNT_TYPE
#undef DISPL_TYPE

#ifdef HAVE_LARGE_COUNTS
#define SPECIAL(Name, name, NAME, CLASS)
#define CALL(Name, name, NAME, CLASS, params, record)
#define LARGE(Name, name, NAME, CLASS, params, record) \
	WRAPPER(MPI_##Name##_c, Name##_c, CLASS, params, record)
#define COUNT_TYPE MPI_Count
#define DISPL_TYPE MPI_Aint
#include "../../base/mpi/call_table.h"
#endif

EXPORT int
MPI_Init(int *argc, char ***argv)
{
	INIT(Init, result = PMPI_Init(argc, argv));
	return result;
}

EXPORT int
MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	INIT(Init_thread, result = PMPI_Init_thread(argc, argv, required, provided));
	return result;
}

#ifdef HAVE_MPI_4
EXPORT int
MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
	SESSION_INIT(result = PMPI_Session_init(info, handler, session), *session);
	return result;
}

EXPORT int
MPI_Session_finalize(MPI_Session *session)
{
	SESSION_FINALIZE(result = PMPI_Session_finalize(session), *session);
	return result;
}
#endif

EXPORT int
MPI_Finalize(void)
{
	FINALIZE(result = PMPI_Finalize());
	return result;
}

EXPORT int
MPI_Abort(MPI_Comm comm, int code)
{
	abort_noted(comm, code, __builtin_return_address(0));
	return PMPI_Abort(comm, code);
}

EXPORT int
MPI_Pcontrol(const int level, ...)
{
	const char *name = NULL;
	va_list more;

	va_start(more, level);
	if (level == 1 || level == -1)	/* there may be none: see region_by_level */
		name = va_arg(more, const char *);
	va_end(more);
	pcontrol_noted(level, name, __builtin_return_address(0));
	return PMPI_Pcontrol(level);
}
