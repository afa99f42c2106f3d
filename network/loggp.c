/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A LogGP machine with tables by size, from times at one end and at both: T. Kielmann, H. E. Bal,
 * K. Verstoep, "Fast Measurement of LogP Parameters for Message Passing Platforms", RTSPP 2000. The
 * sender's overhead is the time of MPI_Send while the receiver computes. The receiver's is the time
 * of MPI_Recv when the data has arrived. The rest of half a round trip is the travel time.
 */
#include <math.h>

#include "../base/mpi/catalogue.h"
#include "../base/tool/text.h"
#include "network.h"

/* The receiver is three messages late: a sender that waited for it took longer than this many. */
#define WAITED 1.5
#define NEAR 0.02	/* links must lower the error of exchanges and bursts by this much */

static double
time_of(const struct points *points, const char *function, const struct point *pingpong)
{
	const struct point *point = find_point(points, function, pingpong->ranks, pingpong->bytes);

	return point != NULL ? point->us : NAN;
}

static bool
waits_for_receive(const struct ends *e, const struct end_times *t)
{
	return e->has_limit && t->bytes > e->below;
}

/* Time of a message behind others in one direction; infinite: not measured. */
static double
each_of_burst(const struct ends *e, const struct end_times *t)
{
	double us = (t->burst_us - t->pingpong_us - e->at[0].pingpong_us) / (PINGPONG_MESSAGES - 1);

	return isnan(us) ? INFINITY : fmax(us, 0);
}

/* Messages are rendezvous from FROM on: their overheads are those of the smallest message. */
static void
split_times(struct ends *e)
{
	for (size_t i = 0; i < e->count; i++) {
		struct end_times *t = &e->at[i];

		if (waits_for_receive(e, t)) {
			t->send_us = e->at[0].send_us + e->at[0].sent_us;
			t->receive_us = e->at[0].receive_us;
		} else {
			/* In a burst neither end spends more on a message than the burst. */
			t->send_us = fmin(t->send_us, each_of_burst(e, t));
			t->receive_us = fmin(t->receive_us, each_of_burst(e, t));
		}
		t->receive_us = fmin(t->receive_us, t->pingpong_us);
		/* Shared by both overheads: the sender spends it after the message has arrived. */
		t->sent_us = fmax(t->send_us + t->receive_us - t->pingpong_us, 0);
		t->send_us -= t->sent_us;
		t->way_us = fmax(t->pingpong_us - t->send_us - t->receive_us, 0);
		if (i == 0 || t->way_us < e->latency_us)
			e->latency_us = t->way_us;
	}
}

/* An exchange without links: each end sends, then receives; rendezvous messages move meanwhile. */
static double
exchange_us(const struct ends *e, const struct end_times *t)
{
	return waits_for_receive(e, t) ? t->pingpong_us :
	    fmax(t->pingpong_us, t->send_us + t->sent_us + t->receive_us);
}

/*
 * How long a message holds links; 0: no links. Links in both directions are held as long as each
 * message of a burst takes; a message that waits for its receive holds them for all but the
 * latency. Links in one direction are the processor of a node, which works for both messages of an
 * exchange. It works no longer than a message travels, since a single message takes no longer.
 */
static double
held_us(const struct ends *e, const struct end_times *t, int links)
{
	double us = waits_for_receive(e, t) ? t->way_us - e->latency_us : each_of_burst(e, t);

	if (links == HALF_DUPLEX)
		us = t->exchange_us > exchange_us(e, t) ?
		    fmin((t->exchange_us - t->send_us - t->receive_us) / 2, t->way_us) : 0;
	/* nor if not measured */
	return links != NO_LINKS && us > 0 && !isinf(us) ? us : 0;
}

/* What sets the links explains itself: bursts in both directions, exchanges in one. */
static bool
sets_links(int links, bool burst)
{
	return links == (burst ? FULL_DUPLEX : HALF_DUPLEX);
}

/*
 * The mean relative error of exchanges and bursts of 16 with such links; CHECKED: only of those
 * that do not set them. NaN: there are none.
 */
static double
links_error(const struct ends *e, int links, bool checked)
{
	double sum = 0, n = 0, thanks = e->at[0].pingpong_us, last = PINGPONG_MESSAGES - 1;

	for (const struct end_times *t = e->at; t < e->at + e->count; t++) {
		double held = held_us(e, t, links), free = exchange_us(e, t);
		double each = fmax(t->send_us + t->sent_us, t->receive_us);

		if (held > each)
			each = held;
		if (waits_for_receive(e, t))	/* one after another, with any links */
			each = t->pingpong_us;
		if (links == HALF_DUPLEX)
			free = fmax(free, t->send_us + 2 * held + t->receive_us);
		if (!isnan(t->exchange_us) && !(checked && sets_links(links, false))) {
			sum += fabs(free / t->exchange_us - 1);
			n++;
		}
		if (!isnan(t->burst_us) && !(checked && sets_links(links, true))) {
			sum += fabs((t->pingpong_us + last * each + thanks) / t->burst_us - 1);
			n++;
		}
	}
	return n > 0 ? sum / n : NAN;
}

struct ends
fit_ends(const struct points *points, const char *file)
{
	struct ends e = { .links = NO_LINKS };
	size_t capacity = 0;

	for (size_t i = 0; i < points->count; i++) {
		const struct point *p = &points->at[i];
		struct end_times t = { .bytes = p->bytes, .pingpong_us = p->us };

		if (!is_pingpong(p))
			continue;
		t.send_us = time_of(points, "MPI_Send", p);
		t.receive_us = time_of(points, "MPI_Recv", p);
		t.exchange_us = time_of(points, "MPI_Exchange", p);
		t.combine_us = time_of(points, "MPI_Combine", p);
		t.burst_us = time_of(points, "MPI_Burst", p) * PINGPONG_MESSAGES;
		if (isnan(t.send_us) || isnan(t.receive_us))
			die("%s: Send and Recv were not measured at %llu bytes, as Pingpong was",
			    file, (unsigned long long)p->bytes);
		if (!e.has_limit && t.send_us > WAITED * t.pingpong_us) {
			if (e.count == 0)
				die("%s: even the smallest message waits for its receive", file);
			e.has_limit = true;
			e.below = e.at[e.count - 1].bytes;
		}
		*APPEND(e.at, e.count, capacity) = t;
	}
	if (e.count < 3)
		die("%s: a ping-pong of %zu sizes, at least 3 are needed", file, e.count);
	split_times(&e);
	for (int links = NO_LINKS; links <= HALF_DUPLEX; links++) {
		e.errors[links] = links_error(&e, links, false);
		e.checked[links] = links_error(&e, links, true);
		if (e.errors[links] < e.errors[e.links] - NEAR)
			e.links = links;
	}
	for (size_t i = 0; i < e.count; i++)
		e.at[i].held_us = held_us(&e, &e.at[i], e.links);
	return e;
}

/* For sizes closer than this ratio, noise hides the time per byte. */
#define APART 1.25

/* Extends the line through the next two sizes down to the limit: none between was measured. */
static struct end_times
behind_limit(const struct ends *e, size_t i)
{
	struct end_times t = e->at[i], next;
	double back;

	while (i + 1 < e->count && (double)e->at[i].bytes < APART * (double)t.bytes)
		i++;
	next = e->at[i];
	back = next.bytes > t.bytes ?
	    (double)(t.bytes - e->below - 1) / (double)(next.bytes - t.bytes) : 0;

	t.way_us -= back * (next.way_us - t.way_us);
	t.way_us = t.way_us > e->latency_us ? t.way_us : e->latency_us;
	t.held_us -= back * (next.held_us - t.held_us);
	t.held_us = t.held_us > 0 ? t.held_us : 0;
	t.bytes = e->below + 1;
	return t;
}

static void
print_line(struct text *out, const char *where, const struct end_times *t, int links)
{
	const struct { const char *what; double us; } lines[] = { { "time", t->way_us },
	    { "overhead send", t->send_us },
		{ "overhead sent", t->sent_us }, { "overhead receive", t->receive_us },
		{ links == HALF_DUPLEX ? "work" : "gap", t->held_us } };

	for (int i = 0; i < (links == NO_LINKS ? 4 : 5); i++)
		text_print(out, "%s%s %llu B %.6g us\n", where, lines[i].what,
		    (unsigned long long)t->bytes, lines[i].us);
}

void
print_combining(struct text *out, const struct ends *e)
{
	for (size_t i = 0; i < e->count; i++)
		if (!isnan(e->at[i].combine_us))
			text_print(out, "combining %llu B %.6g us\n",
			    (unsigned long long)e->at[i].bytes, e->at[i].combine_us);
}

void
print_ends(struct text *out, const struct ends *e, const char *where)
{
	for (size_t i = 0; i < e->count; i++) {
		if (e->has_limit && i > 0 && e->at[i].bytes > e->below + 1 &&
		    e->at[i - 1].bytes <= e->below) {
			struct end_times first = behind_limit(e, i);

			print_line(out, where, &first, e->links);
		}
		print_line(out, where, &e->at[i], e->links);
	}
}
