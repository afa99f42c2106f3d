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

ORDER(by_group, struct site_sums, BY_ANY_TEXT(function) BY_ANY_TEXT(call))

ORDER(by_order, struct site_sums *const, COMPARED(by_group(*a, *b), 0)
    COMPARED((*a)->order, (*b)->order) COMPARED(*a, *b))

static uint64_t
distance(const struct site_sums *a, const struct site_sums *b)
{
	return a->order > b->order ? a->order - b->order : b->order - a->order;
}

static void
new_unit(struct comparison *c, struct site_sums *place)
{
	place->unit = (uint32_t)c->unit_count;
	APPEND(c->units, c->unit_count, c->unit_capacity)->first = place;
}

/*
 * Matches N places of a run with M units of the same group, both in order. Each of the shorter list
 * finds a partner.
 */
static void
align_group(struct comparison *c, struct site_sums **places, size_t n,
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
			new_unit(c, places[--i]);
		else if (m > n && j > i && cost[i * wide + j] == cost[i * wide + j - 1])
			j--;
		else
			places[--i]->unit = units[--j]->unit;
	}
	while (i > 0)
		new_unit(c, places[--i]);
	free(cost);
}

static void
align_run(struct comparison *c, const struct summary *run)
{
	struct site_sums **places = zalloc(run->count, sizeof *places);
	const struct site_sums **units = zalloc(c->unit_count, sizeof *units);
	size_t n = 0, m = c->unit_count, j = 0;

	for (size_t i = 0; i < run->count; i++) {
		struct site_sums *p = &run->places[i];

		p->unit = NOBODY;
		if (i == 0 || p->calls > 0 || path_of(p) != 0)
			places[n++] = p;
	}
	for (size_t u = 0; u < m; u++)
		units[u] = c->units[u].first;
	SORT(places, n, by_order);
	SORT(units, m, by_order);
	for (size_t i = 0, to = 0, last; i < n; i = to, j = last) {
		while (to < n && by_group(places[to], places[i]) == 0)
			to++;
		while (j < m && by_group(units[j], places[i]) < 0)
			j++;
		for (last = j; last < m && by_group(units[last], places[i]) == 0; )
			last++;
		align_group(c, places + i, to - i, units + j, last - j);
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
	for (size_t r = 0; r < c->run_count; r++)
		align_run(c, &c->all[r]);
	for (struct summary *run = c->all; run < c->all + c->run_count; run++) {
		run->by_unit = zalloc(c->unit_count, sizeof *run->by_unit);
		run->phase_unit_ns = zalloc(c->unit_count + 1, sizeof *run->phase_unit_ns);
		run->phase_unit_ns[c->unit_count] = run->phase_ns[0];
		for (struct site_sums *p = run->places; p < run->places + run->count; p++)
			if (p->unit != NOBODY) {
				run->by_unit[p->unit] = p;
				run->phase_unit_ns[p->unit] = run->phase_ns[p - run->places + 1];
				if (c->units[p->unit].on[run->side] == NULL)
					c->units[p->unit].on[run->side] = p;
			}
	}
	for (size_t u = 0; u < c->unit_count; u++) {
		const struct site_sums *p = c->units[u].first;

		c->units[u].place = (struct place_names){ p->function, p->file, p->call,
		    unit_text(p), p->line };
	}
}
