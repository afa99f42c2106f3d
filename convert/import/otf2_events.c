/* SPDX-License-Identifier: BSD-3-Clause */
/* OTF2 events become operations of MPI calls. */
#include "otf2.h"

/* OTF2 gives its callbacks more than they need. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { NO_WORD = 255 };

/* Requests of one-sided communication and of I/O have numbers of their own. */
#define OF_RMA ((uint64_t)1 << 62)
#define OF_IO ((uint64_t)1 << 63)

/* NULL: not of a rank. */
static struct lane *
lane_of(struct otf2 *o, uint64_t id)
{
	const uint32_t at = ids_find(o, ID_LANE, id);

	if (at != UNKNOWN && o->lanes[at].location != UNKNOWN)
		return &o->lanes[at];
	o->foreign++;
	return NULL;
}

/* ---- attributes from lp-export ---- */

static uint32_t
word_at(const struct otf2 *o, const OTF2_AttributeList *list, uint32_t i,
    OTF2_AttributeValue *value)
{
	OTF2_AttributeRef id;
	OTF2_Type type;

	if (OTF2_AttributeList_GetAttributeByIndex(list, i, &id, &type, value) != OTF2_SUCCESS)
		return NO_WORD;
	return id < sizeof o->words ? o->words[id] : NO_WORD;
}

/* Whether the event repeats what attributes say elsewhere. */
static bool
is_aside(const struct otf2 *o, const OTF2_AttributeList *list)
{
	OTF2_AttributeValue value;

	for (uint32_t i = 0, n = o->ours ? OTF2_AttributeList_GetNumberOfElements(list) :
	    0; i < n; i++)
		if (word_at(o, list, i, &value) == WORD_ASIDE)
			return true;
	return false;
}

static uint32_t
comm_at(const struct otf2 *o, uint32_t at)
{
	return at != UNKNOWN ? o->comms[at].comm : 0;
}

#define value_COMM(value) comm_at(o, ids_find(o, ID_COMM, (value).commRef))
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

/* ---- regions ---- */

static OTF2_CallbackCode
take_Enter(OTF2_LocationRef location, OTF2_TimeStamp time, void *user,
    OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct otf2 *o = user;
	struct lane *lane = lane_of(o, location);
	struct operation *op;

	if (lane == NULL)
		return OTF2_CALLBACK_SUCCESS;
	call_enter(o, lane, time, region);
	if (o->ours && OTF2_AttributeList_GetNumberOfElements(attributes) > 0 &&
	    (op = call_operation(lane)) != NULL)
		take_words(o, op, attributes);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_Leave(OTF2_LocationRef location, OTF2_TimeStamp time, void *user,
    OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct otf2 *o = user;
	struct lane *lane = lane_of(o, location);

	if (lane != NULL)
		call_leave(o, lane, time, region);
	return OTF2_CALLBACK_SUCCESS;
}

/* ---- operations ---- */

/* Some archives have events both for requesting a lock and for getting it. */
static bool
is_repeated(const struct lane *lane, const struct call_row *lock)
{
	const struct call_row *last = lane->operation_count > 0 ?
	    &lane->operations[lane->operation_count - 1].row : NULL;

	return last != NULL && last->comm == lock->comm && last->peer == lock->peer;
}

/* The end of I/O that began in the same call: its size replaces the requested one. */
static bool
ends_in_call(struct lane *lane, uint64_t request, uint64_t bytes)
{
	for (size_t i = 0; i < lane->operation_count; i++) {
		struct operation *op = &lane->operations[i];

		if (op->io != request)
			continue;
		if (op->row.bytes_sent > 0)
			op->row.bytes_sent = bytes;
		else if (op->row.bytes_received > 0)
			op->row.bytes_received = bytes;
		return true;
	}
	return false;
}

/* The event's meaning to the call, from both; OTHER: no operation. AT: its index in comms. */
static enum otf2_what
meaning_of(struct otf2 *o, struct lane *lane, const OTF2_AttributeList *attributes,
    const struct otf2_event *e, enum otf2_what what, uint32_t at, const struct call_row *row,
    uint64_t request)
{
	switch (e->kind) {
	case EVENT_CommCreate: case EVENT_RmaWinCreate: case EVENT_IoCreateHandle:
		/* what the location's next call makes is derived from that */
		if (at != UNKNOWN)
			lane->made_from = comm_at(o, ids_find(o, ID_COMM, o->comms[at].parent));
		break;
	case EVENT_RmaGroupSync:
		if (!is_aside(o, attributes))
			call_epoch(o, lane, row->comm, e->group);
		break;
	/* unless the call has already given more */
	case EVENT_CommDestroy: case EVENT_RmaWinDestroy:
		return lane->operation_count == 0 ? what : OTHER;
	case EVENT_RmaRequestLock: case EVENT_RmaAcquireLock: case EVENT_RmaReleaseLock:
		return is_repeated(lane, row) ? OTHER : what;
	case EVENT_RmaPut: case EVENT_RmaGet: case EVENT_RmaAtomic:
		return call_has_request(o, lane) ? STARTS : what;
	case EVENT_IoOperationBegin:
		return (e->flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING) != 0 ? STARTS : what;
	case EVENT_IoOperationComplete:
		if (ends_in_call(lane, request, e->sent))
			return OTHER;
		return request_is_open(o, lane, request) ? what : OTHER;
	case EVENT_RmaOpCompleteBlocking: case EVENT_RmaOpCompleteNonBlocking:
		return request_is_open(o, lane, request) ? what : OTHER;
	default:
		return what;
	}
	return OTHER;
}

static OTF2_CallbackCode
take_event(struct otf2 *o, OTF2_LocationRef location, const OTF2_AttributeList *attributes,
    const struct otf2_event *e, enum otf2_what what)
{
	const bool one_sided = e->window != UINT32_MAX, io = e->file != UINT32_MAX;
	const uint32_t at = one_sided ? ids_find(o, ID_WINDOW, e->window) : io ? ids_find(o,
	    ID_FILE, e->file) : e->comm != UINT32_MAX ? ids_find(o, ID_COMM, e->comm) : UNKNOWN;
	const struct call_row row = otf2_told(e, comm_at(o, at));
	const uint64_t request = e->request | (one_sided ? OF_RMA : io ? OF_IO : 0);
	struct lane *lane;
	struct operation *op;

	if (io && at == UNKNOWN)
		o->other_io++;
	else if (e->kind == EVENT_ParameterUnsignedInt &&
	    (!o->ours || OTF2_AttributeList_GetNumberOfElements(attributes) == 0))
		o->parameters++;	/* not a further row of a call from lp-export */
	else if ((lane = lane_of(o, location)) == NULL ||
	    (what = meaning_of(o, lane, attributes, e, what, at, &row, request)) == OTHER)
		return OTF2_CALLBACK_SUCCESS;
	else if ((op = call_operation(lane)) == NULL)
		o->outside++;
	else {
		op->what = what;
		op->row = row;
		op->request = request;
		op->io = io && what == PLAIN ? request : 0;
		op->receives = e->kind == EVENT_MpiRecv || e->kind == EVENT_MpiIrecv ||
		    e->kind == EVENT_MpiIrecvRequest;
		/* The row of these starts is complete. */
		op->sends = e->kind == EVENT_MpiSend || e->kind == EVENT_MpiIsend ||
		    one_sided || io;
		if (o->ours)
			take_words(o, op, attributes);
	}
	return OTF2_CALLBACK_SUCCESS;
}

#define PARAMETER(field) , __typeof__(((struct otf2_event *)0)->field) field
#define SET(field) e.field = field;
#define X(name, when, what, count, ...) \
	static OTF2_CallbackCode take_##name(OTF2_LocationRef location, OTF2_TimeStamp time, \
	    void *user, OTF2_AttributeList *attributes OTF2_EACH##count(PARAMETER, __VA_ARGS__)) \
	{ \
		struct otf2_event e = OTF2_EVENT(EVENT_##name); \
		OTF2_EACH##count(SET, __VA_ARGS__) \
		return take_event(user, location, attributes, &e, what); \
	}
OTF2_EVENTS(X)
#undef X

/* ---- events without a counterpart in a trace: counted, and named at the end ---- */

/* With the types of their fields. */
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
	X(RmaTryLock, P4(OTF2_RmaWinRef, uint32_t, uint64_t, OTF2_LockType)) \
	X(RmaSync, P3(OTF2_RmaWinRef, uint32_t, OTF2_RmaSyncType)) \
	X(RmaWaitChange, P1(OTF2_RmaWinRef)) \
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
	X(IoDuplicateHandle, P3(OTF2_IoHandleRef, OTF2_IoHandleRef, OTF2_IoStatusFlag)) \
	X(IoSeek, P4(OTF2_IoHandleRef, int64_t, OTF2_IoSeekOption, uint64_t)) \
	X(IoChangeStatusFlags, P2(OTF2_IoHandleRef, OTF2_IoStatusFlag)) \
	X(IoDeleteFile, P2(OTF2_IoParadigmRef, OTF2_IoFileRef)) \
	X(IoOperationTest, P2(OTF2_IoHandleRef, uint64_t)) \
	X(IoOperationCancelled, P2(OTF2_IoHandleRef, uint64_t)) \
	X(IoAcquireLock, P2(OTF2_IoHandleRef, OTF2_LockType)) \
	X(IoReleaseLock, P2(OTF2_IoHandleRef, OTF2_LockType)) \
	X(IoTryLock, P2(OTF2_IoHandleRef, OTF2_LockType))

enum {
#define X(name, parameters) SKIP_##name,
	SKIPPED(X)
#undef X
	SKIPPED_KINDS
};

static OTF2_CallbackCode
skip(void *user, int kind)
{
	struct otf2 *o = user;

	o->skipped[kind]++;
	return OTF2_CALLBACK_SUCCESS;
}

#define P0
#define P1(t1) , t1 a1
#define P2(t1, t2) P1(t1), t2 a2
#define P3(t1, t2, t3) P2(t1, t2), t3 a3
#define P4(t1, t2, t3, t4) P3(t1, t2, t3), t4 a4
#define X(name, parameters) \
	static OTF2_CallbackCode skip_##name(OTF2_LocationRef location, OTF2_TimeStamp time, \
	    void *user, OTF2_AttributeList *attributes parameters) \
	{ \
		return skip(user, SKIP_##name); \
	}
SKIPPED(X)
#undef X

static OTF2_CallbackCode
skip_unknown(OTF2_LocationRef location, OTF2_TimeStamp time, void *user,
    OTF2_AttributeList *attributes)
{
	return skip(user, SKIPPED_KINDS);
}

static void
say(const struct otf2 *o, uint64_t count, const char *what)
{
	if (count > 0)
		note("%s: %llu %s", o->file, (unsigned long long)count, what);
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
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu %s",
			    used > 0 ? ", " : "", (unsigned long long)o->skipped[k], names[k]);
	if (o->skipped[SKIPPED_KINDS] > 0 && used + 40 < sizeof text)
		used += (size_t)snprintf(text + used, sizeof text - used,
		    "%s%llu of kinds that OTF2's library does not know", used > 0 ? ", " : "",
		    (unsigned long long)o->skipped[SKIPPED_KINDS]);
	if (used > 0)
		note("%s: events without a counterpart in a trace are left out: %s", o->file, text);
	if (o->parameters > 0 || o->other_io > 0)
		note("%s: %llu events of kind ParameterUnsignedInt and %llu of files that MPI has "
		    "not opened are left out", o->file, (unsigned long long)o->parameters,
		    (unsigned long long)o->other_io);
	say(o, o->foreign, "events of locations that belong to no MPI rank are left out");
	say(o, o->outside, "messages and other events outside of MPI calls are left out");
	say(o, o->lost_requests, "completed requests were never started");
	say(o, o->backward, "times go backward on their location and are moved");
}

OTF2_GlobalEvtReaderCallbacks *
otf2_callbacks(struct otf2 *o)
{
	OTF2_GlobalEvtReaderCallbacks *c = OTF2_GlobalEvtReaderCallbacks_New();

	if (c == NULL)
		otf2_die(o, "out of memory");
	OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(c, take_Enter);
	OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(c, take_Leave);
	/* Begins of collectives and tests of requests add nothing to other events. */
#define X(name, when, what, count, ...) \
	OTF2_GlobalEvtReaderCallbacks_Set##name##Callback(c, take_##name);
	OTF2_EVENTS(X)
#undef X
#define X(name, parameters) OTF2_GlobalEvtReaderCallbacks_Set##name##Callback(c, skip_##name);
	SKIPPED(X)
#undef X
	OTF2_GlobalEvtReaderCallbacks_SetUnknownCallback(c, skip_unknown);
	return c;
}
