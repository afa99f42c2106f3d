/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of calls that complete, cancel or free requests. */
#include "communicators.h"
#include "notes.h"
#include "recorder.h"
#include "requests.h"
#include "rows.h"

/* Looks up the request that the call completed, and forgets it unless it is persistent. */
static bool
take_request(const struct at *at, MPI_Request handle, struct request *done)
{
	bool taken;

	if (handle == MPI_REQUEST_NULL)
		return false;
	lock_tables();
	if (request_is_static(handle)) {
		done->kind = OF_SEND;
		taken = static_take(at->thread->location, at->leave_ticks, &done->location,
		    &done->start);
	} else
		taken = request_complete(handle, at->enter_ticks, done);
	unlock_tables();
	return taken;
}

ALWAYS void
fill_completed(struct entry *e, const struct request *done, const MPI_Status *status)
{
	int cancelled = 0;

	if (done->cancelled)
		PMPI_Test_cancelled(status, &cancelled);
	if (cancelled)
		return;
	e->comm = done->comm;
	fill_received(e, status);
}

/*
 * The receive of an MPI_Isendrecv. MPICH 4.0 leaves the status unchanged or fills in the send. Then
 * the row gets the source and tag asked for, if no wildcards, and the size of the buffer.
 */
static void
fill_both(struct entry *e, const struct request *done, const MPI_Status *status)
{
	fill_completed(e, done, status);
#ifdef MPICH_VERSION
	e->peer = done->peer != ANY_PEER ? done->peer : e->peer;
	e->tag = done->tag != -1 ? done->tag : e->tag;
	e->bytes_received = done->peer != NULL_PEER ? done->received : 0;
#endif
}

/* Makes the rows E for the completion of one request; the first will be row SEQ. */
static uint32_t
rows_of(struct at *at, const struct entry *call, struct entry *e, uint64_t seq,
    const struct request *done, const MPI_Status *status)
{
	e[0] = *call;
	refer(at, &e[0], seq, done->location, done->start);
	if (done->kind == OF_IDUP)
		register_communicator(done->made, done->creation);
	if (done->kind == OF_RECEIVE)
		fill_completed(&e[0], done, status);
	if (done->kind != OF_SENDRECV)
		return 1;
	e[1] = *call;
	if (done->start != NO_ROW)
		refer(at, &e[1], seq + 1, done->location, done->start + 1);
	fill_both(&e[1], done, status);
	return 2;
}

static uint32_t
complete(struct at *at, const struct entry *call, struct entry *e, uint64_t seq, MPI_Request handle,
    const MPI_Status *status)
{
	struct request done;

	return take_request(at, handle, &done) ? rows_of(at, call, e, seq, &done, status) : 0;
}

enum { MOST_ROWS = 2 };		/* per completion */

/* Commits the rows so far as one call; it has one row even if nothing completed. */
static void
commit_completions(struct at *at, struct entry *e, uint32_t count)
{
	if (count == 0) {
		e[0] = entry_of(at);
		commit_foldable(at, e, POLL);
		return;
	}
	for (uint32_t i = 1; i < count; i++)
		e[i].call = NUMBER_part;
	rows_commit(at->thread, e, count);
}

/* Commits a row without a reference. */
static __attribute__((noinline)) void
complete_none(struct at *at)
{
	struct entry e = entry_of(at);

	commit_foldable(at, &e, POLL);
}

static SELDOM void
complete_apart(struct at *at, MPI_Request handle, const MPI_Status *status)
{
	struct entry e[MOST_ROWS], call = entry_of(at);

	commit_completions(at, e, complete(at, &call, e, at->thread->seq, handle, status));
}

/* What all rows of a completing call share, and what differs. */
struct common {
	int64_t enter_ns;
	uint64_t duration_ns;
	uint32_t site;
};
struct completion {
	uint64_t bytes_received;
	uint32_t comm, request;
	int32_t peer, tag;
};

ALWAYS struct common
common_of(const struct at *at)
{
	const struct entry e = entry_of(at);

	return (struct common){ e.enter_ns, (uint64_t)(e.leave_ns - e.enter_ns), e.site };
}

/* Whether the rows, at most ROWS, may be stored directly, as far as the call decides it. */
ALWAYS bool
stores(const struct at *at, const struct common *call, uint32_t rows)
{
	return !many_threads && rows_room(at->thread, rows, at->call) &&
	    (call->duration_ns | (uint64_t)call->site << 16) <= UINT32_MAX;
}

/*
 * Fills in the completion for row SEQ if the request is in the near table and its row is plain, and
 * forgets the request. Otherwise returns false and changes nothing.
 */
ALWAYS bool
complete_near(const struct at *at, struct completion *c, uint64_t seq, MPI_Request handle,
    const MPI_Status *status)
{
	const bool is_static = request_is_static(handle);
	const struct pending *first = is_static ? static_first(at->thread->location) : NULL;
	struct near_request *it = near_request(handle);
	uint64_t start;

	*c = (struct completion){ .peer = NO_PEER, .tag = NO_TAG };
	if (is_static) {
		if (UNLIKELY(first == NULL))
			return false;
		start = first->start;
	} else {
		if (UNLIKELY(it->handle != handle || it->location != at->thread->location))
			return false;
		start = it->start;
		if (it->kind == OF_RECEIVE) {
			c->comm = it->comm;
			c->peer = peer_of(status->MPI_SOURCE);
			c->tag = tag_of(status->MPI_TAG);
			c->bytes_received = c->peer == NULL_PEER ? 0 : moved_bytes(status);
		}
	}
	if (UNLIKELY(seq - start > UINT16_MAX ||
	    (c->bytes_received | (uint64_t)c->comm << 16) > UINT32_MAX))
		return false;
	c->request = (uint32_t)(seq - start);
	if (is_static)
		static_drop_first();
	else
		it->handle = MPI_REQUEST_NULL;
	return true;
}

/* Stores row I of the block, without counting it. */
ALWAYS void
store_completion(const struct block *b, size_t i, uint16_t call, const struct common *common,
    const struct completion *c)
{
	row_store(b, i, &(struct entry){ .enter_ns = common->enter_ns,
	    .leave_ns = common->enter_ns + (int64_t)common->duration_ns, .site = common->site,
	    .call = call, .bytes_received = c->bytes_received, .comm = c->comm,
	    .request = c->request, .peer = c->peer, .tag = c->tag }, false);
}

/* The common case: one request, one row. */
static __attribute__((noinline)) void
complete_alone(struct at *at, MPI_Request handle, const MPI_Status *status)
{
	struct thread *thread = at->thread;
	const struct common common = common_of(at);
	struct completion c;

	if (UNLIKELY(handle == MPI_REQUEST_NULL))
		complete_none(at);
	else if (LIKELY(stores(at, &common, 1) &&
	    complete_near(at, &c, thread->seq, handle, status))) {
		store_completion(&thread->block, thread->block.count, at->call, &common, &c);
		rows_count(thread, 1);
	} else
		complete_apart(at, handle, status);
}

/* Reads back the rows that are stored but not yet counted. */
static void
take_back(const struct thread *thread, const struct entry *call, struct entry *e, uint32_t rows)
{
	const struct block *b = &thread->block;

	for (size_t i = b->count; i < b->count + (size_t)rows; i++, e++) {
		*e = *call;
		e->comm = e->request = 0;
		e->bytes_received = 0;
		memcpy(&e->comm, b->comm + 2 * i, 2);
		memcpy(&e->peer, b->peer + 4 * i, 4);
		memcpy(&e->tag, b->tag + 4 * i, 4);
		memcpy(&e->bytes_received, b->received + 4 * i, 4);
		memcpy(&e->request, b->request + 2 * i, 2);
	}
}

/* ROWS rows of the call are stored; the requests from I on need the general way. */
static SELDOM void
complete_others(struct at *at, int i, int count, const MPI_Request *before,
    const MPI_Status *statuses, uint32_t rows)
{
	struct entry *e = own_entries(at->thread, MOST_ROWS * count);
	const struct entry call = entry_of(at);

	if (e == NULL)
		return;
	take_back(at->thread, &call, e, rows);
	for (; i < count; i++)
		rows += complete(at, &call, &e[rows], at->thread->seq + rows, before[i],
		    &statuses[i]);
	commit_completions(at, e, rows);
}

/* Stores rows directly into the block and counts them together. */
static __attribute__((noinline)) void
complete_many(struct at *at, int count, const MPI_Request *before, const MPI_Status *statuses)
{
	struct thread *thread = at->thread;
	const struct common common = common_of(at);
	uint32_t rows = 0;
	int i = 0;

	if (LIKELY(stores(at, &common, (uint32_t)count)))
		for (; i < count; i++) {
			struct completion c;

			if (before[i] == MPI_REQUEST_NULL)
				continue;
			if (!complete_near(at, &c, thread->seq + rows, before[i], &statuses[i]))
				break;
			store_completion(&thread->block, thread->block.count + rows,
			    rows == 0 ? at->call : NUMBER_part, &common, &c);
			rows++;
		}
	if (LIKELY(i == count && rows > 0))
		rows_count(thread, rows);
	else
		complete_others(at, i, count, before, statuses, rows);
}

void
note_complete_all(struct at *at, int count, const MPI_Request *before, const MPI_Status *statuses)
{
	if (count == 1)
		complete_alone(at, before[0], statuses);
	else if (count == 0)
		complete_none(at);
	else
		complete_many(at, count, before, statuses);
}

void
note_complete_one(struct at *at, bool done, const MPI_Request *before, int index,
    const MPI_Status *status)
{
	if (done && index != MPI_UNDEFINED && index >= 0)
		complete_alone(at, before[index], status);
	else
		complete_none(at);
}

void
note_complete_some(struct at *at, const MPI_Request *before, int count, const int *indices,
    int base, const MPI_Status *statuses)
{
	struct entry *e = own_entries(at->thread, MOST_ROWS * (count == MPI_UNDEFINED ? 0 : count));
	const struct entry call = entry_of(at);
	uint32_t rows = 0;

	if (e == NULL)
		return;
	for (int i = 0; i < count && count != MPI_UNDEFINED; i++)
		rows += complete(at, &call, &e[rows], at->thread->seq + rows,
		    before[indices[i] - base], &statuses[i]);
	commit_completions(at, e, rows);
}

void
note_cancel(struct at *at, MPI_Request handle)
{
	struct entry e = entry_of(at);
	struct request *request;

	lock_tables();
	if ((request = request_find(handle)) != NULL) {
		request->cancelled = true;
		refer(at, &e, at->thread->seq, request->location, request->start);
	}
	unlock_tables();
	commit(at, &e);
}

void
note_request_free(struct at *at, MPI_Request handle)
{
	struct entry e = entry_of(at);
	struct request *request;
	uint32_t location;
	uint64_t start;

	lock_tables();
	if (request_is_static(handle)) {
		if (static_take(at->thread->location, at->enter_ticks, &location, &start))
			refer(at, &e, at->thread->seq, location, start);
	} else if ((request = request_find(handle)) != NULL) {
		if (request->persistent && !request->active)
			refer(at, &e, at->thread->seq, request->init_location, request->init);
		else
			refer(at, &e, at->thread->seq, request->location, request->start);
		request_remove(request);
	}
	unlock_tables();
	commit(at, &e);
}
