/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open requests by handle. Open MPI has one handle for all requests that were complete when they
 * were started; those are kept in order and taken oldest first.
 */
#include <stdlib.h>

#include "recorder.h"

static struct request *table;	/* open addressing; handle MPI_REQUEST_NULL: free */
static size_t table_size, table_count;
static MPI_Request static_handle;

struct pending {
	uint64_t start;
	uint32_t location;
};
static struct pending *pending;		/* of the static handle: a ring */
static size_t pending_first, pending_count, pending_size;
enum { PENDING_LIMIT = 1 << 16 };	/* a program that never completes its sends loses the oldest */

static size_t
slot_of(MPI_Request handle)
{
	size_t at = ((uintptr_t)handle * 0x9e3779b97f4a7c15u) >> 32 & (table_size - 1);

	while (table[at].handle != MPI_REQUEST_NULL && table[at].handle != handle)
		at = (at + 1) & (table_size - 1);
	return at;
}

static void
table_grow(size_t size)
{
	struct request *old = table;
	size_t old_size = table_size;

	table = malloc(size * sizeof *table);
	if (table == NULL)
		abort();
	table_size = size;
	for (size_t i = 0; i < size; i++)
		table[i].handle = MPI_REQUEST_NULL;
	for (size_t i = 0; i < old_size; i++)
		if (old[i].handle != MPI_REQUEST_NULL)
			table[slot_of(old[i].handle)] = old[i];
	free(old);
}

void
requests_begin(void)
{
	MPI_Request first, second;

	table_grow(1024);
	PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &first);
	PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &second);
	static_handle = first == second ? first : MPI_REQUEST_NULL;
	PMPI_Wait(&first, MPI_STATUS_IGNORE);
	PMPI_Wait(&second, MPI_STATUS_IGNORE);
}

void
request_add(const struct request *request)
{
	size_t at = slot_of(request->handle);

	if (table[at].handle == MPI_REQUEST_NULL) {
		if (2 * ++table_count > table_size)
			table_grow(2 * table_size);
		at = slot_of(request->handle);
	}
	table[at] = *request;
}

struct request *
request_find(MPI_Request handle)
{
	struct request *found;

	if (handle == MPI_REQUEST_NULL)
		return NULL;
	found = &table[slot_of(handle)];
	return found->handle == handle ? found : NULL;
}

void
request_remove(MPI_Request handle)
{
	size_t mask = table_size - 1, hole = slot_of(handle);

	if (table[hole].handle != handle)
		return;
	for (size_t i = (hole + 1) & mask; table[i].handle != MPI_REQUEST_NULL; i = (i + 1) & mask) {
		size_t home = ((uintptr_t)table[i].handle * 0x9e3779b97f4a7c15u) >> 32 & mask;

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			table[hole] = table[i];
			hole = i;
		}
	}
	table[hole].handle = MPI_REQUEST_NULL;
	table_count--;
}

bool
request_is_static(MPI_Request handle)
{
	return handle == static_handle && handle != MPI_REQUEST_NULL;
}

void
static_add(uint32_t location, uint64_t start)
{
	if (pending_count == pending_size && pending_size < PENDING_LIMIT) {
		size_t size = pending_size == 0 ? 256 : 2 * pending_size;
		struct pending *more = malloc(size * sizeof *more);

		if (more == NULL)
			abort();
		for (size_t i = 0; i < pending_count; i++)
			more[i] = pending[(pending_first + i) & (pending_size - 1)];
		free(pending);
		pending = more;
		pending_first = 0;
		pending_size = size;
	}
	if (pending_count == pending_size) {
		pending_first = (pending_first + 1) & (pending_size - 1);
		pending_count--;
	}
	pending[(pending_first + pending_count++) & (pending_size - 1)] =
	    (struct pending){ start, location };
}

bool
static_take(uint32_t *location, uint64_t *start)
{
	if (pending_count == 0)
		return false;
	*location = pending[pending_first].location;
	*start = pending[pending_first].start;
	pending_first = (pending_first + 1) & (pending_size - 1);
	pending_count--;
	return true;
}
