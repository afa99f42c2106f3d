/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends of messages without an edge. A receive whose request is freed gets a message, but no row
 * shows which; so it takes the first unmatched send that fits. Nobody waits for the data; a
 * rendezvous send waits only until the receive is posted. The remaining sends are never received.
 */
#include <string.h>

#include "engine.h"

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
	if (waits && post.at_ns > r->now_ns)
		r->now_ns = post.at_ns;
	return true;
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
