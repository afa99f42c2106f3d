/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of OTF2: what a call of MPI did becomes its operations; what is not understood is counted by kind. */
#include "otf2.h"

/* Kinds that have no place in a trace of MPI, with the types of what they carry. */
#define SKIPPED(X) \
	X(BufferFlush, P1(OTF2_TimeStamp)) \
	X(MeasurementOnOff, P1(OTF2_MeasurementMode)) \
	X(OmpFork, P1(uint32_t)) \
	X(OmpJoin, P0) \
	X(OmpAcquireLock, P2(uint32_t, uint32_t)) \
	X(OmpReleaseLock, P2(uint32_t, uint32_t)) \
	X(OmpTaskCreate, P1(uint64_t)) \
	X(OmpTaskSwitch, P1(uint64_t)) \
	X(OmpTaskComplete, P1(uint64_t)) \
	X(Metric, P4(OTF2_MetricRef, uint8_t, const OTF2_Type *, const OTF2_MetricValue *)) \
	X(ParameterString, P2(OTF2_ParameterRef, OTF2_StringRef)) \
	X(ParameterInt, P2(OTF2_ParameterRef, int64_t)) \
	X(ParameterUnsignedInt, P2(OTF2_ParameterRef, uint64_t)) \
	X(RmaWinCreate, P1(OTF2_RmaWinRef)) \
	X(RmaWinDestroy, P1(OTF2_RmaWinRef)) \
	X(RmaCollectiveBegin, P0) \
	X(RmaGroupSync, P3(OTF2_RmaSyncLevel, OTF2_RmaWinRef, OTF2_GroupRef)) \
	X(RmaRequestLock, P4(OTF2_RmaWinRef, uint32_t, uint64_t, OTF2_LockType)) \
	X(RmaAcquireLock, P4(OTF2_RmaWinRef, uint32_t, uint64_t, OTF2_LockType)) \
	X(RmaTryLock, P4(OTF2_RmaWinRef, uint32_t, uint64_t, OTF2_LockType)) \
	X(RmaReleaseLock, P3(OTF2_RmaWinRef, uint32_t, uint64_t)) \
	X(RmaSync, P3(OTF2_RmaWinRef, uint32_t, OTF2_RmaSyncType)) \
	X(RmaWaitChange, P1(OTF2_RmaWinRef)) \
	X(RmaOpCompleteBlocking, P2(OTF2_RmaWinRef, uint64_t)) \
	X(RmaOpCompleteNonBlocking, P2(OTF2_RmaWinRef, uint64_t)) \
	X(RmaOpTest, P2(OTF2_RmaWinRef, uint64_t)) \
	X(RmaOpCompleteRemote, P2(OTF2_RmaWinRef, uint64_t)) \
	X(ThreadFork, P2(OTF2_Paradigm, uint32_t)) \
	X(ThreadJoin, P1(OTF2_Paradigm)) \
	X(ThreadTeamBegin, P1(OTF2_CommRef)) \
	X(ThreadTeamEnd, P1(OTF2_CommRef)) \
	X(ThreadAcquireLock, P3(OTF2_Paradigm, uint32_t, uint32_t)) \
	X(ThreadReleaseLock, P3(OTF2_Paradigm, uint32_t, uint32_t)) \
	X(ThreadTaskCreate, P3(OTF2_CommRef, uint32_t, uint32_t)) \
	X(ThreadTaskSwitch, P3(OTF2_CommRef, uint32_t, uint32_t)) \
	X(ThreadTaskComplete, P3(OTF2_CommRef, uint32_t, uint32_t)) \
	X(ThreadCreate, P2(OTF2_CommRef, uint64_t)) \
	X(ThreadBegin, P2(OTF2_CommRef, uint64_t)) \
	X(ThreadWait, P2(OTF2_CommRef, uint64_t)) \
	X(ThreadEnd, P2(OTF2_CommRef, uint64_t)) \
	X(CallingContextEnter, P2(OTF2_CallingContextRef, uint32_t)) \
	X(CallingContextLeave, P1(OTF2_CallingContextRef)) \
	X(CallingContextSample, P3(OTF2_CallingContextRef, uint32_t, OTF2_InterruptGeneratorRef)) \
	X(IoCreateHandle, P4(OTF2_IoHandleRef, OTF2_IoAccessMode, OTF2_IoCreationFlag, OTF2_IoStatusFlag)) \
	X(IoDestroyHandle, P1(OTF2_IoHandleRef)) \
	X(IoDuplicateHandle, P3(OTF2_IoHandleRef, OTF2_IoHandleRef, OTF2_IoStatusFlag)) \
	X(IoSeek, P4(OTF2_IoHandleRef, int64_t, OTF2_IoSeekOption, uint64_t)) \
	X(IoChangeStatusFlags, P2(OTF2_IoHandleRef, OTF2_IoStatusFlag)) \
	X(IoDeleteFile, P2(OTF2_IoParadigmRef, OTF2_IoFileRef)) \
	X(IoOperationBegin, P5(OTF2_IoHandleRef, OTF2_IoOperationMode, OTF2_IoOperationFlag, uint64_t, uint64_t)) \
	X(IoOperationTest, P2(OTF2_IoHandleRef, uint64_t)) \
	X(IoOperationIssued, P2(OTF2_IoHandleRef, uint64_t)) \
	X(IoOperationComplete, P3(OTF2_IoHandleRef, uint64_t, uint64_t)) \
	X(IoOperationCancelled, P2(OTF2_IoHandleRef, uint64_t)) \
	X(IoAcquireLock, P2(OTF2_IoHandleRef, OTF2_LockType)) \
	X(IoReleaseLock, P2(OTF2_IoHandleRef, OTF2_LockType)) \
	X(IoTryLock, P2(OTF2_IoHandleRef, OTF2_LockType)) \
	X(CommCreate, P1(OTF2_CommRef)) \
	X(CommDestroy, P1(OTF2_CommRef))

enum {
#define X(name, parameters) SKIP_##name,
	SKIPPED(X)
#undef X
	SKIPPED_KINDS
};

/* The location of an event; NULL: of no rank, or the first pass. */
static struct lane *
lane_of(struct otf2 *o, uint64_t id)
{
	uint32_t at = ids_find_at(o->lane_ids, id);

	if (at != UNKNOWN && o->lanes[at].location != UNKNOWN)
		return &o->lanes[at];
	o->foreign++;
	return NULL;
}

/* What the call that is going on does now; NULL in the first pass and where there is none. */
static struct operation *
operation(struct otf2 *o, uint64_t location, enum operation_kind kind)
{
	struct lane *lane = o->writing ? lane_of(o, location) : NULL;
	struct operation *operation;

	if (lane == NULL)
		return NULL;
	if ((operation = rows_operation(lane)) == NULL) {
		o->outside++;
		return NULL;
	}
	operation->kind = kind;
	return operation;
}

static uint32_t
comm_of(const struct otf2 *o, const struct ids *ids, uint32_t id)
{
	uint32_t at = ids_find_at(ids, id);

	return at == UNKNOWN ? 0 : o->comms[at].comm;
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
	struct lane *lane = lane_of(o, location);

	(void)attributes;
	if (lane != NULL)
		rows_enter(o, lane, time, region);
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(Leave, OTF2_RegionRef region)
{
	struct otf2 *o = user;
	struct lane *lane = lane_of(o, location);

	(void)attributes;
	if (lane != NULL)
		rows_leave(o, lane, time, region);
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(MpiSend, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	struct operation *op = operation(user, location, PLAIN);

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
	struct operation *op = operation(user, location, STARTS);

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
	struct operation *op = operation(user, location, STARTS);

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
	struct operation *op = operation(user, location, PLAIN);

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
	struct operation *op = operation(user, location, COMPLETES);

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
completes(OTF2_LocationRef location, void *user, uint64_t request)
{
	struct operation *op = operation(user, location, COMPLETES);

	if (op != NULL)
		op->request = request;
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(MpiIsendComplete, uint64_t request)
{
	UNUSED_HERE;
	return completes(location, user, request);
}

EVENT(MpiRequestCancelled, uint64_t request)
{
	UNUSED_HERE;
	return completes(location, user, request);
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
	struct operation *op = operation(user, location, PLAIN);

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
	struct operation *op = operation(user, location, STARTS);

	UNUSED_HERE;
	if (op != NULL)
		op->request = request;
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(NonBlockingCollectiveComplete, OTF2_CollectiveOp what, OTF2_CommRef comm, uint32_t root,
    uint64_t sent, uint64_t received, uint64_t request)
{
	struct operation *op = operation(user, location, COMPLETES);

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

static OTF2_CallbackCode
one_sided(OTF2_LocationRef location, void *user, uint32_t window, uint32_t target, uint64_t sent,
    uint64_t received)
{
	struct operation *op = operation(user, location, PLAIN);

	if (op != NULL) {
		op->comm = comm_of(user, ((struct otf2 *)user)->window_ids, window);
		op->peer = target > INT32_MAX ? NULL_PEER : (int32_t)target;
		op->sent = sent;
		op->received = received;
	}
	return OTF2_CALLBACK_SUCCESS;
}

EVENT(RmaPut, OTF2_RmaWinRef window, uint32_t target, uint64_t bytes, uint64_t matching)
{
	UNUSED_HERE, (void)matching;
	return one_sided(location, user, window, target, bytes, 0);
}

EVENT(RmaGet, OTF2_RmaWinRef window, uint32_t target, uint64_t bytes, uint64_t matching)
{
	UNUSED_HERE, (void)matching;
	return one_sided(location, user, window, target, 0, bytes);
}

EVENT(RmaAtomic, OTF2_RmaWinRef window, uint32_t target, OTF2_RmaAtomicType type, uint64_t sent,
    uint64_t received, uint64_t matching)
{
	UNUSED_HERE, (void)type, (void)matching;
	return one_sided(location, user, window, target, sent, received);
}

EVENT(RmaCollectiveEnd, OTF2_CollectiveOp what, OTF2_RmaSyncLevel level, OTF2_RmaWinRef window,
    uint32_t root, uint64_t sent, uint64_t received)
{
	struct operation *op = operation(user, location, PLAIN);

	UNUSED_HERE, (void)what, (void)level;
	if (op != NULL) {
		op->comm = comm_of(user, ((struct otf2 *)user)->window_ids, window);
		op->peer = root_of(root);
		op->sent = sent;
		op->received = received;
	}
	return OTF2_CALLBACK_SUCCESS;
}

/* Counted in the second pass, so that each is counted once. */
static OTF2_CallbackCode
skip(void *user, int kind)
{
	struct otf2 *o = user;

	o->skipped[kind] += o->writing;
	return OTF2_CALLBACK_SUCCESS;
}

/* Parameters without names, for what is only counted. */
#define P0
#define P1(t1) , t1 a1 __attribute__((unused))
#define P2(t1, t2) , t1 a1 __attribute__((unused)), t2 a2 __attribute__((unused))
#define P3(t1, t2, t3) , t1 a1 __attribute__((unused)), t2 a2 __attribute__((unused)), t3 a3 __attribute__((unused))
#define P4(t1, t2, t3, t4) , t1 a1 __attribute__((unused)), t2 a2 __attribute__((unused)), t3 a3 __attribute__((unused)), t4 a4 __attribute__((unused))
#define P5(t1, t2, t3, t4, t5) , t1 a1 __attribute__((unused)), t2 a2 __attribute__((unused)), t3 a3 __attribute__((unused)), t4 a4 __attribute__((unused)), t5 a5 __attribute__((unused))
#define P6(t1, t2, t3, t4, t5, t6) , t1 a1 __attribute__((unused)), t2 a2 __attribute__((unused)), t3 a3 __attribute__((unused)), t4 a4 __attribute__((unused)), t5 a5 __attribute__((unused)), t6 a6 __attribute__((unused))
#define X(name, parameters) \
	static OTF2_CallbackCode skip_##name(OTF2_LocationRef location, OTF2_TimeStamp time, void *user, \
	    OTF2_AttributeList *attributes parameters) \
	{ \
		(void)location, (void)time, (void)attributes; \
		return skip(user, SKIP_##name); \
	}
SKIPPED(X)
#undef X

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
	TAKE(RmaPut) TAKE(RmaGet) TAKE(RmaAtomic) TAKE(RmaCollectiveEnd)
#define X(name, parameters) OTF2_GlobalEvtReaderCallbacks_Set##name##Callback(c, skip_##name);
	SKIPPED(X)
#undef X
	return c;
}

void
otf2_say_skipped(const struct otf2 *o)
{
	static const char *const names[] = {
#define X(name, parameters) #name,
		SKIPPED(X)
#undef X
	};
	char text[512] = "";
	size_t used = 0;

	for (size_t k = 0; k < SKIPPED_KINDS; k++)
		if (o->skipped[k] > 0 && used + 40 < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu %s", used > 0 ? ", " : "",
			    (unsigned long long)o->skipped[k], names[k]);
	if (used > 0)
		note("%s: events that have no place in a trace are left out: %s", o->file, text);
	if (o->foreign > 0)
		note("%s: %llu events of locations that are no rank of MPI are left out", o->file,
		    (unsigned long long)o->foreign);
	if (o->outside > 0)
		note("%s: %llu messages and the like outside of calls of MPI are left out", o->file,
		    (unsigned long long)o->outside);
	if (o->lost_requests > 0)
		note("%s: %llu requests complete that were not started", o->file,
		    (unsigned long long)o->lost_requests);
	if (o->backward > 0)
		note("%s: %llu times go backward on their location and are moved", o->file,
		    (unsigned long long)o->backward);
}
