/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long stretches: the path up to an event may be certain long before the stretch ends.
 *
 * Each event follows from one event only. So the ways back from all events that the path may still
 * come from are chains that merge, like survivors in Viterbi's algorithm (online with this rule:
 * Sramek, Brejova, Vinar, WABI 2007). Where all have merged, the path leads through that event. The
 * part before it is taken at once and its rows are forgotten. Memory thus depends on how soon the
 * ranks hear of each other, not on the length of the stretch.
 *
 * Calls are open from the first one on that a later edge may reach (settled, in lp-trace(5)). An
 * open call follows from its own enter, or from an event not before that. The horizon is the enter
 * of the first open call. After it, events follow from events before it in two ways only: through a
 * settled event, or through the last event of a location before it.
 */
#include "functions.h"
#include "run.h"

#include "../team/team.h"
#include "../tool/heap.h"

struct chain {
	int64_t ns;
	struct event event;
};

static inline bool
is_later(const struct chain *a, const struct chain *b)
{
	if (a->ns != b->ns)
		return a->ns > b->ns;
	if (a->event.leave != b->event.leave)
		return a->event.leave;
	if (a->event.location != b->event.location)
		return a->event.location > b->event.location;
	return a->event.seq > b->event.seq;
}

HEAP(chains, struct chain, is_later)

struct front {
	struct chain *at;
	size_t count, capacity;
};

static void
add_chain(struct front *front, const struct stretch *stretch, struct event event)
{
	GROW(front->at, front->capacity, front->count + 1);
	chains_push(front->at, &front->count, (struct chain){ time_of(stretch, event), event });
}

/*
 * Adds all events before the horizon that the path may come from, for one location. These are the
 * predecessors of its settled events from there on, and its last event before. False if that is the
 * begin of the stretch.
 */
static bool
add_location(struct front *front, const struct stretch *stretch, uint32_t location, uint64_t open,
    int64_t horizon_ns)
{
	struct event at = { open, location, false }, before;
	int64_t ns;

	for (;;) {
		if (at.seq <= stretch->first_seq[location] && !at.leave) {
			if (!event_before(stretch, at, &before, &ns))
				return false;
			/* otherwise an event of another location, which is added there */
			if (ns < horizon_ns)
				add_chain(front, stretch, before);
			return true;
		}
		/* The event before it on its location. */
		if (at.leave)
			at.leave = false;
		else {
			const struct event_row *row = window_row(stretch->window,
			    location, at.seq - 1);

			if (row == NULL)
				return false;
			at = (struct event){ at.seq - 1 - row->row.part, location, true };
		}
		if (time_of(stretch, at) < horizon_ns) {
			add_chain(front, stretch, at);
			return true;
		}
		if (event_before(stretch, at, &before, &ns) && ns < horizon_ns)
			add_chain(front, stretch, before);
	}
}

/*
 * Follows the chains back, the latest first, until they merge; not far back, as more rows may come,
 * and less far where none has merged for LONG: those ranks may never hear of each other.
 */
static bool
run_together(struct front *front, const struct stretch *stretch, struct event *met)
{
	enum { LONG = 1 << 12 };
	const uint64_t most = window_count(stretch->window) / 4 + front->count;
	size_t chains = 0;

	for (uint64_t done = 0; front->count > 0; done++) {
		struct chain last = chains_pop(front->at, &front->count);
		struct event before;
		int64_t ns;

		while (front->count > 0 && same_event(front->at[0].event, last.event))
			chains_pop(front->at, &front->count);
		if (front->count == 0) {
			*met = last.event;
			return true;
		}
		if (done == most / 8 && most / 8 > LONG)
			chains = front->count;
		if (done == most || (done == most / 4 && front->count == chains) ||
		    (stretch->from_event && same_event(last.event, stretch->from)) ||
		    !event_before(stretch, last.event, &before, &ns))
			return false;
		add_chain(front, stretch, before);
	}
	return false;
}

static bool
find_met(const struct run *run, const struct stretch *stretch, struct event *met)
{
	const struct window *window = &run->graph.window;
	struct front front = { 0 };
	uint64_t *open = zalloc(window->locations, sizeof *open);	/* row of that call */
	int64_t horizon_ns = INT64_MAX;
	bool all = true;

	for (uint32_t l = 0; all && l < window->locations; l++) {
		const uint64_t end = window_end(window, l);
		const struct event_row *row = NULL;

		if (end > run->first_seq[l] && window_first(window, l) < end) {
			/* its parts may be to come */
			open[l] = run->graph.seqs[l] < end ? run->graph.seqs[l] : end - 1;
			row = window_row(window, l, open[l]);
		}
		if ((all = row != NULL)) {
			open[l] -= row->row.part;
			horizon_ns = smaller(horizon_ns, time_of(stretch,
			    (struct event){ open[l], l, false }));
		}
	}
	for (uint32_t l = 0; all && l < window->locations; l++)
		all = add_location(&front, stretch, l, open[l], horizon_ns);
	all = all && run_together(&front, stretch, met);
	free(front.at);
	free(open);
	return all;
}

/*
 * Limits the work of run_together to half of the rows that have come since the last time; to four
 * times as many if the run may go on, so that its windows come sooner.
 */
static void
set_next_try(struct run *run)
{
	const uint64_t rows = window_count(&run->graph.window);

	run->next_try = rows + rows / (run->goes_on ? 8 : 1);
}

bool
run_decided(struct run *run, const struct message *message, struct event *to)
{
	struct stretch stretch;
	bool met;

	if (!is_kind(message, "settled") || window_count(&run->graph.window) < run->next_try)
		return false;
	if (run->goes_on)
		graph_early(&run->graph, message);
	for (uint32_t l = 0; l < run->graph.window.locations; l++)
		run->end_seq[l] = window_end(&run->graph.window, l);
	stretch = run_stretch(run, *to);
	met = find_met(run, &stretch, to) && !(run->from_event && (same_event(*to, run->from) ||
	    time_of(&stretch, *to) < run->from_ns));
	if (met)
		run->last_ns = time_of(&stretch, *to);
	set_next_try(run);
	return met;
}

/* ---- forgetting ----------------------------------------------------------------------------- */

/* It has been completed. If it is overdue, its edge may still come. */
static void
forget_start(struct run *run, uint32_t location, uint64_t seq)
{
	const struct event_row *kept = window_kept(&run->graph.window, location, seq);

	if (kept != NULL && !kept->overdue)
		window_forget_kept(&run->graph.window, location, seq);
}

/*
 * Before a row is forgotten: keeps an uncompleted start, whose edge counts for the call that
 * completes it, maybe much later; and drops a start that this row completes. COMPLETED gets those
 * on other locations: they may come before the start is kept.
 */
static void
keep_start(struct run *run, const struct event_row *row, uint32_t location, uint64_t seq,
    struct events *completed)
{
	const enum call_class class = call_class(row->row.call);
	uint64_t to_seq;
	uint32_t to;

	if (row->has_other && (class == CLASS_SEND_START || class == CLASS_RECV_START ||
	    class == CLASS_START || is_collective_start(class))) {
		window_keep(&run->graph.window, location, seq);
		cost_count("starts_kept", 1);
	} else if ((class == CLASS_COMPLETE || class == CLASS_REQUEST_FREE) &&
	    row_refers(&row->row, location, seq, &to, &to_seq)) {
		if (to == location) {
			forget_start(run, to, to_seq);
			return;
		}
		*APPEND(completed->at, completed->count, completed->capacity) = (struct event){
		    to_seq, to, false };
	}
}

/* Forgets rows from SEQ to before LAST that were left before NS; returns the first that was not. */
static uint64_t
keep_starts(struct run *run, uint32_t location, uint64_t seq, uint64_t last, int64_t ns,
    struct events *completed)
{
	while (seq < last) {
		size_t left;
		const struct event_row *row = window_rows(&run->graph.window, location, seq,
		    false, &left);

		for (; left > 0 && seq < last; left--, seq++, row++) {
			if (row->row.leave_ns >= ns)
				return seq;
			keep_start(run, row, location, seq, completed);
		}
	}
	return seq;
}

/* ---- pieces of the path --------------------------------------------------------------------- */

static void
solve_piece(const struct pieces *p, struct event to)
{
	struct run *run = p->run;
	const struct stretch stretch = run_stretch(run, to);

	p->segments->count = 0;
	while (!solve_walk(&stretch, p->segments))
		cut_cycle(&stretch);
	p->take(p->context);
	run->from_event = true;
	run->from = to;
	run->from_ns = time_of(&stretch, to);
}

void
pieces_take(const struct pieces *p, struct event to)
{
	struct run *run = p->run;
	struct events completed = { 0 };

	solve_piece(p, to);
	/* Rows of calls that had ended by then are needed no more. */
	for (uint32_t l = 0; l < run->graph.window.locations; l++) {
		uint64_t last = window_end(&run->graph.window, l) - 1,
		    seq = window_first(&run->graph.window, l);

		/* never the last call */
		last -= ((const struct event_row *)window_row(&run->graph.window,
		    l, last))->row.part;
		seq = keep_starts(run, l, seq, last, run->from_ns, &completed);
		window_drop(&run->graph.window, l, seq);
	}
	for (size_t i = 0; i < completed.count; i++)
		forget_start(run, completed.at[i].location, completed.at[i].seq);
	free(completed.at);
	run_forget_samples(run, true);
	cost_count("early_events", 1);
	cost_count("rows_left", window_count(&run->graph.window));
	set_next_try(run);
}

/*
 * Walks a long way twice: back, to find its course, then forward piece by piece. No row is
 * forgotten: those that are still open would have to be found, and soon all will be.
 */
void
pieces_end(const struct pieces *p, struct event last)
{
	enum { PIECE = 1 << 18 };	/* events, and so segments in memory */
	const struct stretch stretch = run_stretch(p->run, last);
	const int64_t last_ns = p->run->last_ns;
	struct events marks = { 0 };

	if (count_events(&stretch) < 4 * PIECE)
		return;
	while (!walk_marks(&stretch, PIECE, &marks))
		cut_cycle(&stretch);
	while (marks.count > 0) {
		p->run->last_ns = time_of(&stretch, marks.at[--marks.count]);
		solve_piece(p, marks.at[marks.count]);
	}
	p->run->last_ns = last_ns;
	p->run->next_try = PIECE;	/* of the next stretch */
	free(marks.at);
}
