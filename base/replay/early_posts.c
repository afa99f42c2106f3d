/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives that are posted long before they complete, such as one for the message that ends the
 * run. Only the completion shows which message it is, so a row waits for that; but thousands of
 * rows must not. Such a receive is posted without its message, which joins it when its edge comes.
 */
#include <stdlib.h>

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
early_begin(struct engine *e)
{
	e->early = zalloc(1, sizeof *e->early);
	early_posts_begin(e->early, 64);
}

void
early_post(struct engine *e, uint32_t id)
{
	struct runner *r = &e->runners[id];
	const uint32_t f = flight_new(e);

	e->flights[f].source = e->flights[f].target = id;
	e->flights[f].references = 2;		/* its row, and its place here */
	if (e->explains)
		e->trails[f].send_seq = UINT64_MAX;	/* no row's */
	early_posts_add(e->early, &(struct early_post){ r->part, id, f, *r->row });
	e->early_count++;
	r->op->link = f;
	post(e, id, f);
	if (e->marks != NULL)	/* it may be a rendezvous message's */
		mark_set(e, message_time(e, f, POSTED), id, &NO_COST, NO_PAYER);
}

static struct early_post *
find(const struct engine *e, uint32_t location, uint64_t seq)
{
	return early_posts_find(e->early,
	    &(struct early_post){ .seq = seq, .location = location });
}

uint32_t
early_take(struct engine *e, uint32_t location, uint64_t seq)
{
	struct early_post *found = find(e, location, seq);
	uint32_t f;

	if (found == NULL)
		return NONE;
	f = found->flight;
	early_posts_remove(e->early, found);
	e->early_count--;
	return f;
}

void
early_over(struct engine *e, uint32_t location, uint64_t seq, bool freed)
{
	struct early_post *found = find(e, location, seq), post;
	double at_ns;

	if (found == NULL)
		return;
	post = *found;
	early_posts_remove(e->early, found);
	e->early_count--;
	at_ns = e->flights[post.flight].posted_ns;
	flight_unref(e, post.flight);
	if (freed)	/* events are past that time */
		lost_post(e, e->runners[location].rank, &post.row,
		    e->contended && at_ns < e->now_ns ? e->now_ns : at_ns);
}
