/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows that a call leaves: lp-trace(5), "What the rows of a call say". */
#include <string.h>

#include "recorder.h"

/* Sizes of predefined types by a hash of their handle; they never change. */
enum { TYPE_SLOTS = 1 << 10 };
static struct { MPI_Datatype type; uint32_t size; } types[TYPE_SLOTS];

static unsigned
type_slot(MPI_Datatype type)
{
	return (unsigned)(((uintptr_t)type * 0x9e3779b97f4a7c15u) >> 54) % TYPE_SLOTS;
}

void
types_start(void)
{
	MPI_Datatype const known[] = { MPI_BYTE, MPI_PACKED, MPI_CHAR, MPI_SIGNED_CHAR,
		MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG,
		MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE,
		MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T, MPI_C_BOOL, MPI_DOUBLE_INT,
		MPI_2INT, MPI_C_DOUBLE_COMPLEX, MPI_AINT, MPI_OFFSET, MPI_COUNT };
	int size;

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (PMPI_Type_size(known[i], &size) == MPI_SUCCESS) {
			types[type_slot(known[i])].type = known[i];
			types[type_slot(known[i])].size = (uint32_t)size;
		}
	/* The Fortran ones are there only where the library has Fortran. */
	for (int handle = 0; handle < 64; handle++) {
		MPI_Datatype type = PMPI_Type_f2c(handle);
		int integers, addresses, datatypes, combiner;

		if (type == MPI_DATATYPE_NULL || PMPI_Type_get_envelope(type, &integers, &addresses,
		    &datatypes, &combiner) != MPI_SUCCESS || combiner != MPI_COMBINER_NAMED ||
		    PMPI_Type_size(type, &size) != MPI_SUCCESS || size <= 0)
			continue;
		types[type_slot(type)].type = type;
		types[type_slot(type)].size = (uint32_t)size;
	}
}

uint64_t
bytes_of(int64_t count, MPI_Datatype type)
{
	const unsigned slot = type_slot(type);
	MPI_Count size;		/* of a type it may be more than an int holds */

	if (count <= 0)
		return 0;
	if (types[slot].type == type && types[slot].size > 0)
		return (uint64_t)count * types[slot].size;
	if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
		return 0;
	return (uint64_t)count * (uint64_t)size;
}

uint64_t
bytes_of_counts(const int *counts, int n, MPI_Datatype type)
{
	uint64_t sum = 0, one = bytes_of(1, type);

	for (int i = 0; i < n; i++)
		sum += counts[i] > 0 ? (uint64_t)counts[i] : 0;
	return sum * one;
}

int32_t
peer_of(int rank)
{
	return rank == MPI_ANY_SOURCE ? ANY_PEER : rank == MPI_PROC_NULL ? NULL_PEER :
	    rank == MPI_ROOT ? ROOT_PEER : rank;
}

int32_t
tag_of(int tag)
{
	return tag == MPI_ANY_TAG ? -1 : tag;
}

static uint64_t
received_bytes(const MPI_Status *status)
{
	MPI_Count size;

#ifdef OPEN_MPI
	return status->_ucount;		/* what MPI_Get_elements_x says of bytes, without a call */
#endif
	if (PMPI_Get_elements_x(status, MPI_BYTE, &size) != MPI_SUCCESS || size < 0)
		return 0;
	return (uint64_t)size;
}

void
commit(struct at *at, const struct entry *entry)
{
	file_commit(at->thread, entry, 1);
}

void
note_local(struct at *at, MPI_Comm comm)
{
	struct entry e = entry_of(at);

	e.comm = communicator_of(comm)->number;
	commit(at, &e);
}

void
note_comm_free(struct at *at, struct communicator *comm)
{
	struct entry e = entry_of(at);

	e.comm = comm->number;
	commit(at, &e);
	forget_communicator(comm);
}

void
note_send(struct at *at, MPI_Comm comm, int dest, int tag, uint64_t bytes)
{
	struct entry e = entry_of(at);

	e.comm = communicator_of(comm)->number;
	e.peer = peer_of(dest);
	e.tag = tag;
	e.bytes_sent = bytes;
	commit(at, &e);
}

/* What came in: where from, with which tag, how much. */
void
fill_received(struct entry *e, const MPI_Status *status)
{
	e->peer = peer_of(status->MPI_SOURCE);
	e->tag = tag_of(status->MPI_TAG);
	e->bytes_received = e->peer == NULL_PEER ? 0 : received_bytes(status);
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
	struct entry e[2] = { entry_of(at) };

	e[0].comm = communicator_of(comm)->number;
	e[1] = e[0];
	e[0].peer = peer_of(dest);
	e[0].tag = tag;
	e[0].bytes_sent = bytes;
	e[1].call = NUMBER_part;
	fill_received(&e[1], status);
	file_commit(at->thread, e, 2);
}

/* ---- matched probes: the message handle stands for its communicator until it is received ---- */

enum { MESSAGES = 1024 };
static struct { MPI_Message handle; uint32_t comm; int32_t peer, tag; } probed[MESSAGES];
static size_t probed_count;

static void
remember_message(MPI_Message message, uint32_t comm, const MPI_Status *status)
{
	lock_tables();
	if (probed_count < MESSAGES) {
		probed[probed_count].handle = message;
		probed[probed_count].comm = comm;
		probed[probed_count].peer = peer_of(status->MPI_SOURCE);
		probed[probed_count++].tag = status->MPI_TAG;
	}
	unlock_tables();
}

/* The message's envelope into the entry; it is not needed again. */
void
recall_message(MPI_Message message, struct entry *e)
{
	lock_tables();
	/* The oldest: a thread's new message may have the handle of one just received by another. */
	for (size_t i = 0; i < probed_count; i++)
		if (probed[i].handle == message) {
			e->comm = probed[i].comm;
			e->peer = probed[i].peer;
			e->tag = probed[i].tag;
			memmove(&probed[i], &probed[i + 1], (--probed_count - i) * sizeof probed[0]);
			break;
		}
	unlock_tables();
}

void
note_mreceive(struct at *at, MPI_Message message, const MPI_Status *status)
{
	struct entry e = entry_of(at);

	if (message == MPI_MESSAGE_NO_PROC)
		e.peer = NULL_PEER;
	else {
		recall_message(message, &e);
		fill_received(&e, status);
	}
	commit(at, &e);
}

void
note_probe(struct at *at, bool found, MPI_Comm comm, int source, int tag, const MPI_Status *status)
{
	struct entry e = entry_of(at);

	e.comm = communicator_of(comm)->number;
	e.peer = peer_of(found ? status->MPI_SOURCE : source);
	e.tag = tag_of(found ? status->MPI_TAG : tag);
	commit(at, &e);
}

void
note_mprobe(struct at *at, bool found, MPI_Comm comm, int source, int tag, MPI_Message message,
    const MPI_Status *status)
{
	if (found && message != MPI_MESSAGE_NO_PROC)
		remember_message(message, communicator_of(comm)->number, status);
	note_probe(at, found, comm, source, tag, status);
}

void
note_collective(struct at *at, const struct communicator *comm, int root, uint64_t sent,
    uint64_t received)
{
	struct entry e = entry_of(at);

	e.comm = comm->number;
	e.peer = root == NO_PEER ? NO_PEER : peer_of(root);
	e.bytes_sent = sent;
	e.bytes_received = received;
	commit(at, &e);
}
