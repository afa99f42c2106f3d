/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that wait for each other in a circle, which only wrong clocks can show. No edge leads back
 * in time, so all of it lies at one instant. One call of the circle is taken as not blocked: that
 * on the lowest location, then of the lowest seq; so every solver goes on with the same graph.
 */
#include <stdio.h>

#include "critpath.h"

static bool
is_before(struct event a, struct event b)
{
	return a.location < b.location || (a.location == b.location && a.seq < b.seq);
}

/* "rank 1 MPI_Recv (row 12)" behind what is in TEXT; returns its length. */
static size_t
add_name(char *text, size_t size, size_t used, const struct stretch *stretch,
    const struct definitions *known, struct event at)
{
	const struct row *row = window_row(stretch->window, at.location, at.seq);
	int more = snprintf(text + used, size - used, "%srank %d %s (row %llu)", used > 0 ? ", " : "",
	    (int)known->location_rank[at.location], call_info(row->call)->name,
	    (unsigned long long)at.seq);

	return used + (size_t)more < size ? used + (size_t)more : size - 1;
}

/* The next call on the cycle whose leave another location's enter blocks, from AT on. */
static struct event
next_call(const struct stretch *stretch, struct event at)
{
	struct event before;

	for (;;) {
		if (!event_before(stretch, at, &before))
			die("a cycle with a beginning: a fault of this program");
		at = before;
		event_before(stretch, at, &before);
		if (at.leave && before.location != at.location)
			return at;
	}
}

void
cut_cycle(const struct stretch *stretch, const struct definitions *known)
{
	struct event on = stretch->to, at, lowest;
	char names[600] = "", first[100] = "";
	struct event_row *cut;
	size_t used = 0;
	uint64_t calls = 0;

	/* After as many steps as there are events we are on the cycle. */
	for (uint64_t left = count_events(stretch); left > 0; left--)
		if (!event_before(stretch, on, &on))
			die("a path that was not found: a fault of this program");
	lowest = on = next_call(stretch, on);
	for (at = next_call(stretch, on); !same_event(at, on); at = next_call(stretch, at))
		if (is_before(at, lowest))
			lowest = at;
	at = lowest;
	do {
		if (calls++ < 8)
			used = add_name(names, sizeof names, used, stretch, known, at);
		at = next_call(stretch, at);
	} while (!same_event(at, lowest));
	cut = window_row(stretch->window, lowest.location, lowest.seq);
	cut->cut = true;
	add_name(first, sizeof first, 0, stretch, known, lowest);
	if (stretch->team->rank == 0)
		note("%llu calls wait for each other in a circle at %.9f s, the clocks are wrong: %s%s; "
		    "%s is taken as not blocked", (unsigned long long)calls,
		    1e-9 * (double)time_of(stretch, lowest), names, calls > 8 ? ", ..." : "", first);
}
