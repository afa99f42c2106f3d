/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the waits of threads for each other, once all of a run has been read: see handovers.c. */
#include <stdlib.h>

#include "../base/run/thread_waits.h"
#include "../base/tool/hash_table.h"
#include "../base/tool/search.h"
#include "held.h"

enum { LEAST_NS = 10000 };	/* a shorter wait stays computation */

/* The definition of a site with the name of the call. */
struct waiting_site {
	uint32_t of;			/* UINT32_MAX: free slot */
	uint16_t call;
	uint32_t site;
};
HASH_TABLE_OF(waiting_sites, struct waiting_site, of, call, of, UINT32_MAX)

/* One process while its threads are looked at. */
struct finding {
	struct handovers *all;
	const struct definitions *known;
	struct thread_waits waits;
	struct waiting_sites *sites;
	uint32_t defined;		/* the number of the next site */
	struct writer *out;
	int64_t begin_ns;		/* its first thread left its first call */
};

#define BEFORE(call, ns) ((call)->from_ns < (ns))
SEARCH(call_from, struct time_span, int64_t, BEFORE)
#undef BEFORE

/* Defines the site of a call, if need be: as that of a sample, but with the name of the call. */
static uint32_t
define_site(struct finding *f, uint32_t of, uint16_t call)
{
	struct waiting_site key = { of, call, f->defined }, *found;
	struct stack_frame frame, inlined;
	struct site site;

	if (of == 0 || of >= f->known->site_count || !f->known->sites[of].defined)
		return 0;
	found = waiting_sites_add(&f->sites, &key);
	if (found->site < f->defined)
		return found->site;
	site = f->known->sites[of];
	frame = own_frame(f->known, of, &inlined);
	site.call = call_name(call);
	site.function = frame.name;
	site.file = frame.file;
	site.line = frame.line;
	site.inlined_count = 0;
	site_write(f->out, f->defined, &site);
	return f->defined++;
}

/* Where the thread waited between two instants, in the program's own code. */
static uint32_t
place_of_wait(const struct finding *f, uint32_t location, int64_t from_ns, int64_t to_ns)
{
	struct off_cut cut = off_between(off_lane_of(f->all->lanes, location, 0), from_ns, to_ns);
	const struct thread_lane *lane = lane_find(f->all->lanes, location, 0);
	size_t i = lane != NULL ? lane_from(lane, from_ns) : 0;
	struct off_span part;

	while (off_next(&cut, &part))
		if (part.site != 0)
			return waiting_place(f->known, part.site, part.callers);
	for (; lane != NULL && i < lane->end && lane->at[i].at_ns < to_ns; i++)
		if (lane->at[i].site != 0)
			return waiting_place(f->known, lane->at[i].site,
			    lane->at[i].callers);
	return 0;
}

/*
 * Rows come after the first call of the process, which is MPI_Init, and those of its first thread
 * before the last one, which is MPI_Finalize.
 */
static bool
has_room(const struct finding *f, uint32_t location, int64_t enter_ns)
{
	const struct thread_rows *t = &f->all->threads[location];

	return enter_ns >= f->begin_ns && t->calls.count > 0 && (location >=
	    (uint32_t)f->known->ranks || enter_ns <= t->calls.at[t->calls.count - 1].from_ns);
}

static void
make_row(const struct finding *f, uint32_t location, struct made_row row)
{
	struct thread_rows *t = &f->all->threads[location];
	const size_t next = call_from(t->calls.at, t->calls.count,
	    row.enter_ns + (row.leave_ns > row.enter_ns));

	row.before = next < t->calls.count ? t->seq[next] : t->rows;
	*APPEND(t->made, t->count, t->capacity) = row;
}

static void
make_pair(struct finding *f, uint32_t waiter, uint32_t by, int64_t from_ns, int64_t at_ns,
    uint32_t place)
{
	const int32_t tag = (int32_t)f->all->count;

	if (!has_room(f, waiter, from_ns) || !has_room(f, by, at_ns) || tag == INT32_MAX)
		return;
	f->all->count++;
	make_row(f, waiter, (struct made_row){ .enter_ns = from_ns, .leave_ns = at_ns,
	    .site = define_site(f, place, call_thread_wait), .tag = tag,
	    .call = call_thread_wait });
	make_row(f, by, (struct made_row){ .enter_ns = at_ns, .leave_ns = at_ns,
	    .site = define_site(f, place, call_thread_signal), .tag = tag,
	    .call = call_thread_signal });
}

/* Who created the thread: the one that was active then, as far as that is known. */
static void
find_creator(struct finding *f, const struct thread_times *t)
{
	const int64_t at_ns = off_lane_of(f->all->lanes, t->location, 0)->from_ns;
	const struct time_span wait = { f->begin_ns, at_ns };
	int64_t last_ns = INT64_MIN;
	const struct thread_times *by = awaited_by(&f->waits, t, &wait, NEAR_NS, &last_ns);

	if (by != NULL && by != t && by->worker == 0 && last_ns > at_ns - NEAR_NS)
		make_pair(f, t->location, by->location, last_ns, last_ns, 0);
}

static void
find_waits(struct finding *f, const struct thread_times *t)
{
	const struct off_lane *lane = off_lane_of(f->all->lanes, t->location, 0);
	const int64_t near_ns = f->waits.sampled ? f->all->period_ns : NEAR_NS;

	for (size_t i = 0; i < t->waits.count; i++) {
		const struct time_span wait = { larger(t->waits.at[i].from_ns, lane->from_ns),
			t->waits.at[i].to_ns };
		const struct thread_times *by;
		int64_t at_ns;

		if (wait.to_ns > lane->until_ns || wait.to_ns - wait.from_ns < LEAST_NS)
			continue;
		by = awaited_by(&f->waits, t, &wait, near_ns, &at_ns);
		if (by != NULL && by != t && by->worker == 0 && at_ns > wait.from_ns)
			make_pair(f, t->location, by->location, wait.from_ns, at_ns,
			    place_of_wait(f, t->location, wait.from_ns, wait.to_ns));
	}
}

/* A thread signals before it waits. */
ORDER(by_place, struct made_row, BY(before) BY(enter_ns) BY(leave_ns) BY(tag))

static void
find_in_process(struct finding *f, uint32_t first)
{
	struct handovers *h = f->all;
	struct calling_thread *threads = NULL;
	size_t count = 0, capacity = 0;
	bool by_clock = false;

	for (uint32_t l = first; l != NONE; l = h->next[l]) {
		const struct off_lane *lane = off_lane_of(h->lanes, l, 0);

		by_clock |= lane != NULL && lane->clock;
		*APPEND(threads, count, capacity) = (struct calling_thread){
		    .location = l, .calls = h->threads[l].calls };
	}
	if (h->threads[first].calls.count > 0) {
		f->begin_ns = h->threads[first].calls.at[0].to_ns;
		thread_waits_find(&f->waits, f->known, h->lanes, h->period_ns,
		    threads, count, f->begin_ns, f->known->run_ns);
		for (size_t i = 0; i < f->waits.count && !by_clock; i++) {
			const struct thread_times *t = &f->waits.of[i];

			if (t->worker > 0)
				continue;
			if (t->location != first)
				find_creator(f, t);
			find_waits(f, t);
		}
	}
	for (uint32_t l = first; l != NONE; l = h->next[l])
		SORT(h->threads[l].made, h->threads[l].count, by_place);
	free(threads);
}

/* The names of both calls, with numbers that the stream does not use. */
static void
write_names(struct graph *graph)
{
	const uint16_t *taken = reader_calls(graph->in),
	    *numbers = reader_call_numbers(graph->in);
	unsigned number = UINT16_MAX;
	const uint16_t calls[] = { call_thread_wait, call_thread_signal };

	for (int i = 0; i < 2; i++) {
		graph->thread_numbers[i] = numbers[calls[i]];
		if (graph->thread_numbers[i] != 0)
			continue;
		while (number > 0 && taken[number] != 0)
			number--;
		if (number == 0)
			die("the stream defines all numbers of calls");
		graph->thread_numbers[i] = (uint16_t)number--;
		message_begin(&graph->out, "call", 2);
		put_uint(&graph->out, "number", graph->thread_numbers[i]);
		put_string(&graph->out, "name", call_name(calls[i]));
		end_message(&graph->out);
	}
}

void
handovers_find(struct handovers *h, struct graph *graph)
{
	struct finding f = { .all = h, .known = &graph->known, .out = &graph->out,
	    .defined = (uint32_t)graph->known.site_count };

	if (!h->looks || h->held.oldest == NULL || !h->lanes->watched)
		return;
	write_names(graph);
	for (uint32_t rank = 0; rank < (uint32_t)graph->known.ranks; rank++)
		if (h->next[rank] != NONE)
			find_in_process(&f, rank);
	free(f.sites);
	h->looks = false;
}
