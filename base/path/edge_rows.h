/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows that show what a call may have waited for: its own, and the starts that it completes. */
#ifndef EDGE_ROWS_H
#define EDGE_ROWS_H

#include "stretch.h"
#include "../mpi/call_class.h"

struct edge_rows {
	const struct window *window;
	uint64_t first, at;		/* seq of the call and of the row to look at */
	uint32_t location;
	bool completes, at_start;	/* next: the start that the row before AT completes */
	const struct event_row *edge;	/* the row found, and its place */
	uint32_t edge_location;
	uint64_t edge_seq;
};

static inline bool
may_wait(const struct event_row *call)
{
	enum call_class class = call_class(call->row.call);

	/* A start does not wait, but its completion may. */
	return !call->cut && class != CLASS_SEND_START && class != CLASS_RECV_START &&
	    class != CLASS_START && !is_collective_start(class);
}

/* Is the row's edge that of a message that it sends? */
static inline bool
row_sends(const struct event_row *row)
{
	enum call_class class = call_class(row->row.call);

	return class == CLASS_SEND || class == CLASS_SEND_START || (class == CLASS_SENDRECV &&
	    row->row.part == 0) || (class == CLASS_START && row->is_send);
}

static inline struct edge_rows
edge_rows(const struct window *window, uint32_t location, uint64_t seq)
{
	const struct event_row *call = window_row(window, location, seq);
	const enum call_class class = call_class(call->row.call);

	/* A query of a request waits as its completion does. */
	return (struct edge_rows){ .window = window, .first = seq, .at = seq, .location = location,
	    .completes = class == CLASS_COMPLETE || class == CLASS_PROBE };
}

static inline bool
edge_rows_next(struct edge_rows *e)
{
	const struct event_row *row;

	if (e->at_start) {
		e->at_start = false;
		row = window_row(e->window, e->location, e->at - 1);
		if (row_refers(&row->row, e->location, e->at - 1,
		    &e->edge_location, &e->edge_seq) &&
		    ((e->edge = window_row(e->window, e->edge_location, e->edge_seq)) != NULL ||
		    (e->edge = window_kept(e->window, e->edge_location, e->edge_seq)) != NULL))
			return true;
	}
	row = window_row(e->window, e->location, e->at);
	if (row == NULL || row->row.part != e->at - e->first)
		return false;
	e->edge = row;
	e->edge_location = e->location;
	e->edge_seq = e->at++;
	e->at_start = e->completes;
	return true;
}

#endif
