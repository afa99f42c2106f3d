/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that wait for each other in a cycle, which can happen only if clocks are wrong. No edge
 * leads back in time, so the whole circle lies at one instant. The call on the lowest location,
 * then of the lowest seq, is treated as not blocked; so every solver continues with the same graph.
 */
#include "stretch.h"

/* What the owner of an event's row finds out; then all members know it. */
struct known_event {
	struct event before;
	int64_t ns;
	uint16_t call;
};

static struct known_event
look_at(const struct stretch *stretch, struct event at)
{
	enum { LOCATION, SEQ, LEAVE, NS, CALL, VALUES };
	int64_t value[VALUES] = { INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN },
	    before_ns;
	struct event before;

	if (owner_of(stretch, at.location) == stretch->team->rank) {
		if (!event_before(stretch, at, &before, &before_ns))
			die("a cycle with a beginning: a fault of this program");
		value[LOCATION] = before.location;
		value[SEQ] = (int64_t)before.seq;
		value[LEAVE] = before.leave;
		value[NS] = time_of(stretch, at);
		value[CALL] = ((const struct row *)window_row(stretch->window, at.location,
		    at.seq))->call;
	}
	team_max(stretch->team, value, VALUES);
	return (struct known_event){ { (uint64_t)value[SEQ], (uint32_t)value[LOCATION],
	    value[LEAVE] != 0 }, value[NS], (uint16_t)value[CALL] };
}

/* Appends "rank 1 MPI_Recv (row 12)" to TEXT; returns the new length. */
static size_t
add_name(char *text, size_t size, size_t used, const struct stretch *stretch, struct event at)
{
	int more = snprintf(text + used, size - used, "%srank %d %s (row %llu)",
	    used > 0 ? ", " : "", (int)stretch->known->location_rank[at.location],
	    call_name(look_at(stretch, at).call), (unsigned long long)at.seq);

	return used + (size_t)more < size ? used + (size_t)more : size - 1;
}

/* The next call on the cycle, from AT on, whose leave is blocked by another location's enter. */
static struct event
next_call(const struct stretch *stretch, struct event at)
{
	for (;;) {
		at = look_at(stretch, at).before;
		if (at.leave && look_at(stretch, at).before.location != at.location)
			return at;
	}
}

/* Finds an event on the cycle: each mark stays longer, so the walk meets one (Brent 1980). */
static struct event
enter_cycle(const struct stretch *stretch)
{
	struct event at = stretch->to, mark = at;
	uint64_t steps = 0, limit = 1;

	do {
		if (steps++ == limit) {
			mark = at;
			limit *= 2;
			steps = 1;
		}
		at = look_at(stretch, at).before;
	} while (!same_event(at, mark));
	return at;
}

void
cut_cycle(const struct stretch *stretch)
{
	struct event at, lowest;
	char names[600] = "", first[100] = "";
	struct event on = next_call(stretch, enter_cycle(stretch));
	struct event_row *cut;
	size_t used = 0;
	uint64_t calls = 0;
	int64_t cut_ns;

	lowest = on;
	for (at = next_call(stretch, on); !same_event(at, on); at = next_call(stretch, at))
		if (at.location < lowest.location ||
		    (at.location == lowest.location && at.seq < lowest.seq))
			lowest = at;
	at = lowest;
	do {
		if (calls++ < 8)
			used = add_name(names, sizeof names, used, stretch, at);
		at = next_call(stretch, at);
	} while (!same_event(at, lowest));
	cut_ns = look_at(stretch, lowest).ns;
	add_name(first, sizeof first, 0, stretch, lowest);
	cut = window_change(stretch->window, lowest.location, lowest.seq);
	if (cut != NULL)
		cut->cut = true;
	if (stretch->team->rank == 0)
		note("%llu calls wait for each other in a cycle at %.9f s, the clocks are "
		    "wrong: %s%s; %s is treated as not blocked", (unsigned long long)calls,
		    1e-9 * (double)cut_ns, names, calls > 8 ? ", ..." : "", first);
}
