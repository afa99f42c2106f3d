/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrappers of the C functions, expanded from call_table.h. */
#include "wrap.h"

/* The list of MPI_Pready_list, which is const in some libraries only. */
#if defined MPICH_VERSION || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
typedef __typeof__(_Generic(&PMPI_Pready_list, int (*)(int, int *, MPI_Request): (int *)0,
    default: (const int *)0)) partition_list;
#else
typedef const int *partition_list;
#endif

/* Parameters as in mpi.h. */
#define PARAM(kind, name) PARAM_##kind(p_##name)
#define PARAM_BUF(p) void *p
#define PARAM_CBUF(p) const void *p
#define PARAM_INT(p) int p
#define PARAM_TYPE(p) MPI_Datatype p
#define PARAM_COUNT(p) COUNT_TYPE p
#define PARAM_COUNTS(p) const COUNT_TYPE p[]
#define PARAM_DISPLS(p) const DISPL_TYPE p[]
#define PARAM_UNIT(p) DISPL_TYPE p
#define PARAM_OUTSIZE(p) COUNT_TYPE *p
#define PARAM_BIG(p) MPI_Count p
#define PARAM_INTS(p) partition_list p
#define PARAM_ERRORS(p) MPI_Errhandler p
#define PARAM_OP(p) MPI_Op p
#define PARAM_COMM(p) MPI_Comm p
#define PARAM_GROUP(p) MPI_Group p
#define PARAM_WIN(p) MPI_Win p
#define PARAM_NEWWIN(p) MPI_Win *p
#define PARAM_OLDWIN(p) MPI_Win *p
#define PARAM_FILE(p) MPI_File p
#define PARAM_NEWFILE(p) MPI_File *p
#define PARAM_OLDFILE(p) MPI_File *p
#define PARAM_ADDRESS(p) MPI_Aint p
#define PARAM_OFFSET(p) MPI_Offset p
#define PARAM_STRING(p) const char *p
#define PARAM_STRINGS(p) char *p[]
#define PARAM_ARGUMENTS(p) char *p[]
#define PARAM_ARGUMENTS_EACH(p) char **p[]
#define PARAM_INFOS(p) const MPI_Info p[]
#define PARAM_OUTPUT(p) int *p
#define PARAM_CREQ(p) MPI_Request p
#define PARAM_INFO(p) MPI_Info p
#define PARAM_CINTS(p) const int p[]
#define PARAM_ADDRESSES(p) const MPI_Aint p[]
#define PARAM_CTYPES(p) const MPI_Datatype p[]
#define PARAM_STATUS(p) MPI_Status *p
#define PARAM_STATUSES(p) MPI_Status p[]
#define PARAM_NEWREQ(p) MPI_Request *p
#define PARAM_REQ(p) MPI_Request *p
#define PARAM_REQS(p) MPI_Request p[]
#define PARAM_INDEX(p) int *p
#define PARAM_INDICES(p) int p[]
#define PARAM_OUTCOUNT(p) int *p
#define PARAM_FLAG(p) int *p
#define PARAM_MESSAGE(p) MPI_Message *p
#define PARAM_NEWMESSAGE(p) MPI_Message *p
#define PARAM_NEWCOMM(p) MPI_Comm *p
#define PARAM_OLDCOMM(p) MPI_Comm *p
#define ARGUMENT(kind, name) p_##name

/* Before the call: views of what goes in, and stand-ins for ignored statuses. */
#define BEFORE(kind, name) BEFORE_##kind(name)
#define VIEW_IN(type, name) type name UNUSED = p_##name;
#define BEFORE_BUF(n) VIEW_IN(const void *, n)
#define BEFORE_CBUF(n) VIEW_IN(const void *, n)
#define BEFORE_INT(n) VIEW_IN(int, n)
#define BEFORE_COUNT(n) VIEW_IN(COUNT_TYPE, n)
#define BEFORE_COUNTS(n) VIEW_IN(const COUNT_TYPE *, n)
#define BEFORE_BIG(n) VIEW_IN(MPI_Count, n)
#define BEFORE_CREQ(n) VIEW_IN(MPI_Request, n)
#define BEFORE_TYPE(n) VIEW_IN(MPI_Datatype, n)
#define BEFORE_COMM(n) VIEW_IN(MPI_Comm, n)
#define BEFORE_GROUP(n) VIEW_IN(MPI_Group, n)
#define BEFORE_WIN(n) struct communicator *n = win_of(p_##n);
#define BEFORE_OLDWIN(n) struct communicator *n = win_of(*p_##n);
#define BEFORE_FILE(n) struct communicator *n = file_of(p_##n);
#define BEFORE_OLDFILE(n) struct communicator *n = file_of(*p_##n);
#define BEFORE_CINTS(n) VIEW_IN(const int *, n)
#define BEFORE_CTYPES(n) VIEW_IN(const MPI_Datatype *, n)
#define BEFORE_STATUS(n) \
	if (p_##n == MPI_STATUS_IGNORE) \
		p_##n = &at.thread->status; \
	const MPI_Status *n UNUSED = p_##n;
#define BEFORE_STATUSES(n) \
	MPI_Status *n##_seen = p_##n == MPI_STATUSES_IGNORE ? own_statuses(at.thread, count) : p_##n; \
	const MPI_Status *n UNUSED = n##_seen; \
	if (n##_seen != NULL) \
		p_##n = n##_seen;
#define BEFORE_REQ(n) MPI_Request n##_before = *p_##n;
#define BEFORE_REQS(n) \
	MPI_Request *n##_before = own_requests(at.thread, count); \
	for (int i = 0; i < count && n##_before != NULL; i++) \
		n##_before[i] = p_##n[i];
#define BEFORE_MESSAGE(n) MPI_Message n = *p_##n;
#define BEFORE_OLDCOMM(n) struct communicator *n = communicator_of(*p_##n);

/* After it: views of what came out. */
#define AFTER(kind, name) AFTER_##kind(name)
#define VIEW_OUT(type, name) type name UNUSED = *p_##name;
#define AFTER_STATUS(n)
/* Where there was no memory recording has ended, and there is nothing to note. */
#define NEEDS(own) \
	if (own == NULL) { \
		end_call(&at); \
		return result; \
	}
#define AFTER_STATUSES(n) NEEDS(n##_seen)
#define AFTER_REQS(n) NEEDS(n##_before)
#define AFTER_NEWREQ(n) VIEW_OUT(MPI_Request, n)
#define AFTER_INDEX(n) VIEW_OUT(int, n)
#define AFTER_INDICES(n) const int *n = p_##n; enum { n##_base = 0 };
#define AFTER_OUTCOUNT(n) VIEW_OUT(int, n)
#define AFTER_FLAG(n) VIEW_OUT(int, n)
#define AFTER_NEWMESSAGE(n) VIEW_OUT(MPI_Message, n)
#define AFTER_NEWCOMM(n) VIEW_OUT(MPI_Comm, n)
#define AFTER_NEWWIN(n) VIEW_OUT(MPI_Win, n)
#define AFTER_NEWFILE(n) VIEW_OUT(MPI_File, n)

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

#define WRAPPER(function, Number, params, record) \
	EXPORT int function(LIST(PARAM, params)) \
	{ \
		struct at at; \
		int result; \
		if (!enter_call(&at, NUMBER_##Number, __builtin_return_address(0))) \
			return P##function(LIST(ARGUMENT, params)); \
		EACH(BEFORE, params) \
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
#define CALL(Name, name, NAME, CLASS, params, record) WRAPPER(MPI_##Name, Name, params, record)
#ifndef HAVE_MPI_4
#define CALL_4(Name, name, NAME, CLASS, params, record)
#ifdef OPEN_MPI		/* declared in a header that not every build of it has */
#define PERSISTENT(Name, name, NAME, CLASS, params, record) \
	int PMPIX_##Name(LIST(PARAM, params)) __attribute__((weak)); \
	EXPORT int MPIX_##Name(LIST(PARAM, params)); \
	WRAPPER(MPIX_##Name, Name, params, record)
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
#define LARGE(Name, name, NAME, CLASS, params, record) WRAPPER(MPI_##Name##_c, Name##_c, params, record)
#define COUNT_TYPE MPI_Count
#define DISPL_TYPE MPI_Aint
#include "../../base/mpi/call_table.h"
#endif

struct init_arguments {
	int *argc;
	char ***argv;
	int required, *provided;
};

static int
init(void *arguments)
{
	struct init_arguments *a = arguments;

	return PMPI_Init(a->argc, a->argv);
}

static int
init_thread(void *arguments)
{
	struct init_arguments *a = arguments;

	return PMPI_Init_thread(a->argc, a->argv, a->required, a->provided);
}

EXPORT int
MPI_Init(int *argc, char ***argv)
{
	struct init_arguments a = { argc, argv, 0, NULL };

	return init_wrapper(init, &a, NUMBER_Init, __builtin_return_address(0));
}

EXPORT int
MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	struct init_arguments a = { argc, argv, required, provided };

	return init_wrapper(init_thread, &a, NUMBER_Init_thread, __builtin_return_address(0));
}

#ifdef HAVE_MPI_4
struct session_arguments {
	MPI_Info info;
	MPI_Errhandler handler;
	MPI_Session *session;
};

static int
session_init(void *arguments, MPI_Session *made)
{
	struct session_arguments *a = arguments;
	int result = PMPI_Session_init(a->info, a->handler, a->session);

	*made = *a->session;
	return result;
}

static int
session_finalize(void *session)
{
	return PMPI_Session_finalize(session);
}

EXPORT int
MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
	struct session_arguments a = { info, handler, session };

	return session_init_wrapper(session_init, &a, __builtin_return_address(0));
}

EXPORT int
MPI_Session_finalize(MPI_Session *session)
{
	return session_finalize_wrapper(session_finalize, session, *session, __builtin_return_address(0));
}
#endif

EXPORT int
MPI_Finalize(void)
{
	return finalize_wrapper(PMPI_Finalize, __builtin_return_address(0));
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
	pcontrol_noted(level, __builtin_return_address(0));
	return PMPI_Pcontrol(level);
}
