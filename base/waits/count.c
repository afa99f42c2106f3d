/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "core.h"
#include "functions.h"

/* ---- one call ---- */

static void
count_cell(struct cell *cell, const struct whole_call *call)
{
	cell->compute_ns += call->program_ns;
	cell->mpi_ns += call->mpi_ns;
	if (call->polled)
		cell->polling_ns += call->mpi_ns;
	cell->calls++;
}

/* Adds a call to all sums, once no edge can reach it. */
static void
count_call(struct imbalance *im, const struct whole_call *call)
{
	const struct row *row = &call->rows[0].row;
	const uint32_t location = call->location;
	const int32_t rank = im->graph.known.location_rank[location];
	struct wait waits[MOST_WAITS];
	int count = find_waits(im, call, waits);
	int64_t useful_ns = call->mpi_ns;
	struct site_ns *site;

	for (int i = 0; i < count; i++) {
		count_wait(im, &waits[i], 1);
		/* a late sender may still be in wrong order */
		if (waits[i].state != LATE_SENDER)
			count_largest(im, &waits[i]);
		useful_ns -= counted_ns(im, waits[i].from_ns, waits[i].to_ns);
	}
	count_cell(cell_of(im, BY_RANK, (size_t)rank), call);
	count_cell(cell_of(im, BY_SITE, row->site), call);
	count_cell(cell_of(im, BY_CALL, row->call), call);
	count_cell(cell_of(im, BY_COMMUNICATOR, row->comm), call);
	if (im->functions != NULL)
		functions_count(im, location, row, call->last_ns);
	im->seen = call;
	if (im->observer != NULL && im->observer->call != NULL)
		im->observer->call(im->observer, im, location, row, waits, count);
	site = site_ns_of(im, row->site, rank);
	site->compute_ns += call->program_ns;
	site->mpi_ns += useful_ns;
	if (!im->waits_only)
		count_causes(im, call, waits, count);
	count_analytic(im, call);
	if (call->kind->one_sided != NO_ACCESS)
		one_sided_count(im, call);
	if (call->kind->starts || call->kind->ends)
		open_count(im, call);
	if (location >= (uint32_t)im->graph.known.ranks)
		;		/* of a further thread */
	else if (call->last_ns != INT64_MIN && !call->kind->frames)
		span_call_between(&im->spans[location], call->program_ns, row->leave_ns);
	else
		span_call_within(&im->spans[location], row->call, row->enter_ns, row->leave_ns,
		    im->from_ns, im->to_ns);
	im->last_leave_ns[location] = row->leave_ns;
	if (call->last_ns == INT64_MIN) {
		im->before_ns[location] = counted_ns(im, 0, row->enter_ns);
		/* no edge leads to it from a call before */
		analytic_of(im, BY_RANK, (size_t)rank)->edges--;
	}
}

/* ---- the next one ---- */

struct next {
	int64_t leave_ns;		/* NONE: no call whose rows are all settled */
	uint32_t location, count;	/* its rows */
};

#define NONE (INT64_MAX - 1)

struct queue {
	/*
	 * The next call of each location is a leaf, and the parent of two is the sooner one: the
	 * left one, with the lower locations, if they leave at once. So the root is the first of
	 * all. No branch depends on which one it is, for nobody can predict that.
	 */
	struct next *tree;
	size_t leaves;
	bool *ends;			/* by location: its open call may be counted */
	uint64_t rows;			/* settled but not counted */
	bool noted;			/* that calls are not counted in order of time */
};

static inline void
queue_set(struct queue *q, struct next next)
{
	struct next *tree = q->tree;
	size_t at = q->leaves + next.location;

	for (tree[at] = next; at > 1; tree[at] = next) {
		const struct next *other = &tree[at ^ 1];
		const bool is_sooner = other->leave_ns < next.leave_ns + (int64_t)(at & 1);

		next.leave_ns = is_sooner ? other->leave_ns : next.leave_ns;
		next.location = is_sooner ? other->location : next.location;
		next.count = is_sooner ? other->count : next.count;
		at /= 2;
	}
}

/*
 * The contiguous rows from SEQ on. Calls come from all locations in turn, so a location's next rows
 * have left the caches: prefetch them.
 */
static inline struct wait_row *
next_rows(const struct imbalance *im, uint32_t location, uint64_t seq, size_t *left)
{
	enum { AHEAD = 4, LINE = 64 };
	const struct lane *lane = &im->graph.window.lanes[location];
	struct wait_row *rows;

	if (seq - lane->first >= lane->count)
		return window_rows(&im->graph.window, location, seq, false, left);
	*left = lane->count - (size_t)(seq - lane->first);
	rows = (struct wait_row *)(void *)lane->rows + lane->begin + (seq - lane->first);
	for (int i = 0; i < 3; i++)
		__builtin_prefetch((const char *)(rows + AHEAD) + i * LINE, 1);
	return rows;
}

/* The next call of the location; NONE if some of its rows are not settled. */
static inline struct next
next_call(const struct imbalance *im, uint32_t location)
{
	const uint64_t first = im->done[location], limit = im->settled[location];
	const struct next none = { NONE, location, 0 };
	const struct wait_row *rows;
	uint32_t count = 1;
	size_t left;

	if (first >= limit)
		return none;
	rows = next_rows(im, location, first, &left);
	if (awaited_to_end(&im->graph.known, location, rows[0].row.call, rows[0].row.leave_ns) !=
	    NULL && !im->queue->ends[location])
		return none;
	while (count < left && rows[count].row.part > 0)
		if (first + count++ >= limit)
			return none;
	return (struct next){ rows[0].row.leave_ns, location, count };
}

static inline struct whole_call
whole_call(struct imbalance *im, const struct next *next)
{
	const int64_t last_ns = im->last_leave_ns[next->location];
	const uint64_t first = im->done[next->location];
	size_t left;
	struct wait_row *here = wait_row_here(im, next->location, first), *rows = here;
	const struct row *row;
	const struct call_kind *kind;

	if (here == NULL)
		rows = window_rows(&im->graph.window, next->location, first, false, &left);
	row = &rows[0].row;
	kind = call_kind(im, row->call);
	if (here == NULL && kind->starts)	/* open_count changes them */
		rows = window_rows(&im->graph.window, next->location, first, true, &left);
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

	if (q->tree[q->leaves + location].leave_ns == NONE &&
	    (next = next_call(im, location)).leave_ns != NONE)
		queue_set(q, next);
}

/*
 * A call changes sums of its location in many places. With many locations none is in the caches:
 * fetch all at once.
 */
static __attribute__((noinline)) void
fetch_sums(struct imbalance *im, uint32_t location)
{
	const size_t rank = (size_t)im->graph.known.location_rank[location];

	__builtin_prefetch(&im->last_leave_ns[location], 1);
	__builtin_prefetch(&im->done[location], 1);
	__builtin_prefetch(&im->late[location], 1);
	__builtin_prefetch(&im->open_starts[location], 1);
	__builtin_prefetch(&im->spans[rank], 1);
	__builtin_prefetch(cell_of(im, BY_RANK, rank), 1);
	__builtin_prefetch(analytic_of(im, BY_RANK, rank), 1);
	causes_fetch(im, location);
}

/* Counts settled calls up to LIMIT_NS, so that the causes of later waits are counted first. */
static void
count_calls(struct imbalance *im, int64_t limit_ns)
{
	enum { MANY = 1 << 12 };
	struct queue *q = im->queue;
	const struct next *first = &q->tree[1];

	while (first->leave_ns <= limit_ns && first->leave_ns != NONE) {
		const uint32_t location = first->location;
		struct whole_call call;

		if (q->leaves >= MANY)
			fetch_sums(im, location);
		call = whole_call(im, first);
		count_call(im, &call);
		im->done[location] += call.count;
		q->rows -= call.count;
		queue_set(q, next_call(im, location));
	}
}

/* The same; then forgets them. */
static void
count_until(struct imbalance *im, int64_t limit_ns)
{
	count_calls(im, limit_ns);
	for (uint32_t l = 0; l < im->graph.known.location_count; l++)
		if (im->done[l] > window_first(&im->graph.window, l)) {
			open_keep(im, l, im->done[l]);
			window_drop(&im->graph.window, l, im->done[l]);
		}
}

enum { MOST_ROWS = 1 << 20 };	/* kept to count calls in order */

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

/*
 * Rows must exist: for a synchronisation point the rows that it names, for settled rows the rows
 * before them.
 */
static void
check_seqs(const struct imbalance *im, const struct message *message, bool is_point)
{
	const uint64_t *seqs = im->graph.seqs;

	for (uint32_t l = 0; l < im->graph.known.location_count; l++)
		if (seqs[l] + is_point > window_end(&im->graph.window, l) ||
		    (im->graph.window.partial && wait_row(im, l, seqs[l]) == NULL)) {
			reader_fail(im->graph.in, message->offset, "%s: row %llu of location %u is "
			    "not there", message->kind, (unsigned long long)seqs[l], l);
			die_input(im->graph.in);
		}
}

/* Rows before im->graph.seqs have their edges, or are overdue. The first time not settled. */
static int64_t
settle_all(struct imbalance *im, const struct message *message)
{
	int64_t limit_ns = INT64_MAX;

	check_seqs(im, message, false);
	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		settle(im, l, im->graph.seqs[l]);
		limit_ns = smaller(limit_ns, im->settled_ns[l]);
	}
	return limit_ns;
}

/* All settled rows are counted, before earlier ones that lack their other end. */
static void
note_disorder(struct imbalance *im)
{
	uint32_t first = 0;

	for (uint32_t l = 1; l < im->graph.known.location_count; l++)
		first = im->settled_ns[l] < im->settled_ns[first] ? l : first;
	if (im->queue->noted || im->settled[first] == window_end(&im->graph.window, first))
		return;
	im->queue->noted = true;
	note("rank %d, row %llu: its message or collective is open for so long that causes of "
	    "later waits are incomplete", im->graph.known.location_rank[first],
	    (unsigned long long)im->settled[first]);
}

void
order_settled(struct imbalance *im, const struct message *message)
{
	const uint64_t most = MOST_ROWS + 64 * (uint64_t)im->graph.known.location_count;
	int64_t limit_ns = settle_all(im, message);

	overdue_settle(im);
	/* A row without its other end would hold up all others, and so would a rank that ended. */
	if ((im->goes_on || im->queue->rows > most / 2) && graph_early(&im->graph, message))
		limit_ns = settle_all(im, message);
	if (im->queue->rows > most) {
		note_disorder(im);
		limit_ns = INT64_MAX;
	}
	count_until(im, limit_ns);
	late_settle(im);
}

/* Rows that are still to come are left after this time: settled rows up to it can be counted. */
void
order_reached(struct imbalance *im, const struct message *message)
{
	const uint32_t locations = im->graph.known.location_count;
	int64_t limit_ns = INT64_MAX;
	struct reached now;

	reached_read(&now, im->graph.in, message, locations);
	for (uint32_t l = 0; l < locations; l++) {
		if (im->settled[l] == window_end(&im->graph.window, l) &&
		    im->settled_ns[l] < now.at_ns)
			im->settled_ns[l] = now.at_ns;
		if (im->settled_ns[l] < limit_ns)
			limit_ns = im->settled_ns[l];
	}
	reached_free(&now);
	count_until(im, limit_ns);
	late_settle(im);
}

/* The latest enter of the point's calls. */
static int64_t
point_ns(const struct imbalance *im)
{
	int64_t last_ns = INT64_MIN;

	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		const struct wait_row *row = wait_row(im, l, im->graph.seqs[l]);

		if (row != NULL && row->row.enter_ns > last_ns)
			last_ns = row->row.enter_ns;
	}
	return last_ns;
}

/* Later waits look at nothing before the point. */
static void
forget_stretch(struct imbalance *im, int64_t at_ns)
{
	late_forget(im);
	if (!im->waits_only)
		causes_forget(im, at_ns);
}

void
order_start(struct imbalance *im, const struct message *message)
{
	int64_t at_ns;

	check_seqs(im, message, true);
	at_ns = point_ns(im);
	/* The call of the point is the last of its location. Nothing else is needed before it. */
	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		const uint64_t seq = im->graph.seqs[l];
		struct wait_row row = *wait_row(im, l, seq);
		const struct whole_call call = { &row, call_kind(im, row.row.call), seq, l, 1,
		    INT64_MIN, 0, 0, false };

		im->done[l] = im->settled[l] = seq + 1;
		im->last_leave_ns[l] = im->settled_ns[l] = row.row.leave_ns;
		window_drop(&im->graph.window, l, seq + 1);
		one_sided_count(im, &call);
		if (!im->waits_only)
			causes_start(im, &call);
		if (im->functions != NULL)
			functions_drop(im, l, row.row.leave_ns);
		if (l < (uint32_t)im->graph.known.ranks)
			span_start(&im->spans[l], row.row.leave_ns);
	}
	im->graph.window.partial = false;
	forget_stretch(im, at_ns);
}

void
order_sync(struct imbalance *im, const struct message *message)
{
	const uint64_t *seqs = im->graph.seqs;
	int64_t at_ns;

	check_seqs(im, message, true);
	at_ns = point_ns(im);
	for (uint32_t l = 0; l < im->graph.known.location_count; l++)
		settle(im, l, seqs[l] + 1);
	count_until(im, INT64_MAX);
	im->at_point = true;
	for (uint32_t l = 0; l < im->graph.known.location_count; l++)
		im->at_point &= im->done[l] == seqs[l] + 1;
	if (im->at_point)	/* otherwise rows after the point were already settled */
		forget_stretch(im, at_ns);
}

/*
 * Open calls that wait end at the same instant: each is counted after the one that it waits for.
 * The marks end a cycle, which only a faulty stream has.
 */
static void
count_open(struct imbalance *im)
{
	const struct definitions *known = &im->graph.known;
	const uint32_t locations = known->location_count;
	uint32_t *path = zalloc(locations, sizeof *path);

	for (uint32_t l = 0; l < locations; l++) {
		uint32_t count = 0;

		for (uint32_t at = l; at != NOBODY && !im->queue->ends[at];
		    at = known->open_calls[at].location) {
			im->queue->ends[at] = true;
			path[count++] = at;
		}
		while (count > 0) {
			queue_next(im, path[--count]);
			count_calls(im, INT64_MAX);
		}
	}
	free(path);
}

void
order_end(struct imbalance *im)
{
	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		im->settled[l] = window_end(&im->graph.window, l);
		queue_next(im, l);	/* its last call may have become complete */
	}
	count_until(im, INT64_MAX);
	if (im->graph.known.open_calls != NULL)
		count_open(im);
}

void
order_begin(struct imbalance *im)
{
	const uint32_t locations = im->graph.known.location_count;
	struct queue *q = zalloc(1, sizeof *q);

	for (q->leaves = 1; q->leaves < locations; )
		q->leaves *= 2;
	q->tree = zalloc(2 * q->leaves, sizeof *q->tree);
	for (size_t i = 0; i < 2 * q->leaves; i++)
		q->tree[i] = (struct next){ NONE, 0, 0 };
	q->ends = zalloc(locations, sizeof *q->ends);
	im->queue = q;
	im->done = zalloc(locations, sizeof *im->done);
	im->settled = zalloc(locations, sizeof *im->settled);
	im->settled_ns = zalloc(locations, sizeof *im->settled_ns);
	im->last_leave_ns = zalloc(locations, sizeof *im->last_leave_ns);
	for (uint32_t l = 0; l < locations; l++)
		im->last_leave_ns[l] = im->settled_ns[l] = INT64_MIN;
}
