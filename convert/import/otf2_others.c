/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of OTF2 beside messages and collectives: one-sided communication, files, communicators and windows. */
#include "otf2.h"

/* Requests of one-sided communication and of I/O are numbered apart from the others. */
#define OF_RMA ((uint64_t)1 << 62)
#define OF_IO ((uint64_t)1 << 63)

/* ---- one-sided ---- */

/* Where the call has a request of its own, as MPI_Rput, its completion is told by the number MATCHING. */
static OTF2_CallbackCode
one_sided(OTF2_LocationRef location, void *user, const OTF2_AttributeList *attributes, uint32_t window,
    uint32_t target, uint64_t sent, uint64_t received, uint64_t matching)
{
	struct operation *op = otf2_operation(user, location, PLAIN, attributes);

	if (op != NULL) {
		if (call_has_request(user, otf2_lane(user, location))) {
			op->kind = STARTS;
			op->sends = true;	/* its row is whole */
			op->request = matching | OF_RMA;
		}
		op->comm = otf2_comm(user, ((struct otf2 *)user)->window_ids, window);
		op->peer = target > INT32_MAX ? NULL_PEER : (int32_t)target;
		op->sent = sent;
		op->received = received;
	}
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EVENT(RmaPut, OTF2_RmaWinRef window, uint32_t target, uint64_t bytes, uint64_t matching)
{
	return one_sided(location, user, attributes, window, target, bytes, 0, matching);
}

OTF2_EVENT(RmaGet, OTF2_RmaWinRef window, uint32_t target, uint64_t bytes, uint64_t matching)
{
	return one_sided(location, user, attributes, window, target, 0, bytes, matching);
}

OTF2_EVENT(RmaAtomic, OTF2_RmaWinRef window, uint32_t target, OTF2_RmaAtomicType type MAYBE, uint64_t sent,
    uint64_t received, uint64_t matching)
{
	return one_sided(location, user, attributes, window, target, sent, received, matching);
}

OTF2_EVENT(RmaCollectiveEnd, OTF2_CollectiveOp what MAYBE, OTF2_RmaSyncLevel level MAYBE, OTF2_RmaWinRef window,
    uint32_t root, uint64_t sent, uint64_t received)
{
	return otf2_collective(otf2_operation(user, location, PLAIN, attributes),
	    otf2_comm(user, ((struct otf2 *)user)->window_ids, window), root, sent, received);
}

/* Of the operations in a call the end of which says more, and of those that end later. */
static OTF2_CallbackCode
ends(OTF2_LocationRef location, void *user, const OTF2_AttributeList *attributes, uint64_t request)
{
	struct otf2 *o = user;
	struct lane *lane = otf2_lane(o, location);

	if (lane != NULL && request_find(o, lane, request) != NULL)
		return otf2_completes(location, user, attributes, request);
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EVENT(RmaOpCompleteNonBlocking, OTF2_RmaWinRef window MAYBE, uint64_t matching)
{
	return ends(location, user, attributes, matching | OF_RMA);
}

OTF2_EVENT(RmaOpCompleteBlocking, OTF2_RmaWinRef window MAYBE, uint64_t matching)
{
	return ends(location, user, attributes, matching | OF_RMA);
}

static OTF2_CallbackCode
locks(OTF2_LocationRef location, void *user, const OTF2_AttributeList *attributes, uint32_t window,
    uint32_t target, int32_t tag)
{
	struct otf2 *o = user;
	const uint32_t comm = otf2_comm(o, o->window_ids, window);
	struct lane *lane = otf2_lane(o, location);
	struct operation *op;

	/* Some tell that a lock is asked for, and that it is got. */
	if (lane != NULL && lane->operation_count > 0 &&
	    lane->operations[lane->operation_count - 1].comm == comm &&
	    lane->operations[lane->operation_count - 1].peer == (int32_t)target)
		return OTF2_CALLBACK_SUCCESS;
	if ((op = otf2_operation(user, location, PLAIN, attributes)) != NULL) {
		op->comm = comm;
		op->peer = target > INT32_MAX ? NO_PEER : (int32_t)target;
		op->tag = tag;
	}
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EVENT(RmaRequestLock, OTF2_RmaWinRef window, uint32_t target, uint64_t lock MAYBE, OTF2_LockType type)
{
	return locks(location, user, attributes, window, target, type == OTF2_LOCK_EXCLUSIVE ? 1 : 2);
}

OTF2_EVENT(RmaAcquireLock, OTF2_RmaWinRef window, uint32_t target, uint64_t lock MAYBE, OTF2_LockType type)
{
	return locks(location, user, attributes, window, target, type == OTF2_LOCK_EXCLUSIVE ? 1 : 2);
}

OTF2_EVENT(RmaReleaseLock, OTF2_RmaWinRef window, uint32_t target, uint64_t lock MAYBE)
{
	return locks(location, user, attributes, window, target, NO_TAG);
}

OTF2_EVENT(RmaGroupSync, OTF2_RmaSyncLevel level MAYBE, OTF2_RmaWinRef window, OTF2_GroupRef group)
{
	struct otf2 *o = user;
	struct lane *lane = otf2_lane(o, location);

	if (lane != NULL && !otf2_aside(o, attributes))
		call_epoch(o, lane, otf2_comm(o, o->window_ids, window), group);
	return OTF2_CALLBACK_SUCCESS;
}

/* ---- files ---- */

OTF2_EVENT(IoCreateHandle, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode MAYBE, OTF2_IoCreationFlag creation MAYBE,
    OTF2_IoStatusFlag status MAYBE)
{
	struct otf2 *o = user;
	const uint32_t at = ids_find_at(o->file_ids, handle);
	struct lane *lane = otf2_lane(o, location);

	if (at == UNKNOWN)
		o->other_io++;
	else if (lane != NULL)
		lane->made_from = otf2_comm(o, o->comm_ids, (uint32_t)o->comms[at].of);
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EVENT(IoDestroyHandle, OTF2_IoHandleRef handle)
{
	struct otf2 *o = user;
	const uint32_t comm = otf2_comm(o, o->file_ids, handle);
	struct operation *op;

	if (comm == 0)
		o->other_io++;
	else if ((op = otf2_operation(user, location, PLAIN, attributes)) != NULL)
		op->comm = comm;
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EVENT(IoOperationBegin, OTF2_IoHandleRef handle, OTF2_IoOperationMode mode, OTF2_IoOperationFlag flags,
    uint64_t bytes, uint64_t matching)
{
	struct otf2 *o = user;
	const uint32_t comm = otf2_comm(o, o->file_ids, handle);
	const bool starts = (flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING) != 0;
	struct operation *op;

	if (comm == 0) {
		o->other_io++;
		return OTF2_CALLBACK_SUCCESS;
	}
	if ((op = otf2_operation(user, location, starts ? STARTS : PLAIN, attributes)) == NULL)
		return OTF2_CALLBACK_SUCCESS;
	op->comm = comm;
	op->sends = true;		/* its row is whole */
	op->request = matching | OF_IO;
	op->io = starts ? 0 : matching | OF_IO;
	if (mode == OTF2_IO_OPERATION_MODE_WRITE)
		op->sent = bytes;
	if (mode == OTF2_IO_OPERATION_MODE_READ)
		op->received = bytes;
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EVENT(IoOperationComplete, OTF2_IoHandleRef handle, uint64_t bytes, uint64_t matching)
{
	struct otf2 *o = user;
	struct lane *lane = otf2_lane(o, location);

	if (otf2_comm(o, o->file_ids, handle) == 0)
		o->other_io++;
	else if (lane != NULL) {
		for (size_t i = 0; i < lane->operation_count; i++) {
			struct operation *op = &lane->operations[i];

			if (op->io != (matching | OF_IO))
				continue;
			if (op->sent > 0)	/* as much as was done of what was asked for */
				op->sent = bytes;
			else if (op->received > 0)
				op->received = bytes;
			return OTF2_CALLBACK_SUCCESS;
		}
		return ends(location, user, attributes, matching | OF_IO);
	}
	return OTF2_CALLBACK_SUCCESS;
}

/* ---- communicators and windows come and go ---- */

/* What the next call of the location makes is made of this communicator. */
static OTF2_CallbackCode
comes(struct otf2 *o, OTF2_LocationRef location, uint64_t made_from)
{
	struct lane *lane = otf2_lane(o, location);

	if (lane != NULL)
		lane->made_from = otf2_comm(o, o->comm_ids, (uint32_t)made_from);
	return OTF2_CALLBACK_SUCCESS;
}

/* Unless the call has told more of itself it is about COMM. */
static OTF2_CallbackCode
goes(struct otf2 *o, OTF2_LocationRef location, const OTF2_AttributeList *attributes, uint32_t comm)
{
	const struct lane *lane = otf2_lane(o, location);
	struct operation *op;

	if (lane != NULL && lane->operation_count == 0 &&
	    (op = otf2_operation(o, location, PLAIN, attributes)) != NULL)
		op->comm = comm;
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EVENT(CommCreate, OTF2_CommRef comm)
{
	struct otf2 *o = user;
	const uint32_t at = ids_find_at(o->comm_ids, comm);

	return at == UNKNOWN ? OTF2_CALLBACK_SUCCESS : comes(o, location, o->comms[at].parent);
}

OTF2_EVENT(CommDestroy, OTF2_CommRef comm)
{
	struct otf2 *o = user;

	return goes(o, location, attributes, otf2_comm(o, o->comm_ids, comm));
}

OTF2_EVENT(RmaWinCreate, OTF2_RmaWinRef window)
{
	struct otf2 *o = user;
	const uint32_t at = ids_find_at(o->window_ids, window);

	return at == UNKNOWN ? OTF2_CALLBACK_SUCCESS : comes(o, location, o->comms[at].of);
}

OTF2_EVENT(RmaWinDestroy, OTF2_RmaWinRef window)
{
	struct otf2 *o = user;

	return goes(o, location, attributes, otf2_comm(o, o->window_ids, window));
}

void
otf2_others(OTF2_GlobalEvtReaderCallbacks *c)
{
	TAKE(RmaPut) TAKE(RmaGet) TAKE(RmaAtomic) TAKE(RmaCollectiveEnd)
	TAKE(RmaOpCompleteBlocking) TAKE(RmaOpCompleteNonBlocking) TAKE(RmaRequestLock) TAKE(RmaAcquireLock)
	TAKE(RmaReleaseLock) TAKE(RmaGroupSync) TAKE(RmaWinCreate) TAKE(RmaWinDestroy)
	TAKE(IoCreateHandle) TAKE(IoDestroyHandle) TAKE(IoOperationBegin)
	TAKE(IoOperationComplete) TAKE(CommCreate) TAKE(CommDestroy)
}
