/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of a stretch: what each event follows from (stretch.h has the rule). */
#include "../run/span.h"

#include "run.h"

static const struct event_row *
row_at(const struct window *window, uint32_t location, uint64_t seq)
{
	return window_row(window, location, seq);
}

bool
find_far(const struct stretch *stretch, const struct event_row *edge, struct far *far)
{
	const struct event_row *row;

	if (!edge->has_other)
		return false;
	*far = (struct far){ edge->other_seq, edge->other, { 0 } };
	if ((row = row_at(stretch->window, far->location, far->seq)) != NULL)
		far->end = far_end(&row->row);
	else if (!stretch->shared || owner_of(stretch, far->location) == stretch->team->rank ||
	    far->seq < stretch->first_seq[far->location])
		return false;
	else
		far->end = ((const struct shared_row *)edge)->far;
	return true;
}

bool
is_last_far(const struct row *call, const struct far *far, const struct far *last)
{
	if (!is_within(call, far->end.enter_ns) || far->end.enter_ns != last->end.enter_ns)
		return is_within(call, far->end.enter_ns) &&
		    far->end.enter_ns > last->end.enter_ns;
	return far->location < last->location ||
	    (far->location == last->location && far->seq < last->seq);
}

/* Finds the last post that a call waits for because MPI_Win_complete, in COMPLETE, may. */
static void
take_posts(const struct stretch *stretch, const struct row *call, const struct far *complete,
    struct far *last)
{
	const uint64_t first = complete->seq - complete->end.part;
	const struct event_row *row;
	struct far post;

	for (uint64_t seq = first; (row = row_at(stretch->window, complete->location, seq)) !=
	    NULL && row->row.part == seq - first; seq++)
		if (find_far(stretch, row, &post) && is_last_far(call, &post, last))
			*last = post;
}

/* Finds the last row that blocked the call with first row SEQ; false: none. */
static bool
blocked_by(const struct stretch *stretch, uint32_t location, uint64_t seq, struct far *last)
{
	const struct event_row call = *row_at(stretch->window, location, seq);
	struct far far;

	*last = (struct far){ .seq = UINT64_MAX, .location = NOBODY, .end.enter_ns = INT64_MIN };
	if (!may_wait(&call))
		return false;
	for (struct edge_rows e = edge_rows(stretch->window, location, seq); edge_rows_next(&e);) {
		if (!find_far(stretch, e.edge, &far))
			continue;
		if (call_class(call.row.call) == CLASS_EXPOSE_END)
			take_posts(stretch, &call.row, &far, last);
		/* a send that ends as its receive begins did not wait for it */
		if (far.end.enter_ns == call.row.leave_ns && row_sends(e.edge))
			continue;
		if (is_last_far(&call.row, &far, last))
			*last = far;
	}
	return last->location != NOBODY;
}

int64_t
time_of(const struct stretch *stretch, struct event event)
{
	const struct event_row *row = row_at(stretch->window, event.location, event.seq);

	return event.leave ? row->row.leave_ns : row->row.enter_ns;
}

/* Before the first enter of a location: its process may have been spawned. */
static bool
begun_by(const struct stretch *stretch, struct event first, struct event *before,
    int64_t *before_ns)
{
	const struct beginning *begin = first.seq == 0 ?
	    beginning_of(stretch->known, first.location) : NULL;

	if (begin == NULL || begin->seq < stretch->first_seq[begin->location] ||
	    begin->seq >= stretch->end_seq[begin->location] || begin->ns > time_of(stretch, first))
		return false;
	*before = (struct event){ begin->seq, begin->location, false };
	*before_ns = begin->ns;
	return true;
}

/*
 * A call that did not return waited until the run's end: it follows from the last leave of the
 * location that it waited for.
 */
static bool
awaited_until_end(const struct stretch *stretch, struct event at, struct event *before,
    int64_t *before_ns)
{
	const struct event_row *row = row_at(stretch->window, at.location, at.seq);
	const struct awaited_call *of = row->cut ? NULL : awaited_to_end(stretch->known,
	    at.location, row->row.call, row->row.leave_ns);
	const struct event_row *last;
	uint64_t seq;

	if (of == NULL || of->location == NOBODY || stretch->end_seq[of->location] <=
	    stretch->first_seq[of->location])
		return false;
	seq = stretch->end_seq[of->location] - 1;
	last = row_at(stretch->window, of->location, seq);
	if (last == NULL ? !stretch->shared : last->row.leave_ns != row->row.leave_ns)
		return false;
	*before = (struct event){ seq, of->location, true };
	*before_ns = row->row.leave_ns;
	return true;
}

bool
event_before(const struct stretch *stretch, struct event at, struct event *before,
    int64_t *before_ns)
{
	const struct window *window = stretch->window;
	const struct event_row *row;
	struct far far;
	uint64_t seq;

	if (!at.leave) {
		if (at.seq <= stretch->first_seq[at.location])
			return begun_by(stretch, at, before, before_ns);
		/* forgotten: early.c */
		if ((row = row_at(window, at.location, at.seq - 1)) == NULL)
			return false;
		*before = (struct event){ at.seq - 1 - row->row.part, at.location, true };
		*before_ns = time_of(stretch, *before);
		return true;
	}
	if (awaited_until_end(stretch, at, before, before_ns))
		return true;
	*before = (struct event){ at.seq, at.location, false };
	*before_ns = time_of(stretch, *before);
	if (!blocked_by(stretch, at.location, at.seq, &far))
		return true;
	seq = far.seq - far.end.part;
	/* An event outside the stretch cannot be on a path within it. */
	if (stretch_has(stretch, far.location, seq)) {
		*before = (struct event){ seq, far.location, false };
		*before_ns = far.end.enter_ns;
	}
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

enum segment_kind
kind_before(unsigned call, bool first)
{
	return first && span_begins(call) ? START : COMPUTE;
}

static bool
failed_poll(const struct row *row)
{
	return row->polled && call_polls(row->call);
}

struct segment
path_segment(const struct row *row, uint32_t location, enum segment_kind kind, int64_t begin_ns,
    int64_t end_ns)
{
	return (struct segment){ begin_ns, end_ns, location, row->site,
	    kind == COMPUTE || kind == START ? 0 : row->call, (uint8_t)kind,
	    kind == MPI && failed_poll(row) };
}

/*
 * Did the rank look so seldom that the message may have lain there for a third of the time or more?
 * Some libraries deliver a message at the second look only. The failed polls of a wait are rows
 * without time at its begin (graph/polls.c). Between two of them, or the last and the end, lies the
 * mean of the wait.
 */
static bool
found_late(const struct stretch *stretch, struct event at, const struct row *found, int64_t ns)
{
	const int64_t most = 3 * (found->leave_ns - found->enter_ns) / ns;
	const struct event_row *row;
	int64_t failed = 0;

	if (!call_polls(found->call) || ns <= stretch->known->poll_gap_ns)
		return false;
	while (failed <= most &&
	    at.seq > stretch->first_seq[at.location] + (uint64_t)failed &&
	    (row = row_at(stretch->window, at.location, at.seq - (uint64_t)failed - 1)) != NULL &&
	    failed_poll(&row->row) && row->row.leave_ns == found->enter_ns)
		failed++;
	return failed > 0 && failed <= most;
}

/*
 * Whether the thread did little but poll from a failed poll to the one at the row: it slept, or
 * what it did is short and took no longer than the poll. Part of the time is the recorder's own.
 */
static bool
only_polls(const struct stretch *stretch, const struct event *from, struct event at,
    const struct row *row, int64_t ns)
{
	enum { RECORDER_NS = 50 };	/* from a leave to the next enter, at the least */
	const struct event_row *before = from != NULL && call_polls(row->call) ?
	    row_at(stretch->window, from->location, from->seq) : NULL;

	return before != NULL && failed_poll(&before->row) &&
	    ((ns <= stretch->known->poll_gap_ns &&
	    ns - RECORDER_NS <= before->row.leave_ns - before->row.enter_ns) ||
	    is_seen_asleep(stretch->known, at.location, row->site, ns));
}

/*
 * A call that lasted until another rank polled, in a wait that began before the call: nothing held
 * it up but that rank's sleep between its polls.
 */
static void
held_up_by_poll(const struct stretch *stretch, struct event at, struct segment *segment)
{
	const int64_t enter_ns = segment->begin_ns;
	struct far far;

	for (struct edge_rows e = edge_rows(stretch->window, at.location, at.seq);
	    edge_rows_next(&e);) {
		if (!find_far(stretch, e.edge, &far) || far.location == at.location ||
		    !call_polls(far.end.call) || far.end.enter_ns >= enter_ns ||
		    far.end.leave_ns <= enter_ns)
			continue;
		segment->kind = TRANSFER;
		segment->location = far.location;
		segment->site = far.end.site;
		segment->call = far.end.call;
		segment->polls = true;
	}
}

void
add_piece(struct segments *segments, const struct stretch *stretch, const struct event *from,
    int64_t from_ns, struct event at)
{
	const struct row *row = &row_at(stretch->window, at.location, at.seq)->row;
	const int64_t at_ns = at.leave ? row->leave_ns : row->enter_ns;
	struct segment *segment;
	const enum segment_kind kind = from == NULL || from->leave || !at.leave ?
	    kind_before(row->call, from != NULL ? !from->leave : !stretch->from_sync) :
	    from->location == at.location && from->seq == at.seq ? MPI : TRANSFER;

	if (from_ns == at_ns)
		return;
	GROW(segments->at, segments->capacity, segments->count + 1);
	segment = &segments->at[segments->count++];
	*segment = path_segment(row, at.location, kind, from_ns, at_ns);
	segment->polls |=
	    ((kind == TRANSFER || kind == MPI) && found_late(stretch, at, row, at_ns - from_ns)) ||
	    (kind == COMPUTE && only_polls(stretch, from, at, row, at_ns - from_ns));
	if (kind == MPI)
		held_up_by_poll(stretch, at, segment);
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
