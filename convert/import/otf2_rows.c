/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows from OTF2's events. When a receive or a collective starts, OTF2 does not give its
 * communicator; its completion does, and in archives of lp-export the start does. So rows are
 * written when all have been read.
 */
#include <string.h>

#include "../../base/mpi/call_class.h"
#include "otf2.h"

uint64_t
rows_next(const struct otf2 *o, const struct lane *lane)
{
	return o->build.of[lane->location].rows;
}

/* ---- requests ---- */

/* The row that began a request. */
struct request {
	uint64_t id;
	uint32_t lane;		/* location of its starter; UNKNOWN: free slot */
	uint64_t seq, head;	/* the row, and the row that it is a part of */
	bool open;		/* its communicator is not known */
};
HASH_TABLE_OF(request_table, struct request, id, lane, lane, UNKNOWN)

void
rows_begin(struct otf2 *o)
{
	o->build.trace = true;
	o->build.define_rank = otf2_define_rank;
	o->build.define = otf2_define;
	o->build.context = o;
	o->requests = zalloc(1, sizeof *o->requests);
	request_table_begin(o->requests, 64);
}

/* Another thread of the rank may have started it. */
static struct request *
find_request(struct otf2 *o, const struct lane *lane, uint64_t id)
{
	struct request key = { .id = id, .lane = lane->location };
	struct request *found = request_table_find(o->requests, &key);

	if (found != NULL || o->locations == o->ranks)
		return found;
	key.lane = (uint32_t)lane->rank;
	found = request_table_find(o->requests, &key);
	for (size_t i = 0; found == NULL && i < o->lane_count; i++) {
		key.lane = o->lanes[i].location;
		if (key.lane >= o->ranks && key.lane != UNKNOWN && o->lanes[i].rank == lane->rank)
			found = request_table_find(o->requests, &key);
	}
	return found;
}

bool
request_is_open(struct otf2 *o, const struct lane *lane, uint64_t id)
{
	return find_request(o, lane, id) != NULL;
}

/* Completes the start with the communicator from its completion, unless it was cancelled. */
static void
resolve(struct otf2 *o, const struct request *request, const struct operation *op)
{
	if (request->open && op->row.comm != 0)
		build_patch(&o->build, &(struct build_patch){ .head = request->head,
		    .seq = request->seq, .location = request->lane, .row = op->row,
		    .known = 1 << KNOWN_comm | 1 << KNOWN_peer | 1 << KNOWN_bytes_received |
		    (op->receives ? 1 << KNOWN_tag : 1 << KNOWN_bytes_sent) });
}

/* The row, or part, of a completion, with number SEQ of ROW. */
static struct call_row
completed_row(struct otf2 *o, struct lane *lane, uint64_t seq, const struct operation *op)
{
	struct request *request = find_request(o, lane, op->request);
	struct call_row row = op->receives && request != NULL ? op->row : CALL_ROW;

	if (request == NULL) {
		o->lost_requests++;
		return row;
	}
	resolve(o, request, op);
	if (request->lane == lane->location && seq - request->seq <= UINT32_MAX)
		row.request = (uint32_t)(seq - request->seq);
	else if (request->seq <= UINT32_MAX) {
		row.request = (uint32_t)request->seq;
		row.request_at = request->lane + 1;
	}
	request_table_remove(o->requests, request);
	return row;
}

/* ---- calls ---- */

/* The row of one operation of a call. */
static void
add_operation(struct otf2 *o, struct lane *lane, const struct call_row *call,
    const struct operation *op)
{
	const uint64_t seq = rows_next(o, lane);
	struct call_row row = op->what == COMPLETES ? completed_row(o, lane, seq, op) : op->row;

	row.enter_ns = call->enter_ns;
	row.leave_ns = call->leave_ns;
	row.call = call->call;
	row.site = call->site;
	if (op->what == STARTS) {
		const struct request new = { op->request, lane->location, seq, call->call != 0 ?
		    seq : o->build.of[lane->location].head,
		    !op->sends && (op->said >> WORD_COMM & 1) == 0 };

		*request_table_add(o->requests, &new) = new;	/* the id may be used again */
	}
#define X(NAME, field, name, what, type) \
	if (op->said >> WORD_##NAME & 1) \
		row.field = op->as.field;
	OTF2_COLUMNS(X)
#undef X
	build_row(&o->build, lane->location, &row);
}

/*
 * OTF2 does not say where a persistent request was made. So its start becomes the start of the send
 * or receive itself; further starts take no time.
 */
static void
add_starts(struct otf2 *o, struct lane *lane, struct call_row row)
{
	for (size_t i = 0; i < lane->operation_count; i++) {
		row.call = build_call(lane->operations[i].sends ? "MPI_Isend" : "MPI_Irecv");
		add_operation(o, lane, &row, &lane->operations[i]);
		row.enter_ns = row.leave_ns;
	}
}

/* Only lp-export gives the row that made a persistent request. */
static bool
starts_are_told(const struct lane *lane)
{
	for (size_t i = 0; i < lane->operation_count; i++)
		if (lane->operations[i].said >> WORD_REQUEST & 1)
			return true;
	return false;
}

void
rows_call(struct otf2 *o, struct lane *lane, struct call_row row)
{
	const enum call_class class = call_class(row.call);

	if (lane->operation_count == 0) {
		/* These kinds are matched by their operations: this call had no peer. */
		if (class == CLASS_SEND || class == CLASS_RECV || class == CLASS_SENDRECV ||
		    class == CLASS_SEND_START || class == CLASS_RECV_START)
			row.peer = NULL_PEER;
		build_row(&o->build, lane->location, &row);
	}
	if (class == CLASS_START && lane->operation_count > 0 && !starts_are_told(lane)) {
		add_starts(o, lane, row);
		lane->operation_count = 0;
	}
	for (size_t i = 0; i < lane->operation_count; i++, row.call = 0)
		add_operation(o, lane, &row, &lane->operations[i]);
}
