/* SPDX-License-Identifier: BSD-3-Clause */
/* The first pass: checks every message of the raw traces and notes where the blocks lie. */
#include <stdlib.h>
#include <string.h>

#include "merge.h"

enum {
	ROWS_IN_FLIGHT = 1 << 22,	/* of all ranks, in the blocks that overlap in time */
	LEAST_SLICE = 32,		/* rows of a block that was divided */
	MOST_SLICES = 8,		/* of a block: it is read again for each */
};

/* What is known of the raw trace being read. */
struct scan {
	struct input *input;
	struct reader *in;
	const char *file;	/* lives as long as the process */
	struct rank *rank;	/* NULL until the message of kind rank */
	size_t first_block;	/* of this raw trace, in input->blocks */
	int64_t *last_leave_ns;	/* by thread: calls of a thread never overlap */
	size_t threads, thread_capacity;
};

#define APPEND(array, count, capacity) \
	(array = grow(array, &(capacity), (count) + 1, sizeof *(array)), \
	memset(&(array)[count], 0, sizeof *(array)), &(array)[(count)++])

static void
scan_rank(struct scan *scan, const struct message *message)
{
	struct input *input = scan->input;
	struct reader *in = scan->in;
	int64_t rank, ranks;
	uint64_t run;

	if (body_int(in, message, "ranks", 1, 1 << 24, &ranks) < 0 ||
	    body_int(in, message, "rank", 0, ranks - 1, &rank) < 0 ||
	    body_uint(in, message, "run", &run) < 0)
		die_input(in);
	if (scan->rank != NULL)
		reader_fail(in, message->offset, "a second message of kind rank");
	else if (input->rank_count == 0) {
		input->rank_count = (int32_t)ranks;
		input->run = run;
		input->run_file = scan->file;
		input->ranks = zalloc((size_t)ranks, sizeof *input->ranks);
	} else if (run != input->run)
		reader_fail(in, message->offset, "of another run than %s", input->run_file);
	else if (ranks != input->rank_count)
		reader_fail(in, message->offset, "of a run of %lld ranks, but %s is of %d",
		    (long long)ranks, input->run_file, (int)input->rank_count);
	else if (input->ranks[rank].present)
		reader_fail(in, message->offset, "rank %lld again: it was read from %s",
		    (long long)rank, input->ranks[rank].file);
	if (in->error[0] != '\0')
		die_input(in);
	scan->rank = &input->ranks[rank];
	scan->rank->file = scan->file;
	scan->rank->present = true;
	scan->rank->clock_peer = -1;
	scan->rank->host = body_string(message, "host");
	scan->rank->program = body_string(message, "program");
	for (size_t b = scan->first_block; b < input->block_count; b++)
		input->blocks[b].rank = (int32_t)rank;
}

/*
 * Where ranks are many the blocks of a short run would each hold all of it, so that whoever reads
 * the trace must keep all ranks whole until the last one has come. There blocks go out in slices.
 */
static size_t
slice_rows(const struct input *input, size_t block_rows)
{
	size_t rows = ROWS_IN_FLIGHT / (size_t)input->rank_count;

	if (rows < LEAST_SLICE)
		rows = LEAST_SLICE;
	return rows < block_rows / MOST_SLICES + 1 ? block_rows / MOST_SLICES + 1 : rows;
}

static void
index_block(struct scan *scan, const struct message *message, const struct calls *calls)
{
	struct input *input = scan->input;
	size_t most = slice_rows(input, calls->count), begin = 0;

	for (size_t end = 1; end <= calls->count; end++) {
		/* A call and its parts stay together. */
		if (end < calls->count && (end - begin < most || calls->call[end] == 0))
			continue;
		*APPEND(input->blocks, input->block_count, input->block_capacity) =
		    (struct block){ message->offset, (uint32_t)message->stored, calls->location,
		    calls->first + begin, (uint32_t)(end - begin),
		    (int32_t)(scan->rank - input->ranks), calls->enter_ns[begin] };
		begin = end;
	}
}

static void
scan_calls(struct scan *scan, const struct message *message, struct calls *calls)
{
	struct input *input = scan->input;
	struct rank *rank = scan->rank;
	int64_t enter_ns, leave_ns;

	if (calls_read(calls, scan->in, message) < 0)
		die_input(scan->in);
	if (calls->count == 0)
		return;
	if (rank == NULL) {
		reader_fail(scan->in, message->offset, "calls before the message of kind rank");
		die_input(scan->in);
	}
	enter_ns = calls->enter_ns[0];
	leave_ns = calls->leave_ns[calls->count - 1];
	if (calls->location > 1 << 20) {
		reader_fail(scan->in, message->offset, "calls: location is out of range");
		die_input(scan->in);
	}
	scan->last_leave_ns = grow(scan->last_leave_ns, &scan->thread_capacity,
	    calls->location + (size_t)1, sizeof *scan->last_leave_ns);
	while (scan->threads <= calls->location)
		scan->last_leave_ns[scan->threads++] = INT64_MIN;
	if (enter_ns < scan->last_leave_ns[calls->location]) {
		reader_fail(scan->in, message->offset, "calls: begins before the block before it ends");
		die_input(scan->in);
	}
	scan->last_leave_ns[calls->location] = leave_ns;
	if (rank->rows == 0 || enter_ns < rank->begin_ns)
		rank->begin_ns = enter_ns;
	if (rank->rows == 0 || leave_ns > rank->end_ns)
		rank->end_ns = leave_ns;
	rank->rows += calls->count;
	if (calls->location + 1 > rank->threads)
		rank->threads = calls->location + 1;
	for (size_t i = 0; i < calls->count; i++)
		input->used_numbers[calls->call[i]] = true;
	index_block(scan, message, calls);
}

static struct rank *
owner(struct scan *scan, const struct message *message)
{
	if (scan->rank == NULL) {
		reader_fail(scan->in, message->offset, "%s before the message of kind rank",
		    message->kind);
		die_input(scan->in);
	}
	return scan->rank;
}

static void
scan_communicator(struct scan *scan, const struct message *message)
{
	struct rank *rank = owner(scan, message);
	struct membership *comm;
	struct reader *in = scan->in;
	int64_t number, size, own, side = 0, remote_size = -1;
	uint64_t id;

	if (body_int(in, message, "comm", 3, 1 << 24, &number) < 0 ||
	    body_int(in, message, "size", 1, 1 << 24, &size) < 0 ||
	    body_int(in, message, "rank", 0, size - 1, &own) < 0 ||
	    body_uint(in, message, "id", &id) < 0)
		die_input(in);
	if (body_get(message, "remote_size") != NULL &&
	    (body_int(in, message, "remote_size", 1, 1 << 24, &remote_size) < 0 ||
	    body_int(in, message, "side", 0, 1, &side) < 0))
		die_input(in);
	comm = APPEND(rank->comms, rank->comm_count, rank->comm_capacity);
	*comm = (struct membership){ id, (uint32_t)number, (int32_t)own, (int32_t)size, (int32_t)side,
	    (int32_t)remote_size, body_string(message, "type"), NULL, 0 };
}

static void
scan_neighbours(struct scan *scan, const struct message *message)
{
	static const struct column_type type = { 4, true, true, 0 };
	struct rank *rank = owner(scan, message);
	struct membership *comm;
	int64_t number, count;

	if (body_int(scan->in, message, "comm", 3, 1 << 24, &number) < 0 ||
	    body_int(scan->in, message, "count", 0, 1 << 24, &count) < 0)
		die_input(scan->in);
	comm = rank->comm_count > 0 ? &rank->comms[rank->comm_count - 1] : NULL;
	if (comm == NULL || comm->comm != number || comm->sources != NULL) {
		reader_fail(scan->in, message->offset, "neighbours: not behind its communicator");
		die_input(scan->in);
	}
	comm->sources = zalloc((size_t)count + 1, sizeof *comm->sources);
	comm->source_count = (uint32_t)count;
	if (body_column(scan->in, message, "sources", type, (size_t)count, (size_t)count,
	    comm->sources) < 0)
		die_input(scan->in);
}

/* The number of a module in the table of all: ranks of one program share theirs. */
static uint32_t
module_number(struct input *input, char *path, const msgpack_object *build_id)
{
	struct module *module;
	uint32_t size = 0;
	const char *bytes = "";

	if (build_id != NULL && build_id->type == MSGPACK_OBJECT_BIN &&
	    build_id->via.bin.size <= sizeof module->build_id) {
		size = build_id->via.bin.size;
		bytes = build_id->via.bin.ptr;
	}
	for (size_t i = 0; i < input->module_count; i++) {
		module = &input->modules[i];
		if (strcmp(module->path, path) == 0 && module->build_id_size == size &&
		    memcmp(module->build_id, bytes, size) == 0) {
			free(path);
			return (uint32_t)i;
		}
	}
	module = APPEND(input->modules, input->module_count, input->module_capacity);
	module->path = path;
	module->build_id_size = size;
	memcpy(module->build_id, bytes, size);
	return (uint32_t)input->module_count - 1;
}

static void
scan_module(struct scan *scan, const struct message *message)
{
	struct rank *rank = owner(scan, message);
	struct raw_module *module;
	char *path = body_string(message, "path");
	uint64_t base, bytes;

	if (body_uint(scan->in, message, "base", &base) < 0 ||
	    body_uint(scan->in, message, "bytes", &bytes) < 0)
		die_input(scan->in);
	if (path == NULL)
		return;
	module = APPEND(rank->modules, rank->module_count, rank->module_capacity);
	*module = (struct raw_module){ base, bytes,
	    module_number(scan->input, path, body_get(message, "build_id")) };
}

static void
scan_site(struct scan *scan, const struct message *message)
{
	struct rank *rank = owner(scan, message);
	static const struct column_type type = { 4, false, true, 0 };
	struct raw_site site = { 0 };
	int64_t number, depth;

	if (body_int(scan->in, message, "site", 1, 1 << 28, &number) < 0)
		die_input(scan->in);
	site.site = (uint32_t)number;
	if (body_get(message, "stack") != NULL) {
		if (body_int(scan->in, message, "count", 1, 1 << 16, &depth) < 0)
			die_input(scan->in);
		site.stack = zalloc((size_t)depth, sizeof *site.stack);
		site.depth = (uint32_t)depth;
		if (body_column(scan->in, message, "stack", type, (size_t)depth, (size_t)depth,
		    site.stack) < 0)
			die_input(scan->in);
	} else if (body_uint(scan->in, message, "address", &site.address) < 0)
		die_input(scan->in);
	*APPEND(rank->sites, rank->site_count, rank->site_capacity) = site;
}

static void
scan_clock(struct scan *scan, const struct message *message)
{
	struct rank *rank = owner(scan, message);
	struct reader *in = scan->in;
	const int64_t limit = INT64_MAX / 4;	/* so that sums of times stay in range */
	struct sample sample;
	int64_t peer;

	if (body_int(in, message, "peer", 0, scan->input->rank_count - 1, &peer) < 0)
		die_input(in);
	if (is_kind(message, "clock_shared")) {
		rank->clock_peer = (int32_t)peer;
		return;
	}
	if (body_int(in, message, "at_ns", -limit, limit, &sample.at_ns) < 0 ||
	    body_int(in, message, "offset_ns", -limit, limit, &sample.offset_ns) < 0 ||
	    body_int(in, message, "error_ns", 0, limit, &sample.error_ns) < 0)
		die_input(in);
	sample.peer = (int32_t)peer;
	*APPEND(rank->samples, rank->sample_count, rank->sample_capacity) = sample;
}

static void
begin_trace(struct scan *scan)
{
	scan->rank = NULL;
	scan->first_block = scan->input->block_count;
	scan->threads = 0;
}

static void
end_trace(struct scan *scan, const struct message *message)
{
	if (scan->rank == NULL) {
		reader_fail(scan->in, message->offset, "a raw trace that does not name its rank");
		die_input(scan->in);
	}
	scan->rank->ended = is_kind(message, "end");
	scan->rank->thread_end_ns = zalloc(scan->threads, sizeof *scan->last_leave_ns);
	for (size_t t = 0; t < scan->threads; t++)
		scan->rank->thread_end_ns[t] = scan->last_leave_ns[t];
}

void
index_file(struct input *input, const char *file)
{
	struct reader *in = &input->scan;
	struct scan scan = { .input = input, .in = in };
	uint16_t *call_map = in->call_map;
	struct calls calls = { 0 };
	struct message message;
	int got, traces = 0;

	if (file == NULL)
		make_stdin_seekable();
	if (reader_open_raw(in, file) < 0)
		die_input(in);
	in->names_late = true;
	if (call_map != NULL) {		/* the ranks of a run number their calls alike */
		free(in->call_map);
		in->call_map = call_map;
	}
	scan.file = in->file;
	while ((got = reader_next(in, &message)) > 0) {
		if (is_kind(&message, "longpole"))
			begin_trace(&scan), traces++;
		else if (is_kind(&message, "end") || is_kind(&message, "cut"))
			end_trace(&scan, &message);
		else if (is_kind(&message, "rank"))
			scan_rank(&scan, &message);
		else if (is_kind(&message, "calls"))
			scan_calls(&scan, &message, &calls);
		else if (is_kind(&message, "communicator"))
			scan_communicator(&scan, &message);
		else if (is_kind(&message, "neighbours"))
			scan_neighbours(&scan, &message);
		else if (is_kind(&message, "module"))
			scan_module(&scan, &message);
		else if (is_kind(&message, "site"))
			scan_site(&scan, &message);
		else if (is_kind(&message, "clock") || is_kind(&message, "clock_shared"))
			scan_clock(&scan, &message);
	}
	if (got < 0)
		die_input(in);
	if (traces == 0) {
		reader_fail(in, 0, "empty: no raw trace");
		die_input(in);
	}
	calls_free(&calls);
	free(scan.last_leave_ns);
	call_map = in->call_map;
	in->call_map = NULL;
	if (input->head.history == NULL) {	/* the recorder's command line heads the new history */
		input->head.history = in->history;
		input->head.history_count = in->history_count;
		in->history = NULL;
		in->history_count = 0;
	}
	reader_close(in);
	in->call_map = call_map;
}
