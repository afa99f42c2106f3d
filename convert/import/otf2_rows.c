/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows from OTF2's events. Where a receive or a collective is started, OTF2 does not tell of which
 * communicator it is; its completion does, and lp-export at once. So rows wait until those before them
 * are known: memory is that of the rows since the oldest open request, MOST_WAITING of a location at most.
 */
#include <stdlib.h>
#include <string.h>

#include "../../base/mpi/call_class.h"
#include "otf2.h"

enum {
	BLOCK = 4096, FEWEST = 64,	/* rows of a location in a block */
	IN_FLIGHT = 1 << 18,		/* of all locations */
	MOST_WAITING = 1 << 20,
};

void
rows_begin(struct otf2 *o)
{
	o->block_rows = IN_FLIGHT / o->locations;
	o->block_rows = o->block_rows > BLOCK ? BLOCK : o->block_rows < FEWEST ? FEWEST : o->block_rows;
}

uint64_t
rows_next(const struct lane *lane)
{
	return lane->rows.first + lane->rows.count;
}

/* Writes the first COUNT rows that wait. */
static void
write_rows(struct otf2 *o, struct lane *lane, size_t count)
{
	struct calls *rows = &lane->rows, block = *rows;

	if (count == 0)
		return;
	block.count = count;
	if (calls_write(&o->out, &block) < 0)
		die_output();
	rows->first += count;
	rows->count -= count;
	lane->known -= count < lane->known ? count : lane->known;
#define MOVE(field) memmove(rows->field, rows->field + count, rows->count * sizeof *rows->field);
	MOVE(enter_ns)
	MOVE(leave_ns)
#define X(field, key, type, is_signed, required, absent) MOVE(field)
	CALL_COLUMNS(X)
#undef X
	memmove(lane->open, lane->open + count, rows->count * sizeof *lane->open);
}

/* Rows up to the first that is not known, a call and its parts together. */
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

static uint64_t
add_row(struct lane *lane, const struct build_row *row, uint32_t site, bool open)
{
	struct calls *rows = &lane->rows;
	size_t i = rows->count;

	if (i == rows->capacity && calls_reserve(rows, i > 0 ? 2 * i : 64) < 0)
		die("out of memory");
	lane->open = grow(lane->open, &lane->open_capacity, i + 1, sizeof *lane->open);
	rows->enter_ns[i] = row->enter_ns;
	rows->leave_ns[i] = row->leave_ns;
	rows->call[i] = row->call;
	rows->site[i] = site;
	rows->comm[i] = row->comm;
	rows->peer[i] = row->peer;
	rows->tag[i] = row->tag;
	rows->bytes_sent[i] = row->bytes_sent;
	rows->bytes_received[i] = row->bytes_received;
	rows->request[i] = row->request;
	rows->request_at[i] = rows->folded[i] = 0;
	lane->open[i] = open;
	lane->open_count += open;
	return rows->first + rows->count++;
}

/* What a completion tells of the start, which may still wait for it. */
static void
resolve(struct lane *starter, const struct request *request, const struct operation *op, bool collective)
{
	struct calls *rows = &starter->rows;
	size_t i = (size_t)(request->seq - rows->first);

	if (!request->open || request->seq < rows->first || !starter->open[i])
		return;
	starter->open[i] = false;
	starter->open_count--;
	if (op->comm == 0)
		return;		/* cancelled */
	rows->comm[i] = op->comm;
	rows->peer[i] = op->peer;
	rows->bytes_received[i] = op->received;
	if (collective)
		rows->bytes_sent[i] = op->sent;
	else
		rows->tag[i] = op->tag;
}

/* The row, or part, of a completion. */
static void
complete(struct otf2 *o, struct lane *lane, struct build_row *row, uint64_t seq, size_t *at_lane,
    const struct operation *op)
{
	struct request *request = request_find(o, lane, op->request);

	*at_lane = UNKNOWN;
	row->comm = 0;
	row->peer = NO_PEER;
	if (request == NULL) {
		o->lost_requests++;
		return;
	}
	resolve(&o->lanes[request->at_lane], request, op, !op->receives);
	if (op->receives) {
		row->comm = op->comm;
		row->peer = op->peer;
		row->tag = op->tag;
		row->bytes_received = op->received;
	}
	if (request->lane == lane->location && seq - request->seq <= UINT32_MAX)
		row->request = (uint32_t)(seq - request->seq);
	else if (request->seq <= UINT32_MAX) {
		row->request = (uint32_t)request->seq;
		*at_lane = request->lane;
	}
	request_end(o, request);
}

/* What attributes say of the last row holds. */
static void
obey(struct lane *lane, const struct operation *op)
{
	struct calls *rows = &lane->rows;
	const size_t i = rows->count - 1;

#define SAY(WORD, column, field) \
	if (op->said >> WORD_##WORD & 1) \
		rows->column[i] = op->as.field;
	SAY(COMM, comm, comm) SAY(PEER, peer, peer) SAY(TAG, tag, tag) SAY(SENT, bytes_sent, sent)
	SAY(RECEIVED, bytes_received, received) SAY(REQUEST, request, request)
	SAY(REQUEST_AT, request_at, request_at) SAY(FOLDED, folded, folded)
#undef SAY
}

/* The rows of one operation of a call. */
static void
add_operation(struct otf2 *o, struct lane *lane, struct build_row row, const struct operation *op,
    uint32_t site)
{
	const uint64_t seq = lane->rows.first + lane->rows.count;
	size_t at_lane = UNKNOWN;
	bool open = false;

	row.comm = op->comm;
	row.peer = op->peer;
	row.tag = op->tag;
	row.bytes_sent = op->sent;
	row.bytes_received = op->received;
	if (op->kind == COMPLETES) {
		row.bytes_sent = row.bytes_received = 0;
		row.tag = NO_TAG;
		complete(o, lane, &row, seq, &at_lane, op);
	}
	if (op->kind == STARTS) {
		open = !op->sends && (op->said >> WORD_COMM & 1) == 0;
		request_start(o, lane, op->request, seq, open);
	}
	add_row(lane, &row, site, open);
	if (at_lane != UNKNOWN)
		lane->rows.request_at[lane->rows.count - 1] = (uint32_t)at_lane + 1;
	if (op->said != 0)
		obey(lane, op);
}

/*
 * A start of a persistent request has no row to refer to, for OTF2 does not tell where that was made: it
 * becomes the start of what it sends or receives, and those behind the first take no time.
 */
static void
add_starts(struct otf2 *o, struct lane *lane, struct build_row row, uint32_t site)
{
	for (size_t i = 0; i < lane->operation_count; i++) {
		row.call = build_call(lane->operations[i].sends ? "MPI_Isend" : "MPI_Irecv");
		add_operation(o, lane, row, &lane->operations[i], site);
		row.enter_ns = row.leave_ns;
	}
}

/* A persistent request refers to where it was made, which only lp-export tells. */
static bool
starts_are_told(const struct lane *lane)
{
	for (size_t i = 0; i < lane->operation_count; i++)
		if (lane->operations[i].said >> WORD_REQUEST & 1)
			return true;
	return false;
}

void
rows_call(struct otf2 *o, struct lane *lane, struct build_row row, uint32_t site)
{
	const uint16_t call = row.call;
	const enum call_class class = call_class(call);

	if (lane->operation_count == 0) {
		/* Of the kinds that are matched by what they do, this one went to nobody. */
		if (class == CLASS_SEND || class == CLASS_RECV || class == CLASS_SENDRECV ||
		    class == CLASS_SEND_START || class == CLASS_RECV_START)
			row.peer = NULL_PEER;
		add_row(lane, &row, site, false);
	}
	if (class == CLASS_START && lane->operation_count > 0 && !starts_are_told(lane)) {
		add_starts(o, lane, row, site);
		lane->operation_count = 0;
	}
	for (size_t i = 0; i < lane->operation_count; i++) {
		row.call = i == 0 ? call : 0;
		add_operation(o, lane, row, &lane->operations[i], site);
	}
	write_known(o, lane);
}

void
rows_mark(struct otf2 *o, struct lane *lane, const struct build_row *row, uint32_t site)
{
	add_row(lane, row, site, false);
	write_known(o, lane);
}

void
rows_end(struct otf2 *o)
{
	for (size_t i = 0; i < o->lane_count; i++)
		write_rows(o, &o->lanes[i], o->lanes[i].rows.count);
}
