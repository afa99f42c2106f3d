/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open requests by handle. Open MPI has one handle for all requests that are complete when they
 * start; Open MPI 6 has another one for sends to MPI_PROC_NULL. Those are kept in order and taken
 * oldest first, a thread's own before those of others.
 */

#include "../../base/tool/hash_table.h"
#include "requests.h"

/*
 * The low bits of addresses are alike; the middle bits of a product depend on all bits that differ.
 */
#define HASH(r) ((uintptr_t)(r)->handle * 0x9e3779b97f4a7c15u >> 32)
#define SAME(a, b) ((a)->handle == (b)->handle)
#define FREE(r) ((r)->handle == MPI_REQUEST_NULL)
#define MAKE_FREE(r) ((r)->handle = MPI_REQUEST_NULL)
HASH_TABLE(open_requests, struct request, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL,
    out_of_memory())

static struct open_requests *table;
size_t requests_apart;
struct near_request near_requests[1 << NEAR_REQUEST_BITS];
MPI_Request static_request, static_null;
struct pending_ring pending;
enum { LOOKED_AT = 1 << 10 };		/* search depth for the thread's own */

void
requests_start(void)
{
	static_request = static_null = MPI_REQUEST_NULL;
	for (size_t i = 0; i < sizeof near_requests / sizeof near_requests[0]; i++)
		near_requests[i].handle = MPI_REQUEST_NULL;
}

/* The handle of two sends that are open at once; MPI_REQUEST_NULL if they have different ones. */
static MPI_Request
handle_of_two(int dest)
{
	MPI_Request sends[2], found;

	for (int i = 0; i < 2; i++)
		PMPI_Isend(NULL, 0, MPI_BYTE, dest, 0, MPI_COMM_SELF, &sends[i]);
	found = sends[0] == sends[1] ? sends[0] : MPI_REQUEST_NULL;
	for (int i = 0; i < 2; i++) {
		PMPI_Recv(NULL, 0, MPI_BYTE, dest, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		PMPI_Wait(&sends[i], MPI_STATUS_IGNORE);
	}
	return found;
}

void
requests_find_static(void)
{
	static_null = handle_of_two(MPI_PROC_NULL);
	static_request = handle_of_two(0);
}

/*
 * With threads, a handle may be used again before the thread that completed it has noted that. The
 * new request waits here until then.
 */
static struct request *behind;
static size_t behind_count, behind_capacity;

static void
add_to_table(const struct request *request)
{
	struct request *at;

	if (many_threads && request_find(request->handle) != NULL) {
		if ((at = room_for(behind, &behind_capacity, behind_count + 1,
		    sizeof *behind)) == NULL)
			return;
		behind = at;
		behind[behind_count++] = *request;
	} else if ((at = open_requests_add(&table, request)) != NULL)
		*at = *request;
	requests_apart = open_requests_count(table);
}

void
request_apart(struct near_request *it)
{
	const struct request request = { .handle = it->handle, .kind = (uint8_t)it->kind,
	    .start = it->start, .location = it->location, .comm = it->comm, .active = true };

	it->handle = MPI_REQUEST_NULL;
	add_to_table(&request);
}

/* A handle is known once: here or in the near table. */
void
request_add(const struct request *request)
{
	struct near_request *it = near_request(request->handle);

	if (it->handle == request->handle)
		it->handle = MPI_REQUEST_NULL;
	add_to_table(request);
}

void
request_forget_apart(MPI_Request handle)
{
	struct request *request = request_find(handle);

	if (request != NULL)
		request_remove(request);
}

struct request *
request_find(MPI_Request handle)
{
	struct request key = { .handle = handle };
	struct near_request *it = near_request(handle);

	if (handle == MPI_REQUEST_NULL)
		return NULL;
	if (it->handle == handle)
		request_apart(it);
	return open_requests_find(table, &key);
}

void
request_remove(struct request *request)
{
	const MPI_Request handle = request->handle;
	size_t i = 0;

	if (request >= behind && request < behind + behind_count)
		i = (size_t)(request - behind);
	else {
		open_requests_remove(table, request);
		while (i < behind_count && behind[i].handle != handle)
			i++;
		if (i < behind_count)
			open_requests_add(&table, &behind[i]);	/* a slot has just become free */
		requests_apart = open_requests_count(table);
	}
	if (i < behind_count)
		memmove(&behind[i], &behind[i + 1], (--behind_count - i) * sizeof *behind);
}

bool
request_complete(MPI_Request handle, uint64_t ticks, struct request *done)
{
	struct request *request = request_find(handle);

	for (size_t i = 0; i < behind_count && request != NULL; i++)
		if (behind[i].handle == handle && behind[i].ticks <= ticks &&
		    (request->ticks > ticks || behind[i].ticks >= request->ticks))
			request = &behind[i];
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

static struct pending *
pending_at(size_t i)
{
	return &pending.slots[(pending.first + i) % PENDING];
}

/*
 * Nobody can tell which of the requests with this handle a thread completes. We take the thread's
 * own as long as it has one, else the oldest that started before this call ended.
 */
bool
static_take(uint32_t own, uint64_t leave_ticks, uint32_t *location, uint64_t *start)
{
	size_t taken = 0;

	if (pending.count == 0)
		return false;
	while (taken < pending.count && taken < LOOKED_AT && pending_at(taken)->location != own)
		taken++;
	if (taken == pending.count || taken == LOOKED_AT)
		for (taken = 0; taken < pending.count && pending_at(taken)->ticks > leave_ticks;)
			taken++;
	if (taken == pending.count)
		taken = 0;
	*location = pending_at(taken)->location;
	*start = pending_at(taken)->start;
	for (; taken > 0; taken--)
		*pending_at(taken) = *pending_at(taken - 1);
	static_drop_first();
	return true;
}
