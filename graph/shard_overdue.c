/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overdue rows of a run in shards (overdue.c). All members set marks in the same round. A row may
 * wait for its other end in any shard, so all agree on the first rows that are not overdue.
 */
#include "shards.h"

/* Marks are those of the ranks' own shards. */
static void
share_marks(struct rounds *r)
{
	const uint32_t locations = r->known.location_count;
	int64_t *next = zalloc((size_t)locations + 1, sizeof *next);
	uint64_t *mark;

	for (const struct shard *s = r->own; s < r->own_end; s++)
		for (uint32_t l = 0; l < locations; l++)
			if (!is_away(&s->graph, rank_of(&s->graph, l))) {
				next[l] = (int64_t)r->locations[l].next_seq;
				next[locations] = larger(next[locations],
				    r->locations[l].last_leave_ns);
			}
	team_max(r->team, next, (size_t)locations + 1);
	mark = overdue_mark(r->overdue, r->looked, next[locations]);
	for (uint32_t l = 0; l < locations; l++)
		mark[l] = (uint64_t)next[l];
	free(next);
}

const uint64_t *
find_early(struct rounds *r)
{
	const uint32_t locations = r->known.location_count;
	int64_t any = 0, *own;

	r->looked += (int64_t)(r->rows * r->count);
	if (overdue_is_time(r->overdue, r->looked, overdue_rows(locations), r->come_ns))
		share_marks(r);
	else if (!r->has_overdue)
		return NULL;
	for (uint32_t l = 0; l < locations; l++)
		r->early[l] = INT64_MAX;
	for (struct shard *s = r->own; s < r->own_end; s++) {
		for (uint32_t l = 0; l < locations; l++)
			if (!is_away(&s->graph, rank_of(&s->graph, l)) &&
			    hold_settled(&s->graph, l) < r->early[l])
				r->early[l] = hold_settled(&s->graph, l);
		s->graph.overdue = r->overdue;
		any |= overdue_pass(&s->graph, r->early);
	}
	team_max(r->team, &any, 1);
	r->has_overdue = any > 0;
	if (!r->has_overdue)
		return NULL;
	own = zalloc(locations, sizeof *own);
	for (uint32_t l = 0; l < locations; l++)	/* the team has maximums only */
		own[l] = -(int64_t)r->early[l];
	team_max(r->team, own, locations);
	for (uint32_t l = 0; l < locations; l++)
		r->early[l] = (uint64_t)-own[l];
	free(own);
	return r->early;
}
