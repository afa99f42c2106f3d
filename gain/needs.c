/* SPDX-License-Identifier: BSD-3-Clause */
#include "gain.h"

/* ---- rows that each row of the stretch may have waited for --------------------------- */

enum { NO_GATE = UINT32_MAX };

/* Hubs in the making; each becomes a vertex after the events. */
struct hubs {
	uint32_t *enter;	/* by row: the vertex of its call's enter */
	uint32_t *gate;		/* by row: the vertex that its call needs, besides its enter */
	uint64_t *end;		/* of the sources of each */
	uint32_t *source;
	size_t count, capacity, source_count, source_capacity;
};

/* The number of a row. */
static size_t
row_number(const struct dag *dag, uint32_t location, uint64_t seq)
{
	return numbering_of(&dag->numbering, (struct event){ seq, location, false }) / 2;
}

static uint32_t
add_hub(const struct dag *dag, struct hubs *hubs)
{
	*APPEND(hubs->end, hubs->count, hubs->capacity) = hubs->source_count;
	return dag->events + (uint32_t)hubs->count - 1;
}

/* Adds a source to the last hub. */
static void
add_to_hub(struct hubs *hubs, uint32_t source)
{
	*APPEND(hubs->source, hubs->source_count, hubs->source_capacity) = source;
	hubs->end[hubs->count - 1] = hubs->source_count;
}

/* Whom a member waited for in a tree it needs, too. */
static void
gate_in_tree(const struct dag *dag, struct hubs *hubs, struct needs *needs,
    const struct member *members, uint32_t count)
{
	collective_waits(needs, dag->stretch->known, members, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t *gate = &hubs->gate[row_number(dag, members[i].location, members[i].seq)];
		const struct member *of;
		uint32_t hub;

		if (needs->in_tree[i] == NOBODY)
			continue;
		of = &members[needs->in_tree[i]];
		hub = add_hub(dag, hubs);
		if (*gate != NO_GATE)
			add_to_hub(hubs, *gate);
		add_to_hub(hubs, hubs->enter[row_number(dag, of->location, of->seq)]);
		*gate = hub;
	}
}

/* The dependents of a group need the enters of its sources: base/run/collective.h. */
static void
gate_instance(const struct dag *dag, struct hubs *hubs, struct needs *needs,
    const struct member *members, uint32_t count)
{
	const enum call_class class = call_class(members[0].row->call);
	uint32_t gate = NO_GATE;

	collective_needs_seen(needs, dag->stretch->known, members, count);
	for (const struct need *n = needs->groups; n < needs->groups + needs->count; n++) {
		const uint32_t *source = needs->sources + n->source;
		const uint32_t *dependent = needs->dependents + n->dependent;
		const bool has_hub = n->source_count > 1 || n->chained || class == CLASS_ALL_TO_ONE;
		const uint32_t before = gate;

		if (has_hub)
			gate = add_hub(dag, hubs);
		if (n->chained)
			add_to_hub(hubs, before);
		for (uint32_t i = 0; i < n->source_count; i++) {
			const struct member *m = &members[source[i]];
			const uint32_t enter = hubs->enter[row_number(dag, m->location, m->seq)];

			if (has_hub)
				add_to_hub(hubs, enter);
			else
				gate = enter;
		}
		for (uint32_t i = 0; i < n->dependent_count && n->source_count > 0; i++) {
			const struct member *m = &members[dependent[i]];

			hubs->gate[row_number(dag, m->location, m->seq)] = gate;
		}
	}
	if (needs->count > 0 && passes_on(class))
		gate_in_tree(dag, hubs, needs, members, count);
}

/* Collectives in the stretch. Those at its ends are the begin and the end instead. */
static void
gate_collectives(const struct dag *dag, struct hubs *hubs, const struct instances *instances)
{
	const struct stretch *stretch = dag->stretch;
	bool ends_in_sync = !stretch->to.leave;
	struct member *members = NULL;
	struct row *rows = NULL;	/* copies: more than can be pointed to at a time */
	struct needs needs = { 0 };
	size_t capacity = 0, row_capacity = 0;

	for (size_t k = 0; k < instances->count; k++) {
		const struct instance *instance = &instances->at[k];
		bool inside = true;

		GROW(members, capacity, instance->size);
		GROW(rows, row_capacity, instance->size);
		for (uint32_t i = 0; i < instance->size; i++) {
			const struct event *m = &instances->members[instance->first + i];
			const struct row *row = window_row(stretch->window, m->location, m->seq);

			inside = inside && row != NULL &&
			    stretch_has(stretch, m->location, m->seq) &&
			    !(ends_in_sync && m->seq + 1 == stretch->end_seq[m->location]);
			if (!inside)
				break;
			rows[i] = *row;
			members[i] = (struct member){ m->location, m->seq, &rows[i] };
		}
		if (inside)
			gate_instance(dag, hubs, &needs, members, instance->size);
	}
	needs_free(&needs);
	free(members);
	free(rows);
}

/*
 * The end of an exposure needs an MPI_Win_complete, and what that waited for itself: it may tell
 * its targets only when all of them have posted. N: the row, which was left at LEAVE_NS.
 */
static void
gate_exposure(const struct dag *dag, struct hubs *hubs, size_t n, int64_t leave_ns)
{
	const uint32_t complete = hubs->gate[n];
	uint32_t hub = NO_GATE;

	for (size_t k = complete / 2; 2 * k < dag->events && hubs->enter[k] == complete; k++) {
		const uint32_t post = hubs->gate[k];
		const struct row *row = post == NO_GATE ? NULL : dag_row(dag, post);

		if (row == NULL || row->enter_ns > leave_ns)
			continue;
		if (hub == NO_GATE) {
			hub = add_hub(dag, hubs);
			add_to_hub(hubs, complete);
		}
		add_to_hub(hubs, post);
	}
	if (hub != NO_GATE)
		hubs->gate[n] = hub;
}

/*
 * Notes the enters of all rows, and what messages make them need. The rows of a stretch may be
 * packed: each is looked at once, in order, and its other end only by number.
 */
static void
gate_messages(const struct dag *dag, struct hubs *hubs)
{
	const struct stretch *stretch = dag->stretch;
	const size_t rows = dag->events / 2;
	struct exposed { size_t row; int64_t leave_ns; } *exposed = NULL;
	size_t n = 0, count = 0, capacity = 0;

	hubs->enter = zalloc(rows, sizeof *hubs->enter);
	hubs->gate = zalloc(rows, sizeof *hubs->gate);
	for (uint32_t l = 0; l < stretch->window->locations; l++)
		for (uint64_t seq = stretch->first_seq[l]; seq < stretch->end_seq[l]; seq++, n++) {
			const struct event_row *row = window_row(stretch->window, l, seq);
			const uint64_t before = seq - stretch->first_seq[l];

			hubs->enter[n] = 2 * (uint32_t)(n - (row->row.part < before ?
			    row->row.part : before));
			hubs->gate[n] = row->has_other &&
			    !is_collective(call_class(row->row.call)) &&
			    stretch_has(stretch, row->other, row->other_seq) ?
			    (uint32_t)numbering_of(&dag->numbering,
			    (struct event){ row->other_seq, row->other, false }) : NO_GATE;
			if (hubs->gate[n] != NO_GATE &&
			    call_class(row->row.call) == CLASS_EXPOSE_END)
				*APPEND(exposed, count, capacity) = (struct exposed){ n,
				    row->row.leave_ns };
		}
	for (n = 0; n < rows; n++)
		if (hubs->gate[n] != NO_GATE)
			hubs->gate[n] = hubs->enter[hubs->gate[n] / 2];
	for (n = 0; n < count; n++)
		gate_exposure(dag, hubs, exposed[n].row, exposed[n].leave_ns);
	free(exposed);
}

/* ---- vertices and edges -------------------------------------------------------------- */

/* The leave of a call: its own enter, and the gates that opened before its end. */
static void
add_leave(struct dag *dag, const struct hubs *hubs, uint32_t enter, uint32_t location, uint64_t seq)
{
	const struct stretch *stretch = dag->stretch;
	const struct event_row call = *(const struct event_row *)window_row(stretch->window,
	    location, seq);
	int64_t enter_ns = dag->time_ns[enter], leave_ns = call.row.leave_ns - stretch->begin_ns;
	int64_t last_ns = enter_ns;

	dag_add_source(dag, enter);
	if (may_wait(&call))
		for (struct edge_rows e = edge_rows(stretch->window, location, seq);
		    edge_rows_next(&e);) {
			uint32_t gate = stretch_has(stretch, e.edge_location, e.edge_seq) ?
			    hubs->gate[row_number(dag, e.edge_location, e.edge_seq)] : NO_GATE;

			if (gate == NO_GATE || dag->time_ns[gate] > leave_ns ||
			    (row_sends(e.edge) && dag->time_ns[gate] < enter_ns))
				continue;
			dag_add_source(dag, gate);
			if (dag->time_ns[gate] > last_ns)
				last_ns = dag->time_ns[gate];
		}
	dag->weight_ns[enter + 1] = leave_ns - last_ns;
}

static void
add_calls(struct dag *dag, const struct hubs *hubs, uint32_t location)
{
	const struct stretch *stretch = dag->stretch;
	uint64_t first = stretch->first_seq[location];
	struct event spawn;
	int64_t spawn_ns;
	uint32_t before = BEGIN;

	if (first < stretch->end_seq[location] && !stretch->from_sync &&
	    event_before(stretch, (struct event){ first, location, false }, &spawn, &spawn_ns))
		before = (uint32_t)numbering_of(&dag->numbering, spawn);
	for (uint64_t seq = first; seq < stretch->end_seq[location]; seq++) {
		const struct row *row = window_row(stretch->window, location, seq);
		uint32_t enter = (uint32_t)numbering_of(&dag->numbering,
		    (struct event){ seq, location, false });

		dag->in[enter] = dag->in[enter + 1] = dag->source_count;
		if (row->part > 0)
			continue;
		if (seq == first && stretch->from_sync) {
			/*
			 * All members of the synchronisation point leave after the last has
			 * entered.
			 */
			dag_add_source(dag, BEGIN);
			dag->weight_ns[enter + 1] = dag->time_ns[enter + 1];
		} else {
			dag_add_source(dag, before);
			dag->weight_ns[enter] = dag->time_ns[enter] -
			    (before == BEGIN ? 0 : dag->time_ns[before]);
			dag->in[enter + 1] = dag->source_count;
			add_leave(dag, hubs, enter, location, seq);
		}
		before = enter + 1;
	}
}

static void
measure(struct dag *dag, const struct hubs *hubs)
{
	const struct stretch *stretch = dag->stretch;
	int64_t *time_ns = dag->time_ns;

	for (uint32_t l = 0; l < stretch->window->locations; l++)
		for (uint64_t seq = stretch->first_seq[l]; seq < stretch->end_seq[l]; seq++) {
			const struct row *row = window_row(stretch->window, l, seq);

			*time_ns++ = row->enter_ns - stretch->begin_ns;
			*time_ns++ = row->leave_ns - stretch->begin_ns;
		}
	for (size_t h = 0, k = 0; h < hubs->count; h++, time_ns++) {
		*time_ns = k < hubs->end[h] ? dag->time_ns[hubs->source[k]] : 0;
		for (; k < hubs->end[h]; k++)		/* a hub only has sources before it */
			*time_ns = larger(*time_ns, dag->time_ns[hubs->source[k]]);
	}
}

/*
 * Depth first from the end; leaves out an edge that closes a cycle, whose events are all at one
 * instant.
 */
static void
put_in_order(struct dag *dag)
{
	enum { NEW, OPEN, DONE_WITH };
	uint32_t *stack = zalloc(dag->vertices, sizeof *stack);
	uint64_t *next = zalloc(dag->vertices, sizeof *next);
	uint8_t *state = zalloc(dag->vertices, sizeof *state);
	uint64_t left_out = 0;
	size_t depth = 0;

	stack[depth++] = dag->end;
	state[dag->end] = OPEN;
	next[dag->end] = dag->in[dag->end];
	while (depth > 0) {
		uint32_t v = stack[depth - 1], source;

		if (next[v] == dag->in[v + 1]) {
			dag->order[dag->ordered++] = v;
			state[v] = DONE_WITH;
			depth--;
			continue;
		}
		source = dag->source[next[v]++];
		if (source == BEGIN || state[source] == DONE_WITH)
			continue;
		if (state[source] == OPEN) {
			dag->source[next[v] - 1] = BEGIN;
			if (dag->in[v + 1] - dag->in[v] == 1)	/* nothing else leads to it */
				dag->weight_ns[v] = dag->time_ns[v];
			left_out++;
			continue;
		}
		state[source] = OPEN;
		next[source] = dag->in[source];
		stack[depth++] = source;
	}
	if (left_out > 0)
		note("%llu dependences close circles between %.9f and %.9f s and are left out",
		    (unsigned long long)left_out, 1e-9 * (double)dag->stretch->begin_ns,
		    1e-9 * (double)(dag->stretch->begin_ns + dag->time_ns[dag->end]));
	free(stack);
	free(next);
	free(state);
}

void
dag_of_needs(struct dag *dag, const struct stretch *stretch, const struct instances *instances)
{
	uint64_t events = count_events(stretch);
	uint32_t locations = stretch->window->locations;
	bool ends_in_sync = !stretch->to.leave;
	struct hubs hubs = { 0 };
	size_t room;

	memset(dag, 0, sizeof *dag);
	if (events > UINT32_MAX / 4)
		die("more than 2^29 calls between two synchronisation points");
	dag->stretch = stretch;
	dag->events = (uint32_t)events;
	numbering_open(&dag->numbering, stretch);
	gate_messages(dag, &hubs);
	gate_collectives(dag, &hubs, instances);
	dag->end = dag->events + (uint32_t)hubs.count;
	dag->vertices = dag->end + 1;
	room = (size_t)dag->vertices + 1;
	dag->time_ns = zalloc(room, sizeof *dag->time_ns);
	dag->weight_ns = zalloc(room, sizeof *dag->weight_ns);
	dag->in = zalloc(room, sizeof *dag->in);
	dag->order = zalloc(room, sizeof *dag->order);
	measure(dag, &hubs);
	for (uint32_t l = 0; l < locations; l++)
		add_calls(dag, &hubs, l);
	for (size_t h = 0, k = 0; h < hubs.count; h++) {
		dag->in[dag->events + h] = dag->source_count;
		for (; k < hubs.end[h]; k++)
			dag_add_source(dag, hubs.source[k]);
	}
	dag->in[dag->end] = dag->source_count;
	for (uint32_t l = 0; l < locations; l++)
		if (stretch->end_seq[l] > stretch->first_seq[l])
			dag_add_source(dag,
			    hubs.enter[row_number(dag, l, stretch->end_seq[l] - 1)] +
			    !ends_in_sync);
	dag->in[dag->end + 1] = dag->source_count;
	dag->time_ns[dag->end] = time_of(stretch, stretch->to) - stretch->begin_ns;
	put_in_order(dag);
	free(hubs.enter);
	free(hubs.gate);
	free(hubs.end);
	free(hubs.source);
}

struct segment
dag_piece(const struct dag *dag, uint32_t from, uint32_t vertex, int64_t end_ns)
{
	const struct row *row = dag_row(dag, vertex);
	const enum segment_kind kind = (vertex & 1) == 0 ?
	    kind_before(row->call, from == BEGIN && !dag->stretch->from_sync) : from + 1 == vertex ?
	    MPI : TRANSFER;

	return path_segment(row, numbering_event(&dag->numbering, vertex).location, kind,
	    end_ns - dag->weight_ns[vertex], end_ns);
}
