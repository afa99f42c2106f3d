/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows from OTF2's events. Where a receive or a collective is started, OTF2 does not tell of which
 * communicator it is; its completion does. So rows wait until those before them are known: memory is
 * that of the rows since the oldest open request, MOST_WAITING of a location at most.
 */
#include <stdlib.h>
#include <string.h>

#include "../../base/mpi/call_class.h"
#include "otf2.h"

enum {
	BLOCK = 4096, FEWEST = 64,	/* rows of a location in a block */
	IN_FLIGHT = 1 << 18,		/* of all locations */
	MOST_WAITING = 1 << 20,
	DEEPEST = 64,			/* regions of a stack */
};

struct request {
	uint64_t id;
	uint32_t lane, at_lane;	/* that started it; UNKNOWN: free slot */
	uint64_t seq;
	bool open;		/* its row waits */
};
#define REQUEST_HASH(r) mix((r)->id, (r)->lane)
#define REQUEST_SAME(a, b) ((a)->id == (b)->id && (a)->lane == (b)->lane)
#define REQUEST_FREE(r) ((r)->lane == UNKNOWN)
#define REQUEST_MAKE_FREE(r) ((r)->lane = UNKNOWN)
HASH_TABLE(request_table, struct request, REQUEST_HASH, REQUEST_SAME, REQUEST_FREE, REQUEST_MAKE_FREE,
    HASH_KEEP_ALL, die("out of memory"))

struct node_slot {
	uint32_t parent, region, node;
};
#define NODE_HASH(s) mix((s)->parent, (s)->region)
#define NODE_SAME(a, b) ((a)->parent == (b)->parent && (a)->region == (b)->region)
#define NODE_FREE(s) ((s)->node == UNKNOWN)
#define NODE_MAKE_FREE(s) ((s)->node = UNKNOWN)
HASH_TABLE(node_table, struct node_slot, NODE_HASH, NODE_SAME, NODE_FREE, NODE_MAKE_FREE, HASH_KEEP_ALL,
    die("out of memory"))

static const struct column_type site_type = { 4, false, true, 0 };

/* ---- where the program is ---- */

static uint32_t
node_below(struct otf2 *o, uint32_t parent, uint32_t region)
{
	const struct node_slot slot = { parent, region, (uint32_t)o->node_count };
	const struct node_slot *found = node_table_add(o->node_table, &slot);

	if (found->node < o->node_count)
		return found->node;
	o->nodes = grow(o->nodes, &o->node_capacity, o->node_count + 1, sizeof *o->nodes);
	o->nodes[o->node_count] = (struct node){ parent, region, 0, o->nodes[parent].depth + 1 };
	return (uint32_t)o->node_count++;
}

static void
end_message(struct otf2 *o)
{
	if (message_end(&o->out) < 0)
		die_output();
}

/* A region is a place by its name, file and first line. */
static uint32_t
place_site(struct otf2 *o, struct region *region)
{
	if (region->site != 0)
		return region->site;
	region->site = ++o->sites;
	message_begin(&o->out, "site", region->file != NULL ? 5 : 3);
	put_uint(&o->out, "site", region->site);
	put_uint(&o->out, "offset", 0);
	put_string(&o->out, "function", region->name);
	if (region->file != NULL) {
		put_string(&o->out, "file", region->file);
		put_uint(&o->out, "line", region->line <= INT32_MAX ? region->line : 0);
	}
	end_message(o);
	return region->site;
}

/* The site of calls from a node: its region, or the stack of all regions from there outwards. */
static uint32_t
node_site(struct otf2 *o, uint32_t at)
{
	uint32_t frames[DEEPEST], depth = 0;

	if (at == 0)
		return 0;
	if (o->nodes[at].site != 0)
		return o->nodes[at].site;
	for (uint32_t n = at; n != 0; n = o->nodes[n].parent)
		frames[depth++] = place_site(o, &o->regions[o->nodes[n].region]);
	if (depth == 1)
		return o->nodes[at].site = frames[0];
	o->nodes[at].site = ++o->sites;
	message_begin(&o->out, "site", 3);
	put_uint(&o->out, "site", o->nodes[at].site);
	put_uint(&o->out, "count", depth);
	put_column(&o->out, "stack", site_type, frames, depth);
	end_message(o);
	return o->nodes[at].site;
}

/* ---- rows ---- */

void
rows_begin(struct otf2 *o)
{
	o->nodes = grow(o->nodes, &o->node_capacity, 1, sizeof *o->nodes);
	o->nodes[0] = (struct node){ UNKNOWN, UNKNOWN, 0, 0 };
	o->node_count = 1;
	o->node_table = zalloc(1, sizeof *o->node_table);
	node_table_begin(o->node_table, 64);
	o->requests = zalloc(1, sizeof *o->requests);
	request_table_begin(o->requests, 64);
	o->block_rows = IN_FLIGHT / o->locations;
	o->block_rows = o->block_rows > BLOCK ? BLOCK : o->block_rows < FEWEST ? FEWEST : o->block_rows;
	for (size_t i = 0; i < o->lane_count; i++) {
		struct lane *lane = &o->lanes[i];

		lane->node = 0;
		lane->depth = 0;
		lane->in_mpi = lane->skipped = 0;
		lane->rows.location = lane->location;
	}
}

struct operation *
rows_operation(struct lane *lane)
{
	struct operation *op;

	if (lane->in_mpi == 0)
		return NULL;
	lane->operations = grow(lane->operations, &lane->operation_capacity, lane->operation_count + 1,
	    sizeof *lane->operations);
	op = &lane->operations[lane->operation_count++];
	*op = (struct operation){ .peer = NO_PEER, .tag = NO_TAG };
	return op;
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
	size_t known = 0;

	if (lane->open_count == 0)
		known = rows->count;
	else if (rows->count >= MOST_WAITING) {
		memset(lane->open, 0, rows->count * sizeof *lane->open);
		lane->open_count = 0;
		known = rows->count;
	} else
		while (!lane->open[known])
			known++;
	if (known < rows->count)
		while (known > 0 && rows->call[known] == 0)
			known--;
	if (known >= o->block_rows)
		write_rows(o, lane, known);
}

static uint64_t
add_row(struct otf2 *o, struct lane *lane, const struct build_row *row, uint32_t site, bool open)
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
	(void)o;
	return rows->first + rows->count++;
}

/* The request of an operation, which another thread of the rank may have started. */
static struct request *
find_request(struct otf2 *o, const struct lane *lane, uint64_t id)
{
	struct request key = { .id = id, .lane = lane->location };
	struct request *found = request_table_find(o->requests, &key);

	if (found == NULL && lane->location >= o->ranks) {
		key.lane = (uint32_t)lane->rank;
		found = request_table_find(o->requests, &key);
	}
	return found;
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
	struct request *request = find_request(o, lane, op->request);

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
	request_table_remove(o->requests, request);
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
		struct request new = { op->request, lane->location, (uint32_t)(lane - o->lanes), seq,
		    !op->sends };
		struct request *slot = request_table_add(o->requests, &new);

		*slot = new;	/* the id may be used again */
		open = !op->sends;
	}
	add_row(o, lane, &row, site, open);
	if (at_lane != UNKNOWN)
		lane->rows.request_at[lane->rows.count - 1] = (uint32_t)at_lane + 1;
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

/* The row of MPI_Sendrecv is its send, also where that goes nowhere. */
static void
order_sendrecv(struct lane *lane)
{
	struct operation *op = lane->operations;

	if (lane->operation_count == 1 && op[0].receives) {
		rows_operation(lane);
		op = lane->operations;
		op[1].peer = NULL_PEER;
	}
	if (lane->operation_count == 2 && op[0].receives && !op[1].receives) {
		const struct operation send = op[1];

		op[1] = op[0];
		op[0] = send;
	}
}

static void
add_call(struct otf2 *o, struct lane *lane, int64_t leave_ns)
{
	const uint16_t call = o->regions[lane->region].call;
	const uint32_t site = node_site(o, lane->node);
	struct build_row row = BUILD_ROW;

	row.enter_ns = lane->enter_ns;
	row.leave_ns = leave_ns;
	row.call = call;
	if (call_class(call) == CLASS_SENDRECV)
		order_sendrecv(lane);
	if (lane->operation_count == 0) {
		/* Of the kinds that are matched by what they do, this one went to nobody. */
		enum call_class class = call_class(call);

		if (class == CLASS_SEND || class == CLASS_RECV || class == CLASS_SENDRECV ||
		    class == CLASS_SEND_START || class == CLASS_RECV_START)
			row.peer = NULL_PEER;
		add_row(o, lane, &row, site, false);
	}
	if (call_class(call) == CLASS_START && lane->operation_count > 0) {
		add_starts(o, lane, row, site);
		lane->operation_count = 0;
	}
	for (size_t i = 0; i < lane->operation_count; i++) {
		row.call = i == 0 ? call : 0;
		add_operation(o, lane, row, &lane->operations[i], site);
	}
	write_known(o, lane);
}

/* ---- enter and leave ---- */

void
rows_enter(struct otf2 *o, struct lane *lane, uint64_t ticks, uint32_t id)
{
	uint32_t at = ids_find_at(o->region_ids, id);
	const struct region *region = at != UNKNOWN ? &o->regions[at] : NULL;

	if (region == NULL)
		return;
	if (region->mpi) {
		if (lane->in_mpi++ > 0)
			return;
		lane->region = at;
		lane->operation_count = 0;
		if (!o->writing) {
			if (region->call != 0 && (!o->any || ticks < o->origin))
				o->origin = ticks;
			o->any |= region->call != 0;
			o->used[region->call] = true;
			if (call_class(region->call) == CLASS_START)
				o->used[build_call("MPI_Isend")] = o->used[build_call("MPI_Irecv")] = true;
			return;
		}
		lane->enter_ns = otf2_ns(o, ticks);
		return;
	}
	if (!o->writing || lane->in_mpi > 0)
		return;
	if (lane->depth == DEEPEST) {
		lane->skipped++;
		return;
	}
	lane->outer = grow(lane->outer, &lane->outer_capacity, lane->depth + 1, sizeof *lane->outer);
	lane->outer[lane->depth++] = lane->node;
	lane->node = node_below(o, lane->node, at);
}

void
rows_leave(struct otf2 *o, struct lane *lane, uint64_t ticks, uint32_t id)
{
	uint32_t at = ids_find_at(o->region_ids, id);
	const struct region *region = at != UNKNOWN ? &o->regions[at] : NULL;
	int64_t leave_ns;

	if (region == NULL)
		return;
	if (!region->mpi) {
		if (!o->writing || lane->in_mpi > 0)
			return;
		if (lane->skipped > 0)
			lane->skipped--;
		else if (lane->depth > 0)
			lane->node = lane->outer[--lane->depth];
		return;
	}
	if (lane->in_mpi == 0 || --lane->in_mpi > 0 || o->regions[lane->region].call == 0)
		return;
	if (!o->writing) {
		if (ticks > o->last)
			o->last = ticks;
		return;
	}
	leave_ns = otf2_ns(o, ticks);
	if (lane->enter_ns < lane->last_leave_ns || leave_ns < lane->enter_ns)
		o->backward++;
	if (lane->enter_ns < lane->last_leave_ns)
		lane->enter_ns = lane->last_leave_ns;
	if (leave_ns < lane->enter_ns)
		leave_ns = lane->enter_ns;
	lane->last_leave_ns = leave_ns;
	add_call(o, lane, leave_ns);
}

void
rows_end(struct otf2 *o)
{
	for (size_t i = 0; i < o->lane_count; i++)
		write_rows(o, &o->lanes[i], o->lanes[i].rows.count);
}
