/* SPDX-License-Identifier: BSD-3-Clause */
#include "call_class.h"

#include <string.h>

#include "../stream/calls.h"

const unsigned char call_classes[] = {
	CLASS_PART,
#define CALL(Name, lower, UPPER, class, ...) CLASS_##class,
#define SPECIAL(Name, lower, UPPER, class) CLASS_##class,
#define LARGE CALL
#define DERIVED(number, name, class) CLASS_##class,
#include "call_table.h"
};
const unsigned call_class_count = sizeof call_classes / sizeof call_classes[0];

static const char *const names[] = {
#define CALL(Name, lower, UPPER, class, ...) "MPI_" #Name,
#define SPECIAL(Name, lower, UPPER, class) "MPI_" #Name,
#define LARGE(Name, lower, UPPER, class, ...) "MPI_" #Name "_c",
#define DERIVED(number, name, class) name,
#include "call_table.h"
};

/* Indices of the functions of call_table.h, in the order of call_classes. */
enum {
	INDEX_PART,
#define CALL(Name, ...) INDEX_##Name,
#define SPECIAL CALL
#define LARGE(Name, ...) INDEX_##Name##_c,
#define DERIVED(number, ...) INDEX_DERIVED_##number,
#include "call_table.h"
};

const uint16_t call_thread_wait = INDEX_DERIVED_thread_wait;
const uint16_t call_thread_signal = INDEX_DERIVED_thread_signal;

bool
call_polls(unsigned call)
{
	return call == INDEX_Test || call == INDEX_Testall || call == INDEX_Testany ||
	    call == INDEX_Testsome || call == INDEX_Iprobe || call == INDEX_Improbe ||
	    call == INDEX_Parrived || call == INDEX_Request_get_status ||
	    call == INDEX_Win_test;
}

bool
call_counts_differ(unsigned call)
{
	switch (call) {
	case INDEX_Gatherv: case INDEX_Scatterv: case INDEX_Allgatherv: case INDEX_Alltoallv:
	case INDEX_Alltoallw: case INDEX_Reduce_scatter:
	case INDEX_Gatherv_c: case INDEX_Scatterv_c: case INDEX_Allgatherv_c:
	case INDEX_Alltoallv_c: case INDEX_Alltoallw_c: case INDEX_Reduce_scatter_c:
		return true;
	}
	return false;
}

bool
call_aborts(unsigned call)
{
	return call == INDEX_Abort;
}

static bool
has_tail(unsigned call, const char *tail)
{
	const char *found;

	return call >= call_class_count &&	/* the name is not in call_table.h */
	    (found = strrchr(call_name(call), '(')) != NULL && strcmp(found, tail) == 0;
}

bool
call_failed(unsigned call)
{
	return has_tail(call, "(error)");
}

bool
call_is_open(unsigned call)
{
	return has_tail(call, "(open)");
}

bool
call_spawns(unsigned call)
{
	return call == INDEX_Comm_spawn || call == INDEX_Comm_spawn_multiple;
}

bool
call_meets(unsigned call)
{
	return call_spawns(call) || call == INDEX_Comm_accept || call == INDEX_Comm_connect;
}

static bool
begins(unsigned call)
{
	return call_class(call) == CLASS_INIT || call_spawns(call);
}

static size_t
length_without_c(const char *name)
{
	const size_t length = strlen(name);

	return length > 2 && strcmp(name + length - 2, "_c") == 0 ? length - 2 : length;
}

bool
calls_are_same(unsigned a, unsigned b)
{
	const char *x = call_name(a), *y = call_name(b);

	return a == b || (length_without_c(x) == length_without_c(y) &&
	    memcmp(x, y, length_without_c(x)) == 0);
}

bool
calls_meet(unsigned a, unsigned b)
{
	return calls_are_same(a, b) || (begins(a) && begins(b)) || (a == INDEX_Comm_accept &&
	    b == INDEX_Comm_connect) || (a == INDEX_Comm_connect && b == INDEX_Comm_accept);
}

bool
call_starts(unsigned call)
{
	const char *name = call_name(call);

	return (call_class(call) == CLASS_IO && strncmp(name, "MPI_File_i", 10) == 0) ||
	    (call_class(call) == CLASS_RMA && strncmp(name, "MPI_R", 5) == 0);
}

enum one_sided_kind
call_one_sided(unsigned call)
{
	switch (call) {
	case INDEX_Win_lock: return LOCKS;
	case INDEX_Win_unlock: return UNLOCKS;
	case INDEX_Win_flush: return FLUSHES;
	case INDEX_Win_flush_local: case INDEX_Win_flush_local_all: return FLUSHES_LOCALLY;
	case INDEX_Win_lock_all: return LOCKS_ALL;
	case INDEX_Win_unlock_all: return UNLOCKS_ALL;
	case INDEX_Win_flush_all: return FLUSHES_ALL;
	case INDEX_Win_fence: case INDEX_Win_complete: return ENDS_EPOCH;
	default: return call_class(call) == CLASS_RMA && call != INDEX_Win_sync ? ACCESSES :
	    NO_ACCESS;
	}
}

bool
call_takes(unsigned call)
{
	return call == INDEX_Mprobe || call == INDEX_Improbe;
}

/* The stream format knows no MPI functions: gives those of call_table.h the first indices. */
__attribute__((constructor)) static void
give_names(void)
{
	calls_known(names, sizeof names / sizeof names[0]);
}
