/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows that calls leave: lp-trace(5), "What the rows of a call say". */
#include <stdlib.h>

#include "open_call.h"

struct type_size known_types[TYPE_SLOTS];

void
types_start(void)
{
	MPI_Datatype const known[] = { MPI_BYTE, MPI_PACKED, MPI_CHAR, MPI_SIGNED_CHAR,
		MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG,
		MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE,
		MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T, MPI_C_BOOL, MPI_DOUBLE_INT,
		MPI_2INT, MPI_C_DOUBLE_COMPLEX, MPI_AINT, MPI_OFFSET, MPI_COUNT,
		/* Null if the library lacks Fortran, or this type. */
		MPI_CHARACTER, MPI_LOGICAL, MPI_INTEGER, MPI_REAL, MPI_DOUBLE_PRECISION,
		MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4,
		MPI_INTEGER8, MPI_REAL4, MPI_REAL8, MPI_REAL16, MPI_COMPLEX8, MPI_COMPLEX16,
		MPI_2INTEGER, MPI_2REAL,
		MPI_2DOUBLE_PRECISION };
	int size;

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i] != MPI_DATATYPE_NULL &&
		    PMPI_Type_size(known[i], &size) == MPI_SUCCESS && size > 0) {
			known_types[type_slot(known[i])].type = known[i];
			known_types[type_slot(known[i])].size = (uint32_t)size;
		}
}

uint64_t
size_of(MPI_Datatype type)
{
	MPI_Count size;		/* the size may exceed an int */

	if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
		return 0;
	return (uint64_t)size;
}

#define OF_COUNTS(name, count_type) \
	uint64_t \
	name(const count_type *counts, int n, MPI_Datatype type) \
	{ \
		uint64_t sum = 0, one = bytes_of(1, type); \
		for (int i = 0; i < n; i++) \
			sum += counts[i] > 0 ? (uint64_t)counts[i] : 0; \
		return sum * one; \
	}
OF_COUNTS(bytes_of_counts, int)
OF_COUNTS(bytes_of_large_counts, MPI_Count)

/* Polls of a loop follow each other within this time: the gap is the loop's own work. */
enum { POLL_GAP_NS = 10000 };
/* A row is final after this time without another call: who follows the run relies on it. */
enum { MOST_FOLD_NS = 100000000 };

void
commit_folding(struct at *at, const struct entry *entry, enum foldable kind)
{
	struct thread *thread = at->thread;
	const int64_t threshold_ns = options.threshold_ns;
	const int64_t duration_ns = entry->leave_ns - entry->enter_ns;
	const int64_t gap_ns = options.fold_polls && threshold_ns < POLL_GAP_NS ?
	    POLL_GAP_NS : threshold_ns;
	const bool folds = duration_ns < MOST_FOLD_NS &&
	    ((options.fold_polls && kind == POLL) || duration_ns < threshold_ns);

	if (folds && thread->fold_seq == thread->seq && thread->seq > 0 &&
	    !paused && entry->enter_ns - thread->fold_leave_ns < gap_ns &&
	    entry->enter_ns - thread->fold_leave_ns < MOST_FOLD_NS &&
	    rows_fold(thread, entry->leave_ns)) {
		thread->fold_leave_ns = entry->leave_ns;
		return;
	}
	rows_commit(thread, entry, 1);
	if (folds && !paused) {
		thread->fold_seq = thread->seq;
		thread->fold_leave_ns = entry->leave_ns;
	}
}

void
note_error(struct at *at)
{
	struct entry e = entry_of(at);

	e.call += NUMBER_ERROR;
	rows_commit(at->thread, &e, 1);
}

void
note_local(struct at *at, MPI_Comm comm)
{
	struct entry e = entry_of(at);

	e.comm = communicator_of(comm)->number;
	commit(at, &e);
}

void
note_made(struct at *at, MPI_Comm made)
{
	struct entry e = entry_of(at);

	e.comm = communicator_of(made)->number;
	e.peer = NULL_PEER;
	commit(at, &e);
}

void
note_with_others(struct at *at, MPI_Comm comm, int root, struct meeting meeting, MPI_Comm made)
{
	struct entry e = entry_of(at);

	meeting.at_ns = e.leave_ns;
	note_meeting(meeting, made);
	e.comm = communicator_of(made)->number;
	if (root >= 0)
		e.peer = root == communicator_of(comm)->rank ? ROOT_PEER : NULL_PEER;
	commit(at, &e);
}

void
note_alone(struct at *at)
{
	struct entry e = entry_of(at);

	commit_foldable(at, &e, SHORT);
}

void
note_send(struct at *at, MPI_Comm comm, int dest, int tag, uint64_t bytes)
{
	struct entry e = message_entry(at, communicator_of(comm), dest, tag);

	e.bytes_sent = bytes;
	commit(at, &e);
}

void
note_receive(struct at *at, MPI_Comm comm, const MPI_Status *status)
{
	struct entry e = entry_of(at);

	e.comm = communicator_of(comm)->number;
	fill_received(&e, status);
	commit(at, &e);
}

void
note_sendrecv(struct at *at, MPI_Comm comm, int dest, int tag, uint64_t bytes,
    const MPI_Status *status)
{
	struct entry e = message_entry(at, communicator_of(comm), dest, tag), part = e;

	part.call = NUMBER_part;
	e.bytes_sent = bytes;
	fill_received(&part, status);
	pair_commit(at->thread, &e, &part);
}

/* ---- matched probes: a message handle stands for its communicator until the receive ---- */

enum { MESSAGES = 1024 };
static struct probed probed[MESSAGES];
static size_t probed_count;

/* The row of a call that found something, which refers to itself; NO_ROW: it cannot. */
static uint64_t
probe_row(const struct at *at)
{
	const bool fits = at->thread->location < UINT16_MAX && at->thread->seq <= UINT32_MAX;

	return paused || !fits ? NO_ROW : at->thread->seq;
}

static void
refer_to_itself(struct at *at, struct entry *e)
{
	if (probe_row(at) == NO_ROW)
		return;
	e->request = (uint32_t)probe_row(at);
	e->request_at = (uint16_t)(at->thread->location + 1);
}

/*
 * A success refers to the start of the request, or to itself if that has completed or is unknown.
 */
void
note_looked(struct at *at, bool found, MPI_Request request)
{
	struct entry e = entry_of(at);
	const uint64_t row = found ? open_request(request) : OPEN_UNKNOWN;

	if (row < OPEN_UNKNOWN)
		refer(at, &e, at->thread->seq, (uint32_t)(row >> OPEN_ROW_BITS), open_row(0, row));
	if (found && e.request == 0 && e.request_at == 0)
		refer_to_itself(at, &e);
	commit_foldable(at, &e, found ? SHORT : POLL);
}

struct probed
take_message(MPI_Message message)
{
	struct probed taken = { .handle = message, .row = NO_ROW, .peer = NULL_PEER,
	    .tag = NO_TAG };

	if (message == MPI_MESSAGE_NO_PROC)
		return taken;
	lock_tables();
	for (size_t i = 0; i < probed_count; i++)
		if (probed[i].handle == message) {
			taken = probed[i];
			probed[i] = probed[--probed_count];
			break;
		}
	unlock_tables();
	return taken;
}

void
fill_probed(const struct at *at, struct entry *e, const struct probed *message)
{
	e->comm = message->comm;
	e->peer = message->peer;
	e->tag = message->tag;
	refer(at, e, at->thread->seq, message->location, paused ? NO_ROW : message->row);
}

void
note_mreceive(struct at *at, const struct probed *message, const MPI_Status *status)
{
	struct entry e = entry_of(at);

	fill_probed(at, &e, message);
	if (message->handle != MPI_MESSAGE_NO_PROC)
		fill_received(&e, status);
	commit(at, &e);
}

void
note_probe(struct at *at, bool found, MPI_Comm comm, int source, int tag, const MPI_Status *status)
{
	struct entry e = entry_of(at);

	e.comm = communicator_of(comm)->number;
	e.peer = peer_of(found ? status->MPI_SOURCE : source);
	e.tag = tag_of(found ? status->MPI_TAG : tag);
	if (found && e.peer != NULL_PEER)
		refer_to_itself(at, &e);
	if (found)
		commit(at, &e);
	else
		commit_foldable(at, &e, POLL);
}

void
note_mprobe(struct at *at, bool found, MPI_Comm comm, int source, int tag, MPI_Message message,
    const MPI_Status *status)
{
	const uint32_t number = communicator_of(comm)->number;

	if (found && message != MPI_MESSAGE_NO_PROC) {
		lock_tables();
		if (probed_count < MESSAGES)
			probed[probed_count++] = (struct probed){ message, probe_row(at),
			    at->thread->location, number, peer_of(status->MPI_SOURCE),
			    status->MPI_TAG };
		unlock_tables();
	}
	note_probe(at, found, comm, source, tag, status);
}

void
note_collective(struct at *at, const struct communicator *comm, int root, uint64_t sent,
    uint64_t received)
{
	struct entry e = entry_of(at);

	e.comm = comm->number;
	e.peer = peer_of(root);
	e.bytes_sent = sent;
	e.bytes_received = received;
	commit(at, &e);
}

/* The row is written before the call, which does not return. */
void
abort_noted(MPI_Comm comm, const void *from)
{
	struct at at;

	if (!enter_call(&at, NUMBER_Abort, from))
		return;
	leave_call(&at);
	note_local(&at, comm);
	end_call(&at);
	say_at_abort();
}

/* 0 pauses recording, 1 resumes it. */
static void
note_level(int level, const void *from)
{
	struct at at;
	struct entry e;

	if (!enter_call(&at, NUMBER_Pcontrol, from))
		return;
	leave_call(&at);
	if (level == 1)
		set_paused(false);
	e = entry_of(&at);
	e.tag = level;
	commit(&at, &e);
	if (level == 0)
		set_paused(true);
	end_call(&at);
}

void
pcontrol_noted(int level, const char *name, const void *from)
{
	if (level > 0)
		region_by_level(level, name);
	note_level(level, from);
	if (level < 0)
		region_by_level(level, name);
}

/* ---- MPI windows and files ---- */

void
note_lock(struct at *at, const struct communicator *win, int rank, bool exclusive)
{
	struct entry e = message_entry(at, win, rank, exclusive ? 1 : 2);

	commit(at, &e);
}

/* Adds a row for each member of the group, by its rank in the MPI window. */
void
note_epoch(struct at *at, struct communicator *win, struct epoch *epoch, MPI_Group group)
{
	struct entry call = entry_of(at), *e;
	int count, *to = ranks_in(group, win->group, &count);

	e = own_entries(at->thread, count);
	if (e == NULL || (to == NULL && count > 0)) {
		free(to);
		return;
	}
	call.comm = win->number;
	epoch->start = paused ? NO_ROW : at->thread->seq;
	epoch->location = at->thread->location;
	epoch->count = (uint32_t)count;
	e[0] = call;
	for (int i = 0; i < count; i++) {
		e[i] = call;
		e[i].call = i == 0 ? call.call : NUMBER_part;
		e[i].peer = peer_of(to[i]);
	}
	free(to);
	rows_commit(at->thread, e, count < 1 ? 1 : (uint32_t)count);
}

/* Its rows refer one by one to the rows that opened the epoch. */
void
note_epoch_end(struct at *at, struct communicator *win, struct epoch *epoch, bool done)
{
	uint32_t count = done ? epoch->count : 0;
	struct entry call = entry_of(at), *e = own_entries(at->thread, count < 1 ? 1 : (int)count);

	if (e == NULL)
		return;
	call.comm = win->number;
	e[0] = call;
	for (uint32_t i = 0; i < count; i++) {
		e[i] = call;
		e[i].call = i == 0 ? call.call : NUMBER_part;
		if (epoch->start != NO_ROW)
			refer(at, &e[i], at->thread->seq + i, epoch->location, epoch->start + i);
	}
	if (!done) {
		commit_foldable(at, e, POLL);
		return;
	}
	epoch->count = 0;
	rows_commit(at->thread, e, count < 1 ? 1 : count);
}
