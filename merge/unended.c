/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that left no end. The call that a thread was in becomes its last row, such as
 * MPI_Recv(open), which lasts until the run ends. A rank outside calls gets a row (killed), unless
 * it called MPI_Abort. Traces without this information stay as they were.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/mpi/call_class.h"
#include "../base/stream/open_call.h"
#include "unended.h"

int
scan_open(struct scan *scan, const struct message *message, struct thread *thread)
{
	const msgpack_object *value = body_get(message, "open");
	struct open_call open;

	if (value == NULL || value->type != MSGPACK_OBJECT_BIN ||
	    value->via.bin.size != sizeof open)
		return 0;
	memcpy(&open, value->via.bin.ptr, sizeof open);
	scan->input->tells_open = true;
	thread->last = (struct last_row){ .enter_ns = open.enter_ns, .address = open.address,
	    .number = open.call, .comm = open.comm,
		.peer = open.peer, .tag = open.tag };
	return 0;
}

int
scan_died(struct scan *scan, const struct message *message)
{
	const int64_t most = INT64_MAX / 4;

	scan->input->tells_open = true;
	return body_get(message, "at_ns") == NULL ? 0 :
	    body_int(scan->in, message, "at_ns", 1, most, &scan->rank->died_ns);
}

/* The rank's number of the row's site, added if no call has returned there. */
static uint32_t
site_at(struct rank *rank, const struct last_row *last)
{
	uint32_t most = 0;

	for (size_t i = 0; i < rank->site_count; i++) {
		if (rank->sites[i].stack == NULL && rank->sites[i].address == last->address)
			return rank->sites[i].site;
		most = rank->sites[i].site > most ? rank->sites[i].site : most;
	}
	rank->sites = grow(rank->sites, &rank->site_capacity, rank->site_count + 1,
	    sizeof *rank->sites);
	rank->sites[rank->site_count++] = (struct raw_site){ .site = most + 1,
	    .call = (uint16_t)last->number,
		.address = last->address, .modules = rank->module_count };
	return most + 1;
}

bool
is_abort(unsigned call)
{
	return strcmp(call_name(call), "MPI_Abort") == 0;
}

/* Makes no row for a thread whose last place is unknown: it may have ended long ago. */
static void
find_last(struct input *input, struct rank *rank, struct thread *thread, bool first)
{
	struct last_row *last = &thread->last;
	const unsigned call = last->number <= UINT16_MAX ?
	    reader_calls(input->in)[last->number] : 0;
	char name[80] = "(killed)";
	int number;

	thread->aborted |= thread->last_number != 0 &&
	    is_abort(reader_calls(input->in)[thread->last_number]);
	if (thread->aborted || thread->rows == 0 || (call == 0 && !first) ||
	    call_class(call) == CLASS_FINALIZE)
		return;
	last->in_call = call != 0 && last->enter_ns >= thread->end_ns;
	if (last->in_call)
		snprintf(name, sizeof name, "%.60s(open)", call_name(call));
	else
		*last = (struct last_row){ .enter_ns = thread->end_ns, .peer = NO_PEER,
		    .tag = NO_TAG };
	if ((number = call_number(name)) < 0)
		return;
	input->used[number] = true;
	last->call = (uint16_t)number;
	last->since_ns = last->enter_ns;
	if (last->in_call)
		last->site = site_at(rank, last);
}

void
find_last_rows(struct input *input)
{
	for (int32_t r = 0; r < input->rank_count && input->tells_open; r++) {
		struct rank *rank = &input->ranks[r];

		for (uint32_t t = 0; t < rank->threads && rank->present && !rank->ended; t++)
			find_last(input, rank, &rank->thread[t], t == 0);
	}
}

uint64_t
last_rows(const struct rank *rank)
{
	uint64_t count = 0;

	for (uint32_t t = 0; t < rank->threads; t++)
		count += rank->thread[t].last.call != 0;
	return count;
}

int64_t
end_of_thread(const struct rank *rank, const struct thread *thread)
{
	int64_t end_ns = thread->end_ns;

	if (thread->last.call != 0 && thread->last.enter_ns > end_ns)
		end_ns = thread->last.enter_ns;
	return thread->last.call != 0 && rank->died_ns > end_ns ? rank->died_ns : end_ns;
}

void
add_last_row(struct calls *calls, const struct thread *thread)
{
	const struct last_row *last = &thread->last;
	struct call_row row = CALL_ROW;

	if (last->call == 0)
		return;
	row.enter_ns = row.leave_ns = last->enter_ns;
	row.call = last->call;
	row.site = last->site;
	row.comm = last->comm;
	row.peer = last->peer;
	row.tag = last->tag;
	if (calls_add(calls, &row) < 0)
		die("out of memory");
}

void
stretch_last_row(struct calls *calls, const struct thread *thread, int64_t end_ns)
{
	const size_t i = calls->count - 1;

	if (thread->last.call == 0)
		return;
	if (end_ns > calls->leave_ns[i])
		calls->leave_ns[i] = end_ns;
	if (!thread->last.in_call)
		calls->enter_ns[i] = calls->leave_ns[i];
}

void
write_unended(struct writer *out, const struct input *input, int64_t end_ns, int64_t moved_ns)
{
	static const struct column_type time_type = { 8, true, true, 0 },
	    call_type = { 2, false, true, 0 },
		number_type = { 4, false, true, 0 };
	int64_t *since_ns = zalloc(input->location_count, sizeof *since_ns);
	uint32_t *locations = zalloc(input->location_count, sizeof *locations),
	    *sites = zalloc(input->location_count, sizeof *sites);
	uint16_t *calls = zalloc(input->location_count, sizeof *calls);
	bool known = false;
	size_t count = 0;

	for (uint32_t l = 0; l < input->location_count; l++) {
		const struct thread *thread = thread_of(input, l);
		const struct rank *rank = &input->ranks[input->location_rank[l]];

		if (thread == NULL ||
		    (thread->last.call == 0 && !(thread->aborted && input->tells_open)))
			continue;
		known |= rank->died_ns != 0;
		locations[count] = l;
		since_ns[count] = event_ns(input, l, 2 * thread->rows - 1,
		    thread->aborted ? thread->end_ns : thread->last.since_ns) - moved_ns;
		calls[count] = thread->aborted ? (uint16_t)call_number("MPI_Abort") :
		    thread->last.call;
		sites[count++] = thread->last.site < rank->site_map_size ?
		    rank->site_map[thread->last.site] : 0;
	}
	if (count > 0) {
		message_begin(out, "unended", 7);
		put_int(out, "at_ns", end_ns);
		put_bool(out, "known", known);
		put_uint(out, "count", count);
		put_column(out, "location", number_type, locations, count);
		put_column(out, "call", call_type, calls, count);
		put_column(out, "since", time_type, since_ns, count);
		put_column(out, "site", number_type, sites, count);
		message_end(out);
	}
	free(since_ns);
	free(locations);
	free(sites);
	free(calls);
}
