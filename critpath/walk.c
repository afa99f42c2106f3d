/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backward walk (Boehme et al. 2012): from the last event back, and where a call was blocked
 * over to the location that it waited for. Linear in the number of calls on the path.
 */
#include "critpath.h"

static const struct event_row *
row_at(const struct window *window, uint32_t location, uint64_t seq)
{
	return window_row(window, location, seq);
}

static bool
is_send(const struct event_row *row)
{
	enum call_class class = call_info(row->row.call)->class;

	return class == CLASS_SEND || class == CLASS_SEND_START ||
	    (class == CLASS_SENDRECV && row->row.part == 0) || (class == CLASS_START && row->is_send);
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
	if (at_ns == call->row.leave_ns && is_send(edge))
		return;		/* a send that ends as its receive begins did not wait for it */
	if (at_ns == *best_ns && (edge->other > *other ||
	    (edge->other == *other && edge->other_seq >= *other_seq)))
		return;
	*best_ns = at_ns;
	*other = edge->other;
	*other_seq = edge->other_seq;
}

bool
blocked_by(const struct window *window, uint32_t location, uint64_t seq, uint32_t *other,
    uint64_t *other_seq)
{
	const struct event_row *call = row_at(window, location, seq), *row = call;
	enum call_class class = call_info(call->row.call)->class;
	int64_t best_ns = INT64_MIN;

	*other = NOBODY;
	*other_seq = UINT64_MAX;
	if (class == CLASS_SEND_START || class == CLASS_RECV_START || class == CLASS_START ||
	    is_collective_start(class))
		return false;	/* a start does not wait; what completes it may */
	for (uint64_t at = seq; row != NULL && row->row.part == at - seq;
	    row = row_at(window, location, ++at)) {
		const struct event_row *start;
		uint32_t starter;
		uint64_t from;

		candidate(window, row, call, &best_ns, other, other_seq);
		if (class == CLASS_COMPLETE && row_refers(&row->row, location, at, &starter, &from) &&
		    (start = row_at(window, starter, from)) != NULL)
			candidate(window, start, call, &best_ns, other, other_seq);
	}
	return *other != NOBODY;
}

bool
call_before(const struct window *window, uint32_t location, uint64_t seq, uint64_t first,
    uint64_t *before)
{
	const struct event_row *row;

	if (seq <= first)
		return false;
	row = row_at(window, location, seq - 1);
	*before = seq - 1 - row->row.part;
	return true;
}

void
add_segment(struct segments *segments, const struct window *window, enum segment_kind kind,
    uint32_t location, uint64_t seq, int64_t begin_ns, int64_t end_ns)
{
	const struct event_row *row = row_at(window, location, seq);

	if (begin_ns == end_ns)
		return;
	segments->at = grow(segments->at, &segments->capacity, segments->count + 1,
	    sizeof *segments->at);
	segments->at[segments->count++] = (struct segment){ begin_ns, end_ns, location, row->row.site,
	    kind == COMPUTE ? 0 : row->row.call, (uint8_t)kind };
}

static uint64_t
first_row_of_call(const struct window *window, uint32_t location, uint64_t seq)
{
	return seq - row_at(window, location, seq)->row.part;
}

static void
reverse(struct segment *from, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct segment kept = from[i];

		from[i] = from[count - 1 - i];
		from[count - 1 - i] = kept;
	}
}

void
die_of_cycle(const struct stretch *stretch)
{
	die("calls wait for each other in a circle before %.9f s: the times are damaged",
	    1e-9 * (double)((const struct row *)window_row(stretch->window, stretch->to.location,
	    stretch->to.seq))->leave_ns);
}

void
solve_walk(const struct stretch *stretch, struct segments *segments)
{
	const struct window *window = stretch->window;
	size_t begin = segments->count;
	struct event at = stretch->to;
	uint64_t events = 0;

	for (uint32_t l = 0; l < window->locations; l++)
		events += 2 * (stretch->end_seq[l] - stretch->first_seq[l]);
	for (;;) {
		const struct event_row *row = row_at(window, at.location, at.seq);
		uint64_t seq;
		uint32_t other;

		if (events-- == 0)
			die_of_cycle(stretch);
		if (at.leave) {
			if (blocked_by(window, at.location, at.seq, &other, &seq)) {
				add_segment(segments, window, TRANSFER, at.location, at.seq,
				    row_at(window, other, seq)->row.enter_ns, row->row.leave_ns);
				at = (struct event){ other, first_row_of_call(window, other, seq), false };
			} else {
				add_segment(segments, window, MPI, at.location, at.seq, row->row.enter_ns,
				    row->row.leave_ns);
				at.leave = false;
			}
		} else if (call_before(window, at.location, at.seq, stretch->first_seq[at.location],
		    &seq)) {
			add_segment(segments, window, COMPUTE, at.location, at.seq,
			    row_at(window, at.location, seq)->row.leave_ns, row->row.enter_ns);
			at = (struct event){ at.location, seq, true };
		} else {
			/* The synchronisation point that the stretch began with, or the run's beginning. */
			add_segment(segments, window, COMPUTE, at.location, at.seq, stretch->begin_ns,
			    row->row.enter_ns);
			break;
		}
	}
	reverse(segments->at + begin, segments->count - begin);
}
