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
#include <string.h>

#include "overdue.h"

struct overdue {
	uint64_t *mark, *next_mark;	/* by location: rows before these */
	int64_t marked;			/* when NEXT_MARK was set: rows, or ns */
	int64_t newest_ns;		/* the latest leave of the rows before NEXT_MARK */
	uint64_t open;			/* operations that are overdue now */
	uint32_t *location;		/* rows since the last message */
	uint64_t *seq;
	size_t count, location_capacity, seq_capacity;
};

struct overdue *
overdue_new(uint32_t locations)
{
	struct overdue *o = zalloc(1, sizeof *o);

	o->mark = zalloc(locations, sizeof *o->mark);
	o->next_mark = zalloc(locations, sizeof *o->next_mark);
	return o;
}

bool
overdue_is_time(const struct overdue *o, int64_t at, int64_t every, int64_t come_ns)
{
	return at >= o->marked + every && come_ns >= o->newest_ns;
}

uint64_t *
overdue_mark(struct overdue *o, int64_t at, int64_t newest_ns)
{
	uint64_t *passed = o->mark;

	o->mark = o->next_mark;
	o->next_mark = passed;
	o->marked = at;
	o->newest_ns = newest_ns;
	return passed;
}

/* Whether an edge to it may still be waited for; else it is noted. */
static bool
is_early(struct overdue *o, struct operation *op)
{
	if (op->seq >= o->mark[op->location])
		return true;
	if (op->overdue)
		return false;
	op->overdue = true;
	o->open++;
	GROW(o->location, o->location_capacity, o->count + 1);
	GROW(o->seq, o->seq_capacity, o->count + 1);
	o->location[o->count] = op->location;
	o->seq[o->count++] = op->seq;
	return false;
}

static uint64_t
first_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Passes operations of the location that have become overdue; returns the row of the next one. */
static uint64_t
pass_overdue(struct graph *graph, uint32_t l)
{
	struct location *location = &graph->locations[l];

	for (; location->due != NONE; location->due = graph->operations[location->due].newer)
		if (is_early(graph->overdue, &graph->operations[location->due]))
			return graph->operations[location->due].seq;
	return location->next_seq;
}

bool
overdue_pass(struct graph *graph, uint64_t *seqs)
{
	struct overdue *o = graph->overdue;
	const uint32_t away = graph->exchange != NULL ? graph->exchange->listed.oldest : NONE;

	for (uint32_t l = 0; l < graph->known.location_count; l++)
		if (!is_away(graph, rank_of(graph, l)))
			seqs[l] = first_of(seqs[l], pass_overdue(graph, l));
	for (uint32_t i = away; i != NONE; i = graph->operations[i].newer) {
		struct operation *op = &graph->operations[i];

		if (is_early(o, op))
			seqs[op->location] = first_of(seqs[op->location], op->seq);
	}
	if (o->count > 0) {
		edges_flush(graph);
		write_overdue(graph, o->location, o->seq, o->count);
	}
	o->count = 0;
	return o->open > 0;
}

void
overdue_end(struct graph *graph)
{
	graph->overdue->open--;
}
