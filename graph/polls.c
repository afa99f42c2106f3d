/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polling is waiting if the rank continues only after something has come. A run is a sequence of
 * failed tests and probes, of one thing or several in turn, with at most a given time between
 * polls. A run that ends with the success of one of them (for a probe, with the receive after it)
 * becomes one wait. The call that ended it then enters when all of its things had first been
 * polled; the failed polls from there on take no time.
 *
 * A run that ends in another way stays as it is. So do all runs for the same things if more than
 * one in nine ended that way: the rank then works between its polls, and they cost it time. HPCC's
 * RandomAccess, which tests once for each number it makes, is such a program.
 *
 * A longer time between two polls does not end a run if the thread sleeps until the next poll.
 * There are two signs of that. The recorder has measured sleep between some polls at the site, and
 * this time is not much longer than those. Or samples show the thread off the core for most of the
 * time between polls of these things.
 *
 * Nor does one longer time per thousand polls end a run, if ranks had too few cores, so that the
 * thread lost its own. The same holds if such times make up at most a tenth of the run.
 *
 * Messages are held back until their runs have ended, as far as memory allows.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/hash_table.h"
#include "held.h"

enum {
	/* bytes of blocks held back; beyond HELD_PLAIN compressed */
	MOST_HELD = 64 << 20, HELD_PLAIN = 8 << 20,
	LOOK_BACK = 8, THINGS = 8,
	MOST_LEFT = 8,		/* waits that must succeed for each wait that the rank gave up */
	SLEEP_PERIODS = 16,	/* of samples: a shorter time between polls proves nothing */
	MOST_ON_CORE = 8,	/* sleeping: on a core for at most 1/MOST_ON_CORE of the time */
	MANY_POLLS = 1000,	/* for each longer time between two of them */
	LONGEST_SLICE_NS = 20000000,
};

/* A thing that a run polls for: the call at a site, and where it was first made. */
struct thing {
	uint32_t site;
	uint16_t call;
	struct held *block;		/* NULL: in the current block */
	size_t row;
	int64_t begin_ns;
	uint64_t polls_before;		/* of the run */
};

/* Polls that may turn out to be a wait. */
struct poll_run {
	bool open;
	struct thing things[THINGS];	/* in the order of their first poll */
	unsigned thing_count;
	int64_t last_ns;
	uint64_t polls;
	int64_t begin_ns;
	uint64_t apart;			/* longer times between two polls: number, and sum */
	int64_t apart_ns;
	struct held *newest;		/* of the location's blocks held back */
	struct envelope { uint32_t comm; int32_t peer, tag; } probed[LOOK_BACK];
	uint64_t probes;
	int64_t period_ns;		/* of the location's samples; 0: none so far */
	int64_t *sample_ns;		/* times of samples, up to the end of the next block */
	size_t sample_count, sample_capacity, sample_next;
};

/* How the runs for the same things ended on a location. */
struct habit {
	uint64_t things;		/* a hash, the same in any order */
	uint32_t location;		/* UINT32_MAX: free slot */
	uint64_t ended, left;		/* by success; the rank went on without */
	/* long times between two of these polls; on a core by samples */
	int64_t apart_ns, on_core_ns;
};
HASH_TABLE_OF(habits, struct habit, things, location, location, UINT32_MAX)

enum poll_kind { UNKNOWN, NO_POLL, TEST, PROBE };

static enum poll_kind
kind_of(struct polls *polls, uint16_t call)
{
	unsigned char *kind = &polls->kinds[call];

	if (*kind == UNKNOWN)
		*kind = !call_polls(call) ? NO_POLL : strcmp(call_name(call), "MPI_Iprobe") == 0 ||
		    strcmp(call_name(call), "MPI_Improbe") == 0 ? PROBE : TEST;
	return (enum poll_kind)*kind;
}

static struct thing *
find_thing(struct poll_run *run, uint16_t call, uint32_t site)
{
	for (unsigned k = 0; k < run->thing_count; k++)
		if (run->things[k].call == call && run->things[k].site == site)
			return &run->things[k];
	return NULL;
}

/* Whether the call at row I brings a thing that the run polled for. */
static bool
ends_run(struct polls *polls, struct poll_run *run, const struct calls *c, size_t i)
{
	const enum call_class class = call_class(c->call[i]);

	if (kind_of(polls, c->call[i]) != NO_POLL)
		return find_thing(run, c->call[i], c->site[i]) != NULL;
	if (class != CLASS_RECV && class != CLASS_RECV_START)
		return false;
	for (uint64_t k = 0; k < run->probes && k < LOOK_BACK; k++) {
		const struct envelope *probed = &run->probed[k];

		if (probed->comm == c->comm[i] &&
		    (probed->peer == c->peer[i] || probed->peer == ANY_PEER) &&
		    (probed->tag == c->tag[i] || probed->tag == ANY_TAG))
			return true;
	}
	return false;
}

static struct habit *
habit_of(struct polls *polls, const struct poll_run *run, uint32_t location)
{
	struct habit key = { .location = location };

	for (unsigned k = 0; k < run->thing_count; k++)
		key.things += mix(run->things[k].call, run->things[k].site);
	return habits_add(&polls->habits, &key);
}

/*
 * Whether the rank waits in runs for these things, rather than often going on without them. Counts
 * this run.
 */
static bool
waits_for_them(struct polls *polls, const struct poll_run *run, uint32_t location, bool ended)
{
	struct habit *habit = habit_of(polls, run, location);

	habit->ended += ended;
	habit->left += !ended;
	return ended && habit->left * MOST_LEFT <= habit->ended;
}

/* Whether samples show the thread off the core between polls that lie further apart. */
static bool
sleeps_between(struct polls *polls, struct poll_run *run, uint32_t location, int64_t from_ns,
    int64_t to_ns)
{
	struct habit *habit;

	if (run->period_ns == 0)
		return false;
	habit = habit_of(polls, run, location);
	habit->apart_ns += to_ns - from_ns;
	for (; run->sample_next < run->sample_count && run->sample_ns[run->sample_next] <= to_ns;
	    run->sample_next++)
		if (run->sample_ns[run->sample_next] > from_ns)
			habit->on_core_ns += run->period_ns;
	return habit->apart_ns / SLEEP_PERIODS >= run->period_ns &&
	    habit->on_core_ns <= habit->apart_ns / MOST_ON_CORE;
}

/*
 * Whether a rank that does little but poll lost its core for such a time: cores were short, or all
 * such times are so short beside the run that their use does not matter.
 */
static bool
lost_core(const struct polls *polls, struct poll_run *run, int64_t apart_ns)
{
	run->apart++;
	run->apart_ns += apart_ns;
	return run->polls >= MANY_POLLS * run->apart &&
	    ((polls->crowded && apart_ns <= LONGEST_SLICE_NS) ||
	    run->apart_ns <= (run->last_ns - run->begin_ns) / 10);
}

/* Rows [FROM, TO) of a block become polls without time, or the call that they led to. */
static void
move_rows(struct calls *c, size_t from, size_t to, int64_t begin_ns, bool ended)
{
	for (size_t i = from; i < to; i++) {
		c->enter_ns[i] = begin_ns;
		if (!ended)
			c->leave_ns[i] = begin_ns;
	}
}

/*
 * The call in rows [I, END) of the newest block becomes the wait, from the time when all things
 * were polled.
 */
static void
become_wait(struct counts *counts, const struct poll_run *run, struct calls *c, size_t i,
    size_t end)
{
	const struct thing *last = &run->things[run->thing_count - 1];
	size_t from = last->row;

	for (struct held *h = last->block; h != NULL; h = h->next_block) {
		h->changed = true;
		h->moved_from = from;
		h->moved_to_ns = last->begin_ns;
		from = 0;
	}
	move_rows(c, from, i, last->begin_ns, false);
	move_rows(c, i, end, last->begin_ns, true);
	counts->waits++;
	counts->absorbed += run->polls - last->polls_before;
}

static void
note_poll(struct polls *polls, struct poll_run *run, const struct calls *c, size_t i)
{
	const bool is_new = !run->open || find_thing(run, c->call[i], c->site[i]) == NULL;

	if (!run->open || (is_new && run->thing_count == THINGS)) {
		run->open = true;
		run->polls = run->apart = run->probes = run->thing_count = 0;
		run->apart_ns = 0;
		run->begin_ns = c->enter_ns[i];
	}
	if (is_new)
		run->things[run->thing_count++] = (struct thing){ c->site[i], c->call[i], NULL, i,
		    c->enter_ns[i], run->polls };
	if (kind_of(polls, c->call[i]) == PROBE)
		run->probed[run->probes++ % LOOK_BACK] =
		    (struct envelope){ c->comm[i], c->peer[i], c->tag[i] };
	run->polls++;
	run->last_ns = c->leave_ns[i];
}

static void
look_at(struct polls *polls, struct graph *graph, struct poll_run *run, struct calls *c)
{
	bool any = run->open;

	/* Most programs never poll: then there is nothing to do. */
	for (size_t i = 0; i < c->count && !any; i++)
		any = kind_of(polls, c->call[i]) != NO_POLL;
	for (size_t i = 0, end; i < c->count && any; i = end) {
		for (end = i + 1; end < c->count && c->call[end] == 0; end++)
			;
		const int64_t apart_ns = c->enter_ns[i] - run->last_ns;

		if (run->open && apart_ns > polls->gap_ns)
			run->open = is_seen_asleep(&graph->known, c->location, c->site[i],
			    apart_ns) || lost_core(polls, run, apart_ns) ||
			    sleeps_between(polls, run, c->location, run->last_ns, c->enter_ns[i]);
		/* A successful poll refers to its message; a probe need not, and counts anyway. */
		if (kind_of(polls, c->call[i]) != NO_POLL && c->request[i] == 0 &&
		    c->request_at[i] == 0)
			note_poll(polls, run, c, i);
		else if (run->open) {
			if (waits_for_them(polls, run, c->location, ends_run(polls, run, c, i)) &&
			    call_class(c->call[i]) != CLASS_RECV_START)
				become_wait(&graph->counts, run, c, i, end);
			run->open = false;
		}
	}
}

/* ---- holding back ----------------------------------------------------------------------- */

void
polls_release(struct polls *polls, struct graph *graph, bool all)
{
	while (polls->held.oldest != NULL) {
		struct held *h = polls->held.oldest;
		struct calls *calls = h->is_block ? &polls->calls : NULL;
		struct poll_run *run = h->is_block ? &polls->runs[h->location] : NULL;

		if (run != NULL && run->open && run->things[0].block == h) {
			if (!all && polls->held.bytes <= MOST_HELD)
				return;
			run->open = false;
		}
		if (run != NULL && run->newest == h)
			run->newest = NULL;
		held_read(h, &polls->calls);
		if (calls != NULL)
			move_rows(calls, h->moved_from, h->count, h->moved_to_ns, false);
		pass_on(graph, &h->message, calls, h->changed);
		held_drop(&polls->held);
	}
}

/* Lost samples make the time up to the next message unknown. */
static void
note_samples(struct polls *polls, const struct graph *graph, const struct message *message)
{
	struct samples *s = &polls->samples;
	struct poll_run *run;

	if (samples_read(s, graph->in, message) < 0)
		die_input(graph->in);
	if (s->location >= graph->known.location_count)
		die_message(graph->in, message, "sampled: location is out of range");
	run = &polls->runs[s->location];
	if (s->worker > 0)
		return;
	run->period_ns = s->lost > 0 ? 0 : s->period_ns;
	GROW(run->sample_ns, run->sample_capacity, run->sample_count + s->count);
	if (s->count > 0)
		memcpy(run->sample_ns + run->sample_count, s->time_ns,
		    s->count * sizeof *s->time_ns);
	run->sample_count += s->count;
}

void
polls_take(struct polls *polls, struct graph *graph, const struct message *message,
    struct calls *calls, bool changed)
{
	const uint64_t waits = graph->counts.waits;
	struct poll_run *run;
	struct held *h;

	if (calls != NULL)
		holds_see(graph, calls);
	if (polls->as_waits && polls->runs == NULL && graph->known.location_count > 0) {
		polls->runs = zalloc(graph->known.location_count, sizeof *polls->runs);
		polls->kinds = zalloc(UINT16_MAX + 1, sizeof *polls->kinds);
	}
	if (polls->as_waits && is_kind(message, "sampled"))
		note_samples(polls, graph, message);
	if (!polls->as_waits || (calls == NULL && polls->held.oldest == NULL)) {
		pass_on(graph, message, calls, changed);
		return;
	}
	if (calls == NULL) {
		held_add(&polls->held, message, NULL, false);
		return;
	}
	run = &polls->runs[calls->location];
	look_at(polls, graph, run, calls);
	run->sample_count = run->sample_next = 0;
	changed |= graph->counts.waits > waits;
	if (polls->held.oldest == NULL && !run->open) {
		pass_on(graph, message, calls, changed);
		return;
	}
	h = held_add(&polls->held, message, calls, polls->held.bytes > HELD_PLAIN);
	h->changed = changed;
	if (run->newest != NULL)
		run->newest->next_block = h;
	run->newest = h;
	for (unsigned k = 0; run->open && k < run->thing_count; k++)
		if (run->things[k].block == NULL)
			run->things[k].block = h;
	polls_release(polls, graph, false);
}

void
polls_begin(struct polls *polls, struct graph *graph, uint64_t handovers)
{
	char *short_of_cores = load_text(&graph->known.headline);

	polls->crowded = short_of_cores != NULL;
	free(short_of_cores);
	message_begin(&graph->out, "polls", 2 + (handovers > 0));
	put_string(&graph->out, "as", polls->as_waits ? "wait" : "work");
	put_int(&graph->out, "gap_ns", polls->gap_ns);
	if (handovers > 0)
		put_uint(&graph->out, "handovers", handovers);
	end_message(&graph->out);
}

void
polls_tell(const struct polls *polls, const struct counts *counts)
{
	if (counts->waits > 0)
		note("counted %llu polling loops with %llu failed tests and probes as waits (gaps "
		    "up to %.6g us, at most one loop in %d given up); --polls work turns this off",
		    (unsigned long long)counts->waits, (unsigned long long)counts->absorbed,
		    1e-3 * (double)polls->gap_ns, MOST_LEFT + 1);
}
