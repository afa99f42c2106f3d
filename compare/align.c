/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matches the sites of the runs. Sites that make the same call in the same function (with the same
 * callers, if stacks are known) are alike. They correspond in order of their lines, so a site that
 * moved is not a new one. If one run has more of them than the other, the sites without a partner
 * are chosen so that the lines of the rest agree best.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "../base/tool/text.h"

static int
by_group(const struct site_sums *a, const struct site_sums *b)
{
	const int functions = text_compare(a->function, b->function);

	return functions != 0 ? functions : text_compare(a->call, b->call);
}

static int
by_order(const void *left, const void *right)
{
	const struct site_sums *a = *(struct site_sums *const *)left,
	    *b = *(struct site_sums *const *)right;
	const int groups = by_group(a, b);

	if (groups != 0)
		return groups;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a < b ? -1 : a > b;
}

static uint64_t
distance(const struct site_sums *a, const struct site_sums *b)
{
	return a->order > b->order ? a->order - b->order : b->order - a->order;
}

static void
new_unit(struct comparison *c, const struct summary *run, struct site_sums *place)
{
	GROW(c->units, c->unit_capacity, c->unit_count + 1);
	place->unit = (uint32_t)c->unit_count;
	c->units[c->unit_count++] = (struct unit){ .first = place, .of = run };
}

/*
 * Matches N places of a run with M units of the same group, both in order. Each of the shorter list
 * finds a partner.
 */
static void
align_group(struct comparison *c, const struct summary *run, struct site_sums **places, size_t n,
    const struct site_sums **units, size_t m)
{
	const size_t wide = m + 1;
	uint64_t *cost = zalloc((n + 1) * wide, sizeof *cost);
	size_t i = n, j = m;

	/* cost[i][j]: of the first i and j; skips are free, but only in the longer list. */
	for (size_t a = 0; a <= n; a++)
		for (size_t b = 0; b <= m; b++)
			if ((a < b && n >= m) || (b < a && m >= n))
				cost[a * wide + b] = UINT64_MAX / 4;
	for (size_t a = 1; a <= n; a++)
		for (size_t b = 1; b <= m; b++) {
			uint64_t best;

			if (cost[a * wide + b] > 0)
				continue;	/* more of the shorter list than of the longer */
			best = cost[(a - 1) * wide + b - 1] + distance(places[a - 1], units[b - 1]);

			if (n > m && a > b && cost[(a - 1) * wide + b] < best)
				best = cost[(a - 1) * wide + b];
			if (m > n && b > a && cost[a * wide + b - 1] < best)
				best = cost[a * wide + b - 1];
			cost[a * wide + b] = best;
		}
	while (i > 0 && j > 0) {
		if (n > m && i > j && cost[i * wide + j] == cost[(i - 1) * wide + j])
			new_unit(c, run, places[--i]);
		else if (m > n && j > i && cost[i * wide + j] == cost[i * wide + j - 1])
			j--;
		else
			places[--i]->unit = units[--j]->unit;
	}
	while (i > 0)
		new_unit(c, run, places[--i]);
	free(cost);
}

static size_t
group_end(struct site_sums **places, size_t from, size_t count)
{
	size_t to = from;

	while (to < count && by_group(places[to], places[from]) == 0)
		to++;
	return to;
}

static bool
is_used(const struct site_sums *p)
{
	int64_t path_ns = 0;

	for (int k = 0; k < PATH_KINDS_COUNT; k++)
		path_ns += p->path_ns[k];
	return p->calls > 0 || path_ns != 0;
}

static void
align_run(struct comparison *c, const struct summary *run)
{
	struct site_sums **places = zalloc(run->count, sizeof *places);
	const struct site_sums **units = zalloc(c->unit_count, sizeof *units);
	size_t n = 0, m = c->unit_count, j = 0;

	for (size_t i = 0; i < run->count; i++) {
		run->places[i].unit = NOBODY;
		if (i == 0 || is_used(&run->places[i]))
			places[n++] = &run->places[i];
	}
	for (size_t u = 0; u < m; u++)
		units[u] = c->units[u].first;
	SORT(places, n, by_order);
	SORT(units, m, by_order);
	for (size_t i = 0, to; i < n; i = to) {
		size_t last;

		to = group_end(places, i, n);
		while (j < m && by_group(units[j], places[i]) < 0)
			j++;
		for (last = j; last < m && by_group(units[last], places[i]) == 0; last++)
			;
		align_group(c, run, places + i, to - i, units + j, last - j);
		j = last;
	}
	free(places);
	free(units);
}

static char *
unit_text(const struct site_sums *p)
{
	const char *call = p->call != NULL ? p->call : "(no call)";
	char text[512];

	if (p->function == NULL)
		snprintf(text, sizeof text, "%s%s",
		    p->call == NULL ? "start, and what has no site" : call,
		    p->call == NULL ? "" : ", site not known");
	else if (p->file != NULL && p->line > 0)
		snprintf(text, sizeof text, "%s at %s (%s:%d)", call, p->function,
		    file_name(p->file), (int)p->line);
	else
		snprintf(text, sizeof text, "%s at %s+0x%llx", call, p->function,
		    (unsigned long long)p->order);
	return need(strdup(text));
}

void
align(struct comparison *c)
{
	for (int side = A; side < SIDES; side++)
		for (size_t r = 0; r < c->count[side]; r++)
			align_run(c, &c->runs[side][r]);
	for (int side = A; side < SIDES; side++)
		for (size_t r = 0; r < c->count[side]; r++) {
			struct summary *run = &c->runs[side][r];

			run->by_unit = zalloc(c->unit_count, sizeof *run->by_unit);
			for (size_t i = 0; i < run->count; i++)
				if (run->places[i].unit != NOBODY) {
					run->by_unit[run->places[i].unit] = &run->places[i];
					if (c->units[run->places[i].unit].on[side] == NULL)
						c->units[run->places[i].unit].on[side] =
						    &run->places[i];
				}
		}
	for (size_t u = 0; u < c->unit_count; u++) {
		const struct site_sums *p = c->units[u].first;

		c->units[u].place = (struct place_names){ p->function, p->file, p->call,
		    unit_text(p), p->line };
	}
}
