/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives as messages. A member goes through the rounds of its schedule. In each round it posts
 * its receive, sends, waits for a rendezvous message, and then for its receive, as MPI_Sendrecv
 * does. The engine handles these messages like all others: they cost overheads, wait for links, and
 * are watched.
 */
#include <stdlib.h>

#include "../tool/hash_table.h"
#include "engine.h"

/* A message of a collective that one end has reached: members, and its number between them. */
struct letter { uint32_t instance, source, target, number, flight, done; };	/* done: ends */

#define LETTER_HASH(l) mix((uint64_t)(l)->instance << 32 | (l)->number, \
	(uint64_t)(l)->source << 32 | (l)->target)
#define LETTER_SAME(a, b) ((a)->instance == (b)->instance && (a)->source == (b)->source && \
	(a)->target == (b)->target && (a)->number == (b)->number)
HASH_TABLE_BY(letters, struct letter, LETTER_HASH, LETTER_SAME, flight, NONE)

enum kind { POST, SEND, FINISH, RECEIVE, KINDS };

struct move {
	enum kind kind;
	uint32_t peer, number;
	double bytes;
	bool combines;		/* it combines received data with its own */
};

void
moves_begin(struct engine *e)
{
	e->letters = zalloc(1, sizeof *e->letters);
	letters_begin(e->letters, 64);
}

void
moves_enter(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	struct instance *i = &e->instances[r->op->link];

	i->members[r->row->member].at_ns = r->now_ns;
	i->arrived++;
	r->move = 0;
}

/* The runner's current or next move; false: there is none. */
static bool
move_here(struct engine *e, uint32_t id, struct move *move)
{
	struct runner *r = &e->runners[id];
	const struct plan *plan = &e->instances[r->op->link].plan;
	uint64_t rounds = schedule_rounds(plan);
	uint32_t me = r->row->member;
	bool overlaps = plan->schedule == SCHEDULE_LINEAR;	/* all rounds go on at once */

	for (; r->move < KINDS * rounds; r->move++) {
		uint32_t n = (uint32_t)(overlaps ? r->move % rounds : r->move / KINDS);
		struct round round = schedule_round(plan, me, n);

		move->kind = (enum kind)(overlaps ? r->move / rounds : r->move % KINDS);
		if (move->kind == POST || move->kind == RECEIVE) {
			move->combines = schedule_combines(plan, n);
			move->peer = round.from;
			move->number = round.from_number;
			move->bytes = round.from_bytes;
		} else {
			move->peer = round.to;
			move->number = round.to_number;
			move->bytes = round.to_bytes;
		}
		if (move->peer != NOBODY)
			return true;
	}
	return false;
}

/* The message of a move, made by the end that comes first. */
static struct letter *
letter_of(struct engine *e, uint32_t id, const struct move *move)
{
	const struct runner *r = &e->runners[id];
	uint32_t link = r->op->link, me = r->row->member;
	bool mine = move->kind == SEND || move->kind == FINISH;
	struct letter key = { link, mine ? me : move->peer, mine ? move->peer : me,
	    move->number, NONE, 0 };
	struct letter *found = letters_find(e->letters, &key);
	struct flight *f;
	uint64_t bytes = (uint64_t)(move->bytes + 0.5);

	if (found != NULL)
		return found;
	key.flight = flight_new(e);
	f = &e->flights[key.flight];
	f->source = e->instances[link].members[key.source].location;
	f->target = e->instances[link].members[key.target].location;
	f->references = 3;		/* both ends, and its way */
	if (e->machine->eager_bytes >= 0 && bytes >= (uint64_t)e->machine->eager_bytes)
		f->flags = MESSAGE_RENDEZVOUS;
	flight_route(e, f, NO_TAG, bytes);
	if (e->explains)	/* of no row */
		e->trails[key.flight] = (struct trail){ .bytes = bytes, .send_seq = UINT64_MAX,
		    .receive_seq = UINT64_MAX };
	return letters_add(e->letters, &key);
}

/* One end is done with a message. */
static void
drop(struct engine *e, struct letter *letter)
{
	uint32_t flight = letter->flight;

	if (++letter->done == 2)
		letters_remove(e->letters, letter);
	flight_unref(e, flight);
}

bool
move_next(struct engine *e, uint32_t id, double *ns)
{
	struct runner *r = &e->runners[id];
	struct move move;
	struct cost cost = { 0, { 0 } };

	if (!move_here(e, id, &move))
		return false;
	if (move.kind == SEND) {
		/* which may move all flights */
		uint32_t flight = letter_of(e, id, &move)->flight;

		cost.ns = overhead_ns(e->machine, e->flights[flight].wire == WIRE_MEMORY,
		    false, move.bytes);
		cost.ns *= scale_of(e, id, false);
		if (e->marks != NULL && cost.ns != 0)
			mark_add(e, id, &cost, payer_here(e, id, false));
		r->spent.latency_ns += e->explains ? cost.ns : 0;
	}
	*ns = cost.ns;
	return true;
}

bool
move_act(struct engine *e, uint32_t id)
{
	struct move move;
	uint32_t flight;

	move_here(e, id, &move);
	flight = letter_of(e, id, &move)->flight;
	switch (move.kind) {
	case POST:
		post(e, id, flight);
		return true;
	case SEND:
		begin_send(e, id, flight, (double)(uint64_t)(move.bytes + 0.5));
		return true;
	case RECEIVE: return wait_arrived(e, id, flight);
	default: return wait_posted(e, id, flight);
	}
}

double
move_after(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	struct move move;
	struct letter *letter;
	double ns = 0;

	move_here(e, id, &move);
	r->move++;
	if (move.kind == POST)
		return 0;
	letter = letter_of(e, id, &move);
	if (move.kind == SEND)
		ns = sent_ns(e->machine,
		    e->flights[letter->flight].wire == WIRE_MEMORY, move.bytes);
	else if (move.kind == RECEIVE) {
		ns = overhead_ns(e->machine, e->flights[letter->flight].wire == WIRE_MEMORY,
		    true, move.bytes);
		if (move.combines)
			ns += by_size_ns(&e->machine->combining, move.bytes);
	}
	mark_spent(e, id, ns);
	if (move.kind != SEND)
		drop(e, letter);
	return ns;
}
