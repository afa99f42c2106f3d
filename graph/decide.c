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
find_settled(struct rounds *r, int64_t *next_ns)
{
	int64_t *next = &r->settled[r->known.location_count];

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
	*next = -*next_ns;
	team_max(r->team, r->settled, (size_t)r->known.location_count + 1);
	*next_ns = -*next;
	for (uint32_t l = 0; l < r->known.location_count; l++)
		r->seqs[l] = r->settled[l] == INT64_MIN ? 0 : (uint64_t)-r->settled[l];
}

enum fact_kind { CANDIDATE, CROSSED, DRIFTED };

struct fact {			/* for all */
	uint64_t number, round;	/* of a candidate, as ranks count them; of one that an edge crosses, from 0 */
	uint32_t shard, index;	/* where a candidate is kept */
	uint16_t kind;
	bool pending, overlaps;
};

struct facts {
	struct fact *at;	/* of own shards; then all candidates in order */
	size_t count, capacity;
	bool *crossed;		/* by candidate; all are crossed where ranks no longer count alike */
};

static int
by_candidate(const void *left, const void *right)
{
	const struct fact *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;	/* candidates come first */
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->shard != b->shard ? (a->shard < b->shard ? -1 : 1) :
	    a->index < b->index ? -1 : a->index > b->index;
}

static void
add_fact(struct facts *facts, struct fact fact)
{
	facts->at = grow(facts->at, &facts->capacity, facts->count + 1, sizeof *facts->at);
	facts->at[facts->count++] = fact;
}

/* Its candidates, and those of any shard that edges found there cross. */
static void
add_shard(struct facts *facts, const struct rounds *r, uint32_t shard)
{
	const struct graph *graph = &feed_of(r, shard)->graph;
	const struct exchange *x = graph->exchange;

	for (size_t i = 0; i < x->candidate_count; i++) {
		const struct candidate *c = &x->candidates[i];
		bool pending = c->pending;

		for (uint32_t l = 0; l < r->known.location_count && !pending; l++)
			pending = r->seqs[l] <= c->seqs[l];
		add_fact(facts, (struct fact){ c->number, c->round, shard, (uint32_t)i, CANDIDATE, pending, c->overlaps });
	}
	for (size_t n = 0; n < collective_crossings(graph); n++)
		if (collective_is_crossed(graph, n))
			add_fact(facts, (struct fact){ .number = n, .kind = CROSSED });
	if (collective_has_drifted(graph))
		add_fact(facts, (struct fact){ .kind = DRIFTED });
}

static struct facts
share_facts(const struct rounds *r)
{
	struct facts own = { 0 }, all = { 0 };
	bool drifted = false;
	size_t count;

	for (uint32_t s = r->first; s < r->end; s++)
		add_shard(&own, r, s);
	all.at = team_share(r->team, own.at, own.count, sizeof *own.at, &count);
	free(own.at);
	qsort(all.at, count, sizeof *all.at, by_candidate);
	while (all.count < count && all.at[all.count].kind == CANDIDATE)
		all.count++;
	all.crossed = zalloc(all.count, sizeof *all.crossed);
	for (size_t i = all.count; i < count; i++)
		if (all.at[i].kind == DRIFTED)
			drifted = true;
		else if (all.at[i].number < all.count)
			all.crossed[all.at[i].number] = true;
	for (size_t n = 0; n < all.count && drifted; n++)
		all.crossed[n] = true;
	return all;
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
	struct facts facts = share_facts(r);
	bool *is_sync = zalloc(facts.count, sizeof *is_sync), any = false;
	struct feed *teller = feed_of(r, r->shards - 1);

	for (size_t i = 0; i < facts.count; i++) {
		const struct fact *fact = &facts.at[i];
		const bool pending = fact->pending || facts.crossed[i];

		is_sync[i] = !fact->overlaps && !pending;
		any |= is_sync[i];
		if (teller != NULL && fact->overlaps)
			teller->graph.counts.refused_overlap++;
		else if (teller != NULL && pending)
			teller->graph.counts.refused_pending++;
	}
	if (any)
		write_syncs(r, facts.at, is_sync, facts.count);
	for (uint32_t s = r->first; s < r->end; s++) {
		struct exchange *x = &feed_of(r, s)->exchange;

		collective_decided(&feed_of(r, s)->graph, facts.count);
		for (size_t i = 0; i < x->candidate_count; i++)
			free(x->candidates[i].seqs);
		x->candidate_count = 0;
	}
	free(facts.at);
	free(facts.crossed);
	free(is_sync);
}
