/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run in shards, matched by a team. Each member has some shards. All work in rounds. In a round
 * every shard is read up to an agreed time, and all parcels for other shards are exchanged. Then
 * all know what is pending and which collectives are synchronisation points, and write the edges of
 * the round after its blocks. The files are the same for any number of members. Memory: a round,
 * and operations in flight.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "shards.h"

enum {
	ROUND_ROWS = 1 << 16,
	SHARD_ROWS = 1 << 14,	/* of each of many shards: work must outweigh the exchange */
	MANY_LOCATIONS = 1 << 10,
	LOCATION_ROWS = 16,	/* of each of many locations: settled is written for all */
	COUNTS = sizeof(struct counts) / sizeof(uint64_t),
};

/* ---- parcels ---- */

static void
parcel_arrived(struct graph *graph, const struct parcel *parcel)
{
	static void (*const arrived[])(struct graph *, const struct parcel *) = {
		[PARCEL_SEND] = channel_send, [PARCEL_EPOCH] = epoch_arrived,
		[PARCEL_LOCK] = lock_arrived, [PARCEL_HOLD] = hold_arrived,
		[PARCEL_MEMBER] = collective_arrived, [PARCEL_END] = background_ended,
		[PARCEL_BACK] = background_returned };

	arrived[parcel->kind](graph, parcel);
}

void
parcel_post(struct graph *graph, const struct graph_row *row, uint32_t to, struct parcel *parcel)
{
	struct exchange *x = graph->exchange;

	parcel->seq = row->seq;
	parcel->location = row->location;
	parcel->candidates = row->candidates;
	parcel->call = row->call;
	parcel->to = to;
	if (x == NULL || to == x->shard)
		parcel_arrived(graph, parcel);
	else
		post_add(x->parcels, parcel, sizeof *parcel, x->member_of[to]);
}

void
parcel_to_target(struct graph *graph, const struct graph_row *row, struct parcel *parcel)
{
	parcel_post(graph, row, graph->exchange != NULL ? graph->exchange->of[parcel->target] : 0,
	    parcel);
}

/* ---- a round ---- */

/* How far own shards want to go next: the slowest takes all that it has looked at. */
static int64_t
look(const struct rounds *r)
{
	int64_t until_ns = INT64_MAX;

	for (struct shard *s = r->own; s < r->own_end; s++) {
		const int64_t next_ns = shard_look(s, r->rows);

		if (next_ns < until_ns)
			until_ns = next_ns;
	}
	return until_ns;
}

/* What all members' rows before the end of the round say of locks and held sends. */
static void
decide_waits(struct rounds *r)
{
	int64_t all[] = { 0, INT64_MIN };	/* the last candidate; time, negative */

	for (const struct shard *s = r->own; s < r->own_end; s++) {
		const struct exchange *x = &s->exchange;
		/* What polls hold back has not been taken yet. */
		const int64_t until_ns = s->polls.held.oldest == NULL ? r->until_ns :
		    s->graph.block_ns;

		if (-until_ns > all[1])
			all[1] = -until_ns;
		for (size_t i = 0; i < x->candidate_count; i++)
			if ((int64_t)x->candidates[i].number > all[0])
				all[0] = (int64_t)x->candidates[i].number;
	}
	team_max(r->team, all, 2);
	r->come_ns = -all[1];
	for (struct shard *s = r->own; s < r->own_end; s++) {
		locks_decide(&s->graph, (uint32_t)all[0], r->come_ns);
		holds_decide(&s->graph, (uint32_t)all[0], r->come_ns);
		backgrounds_decide(&s->graph, (uint32_t)all[0], r->come_ns);
	}
}

/* Members exchange little data but wait for each other, so a round has few steps. */
static void
do_round(struct rounds *r)
{
	const uint64_t *early;
	struct parcel *parcels;
	size_t count;
	int64_t next_ns;

	for (struct shard *s = r->own; s < r->own_end; s++)
		shard_begin_round(s);
	for (struct shard *s = r->own; s < r->own_end; s++)
		shard_take(s, r->until_ns);
	parcels = post_exchange(r->team, &r->parcels, sizeof *parcels, &count);
	for (size_t i = 0; i < count; i++)
		parcel_arrived(&own_shard(r, parcels[i].to)->graph, &parcels[i]);
	free(parcels);
	decide_waits(r);
	for (struct shard *s = r->own; s < r->own_end; s++)
		edges_flush(&s->graph);
	next_ns = look(r);
	find_settled(r, &next_ns);
	decide_syncs(r);
	early = find_early(r);
	if (r->last != NULL)
		write_settled(r->last, r->seqs, early);
	for (struct shard *s = r->own; s < r->own_end; s++)
		edges_flush(&s->graph);
	r->until_ns = next_ns;
}

/* ---- the end ---- */

/* Prints the first reports of unmatched rows of all shards, in order of the shards. */
static void
tell_all(struct rounds *r)
{
	char (*own)[256] = NULL, (*all)[256];
	size_t count = 0, capacity = 0;

	for (const struct shard *s = r->own; s < r->own_end; s++) {
		const size_t more = s->exchange.line_count;

		GROW(own, capacity, count + more);
		if (more > 0)
			memcpy(own[count], s->exchange.lines, more * sizeof *own);
		count += more;
	}
	all = team_gather(r->team, own, count, sizeof *own, &count);
	for (size_t i = 0; r->team->rank == 0 && i < count && i < LINES_TOLD; i++)
		note("%s%s", all[i], i + 1 == LINES_TOLD ? " (further ones are only counted)" : "");
	free(own);
	free(all);
}

static void
end_all(struct rounds *r)
{
	struct counts sum = { 0 };
	uint64_t *to = (uint64_t *)&sum;

	for (struct shard *s = r->own; s < r->own_end; s++)
		graph_end(&s->graph);
	tell_all(r);
	for (size_t i = 0; i < COUNTS; i++) {
		for (const struct shard *s = r->own; s < r->own_end; s++)
			to[i] += ((const uint64_t *)&s->graph.counts)[i];
		to[i] = team_sum(r->team, to[i]);
	}
	sum.syncs = r->syncs;
	if (r->last != NULL) {
		r->last->counts = sum;
		write_matching(r->last);
	}
	for (struct shard *s = r->own; s < r->own_end; s++)
		shard_close(s);
	team_sum(r->team, 0);
	if (r->team->rank > 0)
		return;
	polls_tell(r->polls, &sum);
	note_matching(&sum);
}

/* ---- the beginning ---- */

/* All read the definitions of the run. */
static void
open_folder(struct rounds *r)
{
	struct message message;
	struct reader *in;

	team_part(r->team);
	if (reader_open(&in, r->from, READ_STREAM) < 0 || reader_refuse_content(in, "graph",
	    "its messages and collectives are matched already") < 0 ||
	    reader_need_content(in, "trace") < 0)
		die_input(in);
	if (reader_folder(in) == NULL)
		die("%s: no folder of shards, which -o needs; lp-merge -o makes one", r->from);
	for (uint64_t d = reader_folder(in)->defined; d > 0; d--) {
		if (reader_next(in, &message) <= 0)
			die_input(in);
		definitions_take(&r->known, in, &message);
	}
	if (r->known.ranks == 0)
		die("%s: no message of kind run among the definitions", r->from);
	r->count = reader_folder(in)->count;
	reader_close(in);
	team_meet(r->team);
}

static void
begin(struct rounds *r)
{
	const uint32_t locations = r->known.location_count;

	r->locations = locations_new(locations);
	r->shared = zalloc((size_t)locations + 1, sizeof *r->shared);
	r->seqs = zalloc((size_t)locations + 1, sizeof *r->seqs);
	r->early = zalloc(locations, sizeof *r->early);
	r->overdue = overdue_new(locations);
	r->member_of = zalloc(r->count, sizeof *r->member_of);
	for (int m = 0; m < r->team->size; m++) {
		uint32_t first, end;

		shards_of_member(r->team, m, r->count, &first, &end);
		for (uint32_t s = first; s < end; s++)
			r->member_of[s] = m;
	}
	shards_of_member(r->team, r->team->rank, r->count, &r->first, &r->end);
	r->own = zalloc(r->end - r->first, sizeof *r->own);
	r->own_end = r->own + (r->end - r->first);
	for (uint32_t s = r->first; s < r->end; s++)
		shard_open(r, s);
	if (r->own < r->own_end && r->end == r->count)
		r->last = &r->own_end[-1].graph;
}

void
match_shards(const char *from, const char *to, const struct polls *polls, uint64_t round_rows,
    struct team *team, int argc, char **argv)
{
	struct rounds r = { .from = from, .to = to, .polls = polls, .team = team, .argc = argc,
	    .argv = argv };
	struct stat in, out;
	bool last;

	open_folder(&r);
	if (stat(from, &in) == 0 && stat(to, &out) == 0 && in.st_dev == out.st_dev &&
	    in.st_ino == out.st_ino)
		die("%s: the shards are read from there", to);
	if (round_rows == 0)
		round_rows = r.count > ROUND_ROWS / SHARD_ROWS ?
		    (uint64_t)SHARD_ROWS * r.count : ROUND_ROWS;
	if (r.known.location_count > MANY_LOCATIONS &&
	    round_rows < LOCATION_ROWS * r.known.location_count)
		round_rows = LOCATION_ROWS * (uint64_t)r.known.location_count;
	r.rows = round_rows / r.count + 1;
	shards_prepare(to, team);
	begin(&r);
	r.until_ns = -look(&r);		/* negative because the team takes the maximum */
	team_max(team, &r.until_ns, 1);
	r.until_ns = -r.until_ns;
	do {
		last = r.until_ns == INT64_MAX;
		do_round(&r);
	} while (!last);
	end_all(&r);
}
