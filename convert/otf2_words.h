/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How lp-export and lp-import use an OTF2 archive beyond what every reader knows.
 *
 * A row of a call becomes the OTF2 event for it. Attributes of the event, one per column, hold what
 * the event lacks or states differently. If OTF2 has no event for the row, the call's Enter carries
 * the attributes, or, for a further row, a parameter. Other readers may ignore all of them.
 */
#ifndef OTF2_WORDS_H
#define OTF2_WORDS_H

#include <otf2/otf2.h>

#include "../base/stream/calls.h"

/* X(NAME, field of a row, name, description, type) */
#define OTF2_COLUMNS(X) \
	X(COMM, comm, "longpole::communicator", \
	    "of the call: a communicator, window or file", COMM) \
	X(PEER, peer, "longpole::peer", \
	    "rank; -1: any, -2: none, -3: does not apply, -4: MPI_ROOT", INT32) \
	X(TAG, tag, "longpole::tag", "-1: any, -2: does not apply", INT32) \
	X(SENT, bytes_sent, "longpole::bytes_sent", "handed to others", UINT64) \
	X(RECEIVED, bytes_received, "longpole::bytes_received", \
	    "got from others; of a posted receive the room", UINT64) \
	X(REQUEST, request, "longpole::request", \
	    "how many operations before this one lies what it is about", UINT32) \
	X(REQUEST_AT, request_at, "longpole::request_at", \
	    "or 1 + the location of that, which request counts there", UINT32) \
	X(FOLDED, folded, "longpole::folded", "further calls that this one stands for", UINT32)

enum otf2_word {
#define X(NAME, field, name, what, type) WORD_##NAME,
	OTF2_COLUMNS(X)
#undef X
	WORD_COLUMNS,
	/* the event repeats for other readers what attributes say */
	WORD_ASIDE = WORD_COLUMNS,
	WORD_WAIT, WORD_WAIT_STATE, WORD_WAITS_FOR,	/* of a Leave */
	WORD_KIND, WORD_CALL, WORD_SITE,		/* of the path's metric */
	WORDS
};

/*
 * Events that represent rows: X(name, when, what, number of fields, fields in OTF2's order). WHEN
 * lp-export writes it: NOW, or as the call is left. WHAT it means to lp-import: an operation of the
 * call, which it starts or completes, or something else.
 */
enum otf2_what { PLAIN, STARTS, COMPLETES, OTHER };
#define OTF2_EVENTS(X) \
	X(MpiSend, NOW, PLAIN, 4, peer, comm, tag, sent) \
	X(MpiIsend, NOW, STARTS, 5, peer, comm, tag, sent, request) \
	X(MpiIsendComplete, LEAVE, COMPLETES, 1, request) \
	X(MpiRecv, LEAVE, PLAIN, 4, peer, comm, tag, received) \
	X(MpiIrecvRequest, NOW, STARTS, 1, request) \
	X(MpiIrecv, LEAVE, COMPLETES, 5, peer, comm, tag, received, request) \
	X(MpiRequestCancelled, LEAVE, COMPLETES, 1, request) \
	X(MpiCollectiveEnd, LEAVE, PLAIN, 5, collective, comm, root, sent, received) \
	X(NonBlockingCollectiveRequest, NOW, STARTS, 1, request) \
	X(NonBlockingCollectiveComplete, LEAVE, COMPLETES, 6, collective, comm, root, sent, \
	    received, request) \
	X(RmaPut, NOW, PLAIN, 4, window, peer, sent, request) \
	X(RmaGet, NOW, PLAIN, 4, window, peer, received, request) \
	X(RmaAtomic, NOW, PLAIN, 6, window, peer, atomic, sent, received, request) \
	X(RmaOpCompleteBlocking, LEAVE, COMPLETES, 2, window, request) \
	X(RmaOpCompleteNonBlocking, LEAVE, COMPLETES, 2, window, request) \
	X(RmaCollectiveEnd, LEAVE, PLAIN, 6, collective, level, window, root, sent, received) \
	X(RmaRequestLock, LEAVE, PLAIN, 4, window, peer, lock_id, lock) \
	X(RmaAcquireLock, LEAVE, PLAIN, 4, window, peer, lock_id, lock) \
	X(RmaReleaseLock, LEAVE, PLAIN, 3, window, peer, lock_id) \
	X(RmaGroupSync, NOW, OTHER, 3, level, window, group) \
	X(RmaWinCreate, LEAVE, OTHER, 1, window) \
	X(RmaWinDestroy, LEAVE, PLAIN, 1, window) \
	X(IoCreateHandle, LEAVE, OTHER, 4, file, access, creation, status) \
	X(IoDestroyHandle, LEAVE, PLAIN, 1, file) \
	X(IoOperationBegin, NOW, PLAIN, 5, file, mode, flags, sent, request) \
	X(IoOperationComplete, LEAVE, COMPLETES, 3, file, sent, request) \
	X(CommCreate, LEAVE, OTHER, 1, comm) \
	X(CommDestroy, LEAVE, PLAIN, 1, comm) \
	X(ParameterUnsignedInt, NOW, PLAIN, 2, parameter, value)

enum otf2_kind {
	NO_EVENT,
#define X(name, when, what, count, ...) EVENT_##name,
	OTF2_EVENTS(X)
#undef X
};

struct otf2_event {
	enum otf2_kind kind;
	uint32_t comm, window, file;	/* UINT32_MAX: not applicable */
	uint32_t peer, tag, root, group;
	uint64_t sent, received, request, value;
	OTF2_CollectiveOp collective;
	OTF2_RmaSyncLevel level;
	OTF2_RmaAtomicType atomic;
	uint64_t lock_id;
	OTF2_LockType lock;
	OTF2_IoOperationMode mode;
	OTF2_IoOperationFlag flags;
	OTF2_IoAccessMode access;
	OTF2_IoCreationFlag creation;
	OTF2_IoStatusFlag status;
	OTF2_ParameterRef parameter;
};
#define OTF2_EVENT(of_kind) \
	(struct otf2_event){ .kind = of_kind, .comm = UINT32_MAX, .window = UINT32_MAX, \
	.file = UINT32_MAX, .root = OTF2_COLLECTIVE_ROOT_NONE }

/* F(field) for each of COUNT fields: OTF2_EACH##COUNT. */
#define OTF2_EACH1(F, a) F(a)
#define OTF2_EACH2(F, a, b) F(a) F(b)
#define OTF2_EACH3(F, a, ...) F(a) OTF2_EACH2(F, __VA_ARGS__)
#define OTF2_EACH4(F, a, ...) F(a) OTF2_EACH3(F, __VA_ARGS__)
#define OTF2_EACH5(F, a, ...) F(a) OTF2_EACH4(F, __VA_ARGS__)
#define OTF2_EACH6(F, a, ...) F(a) OTF2_EACH5(F, __VA_ARGS__)

/* What a reader takes from an event alone; COMM: the communicator's number in the stream. */
static inline struct call_row
otf2_told(const struct otf2_event *e, uint32_t comm)
{
	struct call_row row = CALL_ROW;

	row.comm = comm;
	row.bytes_sent = e->sent;
	row.bytes_received = e->received;
	switch (e->kind) {
	case EVENT_MpiIrecvRequest:	/* OTF2 gives only the request */
		row.peer = ANY_PEER;
		row.tag = ANY_TAG;
		break;
	case EVENT_MpiSend: case EVENT_MpiIsend: case EVENT_MpiRecv: case EVENT_MpiIrecv:
		row.tag = e->tag > INT32_MAX ? NO_TAG : (int32_t)e->tag;	/* fall through */
	case EVENT_RmaPut: case EVENT_RmaGet: case EVENT_RmaAtomic:
		row.peer = e->peer > INT32_MAX ? NULL_PEER : (int32_t)e->peer;
		break;
	case EVENT_RmaRequestLock: case EVENT_RmaAcquireLock:
		row.tag = e->lock == OTF2_LOCK_EXCLUSIVE ? 1 : 2;		/* fall through */
	case EVENT_RmaReleaseLock:
		row.peer = e->peer > INT32_MAX ? NO_PEER : (int32_t)e->peer;
		break;
	case EVENT_IoOperationBegin:
		row.bytes_sent = e->mode == OTF2_IO_OPERATION_MODE_WRITE ? e->sent : 0;
		row.bytes_received = e->mode == OTF2_IO_OPERATION_MODE_READ ? e->sent : 0;
		break;
	default:
		row.peer = e->root == OTF2_COLLECTIVE_ROOT_SELF ? ROOT_PEER :
		    e->root == OTF2_COLLECTIVE_ROOT_THIS_GROUP ? NULL_PEER :
		    e->root > INT32_MAX ? NO_PEER : (int32_t)e->root;
	}
	return row;
}

/* Descriptions of regions, and prefixes of names, which a number follows. */
#define OTF2_CREATOR "longpole"
#define OTF2_CALL "call of longpole"
#define OTF2_OFF_CORE "off the core, of longpole"
/* in lines: offset, module, call, function, file, line it was inlined into, ... */
#define OTF2_PLACE "call site of longpole"
#define OTF2_COMMUNICATOR "communicator "
#define OTF2_WINDOW "window "
#define OTF2_FILE "file "
#define OTF2_PARTITIONS "partitions "
/*
 * Properties of the root of the system tree: lists of numbers, as in trace.5. Members are listed if
 * some are outside the run, which OTF2's groups cannot express.
 */
#define OTF2_MEMBERS "longpole::members::"		/* and a communicator */
#define OTF2_REMOTE "longpole::remote::"
#define OTF2_NEIGHBOURS "longpole::neighbours::"	/* and a communicator, :: and a member */
#define OTF2_RANK "longpole::"			/* prefix of the keys of a message of kind rank */

/* Those keys: X(name). The program is separate: a string. */
#define OTF2_RANK_KEYS(X) \
	X(rows) X(ended) X(offset_ns) X(drift_ppb) X(error_ns) X(reversed) X(reversed_left) \
	X(moved_ns)

#endif
