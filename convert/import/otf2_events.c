/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of OTF2: what a call of MPI did becomes its operations. */
#include "otf2.h"

enum { NO_WORD = 255 };
/* Requests of one-sided communication and of I/O are numbered apart from the others. */
#define OF_RMA ((uint64_t)1 << 62)
#define OF_IO ((uint64_t)1 << 63)

struct lane *
otf2_lane(struct otf2 *o, uint64_t id)
{
	uint32_t at = ids_find_at(o->lane_ids, id);

	if (at != UNKNOWN && o->lanes[at].location != UNKNOWN)
		return &o->lanes[at];
	o->foreign++;
	return NULL;
}

/* ---- what lp-export said beside ---- */

static uint32_t
word_at(const struct otf2 *o, const OTF2_AttributeList *list, uint32_t i, OTF2_AttributeValue *value)
{
	OTF2_AttributeRef id;
	OTF2_Type type;

	if (OTF2_AttributeList_GetAttributeByIndex(list, i, &id, &type, value) != OTF2_SUCCESS)
		return NO_WORD;
	return id < sizeof o->words ? o->words[id] : NO_WORD;
}

/* The event repeats what attributes say elsewhere. */
static bool
is_aside(const struct otf2 *o, const OTF2_AttributeList *list)
{
	OTF2_AttributeValue value;

	for (uint32_t i = 0, n = o->ours ? OTF2_AttributeList_GetNumberOfElements(list) : 0; i < n; i++)
		if (word_at(o, list, i, &value) == WORD_ASIDE)
			return true;
	return false;
}

static uint32_t
comm_of(const struct otf2 *o, const struct ids *ids, uint32_t id)
{
	uint32_t at = ids_find_at(ids, id);

	return at == UNKNOWN ? 0 : o->comms[at].comm;
}

#define value_COMM(value) comm_of(o, o->comm_ids, (value).commRef)
#define value_INT32(value) (value).int32
#define value_UINT32(value) (value).uint32
#define value_UINT64(value) (value).uint64

static void
take_words(const struct otf2 *o, struct operation *op, const OTF2_AttributeList *list)
{
	const uint32_t count = OTF2_AttributeList_GetNumberOfElements(list);
	OTF2_AttributeValue value;

	for (uint32_t i = 0; i < count; i++)
		switch (word_at(o, list, i, &value)) {
#define X(NAME, field, name, what, type) \
		case WORD_##NAME: \
			op->said |= 1u << WORD_##NAME; \
			op->as.field = value_##type(value); \
			break;
		OTF2_COLUMNS(X)
#undef X
		}
}

/* ---- operations ---- */

/* What the call that is going on does now; NULL in the first pass and where there is none. */
static struct operation *
operation(struct otf2 *o, uint64_t location, enum operation_kind kind, const OTF2_AttributeList *attributes)
{
	struct lane *lane = otf2_lane(o, location);
	struct operation *operation;

	if (lane == NULL)
		return NULL;
	if ((operation = call_operation(lane)) == NULL) {
		o->outside++;
		return NULL;
	}
	operation->kind = kind;
	if (o->ours)
		take_words(o, operation, attributes);
	return operation;
}

static int32_t
root_of(uint32_t root)
{
	if (root == OTF2_COLLECTIVE_ROOT_SELF)
		return ROOT_PEER;
	if (root == OTF2_COLLECTIVE_ROOT_THIS_GROUP)
		return NULL_PEER;
	return root > INT32_MAX ? NO_PEER : (int32_t)root;
}

static void
set_message(const struct otf2 *o, struct operation *op, uint32_t peer, uint32_t comm, uint32_t tag)
{
	op->comm = comm_of(o, o->comm_ids, comm);
	op->peer = peer > INT32_MAX ? NULL_PEER : (int32_t)peer;
	op->tag = tag > INT32_MAX ? NO_TAG : (int32_t)tag;
}

#define EVENT(name, ...) \
	static OTF2_CallbackCode take_##name(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, \
	    OTF2_AttributeList *attributes, __VA_ARGS__)
#define UNUSED_HERE (void)location, (void)time, (void)attributes, (void)user

EVENT(Enter, OTF2_RegionRef region)
{
	struct otf2 *o = user;
	struct lane *lane = otf2_lane(o, location);
	struct operation *op;

	if (lane == NULL)
		return OTF2_CALLBACK_SUCCESS;
	call_enter(o, lane, time, region);
	if (o->ours && o->writing && OTF2_AttributeList_GetNumberOfElements(attributes) > 0 &&
	    (op = call_operation(lane)) != NULL)
		take_words(o, op, attributes);
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(Leave, OTF2_RegionRef region)
{
	struct otf2 *o = user;
	struct lane *lane = otf2_lane(o, location);

	(void)attributes;
	if (lane != NULL)
		call_leave(o, lane, time, region);
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(MpiSend, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	struct operation *op = operation(user, location, PLAIN, attributes);

	UNUSED_HERE;
	if (op != NULL) {
		set_message(user, op, receiver, comm, tag);
		op->sends = true;
		op->sent = bytes;
	}
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(MpiIsend, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
	struct operation *op = operation(user, location, STARTS, attributes);

	UNUSED_HERE;
	if (op != NULL) {
		set_message(user, op, receiver, comm, tag);
		op->sends = true;
		op->sent = bytes;
		op->request = request;
	}
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(MpiIrecvRequest, uint64_t request)
{
	struct operation *op = operation(user, location, STARTS, attributes);

	UNUSED_HERE;
	if (op != NULL) {
		op->receives = true;
		op->peer = ANY_PEER;
		op->tag = ANY_TAG;
		op->request = request;
	}
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(MpiRecv, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	struct operation *op = operation(user, location, PLAIN, attributes);

	UNUSED_HERE;
	if (op != NULL) {
		set_message(user, op, sender, comm, tag);
		op->receives = true;
		op->received = bytes;
	}
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(MpiIrecv, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
	struct operation *op = operation(user, location, COMPLETES, attributes);

	UNUSED_HERE;
	if (op != NULL) {
		set_message(user, op, sender, comm, tag);
		op->receives = true;
		op->received = bytes;
		op->request = request;
	}
	return OTF2_CALLBACK_SUCCESS;
}

/* A send that is done, or a request that was cancelled: nothing more is known of it. */
static OTF2_CallbackCode
completes(OTF2_LocationRef location, void *user, const OTF2_AttributeList *attributes, uint64_t request)
{
	struct operation *op = operation(user, location, COMPLETES, attributes);

	if (op != NULL)
		op->request = request;
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(MpiIsendComplete, uint64_t request)
{
	UNUSED_HERE;
	return completes(location, user, attributes, request);
}

EVENT(MpiRequestCancelled, uint64_t request)
{
	UNUSED_HERE;
	return completes(location, user, attributes, request);
}

EVENT(MpiRequestTest, uint64_t request)
{
	UNUSED_HERE, (void)request;	/* without a completion the call has a row without a request */
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_MpiCollectiveBegin(OTF2_LocationRef location, OTF2_TimeStamp time, void *user,
    OTF2_AttributeList *attributes)
{
	UNUSED_HERE;	/* its end has all */
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(MpiCollectiveEnd, OTF2_CollectiveOp what, OTF2_CommRef comm, uint32_t root, uint64_t sent,
    uint64_t received)
{
	struct operation *op = operation(user, location, PLAIN, attributes);

	UNUSED_HERE, (void)what;
	if (op != NULL) {
		op->comm = comm_of(user, ((struct otf2 *)user)->comm_ids, comm);
		op->peer = root_of(root);
		op->sent = sent;
		op->received = received;
	}
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(NonBlockingCollectiveRequest, uint64_t request)
{
	struct operation *op = operation(user, location, STARTS, attributes);

	UNUSED_HERE;
	if (op != NULL)
		op->request = request;
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(NonBlockingCollectiveComplete, OTF2_CollectiveOp what, OTF2_CommRef comm, uint32_t root,
    uint64_t sent, uint64_t received, uint64_t request)
{
	struct operation *op = operation(user, location, COMPLETES, attributes);

	UNUSED_HERE, (void)what;
	if (op != NULL) {	/* what it tells is the start's: rows_leave takes it there */
		op->comm = comm_of(user, ((struct otf2 *)user)->comm_ids, comm);
		op->peer = root_of(root);
		op->sent = sent;
		op->received = received;
		op->request = request;
	}
	return OTF2_CALLBACK_SUCCESS;
}

/* Where the call has a request of its own, as MPI_Rput, its completion is told by the number MATCHING. */
static OTF2_CallbackCode
one_sided(OTF2_LocationRef location, void *user, const OTF2_AttributeList *attributes, uint32_t window,
    uint32_t target, uint64_t sent, uint64_t received, uint64_t matching)
{
	struct operation *op = operation(user, location, PLAIN, attributes);

	if (op != NULL) {
		if (call_has_request(user, otf2_lane(user, location))) {
			op->kind = STARTS;
			op->sends = true;	/* its row is whole */
			op->request = matching | OF_RMA;
		}
		op->comm = comm_of(user, ((struct otf2 *)user)->window_ids, window);
		op->peer = target > INT32_MAX ? NULL_PEER : (int32_t)target;
		op->sent = sent;
		op->received = received;
	}
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(RmaPut, OTF2_RmaWinRef window, uint32_t target, uint64_t bytes, uint64_t matching)
{
	UNUSED_HERE;
	return one_sided(location, user, attributes, window, target, bytes, 0, matching);
}

EVENT(RmaGet, OTF2_RmaWinRef window, uint32_t target, uint64_t bytes, uint64_t matching)
{
	UNUSED_HERE;
	return one_sided(location, user, attributes, window, target, 0, bytes, matching);
}

EVENT(RmaAtomic, OTF2_RmaWinRef window, uint32_t target, OTF2_RmaAtomicType type, uint64_t sent,
    uint64_t received, uint64_t matching)
{
	UNUSED_HERE, (void)type;
	return one_sided(location, user, attributes, window, target, sent, received, matching);
}

EVENT(RmaCollectiveEnd, OTF2_CollectiveOp what, OTF2_RmaSyncLevel level, OTF2_RmaWinRef window,
    uint32_t root, uint64_t sent, uint64_t received)
{
	struct operation *op = operation(user, location, PLAIN, attributes);

	UNUSED_HERE, (void)what, (void)level;
	if (op != NULL) {
		op->comm = comm_of(user, ((struct otf2 *)user)->window_ids, window);
		op->peer = root_of(root);
		op->sent = sent;
		op->received = received;
	}
	return OTF2_CALLBACK_SUCCESS;
}

/* Of the operations in a call the end of which says more, and of those that end later. */
static OTF2_CallbackCode
ends(OTF2_LocationRef location, void *user, const OTF2_AttributeList *attributes, uint64_t request)
{
	struct otf2 *o = user;
	struct lane *lane = otf2_lane(o, location);

	if (lane != NULL && request_find(o, lane, request) != NULL)
		return completes(location, user, attributes, request);
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(RmaOpCompleteNonBlocking, OTF2_RmaWinRef window, uint64_t matching)
{
	UNUSED_HERE, (void)window;
	return ends(location, user, attributes, matching | OF_RMA);
}

EVENT(RmaOpCompleteBlocking, OTF2_RmaWinRef window, uint64_t matching)
{
	UNUSED_HERE, (void)window;
	return ends(location, user, attributes, matching | OF_RMA);
}

static OTF2_CallbackCode
locks(OTF2_LocationRef location, void *user, const OTF2_AttributeList *attributes, uint32_t window,
    uint32_t target, int32_t tag)
{
	struct otf2 *o = user;
	const uint32_t comm = comm_of(o, o->window_ids, window);
	struct lane *lane = otf2_lane(o, location);
	struct operation *op;

	/* Some tell that a lock is asked for, and that it is got. */
	if (lane != NULL && lane->operation_count > 0 &&
	    lane->operations[lane->operation_count - 1].comm == comm &&
	    lane->operations[lane->operation_count - 1].peer == (int32_t)target)
		return OTF2_CALLBACK_SUCCESS;
	if ((op = operation(user, location, PLAIN, attributes)) != NULL) {
		op->comm = comm;
		op->peer = target > INT32_MAX ? NO_PEER : (int32_t)target;
		op->tag = tag;
	}
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(RmaRequestLock, OTF2_RmaWinRef window, uint32_t target, uint64_t lock, OTF2_LockType type)
{
	UNUSED_HERE, (void)lock;
	return locks(location, user, attributes, window, target, type == OTF2_LOCK_EXCLUSIVE ? 1 : 2);
}

EVENT(RmaAcquireLock, OTF2_RmaWinRef window, uint32_t target, uint64_t lock, OTF2_LockType type)
{
	UNUSED_HERE, (void)lock;
	return locks(location, user, attributes, window, target, type == OTF2_LOCK_EXCLUSIVE ? 1 : 2);
}

EVENT(RmaReleaseLock, OTF2_RmaWinRef window, uint32_t target, uint64_t lock)
{
	UNUSED_HERE, (void)lock;
	return locks(location, user, attributes, window, target, NO_TAG);
}

EVENT(RmaGroupSync, OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, OTF2_GroupRef group)
{
	struct otf2 *o = user;
	struct lane *lane = otf2_lane(o, location);

	UNUSED_HERE, (void)level;
	if (lane != NULL && !is_aside(o, attributes))
		call_epoch(o, lane, comm_of(o, o->window_ids, window), group);
	return OTF2_CALLBACK_SUCCESS;
}

/* ---- files ---- */

EVENT(IoCreateHandle, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode, OTF2_IoCreationFlag creation,
    OTF2_IoStatusFlag status)
{
	struct otf2 *o = user;
	const uint32_t at = ids_find_at(o->file_ids, handle);
	struct lane *lane = otf2_lane(o, location);

	UNUSED_HERE, (void)mode, (void)creation, (void)status;
	if (at == UNKNOWN)
		o->other_io++;
	else if (lane != NULL)
		lane->made_from = comm_of(o, o->comm_ids, (uint32_t)o->comms[at].of);
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(IoDestroyHandle, OTF2_IoHandleRef handle)
{
	struct otf2 *o = user;
	const uint32_t comm = comm_of(o, o->file_ids, handle);
	struct operation *op;

	UNUSED_HERE;
	if (comm == 0)
		o->other_io++;
	else if ((op = operation(user, location, PLAIN, attributes)) != NULL)
		op->comm = comm;
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(IoOperationBegin, OTF2_IoHandleRef handle, OTF2_IoOperationMode mode, OTF2_IoOperationFlag flags,
    uint64_t bytes, uint64_t matching)
{
	struct otf2 *o = user;
	const uint32_t comm = comm_of(o, o->file_ids, handle);
	const bool starts = (flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING) != 0;
	struct operation *op;

	UNUSED_HERE;
	if (comm == 0) {
		o->other_io++;
		return OTF2_CALLBACK_SUCCESS;
	}
	if ((op = operation(user, location, starts ? STARTS : PLAIN, attributes)) == NULL)
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

EVENT(IoOperationIssued, OTF2_IoHandleRef handle, uint64_t matching)
{
	UNUSED_HERE, (void)handle, (void)matching;	/* its begin has all */
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(IoOperationComplete, OTF2_IoHandleRef handle, uint64_t bytes, uint64_t matching)
{
	struct otf2 *o = user;
	struct lane *lane = otf2_lane(o, location);

	UNUSED_HERE;
	if (comm_of(o, o->file_ids, handle) == 0)
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

EVENT(CommCreate, OTF2_CommRef comm)
{
	struct otf2 *o = user;
	const uint32_t at = ids_find_at(o->comm_ids, comm);
	struct lane *lane = otf2_lane(o, location);

	UNUSED_HERE;
	if (lane != NULL && at != UNKNOWN)
		lane->made_from = comm_of(o, o->comm_ids, (uint32_t)o->comms[at].parent);
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(CommDestroy, OTF2_CommRef comm)
{
	struct otf2 *o = user;
	struct lane *lane = otf2_lane(o, location);
	struct operation *op;

	UNUSED_HERE;
	if (lane != NULL && lane->operation_count == 0 &&
	    (op = operation(user, location, PLAIN, attributes)) != NULL)
		op->comm = comm_of(o, o->comm_ids, comm);
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(RmaWinCreate, OTF2_RmaWinRef window)
{
	struct otf2 *o = user;
	const uint32_t at = ids_find_at(o->window_ids, window);
	struct lane *lane = otf2_lane(o, location);

	UNUSED_HERE;
	if (lane != NULL && at != UNKNOWN)
		lane->made_from = comm_of(o, o->comm_ids, (uint32_t)o->comms[at].of);
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(RmaWinDestroy, OTF2_RmaWinRef window)
{
	struct otf2 *o = user;
	struct lane *lane = otf2_lane(o, location);
	struct operation *op;

	UNUSED_HERE;
	if (lane != NULL && lane->operation_count == 0 &&
	    (op = operation(user, location, PLAIN, attributes)) != NULL)
		op->comm = comm_of(o, o->window_ids, window);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_RmaCollectiveBegin(OTF2_LocationRef location, OTF2_TimeStamp time, void *user,
    OTF2_AttributeList *attributes)
{
	UNUSED_HERE;	/* its end has all */
	return OTF2_CALLBACK_SUCCESS;
}

/* A further row of a call that OTF2 has no event for. */
EVENT(ParameterUnsignedInt, OTF2_ParameterRef parameter, uint64_t value)
{
	struct otf2 *o = user;

	UNUSED_HERE, (void)parameter, (void)value;
	if (o->ours && OTF2_AttributeList_GetNumberOfElements(attributes) > 0)
		operation(user, location, PLAIN, attributes);
	else
		o->parameters++;
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_GlobalEvtReaderCallbacks *
otf2_callbacks(struct otf2 *o)
{
	OTF2_GlobalEvtReaderCallbacks *c = OTF2_GlobalEvtReaderCallbacks_New();

	if (c == NULL)
		otf2_die(o, "out of memory");
#define TAKE(name) OTF2_GlobalEvtReaderCallbacks_Set##name##Callback(c, take_##name);
	TAKE(Enter) TAKE(Leave)
	if (!o->writing)
		return c;	/* for the bounds of the run these are all */
	TAKE(MpiSend) TAKE(MpiIsend) TAKE(MpiIsendComplete) TAKE(MpiIrecvRequest) TAKE(MpiRecv)
	TAKE(MpiIrecv) TAKE(MpiRequestTest) TAKE(MpiRequestCancelled) TAKE(MpiCollectiveBegin)
	TAKE(MpiCollectiveEnd) TAKE(NonBlockingCollectiveRequest) TAKE(NonBlockingCollectiveComplete)
	TAKE(RmaPut) TAKE(RmaGet) TAKE(RmaAtomic) TAKE(RmaCollectiveBegin) TAKE(RmaCollectiveEnd)
	TAKE(RmaOpCompleteBlocking) TAKE(RmaOpCompleteNonBlocking) TAKE(RmaRequestLock) TAKE(RmaAcquireLock)
	TAKE(RmaReleaseLock) TAKE(RmaGroupSync) TAKE(RmaWinCreate) TAKE(RmaWinDestroy)
	TAKE(IoCreateHandle) TAKE(IoDestroyHandle) TAKE(IoOperationBegin) TAKE(IoOperationIssued)
	TAKE(IoOperationComplete) TAKE(CommCreate) TAKE(CommDestroy) TAKE(ParameterUnsignedInt)
	otf2_skip(c);
	return c;
}
