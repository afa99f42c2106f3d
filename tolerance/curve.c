/* SPDX-License-Identifier: BSD-3-Clause */
/* Run time against a parameter, see tolerance.h. */
#include "tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shorter runs keep all bends, in a few MB at most: what is taken out is rounded. */
#define MERGES_BEFORE_A_LOOK 65536

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

/* ---- bends that all times have in common ------------------------------------------------ */

static struct bend
bend_between(struct line before, struct line line)
{
	const double by = line.slope - before.slope;

	return (struct bend){ (before.ns - line.ns) / by, by };
}

/*
 * The same bend of two times? One may have rounded sums of fractions otherwise: LINE is the line
 * behind BEND.
 */
static bool
is_same(struct bend bend, struct line line, struct bend other)
{
	return fabs(bend.at - other.at) <= 1e-14 * (fabs(line.ns) / bend.by + bend.at);
}

/* Keeps of COMMON what the time bends there as well; returns how many. */
static size_t
keep_common(const struct envelope *e, struct bend *common, size_t count)
{
	size_t kept = 0, k = 0;

	for (uint32_t i = 1; i < e->count && k < count; i++) {
		const struct bend bend = bend_between(e->lines[i - 1], e->lines[i]);

		while (k < count && common[k].at < bend.at &&
		    !is_same(bend, e->lines[i], common[k]))
			k++;
		if (k < count && is_same(bend, e->lines[i], common[k])) {
			common[kept++] = (struct bend){ common[k].at,
			    fmin(common[k].by, bend.by) };
			k++;
		}
	}
	return kept;
}

/* The time without these bends: behind each, lines are less steep. */
static void
take_out(struct envelope *e, const struct bend *common, size_t count)
{
	struct line before = e->lines[0], less = { 0, 0 };
	const uint32_t lines = e->count;
	size_t k = 0;

	e->count = 1;
	for (uint32_t i = 1; i < lines; i++) {
		const struct line line = e->lines[i];
		const struct bend bend = bend_between(before, line);
		double left = bend.by;

		if (k < count && is_same(bend, line, common[k])) {
			less.slope += common[k].by;
			less.ns -= common[k].by * common[k].at;
			left -= common[k++].by;
		}
		if (left > 1e-12 * bend.by)
			e->lines[e->count++] = (struct line){ line.ns - less.ns,
			    line.slope - less.slope };
		before = line;
	}
	if (e->count == 1)
		e->count = 0;
}

/* A time that may be read again; NULL: it is over, or scratch, which is always set first. */
static struct envelope *
time_in_use(struct curve *c, uint32_t number)
{
	if (number < c->locations)
		return time_at(c, number);
	return number > c->locations && c->times[number].generation == c->generation ?
	    &c->times[number] : NULL;
}

static void
sum_common(struct curve *c)
{
	const struct envelope *least = time_at(c, 0), *e;
	size_t lines = 0, count, before;
	struct bend *common;

	for (uint32_t i = 0; i < c->time_count; i++)
		if ((e = time_in_use(c, i)) != NULL) {
			lines += e->count;
			least = e->count < least->count ? e : least;
		}
	count = lines_of(least) - 1;
	common = zalloc(count + 1, sizeof *common);
	for (uint32_t i = 1; i <= count; i++)
		common[i - 1] = bend_between(least->lines[i - 1], least->lines[i]);
	do {	/* until all of them are found in all times, in this order */
		before = count;
		for (uint32_t i = 0; i < c->time_count && count > 0; i++)
			if ((e = time_in_use(c, i)) != NULL)
				count = keep_common(e, common, count);
	} while (count < before && count > 0);
	for (uint32_t i = 0; i < c->time_count && count > 0; i++)
		if (time_in_use(c, i) != NULL)
			take_out(&c->times[i], common, count);
	for (size_t k = 0; k < count; k++)
		*APPEND(c->bends, c->bend_count, c->bend_capacity) = common[k];
	free(common);
	c->next_look = c->merges + 64 * lines;
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
	c->merges += n + m;
	if (c->merges > c->next_look + MERGES_BEFORE_A_LOOK)
		sum_common(c);
}

/* Adds all time up to this point to the sum. */
static void
sync(void *context, uint32_t at)
{
	struct curve *c = context;
	struct envelope *e = time_at(c, at);

	c->sum.ns += line_at(e, 0).ns;
	c->sum.slope += line_at(e, 0).slope;
	for (uint32_t i = 1; i < e->count; i++)
		*APPEND(c->bends, c->bend_count, c->bend_capacity) =
		    bend_between(e->lines[i - 1], e->lines[i]);
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
	for (size_t i = 0; i < c->bend_count; i++) {	/* those nearer than rounding are one */
		double at = c->bends[i].at;
		struct piece *last = &(*pieces)[n - 1];

		slope += c->bends[i].by;
		ns -= c->bends[i].by * at;	/* of its line at 0 */
		if ((at - last->from) * c->bends[i].by <= 1e-14 * (fabs(ns) + slope * at))
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
