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

#define PARAM(kind, name) KIND(1, kind, name)
#define ARGUMENT(kind, name) p_##name
#define GIVEN(type, n) p_##n
#define STORED(type) type
#define TO_C(kind, handle) (handle)
#define BUFFER(n) p_##n
#define TEXT_LENGTH(n) SIZE_MAX
#define FIRST_INDEX 0
#define RETURN return result
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
		int result; \
		RECORDED(Number, class, params, result = P##function(LIST(ARGUMENT, params)), \
		    result == MPI_SUCCESS, record); \
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
	abort_noted(comm, __builtin_return_address(0));
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
