/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of a stretch: what each event follows from (the rule is in critpath.h). */
#include <stdlib.h>

#include "edge_rows.h"

static const struct event_row *
row_at(const struct window *window, uint32_t location, uint64_t seq)
{
	return window_row(window, location, seq);
}

/* Takes the far end of EDGE if it blocked CALL later than what blocked it at *BEST_NS. */
static void
candidate(const struct window *window, const struct event_row *edge, const struct event_row *call,
    int64_t *best_ns, uint32_t *other, uint64_t *other_seq)
{
	const struct event_row *far;
	int64_t at_ns;

	if (!edge->has_other || (far = row_at(window, edge->other, edge->other_seq)) == NULL)
		return;
	at_ns = far->row.enter_ns;
	if (at_ns < call->row.enter_ns || at_ns > call->row.leave_ns || at_ns < *best_ns)
		return;
	if (at_ns == call->row.leave_ns && row_sends(edge))
		return;		/* a send that ends as its receive begins did not wait for it */
	if (at_ns == *best_ns && (edge->other > *other ||
	    (edge->other == *other && edge->other_seq >= *other_seq)))
		return;
	*best_ns = at_ns;
	*other = edge->other;
	*other_seq = edge->other_seq;
}

/* What blocked the call whose first row is SEQ: true and the blocking row, or false. */
static bool
blocked_by(const struct window *window, uint32_t location, uint64_t seq, uint32_t *other,
    uint64_t *other_seq)
{
	const struct event_row *call = row_at(window, location, seq);
	int64_t best_ns = INT64_MIN;

	*other = NOBODY;
	*other_seq = UINT64_MAX;
	if (!may_wait(call))
		return false;
	for (struct edge_rows e = edge_rows(window, location, seq); edge_rows_next(&e);)
		candidate(window, e.edge, call, &best_ns, other, other_seq);
	return *other != NOBODY;
}

int64_t
time_of(const struct stretch *stretch, struct event event)
{
	const struct event_row *row = row_at(stretch->window, event.location, event.seq);

	return event.leave ? row->row.leave_ns : row->row.enter_ns;
}

bool
event_before(const struct stretch *stretch, struct event at, struct event *before)
{
	const struct window *window = stretch->window;
	uint32_t other;
	uint64_t seq;

	if (!at.leave) {
		if (at.seq <= stretch->first_seq[at.location])
			return false;
		seq = at.seq - 1;
		*before = (struct event){ seq - row_at(window, at.location, seq)->row.part, at.location,
		    true };
		return true;
	}
	*before = (struct event){ at.seq, at.location, false };
	if (!blocked_by(window, at.location, at.seq, &other, &seq))
		return true;
	seq -= row_at(window, other, seq)->row.part;
	/* What lies outside the stretch cannot be on a path within it. */
	if (seq >= stretch->first_seq[other] && seq < stretch->end_seq[other])
		*before = (struct event){ seq, other, false };
	return true;
}

uint64_t
count_events(const struct stretch *stretch)
{
	uint64_t events = 0;

	for (uint32_t l = 0; l < stretch->window->locations; l++)
		events += 2 * (stretch->end_seq[l] - stretch->first_seq[l]);
	return events;
}

void
add_piece(struct segments *segments, const struct stretch *stretch, const struct event *from,
    struct event at)
{
	const struct event_row *row = row_at(stretch->window, at.location, at.seq);
	int64_t begin_ns = from != NULL ? time_of(stretch, *from) : stretch->begin_ns;
	int64_t end_ns = at.leave ? row->row.leave_ns : row->row.enter_ns;
	enum segment_kind kind = from == NULL || from->leave ? COMPUTE :
	    from->location == at.location && from->seq == at.seq ? MPI : TRANSFER;

	if (begin_ns == end_ns)
		return;
	segments->at = grow(segments->at, &segments->capacity, segments->count + 1,
	    sizeof *segments->at);
	segments->at[segments->count++] = (struct segment){ begin_ns, end_ns, at.location,
	    row->row.site, kind == COMPUTE ? 0 : row->row.call, (uint8_t)kind };
}

void
reverse_segments(struct segments *segments, size_t begin)
{
	for (size_t i = begin, j = segments->count; i + 1 < j; i++) {
		struct segment kept = segments->at[i];

		segments->at[i] = segments->at[--j];
		segments->at[j] = kept;
	}
}

void
numbering_open(struct numbering *numbering, const struct stretch *stretch, int owner)
{
	uint32_t locations = stretch->window->locations;

	numbering->stretch = stretch;
	numbering->base = zalloc((size_t)locations + 1, sizeof *numbering->base);
	for (uint32_t l = 0; l < locations; l++)
		numbering->base[l + 1] = numbering->base[l] +
		    (owner < 0 || owner_of(stretch, l) == owner ?
		    stretch->end_seq[l] - stretch->first_seq[l] : 0);
}

void
numbering_close(struct numbering *numbering)
{
	free(numbering->base);
}

struct event
numbering_event(const struct numbering *numbering, uint64_t number)
{
	uint32_t low = 0, high = numbering->stretch->window->locations;

	while (high - low > 1) {	/* the last location whose base is not behind the row */
		uint32_t middle = low + (high - low) / 2;

		if (numbering->base[middle] <= number / 2)
			low = middle;
		else
			high = middle;
	}
	return (struct event){ numbering->stretch->first_seq[low] + number / 2 -
	    numbering->base[low], low, (number & 1) != 0 };
}
