/* SPDX-License-Identifier: BSD-3-Clause */
/* The two layers of the timeline: report.h. */
#include <math.h>
#include <stdlib.h>

#include "report.h"

enum { MOST_ROWS = 256, MOST_BIN_COLUMNS = 2048, LEAST_COLUMNS = 64 };

/* ---- bins ------------------------------------------------------------------------------- */

void
bins_begin(struct bins *bins, uint32_t locations, int64_t run_ns, size_t cells)
{
	size_t most = cells / LEAST_COLUMNS < MOST_ROWS ? cells / LEAST_COLUMNS : MOST_ROWS;

	bins->locations = locations;
	bins->run_ns = run_ns > 0 ? run_ns : 1;
	bins->rows = locations < most ? locations : most > 0 ? most : 1;
	bins->columns = cells / bins->rows < MOST_BIN_COLUMNS ? cells / bins->rows : MOST_BIN_COLUMNS;
	if (bins->columns < LEAST_COLUMNS)
		bins->columns = LEAST_COLUMNS;
	bins->ns = zalloc(bins->rows * bins->columns * ACTIVITIES, sizeof *bins->ns);
	bins->path_ns = zalloc(bins->rows * bins->columns, sizeof *bins->path_ns);
}

size_t
bins_row(const struct bins *bins, uint32_t location)
{
	return (size_t)((uint64_t)location * bins->rows / bins->locations);
}

static size_t
column_of(const struct bins *bins, int64_t at_ns)
{
	double column = (double)at_ns / (double)bins->run_ns * (double)bins->columns;

	return column < 0 ? 0 : column >= (double)bins->columns ? bins->columns - 1 : (size_t)column;
}

/* Adds the time from FROM to TO to cells STEP apart. */
static void
spread(const struct bins *bins, float *cells, size_t step, int64_t from_ns, int64_t to_ns)
{
	const double width = (double)bins->run_ns / (double)bins->columns;
	size_t first, last;

	if (to_ns <= from_ns)
		return;
	first = column_of(bins, from_ns);
	last = column_of(bins, to_ns);
	if (first == last) {
		cells[first * step] += (float)(to_ns - from_ns);
		return;
	}
	cells[first * step] += (float)((double)(first + 1) * width - (double)from_ns);
	for (size_t c = first + 1; c < last; c++)
		cells[c * step] += (float)width;
	cells[last * step] += (float)((double)to_ns - (double)last * width);
}

void
bins_add(struct bins *bins, uint32_t location, enum activity activity, int64_t from_ns, int64_t to_ns)
{
	size_t row = bins_row(bins, location);

	spread(bins, bins->ns + row * bins->columns * ACTIVITIES + (size_t)activity, ACTIVITIES, from_ns,
	    to_ns);
}

void
bins_add_path(struct bins *bins, uint32_t location, int64_t from_ns, int64_t to_ns)
{
	spread(bins, bins->path_ns + bins_row(bins, location) * bins->columns, 1, from_ns, to_ns);
}

enum activity
bins_main(const struct bins *bins, size_t row, size_t from, size_t to)
{
	double ns[ACTIVITIES] = { 0 }, all = 0, waits = 0;
	enum activity most = OUTSIDE, wait = WAIT_MESSAGE;

	for (size_t c = from; c < to; c++)
		for (size_t a = 0; a < ACTIVITIES; a++)
			ns[a] += (double)bins->ns[(row * bins->columns + c) * ACTIVITIES + a];
	for (enum activity a = OUTSIDE; a < ACTIVITIES; a++) {
		all += ns[a];
		waits += a >= WAIT_MESSAGE ? ns[a] : 0;
		most = ns[a] > ns[most] ? a : most;
		wait = a >= WAIT_MESSAGE && ns[a] > ns[wait] ? a : wait;
	}
	return all > 0 && waits >= 0.25 * all ? wait : most;
}

size_t
bins_path(const struct bins *bins, size_t from, size_t to)
{
	size_t best = SIZE_MAX;
	double most = 0;

	for (size_t row = 0; row < bins->rows; row++) {
		double ns = 0;

		for (size_t c = from; c < to; c++)
			ns += (double)bins->path_ns[row * bins->columns + c];
		if (ns > most) {
			most = ns;
			best = row;
		}
	}
	return best;
}

/* ---- events ----------------------------------------------------------------------------- */

static int
longest_first(const void *left, const void *right)
{
	const struct event *a = left, *b = right;
	int64_t x = a->end_ns - a->begin_ns, y = b->end_ns - b->begin_ns;

	if (x != y)
		return x > y ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->location != b->location)
		return a->location < b->location ? -1 : 1;
	return a->what < b->what ? -1 : a->what > b->what;
}

static void
cut(struct pool *pool, size_t most)
{
	if (pool->count <= most)
		return;
	qsort(pool->at, pool->count, sizeof *pool->at, longest_first);
	pool->count = most;
	pool->dropped = true;
	if (most > 0)
		pool->least_ns = pool->at[most - 1].end_ns - pool->at[most - 1].begin_ns;
}

/* Twice as many as wanted are kept before the shorter half goes: so each costs a few steps only. */
void
pool_add(struct pool *pool, const struct event *event)
{
	if (pool->dropped && event->end_ns - event->begin_ns < pool->least_ns)
		return;
	pool->at = grow(pool->at, &pool->capacity, pool->count + 1, sizeof *pool->at);
	pool->at[pool->count++] = *event;
	if (pool->count >= 2 * pool->most)
		cut(pool, pool->most);
}

static int
by_place(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	if (a->location != b->location)
		return a->location < b->location ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return a->what > b->what ? -1 : a->what < b->what;	/* a call before its waits */
}

void
pool_sort(struct pool *pool, size_t most)
{
	cut(pool, most);
	qsort(pool->at, pool->count, sizeof *pool->at, by_place);
}
