/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paraver: .prv with the records in order of time, .pcf with the names of what they hold, .row with
 * the names of processors, nodes and threads. As no time is written that was not measured, the
 * physical times of a message are those at which its send began and its receive ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/mpi/call_class.h"
#include "../../base/mpi/paraver.h"
#include "prv.h"

struct file {			/* gets its name when all of them are whole */
	char *path, *part;
	FILE *out;
};

static void
begin_file(struct file *file, const char *name, const char *suffix)
{
	size_t length = strlen(name) + strlen(suffix) + sizeof ".part", capacity = 0;

	file->path = grow(NULL, &capacity, length, 1);
	capacity = 0;
	file->part = grow(NULL, &capacity, length, 1);
	snprintf(file->path, length, "%s%s", name, suffix);
	snprintf(file->part, length, "%s.part", file->path);
	file->out = fopen(file->part, "w");
	if (file->out == NULL)
		die("%s: %s", file->part, strerror(errno));
}

/* All is there, under a name that does not look like it yet. */
static void
end_file(const struct file *file)
{
	if (fflush(file->out) != 0 || ferror(file->out) || fclose(file->out) != 0) {
		int error = errno;

		unlink(file->part);
		die("%s: %s", file->path, strerror(error));
	}
}

static void
name_file(struct file *file)
{
	if (rename(file->part, file->path) != 0)
		die("%s: %s", file->path, strerror(errno));
	free(file->path);
	free(file->part);
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
	case CLASS_IO: return 12;
	case CLASS_RMA: return 20;
	case CLASS_BARRIER: case CLASS_ALL_TO_ALL: case CLASS_ONE_TO_ALL: case CLASS_ALL_TO_ONE:
	case CLASS_SCAN: case CLASS_NEIGHBOUR: return 13;
	default: return 15;
	}
}

static void
add_line(struct output *o, int64_t at_ns, enum line_kind kind, uint32_t location, uint64_t what, int state)
{
	o->lines = grow(o->lines, &o->capacity, o->count + 1, sizeof *o->lines);
	o->lines[o->count] = (struct line){ at_ns, o->count, kind, location, what, state };
	o->count++;
	if (at_ns > o->end_ns)
		o->end_ns = at_ns;
}

static void
add_state(struct output *o, uint32_t location, int64_t begin_ns, int64_t end_ns, int state)
{
	if (end_ns > begin_ns)
		add_line(o, begin_ns, LINE_STATE, location, (uint64_t)end_ns, state);
}

static void
add_location(struct output *o, uint32_t location)
{
	const struct calls *rows = &o->trace->rows[location];
	int64_t left_ns = 0;

	for (size_t i = 0; i < rows->count; i++) {
		uint16_t call = rows->call[i];

		if (call == 0)
			continue;
		o->codes[call] = code_of(call);
		add_state(o, location, left_ns, rows->enter_ns[i], 1);
		left_ns = rows->leave_ns[i];
		if (o->codes[call].type == 0) {		/* an event, or the end of the rank */
			add_line(o, rows->enter_ns[i], LINE_EVENT, location, i, 0);
			continue;
		}
		add_state(o, location, rows->enter_ns[i], rows->leave_ns[i], state_of(call));
		add_line(o, rows->enter_ns[i], LINE_ENTER, location, i, 0);
		add_line(o, rows->leave_ns[i], LINE_LEAVE, location, i, 0);
	}
}

static int
by_time(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* CPU:1:TASK:THREAD, all from 1. A rank has a CPU of its own. */
static void
put_object(FILE *out, const struct output *o, uint32_t location)
{
	uint32_t rank = (uint32_t)o->trace->known.location_rank[location];

	fprintf(out, "%u:1:%u:%u", rank + 1, rank + 1, o->trace->known.location_thread[location] + 1);
}

/* The rank that the row is of is the root of its collective. */
static bool
is_root(const struct output *o, const struct calls *rows, size_t i, uint32_t location)
{
	int32_t rank = o->trace->known.location_rank[location];

	return rows->peer[i] == ROOT_PEER || (rows->peer[i] >= 0 &&
	    world_rank(&o->trace->known, rows->comm[i], rank, rows->peer[i]) == rank);
}

static void
put_enter(FILE *out, const struct output *o, const struct line *line)
{
	const struct calls *rows = &o->trace->rows[line->location];
	size_t i = (size_t)line->what;
	const struct code *code = &o->codes[rows->call[i]];

	fprintf(out, ":%lld:%u:%u", (long long)line->at_ns, code->type, code->value);
	if (code->type == PARAVER_TYPE + 2 && rows->comm[i] != 0 && rows->comm[i] != 2) {
		if (rows->bytes_sent[i] > 0)
			fprintf(out, ":%d:%llu", PARAVER_SEND_BYTES, (unsigned long long)rows->bytes_sent[i]);
		if (rows->bytes_received[i] > 0)
			fprintf(out, ":%d:%llu", PARAVER_RECEIVE_BYTES,
			    (unsigned long long)rows->bytes_received[i]);
		if (is_root(o, rows, i, line->location))
			fprintf(out, ":%d:1", PARAVER_ROOT);
		fprintf(out, ":%d:%u", PARAVER_COMM, rows->comm[i]);
	}
	fputc('\n', out);
}

/* Logical times are those of the calls that send and that post the receive. */
static void
put_message(FILE *out, const struct output *o, const struct line *line)
{
	const struct edge *edge = &o->trace->edges[line->what];
	const struct calls *from = &o->trace->rows[edge->source], *to = &o->trace->rows[edge->target];
	uint64_t post = edge->receive;

	if (to->request[edge->receive] > 0 && to->request_at[edge->receive] == 0)
		post = edge->receive - to->request[edge->receive];
	fputs("3:", out);
	put_object(out, o, edge->source);
	fprintf(out, ":%lld:%lld:", (long long)from->enter_ns[edge->send],
	    (long long)from->enter_ns[edge->send]);
	put_object(out, o, edge->target);
	fprintf(out, ":%lld:%lld:%llu:%d\n", (long long)to->enter_ns[post],
	    (long long)to->leave_ns[edge->receive], (unsigned long long)from->bytes_sent[edge->send],
	    from->tag[edge->send] >= 0 ? from->tag[edge->send] : 0);
}

static void
put_line(FILE *out, const struct output *o, const struct line *line)
{
	const struct calls *rows = &o->trace->rows[line->location];

	if (line->kind == LINE_MESSAGE) {
		put_message(out, o, line);
		return;
	}
	if (line->kind == LINE_EVENT && rows->tag[line->what] == NO_TAG)
		return;		/* it only ends a burst */
	fputs(line->kind == LINE_STATE ? "1:" : "2:", out);
	put_object(out, o, line->location);
	switch (line->kind) {
	case LINE_STATE:
		fprintf(out, ":%lld:%llu:%d\n", (long long)line->at_ns, (unsigned long long)line->what,
		    line->state);
		break;
	case LINE_LEAVE:
		fprintf(out, ":%lld:%u:0\n", (long long)line->at_ns, o->codes[rows->call[line->what]].type);
		break;
	case LINE_EVENT:
		fprintf(out, ":%lld:%d:%d\n", (long long)line->at_ns, rows->tag[line->what],
		    rows->peer[line->what]);
		break;
	default:
		put_enter(out, o, line);
	}
}

void
export_prv(const struct trace *trace, const char *name)
{
	struct output o = { .trace = trace, .end_ns = trace->known.run_ns };
	struct file files[3];

	o.codes = zalloc(UINT16_MAX + 1, sizeof *o.codes);
	find_nodes(&o);
	for (uint32_t l = 0; l < trace->known.location_count; l++)
		add_location(&o, l);
	for (size_t i = 0; i < trace->edge_count; i++)
		add_line(&o, trace->rows[trace->edges[i].source].enter_ns[trace->edges[i].send], LINE_MESSAGE,
		    trace->edges[i].source, i, 0);
	qsort(o.lines, o.count, sizeof *o.lines, by_time);
	begin_file(&files[0], name, ".prv");
	put_header(files[0].out, &o);
	for (size_t i = 0; i < o.count; i++)
		put_line(files[0].out, &o, &o.lines[i]);
	end_file(&files[0]);
	begin_file(&files[1], name, ".pcf");
	put_names(files[1].out, &o);
	end_file(&files[1]);
	begin_file(&files[2], name, ".row");
	put_rows(files[2].out, &o);
	end_file(&files[2]);
	for (int i = 0; i < 3; i++)
		name_file(&files[i]);
}
