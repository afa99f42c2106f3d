/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of threads on their way through a temporary file; and their messages where nothing is open: then the
 * sends and the receives of a channel (source, target, tag and communicator) match in order.
 */
#include "dim.h"

void
dim_put_step(struct dim *d, const struct step *s)
{
	struct spill *to = &d->steps;
	uint32_t l = d->location;

	spill_put(to, l, s->kind);
	spill_put(to, l, (uint64_t)(s->at_ns - d->at->step_ns));
	spill_put(to, l, s->seq - d->at->step_seq);
	spill_put(to, l, s->seq - s->head);
	d->at->step_ns = s->at_ns;
	d->at->step_seq = s->seq;
	if (s->kind == POST || s->kind == WAIT)
		spill_put(to, l, s->number);
	if (s->kind == COLLECTIVE || s->kind == COLLECTIVE_START)
		spill_put(to, l, s->comm);
	if (s->kind >= WAIT)
		return;
	spill_put(to, l, s->comm);
	spill_put(to, l, fold_sign(s->peer));
	spill_put(to, l, fold_sign(s->tag));
	spill_put(to, l, fold_sign(s->other));
	if (s->kind == SEND)
		spill_put(to, l, s->bytes);
}

void
dim_read_steps(struct dim *d)
{
	spill_read(&d->steps);
	for (uint32_t l = 0; l < d->build.locations; l++) {
		d->threads[l].step_ns = 0;
		d->threads[l].step_seq = 0;
	}
}

bool
dim_take_step(struct dim *d, uint32_t l, struct step *s)
{
	struct spill *from = &d->steps;
	struct thread *t = &d->threads[l];

	if (!spill_any(from, l))
		return false;
	*s = (struct step){ .kind = (enum kind)spill_take(from, l) };
	s->at_ns = t->step_ns += (int64_t)spill_take(from, l);
	s->seq = t->step_seq += spill_take(from, l);
	s->head = s->seq - spill_take(from, l);
	if (s->kind == POST || s->kind == WAIT)
		s->number = spill_take(from, l);
	if (s->kind == COLLECTIVE || s->kind == COLLECTIVE_START)
		s->comm = (uint32_t)spill_take(from, l);
	if (s->kind >= WAIT)
		return true;
	s->comm = (uint32_t)spill_take(from, l);
	s->peer = (int32_t)unfold_sign(spill_take(from, l));
	s->tag = (int32_t)unfold_sign(spill_take(from, l));
	s->other = (int32_t)unfold_sign(spill_take(from, l));
	if (s->kind == SEND)
		s->bytes = spill_take(from, l);
	return true;
}

/* One side of a message. */
struct side {
	uint32_t source, target, comm;
	int32_t tag;
	uint32_t is_receive;
	uint64_t place;			/* row where it began; and then which one of its channel it is */
	uint64_t seq;			/* of a receive the row that completes it */
};

ORDER(by_channel, struct side, BY(source) BY(target) BY(comm) BY(tag) BY(is_receive) BY(place))
ORDER(by_place, struct side, BY(source) BY(target) BY(comm) BY(tag) BY(place) BY(is_receive))

static bool
same_channel(const struct side *a, const struct side *b)
{
	return a->source == b->source && a->target == b->target && a->comm == b->comm && a->tag == b->tag;
}

void
dim_sides_begin(struct dim *d)
{
	sorter_begin(&d->sides, sizeof(struct side), by_channel);
}

void
dim_put_side(struct dim *d, const struct step *s, uint64_t place)
{
	uint32_t here = d->at->rank, there = (uint32_t)s->peer;
	bool is_receive = s->kind != SEND;
	struct side side = { is_receive ? there : here, is_receive ? here : there, s->comm, s->tag,
	    is_receive, place, s->seq };

	if (!d->played)
		sorter_add(&d->sides, &side);
}

/* The first, second ... send, and receive, of each channel. */
static void
number_sides(struct dim *d, struct sorter *numbered)
{
	struct side side, last = { 0 };
	const struct side *next;
	uint64_t place = 0;
	bool any = false;

	sorter_begin(numbered, sizeof side, by_place);
	sorter_sort(&d->sides);
	for (; (next = sorter_peek(&d->sides)) != NULL; sorter_drop(&d->sides), any = true) {
		side = *next;
		place = any && same_channel(&side, &last) && side.is_receive == last.is_receive ? place + 1 : 0;
		side.place = place;
		sorter_add(numbered, &side);
		last = side;
	}
	sorter_free(&d->sides);
	sorter_sort(numbered);
}

void
dim_match(struct dim *d)
{
	struct sorter numbered;
	struct side send;
	const struct side *s;
	uint64_t number = 0;

	number_sides(d, &numbered);
	while ((s = sorter_peek(&numbered)) != NULL) {
		send = *s;
		sorter_drop(&numbered);
		s = sorter_peek(&numbered);
		if (send.is_receive)
			d->build.unmatched_receives++;
		else if (s == NULL || !s->is_receive || !same_channel(&send, s) || s->place != send.place)
			d->build.unmatched_sends++;
		else {
			build_message(&d->build, number++, send.source, send.seq, send.target, s->seq);
			sorter_drop(&numbered);
		}
	}
	sorter_free(&numbered);
}
