/* SPDX-License-Identifier: BSD-3-Clause */
/* How the times of collectives come about, for who looks on. */
#include "../base/mpi/call_class.h"
#include "collective.h"
#include "engine.h"

/* A time becomes no less than what this member needs to leave. */
static void
mark_needs(struct engine *e, uint32_t link, uint32_t me, uint32_t clock)
{
	const struct instance *i = &e->instances[link];
	uint32_t payer = i->members[me].payer;
	const struct communicator *c;

	switch ((enum call_class)i->class) {
	case CLASS_ONE_TO_ALL:
		if (i->root != NONE && i->root != me)
			mark_max(e, clock, member_time(e, link, i->root), payer);
		return;
	case CLASS_ALL_TO_ONE:
		if (me == i->root)
			mark_max(e, clock, last_time(e, link), payer);
		return;
	case CLASS_SCAN:
		for (uint32_t k = 0; k < i->count; k++)
			if (k != me && i->members[k].comm_rank <= i->members[me].comm_rank)
				mark_max(e, clock, member_time(e, link, k), payer);
		return;
	case CLASS_NEIGHBOUR:
		c = i->comm < e->known->comm_count ? &e->known->comms[i->comm] : NULL;
		if (c == NULL || c->neighbours == NULL || (int64_t)i->members[me].comm_rank >= c->size)
			return;
		for (uint32_t s = 0; s < c->neighbours[i->members[me].comm_rank].count; s++)
			for (uint32_t k = 0; k < i->count; k++)
				if ((int32_t)i->members[k].comm_rank ==
				    c->neighbours[i->members[me].comm_rank].sources[s])
					mark_max(e, clock, member_time(e, link, k), payer);
		return;
	default:
		mark_max(e, clock, last_time(e, link), payer);
	}
}

/* From what this member's time to leave follows, when leave_ns knows it; with COST behind it. */
void
mark_leave(struct engine *e, uint32_t link, uint32_t me, const struct cost *cost)
{
	const struct arrival *member = &e->instances[link].members[me];
	const struct cost none = { 0, { 0 } };

	if (!e->machine->loggp) {
		mark_needs(e, link, me, member->location);
		return;
	}
	/* It came when it called, or where it only waits now, when it started. */
	mark_set(e, e->marks->scratch, member->started ? member_time(e, link, me) : member->location, &none,
	    NO_PAYER);
	mark_needs(e, link, me, e->marks->scratch);
	mark_add(e, e->marks->scratch, cost, member->payer);
	mark_max(e, member->location, e->marks->scratch, member->payer);
}

/* A member has come: when, for those whose time to leave follows from it. */
void
mark_arrival(struct engine *e, uint32_t id, uint32_t link, uint32_t me, bool waits)
{
	struct instance *i = &e->instances[link];
	const struct cost none = { 0, { 0 } };
	uint32_t last = last_time(e, link);

	i->members[me].payer = payer_here(e, id, true);
	i->members[me].started = !waits;
	if ((!waits && e->machine->loggp) || i->class == CLASS_SCAN || i->class == CLASS_NEIGHBOUR || (i->class == CLASS_ONE_TO_ALL &&
	    !e->machine->dimemas && me == i->root))
		mark_set(e, member_time(e, link, me), id, &none, NO_PAYER);
	if (i->arrived == 1)
		mark_set(e, last, id, &none, NO_PAYER);
	else
		mark_max(e, last, id, NO_PAYER);
}

/* All clocks are at one time where all have come to what holds up all, and no message is on its way. */
void
mark_if_sync(struct engine *e, uint32_t link)
{
	const struct instance *i = &e->instances[link];

	if (i->count == e->locations && i->sleeping == i->count && e->marks->in_flight == 0)
		mark_sync(e, last_time(e, link));
}

bool
holds_all(const struct instance *i)
{
	switch ((enum call_class)i->class) {
	case CLASS_ONE_TO_ALL: case CLASS_ALL_TO_ONE: case CLASS_SCAN: case CLASS_NEIGHBOUR:
		return false;
	default:
		return true;
	}
}
