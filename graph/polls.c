/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "polls.h"

enum { MOST_HELD = 64 << 20, LOOK_BACK = 8 };

struct held {
	struct held *next, *next_block;	/* of all; of the same location */
	struct message message;		/* its bytes are ours */
	struct calls calls;
	bool is_block, changed;
};

/* Polls that may turn out to be a wait. */
struct poll_run {
	bool open;
	struct held *block;		/* where it begins; NULL: in the block being looked at */
	size_t row;
	int64_t begin_ns, last_ns;
	uint64_t polls;
	struct held *newest;		/* of the location's blocks held back */
	struct { uint32_t site, comm; int32_t peer, tag; uint16_t call; } last[LOOK_BACK];
};

enum poll_kind { NO_POLL, TEST, PROBE };

static bool
begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static unsigned char kinds[1 << 16];	/* by index of call_name: 1 + kind, once it is known */

static enum poll_kind
kind_of(uint16_t call)
{
	if (kinds[call] == 0) {
		const char *name = call_name(call);

		kinds[call] = begins(name, "MPI_Iprobe") || begins(name, "MPI_Improbe") ? 1 + PROBE :
		    begins(name, "MPI_Test") && call_class(call) == CLASS_COMPLETE ? 1 + TEST : 1 + NO_POLL;
	}
	return (enum poll_kind)(kinds[call] - 1);
}

/* A probe is one whether it found something or not: only what follows tells. */
static bool
is_poll(const struct calls *c, size_t i)
{
	const enum poll_kind kind = kind_of(c->call[i]);

	return kind == PROBE || (kind == TEST && c->request[i] == 0 && c->request_at[i] == 0);
}

static bool
same_envelope(int32_t peer, int32_t tag, const struct calls *c, size_t i)
{
	return (peer == c->peer[i] || peer == ANY_PEER) && (tag == c->tag[i] || tag == -1);
}

/* Does the call at row I end the run: with what one of its last polls asked for? */
static bool
ends_run(const struct poll_run *run, const struct calls *c, size_t i)
{
	const enum poll_kind kind = kind_of(c->call[i]);

	for (uint64_t k = 0; k < run->polls && k < LOOK_BACK; k++)
		if (kind == TEST ? run->last[k].call == c->call[i] && run->last[k].site == c->site[i] :
		    call_class(c->call[i]) == CLASS_RECV && kind_of(run->last[k].call) == PROBE &&
		    run->last[k].comm == c->comm[i] &&
		    same_envelope(run->last[k].peer, run->last[k].tag, c, i))
			return true;
	return false;
}

/* Rows FROM to before TO of a block become polls without time, or the call that they led to. */
static void
move_rows(struct calls *c, size_t from, size_t to, int64_t begin_ns, bool ended)
{
	for (size_t i = from; i < to; i++) {
		c->enter_ns[i] = begin_ns;
		if (!ended)
			c->leave_ns[i] = begin_ns;
	}
}

/* The call in rows I to before END of the newest block has ended the run. */
static void
become_wait(struct polls *polls, struct poll_run *run, struct calls *c, size_t i, size_t end, bool *changed)
{
	size_t from = run->row;

	for (struct held *h = run->block; h != NULL; h = h->next_block) {
		move_rows(&h->calls, from, h->calls.count, run->begin_ns, false);
		h->changed = true;
		from = 0;
	}
	move_rows(c, from, i, run->begin_ns, false);
	move_rows(c, i, end, run->begin_ns, true);
	*changed = true;
	polls->waits++;
	polls->absorbed += run->polls;
}

static void
note_poll(struct poll_run *run, const struct calls *c, size_t i)
{
	const size_t at = run->polls++ % LOOK_BACK;

	run->last[at].site = c->site[i];
	run->last[at].comm = c->comm[i];
	run->last[at].peer = c->peer[i];
	run->last[at].tag = c->tag[i];
	run->last[at].call = c->call[i];
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
			run->open = false;
		if (is_poll(c, i)) {
			if (!run->open) {
				run->open = true;
				run->polls = 0;
				run->block = NULL;
				run->row = i;
				run->begin_ns = c->enter_ns[i];
			}
			note_poll(run, c, i);
			run->last_ns = c->leave_ns[i];
		} else if (run->open) {
			if (ends_run(run, c, i))
				become_wait(polls, run, c, i, end, &changed);
			run->open = false;
		}
	}
	return changed;
}

/* ---- holding back ----------------------------------------------------------------------- */

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
		polls->held_bytes += calls->count * 80;
	}
	polls->held_bytes += message->size;
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

		if (run != NULL && run->open && run->block == h) {
			if (!all && polls->held_bytes <= MOST_HELD)
				return;
			run->open = false;
		}
		if (run != NULL && run->newest == h)
			run->newest = NULL;
		pass_on(graph, in, &h->message, h->is_block ? &h->calls : NULL, h->changed);
		polls->held_bytes -= h->message.size + (h->is_block ? h->calls.count * 80 : 0);
		polls->oldest = h->next;
		calls_free(&h->calls);
		free((unsigned char *)(uintptr_t)h->message.bytes);
		free(h);
	}
	polls->newest = NULL;
}

void
polls_take(struct polls *polls, struct graph *graph, struct reader *in, const struct message *message,
    struct calls *calls)
{
	struct poll_run *run;
	struct held *h;
	bool changed = false;

	if (!polls->as_waits || (calls == NULL && polls->oldest == NULL)) {
		pass_on(graph, in, message, calls, false);
		return;
	}
	if (polls->runs == NULL && graph->known.location_count > 0) {
		polls->runs = zalloc(graph->known.location_count, sizeof *polls->runs);
		kind_of(0);	/* parts, which are never asked for, have one, too */
	}
	if (calls == NULL) {
		hold(polls, message, NULL, false);
		return;
	}
	run = &polls->runs[calls->location];
	changed = look_at(polls, run, calls);
	if (polls->oldest == NULL && !run->open) {
		pass_on(graph, in, message, calls, changed);
		return;
	}
	h = hold(polls, message, calls, changed);
	if (run->newest != NULL)
		run->newest->next_block = h;
	run->newest = h;
	if (run->open && run->block == NULL)
		run->block = h;
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
		note("%llu runs of %llu failed tests and probes, with at most %.6g us between two, are waits; "
		    "--polls work leaves them", (unsigned long long)polls->waits,
		    (unsigned long long)polls->absorbed, 1e-3 * (double)polls->gap_ns);
}
