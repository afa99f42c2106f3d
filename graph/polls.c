/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polling is waiting if the rank goes on only when something has come. A run is a sequence of failed tests
 * and probes, of one thing or of several in turn, with at most a given time between two. A run that ends with
 * the success of one of them (of a probe: with the receive behind it) becomes one wait: the call that ended it
 * was entered when all of its things had first been polled, and the failed polls from then on take no time.
 *
 * A run that ends in any other way stays as it is. So do all runs for the same things if more than one in nine
 * ended that way: then the rank works between its polls, and they cost it time. HPCC's RandomAccess, which
 * tests once for each number it makes, is such a program.
 *
 * If a thread is sampled, a longer time between two polls ends no run as long as the thread is off the core
 * for most of the time between polls of these things: it sleeps until the next one.
 *
 * Neither does a longer time for each thousand polls, if ranks had too few cores, so that the thread lost its own, or
 * if such times make up at most a tenth of the run.
 *
 * Messages are held back until the runs in them have ended, as far as memory allows.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "../base/run/load.h"
#include "../base/stream/samples.h"
#include "../base/tool/hash_table.h"
#include "graph.h"

enum {
	MOST_HELD = 64 << 20, HELD_PLAIN = 8 << 20,	/* beyond that blocks are held back in compressed form */
	LOOK_BACK = 8, THINGS = 8,
	SLEEP_PERIODS = 16,	/* of samples: less time between polls proves nothing */
	MOST_ON_CORE = 8,	/* a sleeping thread is on a core for at most one part in so many */
	MANY_POLLS = 1000,	/* for each longer time between two of them */
	LONGEST_SLICE_NS = 20000000,
};

struct held {
	struct held *next, *next_block;	/* of all; of the same location */
	struct message message;		/* its bytes are ours */
	struct calls calls;		/* without columns while they are packed */
	bool is_block, changed;
	bool moved;			/* rows from MOVED_FROM on become polls without time */
	size_t moved_from;
	int64_t moved_to_ns;
	size_t bytes;			/* that it takes */
	unsigned char *packed;		/* columns and message, compressed; NULL: they are plain */
	size_t packed_size, plain_size;
};

/* Of a row in memory. */
#define X(field, key, type, is_signed, required, absent) + sizeof(type)
enum { ROW_BYTES = 2 * sizeof(int64_t) CALL_COLUMNS(X) };
#undef X

/* What a run polls for, as far as a trace tells: the call at a site, and where it was first made. */
struct thing {
	uint32_t site;
	uint16_t call;
	struct held *block;		/* NULL: in the block being looked at */
	size_t row;
	int64_t begin_ns;
	uint64_t polls_before;		/* of the run */
};

/* Polls that may turn out to be a wait. */
struct poll_run {
	bool open;
	struct thing things[THINGS];	/* in the order in which they joined */
	unsigned thing_count;
	int64_t last_ns;
	uint64_t polls;
	int64_t begin_ns;
	uint64_t apart;			/* how often two polls lay further apart, and for how long */
	int64_t apart_ns;
	struct held *newest;		/* of the location's blocks held back */
	struct { uint32_t comm; int32_t peer, tag; } probed[LOOK_BACK];
	uint64_t probes;
	int64_t period_ns;		/* of the location's samples; 0: none so far */
	int64_t *sample_ns;		/* when they were taken, up to the end of the next block */
	size_t sample_count, sample_capacity, sample_next;
};

/* How the runs for the same things ended on a location. */
struct habit {
	uint64_t things;		/* a hash, the same in any order */
	uint32_t location;		/* UINT32_MAX: free slot */
	uint64_t ended, left;		/* by success; the rank went on without */
	int64_t apart_ns, on_core_ns;	/* long times between two of these polls; of them sampled */
};
#define HASH(h) mix((h)->things, (h)->location)
#define SAME(a, b) ((a)->things == (b)->things && (a)->location == (b)->location)
#define FREE(h) ((h)->location == UINT32_MAX)
#define MAKE_FREE(h) ((h)->location = UINT32_MAX)
HASH_TABLE(habits, struct habit, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))

enum poll_kind { NO_POLL, TEST, PROBE };

static unsigned char kinds[1 << 16];	/* by index of call_name: 1 + kind, once it is known */

static enum poll_kind
kind_of(uint16_t call)
{
	if (kinds[call] == 0)
		kinds[call] = (unsigned char)(1 + (!call_polls(call) ? NO_POLL :
		    strcmp(call_name(call), "MPI_Iprobe") == 0 || strcmp(call_name(call), "MPI_Improbe") == 0 ?
		    PROBE : TEST));
	return (enum poll_kind)(kinds[call] - 1);
}

/* One that found something refers to it; a probe of a trace that does not say so is one either way. */
static bool
is_poll(const struct calls *c, size_t i)
{
	return kind_of(c->call[i]) != NO_POLL && c->request[i] == 0 && c->request_at[i] == 0;
}

static bool
same_envelope(int32_t peer, int32_t tag, const struct calls *c, size_t i)
{
	return (peer == c->peer[i] || peer == ANY_PEER) && (tag == c->tag[i] || tag == -1);
}

static bool
was_probed(const struct poll_run *run, const struct calls *c, size_t i)
{
	for (uint64_t k = 0; k < run->probes && k < LOOK_BACK; k++)
		if (run->probed[k].comm == c->comm[i] &&
		    same_envelope(run->probed[k].peer, run->probed[k].tag, c, i))
			return true;
	return false;
}

static struct thing *
find_thing(struct poll_run *run, uint16_t call, uint32_t site)
{
	for (unsigned k = 0; k < run->thing_count; k++)
		if (run->things[k].call == call && run->things[k].site == site)
			return &run->things[k];
	return NULL;
}

/* Does the call at row I bring what the run polled for? */
static bool
ends_run(struct poll_run *run, const struct calls *c, size_t i)
{
	if (kind_of(c->call[i]) != NO_POLL)
		return find_thing(run, c->call[i], c->site[i]) != NULL;
	return (call_class(c->call[i]) == CLASS_RECV || call_class(c->call[i]) == CLASS_RECV_START) &&
	    was_probed(run, c, i);
}

static struct habit *
habit_of(struct polls *polls, const struct poll_run *run, uint32_t location)
{
	struct habit key = { .location = location };

	for (unsigned k = 0; k < run->thing_count; k++)
		key.things += mix(run->things[k].call, run->things[k].site);
	if (polls->habits == NULL) {
		polls->habits = zalloc(1, sizeof *polls->habits);
		habits_begin(polls->habits, 64);
	}
	return habits_add(polls->habits, &key);
}

/* Does the rank wait in runs for these things, or does it often go on without them? Counts this run. */
static bool
waits_for_them(struct polls *polls, const struct poll_run *run, uint32_t location, bool ended)
{
	struct habit *habit = habit_of(polls, run, location);

	habit->ended += ended;
	habit->left += !ended;
	return ended && habit->left * POLLS_MOST_LEFT <= habit->ended;
}

/* Between polls that lie further apart: is the thread off the core there, as far as samples tell? */
static bool
sleeps_between(struct polls *polls, struct poll_run *run, uint32_t location, int64_t from_ns, int64_t to_ns)
{
	struct habit *habit;

	if (run->period_ns == 0)
		return false;
	habit = habit_of(polls, run, location);
	habit->apart_ns += to_ns - from_ns;
	for (; run->sample_next < run->sample_count && run->sample_ns[run->sample_next] <= to_ns; run->sample_next++)
		if (run->sample_ns[run->sample_next] > from_ns)
			habit->on_core_ns += run->period_ns;
	return habit->apart_ns / SLEEP_PERIODS >= run->period_ns && habit->on_core_ns <= habit->apart_ns / MOST_ON_CORE;
}

/*
 * Such a time between two polls of a rank that does hardly anything but poll: it lost its core, where cores were short,
 * or all such times are so short beside the run that it does not matter what it did.
 */
static bool
lost_core(const struct polls *polls, struct poll_run *run, int64_t apart_ns)
{
	run->apart++;
	run->apart_ns += apart_ns;
	return run->polls >= MANY_POLLS * run->apart && ((polls->crowded && apart_ns <= LONGEST_SLICE_NS) ||
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

/* The call in rows [I, END) of the newest block becomes the wait, from when all things were polled. */
static void
become_wait(struct polls *polls, const struct poll_run *run, struct calls *c, size_t i, size_t end, bool *changed)
{
	const struct thing *last = &run->things[run->thing_count - 1];
	size_t from = last->row;

	for (struct held *h = last->block; h != NULL; h = h->next_block) {
		h->changed = h->moved = true;
		h->moved_from = from;
		h->moved_to_ns = last->begin_ns;
		from = 0;
	}
	move_rows(c, from, i, last->begin_ns, false);
	move_rows(c, i, end, last->begin_ns, true);
	*changed = true;
	polls->waits++;
	polls->absorbed += run->polls - last->polls_before;
}

static void
note_poll(struct poll_run *run, const struct calls *c, size_t i)
{
	if (run->open && find_thing(run, c->call[i], c->site[i]) == NULL && run->thing_count == THINGS)
		run->open = false;
	if (!run->open) {
		run->open = true;
		run->polls = run->apart = run->probes = run->thing_count = 0;
		run->apart_ns = 0;
		run->begin_ns = c->enter_ns[i];
	}
	if (find_thing(run, c->call[i], c->site[i]) == NULL)
		run->things[run->thing_count++] = (struct thing){ c->site[i], c->call[i], NULL, i,
		    c->enter_ns[i], run->polls };
	if (kind_of(c->call[i]) == PROBE) {
		const size_t at = run->probes++ % LOOK_BACK;

		run->probed[at].comm = c->comm[i];
		run->probed[at].peer = c->peer[i];
		run->probed[at].tag = c->tag[i];
	}
	run->polls++;
	run->last_ns = c->leave_ns[i];
}

/* Most programs never poll: then there is nothing to look at. */
static bool
may_poll(const struct calls *c)
{
	unsigned other = 0;

	for (size_t i = 0; i < c->count; i++)
		other |= kinds[c->call[i]] ^ (1 + NO_POLL);
	return other != 0;
}

/* Goes through a block; true where it was changed. */
static bool
look_at(struct polls *polls, struct poll_run *run, struct calls *c)
{
	bool changed = false;

	if (!run->open && !may_poll(c))
		return false;
	for (size_t i = 0, end; i < c->count; i = end) {
		for (end = i + 1; end < c->count && c->call[end] == 0; end++)
			;
		if (run->open && c->enter_ns[i] - run->last_ns > polls->gap_ns)
			run->open = lost_core(polls, run, c->enter_ns[i] - run->last_ns) ||
			    sleeps_between(polls, run, c->location, run->last_ns, c->enter_ns[i]);
		if (is_poll(c, i))
			note_poll(run, c, i);
		else if (run->open) {
			if (waits_for_them(polls, run, c->location, ends_run(run, c, i)) &&
			    call_class(c->call[i]) != CLASS_RECV_START)
				become_wait(polls, run, c, i, end, &changed);
			run->open = false;
		}
	}
	return changed;
}

/* ---- holding back ----------------------------------------------------------------------- */

/* All columns of a block lie one behind the other at BYTES, times as differences. Copies from them, or TO them. */
static unsigned char *
copy_columns(struct calls *c, unsigned char *bytes, bool to)
{
	int64_t last_ns = 0, pair[2];

	for (size_t i = 0; i < c->count; i++, bytes += sizeof pair) {
		if (to) {
			pair[0] = c->enter_ns[i] - last_ns;
			pair[1] = c->leave_ns[i] - c->enter_ns[i];
			memcpy(bytes, pair, sizeof pair);
		} else {
			memcpy(pair, bytes, sizeof pair);
			c->enter_ns[i] = last_ns + pair[0];
			c->leave_ns[i] = c->enter_ns[i] + pair[1];
		}
		last_ns = c->enter_ns[i];
	}
#define X(field, key, type, is_signed, required, absent) \
	memcpy(to ? (void *)bytes : (void *)c->field, to ? (void *)c->field : (void *)bytes, \
	    c->count * sizeof *c->field); \
	bytes += c->count * sizeof *c->field;
	CALL_COLUMNS(X)
#undef X
	return bytes;
}

/* A long run of polls has some ten million rows a second, one much like the other. */
static void
pack(struct held *h)
{
	struct calls *c = &h->calls;
	const struct calls rest = { .location = c->location, .first = c->first, .count = c->count };
	unsigned char *plain = need(malloc(c->count * ROW_BYTES + h->message.size)), *end;
	size_t most;

	end = copy_columns(c, plain, true);
	memcpy(end, h->message.bytes, h->message.size);
	h->plain_size = (size_t)(end - plain) + h->message.size;
	most = ZSTD_compressBound(h->plain_size);
	h->packed = need(malloc(most));
	h->packed_size = ZSTD_compress(h->packed, most, plain, h->plain_size, 1);
	if (ZSTD_isError(h->packed_size))
		die("out of memory");
	h->packed = need(realloc(h->packed, h->packed_size));
	free(plain);
	free((unsigned char *)(uintptr_t)h->message.bytes);
	h->message.bytes = NULL;
	calls_free(c);
	*c = rest;
}

static void
unpack(struct held *h)
{
	struct calls plain = { .location = h->calls.location, .first = h->calls.first };
	const size_t count = h->calls.count;
	unsigned char *bytes = need(malloc(h->plain_size)), *message = need(malloc(h->message.size)), *end;

	if (ZSTD_decompress(bytes, h->plain_size, h->packed, h->packed_size) != h->plain_size ||
	    calls_reserve(&plain, count + 1) < 0)
		die("out of memory");
	plain.count = count;
	end = copy_columns(&plain, bytes, false);
	memcpy(message, end, h->message.size);
	free(bytes);
	free(h->packed);
	h->calls = plain;
	h->message.bytes = message;
}

static struct held *
hold(struct polls *polls, const struct message *message, const struct calls *calls, bool changed)
{
	struct held *h = zalloc(1, sizeof *h);
	unsigned char *bytes = need(malloc(message->size));

	memcpy(bytes, message->bytes, message->size);
	h->message = *message;
	h->message.bytes = bytes;
	h->changed = changed;
	if (calls != NULL) {
		h->is_block = true;
		if (calls_reserve(&h->calls, calls->count + 1) < 0 || calls_append(&h->calls, calls) < 0)
			die("out of memory");
		h->calls.location = calls->location;
		h->calls.first = calls->first;
		if (polls->held_bytes > HELD_PLAIN)
			pack(h);
	}
	h->bytes = h->packed != NULL ? h->packed_size : message->size + h->calls.count * ROW_BYTES;
	polls->held_bytes += h->bytes;
	if (polls->oldest == NULL)
		polls->oldest = h;
	else
		polls->newest->next = h;
	polls->newest = h;
	return h;
}

/* Hands on the oldest messages: those before the first with a run that is open, or ALL. */
static void
release(struct polls *polls, struct graph *graph, struct reader *in, bool all)
{
	while (polls->oldest != NULL) {
		struct held *h = polls->oldest;
		struct poll_run *run = h->is_block ? &polls->runs[h->calls.location] : NULL;

		if (run != NULL && run->open && run->things[0].block == h) {
			if (!all && polls->held_bytes <= MOST_HELD)
				return;
			run->open = false;
		}
		if (run != NULL && run->newest == h)
			run->newest = NULL;
		if (h->packed != NULL)
			unpack(h);
		if (h->moved)
			move_rows(&h->calls, h->moved_from, h->calls.count, h->moved_to_ns, false);
		pass_on(graph, in, &h->message, h->is_block ? &h->calls : NULL, h->changed);
		polls->held_bytes -= h->bytes;
		polls->oldest = h->next;
		calls_free(&h->calls);
		free((unsigned char *)(uintptr_t)h->message.bytes);
		free(h);
	}
	polls->newest = NULL;
}

/* If the system lost some, they say nothing until the next message of them. */
static void
note_samples(struct polls *polls, uint32_t locations, struct reader *in, const struct message *message)
{
	struct samples *s = polls->samples != NULL ? polls->samples : zalloc(1, sizeof *s);
	struct poll_run *run;

	polls->samples = s;
	if (samples_read(s, in, message) < 0)
		die_input(in);
	if (s->location >= locations) {
		reader_fail(in, message->offset, "sampled: location is out of range");
		die_input(in);
	}
	run = &polls->runs[s->location];
	if (s->worker > 0)
		return;
	run->period_ns = s->lost > 0 ? 0 : s->period_ns;
	run->sample_ns = grow(run->sample_ns, &run->sample_capacity, run->sample_count + s->count,
	    sizeof *run->sample_ns);
	if (s->count > 0)
		memcpy(run->sample_ns + run->sample_count, s->time_ns, s->count * sizeof *s->time_ns);
	run->sample_count += s->count;
}

void
polls_take(struct polls *polls, struct graph *graph, struct reader *in, const struct message *message,
    struct calls *calls)
{
	struct poll_run *run;
	struct held *h;
	bool changed = false;

	if (polls->as_waits && polls->runs == NULL && graph->known.location_count > 0) {
		polls->runs = zalloc(graph->known.location_count, sizeof *polls->runs);
		kind_of(0);	/* parts, which are never asked for, have one, too */
	}
	if (calls != NULL && !polls->begun) {
		char *short_of_cores = load_text(&graph->known.headline);

		polls->begun = true;
		polls->crowded = short_of_cores != NULL;
		free(short_of_cores);
	}
	if (polls->as_waits && is_kind(message, "sampled"))
		note_samples(polls, graph->known.location_count, in, message);
	if (!polls->as_waits || (calls == NULL && polls->oldest == NULL)) {
		pass_on(graph, in, message, calls, false);
		return;
	}
	if (calls == NULL) {
		hold(polls, message, NULL, false);
		return;
	}
	run = &polls->runs[calls->location];
	changed = look_at(polls, run, calls);
	run->sample_count = run->sample_next = 0;
	if (polls->oldest == NULL && !run->open) {
		pass_on(graph, in, message, calls, changed);
		return;
	}
	h = hold(polls, message, calls, changed);
	if (run->newest != NULL)
		run->newest->next_block = h;
	run->newest = h;
	for (unsigned k = 0; run->open && k < run->thing_count; k++)
		if (run->things[k].block == NULL)
			run->things[k].block = h;
	release(polls, graph, in, false);
}

void
polls_end(struct polls *polls, struct graph *graph, struct reader *in)
{
	release(polls, graph, in, true);
}

void
polls_begin(const struct polls *polls, struct graph *graph)
{
	message_begin(&graph->out, "polls", 2);
	put_string(&graph->out, "as", polls->as_waits ? "wait" : "work");
	put_int(&graph->out, "gap_ns", polls->gap_ns);
	if (message_end(&graph->out) < 0)
		die_output();
}

void
polls_tell(const struct polls *polls)
{
	if (polls->waits > 0)
		note("%llu runs of %llu failed tests and probes, with at most %.6g us between two, are waits, where "
		    "the rank went on without in at most one of %d; --polls work leaves them",
		    (unsigned long long)polls->waits, (unsigned long long)polls->absorbed,
		    1e-3 * (double)polls->gap_ns, POLLS_MOST_LEFT + 1);
}
