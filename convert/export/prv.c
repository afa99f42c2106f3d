/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paraver: .prv with the records in order of time, .pcf with names for their values, .row with the
 * names of processors, nodes and threads. Only measured times are written: the physical times of a
 * message are the begin of its send and the end of its receive.
 *
 * A record can be written once nothing earlier can follow: all locations, their edges and, if
 * present, the critical path have been read up to its time.
 *
 * memory rows to which edges may still come, and those after the location that is furthest behind
 */
#include <errno.h>
#include <string.h>

#include "../../base/tool/heap.h"
#include "prv.h"

/* ---- records in order of time; at one time the path and messages come last ---- */

#define SOONER(a, b) \
	((a)->at_ns < (b)->at_ns || ((a)->at_ns == (b)->at_ns && (a)->queue < (b)->queue))
HEAP(next, struct next, SOONER)
#define SENT_BEFORE(a, b) \
	((a)->at_ns < (b)->at_ns || ((a)->at_ns == (b)->at_ns && (a)->order < (b)->order))
HEAP(sent, struct sent, SENT_BEFORE)

static void
line_add(struct output *o, uint32_t number, const struct line *line)
{
	struct queue *q = &o->queues[number];

	*ENQUEUE(q->at, q->begin, q->end, q->capacity) = *line;
	if (q->end - q->begin == 1)
		next_push(o->heap, &o->heap_count, (struct next){ line->at_ns, number });
}

/* ---- records ---- */

static void
put_number(struct output *o, uint64_t value)
{
	text_char(&o->text, ':');
	text_uint(&o->text, value);
}

static void
put_event(struct output *o, uint64_t type, uint64_t value)
{
	put_number(o, type);
	put_number(o, value);
}

/* CPU:1:TASK:THREAD, all from 1. Each rank has its own CPU. */
static void
put_object(struct output *o, uint32_t location)
{
	const uint32_t rank = (uint32_t)o->known->location_rank[location];

	text_uint(&o->text, rank + (uint64_t)1);
	text_bytes(&o->text, ":1", 2);
	put_number(o, rank + (uint64_t)1);
	put_number(o, o->known->location_thread[location] + (uint64_t)1);
}

/* The call's location: its own place is level 1. */
static void
put_callers(struct output *o, uint32_t site)
{
	uint32_t frames[PLACES];
	const size_t depth = site_frames(o->known, site, frames);

	for (size_t level = 1; level <= depth && level <= MOST_LEVELS; level++) {
		const uint32_t place = frames[depth - level];

		*AT(o->placed, o->placed_capacity, place) = true;
		o->levels = level > o->levels ? level : o->levels;
		put_event(o, CALLER + level, CALLER_VALUES + (uint64_t)place);
		put_event(o, CALLER_LINE + level, CALLER_VALUES + (uint64_t)place);
	}
}

static void
put_line(struct output *o, const struct line *line)
{
	text_put(&o->text, line->kind == LINE_STATE ? "1:" : "2:");
	put_object(o, line->location);
	put_number(o, (uint64_t)line->at_ns);
	if (line->kind == LINE_STATE)
		put_number(o, (uint64_t)line->end_ns);
	else
		put_number(o, line->type);
	if (line->kind == LINE_EVENT) {		/* a user's value may be negative */
		text_char(&o->text, ':');
		text_int(&o->text, (int32_t)line->value);
	} else
		put_number(o, line->value);
	if (line->kind == LINE_ENTER && line->comm != 0) {
		if (line->sent > 0)
			put_event(o, PARAVER_SEND_BYTES, line->sent);
		if (line->received > 0)
			put_event(o, PARAVER_RECEIVE_BYTES, line->received);
		if (line->root)
			put_event(o, PARAVER_ROOT, 1);
		put_event(o, PARAVER_COMM, line->comm);
	}
	if (line->kind == LINE_ENTER)
		put_callers(o, line->site);
	text_char(&o->text, '\n');
}

/* Logical times are those of the calls that send and that post the receive. */
static void
put_message(struct output *o, const struct sent *m)
{
	text_put(&o->text, "3:");
	put_object(o, m->source);
	put_number(o, (uint64_t)m->at_ns);
	put_number(o, (uint64_t)m->at_ns);
	text_char(&o->text, ':');
	put_object(o, m->target);
	put_number(o, (uint64_t)m->post_ns);
	put_number(o, (uint64_t)m->received_ns);
	put_number(o, m->bytes);
	put_number(o, (uint64_t)(m->tag >= 0 ? m->tag : 0));
	text_char(&o->text, '\n');
}

static void
lines_until(struct output *o, int64_t limit_ns)
{
	for (;;) {
		const bool line = o->heap_count > 0 && o->heap[0].at_ns < limit_ns;
		const bool message = o->message_count > 0 && o->messages[0].at_ns < limit_ns;

		if (!line && !message)
			return;
		if (message && (!line || o->messages[0].at_ns < o->heap[0].at_ns)) {
			const struct sent m = sent_pop(o->messages, &o->message_count);

			put_message(o, &m);
		} else {
			struct queue *q = &o->queues[o->heap[0].queue];

			put_line(o, &q->at[q->begin++]);
			if (q->begin < q->end)
				o->heap[0].at_ns = q->at[q->begin].at_ns;
			else {
				q->begin = q->end = 0;
				o->heap[0] = o->heap[--o->heap_count];
			}
			if (o->heap_count > 0)
				next_down(o->heap, o->heap_count, 0);
		}
	}
}

static struct code
code_of(uint16_t call)
{
	const char *name = call_name(call);

#define PARAVER_CALL(type, value, text) \
	if (strcmp(name, text) == 0) \
		return (struct code){ PARAVER_TYPE + type, value };
	PARAVER_CALLS
#undef PARAVER_CALL
	if (strncmp(name, "MPI", 3) != 0)
		return (struct code){ 0, 0 };
	return (struct code){ PARAVER_TYPE + 3, (uint32_t)OTHER_VALUES + call };
}

/* The states that Extrae gives to calls. */
static int
state_of(uint16_t call)
{
	const char *name = call_name(call);

	switch (call_class(call)) {
	case CLASS_SEND: return 4;
	case CLASS_RECV: return 3;
	case CLASS_SENDRECV: return 16;
	case CLASS_SEND_START: return 10;
	case CLASS_RECV_START: return 11;
	case CLASS_COMPLETE: return strncmp(name, "MPI_Test", 8) == 0 ? 6 : 8;
	case CLASS_PROBE: return 6;
	case CLASS_IO: case CLASS_FILE: case CLASS_FILE_START: return 12;
	case CLASS_RMA: return 20;
	case CLASS_BARRIER: case CLASS_ALL_TO_ALL: case CLASS_ONE_TO_ALL: case CLASS_ALL_TO_ONE:
	case CLASS_SCAN: case CLASS_NEIGHBOUR: return 13;
	default: return 15;
	}
}

/* ---- lines ---- */

static void
add_state(struct output *o, uint32_t location, int64_t begin_ns, int64_t end_ns, int state)
{
	if (end_ns > begin_ns)
		line_add(o, location, &(struct line){ .kind = LINE_STATE, .at_ns = begin_ns,
		    .end_ns = end_ns, .value = (uint32_t)state, .location = location });
}

static void
add_call(struct output *o, uint32_t location, const struct kept_row *call)
{
	const struct row *row = &call->row;
	const int32_t rank = o->known->location_rank[location];
	struct line line = { .location = location, .at_ns = row->enter_ns };

	if (o->codes[row->call].type == 0)
		o->codes[row->call] = code_of(row->call);
	add_state(o, location, o->left_ns[location], row->enter_ns, 1);
	o->left_ns[location] = row->leave_ns;
	line.type = o->codes[row->call].type;
	if (line.type == 0) {		/* an event, or the end of the rank */
		if (call->tag == NO_TAG)
			return;		/* it only ends a burst */
		line.kind = LINE_EVENT;
		line.type = (uint32_t)call->tag;
		line.value = (uint32_t)row->peer;
		line_add(o, location, &line);
		return;
	}
	add_state(o, location, row->enter_ns, row->leave_ns, state_of(row->call));
	line.kind = LINE_ENTER;
	line.value = o->codes[row->call].value;
	line.site = row->site;
	if (line.type == PARAVER_TYPE + 2 && row->comm != 0 && row->comm != 2) {
		line.comm = row->comm;
		line.sent = call->sent;
		line.received = call->received;
		line.root = row->peer == ROOT_PEER || (row->peer >= 0 &&
		    world_rank(o->known, row->comm, rank, row->peer) == rank);
	}
	line_add(o, location, &line);
	line_add(o, location, &(struct line){ .kind = LINE_LEAVE, .at_ns = row->leave_ns,
	    .type = line.type, .location = location });
}

/* ---- reading ---- */

static void
begin_records(struct output *o)
{
	if (o->begun)
		return;
	o->begun = true;
	find_nodes(o);
	put_header(o->file.file, o);
}

/* When the receive that this row completes was posted; the row's own enter if there was no post. */
static int64_t
posted_ns(const struct output *o, uint32_t location, uint64_t seq, const struct kept_row *receive)
{
	const uint64_t post = seq - receive->row.request;
	const struct kept_row *row;

	if (receive->row.request == 0 || receive->row.request_at != 0 ||
	    receive->row.request > seq ||
	    /* a matched probe receives no data */
	    call_class(receive->row.call) == CLASS_RECV)
		return receive->row.enter_ns;
	row = window_row(&o->graph.window, location, post);
	row = row != NULL ? row : window_kept(&o->graph.window, location, post);
	return row != NULL ? row->row.enter_ns : receive->row.enter_ns;
}

static void
take_message(struct output *o, size_t i)
{
	const struct edge_block *e = &o->graph.edges;
	const struct kept_row *send = window_row(&o->graph.window, e->source[i], e->send[i]);
	const struct kept_row *receive = window_row(&o->graph.window, e->target[i], e->receive[i]);

	GROW(o->messages, o->message_capacity, o->message_count + 1);
	sent_push(o->messages, &o->message_count, (struct sent){ send->row.enter_ns,
	    posted_ns(o, e->target[i], e->receive[i], receive), receive->row.leave_ns, o->order++,
	    send->sent, e->source[i], e->target[i], send->tag });
}

/* A posted receive is looked up when its message arrives. */
static void
keep_post(struct window *window, uint32_t location, uint64_t seq, const struct row *row)
{
	const enum call_class class = call_class(row->call);
	uint32_t at;
	uint64_t post;

	if (class == CLASS_RECV_START || class == CLASS_START)
		window_keep(window, location, seq);
	else if ((class == CLASS_COMPLETE || class == CLASS_REQUEST_FREE) &&
	    row_refers(row, location, seq, &at, &post))
		window_forget_kept(window, at, post);
}

static void
settle(struct output *o, uint32_t location, uint64_t seq)
{
	struct window *window = &o->graph.window;
	const uint64_t all = window_end(window, location), end = seq < all ? seq : all;
	uint64_t at = window->lanes[location].first;

	for (; at < end; at++) {
		const struct kept_row *row = window_row(window, location, at);

		if (row->row.part == 0)
			add_call(o, location, row);
		keep_post(window, location, at, &row->row);
	}
	window_drop(&o->graph.window, location, at);
}

static void
write_settled(struct output *o)
{
	int64_t limit_ns = o->has_path ? o->path_ns : INT64_MAX;

	for (uint32_t l = 0; l < o->known->location_count; l++)
		if (o->known->location_rank[l] >= 0 && o->left_ns[l] < limit_ns)
			limit_ns = o->left_ns[l];
	lines_until(o, limit_ns);
}

/* The path's kind is an event on the location that it is on; in a gap, on none. */
static void
take_segment(struct output *o, const struct segment *s)
{
	const uint32_t queue = o->known->location_count;
	struct line line = { .kind = LINE_PATH, .at_ns = s->begin_ns, .location = s->location,
	    .type = PATH_TYPE, .value = s->kind + 1u };

	o->path_ns = s->end_ns;
	if (s->kind == GAP || s->begin_ns == s->end_ns)
		return;
	o->path = true;
	line_add(o, queue, &line);
	line.at_ns = s->end_ns;
	line.value = 0;
	line_add(o, queue, &line);
}

static void
keep_rows(struct output *o)
{
	const struct calls *c = &o->graph.calls;

	for (size_t i = 0; i < c->count; i++) {
		struct kept_row *row = window_change(&o->graph.window, c->location, c->first + i);

		row->sent = c->bytes_sent[i];
		row->received = c->bytes_received[i];
		row->tag = c->tag[i];
	}
}

static void
take(struct output *o, const struct message *message)
{
	const struct definitions *known = o->known;
	const struct segments *path;

	switch (graph_take(&o->graph, message)) {
	case GRAPH_RUN:
		o->left_ns = zalloc(known->location_count, sizeof *o->left_ns);
		o->queues = zalloc(known->location_count + (size_t)1, sizeof *o->queues);
		o->heap = zalloc(known->location_count + (size_t)1, sizeof *o->heap);
		break;
	case GRAPH_CALLS:
		begin_records(o);
		keep_rows(o);
		break;
	case GRAPH_MESSAGES:
		for (size_t i = 0; i < o->graph.edges.count; i++)
			take_message(o, i);
		break;
	case GRAPH_SETTLED: case GRAPH_SYNC:
		for (uint32_t l = 0; l < known->location_count; l++)
			settle(o, l, o->graph.seqs[l]);
		write_settled(o);
		break;
	default:
		if ((path = message_segments(o->graph.in, message, known)) == NULL)
			break;
		for (size_t i = 0; i < path->count; i++)
			take_segment(o, &path->at[i]);
		write_settled(o);
	}
}

static struct whole_file
begin_file(const char *name, const char *suffix)
{
	return whole_file_begin(formatted("%s%s", name, suffix));
}

void
export_prv_files(const struct export *export)
{
	static struct output o = { .graph.row_bytes = sizeof(struct kept_row) };
	struct progress progress = { 0 };
	struct whole_file names, rows;
	struct message message;

	graph_open(&o.graph, export->files[0], READ_STREAM);
	o.has_path = strcmp(reader_content(o.graph.in), "path") == 0;
	o.known = &o.graph.known;
	o.codes = zalloc(UINT16_MAX + 1, sizeof *o.codes);
	o.file = begin_file(export->name, ".prv");
	text_begin(&o.text, o.file.file, o.file.name);
	while (progress_next(&progress, o.graph.in, &message))
		take(&o, &message);
	if (o.known->ranks == 0)
		die("the stream has no message of kind run");
	begin_records(&o);
	for (uint32_t l = 0; l < o.known->location_count; l++) {
		settle(&o, l, UINT64_MAX);
		if (o.left_ns[l] > o.known->run_ns)
			die("a call of location %u ends after the end of the run", l);
	}
	lines_until(&o, INT64_MAX);
	text_flush(&o.text);
	names = begin_file(export->name, ".pcf");
	put_names(names.file, &o);
	rows = begin_file(export->name, ".row");
	put_rows(rows.file, &o);
	if (fflush(o.file.file) != 0 || fflush(names.file) != 0 || fflush(rows.file) != 0)
		die("%s: %s", export->name, strerror(errno));
	whole_file_end(&rows);
	whole_file_end(&names);
	whole_file_end(&o.file);	/* last: if it is new, the others are, too */
}
