/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A row that still lacks its other end after so many later rows, or, in a run in progress, after 1
 * to 2 seconds of the run, is overdue. It may lack it for ever, so reports that follow the run, or
 * count it in order of time, go on without it.
 *
 * Rows have no times here. So this marks each time how far each location has come: a row before the
 * last mark but one is overdue. Between two marks all rows are read that were entered before the
 * first one, so a send that a receive waited for is not overdue. Each operation is looked at once.
 */
#include <stdlib.h>

#include "graph.h"

#define EVERY_NS 1000000000
enum { EVERY_ROWS = 1 << 18, LOCATION_ROWS = 16 };	/* rows: and these for each location */

struct overdue {
	uint32_t locations;
	/* By location: rows before these; behind them the latest leave of these rows. */
	int64_t *mark, *next_mark;
	int64_t marked;			/* when NEXT_MARK was set: rows, or ns */
	uint32_t *location;		/* rows since the last message */
	uint64_t *seq;
	size_t count, location_capacity, seq_capacity;
};

struct overdue *
overdue_new(uint32_t locations)
{
	struct overdue *o = zalloc(1, sizeof *o);

	o->locations = locations;
	o->mark = zalloc((size_t)locations + 1, sizeof *o->mark);
	o->next_mark = zalloc((size_t)locations + 1, sizeof *o->next_mark);
	return o;
}

bool
overdue_look(struct overdue *o, const struct team *team, const struct location *locations,
    int64_t at, bool is_time, int64_t come_ns)
{
	const int64_t every = is_time ? EVERY_NS :
	    EVERY_ROWS + LOCATION_ROWS * (int64_t)o->locations;
	int64_t *next = o->mark;

	if (at < o->marked + every || come_ns < o->next_mark[o->locations])
		return false;
	o->mark = o->next_mark;
	o->next_mark = next;
	o->marked = at;
	next[o->locations] = 0;
	for (uint32_t l = 0; l < o->locations; l++) {
		next[l] = (int64_t)locations[l].next_seq;
		next[o->locations] = larger(next[o->locations], locations[l].last_leave_ns);
	}
	if (team != NULL)	/* of other members' locations there are no rows here */
		team_max(team, next, (size_t)o->locations + 1);
	return true;
}

/* Whether an edge to it may still be waited for; else it is noted. */
static bool
is_early(struct graph *graph, struct operation *op)
{
	struct overdue *o = graph->overdue;

	if ((int64_t)op->seq >= o->mark[op->location])
		return true;
	if (op->overdue)
		return false;
	op->overdue = true;
	graph->overdue_count++;
	GROW(o->location, o->location_capacity, o->count + 1);
	GROW(o->seq, o->seq_capacity, o->count + 1);
	o->location[o->count] = op->location;
	o->seq[o->count++] = op->seq;
	return false;
}

bool
overdue_pass(struct graph *graph, uint64_t *seqs)
{
	struct overdue *o = graph->overdue;
	struct operation *of = graph->operations;
	const uint32_t away = graph->exchange != NULL ? graph->exchange->listed.oldest : NONE;

	for (uint32_t l = 0; l < o->locations; l++) {
		struct location *location = &graph->locations[l];

		if (is_away(graph, rank_of(graph, l)))
			continue;
		while (location->due != NONE && !is_early(graph, &of[location->due]))
			location->due = of[location->due].newer;
		lower(&seqs[l], location->due != NONE ? of[location->due].seq : location->next_seq);
	}
	for (uint32_t i = away; i != NONE; i = of[i].newer)
		if (is_early(graph, &of[i]))
			lower(&seqs[of[i].location], of[i].seq);
	if (o->count > 0) {
		edges_flush(graph);
		message_begin(&graph->out, "overdue", 3);
		put_uint(&graph->out, "count", o->count);
		put_column(&graph->out, "location", o->location, o->count);
		put_column(&graph->out, "seq", o->seq, o->count);
		end_message(&graph->out);
	}
	o->count = 0;
	return graph->overdue_count > 0;
}
