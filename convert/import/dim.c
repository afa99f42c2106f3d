/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dimemas traces. They have the lengths of bursts of computation and the calls between them, but no
 * lengths of calls. So rows have length 0, and the clock of a rank is the sum of its bursts.
 */
#include <stdlib.h>
#include <string.h>

#include "../../base/mpi/paraver.h"
#include "dim.h"

enum { MOST_THREADS = 1 << 17 };	/* beyond the tasks' first ones */
enum { BYTES_OF_TASK = 512 };		/* of memory, for a task without records */

static void
take_event(struct dim *d, int64_t type, int64_t value)
{
	if (type > PARAVER_TYPE && type <= PARAVER_TYPE + 5) {
		dim_end_call(d);
		if (value < 0)
			die_text(&d->text, "an MPI event has a negative value");
		if (value != 0)
			d->at->call = build_event(&d->build, type, value);
		d->at->in_call = value != 0;
		return;
	}
	/* Extrae's own events: states, counters, arguments of calls and callers. */
	if (type == 0 || (type >= 40000000 && type < 60000000) ||
	    (type >= 70000000 && type < 90000000) || type > INT32_MAX || value > INT32_MAX ||
	    value < INT32_MIN || d->at->in_call)
		return;
	dim_local(d, d->event, (int32_t)type, (int32_t)value);
}

/* Exact seconds with up to nine decimals. */
static int64_t
take_seconds(struct dim *d, char *at)
{
	int64_t seconds = text_integer(&d->text, &at, 0, INT64_MAX / 1000000000), ns = 0;

	if (*at == '.')
		for (int64_t unit = 100000000; *++at >= '0' && *at <= '9'; unit /= 10)
			ns += (*at - '0') * unit;
	if (*at == 'e' || *at == 'E')
		die_text(&d->text, "a time has an exponent");
	text_end(&d->text, at);
	if (__builtin_add_overflow(seconds * 1000000000, ns, &ns))
		die_text(&d->text, "a time is out of range");
	return ns;
}

static void
take_burst(struct dim *d, char *at)
{
	int64_t ns = take_seconds(d, at);

	if (ns == 0)
		return;
	if (d->at->in_call)
		dim_end_call(d);
	/* two successive bursts stay two: see lp-replay(1) */
	else if (d->at->computed)
		dim_local(d, d->event, NO_TAG, NO_PEER);
	if (__builtin_add_overflow(d->at->now_ns, ns, &d->at->now_ns))
		die_text(&d->text, "a time is out of range");
	d->at->computed = true;
}

/* A receive may be from any rank, and of any tag. */
static void
take_message(struct dim *d, char *at, bool is_send)
{
	const struct source *t = &d->text;
	struct step r = { .kind = SEND };

	r.peer = (int32_t)text_integer(t, &at, is_send ? 0 : ANY_PEER, d->build.ranks - 1);
	r.other = (int32_t)text_integer(t, &at, -1, INT32_MAX);
	r.bytes = (uint64_t)text_integer(t, &at, 0, INT64_MAX);
	r.tag = (int32_t)text_integer(t, &at, is_send ? 0 : ANY_TAG, INT32_MAX);
	d->played |= r.peer == ANY_PEER || r.tag == ANY_TAG;
	r.comm = (uint32_t)text_integer(t, &at, 0, UINT32_MAX);
	if (is_send)
		r.which = (int32_t)text_integer(t, &at, 0, 3);
	else
		r.kind = (enum kind)(RECEIVE + text_integer(t, &at, 0, 2));
	text_end(t, at);
	dim_record(d, &r);
}

/* The rank of a task in a communicator; dies if it is not a member. */
static int32_t
rank_in(const struct dim *d, const struct communicator *comm, int32_t task)
{
	for (int32_t i = 0; i < comm->size; i++)
		if (comm->members[i] == task)
			return i;
	die_text(&d->text, "a collective of a task that is not in the communicator");
}

static void
take_collective(struct dim *d, char *at)
{
	static const enum kind kinds[] = { COLLECTIVE_START, COLLECTIVE,
	    COLLECTIVE_WAIT, COLLECTIVE };
	const struct source *t = &d->text;
	struct step r = { .peer = NO_PEER };
	const struct communicator *comm;
	const int32_t task = (int32_t)d->build.of[d->location].rank;
	int64_t root, flags;

	r.which = (int32_t)text_integer(t, &at, 0, OP_OTHER - 1);
	r.comm = (uint32_t)text_integer(t, &at, 0, UINT32_MAX);
	if (r.comm >= d->build.id_capacity || d->build.ids[r.comm] == 0)
		die_text(t, "a collective on a communicator that is not defined");
	comm = &d->build.comms[d->build.ids[r.comm]];
	root = text_integer(t, &at, 0, INT32_MAX);
	text_integer(t, &at, -1, INT32_MAX);
	r.bytes = (uint64_t)text_integer(t, &at, 0, INT64_MAX);
	r.received = (uint64_t)text_integer(t, &at, 0, INT64_MAX);
	flags = text_integer(t, &at, 0, 3);
	text_end(t, at);
	r.kind = kinds[flags];
	if (flags == 3)		/* MPI_Reduce by prv2dim: the field is the root's task */
		r.peer = rank_in(d, comm, (int32_t)root);
	else if (root != 0)
		r.peer = rank_in(d, comm, task);
	rank_in(d, comm, task);
	dim_record(d, &r);
}

/* The threads of all tasks, (threads,...). Threads beyond the first of a task become locations. */
static void
take_threads(struct dim *d, char *at, uint32_t ranks)
{
	uint32_t *rank_of = NULL, further = 0;
	size_t capacity = 0;

	d->first_further = zalloc(ranks, sizeof *d->first_further);
	d->thread_count = zalloc(ranks, sizeof *d->thread_count);
	d->begins = zalloc(ranks, sizeof *d->begins);
	at += *at == '(';
	for (uint32_t r = 0; r < ranks; r++) {
		d->thread_count[r] = *at >= '0' && *at <= '9' ?
		    (int32_t)text_integer(&d->text, &at, 1, 1 << 16) : 1;
		d->first_further[r] = ranks + further;
		for (int32_t t = 1; t < d->thread_count[r] && further <= MOST_THREADS; t++)
			*APPEND(rank_of, further, capacity) = r;
		if (further > MOST_THREADS)
			die_text(&d->text, "too many threads");
	}
	build_begin(&d->build, ranks, rank_of, further);
	free(rank_of);
	d->threads = zalloc(d->build.locations, sizeof *d->threads);
}

/* #DIMEMAS:"name":1,OFFSET:NTASKS(threads,...),NCOMMS */
static void
take_header(struct dim *d)
{
	int64_t ranks;
	char *at;

	if (!text_next(&d->text) || strncmp(d->text.line, "#DIMEMAS:", 9) != 0 ||
	    (at = strrchr(d->text.line, '"')) == NULL || at[1] != ':')
		die_text(&d->text, "no Dimemas trace: its first line begins with #DIMEMAS:");
	at += 2;
	text_integer(&d->text, &at, 0, INT64_MAX);
	if (*at != ':')		/* 0: unknown */
		d->offsets_at = (uint64_t)text_integer(&d->text, &at, 0, INT64_MAX);
	at += *at == ':';
	ranks = text_integer(&d->text, &at, 1, 1 << 24);
	if ((uint64_t)ranks > 1024 + d->text.next ||	/* the header lists their threads */
	    !text_allows(&d->text, (uint64_t)ranks, BYTES_OF_TASK))
		die_text(&d->text, "there are more tasks than the line lists");
	take_threads(d, at, (uint32_t)ranks);
	d->at = d->threads;
}

/* TASK:THREAD of a record. */
static void
take_place(struct dim *d, char **at)
{
	int64_t rank = text_integer(&d->text, at, 0, d->build.ranks - 1);
	int64_t thread = text_integer(&d->text, at, 0, INT32_MAX);

	if (d->offset_lines > 0)
		die_text(&d->text, "a record behind the offsets of the tasks");
	if (rank < d->build.of[d->location].rank)
		die_text(&d->text, "the tasks are not in order");
	if (thread >= d->thread_count[rank])
		die_text(&d->text, "a thread that the first line does not tell");
	d->location = thread == 0 ? (uint32_t)rank : d->first_further[rank] + (uint32_t)thread - 1;
	d->at = &d->threads[d->location];
	d->played |= thread > 0;
	if (d->begins[rank] == 0)
		d->begins[rank] = d->text.offset;
}

/* s:TASK:OFFSET: where the records of a task begin. These lines end a complete trace. */
static void
take_offset(struct dim *d, char *at)
{
	uint32_t rank = (uint32_t)text_integer(&d->text, &at, 0, d->build.ranks - 1);
	uint64_t offset = (uint64_t)text_integer(&d->text, &at, 0, INT64_MAX);

	text_end(&d->text, at);
	if (rank != d->offset_lines++)
		die_text(&d->text, "the offsets of the tasks are not in order");
	if (rank == 0 && d->offsets_at > 0 && d->offsets_at != d->text.offset)
		die_text(&d->text, "the offsets of the tasks are not where the first line says");
	if (d->begins[rank] > 0 && d->begins[rank] != offset)
		die_text(&d->text, "the records of the task do not begin there");
}

static void
take_line(struct dim *d)
{
	char *at = d->text.line;
	int64_t kind;

	if (*at == 'd' && at[1] == ':') {
		at += 2;
		text_integer(&d->text, &at, 0, INT32_MAX);
		build_comm(&d->build, &d->text, at, 0);
		return;
	}
	if (*at == 's' && at[1] == ':') {
		take_offset(d, at + 2);
		return;
	}
	if (*at == '\0' || *at == '#')
		return;
	kind = text_integer(&d->text, &at, 0, INT32_MAX);
	take_place(d, &at);
	if (kind == 1)
		take_burst(d, at);
	else if (kind == 2 || kind == 3)
		take_message(d, at, kind == 2);
	else if (kind == 10)
		take_collective(d, at);
	else if (kind == 20) {
		int64_t type = text_integer(&d->text, &at, 0, INT64_MAX);
		int64_t value = text_integer(&d->text, &at, INT64_MIN + 1, INT64_MAX);

		text_end(&d->text, at);
		take_event(d, type, value);
	} else if (kind != 0)
		die_text(&d->text, "a record of a kind that is not known");
}

void
import_dim(const char *file, int argc, char **argv)
{
	static struct dim d;

	text_open(&d.text, file);
	d.event = build_call("Extrae_event");
	take_header(&d);
	dim_begin(&d);
	while (text_next(&d.text))
		take_line(&d);
	if (d.offset_lines < d.build.ranks && (d.offsets_at > 0 || d.offset_lines > 0))
		die_text(&d.text, "offsets of tasks are missing: the trace is cut");
	for (d.location = 0; d.location < d.build.locations; d.location++) {
		d.at = &d.threads[d.location];
		/* At the end of a thread's records, a last burst needs a row behind it. */
		dim_end_call(&d);
		if (d.at->computed)
			dim_local(&d, build_call("exit"), NO_TAG, NO_PEER);
	}
	dim_unwaited(&d);
	if (d.played)
		dim_play(&d);
	else
		build_match(&d.build, &d.build.sides, true);
	build_match(&d.build, &d.build.calls, true);
	build_write(&d.build, argc, argv);
}
