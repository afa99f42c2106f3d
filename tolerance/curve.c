/* SPDX-License-Identifier: BSD-3-Clause */
/* Run time against a parameter, see tolerance.h. */
#include "tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The lines of a time, by number. If it is older than the last synchronisation, its time is that
 * synchronisation's.
 */
static struct envelope *
time_at(struct curve *c, uint32_t number)
{
	struct envelope *e;

	e = AT(c->times, c->time_count, number);
	if (e->generation != c->generation) {
		e->generation = c->generation;
		e->count = e->branch = 0;
		e->base = (struct line){ 0, 0 };
		e->location = number < c->locations ? number : NO_LOCATION;
	}
	e->look = c->looks;
	return e;
}

static void
move(const struct curve *c, struct envelope *e, const struct cost *cost)
{
	double times = cost->times[c->parameter];

	e->base.ns += cost->ns - times * c->base;
	e->base.slope += times;
}

static void
add(void *context, uint32_t to, const struct cost *cost, uint32_t payer)
{
	struct curve *c = context;

	(void)payer;
	move(c, time_at(c, to), cost);
}

static void
set(void *context, uint32_t to, uint32_t from, const struct cost *cost, uint32_t payer)
{
	struct curve *c = context;
	struct envelope *target = time_at(c, to), *source;

	(void)payer;
	source = time_at(c, from);	/* which may move them all */
	target = &c->times[to];
	if (source->count > 0) {
		size_t capacity = target->capacity;

		GROW(target->lines, capacity, source->count);
		target->capacity = (uint32_t)capacity;
		memcpy(target->lines, source->lines, source->count * sizeof *source->lines);
	}
	target->count = source->count;
	target->base = source->base;
	target->branch = source->branch;
	if (to < c->locations)
		unite(c, to, source->location);
	else
		target->location = source->location;
	move(c, target, cost);
}

void
take_merged(struct curve *c, struct envelope *e, uint32_t count)
{
	size_t capacity = e->capacity;

	e->base = c->merged[0];
	e->count = 0;
	if (count == 1)
		return;
	GROW(e->lines, capacity, count);
	e->capacity = (uint32_t)capacity;
	e->count = count;
	for (uint32_t l = 0; l < count; l++)
		e->lines[l] = (struct line){ c->merged[l].ns - e->base.ns, c->merged[l].slope -
		    e->base.slope };
}

static void
max(void *context, uint32_t to, uint32_t from, uint32_t payer)
{
	struct curve *c = context;
	struct envelope *a = time_at(c, to), *b;
	uint32_t count = 0, i = 0, k = 0, n, m;

	(void)payer;
	b = time_at(c, from);
	a = &c->times[to];
	meet(c, a, b);
	if (a->count == 0 && b->count == 0 && b->base.ns <= a->base.ns &&
	    b->base.slope <= a->base.slope)
		return;
	n = lines_of(a);
	m = lines_of(b);
	GROW(c->merged, c->merged_capacity, n + (size_t)m);
	while (i < n || k < m) {
		struct line x = i < n ? line_at(a, i) : (struct line){ 0, INFINITY };
		struct line y = k < m ? line_at(b, k) : (struct line){ 0, INFINITY };
		bool first = x.slope < y.slope || (x.slope == y.slope && x.ns <= y.ns);

		count = push(c, c->merged, count, first ? x : y);
		*(first ? &i : &k) += 1;
	}
	take_merged(c, a, count);
	if (count == 1)
		return;
	c->merges += n + m;
	if (c->merges > c->next_look && to != c->locations)	/* scratch is not looked at */
		look(c);
}

/* Adds all time up to this point to the sum. */
static void
sync(void *context, uint32_t at)
{
	struct curve *c = context;
	struct envelope *e = time_at(c, at);

	c->sum.ns += line_at(e, 0).ns;
	c->sum.slope += line_at(e, 0).slope;
	bends_to_trunk(c, e);
	c->generation++;
}

/* As many as its sender has; and a stretch without synchronisation has many messages. */
static void
over(void *context, uint32_t first, uint32_t count)
{
	struct curve *c = context;

	for (uint32_t i = first; i < first + count && i < c->time_count; i++) {
		free(c->times[i].lines);
		c->times[i] = (struct envelope){ 0 };
	}
}

struct watcher
curve_watcher(struct curve *c)
{
	branches_begin(c);
	return (struct watcher){ c, add, set, max, sync, over };
}

/* The latest of all locations: those of a branch first, which gives no bends back to each. */
static uint32_t
last_of_all(struct curve *c)
{
	uint32_t *of = zalloc(c->branch_count, sizeof *of), last = 0;

	c->next_look = UINT64_MAX;
	for (uint32_t l = 0; l < c->locations; l++) {
		uint32_t *first = &of[time_at(c, l)->branch];

		if (*first > 0)
			max(c, *first - 1, l, NO_PAYER);
		else
			*first = l + 1;
	}
	for (size_t b = c->branch_count; b > 0; b--) {
		const uint32_t first = of[b - 1];

		if (first > 0 && last > 0)
			max(c, first - 1, last - 1, NO_PAYER);
		last = first > 0 ? first : last;
	}
	free(of);
	return last - 1;
}

size_t
curve_end(struct curve *c, struct piece **pieces)
{
	struct branch *trunk = c->branches;
	size_t n = 0;
	double slope, ns;

	sync(c, last_of_all(c));
	sort_bends(trunk->bends, trunk->count);
	*pieces = zalloc(trunk->count + 1, sizeof **pieces);
	slope = c->sum.slope;
	ns = c->sum.ns;
	(*pieces)[n++] = (struct piece){ .to = c->range, .run_ns = ns, .slope = slope };
	for (size_t i = 0; i < trunk->count; i++) {	/* those nearer than rounding are one */
		const struct bend bend = trunk->bends[i];
		const double at = bend.at;
		struct piece *last = &(*pieces)[n - 1];

		slope += bend.by;
		ns -= bend.by * at;	/* of its line at 0 */
		if ((at - last->from) * bend.by <= 1e-14 * (fabs(ns) + slope * at))
			last->slope = slope;
		else if (at < c->range) {
			last->to = at;
			(*pieces)[n++] = (struct piece){ .from = at, .to = c->range,
			    .run_ns = ns + slope * at, .slope = slope };
		}
	}
	return n;
}

double
pieces_at(const struct piece *pieces, size_t count, double value)
{
	size_t i = 0;

	while (i + 1 < count && pieces[i].to <= value)
		i++;
	return pieces[i].run_ns + pieces[i].slope * (value - pieces[i].from);
}

double
pieces_reach(const struct piece *pieces, size_t count, double run_ns)
{
	for (size_t i = count; i > 0; i--) {
		const struct piece *p = &pieces[i - 1];

		if (p->run_ns > run_ns)
			continue;
		if (p->slope == 0 || p->run_ns + p->slope * (p->to - p->from) <= run_ns)
			return p->to;
		return p->from + (run_ns - p->run_ns) / p->slope;
	}
	return 0;
}
