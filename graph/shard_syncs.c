/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * At the end of a round all shards together know what is pending, and so which collectives of all
 * ranks are synchronisation points (collective.c), and which rows are overdue (overdue.c).
 */
#include <stdlib.h>
#include <string.h>

#include "shards.h"

/* The least of each value on all members; the team takes maximums only. */
static void
share_least(const struct rounds *r, uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		r->shared[i] = -(int64_t)values[i];
	team_max(r->team, r->shared, count);
	for (size_t i = 0; i < count; i++)
		values[i] = (uint64_t)-r->shared[i];
}

void
find_settled(struct rounds *r, int64_t *next_ns)
{
	const uint32_t locations = r->known.location_count;

	for (uint32_t l = 0; l < locations; l++)	/* of no rank: without rows */
		r->seqs[l] = r->known.location_rank[l] < 0 ? 0 : INT64_MAX;
	for (const struct shard *s = r->own; s < r->own_end; s++) {
		const struct operation *of = s->graph.operations;

		for (uint32_t l = 0; l < locations; l++)
			if (!is_away(&s->graph, rank_of(&s->graph, l)))
				lower(&r->seqs[l], settled_seq(&s->graph, l));
		for (uint32_t o = s->exchange.listed.oldest; o != NONE; o = of[o].newer)
			lower(&r->seqs[of[o].location], of[o].seq);
	}
	r->seqs[locations] = (uint64_t)*next_ns;
	share_least(r, r->seqs, (size_t)locations + 1);
	*next_ns = (int64_t)r->seqs[locations];
}

enum fact_kind { CANDIDATE, CROSSED, DRIFTED };

struct fact {			/* for all */
	uint64_t number, round;	/* of a candidate, as ranks count; of a crossed candidate, from 0 */
	uint32_t shard, index;	/* where a candidate is kept */
	uint16_t kind;
	bool pending, overlaps;
};

struct facts {
	struct fact *at;	/* of own shards; then all candidates in order */
	size_t count, capacity;
};

/* Candidates come first. */
ORDER(by_candidate, struct fact, BY(kind) BY(number) BY(shard) BY(index))

/* Adds the shard's candidates, and those of any shard that its edges cross. */
static void
add_shard(struct facts *facts, const struct rounds *r, const struct shard *shard)
{
	const struct exchange *x = &shard->exchange;
	const struct crossings *crossings = &shard->graph.crossings;

	for (size_t i = 0; i < x->candidate_count; i++) {
		const struct candidate *c = &x->candidates[i];
		bool pending = c->pending;

		for (uint32_t l = 0; l < r->known.location_count && !pending; l++)
			pending = r->seqs[l] <= c->seqs[l];
		*APPEND(facts->at, facts->count, facts->capacity) = (struct fact){ c->number,
		    c->round, x->shard, (uint32_t)i, CANDIDATE, pending, c->overlaps };
	}
	for (size_t n = 0; n < crossings->count; n++)
		if (crossings->crossed[n])
			*APPEND(facts->at, facts->count, facts->capacity) =
			    (struct fact){ .number = n, .kind = CROSSED };
	if (crossings->drifted)
		*APPEND(facts->at, facts->count, facts->capacity) =
		    (struct fact){ .kind = DRIFTED };
}

/* All candidates. All are crossed if ranks count differently. */
static struct facts
share_facts(const struct rounds *r)
{
	struct facts own = { 0 }, all = { 0 };
	bool drifted = false;
	size_t count;

	for (const struct shard *s = r->own; s < r->own_end; s++)
		add_shard(&own, r, s);
	all.at = team_share(r->team, own.at, own.count, sizeof *own.at, &count);
	free(own.at);
	SORT(all.at, count, by_candidate);
	while (all.count < count && all.at[all.count].kind == CANDIDATE)
		all.count++;
	for (size_t i = all.count; i < count; i++)
		if (all.at[i].kind == DRIFTED)
			drifted = true;
		else if (all.at[i].number < all.count)
			all.at[all.at[i].number].pending = true;
	for (size_t n = 0; n < all.count; n++)
		all.at[n].pending |= drifted;
	return all;
}

static bool
is_sync(const struct fact *candidate)
{
	return !candidate->pending && !candidate->overlaps;
}

/* All shards count the synchronisation points, in order; the last shard writes them. */
static void
write_syncs(struct rounds *r, const struct fact *facts, size_t count)
{
	const uint32_t locations = r->known.location_count;
	const int last = r->member_of[r->count - 1];
	size_t *counts = zalloc((size_t)r->team->size, sizeof *counts), got_count, capacity = 0;
	const size_t words = (size_t)locations + 1;
	uint64_t *own = NULL, *got;
	const uint64_t **seqs = zalloc(count, sizeof *seqs);

	for (size_t i = 0; i < count; i++) {
		const struct shard *s = own_shard(r, facts[i].shard);

		if (!is_sync(&facts[i]) || s == NULL)
			continue;
		GROW(own, capacity, (counts[last] + 1) * words);
		own[counts[last] * words] = i;
		memcpy(&own[counts[last]++ * words + 1],
		    s->exchange.candidates[facts[i].index].seqs, locations * sizeof *own);
	}
	got = team_exchange(r->team, own, counts, words * sizeof *own, &got_count);
	for (size_t g = 0; g < got_count; g++)
		seqs[got[g * words]] = &got[g * words + 1];
	for (size_t i = 0; i < count; i++) {
		if (!is_sync(&facts[i]))
			continue;
		r->syncs++;
		for (struct shard *s = r->own; s < r->own_end; s++) {
			const struct spot *first = &s->rounds[facts[i].round - 1];

			if (&s->graph == r->last)
				write_sync(&s->graph, seqs[i], first);
			else
				index_add(&s->graph.index,
				    (struct index_entry){ .from = first->offset });
		}
	}
	free(seqs);
	free(counts);
	free(own);
	free(got);
}

void
decide_syncs(struct rounds *r)
{
	struct facts facts = share_facts(r);
	bool any = false;

	for (size_t i = 0; i < facts.count; i++) {
		any |= is_sync(&facts.at[i]);
		if (r->last != NULL && facts.at[i].overlaps)
			r->last->counts.refused_overlap++;
		else if (r->last != NULL && facts.at[i].pending)
			r->last->counts.refused_pending++;
	}
	if (any)
		write_syncs(r, facts.at, facts.count);
	for (struct shard *s = r->own; s < r->own_end; s++) {
		for (size_t i = 0; i < facts.count; i++)
			crossing_take(&s->graph.crossings);
		for (size_t i = 0; i < s->exchange.candidate_count; i++)
			free(s->exchange.candidates[i].seqs);
		s->exchange.candidate_count = 0;
	}
	free(facts.at);
}

/* All members set marks in the same round. A row may wait for its other end in any shard. */
const uint64_t *
find_early(struct rounds *r)
{
	const uint32_t locations = r->known.location_count;
	int64_t any = 0;

	r->looked += (int64_t)(r->rows * r->count);
	if (!overdue_look(r->overdue, r->team, r->locations, r->looked, false, r->come_ns) &&
	    !r->has_overdue)
		return NULL;
	for (uint32_t l = 0; l < locations; l++)
		r->early[l] = INT64_MAX;
	for (struct shard *s = r->own; s < r->own_end; s++) {
		for (uint32_t l = 0; l < locations; l++)
			if (!is_away(&s->graph, rank_of(&s->graph, l)))
				lower(&r->early[l], hold_settled(&s->graph, l));
		any |= overdue_pass(&s->graph, r->early);
	}
	team_max(r->team, &any, 1);
	r->has_overdue = any > 0;
	if (!r->has_overdue)
		return NULL;
	share_least(r, r->early, locations);
	return r->early;
}
