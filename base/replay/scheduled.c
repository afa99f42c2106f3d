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

void
moves_enter(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	struct instance *i = &e->instances[r->op->link];

	i->members[r->row->member].at_ns = r->now_ns;
	i->arrived++;
	r->moves = 0;
}

/* The message of a move, made by the end that comes first. */
static struct letter *
letter_of(struct engine *e, const struct runner *r)
{
	uint32_t link = r->op->link, me = r->row->member, peer = r->move.peer;
	bool mine = r->move.kind == MOVE_SEND || r->move.kind == MOVE_FINISH;
	struct letter key = { link, mine ? me : peer, mine ? peer : me, r->move.number, NONE, 0 };
	struct letter *found = letters_find(e->letters, &key);
	struct flight *f;
	uint64_t bytes = (uint64_t)(r->move.bytes + 0.5);

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
	return letters_add(&e->letters, &key);
}

/* Finds the runner's next move; false: there is none. */
static bool
next_move(struct engine *e, struct runner *r)
{
	const struct plan *plan = &e->instances[r->op->link].plan;
	const uint64_t rounds = schedule_rounds(plan);
	const bool overlaps = plan->schedule == SCHEDULE_LINEAR;	/* all rounds at once */

	for (; r->moves < MOVES * rounds; r->moves++) {
		uint32_t n = (uint32_t)(overlaps ? r->moves % rounds : r->moves / MOVES);
		unsigned kind = (unsigned)(overlaps ? r->moves / rounds : r->moves % MOVES);
		struct round round = schedule_round(plan, r->row->member, n);

		if (kind == MOVE_POST || kind == MOVE_RECEIVE)
			r->move = (struct move){ kind, round.from, round.from_number, NONE,
			    round.from_bytes, schedule_combines(plan, n) };
		else
			r->move = (struct move){ kind, round.to, round.to_number, NONE,
			    round.to_bytes, false };
		if (r->move.peer != NO_MEMBER) {
			r->move.flight = letter_of(e, r)->flight;
			return true;
		}
	}
	return false;
}

/* Begins what the move waits for; false: the runner sleeps. */
static bool
begin_move(struct engine *e, uint32_t id, const struct move *move)
{
	switch (move->kind) {
	case MOVE_POST:
		post(e, id, move->flight);
		return true;
	case MOVE_SEND:
		begin_send(e, id, move->flight, (double)(uint64_t)(move->bytes + 0.5));
		return true;
	case MOVE_RECEIVE: return wait_arrived(e, id, move->flight);
	default: return wait_posted(e, id, move->flight);
	}
}

/* This end is done with the move's message. Returns the cost after the move. */
static double
end_move(struct engine *e, uint32_t id, bool in_memory)
{
	const struct runner *r = &e->runners[id];
	const struct move *move = &r->move;
	struct letter *letter;
	double ns = 0;

	if (move->kind == MOVE_SEND)
		ns = sent_ns(e->machine, in_memory, move->bytes);
	else if (move->kind == MOVE_RECEIVE)
		ns = overhead_ns(e->machine, in_memory, true, move->bytes) +
		    (move->combines ? by_size_ns(&e->machine->combining, move->bytes) : 0);
	if (e->explains)
		explain_wait(e, id, ns);
	mark_spent(e, id, ns);
	if (move->kind == MOVE_SEND || move->kind == MOVE_POST)
		return ns;
	letter = letter_of(e, r);
	if (++letter->done == 2)
		letters_remove(e->letters, letter);
	flight_unref(e, move->flight);
	return ns;
}

bool
move_step(struct engine *e, uint32_t id, double *ns)
{
	struct runner *r = &e->runners[id];
	bool in_memory;

	if (r->step == STEP_MOVE && !next_move(e, r)) {
		r->step = STEP_LEAVE;
		return true;
	}
	in_memory = e->flights[r->move.flight].wire == WIRE_MEMORY;
	switch ((enum step)r->step) {
	case STEP_MOVE:
		r->step = STEP_MOVE_ACT;
		if (r->move.kind == MOVE_SEND)
			*ns = overhead_ns(e->machine, in_memory, false, r->move.bytes) *
			    scale_of(e, id, false);
		if (e->marks != NULL && *ns != 0)
			mark_add(e, id, &(struct cost){ *ns, { 0 } }, payer_here(e, id, false));
		r->spent.latency_ns += e->explains ? *ns : 0;
		return true;
	case STEP_MOVE_ACT:
		r->step = STEP_MOVE_AFTER;
		r->act_ns = r->now_ns;
		return begin_move(e, id, &r->move);
	default:
		r->step = STEP_MOVE;
		r->moves++;
		*ns = end_move(e, id, in_memory);
		return true;
	}
}
