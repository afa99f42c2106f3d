/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows from OTF2's events. When a receive or a collective starts, OTF2 does not give its
 * communicator; its completion does, and in archives of lp-export the start does. So rows are
 * written when all have been read.
 */
#include <stdlib.h>
#include <string.h>

#include "otf2.h"

static uint64_t
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
}

/* Another thread of the rank may have started it. */
static struct request *
find_request(struct otf2 *o, const struct lane *lane, uint64_t id)
{
	struct request key = { .id = id, .lane = lane->location };
	struct request *found = request_table_find(o->requests, &key);
	const struct build *b = &o->build;
	const uint32_t rank = b->of[lane->location].rank;

	if (found != NULL || b->locations == b->ranks)
		return found;
	key.lane = rank;
	found = request_table_find(o->requests, &key);
	for (uint32_t l = b->ranks; found == NULL && l < b->locations; l++)
		if (b->of[l].rank == rank) {
			key.lane = l;
			found = request_table_find(o->requests, &key);
		}
	return found;
}

bool
request_is_open(struct otf2 *o, const struct lane *lane, uint64_t id)
{
	return find_request(o, lane, id) != NULL;
}

/* The row, or part, of a completion. The start gets its communicator, unless it was cancelled. */
static struct call_row
completed_row(struct otf2 *o, struct lane *lane, uint64_t seq, const struct operation *op)
{
	struct request *request = find_request(o, lane, op->request);
	struct call_row row = op->receives && request != NULL ? op->row : CALL_ROW;

	if (request == NULL) {
		o->lost_requests++;
		return row;
	}
	if (request->open && op->row.comm != 0)
		build_patch(&o->build, &(struct build_patch){ .head = request->head,
		    .seq = request->seq, .location = request->lane, .row = op->row,
		    .known = 1 << KNOWN_comm | 1 << KNOWN_peer | 1 << KNOWN_bytes_received |
		    (op->receives ? 1 << KNOWN_tag : 1 << KNOWN_bytes_sent) });
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

		*request_table_add(&o->requests, &new) = new;	/* the id may be used again */
	}
#define X(NAME, field, name, what, type) \
	if (op->said >> WORD_##NAME & 1) \
		row.field = op->as.field;
	OTF2_COLUMNS(X)
#undef X
	build_row(&o->build, lane->location, &row);
}

struct operation *
call_operation(struct lane *lane)
{
	struct operation *op;

	if (lane->in_mpi == 0)
		return NULL;
	op = APPEND(lane->operations, lane->operation_count, lane->operation_capacity);
	*op = (struct operation){ .row = CALL_ROW };
	return op;
}

bool
call_has_request(const struct otf2 *o, const struct lane *lane)
{
	const uint16_t call = lane->in_mpi > 0 ? o->regions[lane->region].call : 0;

	return call_class(call) == CLASS_RMA && call_starts(call);
}

/* ---- epochs ---- */

/* An epoch of general active target synchronisation: the rows that opened it. */
struct epoch {
	uint32_t window, count;
	uint64_t seq;
	bool exposure;
};

static struct epoch *
find_epoch(struct lane *lane, uint32_t window, bool exposure)
{
	for (size_t i = 0; i < lane->epoch_count; i++)
		if (lane->epochs[i].window == window && lane->epochs[i].exposure == exposure)
			return &lane->epochs[i];
	return NULL;
}

/* Adds a row for each rank of the group, with its rank in the window. */
static void
open_epoch(struct otf2 *o, struct lane *lane, uint32_t window, uint64_t group, bool exposure)
{
	uint32_t count = 0, all = 0, base = UNKNOWN;
	int32_t *members = otf2_members(o, group, &count), *of_window = NULL;
	struct epoch *epoch = find_epoch(lane, window, exposure);

	for (size_t i = 0; i < o->comm_count; i++)
		if (o->comms[i].window && o->comms[i].comm == window)
			base = ids_find(o, ID_COMM, o->comms[i].parent);
	if (base != UNKNOWN)
		of_window = otf2_members(o, o->comms[base].group, &all);
	if (epoch == NULL)
		epoch = APPEND(lane->epochs, lane->epoch_count, lane->epoch_capacity);
	*epoch = (struct epoch){ window, count, rows_next(o, lane) + lane->operation_count,
	    exposure };
	for (uint32_t i = 0; i < count; i++) {
		struct operation *op = call_operation(lane);

		op->row.comm = window;
		for (uint32_t r = 0; r < all && op->row.peer == NO_PEER; r++)
			if (of_window[r] == members[i])
				op->row.peer = (int32_t)r;
	}
	free(members);
	free(of_window);
}

/* Adds a row for each row that opened it. */
static void
close_epoch(const struct otf2 *o, struct lane *lane, uint32_t window, bool exposure)
{
	struct epoch *epoch = find_epoch(lane, window, exposure);
	const struct epoch was = epoch != NULL ? *epoch : (struct epoch){ .count = 0 };

	if (epoch != NULL)
		*epoch = lane->epochs[--lane->epoch_count];
	for (uint32_t i = 0; i < (was.count > 0 ? was.count : 1); i++) {
		const uint64_t seq = rows_next(o, lane) + lane->operation_count;
		struct operation *op = call_operation(lane);

		op->row.comm = window;
		if (was.count > 0 && seq - (was.seq + i) <= UINT32_MAX) {
			op->said |= 1u << WORD_REQUEST;
			op->as.request = (uint32_t)(seq - (was.seq + i));
		}
	}
}

void
call_epoch(struct otf2 *o, struct lane *lane, uint32_t window, uint64_t group)
{
	const enum call_class class = lane->in_mpi > 0 ?
	    call_class(o->regions[lane->region].call) : CLASS_LOCAL;

	if (class == CLASS_POST || class == CLASS_ACCESS)
		open_epoch(o, lane, window, group, class == CLASS_POST);
	else if (class == CLASS_EXPOSE_END || class == CLASS_ACCESS_END)
		close_epoch(o, lane, window, class == CLASS_EXPOSE_END);
	else if (lane->in_mpi > 0 && lane->operation_count == 0)
		call_operation(lane)->row.comm = window;
	else if (lane->in_mpi == 0)
		o->outside++;
}

/* The row of MPI_Sendrecv is its send, even to MPI_PROC_NULL. */
static void
order_sendrecv(struct lane *lane)
{
	struct operation *op = lane->operations;

	if (lane->operation_count == 1 && op[0].receives) {
		call_operation(lane);
		op = lane->operations;
		op[1].row.peer = NULL_PEER;
	}
	if (lane->operation_count == 2 && op[0].receives && !op[1].receives) {
		const struct operation send = op[1];

		op[1] = op[0];
		op[0] = send;
	}
}

/*
 * OTF2 does not say where a persistent request was made, but lp-export does. So its start becomes
 * the start of the send or receive itself; further starts take no time.
 */
static void
put_call(struct otf2 *o, struct lane *lane, int64_t leave_ns)
{
	const uint16_t call = o->regions[lane->region].call;
	const enum call_class class = call_class(call);
	bool starts = class == CLASS_START;
	struct call_row row = CALL_ROW;

	row.enter_ns = lane->enter_ns;
	row.leave_ns = leave_ns;
	row.call = call;
	row.comm = lane->made_from;	/* unless we know more */
	row.site = site_of_call(o, lane->node, lane->region);
	if (class == CLASS_SENDRECV)
		order_sendrecv(lane);
	if (lane->operation_count == 0) {
		/* These kinds are matched by their operations: this call had no peer. */
		if (class >= CLASS_SEND && class <= CLASS_RECV_START)
			row.peer = NULL_PEER;
		build_row(&o->build, lane->location, &row);
	}
	for (size_t i = 0; i < lane->operation_count; i++)
		starts &= (lane->operations[i].said >> WORD_REQUEST & 1) == 0;
	for (size_t i = 0; i < lane->operation_count; i++) {
		const struct operation *op = &lane->operations[i];

		if (starts)
			row.call = build_call(op->sends ? "MPI_Isend" : "MPI_Irecv");
		add_operation(o, lane, &row, op);
		if (starts)
			row.enter_ns = row.leave_ns;
		else
			row.call = 0;
	}
}

/* ---- enter and leave: MPI calls, the frames around them, and regions that the user named ---- */

/* The number of a name in the trace: regions with the same name are one. */
static uint32_t
number_of(struct otf2 *o, struct region *region)
{
	for (size_t n = 0; region->number == 0 && n < o->name_count; n++)
		if (strcmp(o->names[n], region->name) == 0)
			region->number = (uint32_t)n + 1;
	if (region->number == 0) {
		*APPEND(o->names, o->name_count, o->name_capacity) = region->name;
		region->number = (uint32_t)o->name_count;
	}
	return region->number;
}

/* What comes before the run's first call counts as at its enter. */
static void
mark_region(struct otf2 *o, const struct lane *lane, uint64_t ticks, uint32_t number)
{
	const int64_t at_ns = o->any || o->ours ? otf2_ns(o, ticks) : 0;

	build_region(&o->build, lane->location, at_ns > 0 ? at_ns : 0, number);
}

void
call_enter(struct otf2 *o, struct lane *lane, uint64_t ticks, uint32_t id)
{
	uint32_t at = ids_find(o, ID_REGION, id);
	struct region *region = at != UNKNOWN ? &o->regions[at] : NULL;

	if (region == NULL)
		return;
	if (region->mpi) {
		if (lane->in_mpi++ > 0)
			return;
		lane->region = at;
		lane->operation_count = 0;
		lane->made_from = 0;
		if (region->call != 0 && !o->any && !o->ours)
			o->origin = ticks;
		o->any |= region->call != 0;
		lane->enter_ns = otf2_ns(o, ticks);
		return;
	}
	if (lane->in_mpi > 0)
		return;
	if (region->phase && o->ours) {	/* of lp-export: not a frame */
		mark_region(o, lane, ticks, number_of(o, region));
		return;
	}
	if (o->nodes[lane->node].depth == DEEPEST) {
		lane->skipped++;
		return;
	}
	lane->node = site_below(o, lane->node, at);
	if (region->phase)
		mark_region(o, lane, ticks, number_of(o, region));
}

void
call_leave(struct otf2 *o, struct lane *lane, uint64_t ticks, uint32_t id)
{
	uint32_t at = ids_find(o, ID_REGION, id);
	const struct region *region = at != UNKNOWN ? &o->regions[at] : NULL;
	int64_t leave_ns;

	if (region == NULL)
		return;
	if (!region->mpi) {
		if (lane->in_mpi > 0)
			return;
		if (region->phase && o->ours)
			mark_region(o, lane, ticks, 0);
		else if (lane->skipped > 0)
			lane->skipped--;
		else if (lane->node != 0) {
			if (region->phase)
				mark_region(o, lane, ticks, 0);
			lane->node = o->nodes[lane->node].parent;
		}
		return;
	}
	if (lane->in_mpi == 0 || --lane->in_mpi > 0 || o->regions[lane->region].call == 0)
		return;
	leave_ns = otf2_ns(o, ticks);
	if (lane->enter_ns < lane->last_leave_ns || leave_ns < lane->enter_ns)
		o->backward++;
	lane->enter_ns = larger(lane->enter_ns, lane->last_leave_ns);
	lane->last_leave_ns = larger(leave_ns, lane->enter_ns);
	put_call(o, lane, lane->last_leave_ns);
}
