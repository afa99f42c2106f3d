/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all shards know together at the end of a round: what is pending, and so which collectives of all
 * ranks are synchronisation points. The rule is that of collective.c.
 */
#include <stdlib.h>
#include <string.h>

#include "rounds.h"

/* As negative numbers, since MAX is taken of all members'. */
void
find_settled(struct rounds *r)
{
	for (uint32_t l = 0; l < r->known.location_count; l++)
		r->settled[l] = INT64_MIN;
	for (uint32_t s = r->first; s < r->end; s++) {
		const struct graph *graph = &feed_of(r, s)->graph;

		for (uint32_t l = 0; l < r->known.location_count; l++)
			if (!is_away(graph, rank_of(graph, l)) && -(int64_t)settled_seq(graph, l) > r->settled[l])
				r->settled[l] = -(int64_t)settled_seq(graph, l);
		for (uint32_t o = graph->exchange->oldest; o != NONE; o = graph->operations[o].newer) {
			const struct operation *op = &graph->operations[o];

			if (-(int64_t)op->seq > r->settled[op->location])
				r->settled[op->location] = -(int64_t)op->seq;
		}
	}
	team_max(r->team, r->settled, r->known.location_count);
	for (uint32_t l = 0; l < r->known.location_count; l++)
		r->seqs[l] = r->settled[l] == INT64_MIN ? 0 : (uint64_t)-r->settled[l];
}

struct fact {			/* of a candidate, for all */
	uint64_t number, round;
	uint32_t shard, index;	/* where it is kept */
	uint32_t pending, overlaps;
};

static int
by_candidate(const void *left, const void *right)
{
	const struct fact *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->shard != b->shard ? (a->shard < b->shard ? -1 : 1) :
	    a->index < b->index ? -1 : a->index > b->index;
}

static struct fact *
share_facts(struct rounds *r, size_t *count)
{
	struct fact *own = NULL, *all;
	size_t own_count = 0, capacity = 0;

	for (uint32_t s = r->first; s < r->end; s++) {
		const struct exchange *x = &feed_of(r, s)->exchange;

		for (size_t i = 0; i < x->candidate_count; i++) {
			const struct candidate *c = &x->candidates[i];
			bool pending = c->pending;

			for (uint32_t l = 0; l < r->known.location_count && !pending; l++)
				pending = r->seqs[l] <= c->seqs[l];
			own = grow(own, &capacity, own_count + 1, sizeof *own);
			own[own_count++] = (struct fact){ c->number, c->round, s, (uint32_t)i, pending, c->overlaps };
		}
	}
	all = team_share(r->team, own, own_count, sizeof *own, count);
	qsort(all, *count, sizeof *all, by_candidate);
	free(own);
	return all;
}

/* What edges have crossed, by number of candidate; one more says whether ranks still count alike. */
static int64_t *
share_crossed(struct rounds *r, size_t count)
{
	int64_t *crossed = zalloc(count + 1, sizeof *crossed);

	for (uint32_t s = r->first; s < r->end; s++) {
		const struct graph *graph = &feed_of(r, s)->graph;

		for (size_t n = 0; n < count; n++)
			crossed[n] |= collective_is_crossed(graph, n);
		crossed[count] |= collective_has_drifted(graph);
	}
	team_max(r->team, crossed, count + 1);
	return crossed;
}

/* All shards count the points among the candidates, in order; the rows go to the last one, which tells of them. */
static void
write_syncs(struct rounds *r, const struct fact *facts, const bool *is_sync, size_t count)
{
	const uint32_t locations = r->known.location_count;
	const int last = r->member_of[r->shards - 1];
	size_t *counts = zalloc((size_t)r->team->size, sizeof *counts), got_count, capacity = 0;
	const size_t words = (size_t)locations + 1;
	uint64_t *own = NULL, *got;
	const uint64_t **seqs = zalloc(count, sizeof *seqs);

	for (size_t i = 0; i < count; i++) {
		const struct feed *f = feed_of(r, facts[i].shard);

		if (!is_sync[i] || f == NULL)
			continue;
		own = grow(own, &capacity, (counts[last] + 1) * words, sizeof *own);
		own[counts[last] * words] = i;
		memcpy(&own[counts[last]++ * words + 1], f->exchange.candidates[facts[i].index].seqs,
		    locations * sizeof *own);
	}
	got = team_exchange(r->team, own, counts, words * sizeof *own, &got_count);
	for (size_t g = 0; g < got_count; g++)
		seqs[got[g * words]] = &got[g * words + 1];
	for (size_t i = 0; i < count; i++) {
		r->syncs += is_sync[i];
		for (uint32_t s = r->first; s < r->end && is_sync[i]; s++)
			feed_take_sync(feed_of(r, s), facts[i].round, s + 1 == r->shards ? seqs[i] : NULL);
	}
	free(seqs);
	free(counts);
	free(own);
	free(got);
}

/* As lp-graph decides in one stream, at the end of the round instead of at once. */
void
decide(struct rounds *r)
{
	size_t count;
	struct fact *facts = share_facts(r, &count);
	int64_t *crossed = share_crossed(r, count);
	bool *is_sync = zalloc(count, sizeof *is_sync);
	struct feed *teller = feed_of(r, r->shards - 1);

	for (size_t i = 0; i < count; i++) {
		const bool pending = facts[i].pending || crossed[i] != 0 || crossed[count] != 0;

		is_sync[i] = !facts[i].overlaps && !pending;
		if (teller != NULL && facts[i].overlaps)
			teller->graph.counts.refused_overlap++;
		else if (teller != NULL && pending)
			teller->graph.counts.refused_pending++;
	}
	write_syncs(r, facts, is_sync, count);
	for (uint32_t s = r->first; s < r->end; s++) {
		struct exchange *x = &feed_of(r, s)->exchange;

		collective_decided(&feed_of(r, s)->graph, count);
		for (size_t i = 0; i < x->candidate_count; i++)
			free(x->candidates[i].seqs);
		x->candidate_count = 0;
	}
	free(facts);
	free(crossed);
	free(is_sync);
}
