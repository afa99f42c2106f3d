/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the passes: checks that the raw traces are complete and belong to one run; finds
 * locations and their ends.
 */
#include <stdlib.h>

#include "../base/mpi/call_class.h"
#include "merge.h"
#include "source.h"
#include "unended.h"

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

/*
 * Threads that only have regions are workers (samples.c); the last of a rank's need no location.
 */
static void
forget_idle_threads(struct input *input)
{
	for (struct rank *rank = input->ranks; rank < input->ranks + input->rank_count; rank++)
		while (rank->threads > 1 && rank->thread[rank->threads - 1].rows == 0)
			rank->threads--;
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

static void
find_ends_of(struct source *source, struct rank *rank, int32_t number, struct calls *calls)
{
	bool any = false;

	for (size_t t = 0; t < rank->threads; t++) {
		struct thread *thread = &rank->thread[t];

		if (thread->rows == 0)
			continue;
		if (!thread->ends)
			find_end(source, number, thread, calls);
		if (!any || thread->begin_ns < rank->begin_ns)
			rank->begin_ns = thread->begin_ns;
		if (!any || thread->end_ns > rank->end_ns)
			rank->end_ns = thread->end_ns;
		any = true;
	}
}

/* Finds the first enter and the last leave of each rank. */
void
find_ends(struct input *input)
{
	struct source source;
	struct calls calls = { 0 };

	source_open(&source, input);
	for (int32_t r = 0; r < input->rank_count; r++)
		find_ends_of(&source, &input->ranks[r], r, &calls);
	calls_free(&calls);
	source_close(&source);
}

void
check_ranks(struct input *input, const char *whole)
{
	int32_t missing = 0, first_missing = -1, early = 0, told = 0;
	bool died = input->died;

	/* All names have been read by now. */
	for (unsigned number = 1; number <= UINT16_MAX; number++)
		input->used[reader_calls(input->in)[number]] = true;
	if (whole == NULL)
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
		die("%s: rank %d of %d is missing (%d in all; --partial goes on without)", whole,
		    (int)first_missing, (int)input->rank_count, (int)missing);
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
	forget_idle_threads(input);
	number_locations(input);
	find_last_rows(input);
}
