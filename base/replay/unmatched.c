/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends of messages without an edge.
 *
 * Receives that are posted long before they complete, such as one for the message that ends the
 * run: only the completion shows which message it is, so a row waits for that; but thousands of
 * rows must not. Such a receive is posted without its message, which joins it when its edge comes.
 *
 * A receive whose request is freed gets a message, but no row shows which; so it takes the first
 * unmatched send that fits. Nobody waits for the data; a rendezvous send waits only until the
 * receive is posted. The remaining sends are never received.
 */
#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"
#include "engine.h"

struct early_post {		/* by row */
	uint64_t seq;
	uint32_t location;	/* NONE: free */
	uint32_t flight;	/* without source, target and way */
	struct replay_row row;
};

HASH_TABLE_OF(early_posts, struct early_post, location, seq, location, NONE)

void
early_post(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	const uint32_t f = flight_new(e);

	e->flights[f].source = e->flights[f].target = id;
	e->flights[f].references = 2;		/* its row, and its place here */
	if (e->explains)
		e->trails[f].send_seq = UINT64_MAX;	/* no row's */
	early_posts_add(&e->early, &(struct early_post){ r->part, id, f, *r->row });
	r->op->link = f;
	post(e, id, f);
	if (e->marks != NULL)	/* it may be a rendezvous message's */
		mark_set(e, message_time(e, f, POSTED), id, &NO_COST, NO_PAYER);
}

/* Removes the receive of that row, if there is one; otherwise its flight is NONE. */
static struct early_post
take(struct engine *e, uint32_t location, uint64_t seq)
{
	struct early_post post = { .seq = seq, .location = location, .flight = NONE }, *found;

	if ((found = early_posts_find(e->early, &post)) == NULL)
		return post;
	post = *found;
	early_posts_remove(e->early, found);
	return post;
}

uint32_t
early_take(struct engine *e, uint32_t location, uint64_t seq)
{
	return early_posts_count(e->early) == 0 ? NONE : take(e, location, seq).flight;
}

void
early_over(struct engine *e, uint32_t location, uint64_t seq, bool freed)
{
	struct early_post post;
	double at_ns;

	if (early_posts_count(e->early) == 0 ||
	    (post = take(e, location, seq)).flight == NONE)
		return;
	at_ns = e->flights[post.flight].posted_ns;
	flight_unref(e, post.flight);
	if (freed)	/* events are past that time */
		lost_post(e, e->runners[location].rank, &post.row,
		    e->contended && at_ns < e->now_ns ? e->now_ns : at_ns);
}

/* ---- ends that have no other end ------------------------------------------------------------ */

struct lost {
	double at_ns;			/* of a post; of a send: when its sender began to wait */
	uint32_t source, target, comm;	/* ranks; source NONE: any */
	int32_t tag;
	uint32_t sleeper;	/* a send: runner that waits, or NONE */
};

static bool
fits(const struct lost *send, const struct lost *post)
{
	return send->target == post->target && send->comm == post->comm &&
	    (post->source == NONE || post->source == send->source) &&
	    (post->tag == ANY_TAG || post->tag == send->tag);
}

/*
 * Takes the first fitting end from the other list; false: there is none, and the end joins its own
 * list.
 */
static bool
meet(struct lost_ends *mine, struct lost_ends *others, bool is_send, const struct lost *end,
    struct lost *other)
{
	for (size_t i = 0; i < others->count; i++) {
		*other = others->items[i];
		if (!fits(is_send ? end : other, is_send ? other : end))
			continue;
		memmove(others->items + i, others->items + i + 1,
		    (--others->count - i) * sizeof *other);
		return true;
	}
	*APPEND(mine->items, mine->count, mine->capacity) = *end;
	return false;
}

bool
lost_send(struct engine *e, uint32_t id, const struct op *op)
{
	struct runner *r = &e->runners[id];
	const struct replay_row *row = r->row;
	int32_t target = world_rank(e->known, row->comm, (int32_t)r->rank, row->peer);
	bool waits = op->rendezvous && op->act != ACT_SEND_START;
	struct lost post, send = { r->now_ns, r->rank, (uint32_t)target, row->comm, row->tag,
	    waits ? id : NONE };

	if (target < 0)		/* MPI_PROC_NULL, or another program */
		return true;
	if (!meet(&e->lost_sends, &e->lost_posts, true, &send, &post))
		return waits ? block(e, id) : true;
	return !waits || sleep_until(r, post.at_ns);
}

void
lost_post(struct engine *e, uint32_t rank, const struct replay_row *row, double at_ns)
{
	int32_t source = world_rank(e->known, row->comm, (int32_t)rank, row->peer);
	struct lost send, post = { at_ns, source < 0 ? NONE : (uint32_t)source, rank, row->comm,
	    row->tag, NONE };

	if (source < 0 && row->peer != ANY_PEER)
		return;
	if (meet(&e->lost_posts, &e->lost_sends, false, &post, &send) && send.sleeper != NONE)
		wake(e, send.sleeper, at_ns);
}
