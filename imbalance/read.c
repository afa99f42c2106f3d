/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph stream, call by call: each is counted once no edge can reach it any more. */
#include <stdlib.h>
#include <string.h>

#include "causes.h"
#include "functions.h"
#include "imbalance.h"
#include "one_sided.h"
#include "../base/mpi/call_class.h"
#include "../base/tool/heap.h"

static void
count_cell(struct cell *cell, const struct whole_call *call)
{
	cell->compute_ns += call->program_ns;
	cell->mpi_ns += call->mpi_ns;
	if (call->polled)
		cell->polling_ns += call->mpi_ns;
	cell->calls++;
}

static void
count_call(struct imbalance *im, const struct whole_call *call)
{
	const struct row *row = &call->rows[0].row;
	const uint32_t location = call->location;
	const int32_t rank = im->known.location_rank[location];
	struct wait waits[MOST_WAITS];
	int count = find_waits(im, call, waits);
	int64_t useful_ns = call->mpi_ns;

	for (int i = 0; i < count; i++) {
		count_wait(im, &waits[i], 1);
		if (waits[i].state != LATE_SENDER)	/* that may still turn out in wrong order */
			count_largest(im, &waits[i]);
		useful_ns -= counted_ns(im, waits[i].from_ns, waits[i].to_ns);
	}
	count_cell(cell_of(im, BY_RANK, (size_t)rank), call);
	count_cell(cell_of(im, BY_SITE, row->site), call);
	count_cell(cell_of(im, BY_CALL, row->call), call);
	count_cell(cell_of(im, BY_COMMUNICATOR, row->comm), call);
	if (im->observer != NULL)
		im->observer->call(im->observer, im, location, row, waits, count);
	count_site(im, row->site, rank, call->program_ns, useful_ns);
	if (im->functions != NULL)
		functions_count(im, location, row, call->last_ns);
	if (!im->waits_only)
		count_causes(im, call, waits, count);
	count_analytic(im, call);
	one_sided_count(im, call);
	if (call->kind->starts || call->kind->ends)
		open_count(im, call);
	if (location >= (uint32_t)im->known.ranks)
		;		/* of a further thread */
	else if (call->last_ns != INT64_MIN && !call->kind->frames)
		span_call_between(&im->spans[location], call->program_ns, row->leave_ns);
	else
		span_call_within(&im->spans[location], row->call, row->enter_ns, row->leave_ns,
		    im->from_ns, im->to_ns);
	im->last_leave_ns[location] = row->leave_ns;
	if (call->last_ns == INT64_MIN)
		im->before_ns[location] = counted_ns(im, 0, row->enter_ns);
}

/* ---- calls are counted in order of their leaves ----------------------------------------- */

struct next {
	int64_t leave_ns;
	uint32_t location, count;	/* its rows */
};

static inline bool
sooner(const struct next *a, const struct next *b)
{
	return a->leave_ns < b->leave_ns || (a->leave_ns == b->leave_ns && a->location < b->location);
}

HEAP(heap, struct next, sooner)

struct queue {
	struct next *heap;		/* of each location the next call, where it is settled to its end */
	size_t count;
	bool *is_queued;		/* by location: it is in the heap */
	uint32_t *counted;		/* locations that have counted rows in the window */
	size_t counted_count;
	uint64_t rows;			/* settled and not counted */
};

/*
 * The rows from SEQ on that lie side by side. Calls come from all locations in turn, so that of each its next rows
 * have left the caches by then: they are fetched ahead.
 */
static inline struct wait_row *
next_rows(const struct imbalance *im, uint32_t location, uint64_t seq, size_t *left)
{
	enum { AHEAD = 4, LINE = 64 };
	const struct lane *lane = &im->window.lanes[location];
	struct wait_row *rows;

	if (seq - lane->first >= lane->count)
		return window_rows(&im->window, location, seq, false, left);
	*left = lane->count - (size_t)(seq - lane->first);
	rows = (struct wait_row *)(void *)lane->rows + lane->begin + (seq - lane->first);
	for (int i = 0; i < 3; i++)
		__builtin_prefetch((const char *)(rows + AHEAD) + i * LINE, 1);
	return rows;
}

/* The next call of the location; false where it is not settled to its end. */
static inline bool
next_call(const struct imbalance *im, uint32_t location, struct next *next)
{
	const uint64_t first = im->done[location], limit = im->settled[location];
	const struct wait_row *rows;
	uint32_t count = 1;
	size_t left;

	if (first >= limit)
		return false;
	rows = next_rows(im, location, first, &left);
	while (count < left && rows[count].row.part > 0)
		if (first + count++ >= limit)
			return false;
	*next = (struct next){ rows[0].row.leave_ns, location, count };
	return true;
}

static inline struct whole_call
whole_call(struct imbalance *im, const struct next *next)
{
	const int64_t last_ns = im->last_leave_ns[next->location];
	const uint64_t first = im->done[next->location];
	size_t left;
	struct wait_row *rows = wait_row_here(im, next->location, first);
	const struct row *row;
	const struct call_kind *kind;

	if (rows == NULL)
		rows = window_rows(&im->window, next->location, first, false, &left);
	row = &rows[0].row;
	kind = call_kind(im, row->call);
	if (kind->starts && wait_row_here(im, next->location, first) == NULL)	/* open_count changes them */
		rows = window_rows(&im->window, next->location, first, true, &left);
	return (struct whole_call){ rows, kind, first, next->location, next->count, last_ns,
	    last_ns == INT64_MIN ? 0 : counted_ns(im, last_ns, row->enter_ns),
	    counted_ns(im, row->enter_ns, row->leave_ns), kind->polls && row->polled };
}

/* More rows of the location are settled: its next call may be counted now. */
static void
queue_next(struct imbalance *im, uint32_t location)
{
	struct queue *q = im->queue;
	struct next next;

	if (q->is_queued[location] || !next_call(im, location, &next))
		return;
	q->is_queued[location] = true;
	heap_push(q->heap, &q->count, next);
}

/*
 * Counts the settled calls that are left until LIMIT_NS, so that whoever was waited for has been
 * counted up to there. Then they are forgotten.
 */
static void
count_until(struct imbalance *im, int64_t limit_ns)
{
	struct queue *q = im->queue;
	struct next *heap = q->heap;

	while (q->count > 0 && heap[0].leave_ns <= limit_ns) {
		const uint32_t location = heap[0].location;
		const struct whole_call call = whole_call(im, &heap[0]);

		count_call(im, &call);
		if (im->done[location] == window_first(&im->window, location))
			q->counted[q->counted_count++] = location;
		im->done[location] += call.count;
		q->rows -= call.count;
		if (!next_call(im, location, &heap[0])) {
			q->is_queued[location] = false;
			heap[0] = heap[--q->count];
		}
		if (q->count > 0)
			heap_down(heap, q->count, 0);
	}
	for (; q->counted_count > 0; q->counted_count--) {
		const uint32_t location = q->counted[q->counted_count - 1];

		open_keep(im, location, im->done[location]);
		window_drop(&im->window, location, im->done[location]);
	}
}

enum { MOST_ROWS = 1 << 20 };	/* kept for the sake of order */

static void
settle(struct imbalance *im, uint32_t location, uint64_t seq)
{
	const struct wait_row *last;

	if (seq <= im->settled[location])
		return;
	im->queue->rows += seq - im->settled[location];
	im->settled[location] = seq;
	last = wait_row(im, location, seq - 1);
	if (last != NULL)
		im->settled_ns[location] = last->row.leave_ns;
	queue_next(im, location);
}

static void
take_settled(struct imbalance *im, const struct message *message)
{
	const uint32_t locations = im->known.location_count;
	int64_t limit_ns = INT64_MAX;
	uint64_t *seqs = zalloc(locations, sizeof *seqs);

	if (seqs_read(seqs, im->in, message, &im->window) < 0)
		die_input(im->in);
	for (uint32_t l = 0; l < locations; l++) {
		if (seqs[l] > window_end(&im->window, l)) {
			reader_fail(im->in, message->offset, "settled: row %llu of location %u is not there",
			    (unsigned long long)seqs[l], l);
			die_input(im->in);
		}
		settle(im, l, seqs[l]);
		if (im->settled_ns[l] < limit_ns)
			limit_ns = im->settled_ns[l];
	}
	free(seqs);
	/* A rank that ended early would hold up all others for ever. */
	count_until(im, im->queue->rows > MOST_ROWS + 64 * (uint64_t)locations ? INT64_MAX : limit_ns);
}

static struct queue *
new_queue(uint32_t locations)
{
	struct queue *q = zalloc(1, sizeof *q);

	q->heap = zalloc(locations, sizeof *q->heap);
	q->counted = zalloc(locations, sizeof *q->counted);
	q->is_queued = zalloc(locations, sizeof *q->is_queued);
	return q;
}

static void
begin_run(struct imbalance *im)
{
	const uint32_t locations = im->known.location_count;

	window_open(&im->window, locations, sizeof(struct wait_row));
	window_limit(&im->window, im->window_bytes_set ? im->window_bytes : SIZE_MAX, 4);
	im->queue = new_queue(locations);
	im->open_starts = zalloc(locations, sizeof *im->open_starts);
	im->done = zalloc(locations, sizeof *im->done);
	im->settled = zalloc(locations, sizeof *im->settled);
	im->settled_ns = zalloc(locations, sizeof *im->settled_ns);
	im->last_leave_ns = zalloc(locations, sizeof *im->last_leave_ns);
	im->before_ns = zalloc(locations, sizeof *im->before_ns);
	for (uint32_t l = 0; l < locations; l++)
		im->last_leave_ns[l] = im->settled_ns[l] = INT64_MIN;
	im->ranks = zalloc((size_t)im->known.ranks, sizeof *im->ranks);
	im->spans = zalloc((size_t)im->known.ranks, sizeof *im->spans);
	cell_of(im, BY_RANK, (size_t)im->known.ranks - 1);
	waits_begin(im);
	causes_begin(im);
}

static void
take_matching(struct imbalance *im, const struct message *message)
{
	int64_t sends, receives, collectives;

	if (body_int(im->in, message, "unmatched_sends", 0, INT64_MAX, &sends) < 0 ||
	    body_int(im->in, message, "unmatched_receives", 0, INT64_MAX, &receives) < 0 ||
	    body_int(im->in, message, "unmatched_collectives", 0, INT64_MAX, &collectives) < 0)
		die_input(im->in);
	im->unmatched_sends = (uint64_t)sends;
	im->unmatched_receives = (uint64_t)receives;
	im->unmatched_collectives = (uint64_t)collectives;
}

static void
take_window(struct imbalance *im, const struct message *message)
{
	char *type = body_string(message, "type");

	if (type != NULL && strcmp(type, "window") == 0 && im->one_sided != NULL)
		one_sided_window(im);
	free(type);
}

static void
take_message(struct imbalance *im, const struct message *message, struct calls *calls)
{
	if (definitions_take(&im->known, im->in, message) < 0)
		die_input(im->in);
	if (is_kind(message, "run"))
		begin_run(im);
	else if (is_kind(message, "calls")) {
		if (calls_read(calls, im->in, message) < 0 ||
		    window_add(&im->window, im->in, message, calls) < 0)
			die_input(im->in);
	} else if (is_kind(message, "messages"))
		take_messages(im, message);
	else if (is_kind(message, "collectives"))
		take_collectives(im, message);
	else if (is_kind(message, "settled") || is_kind(message, "sync"))
		take_settled(im, message);
	else if (is_kind(message, "sampled"))
		functions_take(im, message);
	else if (is_kind(message, "matching"))
		take_matching(im, message);
	else if (is_kind(message, "communicator"))
		take_window(im, message);
	if (im->observer != NULL)
		im->observer->message(im->observer, im, message, calls);
}

void
read_graph(struct imbalance *im, const char *file)
{
	if (reader_open(&im->in, file, READ_STREAM) < 0)
		die_input(im->in);
	read_opened_graph(im);
}

void
read_opened_graph(struct imbalance *im)
{
	struct calls calls = { 0 };
	struct progress progress;
	struct message message;
	int got;

	if (reader_refuse_content(im->in, "trace", "lp-graph matches it first") < 0)
		die_input(im->in);
	open_begin(im);
	progress_begin(&progress);
	while ((got = reader_next(im->in, &message)) > 0) {
		take_message(im, &message, &calls);
		progress_input(&progress, im->in);
	}
	if (got < 0)
		die_input(im->in);
	progress_end(&progress);
	if (im->known.location_count == 0) {
		reader_fail(im->in, 0, "no message of kind run");
		die_input(im->in);
	}
	for (uint32_t l = 0; l < im->known.location_count; l++) {
		im->settled[l] = window_end(&im->window, l);
		queue_next(im, l);	/* its last call may not have had an end before */
	}
	count_until(im, INT64_MAX);
	if (!im->waits_only)
		causes_end(im);
	waits_end(im);
	analytic_end(im);
	calls_free(&calls);
}
