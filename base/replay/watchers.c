/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of times and payers, for watchers. */

#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"
#include "engine.h"

struct payer_slot { struct payer payer; uint32_t number; };	/* number 0: free */

static uint64_t
payer_hash(const struct payer_slot *s)
{
	const struct payer *p = &s->payer;

	return mix((uint64_t)p->site << 32 | p->comm, mix((uint64_t)p->source << 32 | p->target,
	    (uint64_t)p->call << 1 | p->waits));
}

static bool
is_same_payer(const struct payer_slot *left, const struct payer_slot *right)
{
	const struct payer *a = &left->payer, *b = &right->payer;

	return a->site == b->site && a->comm == b->comm && a->source == b->source &&
	    a->target == b->target && a->call == b->call && a->waits == b->waits;
}

HASH_TABLE_BY(payers, struct payer_slot, payer_hash, is_same_payer, number, 0)

void
marks_begin(struct engine *e, struct marks *m, const struct watcher *watchers, size_t count)
{
	memset(m, 0, sizeof *m);
	m->watchers = watchers;
	m->watcher_count = count;
	m->scratch = e->locations;
	m->times = e->locations + 1;	/* a stored number 0 means none */
	APPEND(m->payers, m->payer_count, m->payer_capacity);	/* NO_PAYER */
	e->marks = m;
}

void
mark_add(struct engine *e, uint32_t to, const struct cost *cost, uint32_t payer)
{
	for (size_t i = 0; i < e->marks->watcher_count; i++)
		e->marks->watchers[i].add(e->marks->watchers[i].context, to, cost, payer);
}

void
mark_set(struct engine *e, uint32_t to, uint32_t from, const struct cost *cost, uint32_t payer)
{
	for (size_t i = 0; i < e->marks->watcher_count; i++)
		e->marks->watchers[i].set(e->marks->watchers[i].context, to, from, cost, payer);
}

void
mark_max(struct engine *e, uint32_t to, uint32_t from, uint32_t payer)
{
	for (size_t i = 0; i < e->marks->watcher_count; i++)
		e->marks->watchers[i].max(e->marks->watchers[i].context, to, from, payer);
}

void
mark_sync(struct engine *e, uint32_t at)
{
	for (size_t i = 0; i < e->marks->watcher_count; i++)
		if (e->marks->watchers[i].sync != NULL)
			e->marks->watchers[i].sync(e->marks->watchers[i].context, at);
}

void
mark_over(struct engine *e, uint32_t first, uint32_t count)
{
	for (size_t i = 0; first != 0 && i < e->marks->watcher_count; i++)
		if (e->marks->watchers[i].over != NULL)
			e->marks->watchers[i].over(e->marks->watchers[i].context, first, count);
}

static uint32_t
take_times(struct marks *m, uint32_t count)
{
	uint32_t first = m->times;

	if (count > UINT32_MAX - first)
		die("there are more times than can be numbered");
	m->times += count;
	return first;
}

struct weight *
message_weight(struct engine *e, uint32_t flight)
{
	struct marks *m = e->marks;

	return AT(m->weights, m->weight_count, flight);
}

uint32_t
message_time(struct engine *e, uint32_t flight, int which)
{
	struct weight *weight = message_weight(e, flight);

	if (weight->first == 0)
		weight->first = take_times(e->marks, MESSAGE_TIMES);
	return weight->first + (uint32_t)which;
}

uint32_t
last_time(struct engine *e, uint32_t instance)
{
	struct instance *i = &e->instances[instance];

	const uint32_t each = i->by_last ? 1 : 2;

	if (i->times < 1 + each * i->count) {
		i->times = 1 + each * i->capacity;
		i->first_time = take_times(e->marks, i->times);
	}
	return i->first_time;
}

uint32_t
member_time(struct engine *e, uint32_t instance, uint32_t member)
{
	return last_time(e, instance) + 1 + member;
}

uint32_t
met_time(struct engine *e, uint32_t instance, uint32_t group)
{
	return member_time(e, instance, group) + e->instances[instance].count;
}

uint32_t
payer_here(struct engine *e, uint32_t runner, bool waits)
{
	struct marks *m = e->marks;
	const struct op *op = e->runners[runner].op;
	const struct replay_row *row = e->runners[runner].row;
	int32_t source;
	struct payer_slot key = { { row->site, row->comm, NO_NODE, NO_NODE, row->call, waits }, 0 },
	    *slot;

	if (!m->pays)
		return NO_PAYER;
	switch ((enum act)op->act) {
	case ACT_COLLECTIVE: case ACT_COLLECTIVE_START: case ACT_WAIT_COLLECTIVE:
		break;
	case ACT_POST:		/* of a named peer, whether its message is known yet or not */
		source = world_rank(e->known, row->comm, (int32_t)e->runners[runner].rank,
		    row->peer);
		if (source >= 0) {
			key.payer.source = e->machine->node_of[source];
			key.payer.target = e->node_of[runner];
		}
		break;
	default:
		if (op->link != NONE) {
			key.payer.source = e->node_of[e->flights[op->link].source];
			key.payer.target = e->node_of[e->flights[op->link].target];
		}
	}
	slot = payers_add(&m->payer_table, &key);
	if (slot->number == 0) {
		slot->number = (uint32_t)m->payer_count;
		*APPEND(m->payers, m->payer_count, m->payer_capacity) = key.payer;
	}
	return slot->number;
}

void
mark_message(struct engine *e, uint32_t runner, uint32_t flight, int when)
{
	if (e->marks != NULL)
		mark_max(e, runner, message_time(e, flight, when), when == POSTED ?
		    message_weight(e, flight)->waiter : message_weight(e, flight)->receiver);
}

void
mark_spent(struct engine *e, uint32_t runner, double ns)
{
	if (e->marks != NULL && ns != 0)
		mark_add(e, runner, &(struct cost){ ns, { 0 } }, NO_PAYER);
}
