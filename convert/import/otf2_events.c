/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of OTF2: what a call of MPI did becomes its operations. */
#include "otf2.h"

enum { NO_WORD = 255 };

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
bool
otf2_aside(const struct otf2 *o, const OTF2_AttributeList *list)
{
	OTF2_AttributeValue value;

	for (uint32_t i = 0, n = o->ours ? OTF2_AttributeList_GetNumberOfElements(list) : 0; i < n; i++)
		if (word_at(o, list, i, &value) == WORD_ASIDE)
			return true;
	return false;
}

uint32_t
otf2_comm(const struct otf2 *o, const struct ids *ids, uint32_t id)
{
	uint32_t at = ids_find_at(ids, id);

	return at == UNKNOWN ? 0 : o->comms[at].comm;
}

#define value_COMM(value) otf2_comm(o, o->comm_ids, (value).commRef)
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
struct operation *
otf2_operation(struct otf2 *o, uint64_t location, enum operation_kind kind, const OTF2_AttributeList *attributes)
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

OTF2_CallbackCode
otf2_collective(struct operation *op, uint32_t comm, uint32_t root, uint64_t sent, uint64_t received)
{
	if (op != NULL) {
		op->comm = comm;
		op->peer = root == OTF2_COLLECTIVE_ROOT_SELF ? ROOT_PEER :
		    root == OTF2_COLLECTIVE_ROOT_THIS_GROUP ? NULL_PEER : root > INT32_MAX ? NO_PEER : (int32_t)root;
		op->sent = sent;
		op->received = received;
	}
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EVENT(Enter, OTF2_RegionRef region)
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

OTF2_EVENT(Leave, OTF2_RegionRef region)
{
	struct otf2 *o = user;
	struct lane *lane = otf2_lane(o, location);

	(void)attributes;
	if (lane != NULL)
		call_leave(o, lane, time, region);
	return OTF2_CALLBACK_SUCCESS;
}

/* A message as both of its ends tell it: with whom, by what, and how many bytes. */
struct told {
	uint32_t peer, comm, tag;
	uint64_t bytes, request;
};

static OTF2_CallbackCode
take_message(struct operation *op, const struct otf2 *o, bool sends, struct told told)
{
	if (op == NULL)
		return OTF2_CALLBACK_SUCCESS;
	op->comm = otf2_comm(o, o->comm_ids, told.comm);
	op->peer = told.peer > INT32_MAX ? NULL_PEER : (int32_t)told.peer;
	op->tag = told.tag > INT32_MAX ? NO_TAG : (int32_t)told.tag;
	op->sends = sends;
	op->receives = !sends;
	*(sends ? &op->sent : &op->received) = told.bytes;
	op->request = told.request;
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EVENT(MpiSend, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	return take_message(otf2_operation(user, location, PLAIN, attributes), user, true,
	    (struct told){ receiver, comm, tag, bytes, 0 });
}

OTF2_EVENT(MpiIsend, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
	return take_message(otf2_operation(user, location, STARTS, attributes), user, true,
	    (struct told){ receiver, comm, tag, bytes, request });
}

OTF2_EVENT(MpiIrecvRequest, uint64_t request)
{
	struct operation *op = otf2_operation(user, location, STARTS, attributes);

	if (op != NULL) {
		op->receives = true;
		op->peer = ANY_PEER;
		op->tag = ANY_TAG;
		op->request = request;
	}
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EVENT(MpiRecv, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
	return take_message(otf2_operation(user, location, PLAIN, attributes), user, false,
	    (struct told){ sender, comm, tag, bytes, 0 });
}

OTF2_EVENT(MpiIrecv, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
	return take_message(otf2_operation(user, location, COMPLETES, attributes), user, false,
	    (struct told){ sender, comm, tag, bytes, request });
}

/* A send that is done, or a request that was cancelled: nothing more is known of it. */
OTF2_CallbackCode
otf2_completes(OTF2_LocationRef location, void *user, const OTF2_AttributeList *attributes, uint64_t request)
{
	struct operation *op = otf2_operation(user, location, COMPLETES, attributes);

	if (op != NULL)
		op->request = request;
	return OTF2_CALLBACK_SUCCESS;
}

OTF2_EVENT(MpiIsendComplete, uint64_t request)
{
	return otf2_completes(location, user, attributes, request);
}

OTF2_EVENT(MpiRequestCancelled, uint64_t request)
{
	return otf2_completes(location, user, attributes, request);
}

OTF2_EVENT(MpiCollectiveEnd, OTF2_CollectiveOp what MAYBE, OTF2_CommRef comm, uint32_t root, uint64_t sent,
    uint64_t received)
{
	return otf2_collective(otf2_operation(user, location, PLAIN, attributes),
	    otf2_comm(user, ((struct otf2 *)user)->comm_ids, comm), root, sent, received);
}

OTF2_EVENT(NonBlockingCollectiveRequest, uint64_t request)
{
	struct operation *op = otf2_operation(user, location, STARTS, attributes);

	if (op != NULL)
		op->request = request;
	return OTF2_CALLBACK_SUCCESS;
}

/* What it tells is the start's: rows_leave takes it there. */
OTF2_EVENT(NonBlockingCollectiveComplete, OTF2_CollectiveOp what MAYBE, OTF2_CommRef comm, uint32_t root,
    uint64_t sent, uint64_t received, uint64_t request)
{
	struct operation *op = otf2_operation(user, location, COMPLETES, attributes);

	if (op != NULL)
		op->request = request;
	return otf2_collective(op, otf2_comm(user, ((struct otf2 *)user)->comm_ids, comm), root, sent, received);
}

/* A further row of a call that OTF2 has no event for. */
OTF2_EVENT(ParameterUnsignedInt, OTF2_ParameterRef parameter MAYBE, uint64_t value MAYBE)
{
	struct otf2 *o = user;

	if (o->ours && OTF2_AttributeList_GetNumberOfElements(attributes) > 0)
		otf2_operation(user, location, PLAIN, attributes);
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
	TAKE(Enter) TAKE(Leave)
	if (!o->writing)
		return c;	/* for the bounds of the run these are all */
	/* Begins of collectives and tests of requests say nothing that other events do not. */
	TAKE(MpiSend) TAKE(MpiIsend) TAKE(MpiIsendComplete) TAKE(MpiIrecvRequest) TAKE(MpiRecv)
	TAKE(MpiIrecv) TAKE(MpiRequestCancelled)
	TAKE(MpiCollectiveEnd) TAKE(NonBlockingCollectiveRequest) TAKE(NonBlockingCollectiveComplete)
	TAKE(ParameterUnsignedInt)
	otf2_others(c);
	otf2_skip(c);
	return c;
}
