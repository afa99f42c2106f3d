/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run in shards, matched by a team of which each member has some of them. It goes in rounds: every shard
 * is read up to a time that all agree on, what its rows say about ranks of other shards goes there, all
 * at once; then it is known what is pending and which collectives are synchronisation points, and the
 * edges of the round are written behind its blocks. What is found, and each file, is the same for any
 * number of members. Memory: a round, and what is in flight.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "feed.h"

enum {
	FEW_LOCATIONS = 1 << 10,	/* with more there are */
	LOCATION_ROWS = 16,	/* in a round at least, for each location: what is settled is written for all */
	COUNTS = sizeof(struct counts) / sizeof(uint64_t),
	LINES = 10,		/* told on standard error */
};

struct rounds {
	struct team *team;
	struct definitions known;
	struct location *locations;
	uint32_t shards, first, end;	/* of the run; the own ones */
	int *member_of;			/* by shard */
	struct feed *feeds;		/* of own shards */
	int64_t *settled;		/* by location: see find_settled; MAX is taken of all members */
	uint64_t *seqs;			/* the same as rows */
	uint64_t rows;			/* that each shard looks ahead in a round */
};

static struct feed *
feed_of(const struct rounds *r, uint32_t shard)
{
	return shard >= r->first && shard < r->end ? &r->feeds[shard - r->first] : NULL;
}

/* ---- what goes to other shards ---- */

void
exchange_post(struct graph *graph, uint32_t to, struct parcel parcel)
{
	struct exchange *x = graph->exchange;

	parcel.to = to;
	x->parcels = grow(x->parcels, &x->capacity, x->count + 1, sizeof *x->parcels);
	x->parcels[x->count++] = parcel;
}

/* Of all own shards, by the member that has the shard, in the order in which they were posted. */
static struct parcel *
sort_parcels(struct rounds *r, size_t *counts)
{
	size_t *next = zalloc((size_t)r->team->size + 1, sizeof *next), all = 0;
	struct parcel *sorted;

	for (uint32_t s = r->first; s < r->end; s++) {
		const struct exchange *x = &feed_of(r, s)->exchange;

		all += x->count;
		for (size_t i = 0; i < x->count; i++)
			counts[r->member_of[x->parcels[i].to]]++;
	}
	for (int m = 0; m < r->team->size; m++)
		next[m + 1] = next[m] + counts[m];
	sorted = zalloc(all, sizeof *sorted);
	for (uint32_t s = r->first; s < r->end; s++) {
		struct exchange *x = &feed_of(r, s)->exchange;

		for (size_t i = 0; i < x->count; i++)
			sorted[next[r->member_of[x->parcels[i].to]]++] = x->parcels[i];
		x->count = 0;
	}
	free(next);
	return sorted;
}

static void
deliver(struct rounds *r)
{
	size_t *counts = zalloc((size_t)r->team->size, sizeof *counts), count;
	struct parcel *sent = sort_parcels(r, counts);
	struct parcel *got = team_exchange(r->team, sent, counts, sizeof *sent, &count);

	for (size_t i = 0; i < count; i++) {
		struct graph *graph = &feed_of(r, got[i].to)->graph;

		switch (got[i].kind) {
		case PARCEL_SEND: match_arrived(graph, &got[i]); break;
		case PARCEL_EPOCH: epoch_arrived(graph, &got[i]); break;
		default: collective_arrived(graph, &got[i]);
		}
	}
	free(counts);
	free(sent);
	free(got);
}

/* ---- what is settled, and synchronisation points ---- */

/* By location the first row to which an edge may still come, from all members; negative, for the sake of MAX. */
static void
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
	uint64_t number;
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
			own[own_count++] = (struct fact){ c->number, s, (uint32_t)i, pending, c->overlaps };
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

/* The rows of the points among the candidates go to the last shard, which tells of them, in order. */
static void
write_syncs(struct rounds *r, const struct fact *facts, const bool *is_sync, size_t count)
{
	const uint32_t locations = r->known.location_count;
	const int last = r->member_of[r->shards - 1];
	size_t *counts = zalloc((size_t)r->team->size, sizeof *counts), got_count, capacity = 0;
	const size_t words = (size_t)locations + 1;
	uint64_t *own = NULL, *got;

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
	for (size_t i = 0; i < count && got_count > 0; i++)
		for (size_t g = 0; is_sync[i] && g < got_count; g++)
			if (got[g * words] == i) {
				struct graph *graph = &feed_of(r, r->shards - 1)->graph;

				write_sync(graph, &got[g * words + 1], graph->block);
				break;
			}
	free(counts);
	free(own);
	free(got);
}

/* As lp-graph decides in one stream, at the end of the round instead of at once. */
static void
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

/* ---- a round ---- */

static void
end_round(struct rounds *r)
{
	for (uint32_t s = r->first; s < r->end; s++) {
		struct graph *graph = &feed_of(r, s)->graph;

		if (s + 1 == r->shards)
			write_settled_at(graph, r->seqs);
		edges_flush(graph);
		message_begin(&graph->out, "round", 0);
		if (message_end(&graph->out) < 0)
			die_output();
	}
}

/* False: it was the last one. */
static bool
do_round(struct rounds *r)
{
	int64_t until_ns = INT64_MIN;		/* negative, for the sake of MAX */

	for (uint32_t s = r->first; s < r->end; s++) {
		const int64_t next_ns = feed_look(feed_of(r, s), r->rows);

		if (-next_ns > until_ns)
			until_ns = -next_ns;
	}
	if (r->first == r->end)
		until_ns = -INT64_MAX;
	team_max(r->team, &until_ns, 1);
	for (uint32_t s = r->first; s < r->end; s++)
		feed_read(feed_of(r, s), -until_ns);	/* of the shard that gets least far all that it has looked at */
	deliver(r);
	for (uint32_t s = r->first; s < r->end; s++)
		edges_flush(&feed_of(r, s)->graph);
	find_settled(r);
	decide(r);
	end_round(r);
	return until_ns != -INT64_MAX;
}

/* ---- the end ---- */

/* The first lines of what all shards could not match, in order of the shards. */
static void
tell_all(struct rounds *r)
{
	char (*own)[256] = NULL, (*all)[256];
	size_t count = 0, capacity = 0;

	for (uint32_t s = r->first; s < r->end; s++) {
		const struct exchange *x = &feed_of(r, s)->exchange;

		for (size_t i = 0; i < x->line_count; i++) {
			own = grow(own, &capacity, count + 1, sizeof *own);
			memcpy(own[count++], x->lines[i], sizeof *own);
		}
	}
	all = team_gather(r->team, own, count, sizeof *own, &count);
	for (size_t i = 0; r->team->rank == 0 && i < count && i < LINES; i++)
		note("%s%s", all[i], i + 1 == LINES ? " (further ones are only counted)" : "");
	free(own);
	free(all);
}

static void
add_counts(struct rounds *r, struct counts *sum, struct polls *polls, uint64_t *syncs)
{
	uint64_t *to = (uint64_t *)sum;

	for (uint32_t s = r->first; s < r->end; s++) {
		const struct feed *f = feed_of(r, s);

		for (size_t i = 0; i < COUNTS; i++)
			to[i] += ((const uint64_t *)&f->graph.counts)[i];
		polls->waits += f->polls.waits;
		polls->absorbed += f->polls.absorbed;
		*syncs += f->graph.index.syncs;
	}
	for (size_t i = 0; i < COUNTS; i++)
		to[i] = team_sum(r->team, to[i]);
	polls->waits = team_sum(r->team, polls->waits);
	polls->absorbed = team_sum(r->team, polls->absorbed);
	*syncs = team_sum(r->team, *syncs);
}

static void
end_all(struct rounds *r, const struct polls *how)
{
	struct polls polls = *how;
	struct counts sum = { 0 };
	uint64_t syncs = 0;

	for (uint32_t s = r->first; s < r->end; s++) {
		struct graph *graph = &feed_of(r, s)->graph;

		match_end(graph);
		epoch_end(graph);
		collective_end(graph);
		edges_flush(graph);
	}
	tell_all(r);
	add_counts(r, &sum, &polls, &syncs);
	for (uint32_t s = r->first; s < r->end; s++) {
		struct graph *graph = &feed_of(r, s)->graph;

		if (s + 1 == r->shards) {
			graph->counts = sum;
			graph->index.syncs = syncs;
			write_matching(graph);
		}
		feed_close(feed_of(r, s));
	}
	team_sum(r->team, 0);
	if (r->team->rank > 0)
		return;
	polls_tell(&polls);
	note_matching(&sum, syncs);
}

/* ---- the beginning ---- */

/* The first member looks whether the folder is whole; then all learn from it what the run is. */
static void
open_folder(struct rounds *r, const char *from)
{
	struct message message;
	struct reader *in;

	for (int turn = 0; turn < 2; turn++) {
		if ((r->team->rank > 0) == turn) {
			if (reader_open(&in, from, READ_STREAM) < 0 ||
			    reader_refuse_content(in, "graph", "its messages and collectives are matched already") < 0 ||
			    reader_need_content(in, "trace") < 0)
				die_input(in);
			if (reader_folder(in) == NULL)
				die("%s: no folder of shards, which -o needs; lp-merge -o makes one", from);
			for (uint64_t d = reader_folder(in)->defined; d > 0; d--)
				if (reader_next(in, &message) <= 0 || definitions_take(&r->known, in, &message) < 0)
					die_input(in);
			r->shards = reader_folder(in)->count;
			reader_close(in);
		}
		team_sum(r->team, 0);
	}
	if (r->known.ranks == 0)
		die("%s: no message of kind run among the definitions", from);
}

static void
begin(struct rounds *r, const char *from, const char *to, const struct polls *polls, int argc, char **argv)
{
	const uint32_t locations = r->known.location_count;

	r->locations = zalloc(locations, sizeof *r->locations);
	locations_begin(r->locations, locations);
	r->settled = zalloc(locations, sizeof *r->settled);
	r->seqs = zalloc(locations, sizeof *r->seqs);
	r->member_of = zalloc(r->shards, sizeof *r->member_of);
	for (int m = 0; m < r->team->size; m++) {
		uint32_t first, end;

		shards_of_member(r->team, m, r->shards, &first, &end);
		for (uint32_t s = first; s < end; s++)
			r->member_of[s] = m;
	}
	shards_of_member(r->team, r->team->rank, r->shards, &r->first, &r->end);
	r->feeds = zalloc(r->end - r->first, sizeof *r->feeds);
	for (uint32_t s = r->first; s < r->end; s++)
		feed_open(feed_of(r, s), from, to, s, &r->known, r->locations, polls, argc, argv);
}

static bool
same_folder(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void
match_shards(const char *from, const char *to, const struct polls *polls, uint64_t round_rows,
    struct team *team, int argc, char **argv)
{
	static struct rounds r;

	r.team = team;
	open_folder(&r, from);
	if (same_folder(from, to))
		die("%s: the shards are read from there", to);
	if (r.known.location_count > FEW_LOCATIONS && round_rows < LOCATION_ROWS * r.known.location_count)
		round_rows = LOCATION_ROWS * (uint64_t)r.known.location_count;
	r.rows = round_rows / r.shards + 1;
	shards_prepare(to, team);
	begin(&r, from, to, polls, argc, argv);
	while (do_round(&r))
		;
	end_all(&r, polls);
}
