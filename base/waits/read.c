/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the graph stream. By its edges, each row gets the facts that it needs of other rows. */
#include <stdlib.h>

#include "core.h"
#include "functions.h"
#include "../stream/samples.h"

/* ---- edges ------------------------------------------------------------------------------ */

static void
link_rows(struct wait_row *row, uint32_t other, uint64_t other_seq, int64_t other_ns, bool is_send)
{
	row->other = other;
	row->other_seq = other_seq;
	row->other_ns = other_ns;
	row->is_send = is_send;
	row->is_held = false;
	row->has_other = true;
}

/* Did it wait until that instant, that of its other end? */
static bool
ends_within(const struct wait_row *row, int64_t other_ns)
{
	return row->has_other && other_ns >= row->row.enter_ns && other_ns <= row->row.leave_ns;
}

/* A row with two messages is grouped with the end that was entered last, whichever comes first. */
static void
group_rows(struct wait_row *row, const struct wait_row *with)
{
	if (row->paired && (row->start_ns > with->row.enter_ns ||
	    (row->start_ns == with->row.enter_ns && row->end_ns <= with->row.leave_ns)))
		return;
	row->paired = true;
	row->start_ns = with->row.enter_ns;
	row->end_ns = with->row.leave_ns;
}

/* The ends lie anywhere in memory. */
static void
fetch_ahead(const struct imbalance *im, const struct edge_block *e, size_t i)
{
	const struct wait_row *ends[2];

	if (i >= e->count)
		return;
	ends[0] = wait_row_here(im, e->source[i], e->send[i]);
	ends[1] = wait_row_here(im, e->target[i], e->receive[i]);
	for (int k = 0; k < 2; k++)
		if (ends[k] != NULL) {
			__builtin_prefetch(ends[k], 1);
			__builtin_prefetch(&ends[k]->other, 1);
		}
}

static void
take_messages(struct imbalance *im, bool are_probes)
{
	struct edge_block *e = &im->graph.edges;

	for (size_t i = 0; i < e->count; i++) {
		struct wait_row *send = edge_row(im, e->source[i], e->send[i]);
		struct wait_row *receive = edge_row(im, e->target[i], e->receive[i]);
		const struct wait_row *post = receive, *referred;
		uint32_t poster = e->target[i];
		uint64_t post_seq = e->receive[i];

		fetch_ahead(im, e, i + 8);
		if (send == NULL || receive == NULL)
			continue;	/* in a stretch before this part of the run */
		link_rows(receive, e->source[i], e->send[i], send->row.enter_ns, false);
		if (!are_probes || !call_polls(receive->row.call)) {
			group_rows(receive, send);
			receive->edges++;
		}
		if (are_probes)
			continue;
		if (call_class(receive->row.call) == CLASS_COMPLETE &&
		    (referred = referred_row(im, receive, e->target[i], e->receive[i])) != NULL) {
			post = referred;
			row_refers(&receive->row, e->target[i], e->receive[i], &poster, &post_seq);
		}
		group_rows(send, receive);
		/* unless something else held it up, and no receive was posted behind that */
		if (!is_signal(call_class(send->row.call)) && (!ends_within(send, send->other_ns) ||
		    (ends_within(send, post->row.enter_ns) &&
		    !(send->is_held && send->other_ns >= post->row.enter_ns))))
			link_rows(send, poster, post_seq, post->row.enter_ns, true);
	}
}

/*
 * When a call let another one go: at its enter; a wait by polls, which began before, at its leave.
 * If a poll in the wait did so, which found nothing, the time is unknown: there was no wait.
 */
static int64_t
lets_go_ns(const struct row *by, const struct row *held)
{
	return by->enter_ns < held->enter_ns && call_polls(by->call) &&
	    by->leave_ns <= held->leave_ns ? by->leave_ns : by->enter_ns;
}

static void
take_holds(struct imbalance *im)
{
	const struct edge_block *e = &im->graph.edges;

	for (size_t i = 0; i < e->count; i++) {
		const struct wait_row *by = wait_row(im, e->source[i], e->send[i]);
		struct wait_row *held = wait_row_change(im, e->target[i], e->receive[i]);
		enum call_class class;
		int64_t at_ns;

		if (by == NULL || held == NULL)
			continue;
		class = call_class(held->row.call);
		at_ns = lets_go_ns(&by->row, &held->row);
		if (class == CLASS_RMA || class == CLASS_ACCESS_END)
			one_sided_held(im, e->target[i], e->receive[i], e->source[i], e->send[i],
			    at_ns);
		else if (!ends_within(held, held->other_ns) || at_ns > held->other_ns) {
			link_rows(held, e->source[i], e->send[i], at_ns, true);
			held->is_held = true;
		}
	}
}

static void
take_locks(struct imbalance *im)
{
	const struct edge_block *e = &im->graph.edges;

	for (size_t i = 0; i < e->count; i++) {
		const struct wait_row *unlock = edge_row(im, e->source[i], e->send[i]);
		struct wait_row *waiter = edge_row(im, e->target[i], e->receive[i]);

		if (unlock == NULL || waiter == NULL)
			continue;
		/* Of the locks of several targets it waited for the last one. */
		if (!waiter->has_other || unlock->row.enter_ns > waiter->other_ns)
			link_rows(waiter, e->source[i], e->send[i], unlock->row.enter_ns, false);
	}
}

static uint32_t
last_sender(const struct member *members, uint32_t count)
{
	uint32_t last = NOBODY;

	for (uint32_t i = 0; i < count; i++)
		if (members[i].row->sent &&
		    (last == NOBODY || members[i].row->enter_ns > members[last].row->enter_ns))
			last = i;
	return last;
}

/*
 * In an all-to-all whose calls do not all overlap, a member that receives data waits for the last
 * one that sends any.
 */
static void
note_instance(struct imbalance *im, const struct member *members, uint32_t count,
    const struct overlap *overlap)
{
	enum call_class class = blocking_class(call_class(members[0].row->call));
	const bool needs_payload = passes_on(class);
	const uint32_t *waits_for = NULL;
	uint32_t kept = 0, sender = NOBODY;

	/* A member that sends and receives nothing holds nobody up. */
	for (uint32_t i = 0; i < count; i++)
		if (!needs_payload || members[i].row->sent || members[i].row->received)
			im->members[kept++] = members[i];
	if (class == CLASS_ALL_TO_ALL && overlap->to_ns <= overlap->from_ns)
		sender = last_sender(im->members, kept);
	else if (kept > 0)
		waits_for = collective_waits(&im->needs, &im->graph.known, im->members, kept);
	for (uint32_t i = 0; i < kept; i++) {
		const struct member *member = &im->members[i], *cause;
		const uint32_t of = waits_for != NULL ? waits_for[i] :
		    member->row->received ? sender : NOBODY;

		if (of == NOBODY)
			continue;
		cause = &im->members[of];
		link_rows(edge_row(im, member->location, member->seq), cause->location,
		    cause->seq, cause->row->enter_ns, false);
	}
}

/* The whole instance is one group of the analytic estimate. */
static void
group_instance(struct imbalance *im, const struct member *members, uint32_t size,
    const struct overlap *overlap)
{
	for (uint32_t i = 0; i < size; i++) {
		struct wait_row *row;

		if (is_collective_start(call_class(members[i].row->call)))
			continue;	/* a start waits for nobody */
		row = edge_row(im, members[i].location, members[i].seq);
		row->paired = true;
		row->start_ns = overlap->from_ns;
		row->end_ns = overlap->to_ns;
		row->overlap = overlap->to_ns > overlap->from_ns;
		row->edges++;
	}
}

/*
 * Room has been made. Returns false if members are missing, in a stretch before this part of the
 * run.
 */
static bool
copy_members(struct imbalance *im, size_t first, uint32_t size)
{
	const struct edge_block *e = &im->graph.edges;

	GROW(im->members, im->member_capacity, 2 * (size_t)size);
	GROW(im->copies, im->copy_capacity, size);
	for (uint32_t i = 0; i < size; i++) {
		const struct wait_row *row = edge_row(im, e->location[first + i],
		    e->seq[first + i]);

		if (row == NULL)
			return false;
		im->copies[i] = row->row;
		im->members[size + i] = (struct member){ e->location[first + i], e->seq[first + i],
		    &im->copies[i] };
	}
	return true;
}

static void
take_collectives(struct imbalance *im)
{
	struct edge_block *e = &im->graph.edges;
	size_t at = 0;

	for (size_t k = 0; k < e->instances; at += e->size[k++]) {
		const uint32_t size = e->size[k];
		const struct member *members;
		struct overlap overlap;

		if (!copy_members(im, at, size))
			continue;
		members = im->members + size;
		overlap = collective_overlap(members, size);
		note_instance(im, members, size, &overlap);
		group_instance(im, members, size, &overlap);
	}
}

/* ---- messages --------------------------------------------------------------------------- */

static void
begin_run(struct imbalance *im)
{
	enum { MANY_RANKS = 1 << 16 };
	const uint32_t locations = im->graph.known.location_count;

	refuse_long_sums(&im->graph.known, counted_ns(im, 0, im->graph.known.run_ns));
	if (locations > MANY_RANKS && !im->window_bytes_set)
		window_limit_in_turn(&im->graph.window, 4);
	else
		window_limit(&im->graph.window, im->window_bytes_set ? im->window_bytes : SIZE_MAX,
		    4, 1);
	im->graph.window.partial = im->part != NULL && !im->part->begun;
	order_begin(im);
	im->open_starts = zalloc(locations, sizeof *im->open_starts);
	im->before_ns = zalloc(locations, sizeof *im->before_ns);
	im->spans = zalloc((size_t)im->graph.known.ranks, sizeof *im->spans);
	cell_of(im, BY_RANK, (size_t)im->graph.known.ranks - 1);
	im->late = zalloc(locations, sizeof *im->late);
	causes_begin(im);
}

static void
take_matching(struct imbalance *im, const struct message *message)
{
	struct reader *in = im->graph.in;

	im->counts.errors = 0;
	if (body_int(in, message, "unmatched_sends", 0, INT64_MAX,
	    &im->counts.unmatched_sends) < 0 || body_int(in, message, "unmatched_receives", 0,
	    INT64_MAX, &im->counts.unmatched_receives) < 0 || body_int(in, message,
	    "unmatched_collectives", 0, INT64_MAX, &im->counts.unmatched_collectives) < 0 ||
	    body_int_if(in, message, "errors", 0, INT64_MAX, &im->counts.errors) < 0)
		die_input(in);
}

static void
take_message(struct imbalance *im, const struct message *message)
{
	enum graph_item item = graph_define(&im->graph, message);
	bool skips = false;

	if (item == GRAPH_OTHER) {
		skips = im->part != NULL && part_skips(im->part, im->graph.in, message);
		item = skips ? GRAPH_OTHER : graph_rows(&im->graph, message);
	}
	switch (item) {
	case GRAPH_RUN: begin_run(im); break;
	case GRAPH_MESSAGES:
	case GRAPH_PROBES: take_messages(im, item == GRAPH_PROBES); break;
	case GRAPH_LOCKS: take_locks(im); break;
	case GRAPH_HOLDS: take_holds(im); break;
	case GRAPH_COLLECTIVES: take_collectives(im); break;
	case GRAPH_OVERDUE: overdue_take(im); break;
	case GRAPH_SETTLED: order_settled(im, message); break;
	case GRAPH_SYNC: (im->part != NULL ? part_sync : order_sync)(im, message); break;
	default:
		if (is_kind(message, "reached"))
			order_reached(im, message);
		else if (!skips && is_samples(message))
			functions_take(im, message);
		else if (!skips && is_kind(message, "matching"))
			take_matching(im, message);
	}
	if (im->observer != NULL)
		im->observer->message(im->observer, im, message, &im->graph.calls);
}

/* Reads the stream to its end; false: the part that is asked for ends before. */
static bool
read_messages(struct imbalance *im)
{
	struct progress progress = { 0 };
	struct message message;

	while (im->part == NULL || !im->part->ended) {
		if (im->part != NULL)
			part_go(im->part, im->graph.in);
		if (!progress_next(&progress, im->graph.in, &message))
			return true;
		take_message(im, &message);
	}
	progress_end(&progress);
	return false;
}

void
read_graph(struct imbalance *im, const char *file)
{
	if (im->graph.in == NULL)
		graph_open(&im->graph, file, READ_STREAM);
	im->graph.row_bytes = sizeof(struct wait_row);
	if (read_messages(im)) {
		if (im->graph.known.location_count == 0) {
			reader_fail(im->graph.in, 0, "no message of kind run");
			die_input(im->graph.in);
		}
		if (im->part != NULL)
			part_check_end(im->part, im->graph.in);
		order_end(im);
		window_drop_packed(&im->graph.window);
	}
	if (!im->waits_only)
		causes_end(im);
	late_forget(im);
}
