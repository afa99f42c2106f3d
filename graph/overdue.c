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

#include "graph.h"

struct overdue {
	uint64_t *mark, *next_mark;	/* by location: rows before these */
	int64_t marked;			/* when NEXT_MARK was set: rows, or ns */
	int64_t newest_ns;		/* the latest leave of the rows before NEXT_MARK */
	uint64_t open;			/* operations that are overdue now */
	uint32_t *location;		/* rows since the last message */
	uint64_t *seq;
	size_t count, location_capacity, seq_capacity;
};

static void
set_marks(struct graph *graph, struct overdue *o)
{
	const uint32_t locations = graph->known.location_count;

	memcpy(o->mark, o->next_mark, locations * sizeof *o->mark);
	for (uint32_t l = 0; l < locations; l++) {
		const struct location *location = &graph->locations[l];

		o->next_mark[l] = location->next_seq;
		o->newest_ns = larger(o->newest_ns, location->last_leave_ns);
	}
}

/* Notes operations of the location that have become overdue; returns the row of the next one. */
static uint64_t
pass_overdue(struct graph *graph, struct overdue *o, uint32_t l)
{
	struct location *location = &graph->locations[l];
	struct operation *op;

	for (; location->due != NONE; location->due = op->newer) {
		op = &graph->operations[location->due];
		if (op->seq >= o->mark[l])
			return op->seq;
		op->overdue = true;
		o->open++;
		GROW(o->location, o->location_capacity, o->count + 1);
		GROW(o->seq, o->seq_capacity, o->count + 1);
		o->location[o->count] = l;
		o->seq[o->count++] = op->seq;
	}
	return location->next_seq;
}

bool
overdue_look(struct graph *graph, int64_t at, int64_t every, int64_t come_ns, uint64_t *seqs)
{
	const uint32_t locations = graph->known.location_count;
	struct overdue *o = graph->overdue;

	if (o == NULL) {
		o = graph->overdue = zalloc(1, sizeof *o);
		o->mark = zalloc(locations, sizeof *o->mark);
		o->next_mark = zalloc(locations, sizeof *o->next_mark);
	}
	if (at >= o->marked + every && come_ns >= o->newest_ns) {
		o->marked = at;
		set_marks(graph, o);
	}
	for (uint32_t l = 0; l < locations; l++)
		seqs[l] = pass_overdue(graph, o, l);
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
