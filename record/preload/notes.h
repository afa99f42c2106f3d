/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens at each call, and the rows that it leaves: notes.c, and note_requests.c and
 * note_completions.c for requests.
 */
#ifndef NOTES_H
#define NOTES_H

#include "../../base/stream/open_call.h"
#include "clock.h"
#include "requests.h"
#include "sites.h"

/* A call being recorded. */
struct at {
	struct thread *thread;
	uint64_t enter_ticks, leave_ticks;
	int64_t enter_ns;	/* the same as enter_ticks, converted once */
	const void *from;	/* return address */
	uint16_t call;
};

/* The end of the frame of a wrapper's caller. */
#define FRAME __builtin_dwarf_cfa()

ALWAYS void
entered(struct at *at, uint64_t ticks)
{
	at->enter_ticks = ticks;
	at->enter_ns = ticks_ns(ticks);
}

/* Returns false if the call is not to be recorded. */
ALWAYS bool
enter_call(struct at *at, uint16_t call, const void *from)
{
	struct thread *thread = self;

	if (UNLIKELY(!recording))
		return false;
	if (UNLIKELY(thread == NULL) && (thread = new_thread()) == NULL)
		return false;
	if (UNLIKELY(thread->within != NULL) && !call_was_left(thread, FRAME))
		return false;		/* a call made by the library itself */
	thread->within = FRAME;
	at->thread = thread;
	at->call = call;
	at->from = from;
	entered(at, clock_ticks());
	return true;
}

/*
 * From here on the open call has no function, and its enter is later than all rows until the row is
 * stored: so who follows the run knows that a row is to come, even if the thread is stopped here.
 */
ALWAYS void
leave_call(struct at *at)
{
	at->thread->block.open->call = 0;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	at->leave_ticks = clock_ticks();
}

/* Does periodic work at the end of a call, outside its duration. */
ALWAYS void
end_call(struct at *at)
{
	at->thread->within = NULL;
	if (UNLIKELY(at->leave_ticks >= __atomic_load_n(&sample_due_ticks, __ATOMIC_RELAXED)))
		sample_call(at->thread, at->enter_ns, at->leave_ticks);
}

ALWAYS struct entry
entry_of(const struct at *at)
{
	return (struct entry){ .enter_ns = at->enter_ns,
	    .leave_ns = ticks_ns(at->leave_ticks), .call = at->call,
	    .site = site_number(at->from, at->call), .peer = NO_PEER, .tag = NO_TAG };
}

/* ---- the rows ---- */

ALWAYS void
commit(struct at *at, const struct entry *entry)
{
	row_commit(at->thread, entry);
}

/*
 * A call that exchanged nothing: a run of such calls may become one row. POLL: a test or probe that
 * found nothing.
 */
enum foldable { SHORT, POLL };
/* polls further apart may have sleep or work between them, as in lp-graph */
enum { POLL_APART_NS = 20000 };
SELDOM void commit_folding(struct at *at, const struct entry *entry, enum foldable kind);

ALWAYS void
commit_foldable(struct at *at, const struct entry *entry, enum foldable kind)
{
	struct thread *thread = at->thread;

	if (kind == POLL) {
		if (UNLIKELY(entry->enter_ns - thread->polled_ns > POLL_APART_NS))
			poll_gap(thread, entry->site, entry->leave_ns);
		thread->polled_ns = entry->leave_ns;
	}
	if (UNLIKELY(folding())) {
		const struct entry other = ENTRY_COPY(entry);

		commit_folding(at, &other, kind);
	} else
		commit(at, entry);
}

ALWAYS int32_t
peer_of(int rank)
{
	return rank >= 0 ? rank : rank == MPI_ANY_SOURCE ? ANY_PEER : rank == MPI_PROC_NULL ?
	    NULL_PEER : rank == MPI_ROOT ? ROOT_PEER : NO_PEER;
}

ALWAYS int32_t
tag_of(int tag)
{
	return tag == MPI_ANY_TAG ? -1 : tag;
}

/* The row of a call about messages. */
ALWAYS struct entry
message_entry(const struct at *at, const struct communicator *comm, int peer, int tag)
{
	struct entry e = entry_of(at);

	e.comm = comm->number;
	e.peer = peer_of(peer);
	e.tag = tag_of(tag);
	return e;
}

/* The size of a message, without a call where the library's own fields of a status are known. */
ALWAYS uint64_t
moved_bytes(const MPI_Status *status)
{
#if defined MPI_STANDARD_ABI
	MPI_Count bytes = 0;

	return PMPI_Get_count_c(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0 ?
	    (uint64_t)bytes : 0;
#elif defined OPEN_MPI
	return status->_ucount;
#else
	return (uint32_t)status->count_lo |
	    (uint64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32;
#endif
}

/* Source, tag and size of what was received. */
ALWAYS void
fill_received(struct entry *e, const MPI_Status *status)
{
	e->peer = peer_of(status->MPI_SOURCE);
	e->tag = tag_of(status->MPI_TAG);
	e->bytes_received = e->peer == NULL_PEER ? 0 : moved_bytes(status);
}

/* Makes row SEQ refer to row START of LOCATION, by distance or across threads. */
ALWAYS void
refer(const struct at *at, struct entry *e, uint64_t seq, uint32_t location, uint64_t start)
{
	if (start == NO_ROW)
		return;
	if (location == at->thread->location)
		e->request = seq - start <= UINT32_MAX ? (uint32_t)(seq - start) : 0;
	else if (location < UINT16_MAX && start <= UINT32_MAX) {
		e->request = (uint32_t)start;
		e->request_at = (uint16_t)(location + 1);
	}
}

/* What a matched probe found: its row, or NO_ROW, and the envelope of the message. */
struct probed { MPI_Message handle; uint64_t row; uint32_t location, comm; int32_t peer, tag; };
/*
 * Before the receive: as soon as that has the message, another thread's probe can get its handle.
 */
struct probed take_message(MPI_Message message);
/* Fills in the envelope, and refers to the probe. */
void fill_probed(const struct at *at, struct entry *entry, const struct probed *message);

/* Sizes of predefined types by a hash of their handles; they never change. */
enum { TYPE_SLOTS = 1 << 10 };
SHARED struct type_size { MPI_Datatype type; uint32_t size; } known_types[TYPE_SLOTS];
void types_start(void);
SELDOM uint64_t size_of(MPI_Datatype type);	/* of any type */

ALWAYS unsigned
type_slot(MPI_Datatype type)
{
	return (unsigned)(((uintptr_t)type * 0x9e3779b97f4a7c15u) >> 54) % TYPE_SLOTS;
}

ALWAYS uint64_t
bytes_of(int64_t count, MPI_Datatype type)
{
	const struct type_size *known = &known_types[type_slot(type)];

	if (UNLIKELY(count <= 0))
		return 0;
	return (uint64_t)count *
	    (LIKELY(known->type == type && known->size > 0) ? known->size : size_of(type));
}

uint64_t bytes_of_counts(const int *counts, int n, MPI_Datatype type);
uint64_t bytes_of_large_counts(const MPI_Count *counts, int n, MPI_Datatype type);
SELDOM void note_error(struct at *at);	/* after an error the arguments have no meaning */
void note_local(struct at *at, MPI_Comm comm);
void note_made(struct at *at, MPI_Comm made);	/* by all of its members */
/*
 * For communicators with processes of another MPI_COMM_WORLD: the row is about the new
 * communicator. ROOT -1: there is none.
 */
void note_with_others(struct at *at, MPI_Comm comm, int root, struct meeting meeting,
    MPI_Comm made);
void note_alone(struct at *at);	/* no other rank is involved */
/* whether the request, or a part of it, is complete */
void note_looked(struct at *at, bool found, MPI_Request request);
void abort_noted(MPI_Comm comm, const void *from);
void pcontrol_noted(int level, const char *name, const void *from);
/*
 * recorder.c: what comes before and after the library's own call. Without the first, which returns
 * false, there is no second.
 */
bool init_enter(struct instant *before, uint16_t call);
void init_leave(const struct instant *before, int result, uint16_t call, const void *from);
struct finalizing {
	struct at at;
	struct entry entry;
};
bool finalize_enter(struct finalizing *finalizing, const void *from, const void *frame);
void finalize_leave(struct finalizing *finalizing);
#ifdef HAVE_MPI_4
void session_leave(const struct instant *before, int result, MPI_Session session,
    const void *from);
void session_ended(struct at *at, int result, MPI_Session session);	/* AT NULL: no row */
#endif
void note_lock(struct at *at, const struct communicator *win, int rank, bool exclusive);
void note_epoch(struct at *at, struct communicator *win, struct epoch *epoch, MPI_Group group);
void note_epoch_end(struct at *at, struct communicator *win, struct epoch *epoch, bool done);
void note_send(struct at *at, MPI_Comm comm, int dest, int tag, uint64_t bytes);
void note_receive(struct at *at, MPI_Comm comm, const MPI_Status *status);
void note_mreceive(struct at *at, const struct probed *message, const MPI_Status *status);
void note_sendrecv(struct at *at, MPI_Comm comm, int dest, int tag, uint64_t bytes,
    const MPI_Status *status);
void note_send_start(struct at *at, MPI_Comm comm, int dest, int tag, uint64_t bytes,
    MPI_Request request);
void note_receive_start(struct at *at, MPI_Comm comm, int source, int tag, uint64_t room,
    MPI_Request request);
struct envelope { int peer, tag; uint64_t bytes; };
void note_init(struct at *at, const struct communicator *comm, struct envelope envelope,
    int partitions, enum request_kind kind, MPI_Request request);
void note_sendrecv_start(struct at *at, MPI_Comm comm, struct envelope send,
    struct envelope receive, MPI_Request request);
/* LAST: the number of the call's name for the last partitions. */
void note_ready(struct at *at, MPI_Request request, int partitions, uint16_t last);
void note_collective_init(struct at *at, const struct communicator *comm, int root, uint64_t sent,
    uint64_t received, MPI_Request request, uint16_t start_call);
void note_mreceive_start(struct at *at, const struct probed *message, uint64_t bytes,
    MPI_Request request);
void note_start(struct at *at, int count, const MPI_Request *requests);
void note_complete_all(struct at *at, int count, const MPI_Request *before,
    const MPI_Status *statuses);
void note_complete_one(struct at *at, bool done, const MPI_Request *before, int index,
    const MPI_Status *status);
void note_complete_some(struct at *at, const MPI_Request *before, int count, const int *indices,
    int base, const MPI_Status *statuses);
void note_cancel(struct at *at, MPI_Request request);
void note_request_free(struct at *at, MPI_Request request);
void note_probe(struct at *at, bool found, MPI_Comm comm, int source, int tag,
    const MPI_Status *status);
void note_mprobe(struct at *at, bool found, MPI_Comm comm, int source, int tag, MPI_Message message,
    const MPI_Status *status);
void note_collective(struct at *at, const struct communicator *comm, int root, uint64_t sent,
    uint64_t received);
void note_collective_start(struct at *at, const struct communicator *comm, int root, uint64_t sent,
    uint64_t received, MPI_Request request);
void note_idup(struct at *at, MPI_Comm comm, MPI_Comm made, MPI_Request request);

#endif
