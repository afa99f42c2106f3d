/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open requests by handle. Open MPI has one handle for all requests that were complete when they
 * were started; those are kept in order and taken oldest first, a thread's own before those of others.
 */
#include <stdlib.h>
#include <string.h>

#include "../../base/tool/hash_table.h"
#include "recorder.h"
#include "requests.h"

/* The low bits of addresses are alike; those in the middle of a product depend on all bits that differ. */
#define HASH(r) ((uintptr_t)(r)->handle * 0x9e3779b97f4a7c15u >> 32)
#define SAME(a, b) ((a)->handle == (b)->handle)
#define FREE(r) ((r)->handle == MPI_REQUEST_NULL)
#define MAKE_FREE(r) ((r)->handle = MPI_REQUEST_NULL)
HASH_TABLE(open_requests, struct request, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, out_of_memory())

static struct open_requests table;
MPI_Request static_request;

struct pending {
	uint64_t start, ticks;		/* row, and when that call was entered */
	uint32_t location;
};
static struct pending *pending;		/* of the static handle: a ring */
static size_t pending_first, pending_count, pending_size;
enum { LOOKED_AT = 1 << 10 };		/* for one of the thread's own */
enum { PENDING_LIMIT = 1 << 16 };	/* a program that never completes its sends loses the oldest */

void
requests_start(void)
{
	open_requests_begin(&table, 1024);
	static_request = MPI_REQUEST_NULL;
}

void
requests_find_static(void)
{
	MPI_Request first, second;

	PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &first);
	PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &second);
	static_request = first == second ? first : MPI_REQUEST_NULL;
	PMPI_Wait(&first, MPI_STATUS_IGNORE);
	PMPI_Wait(&second, MPI_STATUS_IGNORE);
}

/*
 * With threads a handle may come again before the one that it was completed by has taken note: the
 * new request waits here until then.
 */
static struct request *behind;
static size_t behind_count, behind_capacity;

static void
add_behind(const struct request *request)
{
	if (behind_count == behind_capacity) {
		size_t larger = behind_capacity == 0 ? 64 : 2 * behind_capacity;
		struct request *more = realloc(behind, larger * sizeof *behind);

		if (more == NULL) {
			out_of_memory();
			return;
		}
		behind = more;
		behind_capacity = larger;
	}
	behind[behind_count++] = *request;
}

void
request_add(const struct request *request)
{
	struct request *at;

	if (table.size == 0)
		return;
	if (many_threads && request_find(request->handle) != NULL)
		add_behind(request);
	else if ((at = open_requests_add(&table, request)) != NULL)
		*at = *request;
}

void
request_start(MPI_Request handle, enum request_kind kind, uint64_t start, uint32_t location, uint32_t comm,
    uint64_t ticks)
{
	const struct request key = { .handle = handle };
	struct request *at;

	if (many_threads || 2 * (table.count + 1) > table.size) {
		const struct request request = { .handle = handle, .kind = (uint8_t)kind, .start = start,
			.location = location, .comm = comm, .ticks = ticks, .active = true };

		request_add(&request);
		return;
	}
	at = open_requests_at(&table, &key);
	table.count += FREE(at);
	at->handle = handle;
	at->ticks = ticks;
	at->start = start;
	at->location = location;
	at->comm = comm;
	at->start_call = 0;
	at->kind = (uint8_t)kind;
	at->persistent = at->cancelled = false;
	at->active = true;
}

struct request *
request_find(MPI_Request handle)
{
	struct request key = { .handle = handle };

	return handle == MPI_REQUEST_NULL || table.size == 0 ? NULL : open_requests_find(&table, &key);
}

static struct request *
request_of(MPI_Request handle, uint64_t ticks)
{
	struct request *best = request_find(handle);

	for (size_t i = 0; i < behind_count && best != NULL; i++)
		if (behind[i].handle == handle && behind[i].ticks <= ticks &&
		    (best->ticks > ticks || behind[i].ticks >= best->ticks))
			best = &behind[i];
	return best;
}

void
request_remove(struct request *request)
{
	const MPI_Request handle = request->handle;

	if (request >= behind && request < behind + behind_count) {
		memmove(request, request + 1, (size_t)(behind + --behind_count - request) * sizeof *request);
		return;
	}
	open_requests_remove(&table, request);
	for (size_t i = 0; i < behind_count; i++)
		if (behind[i].handle == handle) {
			open_requests_add(&table, &behind[i]);	/* a slot has just become free */
			memmove(&behind[i], &behind[i + 1], (--behind_count - i) * sizeof *behind);
			break;
		}
}

bool
request_complete(MPI_Request handle, uint64_t ticks, struct request *done)
{
	struct request *request = request_of(handle, ticks);

	if (request == NULL || !request->active)
		return false;
	done->kind = request->kind;
	done->cancelled = request->cancelled;
	done->comm = request->comm;
	done->location = request->location;
	done->start = request->start;
	if (UNLIKELY(is_special(request)))
		*done = *request;
	if (request->persistent)
		request->active = false;
	else
		request_remove(request);
	return true;
}

void
static_add(uint32_t location, uint64_t start, uint64_t ticks)
{
	if (pending_count == pending_size && pending_size < PENDING_LIMIT) {
		size_t size = pending_size == 0 ? 256 : 2 * pending_size;
		struct pending *more = malloc(size * sizeof *more);

		if (more == NULL) {
			out_of_memory();
			return;
		}
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
	    (struct pending){ start, ticks, location };
}

static struct pending *
pending_at(size_t i)
{
	return &pending[(pending_first + i) & (pending_size - 1)];
}

/*
 * Which of the requests that share the handle a thread completes nobody can tell. It is its own as long as it
 * has one, else the oldest that was not started after this call had ended.
 */
bool
static_take(uint32_t own, uint64_t leave_ticks, uint32_t *location, uint64_t *start)
{
	size_t taken = 0;

	if (pending_count == 0)
		return false;
	while (taken < pending_count && taken < LOOKED_AT && pending_at(taken)->location != own)
		taken++;
	if (taken == pending_count || taken == LOOKED_AT)
		for (taken = 0; taken < pending_count && pending_at(taken)->ticks > leave_ticks;)
			taken++;
	if (taken == pending_count)
		taken = 0;
	*location = pending_at(taken)->location;
	*start = pending_at(taken)->start;
	for (; taken > 0; taken--)
		*pending_at(taken) = *pending_at(taken - 1);
	pending_first = (pending_first + 1) & (pending_size - 1);
	pending_count--;
	return true;
}
