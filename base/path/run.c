/* SPDX-License-Identifier: BSD-3-Clause */
#include "functions.h"
#include "run.h"

void
run_open(struct run *run, const char *file, enum reading how, struct part part,
    const struct team *team)
{
	memset(run, 0, sizeof *run);
	run->window_bytes = SIZE_MAX;
	run->processes = team->size;
	run->part = part;
	run->team = team;
	run->graph.row_bytes = run_shared(run) ? sizeof(struct shared_row) :
	    sizeof(struct event_row);
	graph_open(&run->graph, file, how);
}

/* An index may be wrong: then no path is better than a wrong one. */
static _Noreturn void
die_index(struct run *run, uint64_t offset, const char *what)
{
	reader_fail(run->graph.in, offset, "%s, contrary to the stream's index", what);
	die_input(run->graph.in);
}

bool
run_next(struct run *run, struct message *message)
{
	const struct part *part = &run->part;
	int got;

	if (part->defined > 0 && reader_offset(run->graph.in) > part->defined) {
		if (run->stretch >= part->to || part->from >= part->to)
			return false;
		if (reader_offset(run->graph.in) < part->offset) {
			reader_jump(run->graph.in, part->offset);
			run->stretch = part->stretch;
		}
	}
	if ((got = reader_next(run->graph.in, message)) < 0)
		die_input(run->graph.in);
	if (got == 0 && (part->to_at > 0 || run->stretch < part->from) && part->from < part->to)
		die_index(run, reader_offset(run->graph.in), "the stream ends here");
	return got > 0;
}

static const struct event_row *
row_of(const struct run *run, uint32_t location, uint64_t seq)
{
	return window_row(&run->graph.window, location, seq);
}

/*
 * A row entered before a call, or before the start that a call of the same thread completes, cannot
 * have blocked it, except by what it waits for itself in an epoch of an MPI window. But to see what
 * happens if calls take less time, all edges are needed.
 */
static bool
may_block(const struct run *run, const struct row *far, const struct row *row)
{
	return far->enter_ns >= row->enter_ns || run->keeps_instances ||
	    run->graph.known.location_count > (uint32_t)run->graph.known.ranks;
}

/* The row of an edge, or its copy if it was overdue; a hold is not the edge that it lacks. */
static struct event_row *
row_of_edge(struct run *run, uint32_t location, uint64_t seq, bool is_hold)
{
	struct event_row *row = window_change(&run->graph.window, location, seq),
	    *kept = run->overdue > 0 && !is_hold ?
	    window_kept(&run->graph.window, location, seq) : NULL;

	if (kept != NULL && kept->overdue) {
		kept->overdue = false;
		run->overdue--;
	}
	return row != NULL ? row : kept;
}

static void
keep_overdue(struct run *run)
{
	const struct edge_block *e = &run->graph.edges;

	for (size_t i = 0; i < e->count; i++) {
		struct event_row *kept;

		if (row_of(run, e->location[i], e->seq[i]) == NULL)
			continue;
		window_keep(&run->graph.window, e->location[i], e->seq[i]);
		kept = window_kept(&run->graph.window, e->location[i], e->seq[i]);
		kept->overdue = true;
		run->overdue++;
	}
}

/* When the row that a row waits for was entered. */
static int64_t
linked_ns(const struct run *run, const struct event_row *at)
{
	const struct event_row *other = at->has_other ?
	    row_of(run, at->other, at->other_seq) : NULL;

	return other != NULL ? other->row.enter_ns : INT64_MIN;
}

static void
take_messages(struct run *run, const struct message *message)
{
	/* nothing waits for a probe, or for who waits for a lock or a receiver */
	const bool one_way = !is_kind(message, "messages"), are_holds = is_kind(message, "holds");
	const struct edge_block *e = &run->graph.edges;

	for (size_t i = 0; i < e->count; i++) {
		struct event_row *send = row_of_edge(run, e->source[i], e->send[i], are_holds);
		struct event_row *receive = row_of_edge(run, e->target[i], e->receive[i],
		    are_holds);
		const struct event_row *posted;
		uint32_t poster = e->target[i];
		uint64_t post = e->receive[i];

		if (send == NULL || receive == NULL)
			continue;	/* in a stretch before the first wanted one */
		if (one_way) {
			if ((are_holds || may_block(run, &send->row, &receive->row)) &&
			    !stays_linked(receive, linked_ns(run, receive),
			    send->row.enter_ns, are_holds))
				link_rows(receive, e->source[i], e->send[i]);
			continue;
		}
		post_of(receive, &poster, &post);
		send->is_send = true;
		if (may_block(run, &send->row, &receive->row) ||
		    call_class(receive->row.call) == CLASS_EXPOSE_END)
			link_rows(receive, e->source[i], e->send[i]);
		/* A send waits for the post of its receive. */
		if (is_signal(call_class(send->row.call)))
			continue;
		if ((posted = row_of(run, poster, post)) == NULL || (may_block(run, &posted->row,
		    &send->row) && !stays_linked(send, linked_ns(run, send),
		    posted->row.enter_ns, false)))
			link_rows(send, poster, post);
	}
}

bool
collective_find(struct run *run, size_t k, size_t first, const struct row *const *rows)
{
	const struct edge_block *e = &run->graph.edges;
	const uint32_t size = e->size[k];

	GROW(run->members, run->member_capacity, size);
	GROW(run->copies, run->copy_capacity, size);
	for (size_t i = 0; i < size; i++) {
		const struct row *row = rows != NULL ? rows[i] : (const struct row *)row_of_edge(
		    run, e->location[first + i], e->seq[first + i], false);

		if (row == NULL)
			return false;
		run->copies[i] = *row;
		run->members[i] = (struct member){ e->location[first + i], e->seq[first + i],
		    &run->copies[i] };
	}
	run->waits_for = collective_waits(&run->needs, &run->graph.known, run->members, size);
	return true;
}

static void
take_collectives(struct run *run)
{
	const struct edge_block *e = &run->graph.edges;
	struct instances *kept = &run->instances;
	size_t at = 0;

	for (size_t k = 0; k < e->instances; at += e->size[k++]) {
		if (!collective_find(run, k, at, NULL))
			continue;
		if (run->keeps_instances)
			*APPEND(kept->at, kept->count, kept->capacity) = (struct instance){
			    kept->member_count, e->size[k] };
		for (uint32_t i = 0; run->keeps_instances && i < e->size[k]; i++)
			*APPEND(kept->members, kept->member_count, kept->member_capacity) =
			    (struct event){ e->seq[at + i], e->location[at + i], false };
		for (uint32_t i = 0; i < e->size[k]; i++)
			if (run->waits_for[i] != NOBODY && run->waits_for[i] != i)
				link_rows(row_of_edge(run,
				    run->members[i].location, run->members[i].seq, false),
				    run->members[run->waits_for[i]].location,
				    run->members[run->waits_for[i]].seq);
	}
}

/* A global synchronisation point ends a stretch with the enter of its last member. */
static void
take_sync(struct run *run, const struct message *message, struct event *last)
{
	run->last_ns = INT64_MIN;
	for (uint32_t l = 0; l < run->graph.known.location_count; l++) {
		const uint64_t seq = run->graph.seqs[l];
		const struct event_row *row = row_of(run, l, seq);

		run->end_seq[l] = seq + 1;
		if (!run_owns(run, l))
			continue;
		if (row == NULL || row->row.part != 0 || seq < run->first_seq[l]) {
			reader_fail(run->graph.in, message->offset, "sync: row %llu of location %u "
			    "is not there", (unsigned long long)seq, l);
			die_input(run->graph.in);
		}
		if (row->row.enter_ns > run->last_ns) {
			*last = (struct event){ seq, l, false };
			run->last_ns = row->row.enter_ns;
		}
	}
	if (run_shared(run))
		share_last(run, last, 0);
}

static void
begin_run(struct run *run)
{
	struct graph_input *g = &run->graph;
	const uint32_t locations = g->known.location_count;

	window_limit(&g->window, run->window_bytes, 1, run->processes);
	g->window.partial = run->part.from > 0;
	g->window.shared = run_shared(run);
	run->first_seq = zalloc(locations, sizeof *run->first_seq);
	run->end_seq = zalloc(locations, sizeof *run->end_seq);
	if (!run_shared(run))
		return;
	g->keeps = zalloc(locations, sizeof *g->keeps);
	for (uint32_t l = 0; l < locations; l++)
		g->keeps[l] = run_owns(run, l);
}

/* False: it lies before or after the part. */
static bool
is_wanted(struct run *run, const struct message *message)
{
	const struct part *part = &run->part;
	const uint64_t next = run->stretch + 1;
	const bool sync = is_kind(message, "sync");
	bool wanted = message->offset >= part->offset && run->stretch < part->to;

	if (part->defined > 0 && message->offset > part->defined && is_definition(message))
		die_index(run, message->offset, "a definition is here");
	if (part->defined > 0 && sync &&
	    ((next == part->from && message->offset != part->from_at) ||
	    (next == part->to && message->offset != part->to_at)))
		die_index(run, message->offset, "another synchronisation point is here");
	if (wanted && reader_verify(run->graph.in, message) < 0)
		die_input(run->graph.in);
	if (sync && next < part->from)	/* its rows are not here, either */
		wanted = false;
	run->stretch += sync && !wanted;
	return wanted;
}

/* The path leads through the row of MPI_Comm_spawn. */
static void
check_spawned(struct run *run, const struct message *message)
{
	int64_t location, seq;
	const struct event_row *row;

	if (body_int(run->graph.in, message, "location", 0, run->graph.known.location_count - 1,
	    &location) < 0 || body_int(run->graph.in, message, "seq", 0, INT64_MAX, &seq) < 0)
		die_input(run->graph.in);
	row = row_of(run, (uint32_t)location, (uint64_t)seq);
	if ((row != NULL && row->row.part == 0) || !run_owns(run, (uint32_t)location) ||
	    run->part.from > 0)
		return;
	reader_fail(run->graph.in, message->offset, "spawned: row %llu of location %u is not there",
	    (unsigned long long)seq, (unsigned)location);
	die_input(run->graph.in);
}

bool
run_take(struct run *run, const struct message *message, struct event *last)
{
	struct graph_input *g = &run->graph;
	enum graph_item item = graph_define(g, message);

	if (item == GRAPH_RUN)
		begin_run(run);
	if (!is_wanted(run, message))
		return false;
	if (item == GRAPH_OTHER)
		item = graph_rows(g, message);
	switch (item) {
	case GRAPH_CALLS:
		if (run->functions != NULL)
			functions_see_calls(run->functions, &g->calls);
		break;
	case GRAPH_MESSAGES:
	case GRAPH_PROBES:
	case GRAPH_LOCKS:
	case GRAPH_HOLDS:
		(run_shared(run) ? share_messages : take_messages)(run, message);
		break;
	case GRAPH_OVERDUE:
		if (run->goes_on)
			keep_overdue(run);
		break;
	case GRAPH_COLLECTIVES:
		if (run_shared(run))
			share_collectives(run, message);
		else
			take_collectives(run);
		break;
	case GRAPH_SYNC:
		take_sync(run, message, last);
		if (run->stretch >= run->part.from)
			return true;
		run_advance(run);
		break;
	default:
		if (is_kind(message, "spawned"))
			check_spawned(run, message);
		if (is_samples(message))	/* the first member finds the pieces of the path */
			run_take_samples(run, message, !run_shared(run) || run->team->rank == 0);
	}
	return false;
}

/*
 * Calls that did not return end with the run, like a rank that computed until then. One that waited
 * leads to the cause of the hang; else the rank that computed comes first.
 */
static int
preference(const struct run *run, uint32_t location, const struct row *row)
{
	const struct awaited_call *of = awaited_to_end(&run->graph.known, location, row->call,
	    row->leave_ns);

	return of != NULL && of->location != NOBODY ? 2 : !call_is_open(row->call);
}

bool
run_end(struct run *run, struct event *last)
{
	int best = 0;

	if (run->stretch < run->part.from || run->stretch >= run->part.to ||
	    run->graph.known.ranks == 0)
		return false;
	run->last_ns = INT64_MIN;
	*last = (struct event){ .leave = true };
	for (uint32_t l = 0; l < run->graph.known.location_count; l++) {
		const struct event_row *row;

		run->end_seq[l] = window_end(&run->graph.window, l);
		if (!run_owns(run, l) || run->end_seq[l] == run->first_seq[l])
			continue;
		row = row_of(run, l, run->end_seq[l] - 1);
		if (row->row.leave_ns > run->last_ns || (row->row.leave_ns == run->last_ns &&
		    preference(run, l, &row->row) > best)) {
			*last = (struct event){ run->end_seq[l] - 1 - row->row.part, l, true };
			run->last_ns = row->row.leave_ns;
			best = preference(run, l, &row->row);
		}
	}
	if (run_shared(run)) {
		share_last(run, last, best);
		share_ends(run);
	}
	return run->last_ns != INT64_MIN;
}

struct stretch
run_stretch(const struct run *run, struct event last)
{
	return (struct stretch){ run->team, &run->graph.known, &run->graph.window, run->first_seq,
	    run->end_seq, run->begin_ns, run->stretch > 0, run->from_event, run->from,
	    run->from_ns, run->goes_on, run_shared(run), last, run->last_ns };
}

/* Forgets the instances that do not lie after SEQS, by location. */
static void
instances_forget(struct instances *instances, const uint64_t *seqs)
{
	size_t kept = 0, used = 0;

	for (size_t i = 0; i < instances->count; i++) {
		struct instance instance = instances->at[i];
		const struct event *members = &instances->members[instance.first];

		if (members[0].seq <= seqs[members[0].location])
			continue;
		memmove(&instances->members[used], members, instance.size * sizeof *members);
		instances->at[kept++] = (struct instance){ used, instance.size };
		used += instance.size;
	}
	instances->count = kept;
	instances->member_count = used;
}

void
run_forget_instances(struct run *run)
{
	run->keeps_instances = false;
	free(run->instances.at);
	free(run->instances.members);
	run->instances = (struct instances){ 0 };
}

void
run_advance(struct run *run)
{
	run->begin_ns = run->last_ns;
	for (uint32_t l = 0; l < run->graph.known.location_count; l++) {
		run->first_seq[l] = run->end_seq[l] - 1;
		window_drop(&run->graph.window, l, run->first_seq[l]);
	}
	window_forget_all_kept(&run->graph.window);
	run_forget_samples(run, run->stretch >= run->part.from);
	run->from_event = false;
	instances_forget(&run->instances, run->first_seq);
	run->stretch++;
}
