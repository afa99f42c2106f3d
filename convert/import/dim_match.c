/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of a Dimemas trace with receives from anybody, of any tag, or by several threads: who gets
 * what depends on time. So the trace is played on a network without latency and limits, all sends eager:
 * a send gives its message to the receive posted first that it fits, or leaves it to the first that comes.
 */
#include <stdlib.h>
#include <string.h>

#include "../../base/tool/hash_table.h"
#include "dim.h"

/* How many collectives on this communicator a rank has called, or of instance RANK have come. */
struct tally { uint32_t comm, who, count; };

#define TALLY_HASH(t) mix((t)->comm, (t)->who)
#define TALLY_SAME(a, b) ((a)->comm == (b)->comm && (a)->who == (b)->who)
#define TALLY_FREE(t) ((t)->comm == UINT32_MAX)
#define TALLY_MAKE_FREE(t) ((t)->comm = UINT32_MAX)
HASH_TABLE(tallies, struct tally, TALLY_HASH, TALLY_SAME, TALLY_FREE, TALLY_MAKE_FREE,
    HASH_KEEP_ALL, die("out of memory"))

struct queue { uint32_t first, last; };	/* of ends, by next; 0: none */

enum waiting { RUNS, FOR_END, FOR_COLLECTIVE };

struct player {			/* a location */
	int64_t now_ns, at_ns;	/* played, and on its own clock */
	size_t next;		/* step */
	enum waiting waiting;
	uint32_t end;		/* FOR_END */
	uint32_t comm, index;	/* FOR_COLLECTIVE */
};

struct play {
	struct dim *d;
	struct player *players;
	struct queue *posted, *unexpected;	/* by rank */
	struct tallies called, come;
	uint32_t *heap;		/* locations that run, the one that is first on top */
	size_t heap_count;
};

static int64_t
due_ns(const struct play *p, uint32_t location)
{
	const struct player *player = &p->players[location];

	return player->now_ns + p->d->threads[location].steps[player->next].at_ns - player->at_ns;
}

static bool
before(const struct play *p, uint32_t a, uint32_t b)
{
	int64_t a_ns = due_ns(p, a), b_ns = due_ns(p, b);

	return a_ns != b_ns ? a_ns < b_ns : a < b;
}

static void
push(struct play *p, uint32_t location)
{
	size_t i = p->heap_count;

	if (p->players[location].next == p->d->threads[location].step_count)
		return;
	for (p->heap_count++; i > 0 && before(p, location, p->heap[(i - 1) / 2]); i = (i - 1) / 2)
		p->heap[i] = p->heap[(i - 1) / 2];
	p->heap[i] = location;
}

static uint32_t
pop(struct play *p)
{
	uint32_t top = p->heap[0], last = p->heap[--p->heap_count];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < p->heap_count; i = child) {
		if (child + 1 < p->heap_count && before(p, p->heap[child + 1], p->heap[child]))
			child++;
		if (!before(p, p->heap[child], last))
			break;
		p->heap[i] = p->heap[child];
	}
	p->heap[i] = last;
	return top;
}

static bool
fits(const struct dim *d, const struct end *send, const struct end *receive)
{
	const struct thread *from = &d->threads[send->location], *to = &d->threads[receive->location];

	return send->comm == receive->comm &&
	    (receive->peer == ANY_PEER || receive->peer == (int32_t)from->rank) &&
	    (receive->tag == ANY_TAG || receive->tag == send->tag) &&
	    (receive->other < 0 || receive->other == from->number) &&
	    (send->other < 0 || send->other == to->number);
}

static void
append(struct dim *d, struct queue *queue, uint32_t end)
{
	d->ends[end].next = 0;
	if (queue->last != 0)
		d->ends[queue->last].next = end;
	else
		queue->first = end;
	queue->last = end;
}

/* Takes the first of the queue that END fits; 0: none. */
static uint32_t
take_fitting(struct dim *d, struct queue *queue, uint32_t end)
{
	uint32_t last = 0;

	for (uint32_t i = queue->first; i != 0; last = i, i = d->ends[i].next) {
		const struct end *a = &d->ends[end], *b = &d->ends[i];

		if (!(a->is_send ? fits(d, a, b) : fits(d, b, a)))
			continue;
		*(last != 0 ? &d->ends[last].next : &queue->first) = d->ends[i].next;
		if (queue->last == i)
			queue->last = last;
		return i;
	}
	return 0;
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
give(struct play *p, uint32_t end, int64_t now_ns)
{
	struct dim *d = p->d;
	uint32_t target = (uint32_t)d->ends[end].peer, receive, who;

	receive = take_fitting(d, &p->posted[target], end);
	if (receive == 0) {
		append(d, &p->unexpected[target], end);
		return;
	}
	dim_message(d, &d->ends[end], &d->ends[receive]);
	who = d->ends[receive].location;
	if (p->players[who].waiting == FOR_END && p->players[who].end == receive)
		wake(p, who, now_ns);
}

static void
post(struct play *p, uint32_t rank, uint32_t end)
{
	uint32_t message = take_fitting(p->d, &p->unexpected[rank], end);

	if (message == 0)
		append(p->d, &p->posted[rank], end);
	else
		dim_message(p->d, &p->d->ends[message], &p->d->ends[end]);
}

/* How many have come to an instance of a collective. */
static uint32_t *
come_to(struct play *p, uint32_t comm, uint32_t index)
{
	struct tally key = { comm, index, 0 };

	return &tallies_add(&p->come, &key)->count;
}

/* A rank comes to its next collective on this communicator: its index. With the last all may go. */
static uint32_t
arrive(struct play *p, uint32_t location, uint32_t comm, int64_t now_ns)
{
	const struct comm *members = &p->d->comms[comm];
	struct tally key = { comm, p->d->threads[location].rank, 0 };
	uint32_t index = tallies_add(&p->called, &key)->count++;

	if (++*come_to(p, comm, index) < (uint32_t)members->size)
		return index;
	for (uint32_t l = 0; l < p->d->build.locations; l++) {
		const struct player *player = &p->players[l];

		if (player->waiting == FOR_COLLECTIVE && player->comm == comm && player->index == index)
			wake(p, l, now_ns);
	}
	return index;
}

static void
wait_collective(struct play *p, uint32_t location, uint32_t comm, uint32_t index)
{
	struct player *player = &p->players[location];

	if (*come_to(p, comm, index) < (uint32_t)p->d->comms[comm].size) {
		player->waiting = FOR_COLLECTIVE;
		player->comm = comm;
		player->index = index;
	}
}

static void
play_step(struct play *p, uint32_t location)
{
	struct player *player = &p->players[location];
	struct thread *thread = &p->d->threads[location];
	struct step *step = &thread->steps[player->next], *start;

	player->now_ns = due_ns(p, location);
	player->at_ns = step->at_ns;
	player->next++;
	switch (step->kind) {
	case SEND: give(p, step->what, player->now_ns); break;
	case POST: post(p, thread->rank, step->what); break;
	case RECEIVE: post(p, thread->rank, step->what);	/* fall through */
	case WAIT:
		if (!p->d->ends[step->what].matched) {
			player->waiting = FOR_END;
			player->end = step->what;
		}
		break;
	case COLLECTIVE:
		wait_collective(p, location, step->what,
		    arrive(p, location, step->what, player->now_ns));
		break;
	case COLLECTIVE_START:
		step->index = arrive(p, location, step->what, player->now_ns);
		break;
	case COLLECTIVE_WAIT:
		start = &thread->steps[step->what];
		wait_collective(p, location, start->what, start->index);
		break;
	}
	if (player->waiting == RUNS)
		push(p, location);
}

/* Who waits for ever, and what nobody receives, stays without its edge: lp-replay names them. */
void
dim_play(struct dim *d)
{
	struct play p = { .d = d };

	p.players = zalloc(d->build.locations, sizeof *p.players);
	p.heap = zalloc(d->build.locations, sizeof *p.heap);
	p.posted = zalloc(d->build.ranks, sizeof *p.posted);
	p.unexpected = zalloc(d->build.ranks, sizeof *p.unexpected);
	tallies_begin(&p.called, 1024);
	tallies_begin(&p.come, 1024);
	for (uint32_t l = 0; l < d->build.locations; l++)
		push(&p, l);
	while (p.heap_count > 0)
		play_step(&p, pop(&p));
	free(p.players);
	free(p.heap);
	free(p.posted);
	free(p.unexpected);
	free(p.called.slots);
	free(p.come.slots);
}
