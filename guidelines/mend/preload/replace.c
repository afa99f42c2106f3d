/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overrides the library's functions. All ranks of the communicator must decide alike whether a call
 * is replaced. So the decision uses only arguments that MPI requires to be the same on all ranks.
 * For data movements (move.c) these are the bytes of a block; types may differ and are packed
 * unless contiguous. For reductions (reduce.c) they are count, type and operation. Sendrecv is the
 * caller's own decision. Calls with wrong arguments go to the library, which reports them.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "replace.h"

struct real real;
_Thread_local int first_error;
const char *tool = "lp-mend";

/* Mock-ups call this if numbers are too large for MPI; fits() prevents that. */
_Noreturn void
die(const char *format, ...)
{
	(void)format;
	abort();
}

/* Called first, by whoever loaded this library. MPI: a handle for the library's own functions. */
EXPORT void longpole_begin(void *mpi);
void
longpole_begin(void *mpi)
{
#define FILL(name) *(void **)&real.name = dlsym(mpi, "PMPI_" #name);
	REAL_FUNCTIONS(FILL)
}

/* Memory for copies and mock-ups. A single rank cannot fall back to the library's function. */
static char *
take_memory(MPI_Comm comm, size_t bytes)
{
	static const char line[] = "lp-mend: out of memory\n";
	char *memory = malloc(bytes + 1);

	if (memory == NULL) {
		if (write(STDERR_FILENO, line, sizeof line - 1) > 0)
			PMPI_Abort(comm, 2);
		abort();
	}
	return memory;
}

bool
fits(const struct group *group, uint64_t count, uint64_t extent)
{
	uint64_t ranks = (uint64_t)group->ranks;

	return count + ranks <= INT_MAX / ranks / (extent > 0 ? extent : 1);
}

struct call
make_replaced(const struct rule *rule, const struct group *group, MPI_Comm comm, int count,
    MPI_Datatype type, size_t extent, size_t copies, char **memory)
{
	size_t ranks = (size_t)group->ranks, ints = 2 * ranks * sizeof(int), align = 64,
	    m = (size_t)count;
	size_t head = (ints + align - 1) / align * align,
	    body = (copies + align - 1) / align * align;
	struct call call = { .comm = comm, .rank = group->rank, .ranks = group->ranks, .type = type,
	    .extent = extent, .count = count, .function = rule->function };

	*memory = take_memory(comm, head + body + extent * (rule->mockup != NULL ?
	    rule->mockup->extra(ranks, m, (m + ranks - 1) / ranks * ranks) :
	    ranks * m + 2 * ranks));
	call.mock_counts = call.counts = (int *)(void *)*memory;
	call.mock_displs = call.counts + ranks;
	call.input = *memory + head;
	call.extra = call.input + body;
	return call;
}

int
run_replaced(struct rule *rule, struct call *call)
{
	uint64_t bytes = (uint64_t)call->count * call->extent;

	first_error = MPI_SUCCESS;
	__atomic_fetch_add(&rule->calls, 1, __ATOMIC_RELAXED);
	if (rule->mockup != NULL)
		rule->mockup->run(call);
	else {
		call->calls = (int)((bytes + rule->part - 1) / rule->part);
		run_split(call);
	}
	return first_error;
}

EXPORT int
MPI_Barrier(MPI_Comm comm)
{
	struct group group;
	struct rule *rule = !has_rules(R_Barrier) || comm == MPI_COMM_NULL ? NULL :
	    find_rule(R_Barrier, comm, 0, &group);
	struct call call;
	char *memory;
	int result;

	if (rule == NULL)
		return real.Barrier(comm);
	call = make_replaced(rule, &group, comm, 0, MPI_BYTE, 1, 0, &memory);
	result = run_replaced(rule, &call);
	free(memory);
	return result;
}
BOTH_NAMES(Barrier)

EXPORT int
MPI_Sendrecv(const void *from, int from_count, MPI_Datatype from_type, int target, int from_tag,
    void *to, int to_count, MPI_Datatype to_type, int source, int to_tag, MPI_Comm comm,
    MPI_Status *status)
{
	struct group group;
	struct rule *rule = NULL;
	MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	MPI_Status own[2];
	int result, size;

	if (has_rules(R_Sendrecv) && comm != MPI_COMM_NULL && from_count >= 0 && to_count >= 0 &&
	    from_type != MPI_DATATYPE_NULL && to_type != MPI_DATATYPE_NULL &&
	    PMPI_Type_size(from_type, &size) == MPI_SUCCESS && size >= 0)
		rule = find_rule(R_Sendrecv, comm, (uint64_t)from_count * (uint64_t)size, &group);
	if (rule == NULL)
		return real.Sendrecv(from, from_count, from_type, target, from_tag, to, to_count,
		    to_type, source, to_tag, comm, status);
	__atomic_fetch_add(&rule->calls, 1, __ATOMIC_RELAXED);
	result = PMPI_Irecv(to, to_count, to_type, source, to_tag, comm, &requests[1]);
	if (result == MPI_SUCCESS)
		result = PMPI_Isend(from, from_count, from_type, target, from_tag, comm,
		    &requests[0]);
	if (result == MPI_SUCCESS)
		result = PMPI_Waitall(2, requests, own);
	if (result == MPI_ERR_IN_STATUS)
		result = own[0].MPI_ERROR != MPI_SUCCESS ? own[0].MPI_ERROR : own[1].MPI_ERROR;
	if (result == MPI_SUCCESS && status != MPI_STATUS_IGNORE) {
		int error = status->MPI_ERROR;	/* set only by calls on several requests */

		*status = own[1];
		status->MPI_ERROR = error;
	}
	return result;
}
BOTH_NAMES(Sendrecv)

EXPORT int
MPI_Init(int *argc, char ***argv)
{
	int result = real.Init(argc, argv);

	if (result == MPI_SUCCESS)
		agree();
	return result;
}
BOTH_NAMES(Init)

EXPORT int
MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int result = real.Init_thread(argc, argv, required, provided);

	if (result == MPI_SUCCESS)
		agree();
	return result;
}
BOTH_NAMES(Init_thread)

EXPORT int
MPI_Finalize(void)
{
	say_calls();
	return real.Finalize();
}
BOTH_NAMES(Finalize)
