/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows from OTF2's events. When a receive or a collective starts, OTF2 does not give its
 * communicator; its completion does, and in archives of lp-export the start does. So rows wait
 * until all earlier ones are known. Memory holds the rows since the oldest open request, at most
 * MOST_WAITING per location.
 */
#include <stdlib.h>
#include <string.h>

#include "../../base/mpi/call_class.h"
#include "otf2.h"

enum {
	BLOCK = 4096, FEWEST = 64,	/* rows of a location per block */
	IN_FLIGHT = 1 << 18,		/* of all locations */
	MOST_WAITING = 1 << 20,
};

uint64_t
rows_next(const struct lane *lane)
{
	return lane->rows.first + lane->rows.count;
}

/* Writes the first COUNT waiting rows. */
static void
write_rows(struct otf2 *o, struct lane *lane, size_t count)
{
	struct calls *rows = &lane->rows, block = *rows;

	if (count == 0)
		return;
	block.count = count;
	if (calls_write(&o->out, &block) < 0)
		die_output();
	calls_drop(rows, count);
	lane->known -= count < lane->known ? count : lane->known;
	memmove(lane->open, lane->open + count, rows->count * sizeof *lane->open);
}

/* Writes rows up to the first unknown one, keeping a call and its parts together. */
static void
write_known(struct otf2 *o, struct lane *lane)
{
	const struct calls *rows = &lane->rows;
	size_t known;

	if (rows->count >= MOST_WAITING) {
		memset(lane->open, 0, rows->count * sizeof *lane->open);
		lane->open_count = 0;
	}
	if (lane->open_count == 0)
		lane->known = rows->count;
	while (lane->known < rows->count && !lane->open[lane->known])
		lane->known++;
	known = lane->known;
	if (known < rows->count)
		while (known > 0 && rows->call[known] == 0)
			known--;
	if (known >= o->block_rows)
		write_rows(o, lane, known);
}

static void
add_row(struct lane *lane, const struct call_row *row, bool open)
{
	const size_t i = lane->rows.count;

	if (calls_add(&lane->rows, row) < 0)
		die("out of memory");
	GROW(lane->open, lane->open_capacity, i + 1);
	lane->open[i] = open;
	lane->open_count += open;
}

/* ---- requests ---- */

/* The row that began a request. */
struct request {
	uint64_t id;
	/* location and index in lanes of its starter; UNKNOWN: free slot */
	uint32_t lane, at_lane;
	uint64_t seq;
	bool open;		/* its row waits */
};
HASH_TABLE_OF(request_table, struct request, id, lane, lane, UNKNOWN)

void
rows_begin(struct otf2 *o)
{
	o->block_rows = IN_FLIGHT / o->locations;
	o->block_rows = o->block_rows > BLOCK ? BLOCK : o->block_rows < FEWEST ? FEWEST :
	    o->block_rows;
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

/* Completes the start, which may still wait, with the communicator from its completion. */
static void
resolve(struct lane *starter, const struct request *request, const struct operation *op)
{
	struct calls *rows = &starter->rows;
	size_t i = (size_t)(request->seq - rows->first);

	if (!request->open || request->seq < rows->first || !starter->open[i])
		return;
	starter->open[i] = false;
	starter->open_count--;
	if (op->row.comm == 0)
		return;		/* cancelled */
	rows->comm[i] = op->row.comm;
	rows->peer[i] = op->row.peer;
	rows->bytes_received[i] = op->row.bytes_received;
	if (op->receives)
		rows->tag[i] = op->row.tag;
	else
		rows->bytes_sent[i] = op->row.bytes_sent;
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
	resolve(&o->lanes[request->at_lane], request, op);
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
	const uint64_t seq = rows_next(lane);
	struct call_row row = op->what == COMPLETES ? completed_row(o, lane, seq, op) : op->row;
	const bool open = op->what == STARTS && !op->sends && (op->said >> WORD_COMM & 1) == 0;

	row.enter_ns = call->enter_ns;
	row.leave_ns = call->leave_ns;
	row.call = call->call;
	row.site = call->site;
	if (op->what == STARTS) {
		const struct request new = { op->request, lane->location,
		    (uint32_t)(lane - o->lanes), seq, open };

		*request_table_add(o->requests, &new) = new;	/* the id may be used again */
	}
#define X(NAME, field, name, what, type) \
	if (op->said >> WORD_##NAME & 1) \
		row.field = op->as.field;
	OTF2_COLUMNS(X)
#undef X
	add_row(lane, &row, open);
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
		add_row(lane, &row, false);
	}
	if (class == CLASS_START && lane->operation_count > 0 && !starts_are_told(lane)) {
		add_starts(o, lane, row);
		lane->operation_count = 0;
	}
	for (size_t i = 0; i < lane->operation_count; i++, row.call = 0)
		add_operation(o, lane, &row, &lane->operations[i]);
	write_known(o, lane);
}

void
rows_mark(struct otf2 *o, struct lane *lane, const struct call_row *row)
{
	add_row(lane, row, false);
	write_known(o, lane);
}

void
rows_end(struct otf2 *o)
{
	for (size_t i = 0; i < o->lane_count; i++)
		write_rows(o, &o->lanes[i], o->lanes[i].rows.count);
}
