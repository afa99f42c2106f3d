/* SPDX-License-Identifier: BSD-3-Clause */
#include "gates.h"
#include "../base/mpi/call_class.h"

#include <stdlib.h>
#include <string.h>

uint32_t
enter_of(const struct dag *dag, uint32_t location, uint64_t seq)
{
	const struct row *row = window_row(dag->stretch->window, location, seq);

	return (uint32_t)numbering_of(&dag->numbering, (struct event){ seq - row->part, location, false });
}

uint32_t *
gate_of(const struct dag *dag, const struct hubs *hubs, uint32_t location, uint64_t seq)
{
	return &hubs->gate[numbering_of(&dag->numbering, (struct event){ seq, location, false }) / 2];
}

static uint32_t
add_hub(const struct dag *dag, struct hubs *hubs)
{
	hubs->in = grow(hubs->in, &hubs->in_capacity, hubs->count + 1, sizeof *hubs->in);
	hubs->in[hubs->count] = hubs->source_count;
	return dag->events + (uint32_t)hubs->count++;
}

/* To the hub made last. */
static void
add_to_hub(struct hubs *hubs, uint32_t source)
{
	hubs->source = grow(hubs->source, &hubs->source_capacity, hubs->source_count + 1,
	    sizeof *hubs->source);
	hubs->source[hubs->source_count++] = source;
}

/* Everybody, or ONLY, waits for all. */
static void
gate_by_all(const struct dag *dag, struct hubs *hubs, const struct member *members, uint32_t count,
    uint32_t only)
{
	uint32_t hub = add_hub(dag, hubs);

	for (uint32_t i = 0; i < count; i++) {
		add_to_hub(hubs, enter_of(dag, members[i].location, members[i].seq));
		if (only == NOBODY || only == i)
			*gate_of(dag, hubs, members[i].location, members[i].seq) = hub;
	}
}

/* Each waits for what the one before waits for, and for that one. */
static void
gate_scan(const struct dag *dag, struct hubs *hubs, const struct definitions *known,
    const struct member *members, uint32_t count)
{
	uint32_t *order = collective_order(known, members, count), before = NO_GATE;

	for (uint32_t i = 0; i < count; i++) {
		const struct member *me = &members[order[i]];
		uint32_t hub = add_hub(dag, hubs);

		if (before != NO_GATE)
			add_to_hub(hubs, before);
		add_to_hub(hubs, enter_of(dag, me->location, me->seq));
		*gate_of(dag, hubs, me->location, me->seq) = before = hub;
	}
	free(order);
}

static void
gate_neighbours(const struct dag *dag, struct hubs *hubs, const struct definitions *known,
    const struct member *members, uint32_t count)
{
	int32_t *ranks = collective_ranks(known, members, count), size;
	uint32_t *member_of = collective_members(known, members, count, ranks, &size);

	for (uint32_t i = 0; i < count; i++) {
		const struct neighbours *of = collective_sources(known, members, ranks[i]);

		if (of == NULL)
			continue;
		*gate_of(dag, hubs, members[i].location, members[i].seq) = add_hub(dag, hubs);
		add_to_hub(hubs, enter_of(dag, members[i].location, members[i].seq));
		for (uint32_t s = 0; s < of->count; s++) {
			const int32_t from = of->sources[s];
			const struct member *source = from >= 0 && from < size &&
			    member_of[from] != NOBODY ? &members[member_of[from]] : NULL;

			if (source != NULL)
				add_to_hub(hubs, enter_of(dag, source->location, source->seq));
		}
	}
	free(ranks);
	free(member_of);
}

static void
gate_instance(const struct dag *dag, struct hubs *hubs, const struct definitions *known,
    const struct member *members, uint32_t count)
{
	enum call_class class = blocking_class(call_class(members[0].row->call));
	uint32_t root = class == CLASS_ONE_TO_ALL || class == CLASS_ALL_TO_ONE ?
	    collective_root(known, members, count) : NOBODY;

	if (class == CLASS_SCAN)
		gate_scan(dag, hubs, known, members, count);
	else if (class == CLASS_NEIGHBOUR)
		gate_neighbours(dag, hubs, known, members, count);
	else if (class == CLASS_ALL_TO_ONE && root != NOBODY)
		gate_by_all(dag, hubs, members, count, root);
	else if (class == CLASS_ONE_TO_ALL && root != NOBODY)
		for (uint32_t i = 0; i < count; i++)
			*gate_of(dag, hubs, members[i].location, members[i].seq) =
			    enter_of(dag, members[root].location, members[root].seq);
	else if (class != CLASS_ONE_TO_ALL && class != CLASS_ALL_TO_ONE)
		gate_by_all(dag, hubs, members, count, NOBODY);
}

/* Collectives in the stretch; its own ends are the beginning and the end instead. */
static void
gate_collectives(const struct dag *dag, struct hubs *hubs, const struct instances *instances,
    const struct definitions *known)
{
	const struct stretch *stretch = dag->stretch;
	bool ends_in_sync = !stretch->to.leave;
	struct member *members = NULL;
	struct row *rows = NULL;	/* copies: more than may be pointed to at a time */
	size_t capacity = 0, row_capacity = 0;

	for (size_t k = 0; k < instances->count; k++) {
		const struct instance *instance = &instances->at[k];
		bool inside = true;

		members = grow(members, &capacity, instance->size, sizeof *members);
		rows = grow(rows, &row_capacity, instance->size, sizeof *rows);
		for (uint32_t i = 0; i < instance->size; i++) {
			const struct event *m = &instances->members[instance->first + i];

			const struct row *row = window_row(stretch->window, m->location, m->seq);

			inside = inside && row != NULL && is_inside(stretch, m->location, m->seq) &&
			    !(ends_in_sync && m->seq + 1 == stretch->end_seq[m->location]);
			if (!inside)
				break;
			rows[i] = *row;
			members[i] = (struct member){ m->location, m->seq, &rows[i] };
		}
		if (inside)
			gate_instance(dag, hubs, known, members, instance->size);
	}
	free(members);
	free(rows);
}

static void
gate_messages(const struct dag *dag, struct hubs *hubs)
{
	const struct stretch *stretch = dag->stretch;

	for (uint32_t l = 0; l < stretch->window->locations; l++)
		for (uint64_t seq = stretch->first_seq[l]; seq < stretch->end_seq[l]; seq++) {
			const struct event_row *row = window_row(stretch->window, l, seq);
			enum call_class class = call_class(row->row.call);

			if (row->has_other && !is_collective(class) &&
			    is_inside(stretch, row->other, row->other_seq))
				*gate_of(dag, hubs, l, seq) = enter_of(dag, row->other, row->other_seq);
		}
}

void
find_gates(struct hubs *hubs, const struct dag *dag, const struct instances *instances,
    const struct definitions *known)
{
	size_t rows = dag->events / 2;

	memset(hubs, 0, sizeof *hubs);
	hubs->gate = zalloc(rows, sizeof *hubs->gate);
	memset(hubs->gate, 0xff, rows * sizeof *hubs->gate);	/* NO_GATE */
	gate_messages(dag, hubs);
	gate_collectives(dag, hubs, instances, known);
}

void
free_gates(struct hubs *hubs)
{
	free(hubs->gate);
	free(hubs->in);
	free(hubs->source);
}
