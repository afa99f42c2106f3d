/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes the steps of threads through a temporary file. Without wildcards, sends and receives of a
 * channel (source, target, tag and communicator) match in order.
 */
#include "dim.h"

/* Fields of a step after its kind; those other than 0 are written. */
#define STEP_FIELDS(X) \
	X(at_ns, int64_t) X(seq, uint64_t) X(head, uint64_t) X(number, uint64_t) \
	X(comm, uint32_t) X(peer, int32_t) X(tag, int32_t) X(other, int32_t) X(bytes, uint64_t)
enum {
#define X(field, type) HAS_##field,
	STEP_FIELDS(X)
#undef X
	KIND_AT
};

void
dim_put_step(struct dim *d, const struct step *s)
{
	struct step put = *s;
	unsigned has = 0;

	put.at_ns -= d->at->step_ns;
	put.seq -= d->at->step_seq;
	put.head = s->seq - s->head;
	d->at->step_ns = s->at_ns;
	d->at->step_seq = s->seq;
#define X(field, type) has |= (unsigned)(put.field != 0) << HAS_##field;
	STEP_FIELDS(X)
#undef X
	spill_put(&d->steps, d->location, (uint64_t)s->kind << KIND_AT | has);
#define X(field, type) \
	if (has >> HAS_##field & 1) \
		spill_put(&d->steps, d->location, fold_sign((int64_t)put.field));
	STEP_FIELDS(X)
#undef X
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
	struct thread *t = &d->threads[l];
	uint64_t first;

	if (!spill_any(&d->steps, l))
		return false;
	first = spill_take(&d->steps, l);
	*s = (struct step){ .kind = (enum kind)(first >> KIND_AT) };
#define X(field, type) \
	if (first >> HAS_##field & 1) \
		s->field = (type)unfold_sign(spill_take(&d->steps, l));
	STEP_FIELDS(X)
#undef X
	s->at_ns = t->step_ns += s->at_ns;
	s->seq = t->step_seq += s->seq;
	s->head = s->seq - s->head;
	return true;
}

/* One side of a message. */
struct side {
	uint32_t source, target, comm;
	int32_t tag;
	uint32_t is_receive;
	/* row where it began; later its number in its channel */
	uint64_t place;
	uint64_t seq;			/* of a receive, the row that completes it */
};

ORDER(by_channel, struct side, BY(source) BY(target) BY(comm) BY(tag) BY(is_receive) BY(place))
ORDER(by_place, struct side, BY(source) BY(target) BY(comm) BY(tag) BY(place) BY(is_receive))

static bool
same_channel(const struct side *a, const struct side *b)
{
	return a->source == b->source && a->target == b->target && a->comm == b->comm &&
	    a->tag == b->tag;
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

/* Numbers the sends and the receives of each channel. */
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
		place = any && same_channel(&side, &last) && side.is_receive == last.is_receive ?
		    place + 1 : 0;
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
		else if (s == NULL || !s->is_receive || !same_channel(&send, s) ||
		    s->place != send.place)
			d->build.unmatched_sends++;
		else {
			build_message(&d->build, number++, send.source, send.seq,
			    send.target, s->seq);
			sorter_drop(&numbered);
		}
	}
	sorter_free(&numbered);
}
