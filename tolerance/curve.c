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
		e->count = 0;
		e->base = (struct line){ 0, 0 };
	}
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
	move(c, target, cost);
}

static struct line
line_at(const struct envelope *e, uint32_t i)
{
	struct line line = e->base;

	if (e->count > 0) {
		line.ns += e->lines[i].ns;
		line.slope += e->lines[i].slope;
	}
	return line;
}

static uint32_t
lines_of(const struct envelope *e)
{
	return e->count > 0 ? e->count : 1;
}

/* Whether B, between A and C in slope, is nowhere above both. */
static bool
is_covered(struct line a, struct line b, struct line c)
{
	return (long double)(a.ns - c.ns) * (b.slope - a.slope) <=
	    (long double)(a.ns - b.ns) * (c.slope - a.slope);
}

/* Adds a line to the lines of the upper envelope; its slope is at least theirs. */
static uint32_t
push(const struct curve *c, struct line *lines, uint32_t count, struct line line)
{
	while (count > 0 && line.ns >= lines[count - 1].ns)	/* from 0 on it is above */
		count--;
	if (count > 0 && (line.slope <= lines[count - 1].slope || (c->range < INFINITY && line.ns +
	    line.slope * c->range <= lines[count - 1].ns + lines[count - 1].slope * c->range)))
		return count;
	while (count > 1 && is_covered(lines[count - 2], lines[count - 1], line))
		count--;
	lines[count] = line;
	return count + 1;
}

static void
max(void *context, uint32_t to, uint32_t from, uint32_t payer)
{
	struct curve *c = context;
	struct envelope *a = time_at(c, to), *b;
	uint32_t count = 0, i = 0, k = 0, n, m;
	size_t capacity;

	(void)payer;
	b = time_at(c, from);
	a = &c->times[to];
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
	a->base = c->merged[0];
	a->count = 0;
	if (count == 1)
		return;
	capacity = a->capacity;
	GROW(a->lines, capacity, count);
	a->capacity = (uint32_t)capacity;
	a->count = count;
	for (uint32_t l = 0; l < count; l++)
		a->lines[l] = (struct line){ c->merged[l].ns - a->base.ns, c->merged[l].slope -
		    a->base.slope };
}

/* Adds all time up to this point to the sum. */
static void
sync(void *context, uint32_t at)
{
	struct curve *c = context;
	struct envelope *e = time_at(c, at);

	c->sum.ns += line_at(e, 0).ns;
	c->sum.slope += line_at(e, 0).slope;
	for (uint32_t i = 1; i < e->count; i++) {
		double by = e->lines[i].slope - e->lines[i - 1].slope;

		*APPEND(c->bends, c->bend_count, c->bend_capacity) =
		    (struct bend){ (e->lines[i - 1].ns - e->lines[i].ns) / by, by };
	}
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
	return (struct watcher){ c, add, set, max, sync, over };
}

ORDER(by_place, struct bend, BY(at))

size_t
curve_end(struct curve *c, struct piece **pieces)
{
	size_t n = 0;
	double slope, ns;

	for (uint32_t l = 1; l < c->locations; l++)
		max(c, 0, l, NO_PAYER);
	sync(c, 0);
	SORT(c->bends, c->bend_count, by_place);
	*pieces = zalloc(c->bend_count + 1, sizeof **pieces);
	slope = c->sum.slope;
	ns = c->sum.ns;
	(*pieces)[n++] = (struct piece){ 0, c->range, ns, slope };
	for (size_t i = 0; i < c->bend_count; i++) {
		double at = c->bends[i].at;
		struct piece *last = &(*pieces)[n - 1];

		slope += c->bends[i].by;
		ns -= c->bends[i].by * at;	/* of its line at 0 */
		if (at <= last->from)
			last->slope = slope;
		else if (at < c->range) {
			last->to = at;
			(*pieces)[n++] = (struct piece){ at, c->range, ns + slope * at, slope };
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
