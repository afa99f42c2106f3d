/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first pass, a survey: definitions, samples of clocks, and the number of rows of each block of
 * calls. Blocks are checked when they are written.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/tool/spool.h"
#include "../base/run/headline.h"
#include "merge.h"

enum {
	SMALL_BYTES = 1 << 13,		/* a message that is most often read as a whole */
	RANKS_FREE = 1 << 14,		/* more ranks need some bytes each in the input */
	RANK_BYTES = 16,
	OWN_NUMBERS = 64,	/* lead of a rank's own numbers over its messages, at most */
};

int
own_number(struct scan *scan, const struct message *message, const char *key, int64_t min,
    uint32_t *number)
{
	if (body_int(scan->in, message, key, min, UINT32_MAX, number) < 0)
		return -1;
	if (!scan->again && *number >= OWN_NUMBERS + scan->messages)
		return reader_fail(scan->in, message->offset, "%s: %s is %u, far more than are "
		    "defined", message->kind, key, *number);
	return 0;
}

/* Memory must follow the size of the input: a large run has large traces. */
static int
check_size(const struct scan *scan, const struct message *message, int64_t ranks)
{
	const struct input *input = scan->input;
	uint64_t bytes = 0;
	struct stat status;

	if (scan->again || input->rank_count + ranks <= RANKS_FREE)
		return 0;
	ranks += input->rank_count;
	for (size_t i = 0; i < input->file_count; i++)
		if ((input->files[i] == NULL ? fstat(STDIN_FILENO, &status) :
		    stat(input->files[i], &status)) == 0)
			bytes += (uint64_t)status.st_size * (input->holders > 0 ?
			    input->holders : 1);
	if (bytes >= (uint64_t)ranks * RANK_BYTES)
		return 0;
	return reader_fail(scan->in, message->offset, "rank: a run of %lld ranks in %llu bytes of "
	    "raw traces", (long long)ranks, (unsigned long long)bytes);
}

/* NULL: it would be too large. */
static struct world *
world_of(struct scan *scan, const struct message *message, uint64_t run, int64_t ranks)
{
	struct input *input = scan->input;
	struct world *world = input->worlds;

	for (int32_t w = 0; w < input->world_count; w++, world++)
		if (world->run == run)
			return world;
	if (check_size(scan, message, ranks) < 0)
		return NULL;
	world = APPEND(input->worlds, input->world_count, input->world_capacity);
	*world = (struct world){ .run = run, .first = input->rank_count, .ranks = (int32_t)ranks,
	    .file = scan->file, .offset = message->offset, .meets = -1 };
	input->rank_count += (int32_t)ranks;
	input->ranks = need(realloc(input->ranks,
	    (size_t)input->rank_count * sizeof *input->ranks));
	memset(&input->ranks[world->first], 0, (size_t)ranks * sizeof *input->ranks);
	return world;
}

static int
scan_rank(struct scan *scan, const struct message *message)
{
	struct input *input = scan->input;
	struct reader *in = scan->in;
	int64_t rank, ranks, date_s = 0, segment = 0;
	struct world *world;
	struct rank *at;
	uint64_t run;

	if (body_int_if(in, message, "segment", 0, (1 << (63 - SEGMENT_BITS)) - 1, &segment) < 0 ||
	    body_int(in, message, "ranks", 1, 1 << 24, &ranks) < 0 ||
	    body_int(in, message, "rank", 0, ranks - 1, &rank) < 0 ||
	    body_uint(in, message, "run", &run) < 0)
		return -1;
	if (scan->rank != NULL)
		return reader_fail(in, message->offset, "a second message of kind rank");
	if ((world = world_of(scan, message, run, ranks)) == NULL)
		return -1;
	if (ranks != world->ranks)
		return reader_fail(in, message->offset, "of a run of %lld ranks, but %s is of %d",
		    (long long)ranks, world->file, (int)world->ranks);
	at = &input->ranks[world->first + rank];
	if (segment > 0 && segment != (int64_t)at->segments_count)
		return reader_fail(in, message->offset, "segment %lld of rank %lld, of which "
		    "segment %zu is missing", (long long)segment, (long long)rank,
		    at->segments_count);
	if (segment == 0 && at->present)
		return reader_fail(in, message->offset, "rank %lld again: it was read from %s",
		    (long long)rank, at->file);
	/* The rank continues in this file. */
	at->segments = grow_little(at->segments, &at->segments_capacity, at->segments_count + 1,
	    sizeof *at->segments);
	at->segments[at->segments_count++] = (struct raw_segment){ scan->file, 0, message->offset };
	scan->rank = at;
	scan->messages += at->messages;
	at->ended = false;
	if (segment > 0)
		return 0;
	scan->rank->file = scan->file;
	scan->rank->present = true;
	scan->rank->order = input->traces++;
	scan->rank->world = (int32_t)(world - input->worlds);
	scan->rank->clock_peer = -1;
	scan->rank->host = body_string(message, "host");
	scan->rank->program = body_string(message, "program");
	scan->rank->threaded = body_true(message, "threads");
	scan->rank->asks_samples = body_true(message, "samples");
	if (body_int_if(in, message, "date_s", 0, LAST_DATE_S, &date_s) < 0)
		return -1;
	if (date_s > 0 && (input->date_s == 0 || date_s < input->date_s))
		input->date_s = date_s;
	return 0;
}

static struct thread *
thread_at(struct rank *rank, uint32_t thread)
{
	if (thread >= rank->threads) {
		rank->thread = need(realloc(rank->thread,
		    (thread + (size_t)1) * sizeof *rank->thread));
		memset(&rank->thread[rank->threads], 0,
		    (thread + (size_t)1 - rank->threads) * sizeof *rank->thread);
		rank->threads = thread + 1;
	}
	return &rank->thread[thread];
}

static int
scan_calls(struct scan *scan, const struct message *message)
{
	struct reader *in = scan->in;
	struct rank *rank = scan->rank;
	uint64_t first, count;
	struct thread *thread;
	uint32_t number = 0;
	uint64_t place;

	if (own_number(scan, message, "location", 0, &number) < 0 ||
	    body_int(in, message, "first", 0, INT64_MAX, &first) < 0 ||
	    body_int(in, message, "count", 0, UINT32_MAX, &count) < 0)
		return -1;
	thread = thread_at(rank, number);
	if (scan_open(scan, message, thread) < 0)
		return -1;
	if (count == 0)
		return 0;
	place = (uint64_t)(rank->segments_count - 1) << SEGMENT_BITS | message->offset;
	if (first != thread->rows)
		return reader_fail(in, message->offset, "calls: the block begins with row %llu "
		    "instead of %llu", (unsigned long long)first, (unsigned long long)thread->rows);
	if (thread->rows == 0 && calls_begin(in, message, &thread->begin_ns) < 0)
		return -1;
	if (rank->rows == 0)
		rank->calls_offset = place;
	thread->last_offset = place;
	thread->rows += count;
	rank->rows += count;
	thread->ends = message->size < SMALL_BYTES;
	/* With many ranks blocks are small, and need not be read again for the last leave. */
	if (thread->ends) {
		if (reader_verify(in, message) < 0 ||
		    calls_read_numbered(&scan->calls, in, message) < 0)
			return -1;
		thread->end_ns = scan->calls.leave_ns[scan->calls.count - 1];
		thread->last_number = scan->calls.call[scan->calls.count - 1];
	}
	return 0;
}

/* Of a compressed block. */
static int
scan_open_message(struct scan *scan, const struct message *message)
{
	uint32_t number = 0;

	return own_number(scan, message, "location", 0, &number) < 0 ? -1 :
	    scan_open(scan, message, thread_at(scan->rank, number));
}

static int
scan_clock(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	struct reader *in = scan->in;
	const int64_t limit = LATEST_NS;
	const struct world *world = &scan->input->worlds[rank->world];
	struct sample sample;

	if (body_int(in, message, "peer", 0, world->ranks - 1, &sample.peer) < 0)
		return -1;
	sample.peer += world->first;
	if (is_kind(message, "clock_shared")) {
		rank->clock_peer = sample.peer;
		return 0;
	}
	if (body_int(in, message, "at_ns", -limit, limit, &sample.at_ns) < 0 ||
	    body_int(in, message, "offset_ns", -limit, limit, &sample.offset_ns) < 0 ||
	    body_int(in, message, "error_ns", 0, limit, &sample.error_ns) < 0)
		return -1;
	*APPEND(rank->samples, rank->sample_count, rank->sample_capacity) = sample;
	return 0;
}

/* What base/run reads, into lists of the rank; the environment is that of the first one. */
static int
scan_listed(struct scan *scan, const struct message *message)
{
	struct input *input = scan->input;
	struct rank *rank = scan->rank;
	struct variable v;

	if (is_kind(message, "kernel_clock"))
		return kernel_clock_read(APPEND(rank->kernels, rank->kernel_count,
		    rank->kernel_capacity), scan->in, message);
	if (is_kind(message, "poll_gaps"))
		return poll_gaps_read(APPEND(rank->gaps, rank->gaps_count, rank->gaps_capacity),
		    scan->in, message);
	if (is_kind(message, "neighbours"))
		return neighbours_read(rank->comm_count > 0 ? &rank->comms[rank->comm_count - 1] :
		    NULL, scan->in, message);
	if (rank == &input->ranks[0] && variable_read(&v, message))
		*APPEND(input->environment, input->variable_count, input->variable_capacity) = v;
	return 0;
}

static int
scan_sampled(struct scan *scan, const struct message *message)
{
	uint32_t thread, worker;

	scan->input->sampled |= is_samples(message);
	scan->input->regions |= is_kind(message, "regions");
	if (body_get(message, "worker") == NULL)
		return 0;
	if (own_number(scan, message, "location", 0, &thread) < 0 ||
	    body_int(scan->in, message, "worker", 0, UINT32_MAX, &worker) < 0)
		return -1;
	if (thread > 0 && thread < scan->rank->threads)	/* it has made a call */
		scan->rank->thread[thread].worker = worker;
	return 0;
}

/* A header or an end. A process may die before it has written its rank, which is missing then. */
static int
scan_frame(struct scan *scan, const struct message *message)
{
	const bool ended = is_kind(message, "end");

	if (is_kind(message, "longpole")) {
		scan->rank = NULL;
		scan->messages = 0;
		scan->traces++;
	} else if (scan->rank != NULL) {
		scan->rank->ended = ended && body_get(message, "more") == NULL;
		scan->rank->messages = scan->messages;
	} else if (ended && !scan->input->partial)
		return reader_fail(scan->in, message->offset,
		    "a raw trace that does not name its rank");
	else {
		note("%s:%llu: left out the trace of a process that did not give its rank",
		    scan->file, (unsigned long long)message->offset);
		scan->input->died |= !ended;
	}
	return 0;
}

void
bytes_add(struct bytes *to, const void *more, size_t size)
{
	to->at = grow_little(to->at, &to->capacity, to->count + size, 1);
	if (size > 0)
		memcpy(to->at + to->count, more, size);
	to->count += size;
}

/* ---- messages by their kind ---- */

static const struct {
	const char *kind;
	int (*scan)(struct scan *, const struct message *);
	enum { FRAME, ROWS, DEFINITION } of;
} kinds[] = {
	{ "calls", scan_calls, ROWS }, { "sampled", scan_sampled, ROWS },
	{ "switched", scan_sampled, ROWS }, { "regions", scan_sampled, ROWS },
	{ "site", scan_site, DEFINITION }, { "region_name", scan_region_name, DEFINITION },
	{ "longpole", scan_frame, FRAME }, { "end", scan_frame, FRAME },
	{ "cut", scan_frame, FRAME },
	{ "rank", scan_rank, DEFINITION }, { "communicator", scan_communicator, DEFINITION },
	{ "neighbours", scan_listed, DEFINITION },
	{ "environment", scan_listed, DEFINITION },
	{ "cores", scan_cores, DEFINITION }, { "poll_gaps", scan_listed, DEFINITION },
	{ "module", scan_module, DEFINITION },
	{ "clock", scan_clock, DEFINITION }, { "clock_shared", scan_clock, DEFINITION },
	{ "kernel_clock", scan_listed, DEFINITION },
	{ "open", scan_open_message, ROWS }, { "died", scan_died, DEFINITION },
};

int
scan_message(struct scan *scan, const struct message *message)
{
	size_t k = 0;

	scan->messages++;
	while (k < sizeof kinds / sizeof *kinds && !is_kind(message, kinds[k].kind))
		k++;
	if (k == sizeof kinds / sizeof *kinds)
		return 0;
	if (scan->rank == NULL && kinds[k].of != FRAME && kinds[k].scan != scan_rank)
		return reader_fail(scan->in, message->offset, "%s before the message of kind rank",
		    message->kind);
	if (kinds[k].scan(scan, message) < 0)
		return -1;
	/* A rank is named once, in its first segment. */
	if (scan->input->keeps && kinds[k].of == DEFINITION &&
	    (scan->rank->segments_count == 1 || kinds[k].scan != scan_rank))
		bytes_add(&scan->rank->kept, message->bytes, message->size);
	return 0;
}

struct rank *
scan_kept(struct input *input, const char *file, const char *bytes, size_t size)
{
	struct scan scan = { .input = input, .in = input->in, .file = file, .again = true };
	struct message message;
	msgpack_unpacked unpacked;
	const char *why = "damaged on its way here";

	msgpack_unpacked_init(&unpacked);
	for (size_t at = 0; at < size; at += message.size) {
		if (message_parse(&message, &unpacked, bytes + at, size - at, &why) <= 0)
			die("%s: %s", file, why);
		if (scan_message(&scan, &message) < 0)
			die("%s: %s", file, reader_error(scan.in, NULL));
	}
	msgpack_unpacked_destroy(&unpacked);
	return scan.rank;
}

void
survey_file(struct input *input, const char *file)
{
	struct scan scan = { .input = input };
	struct message message;
	const char *error;
	int64_t offset;
	int got;

	if (file == NULL)
		spool_stdin();
	got = input->in == NULL ? reader_open(&input->in, file, READ_SKIMMING) :
	    reader_go_on(input->in, file);
	scan.in = input->in;
	scan.file = reader_file(scan.in);
	while (got >= 0 && (got = reader_next(scan.in, &message)) > 0)
		if (scan_message(&scan, &message) < 0)
			die_input(scan.in);
	if (got == 0 && scan.traces == 0)
		got = reader_fail(scan.in, 0, "empty: no raw trace");
	/* One that cannot be read is left out if nothing was taken from it and it is not needed. */
	if (got < 0 && (!input->partial || scan.rank != NULL || scan.in == NULL))
		die_input(scan.in);
	if (got < 0) {
		error = reader_error(scan.in, &offset);
		note("%s:%lld: %s; left out", scan.file, (long long)offset, error);
	}
	calls_free(&scan.calls);
	reader_leave(scan.in);
}
