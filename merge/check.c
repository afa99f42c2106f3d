/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the passes: checks that the raw traces are complete and belong to one run; finds
 * locations and their ends.
 *
 * Of ranks that left no end, the call that a thread was in becomes its last row, such as
 * MPI_Recv(open), which lasts until the run ends. A rank outside calls gets a row (killed), unless
 * it called MPI_Abort. Traces without this information stay as they were.
 */
#include <stdlib.h>

#include "../base/mpi/call_class.h"
#include "../base/stream/open_call.h"
#include "merge.h"

enum { MOST_TOLD = 19 };	/* ranks named on standard error; one more line has their number */

void
number_locations(struct input *input)
{
	uint32_t locations = (uint32_t)input->rank_count;

	for (struct rank *rank = input->ranks; rank < input->ranks + input->rank_count; rank++) {
		rank->location_base = locations;
		if (rank->threads > 1)
			locations += rank->threads - 1;
	}
	input->location_count = locations;
	input->location_rank = zalloc(locations, sizeof *input->location_rank);
	for (int32_t r = 0; r < input->rank_count; r++) {
		input->location_rank[r] = r;
		for (uint32_t t = 1; t < input->ranks[r].threads; t++)
			input->location_rank[input->ranks[r].location_base + t - 1] = r;
	}
}

uint32_t
thread_number(const struct input *input, uint32_t location)
{
	return location < (uint32_t)input->rank_count ? 0 :
	    location - input->ranks[input->location_rank[location]].location_base + 1;
}

uint32_t
location_of(const struct input *input, int32_t rank, uint32_t thread)
{
	return thread == 0 ? (uint32_t)rank : input->ranks[rank].location_base + thread - 1;
}

const struct thread *
thread_of(const struct input *input, uint32_t location)
{
	const struct rank *rank = &input->ranks[input->location_rank[location]];
	const uint32_t thread = thread_number(input, location);

	return thread < rank->threads && rank->thread[thread].rows > 0 ?
	    &rank->thread[thread] : NULL;
}

/* Finds the last leave of a thread, from its last block. */
static void
find_end(struct source *source, int32_t rank, struct thread *thread, struct calls *calls)
{
	struct message message;

	source_message(source, rank, thread->last_offset, &message);
	source_calls(source, &message, calls);
	if (calls->first >= thread->rows || calls->first + calls->count < thread->rows)
		source_changed(source);
	thread->end_ns = calls->leave_ns[thread->rows - 1 - calls->first];
	thread->aborted = call_aborts(calls->call[thread->rows - 1 - calls->first]);
}

/* Finds the first enter and the last leave of each rank. */
void
find_ends(struct input *input)
{
	struct source source;
	struct calls calls = { 0 };

	source_open(&source, input);
	for (int32_t r = 0; r < input->rank_count; r++) {
		struct rank *rank = &input->ranks[r];
		bool any = false;

		for (size_t t = 0; t < rank->threads; t++) {
			struct thread *thread = &rank->thread[t];

			if (thread->rows == 0)
				continue;
			if (!thread->ends)
				find_end(&source, r, thread, &calls);
			if (!any || thread->begin_ns < rank->begin_ns)
				rank->begin_ns = thread->begin_ns;
			if (!any || thread->end_ns > rank->end_ns)
				rank->end_ns = thread->end_ns;
			any = true;
		}
	}
	calls_free(&calls);
	source_close(&source);
}

/* ---- ranks without an end ---- */

int
scan_open(struct scan *scan, const struct message *message, struct thread *thread)
{
	const struct open_call *open = open_call_of(message);

	if (open == NULL)
		return 0;
	scan->input->tells_open = true;
	thread->last = (struct last_row){ .enter_ns = open->enter_ns, .address = open->address,
	    .number = open->call, .comm = open->comm, .peer = open->peer, .tag = open->tag };
	return 0;
}

int
scan_died(struct scan *scan, const struct message *message)
{
	const int64_t most = INT64_MAX / 4;

	scan->input->tells_open = true;
	return body_int_if(scan->in, message, "at_ns", 1, most, &scan->rank->died_ns);
}

/* The rank's number of the row's site, added if no call has returned there; a frame may be. */
static uint32_t
site_at(struct rank *rank, const struct last_row *last)
{
	uint32_t most = 0;

	for (size_t i = 0; i < rank->site_count; i++) {
		if (rank->sites[i].call != 0 && rank->sites[i].address == last->address)
			return rank->sites[i].site;
		most = rank->sites[i].site > most ? rank->sites[i].site : most;
	}
	*APPEND(rank->sites, rank->site_count, rank->site_capacity) = (struct raw_site){
	    .site = most + 1, .call = (uint16_t)last->number, .address = last->address,
	    .modules = rank->module_count };
	return most + 1;
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
	    call_aborts(reader_calls(input->in)[thread->last_number]);
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
	if (last->in_call)
		last->site = site_at(rank, last);
}

void
check_ranks(struct input *input)
{
	int32_t missing = 0, first_missing = -1, early = 0, told = 0;
	bool died = input->died;

	/* All names have been read by now. */
	for (unsigned number = 1; number <= UINT16_MAX; number++)
		input->used[reader_calls(input->in)[number]] = true;
	if (input->world_count == 0)
		die("no raw trace gives its rank");
	/* If a rank died, others may have died before they had a trace. */
	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];

		if (!rank->present && missing++ == 0)
			first_missing = r;
		early += !rank->present || !rank->ended;
		died |= rank->present && !rank->ended;
	}
	if (missing > 0 && !input->partial && !died)
		die("%s: rank %d of %d is missing (%d in all; --partial goes on without)",
		    input->worlds->file, (int)first_missing, (int)input->rank_count, (int)missing);
	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];

		if (rank->present && rank->ended)
			continue;
		if (told++ == MOST_TOLD)
			note("of %d ranks in all the trace is missing or ended early; not all are "
			    "named", (int)early);
		if (told > MOST_TOLD)
			continue;
		if (!rank->present)
			note("rank %d is missing", (int)r);
		else
			note("%s: rank %d ended early, after %llu rows", rank->file, (int)r,
			    (unsigned long long)rank->rows);
	}
	/* Threads that only have regions are workers (samples.c): the last need no location. */
	for (struct rank *rank = input->ranks; rank < input->ranks + input->rank_count; rank++)
		while (rank->threads > 1 && rank->thread[rank->threads - 1].rows == 0)
			rank->threads--;
	number_locations(input);
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
	return thread->last.call == 0 ? thread->end_ns :
	    larger(larger(thread->end_ns, thread->last.enter_ns), rank->died_ns);
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
	need_memory(calls_add(calls, &row));
}

void
stretch_last_row(struct calls *calls, const struct thread *thread, int64_t end_ns)
{
	const size_t i = calls->count - 1;

	if (thread->last.call == 0)
		return;
	calls->leave_ns[i] = larger(calls->leave_ns[i], end_ns);
	if (!thread->last.in_call)
		calls->enter_ns[i] = calls->leave_ns[i];
}

/* ---- what they wait for ---- */

static struct awaited_thread
awaited_by(const struct input *input, const struct unreturned *found, uint32_t location)
{
	if (found == NULL)
		return (struct awaited_thread){ 0 };
	return unreturned_call(found, input->location_rank[location],
	    thread_number(input, location));
}

struct unreturned *
find_unreturned(struct input *input, bool names)
{
	struct symbol_files symbols = { 0 };
	struct unreturned *found;
	bool any = false;
	char **files;

	for (int32_t r = 0; r < input->rank_count; r++) {
		any |= last_rows(&input->ranks[r]) > 0;
		if (!input->ranks[r].present && input->partial)
			return NULL;
	}
	if (!any || input->holders > 0)
		return NULL;
	files = zalloc(input->file_count, sizeof *files);
	for (size_t i = 0; i < input->file_count; i++)
		files[i] = input->files[i] != NULL ? input->files[i] : "/dev/stdin";
	found = unreturned_open(files, input->file_count, names ? &symbols : NULL);
	symbol_files_close(&symbols);
	free(files);
	for (uint32_t l = 0; l < input->location_count; l++)
		input->used[awaited_by(input, found, l).operation] = true;
	return found;
}

/* ---- the message ---- */

/* In a cycle of threads that wait for each other the last one to enter is the cause. */
static void
cut_cycles(struct thread_ends *e, uint32_t location_count)
{
	uint32_t *at = zalloc(location_count, sizeof *at), *seen = zalloc(e->count, sizeof *seen);

	for (uint32_t i = 0; i < e->count; i++)
		at[e->locations[i]] = i;
	for (uint32_t i = 0; i < e->count; i++) {
		uint32_t end = i, last;

		while (seen[end] == 0 && e->waits_for[end] >= 0) {
			seen[end] = i + 1;
			end = at[e->waits_for[end]];
		}
		if (seen[end] != i + 1 || e->waits_for[end] < 0)
			continue;
		last = end;
		for (uint32_t k = at[e->waits_for[end]]; k != end; k = at[e->waits_for[k]])
			if (e->since_ns[k] > e->since_ns[last] ||
			    (e->since_ns[k] == e->since_ns[last] && k > last))
				last = k;
		e->waits_for[last] = -1;
		e->operations[last] = 0;
	}
	free(at);
	free(seen);
}

static bool
find_all(struct thread_ends *e, const struct input *input, const struct unreturned *found,
    int64_t moved_ns)
{
	bool known = false;

	for (uint32_t l = 0; l < input->location_count; l++) {
		const struct thread *thread = thread_of(input, l);
		const struct rank *rank = &input->ranks[input->location_rank[l]];
		const struct awaited_thread of = awaited_by(input, found, l);

		if (thread == NULL ||
		    (thread->last.call == 0 && !(thread->aborted && input->tells_open)))
			continue;
		known |= rank->died_ns != 0;
		e->locations[e->count] = l;
		e->since_ns[e->count] = event_ns(input, l, 2 * thread->rows - 1,
		    thread->aborted ? thread->end_ns : thread->last.enter_ns) - moved_ns;
		e->calls[e->count] = thread->aborted ? (uint16_t)call_number("MPI_Abort") :
		    thread->last.call;
		e->operations[e->count] = thread->last.in_call ? (uint16_t)of.operation : 0;
		/* -1: the other thread has no row that lasts until the end */
		e->waits_for[e->count] = e->operations[e->count] == 0 ||
		    of.thread >= input->ranks[of.rank].threads ||
		    input->ranks[of.rank].thread[of.thread].last.call == 0 ? -1 :
		    (int32_t)location_of(input, of.rank, of.thread);
		e->sites[e->count++] = thread->last.site < rank->site_map_size ?
		    rank->site_map[thread->last.site] : 0;
	}
	return known;
}

void
write_unended(struct writer *out, const struct input *input, struct unreturned *found,
    int64_t end_ns, int64_t moved_ns)
{
	struct thread_ends e = ends_begin(input->location_count);
	const bool known = find_all(&e, input, found, moved_ns);

	cut_cycles(&e, input->location_count);
	if (e.count > 0) {
		message_begin(out, "unended", found != NULL ? 11 : 7);
		put_int(out, "at_ns", end_ns);
		put_bool(out, "known", known);
		put_uint(out, "count", e.count);
		put_column(out, "location", e.locations, e.count);
		put_column(out, "call", e.calls, e.count);
		put_column(out, "since", e.since_ns, e.count);
		put_column(out, "site", e.sites, e.count);
		if (found != NULL) {
			put_string(out, "verdict", unreturned_verdict(found));
			put_string(out, "sentence", unreturned_sentence(found));
			put_column(out, "operation", e.operations, e.count);
			put_column(out, "waits_for", e.waits_for, e.count);
		}
		end_message(out);
	}
	if (found != NULL)
		unreturned_close(found);
	ends_free(&e);
}
