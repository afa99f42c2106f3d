/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives. On Dimemas' machine all leave together, when the last has entered and the phases of
 * the model are over. On the ideal machine each leaves when the members that it needs have entered.
 */
#include <stdlib.h>

#include "engine.h"
#include "../mpi/call_class.h"

/* When this member may leave by MPI's rules; -1: not yet known. */
static double
needs_ns(const struct instance *i, uint32_t me)
{
	const struct arrival *member = &i->members[me];
	const struct group *group = member->group != NONE ? &i->groups[member->group] : NULL;

	if (group == NULL || (group->met && group->at_ns < member->at_ns))
		return member->at_ns;
	return group->met ? group->at_ns : -1;
}

double
collective_met_ns(const struct engine *e, uint32_t link, uint32_t me)
{
	const struct instance *i = &e->instances[link];

	return e->machine->dimemas ? i->last_ns : needs_ns(i, me);
}

/* Notes for the watcher when the group was met. */
static void
mark_met(struct engine *e, uint32_t link, uint32_t g)
{
	const struct needs *needs = &e->instances[link].needs;
	const struct need *need = &needs->groups[g];
	const uint32_t *sources = needs->sources + need->source, met = met_time(e, link, g);

	mark_set(e, met, member_time(e, link, sources[0]), &NO_COST, NO_PAYER);
	for (uint32_t s = 1; s < need->source_count; s++)
		mark_max(e, met, member_time(e, link, sources[s]), NO_PAYER);
	if (need->chained)
		mark_max(e, met, met_time(e, link, g - 1), NO_PAYER);
}

/* Notes that CLOCK, at which this member leaves, is not before its group was met. */
static void
mark_needs(struct engine *e, uint32_t link, uint32_t me, uint32_t clock)
{
	const struct instance *i = &e->instances[link];
	const struct arrival *member = &i->members[me];

	if (member->group != NONE)
		mark_max(e, clock, i->by_last ? last_time(e, link) :
		    met_time(e, link, member->group), member->payer);
}

/* Notes how this member's leave follows from other times, plus COST. */
static void
mark_leave(struct engine *e, uint32_t link, uint32_t me, const struct cost *cost)
{
	const struct arrival *member = &e->instances[link].members[me];
	if (!e->machine->loggp) {
		mark_needs(e, link, me, member->location);
		return;
	}
	/* It arrived at its call, or for a wait at the call that started the operation. */
	mark_set(e, e->marks->scratch, member->started ? member_time(e, link, me) :
	    member->location, &NO_COST, NO_PAYER);
	mark_needs(e, link, me, e->marks->scratch);
	mark_add(e, e->marks->scratch, cost, member->payer);
	mark_max(e, member->location, e->marks->scratch, member->payer);
}

/* Notes the arrival of a member, for leaves that depend on it. */
static void
mark_arrival(struct engine *e, uint32_t id, uint32_t link, uint32_t me, bool waits)
{
	struct instance *i = &e->instances[link];
	uint32_t last = last_time(e, link);

	i->members[me].payer = payer_here(e, id, true);
	i->members[me].started = !waits;
	if ((!waits && e->machine->loggp) || !i->by_last)
		mark_set(e, member_time(e, link, me), id, &NO_COST, NO_PAYER);
	if (i->arrived == 1)
		mark_set(e, last, id, &NO_COST, NO_PAYER);
	else
		mark_max(e, last, id, NO_PAYER);
}

/* A collective in which HELD members wait for all sets all clocks to one time, if these are all
 * locations and no message is in flight. */
static void
mark_if_sync(struct engine *e, uint32_t link, uint32_t held)
{
	const struct instance *i = &e->instances[link];

	if (i->count == e->locations && held == i->count && e->marks->in_flight == 0)
		mark_sync(e, last_time(e, link));
}

/* Except that with files each leaves at a time of its own. */
static bool
holds_all(const struct instance *i)
{
	return i->by_last && i->needs.groups->dependent_count == i->count &&
	    i->class != CLASS_FILE;
}

/* When it leaves, with LogGP's cost once it has all it needs; -1: not yet known. */
static double
end_ns(struct engine *e, uint32_t link, uint32_t me)
{
	struct instance *i = &e->instances[link];
	const struct arrival *member = &i->members[me];
	const double at_ns = e->machine->dimemas ? i->done_ns : needs_ns(i, me);
	struct cost cost = NO_COST;

	if (at_ns < 0)
		return -1;
	if (e->machine->loggp && i->count > 1 && i->class != CLASS_FILE &&
	    member->group != NONE && (i->class != CLASS_ONE_TO_ALL || i->root != me))
		cost = collective_cost(e, i);
	if (e->marks != NULL && e->machine->dimemas)
		mark_max(e, member->location, last_time(e, link), member->payer);
	else if (e->marks != NULL)
		mark_leave(e, link, me, &cost);
	return at_ns + cost.ns + member->own_ns;
}

/* Wakes the member if it sleeps and may now leave. */
static void
release_one(struct engine *e, uint32_t link, uint32_t k)
{
	struct instance *i = &e->instances[link];
	double at_ns = i->members[k].waits ? end_ns(e, link, k) : -1;

	if (at_ns < 0)
		return;
	i->members[k].waits = false;
	i->sleeping--;
	wake(e, i->members[k].location, at_ns);
}

static void
release_all(struct engine *e, uint32_t link)
{
	const struct instance *i = &e->instances[link];

	for (uint32_t k = 0; k < i->count && i->sleeping > 0; k++)
		release_one(e, link, k);
}

void
collective_meet(struct engine *e, uint32_t link, uint32_t g)
{
	struct instance *i = &e->instances[link];
	const struct need *need = &i->needs.groups[g];

	do {
		struct group *group = &i->groups[g];

		for (; group->arrived < need->source_count; group->arrived++) {
			const uint32_t k = i->needs.sources[need->source + group->arrived];
			struct arrival *source = &i->members[k];

			if (source->at_ns < 0) {
				group->next = source->waiters;
				source->waiters = g;
				return;
			}
			if (source->at_ns > group->at_ns)
				group->at_ns = source->at_ns;
		}
		if (need->chained && group[-1].at_ns > group->at_ns)
			group->at_ns = group[-1].at_ns;
		group->met = true;
		if (e->marks != NULL && !i->by_last)
			mark_met(e, link, g);
		for (uint32_t d = 0; d < need->dependent_count && i->sleeping > 0; d++)
			release_one(e, link, i->needs.dependents[need->dependent + d]);
		g++;
		need++;
	} while (g < i->needs.count && need->chained);
}

/* Its arrival may let others go. */
static void
release(struct engine *e, uint32_t link, uint32_t me)
{
	struct instance *i = &e->instances[link];
	uint32_t g = i->members[me].waiters, next;

	for (i->members[me].waiters = NONE; g != NONE; g = next) {
		next = i->groups[g].next;
		collective_meet(e, link, g);
	}
}

/* All have arrived on Dimemas' machine. */
static void
begin_operation(struct engine *e, uint32_t link)
{
	struct instance *i = &e->instances[link];
	struct cost cost;

	if (i->class == CLASS_FILE) {	/* a file needs no network */
		collective_done(e, link, i->last_ns);
		return;
	}
	if (e->contended) {
		bus_take_all(e, link);
		return;
	}
	cost = collective_cost(e, i);
	if (e->marks != NULL) {
		if (i->uneven && cost.times[GAP] != 0)
			e->marks->broken = "a collective has the size of the last to come, and "
			    "sizes differ";
		mark_add(e, last_time(e, link), &cost, i->members[0].payer);
		mark_if_sync(e, link, i->sleeping);
	}
	collective_done(e, link, i->last_ns + cost.ns);
}

void
collective_done(struct engine *e, uint32_t link, double at_ns)
{
	e->instances[link].done_ns = at_ns;
	release_all(e, link);
}

/* MPI_Reduce as in prv2dim and Dimemas: all send to the root, which waits for all. */
static bool
enter_reduction(struct engine *e, uint32_t id, const struct op *op, uint32_t me)
{
	uint32_t link = op->link, root = e->instances[link].root, f;
	struct runner *r = &e->runners[id];
	struct flight *flight;

	e->instances[link].members[me].waits = true;
	if (me == root) {
		if (e->instances[link].left + 1 < e->instances[link].count)
			return false;
		e->instances[link].members[me].waits = false;
		if (e->marks != NULL)
			mark_max(e, id, last_time(e, link), payer_here(e, id, true));
		return sleep_until(r, e->instances[link].last_ns);
	}
	f = flight_new(e);
	flight = &e->flights[f];
	flight->source = id;
	flight->target = e->instances[link].members[root].location;
	flight->references = 1;
	flight->instance = link;
	flight->member = me;
	flight->flags = MESSAGE_SENT | MESSAGE_PART;
	flight->sent_ns = r->now_ns;
	flight_route(e, flight, NO_TAG, r->row->sent);
	if (e->marks != NULL)
		mark_set(e, message_time(e, f, ARRIVED), id, &(struct cost){ flight->wire_ns,
		    { [GAP] = flight->wire == WIRE_NETWORK ? (double)r->row->sent :
		    0 } }, payer_here(e, id, false));
	transfer_start(e, f, r->now_ns);
	/* without limits it has arrived, at a later time */
	return !e->contended && sleep_until(r, e->flights[f].arrived_ns);
}

void
collective_part(struct engine *e, uint32_t f)
{
	struct flight *flight = &e->flights[f];
	struct instance *i = &e->instances[flight->instance];
	uint32_t me = flight->member;
	double at_ns = flight->arrived_ns;

	i->left++;
	if (at_ns > i->last_ns)
		i->last_ns = at_ns;
	if (e->marks != NULL) {
		mark_max(e, last_time(e, flight->instance), message_time(e, f, ARRIVED), NO_PAYER);
		mark_max(e, flight->source, message_time(e, f, ARRIVED), NO_PAYER);
	}
	i->members[me].waits = false;
	if (e->explains)
		explain_part(e, f);
	if (e->contended)
		wake(e, flight->source, at_ns);
	if (i->left + 1 == i->count && i->members[i->root].waits) {
		uint32_t root = i->members[i->root].location;

		i->members[i->root].waits = false;
		if (e->marks != NULL)
			mark_max(e, root, last_time(e, flight->instance),
			    i->members[i->root].payer);
		wake(e, root, i->last_ns);
	}
	flight_unref(e, f);
}

/* What its cost hangs on. */
static void
take_sizes(struct instance *i, uint64_t sent, uint64_t received, double factor)
{
	if (i->sent == sent && i->received == received && i->factor == factor)
		return;
	i->sent = sent;
	i->received = received;
	i->factor = factor;
	i->costed = false;
}

bool
collective_enter(struct engine *e, uint32_t id, const struct op *op, bool waits)
{
	struct runner *r = &e->runners[id];
	const struct replay_row *row = r->row;
	struct instance *i;
	uint32_t me;
	double at_ns;

	if (op->link == NONE)	/* alone, or nothing is known of the others */
		return row->comm == 0 || row->comm == 2 ||
		    (row->comm < e->known->comm_count && e->known->comms[row->comm].size <= 1 &&
		    e->known->comms[row->comm].remote_size == 0);
	i = &e->instances[op->link];
	me = row->member;
	i->members[me].at_ns = r->now_ns;
	i->arrived++;
	if (r->now_ns > i->last_ns || i->arrived == 1)
		i->last_ns = r->now_ns;
	if (i->root == NONE && i->arrived > 1 &&
	    (row->sent != i->sent || row->received != i->received))
		i->uneven = true;
	if (i->root == me || (i->root == NONE && r->now_ns >= i->last_ns))
		take_sizes(i, row->sent, row->received, scale_of(e, id, false));
	if (e->marks != NULL) {
		mark_arrival(e, id, op->link, me, waits);
		e->marks->in_flight += !waits;
	}
	if (collective_is_messages(e, i) && waits)
		return enter_reduction(e, id, op, me);
	if (e->machine->dimemas) {
		i->members[me].waits = waits;
		i->sleeping += waits;
		if (i->arrived == i->count)
			begin_operation(e, op->link);
		return !waits;
	}
	if (e->machine->loggp)
		take_sizes(i, row->sent > i->sent ? row->sent : i->sent,
		    row->received > i->received ? row->received : i->received, i->factor);
	if (e->marks != NULL && waits && i->arrived == i->count && holds_all(i))
		mark_if_sync(e, op->link, i->sleeping + 1);
	release(e, op->link, me);
	at_ns = waits ? end_ns(e, op->link, me) : r->now_ns;
	if (at_ns < 0) {
		i->members[me].waits = true;
		i->sleeping++;
	}
	return at_ns >= 0 && sleep_until(r, at_ns);
}

bool
collective_wait(struct engine *e, uint32_t id, const struct op *op)
{
	struct runner *r = &e->runners[id];
	struct instance *i = &e->instances[op->link];
	uint32_t me = r->row->member;
	double at_ns;

	if (e->marks != NULL)
		i->members[me].payer = payer_here(e, id, true);
	at_ns = end_ns(e, op->link, me);
	if (e->marks != NULL)
		e->marks->in_flight--;
	if (at_ns >= 0)
		return sleep_until(r, at_ns);
	i->members[me].waits = true;
	i->sleeping++;
	return false;
}
