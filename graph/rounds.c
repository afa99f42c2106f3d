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

#include "rounds.h"

enum {
	FEW_LOCATIONS = 1 << 10,	/* with more there are */
	ROUND_ROWS = 1 << 18,
	SHARD_ROWS = 1 << 14,	/* with more shards there are: members should have more to do than to tell */
	LOCATION_ROWS = 16,	/* in a round at least, for each location: what is settled is written for all */
	COUNTS = sizeof(struct counts) / sizeof(uint64_t),
	LINES = 10,		/* told on standard error */
};

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

/* ---- a round ---- */

static void
end_round(struct rounds *r)
{
	for (uint32_t s = r->first; s < r->end; s++) {
		struct graph *graph = &feed_of(r, s)->graph;

		if (s + 1 == r->shards)
			write_settled_at(graph, r->seqs);
		edges_flush(graph);
	}
}

/* Up to when own shards want to go next: that of them which gets least far takes all that it has looked at. */
static int64_t
look(const struct rounds *r)
{
	int64_t until_ns = INT64_MAX;

	for (uint32_t s = r->first; s < r->end; s++) {
		const int64_t next_ns = feed_look(feed_of(r, s), r->rows);

		if (next_ns < until_ns)
			until_ns = next_ns;
	}
	return until_ns;
}

/* What members tell each other each time is little, and waiting for them is not: so it is told together. */
static void
do_round(struct rounds *r)
{
	int64_t next_ns;

	for (uint32_t s = r->first; s < r->end; s++)
		feed_begin_round(feed_of(r, s));
	for (uint32_t s = r->first; s < r->end; s++)
		feed_read(feed_of(r, s), r->until_ns);
	deliver(r);
	for (uint32_t s = r->first; s < r->end; s++)
		edges_flush(&feed_of(r, s)->graph);
	next_ns = look(r);
	find_settled(r, &next_ns);
	decide(r);
	end_round(r);
	r->until_ns = next_ns;
}

static void
do_rounds(struct rounds *r)
{
	bool last;

	r->until_ns = -look(r);		/* negative, for the sake of MAX */
	team_max(r->team, &r->until_ns, 1);
	r->until_ns = -r->until_ns;
	do {
		last = r->until_ns == INT64_MAX;
		do_round(r);
	} while (!last);
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
add_counts(struct rounds *r, struct counts *sum, struct polls *polls)
{
	uint64_t *to = (uint64_t *)sum;

	for (uint32_t s = r->first; s < r->end; s++) {
		const struct feed *f = feed_of(r, s);

		for (size_t i = 0; i < COUNTS; i++)
			to[i] += ((const uint64_t *)&f->graph.counts)[i];
		polls->waits += f->polls.waits;
		polls->absorbed += f->polls.absorbed;
	}
	for (size_t i = 0; i < COUNTS; i++)
		to[i] = team_sum(r->team, to[i]);
	polls->waits = team_sum(r->team, polls->waits);
	polls->absorbed = team_sum(r->team, polls->absorbed);
}

static void
end_all(struct rounds *r, const struct polls *how)
{
	struct polls polls = *how;
	struct counts sum = { 0 };

	for (uint32_t s = r->first; s < r->end; s++) {
		struct graph *graph = &feed_of(r, s)->graph;

		match_end(graph);
		epoch_end(graph);
		collective_end(graph);
		edges_flush(graph);
	}
	tell_all(r);
	add_counts(r, &sum, &polls);
	for (uint32_t s = r->first; s < r->end; s++) {
		struct graph *graph = &feed_of(r, s)->graph;

		if (s + 1 == r->shards) {
			graph->counts = sum;
			write_matching(graph);
		}
		feed_close(feed_of(r, s));
	}
	team_sum(r->team, 0);
	if (r->team->rank > 0)
		return;
	polls_tell(&polls);
	note_matching(&sum, r->syncs);
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
	r->settled = zalloc((size_t)locations + 1, sizeof *r->settled);
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
	if (round_rows == 0)
		round_rows = r.shards > ROUND_ROWS / SHARD_ROWS ? (uint64_t)SHARD_ROWS * r.shards : ROUND_ROWS;
	if (r.known.location_count > FEW_LOCATIONS && round_rows < LOCATION_ROWS * r.known.location_count)
		round_rows = LOCATION_ROWS * (uint64_t)r.known.location_count;
	r.rows = round_rows / r.shards + 1;
	shards_prepare(to, team);
	begin(&r, from, to, polls, argc, argv);
	do_rounds(&r);
	end_all(&r, polls);
}
