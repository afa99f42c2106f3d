/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matches messages of a Dimemas trace with wildcards in source or tag, or with several threads,
 * where matches depend on time. The trace is played on a network without latency or limits, with
 * all sends eager. A send goes to the receive posted first that it fits, or waits for the first
 * such receive. Memory holds the next step of each thread and the messages in flight.
 */
#include <stdlib.h>

#include "../../base/tool/hash_table.h"
#include "../../base/tool/heap.h"
#include "dim.h"

/*
 * Number of collectives that a rank has called on a communicator; or, of an instance, how many
 * ranks have arrived, and the list of those that wait: a location plus 1, linked through players. A
 * complete instance is forgotten.
 */
struct tally { uint32_t comm, waits; uint64_t who, count; };

HASH_TABLE_OF(tallies, struct tally, comm, who, comm, UINT32_MAX)

/* Posted receives that were not yet waited for, by row. */
struct posted { uint64_t seq; uint32_t location, end; };

HASH_TABLE_OF(open_posts, struct posted, seq, location, end, 0)

/* One side of a message in flight; a matched receive stays until its wait. */
struct end {
	struct step step;		/* once its wait has come: seq and head of the wait */
	uint32_t location;
	uint32_t next;			/* in the queue of its rank, or in the free list */
	bool matched, completed;
	uint64_t message;		/* number; of a matched receive also the send's: */
	struct step sent;
	uint32_t source;		/* location */
};

struct queue { uint32_t first, last; };	/* of ends, by next; 0: none */

enum waiting { RUNS, FOR_END, FOR_COLLECTIVE };

struct player {				/* a location */
	int64_t now_ns, at_ns;		/* of the play, and of the thread's own clock */
	bool any;			/* a step is left: the one read last */
	enum waiting waiting;
	uint32_t end;			/* FOR_END */
	uint32_t next_waits;		/* FOR_COLLECTIVE */
	struct tally *started;		/* collectives not yet waited for: FIRST to before COUNT */
	size_t first, count, capacity;
};

struct runner { int64_t due_ns; uint32_t location; };

#define DUE_BEFORE(a, b) ((a)->due_ns != (b)->due_ns ? (a)->due_ns < (b)->due_ns : \
	(a)->location < (b)->location)
HEAP(runners, struct runner, DUE_BEFORE)

struct play {
	struct dim *d;
	struct player *players;
	struct queue *posted, *unexpected;	/* by rank */
	struct tallies *called, *come;
	struct open_posts *open;
	struct end *ends;		/* index 0 stands for none */
	size_t end_count, end_capacity;
	uint32_t free;			/* by next */
	uint64_t open_ends, messages;
	struct runner *heap;		/* running threads, the earliest on top */
	size_t heap_count;
};

/* The next step of a location, if there is one. */
static void
take_step(struct play *p, uint32_t location)
{
	struct step *step = &p->d->threads[location].step;
	const bool any = spill_any(&p->d->steps, location);

	p->players[location].any = any;
	if (any)
		spill_take_record(&p->d->steps, location, step, sizeof *step);
}

static void
push(struct play *p, uint32_t location)
{
	const struct player *player = &p->players[location];
	struct runner runner = { player->now_ns + p->d->threads[location].step.at_ns -
	    player->at_ns, location };

	if (player->any)
		runners_push(p->heap, &p->heap_count, runner);
}

static uint32_t
new_end(struct play *p, const struct step *step, uint32_t location)
{
	uint32_t at = p->free;

	dim_bound(p->d, ++p->open_ends);
	if (at != 0)
		p->free = p->ends[at].next;
	else {
		if (p->end_count == UINT32_MAX)
			die("too many messages at a time");
		GROW(p->ends, p->end_capacity, p->end_count + 1);
		at = (uint32_t)p->end_count++;
	}
	p->ends[at] = (struct end){ .step = *step, .location = location };
	return at;
}

static void
free_end(struct play *p, uint32_t end)
{
	p->open_ends--;
	p->ends[end].next = p->free;
	p->free = end;
}

static bool
fits(const struct dim *d, const struct end *send, const struct end *receive)
{
	const struct build_location *from = &d->build.of[send->location],
	    *to = &d->build.of[receive->location];
	const struct step *s = &send->step, *r = &receive->step;

	return s->comm == r->comm && (r->peer == ANY_PEER || r->peer == (int32_t)from->rank) &&
	    (r->tag == ANY_TAG || r->tag == s->tag) &&
	    (r->other < 0 || r->other == (int32_t)from->thread) &&
	    (s->other < 0 || s->other == (int32_t)to->thread);
}

static void
append(struct play *p, struct queue *queue, uint32_t end)
{
	p->ends[end].next = 0;
	if (queue->last != 0)
		p->ends[queue->last].next = end;
	else
		queue->first = end;
	queue->last = end;
}

/* Takes the first in the queue that END fits; 0: none. */
static uint32_t
take_fitting(struct play *p, struct queue *queue, uint32_t end)
{
	const struct end *a = &p->ends[end];
	uint32_t last = 0;

	for (uint32_t i = queue->first; i != 0; last = i, i = p->ends[i].next) {
		const struct end *b = &p->ends[i];

		if (!(a->step.kind == SEND ? fits(p->d, a, b) : fits(p->d, b, a)))
			continue;
		*(last != 0 ? &p->ends[last].next : &queue->first) = p->ends[i].next;
		if (queue->last == i)
			queue->last = last;
		return i;
	}
	return 0;
}

/* Writes a message whose receive is complete, or never waited for; resolves its wildcards. */
static void
put_message(struct play *p, uint32_t receive)
{
	const struct end *r = &p->ends[receive];
	struct build_patch patch = { .head = r->step.head, .seq = r->step.seq,
	    .location = r->location,
	    .known = (unsigned)(r->step.peer == ANY_PEER) << KNOWN_peer |
	    (unsigned)(r->step.tag == ANY_TAG) << KNOWN_tag,
	    .row = { .peer = (int32_t)p->d->build.of[r->source].rank, .tag = r->sent.tag,
	    .bytes_received = r->sent.bytes } };

	build_message(&p->d->build, r->message, r->source, r->sent.seq, r->location, r->step.seq);
	if (r->completed && patch.known != 0) {
		patch.known |= 1 << KNOWN_bytes_received;
		build_patch(&p->d->build, &patch);
	}
	free_end(p, receive);
}

static void
join(struct play *p, uint32_t send, uint32_t receive)
{
	struct end *r = &p->ends[receive];

	r->matched = true;
	r->message = p->messages++;
	r->sent = p->ends[send].step;
	r->source = p->ends[send].location;
	free_end(p, send);
	if (r->completed)
		put_message(p, receive);
}

static void
wake(struct play *p, uint32_t location, int64_t now_ns)
{
	struct player *player = &p->players[location];

	player->waiting = RUNS;
	player->now_ns = now_ns;
	push(p, location);
}

static void
give(struct play *p, uint32_t send, int64_t now_ns)
{
	uint32_t target = (uint32_t)p->ends[send].step.peer, receive, who;

	receive = take_fitting(p, &p->posted[target], send);
	if (receive == 0) {
		append(p, &p->unexpected[target], send);
		return;
	}
	who = p->ends[receive].location;
	join(p, send, receive);
	if (p->players[who].waiting == FOR_END && p->players[who].end == receive)
		wake(p, who, now_ns);
}

/* Returns whether its message is there. */
static bool
post(struct play *p, uint32_t receive)
{
	const uint32_t rank = p->d->build.of[p->ends[receive].location].rank;
	const uint32_t send = take_fitting(p, &p->unexpected[rank], receive);

	if (send == 0)
		append(p, &p->posted[rank], receive);
	else
		join(p, send, receive);
	return send != 0;
}

/* The receive that is waited for, now with the row of its wait; 0: it has its message already. */
static uint32_t
complete(struct play *p, uint32_t location, const struct step *wait)
{
	struct posted key = { .seq = wait->posted, .location = location };
	struct posted *found = open_posts_find(p->open, &key);
	uint32_t end;

	if (found == NULL)	/* its post was never played */
		return 0;
	end = found->end;
	open_posts_remove(p->open, found);
	p->ends[end].completed = true;
	p->ends[end].step.seq = wait->seq;
	p->ends[end].step.head = wait->head;
	if (!p->ends[end].matched)
		return end;
	put_message(p, end);
	return 0;
}

/* A rank reaches its next collective on this communicator: its tally. The last releases all. */
static struct tally
arrive(struct play *p, uint32_t location, uint32_t comm, int64_t now_ns)
{
	const struct build *b = &p->d->build;
	struct tally key = { comm, 0, b->of[location].rank, 0 }, *come;
	struct tally instance = { comm, 0, tallies_add(&p->called, &key)->count++, 0 };

	come = tallies_add(&p->come, &instance);
	if (++come->count == (uint64_t)b->comms[b->ids[comm]].size) {
		uint32_t waits = come->waits;

		tallies_remove(p->come, come);
		for (; waits != 0; waits = p->players[waits - 1].next_waits)
			wake(p, waits - 1, now_ns);
	}
	return instance;
}

static void
wait_collective(struct play *p, uint32_t location, struct tally instance)
{
	struct player *player = &p->players[location];
	struct tally *come = tallies_find(p->come, &instance);

	if (come == NULL)
		return;
	player->waiting = FOR_COLLECTIVE;
	player->next_waits = come->waits;
	come->waits = location + 1;
}

static void
play_step(struct play *p, uint32_t location)
{
	struct player *player = &p->players[location];
	const struct step step = p->d->threads[location].step;
	struct posted posted = { step.seq, location, 0 };
	struct tally instance;

	player->now_ns += step.at_ns - player->at_ns;
	player->at_ns = step.at_ns;
	take_step(p, location);
	switch (step.kind) {
	case SEND: give(p, new_end(p, &step, location), player->now_ns); break;
	case POST:
		posted.end = new_end(p, &step, location);
		open_posts_add(&p->open, &posted);
		post(p, posted.end);
		break;
	case RECEIVE:
		player->end = new_end(p, &step, location);
		p->ends[player->end].completed = true;
		player->waiting = post(p, player->end) ? RUNS : FOR_END;
		break;
	case WAIT:
		player->end = complete(p, location, &step);
		player->waiting = player->end != 0 ? FOR_END : RUNS;
		break;
	case COLLECTIVE:
		wait_collective(p, location, arrive(p, location, step.comm, player->now_ns));
		break;
	case COLLECTIVE_START:
		instance = arrive(p, location, step.comm, player->now_ns);
		*ENQUEUE(player->started, player->first, player->count, player->capacity) =
		    instance;
		break;
	case COLLECTIVE_WAIT: wait_collective(p, location, player->started[player->first++]); break;
	}
	if (player->waiting == RUNS)
		push(p, location);
}

/* Counts steps that were never reached. */
static void
count_rest(struct play *p, uint32_t location)
{
	struct build *b = &p->d->build;
	const struct step *step = &p->d->threads[location].step;

	for (; p->players[location].any; take_step(p, location))
		if (step->kind == SEND)
			b->unmatched_sends++;
		else if (step->kind == RECEIVE || step->kind == POST)
			b->unmatched_receives++;
		else if (step->kind == WAIT)
			complete(p, location, step);
	for (uint32_t i = location < b->ranks ? p->unexpected[location].first : 0; i != 0;
	    i = p->ends[i].next)
		b->unmatched_sends++;
	for (uint32_t i = location < b->ranks ? p->posted[location].first : 0; i != 0;
	    i = p->ends[i].next)
		b->unmatched_receives++;
}

/* Ranks that wait for ever and messages that nobody receives get no edge: lp-replay names them. */
void
dim_play(struct dim *d)
{
	struct play p = { .d = d, .end_count = 1 };

	spill_read(&d->steps);
	p.players = zalloc(d->build.locations, sizeof *p.players);
	p.heap = zalloc(d->build.locations, sizeof *p.heap);
	p.posted = zalloc(d->build.ranks, sizeof *p.posted);
	p.unexpected = zalloc(d->build.ranks, sizeof *p.unexpected);
	p.ends = grow(NULL, &p.end_capacity, 1, sizeof *p.ends);
	for (uint32_t l = 0; l < d->build.locations; l++) {
		d->threads[l].step = (struct step){ 0 };
		take_step(&p, l);
		push(&p, l);
	}
	while (p.heap_count > 0)
		play_step(&p, runners_pop(p.heap, &p.heap_count).location);
	for (uint32_t l = 0; l < d->build.locations; l++)
		count_rest(&p, l);
	for (const struct posted *open = NULL; (open = open_posts_next(p.open, open)) != NULL; )
		if (p.ends[open->end].matched)
			put_message(&p, open->end);
	free(p.ends);		/* the rest grows only with locations */
	free(p.open);
	free(p.come);
}
