/* SPDX-License-Identifier: BSD-3-Clause */
/* The two layers of the timeline: report.h. */
#include <math.h>
#include <stdlib.h>

#include "report.h"

enum { MOST_ROWS = 256, MOST_BIN_COLUMNS = 2048, LEAST_COLUMNS = 64 };

/* ---- bins ------------------------------------------------------------------------------- */

static double
column_at(const struct bins *bins, int64_t at_ns)
{
	return (double)at_ns / (double)bins->run_ns * (double)bins->columns;
}

/* Where columns begin; saves divisions later. */
static void
find_edges(struct bins *bins)
{
	for (size_t c = 1; c < bins->columns; c++) {
		int64_t ns = (int64_t)((double)c / (double)bins->columns * (double)bins->run_ns);

		while (column_at(bins, ns) >= (double)c)
			ns--;
		while (column_at(bins, ns) < (double)c)
			ns++;
		bins->edge_ns[c] = ns;
	}
	bins->edge_ns[0] = INT64_MIN;
	bins->edge_ns[bins->columns] = INT64_MAX;
}

void
bins_begin(struct bins *bins, uint32_t locations, int64_t run_ns, size_t cells)
{
	size_t most = cells / LEAST_COLUMNS < MOST_ROWS ? cells / LEAST_COLUMNS : MOST_ROWS;

	bins->locations = locations;
	bins->run_ns = run_ns > 0 ? run_ns : 1;
	bins->rows = locations < most ? locations : most > 0 ? most : 1;
	bins->columns = cells / bins->rows < MOST_BIN_COLUMNS ? cells / bins->rows :
	    MOST_BIN_COLUMNS;
	if (bins->columns < LEAST_COLUMNS)
		bins->columns = LEAST_COLUMNS;
	bins->ns = zalloc(bins->rows * bins->columns * LAYERS, sizeof *bins->ns);
	bins->edge_ns = zalloc(bins->columns + 1, sizeof *bins->edge_ns);
	bins->at = zalloc(locations, sizeof *bins->at);
	for (uint32_t l = 0; l < locations; l++)
		bins->at[l].row = (uint32_t)group_of(locations, bins->rows, l);
	find_edges(bins);
}

/* Usually the same column as the last time, or one near it. */
static size_t
column_of(const struct bins *bins, size_t near, int64_t at_ns)
{
	while (at_ns < bins->edge_ns[near])
		near--;
	while (at_ns >= bins->edge_ns[near + 1])
		near++;
	return near;
}

void
bins_spread(struct bins *bins, uint32_t location, enum activity activity, int64_t from_ns,
    int64_t to_ns)
{
	struct spot *at = &bins->at[location];
	float *cells = bins->ns + at->row * bins->columns * LAYERS + (size_t)activity;
	double width;
	size_t first, last;

	if (to_ns <= from_ns)
		return;
	first = column_of(bins, at->column, from_ns);
	last = column_of(bins, first, to_ns);
	*at = (struct spot){ at->row, (uint32_t)last, bins->edge_ns[last], bins->edge_ns[last + 1],
	    bins->ns + (at->row * bins->columns + last) * LAYERS };
	if (first == last) {
		cells[first * LAYERS] += (float)(to_ns - from_ns);
		return;
	}
	width = (double)bins->run_ns / (double)bins->columns;
	cells[first * LAYERS] += (float)((double)(first + 1) * width - (double)from_ns);
	for (size_t c = first + 1; c < last; c++)
		cells[c * LAYERS] += (float)width;
	cells[last * LAYERS] += (float)((double)to_ns - (double)last * width);
}

/* The activity with most time in those columns; waits take precedence from a quarter on. */
static enum activity
main_activity(const struct bins *bins, size_t row, size_t from, size_t to)
{
	double ns[ACTIVITIES] = { 0 }, all = 0, waits = 0;
	enum activity most = OUTSIDE, wait = WAIT_MESSAGE;

	for (size_t c = from; c < to; c++)
		for (size_t a = 0; a < ACTIVITIES; a++)
			ns[a] += (double)bins->ns[(row * bins->columns + c) * LAYERS + a];
	for (enum activity a = OUTSIDE; a < ACTIVITIES; a++) {
		all += ns[a];
		waits += a >= WAIT_MESSAGE && a < WAITS_END ? ns[a] : 0;
		most = ns[a] > ns[most] ? a : most;
		wait = a >= WAIT_MESSAGE && a < WAITS_END && ns[a] > ns[wait] ? a : wait;
	}
	return all > 0 && waits >= 0.25 * all ? wait : most;
}

/* Path time in those columns of a row. */
static double
path_in(const struct bins *bins, size_t row, size_t from, size_t to)
{
	double ns = 0;

	for (size_t c = from; c < to; c++)
		ns += (double)bins->ns[(row * bins->columns + c) * LAYERS + ON_PATH];
	return ns;
}

static size_t
end_column(const struct bins *bins, size_t from, size_t each)
{
	return from + each < bins->columns ? from + each : bins->columns;
}

size_t
bins_path(const struct bins *bins, size_t from, size_t each)
{
	const size_t to = end_column(bins, from, each);
	size_t best = SIZE_MAX;
	double most = 0;

	for (size_t row = 0; row < bins->rows; row++) {
		const double ns = path_in(bins, row, from, to);

		if (ns > most) {
			most = ns;
			best = row;
		}
	}
	return best;
}

static unsigned
path_level(const struct bins *bins, size_t row, size_t rows, size_t from, size_t to)
{
	static const double least[PATH_LEVELS - 1] = { 1.0 / 256, 1.0 / 16, 1.0 / 4, 1.0 / 2 };
	const double width = (double)(to - from) * (double)bins->run_ns / (double)bins->columns;
	double ns = 0;
	unsigned level = 0;

	for (size_t r = row; r < row + rows && r < bins->rows; r++)
		ns += path_in(bins, r, from, to);
	while (level < PATH_LEVELS - 1 && ns > 0 && ns >= least[level] * width)
		level++;
	return level;
}

unsigned char *
bins_cells(const struct bins *bins, size_t each_row, size_t each_column, bool of_path,
    unsigned *used)
{
	const size_t rows = (bins->rows + each_row - 1) / each_row;
	const size_t columns = (bins->columns + each_column - 1) / each_column;
	unsigned char *cells = zalloc(rows * columns, 1), *cell = cells;

	for (size_t row = 0; row < bins->rows; row += each_row)
		for (size_t c = 0; c < bins->columns; c += each_column) {
			const size_t end = end_column(bins, c, each_column);

			*cell = (unsigned char)(of_path ?
			    path_level(bins, row, each_row, c, end) :
			    main_activity(bins, row, c, end));
			*used |= 1u << *cell++;
		}
	return cells;
}

bool
bins_path_spreads(const struct bins *bins)
{
	const size_t each_column = (bins->columns + SHOWN_COLUMNS - 1) / SHOWN_COLUMNS;
	const double far = (double)(bins->rows * SHOWN_COLUMNS) / 10;
	double main_ns = 0, all_ns = 0, rows = 0;
	size_t last = SIZE_MAX;

	for (size_t from = 0; from < bins->columns; from += each_column) {
		const size_t main = bins_path(bins, from, each_column);
		const size_t to = end_column(bins, from, each_column);

		if (main != SIZE_MAX) {
			main_ns += path_in(bins, main, from, to);
			rows += last == SIZE_MAX ? 0 : fabs((double)main - (double)last);
			last = main;
		}
		for (size_t row = 0; row < bins->rows; row++)
			all_ns += path_in(bins, row, from, to);
	}
	return main_ns < all_ns / 2 || rows > far;
}

/* ---- events ----------------------------------------------------------------------------- */

/* A total order of events: it defines which are kept. */
#define LENGTH(event) ((event)->end_ns - (event)->begin_ns)
ORDER(longest_first, struct event, COMPARED(LENGTH(b), LENGTH(a)) BY(begin_ns) BY(location)
    BY(what) BY(call) BY(site) BY(partner))

/*
 * Moves the MOST longest to the front, in any order, by Hoare's selection: linear time instead of
 * sorting. If it does not converge, which no known run causes, it sorts the rest.
 */
static void
select_longest(struct event *at, size_t count, size_t most)
{
	ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, border = (ptrdiff_t)most - 1;
	int rounds = 64;

	while (most > 0 && low < high && rounds-- > 0) {
		const struct event middle = at[low + (high - low) / 2];
		ptrdiff_t i = low, j = high;

		while (i <= j) {
			while (longest_first(&at[i], &middle) < 0)
				i++;
			while (longest_first(&middle, &at[j]) < 0)
				j--;
			if (i <= j) {
				const struct event kept = at[i];

				at[i++] = at[j];
				at[j--] = kept;
			}
		}
		low = j < border ? i : low;
		high = border < i ? j : high;
	}
	if (most > 0 && low < high)
		SORT(at + low, (size_t)(high - low + 1), longest_first);
}

static void
cut(struct pool *pool, size_t most)
{
	if (pool->count <= most)
		return;
	select_longest(pool->at, pool->count, most);
	pool->count = most;
	pool->dropped = true;
	pool->least_ns = most > 0 ? INT64_MAX : pool->least_ns;
	for (size_t i = 0; i < most; i++)
		pool->least_ns = smaller(pool->least_ns, LENGTH(&pool->at[i]));
}

/*
 * Keeps up to four times as many as wanted before it drops the shorter ones, so the amortised cost
 * per event is small.
 */
void
pool_keep(struct pool *pool, const struct event *event)
{
	*APPEND(pool->at, pool->count, pool->capacity) = *event;
	if (pool->count >= 4 * pool->most)
		cut(pool, pool->most);
}

/* A call before its waits. */
ORDER(by_place, struct event, BY(location) BY(begin_ns) MOST(end_ns) MOST(what))

void
pool_sort(struct pool *pool, size_t most)
{
	cut(pool, most);
	SORT(pool->at, pool->count, by_place);
}
