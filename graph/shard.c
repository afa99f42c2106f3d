/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One shard in lp-graph: reads blocks up to a time, matches as far as the shard's own ranks allow,
 * and writes. A second reader looks ahead to see when blocks begin.
 */
#include <stdlib.h>
#include <string.h>

#include "shards.h"

static struct reader *
open_shard(const char *folder, uint32_t number, enum reading how)
{
	char name[SHARD_NAME], *path;
	struct reader *in;
	struct message message;

	shard_name(name, number);
	path = formatted("%s/%s", folder, name);	/* lives as long as the reader names it */
	if (reader_open(&in, path, how) < 0 || reader_next(in, &message) < 0)
		die_input(in);
	if (reader_shard(in) == NULL)
		die_message(in, &message, "not a shard of a run");
	return in;
}

void
shard_open(struct rounds *r, uint32_t number)
{
	struct shard *s = own_shard(r, number);
	const struct shard_head *head;
	struct shard_head written;
	struct message message;

	*s = (struct shard){ .graph = { .in = open_shard(r->from, number, READ_STREAM),
	    .known = r->known, .locations = r->locations, .overdue = r->overdue,
	    .exchange = &s->exchange },
	    .polls = *r->polls, .next_ns = INT64_MIN };
	s->ahead = open_shard(r->from, number, READ_LAZY);
	head = reader_shard(s->graph.in);
	written = *head;
	written.number = number;
	written.defined++;
	s->exchange = (struct exchange){ .of = head->of, .shard = number, .shards = head->count,
	    .member_of = r->member_of, .parcels = &r->parcels, .listed = { NONE, NONE } };
	need_output(writer_open(&s->graph.out, shard_create(r->to, number), "graph", s->graph.in,
	    r->argc, r->argv));
	shard_write(&s->graph.out, &written);
	for (uint64_t d = 0; d < head->defined; d++) {
		if (reader_next(s->graph.in, &message) <= 0)
			die_input(s->graph.in);
		need_output(writer_pass(&s->graph.out, &message, 0));
	}
	graph_begin(&s->graph, head->count);
	order_begin(&s->graph);
	s->graph.index.defined = writer_offset(&s->graph.out);
	polls_begin(&s->polls, &s->graph, 0);
}

void
shard_begin_round(struct shard *s)
{
	struct graph *graph = &s->graph;
	const struct spot begin = { .offset = writer_offset(&graph->out),
	    .syncs = graph->index.syncs };

	index_settle(&graph->index, begin.offset);
	*APPEND(s->rounds, s->round_count, s->round_capacity) = begin;
	graph->block.round = s->round_count;
	message_begin(&graph->out, "round", 1);
	put_uint(&graph->out, "number", s->round_count);
	end_message(&graph->out);
}

/* Looks one block further. A block never counts as beginning before earlier ones. */
static void
look_further(struct shard *s)
{
	struct message message;
	int64_t begin_ns = INT64_MAX;
	int got;

	s->ahead_rows += s->next_rows;
	do {
		s->next_rows = 0;
		got = reader_next(s->ahead, &message);
	} while (got > 0 && !(is_kind(&message, "calls") &&
	    calls_count(s->ahead, &message, &s->next_rows) == 0 && s->next_rows > 0));
	if (got < 0 || (got > 0 && calls_begin(s->ahead, &message, &begin_ns) < 0))
		die_input(s->ahead);
	if (s->next_ns < begin_ns)
		s->next_ns = begin_ns;
	*APPEND(s->begins, s->begin_count, s->begin_capacity) = s->next_ns;
}

int64_t
shard_look(struct shard *s, uint64_t rows)
{
	while (s->begin_count == 0 ||
	    (s->next_ns != INT64_MAX && s->ahead_rows < s->taken_rows + rows))
		look_further(s);
	return s->next_ns;
}

/* Takes the next message; true if it was a block with rows, or there is none. */
static bool
take_message(struct shard *s)
{
	struct message message;
	const int got = reader_next(s->graph.in, &message);

	if (got < 0)
		die_input(s->graph.in);
	s->ended = got == 0;
	if (s->ended || !is_kind(&message, "calls")) {
		if (!s->ended)
			polls_take(&s->polls, &s->graph, &message, NULL, false);
		return s->ended;
	}
	if (calls_read(&s->calls, s->graph.in, &message) < 0)
		die_input(s->graph.in);
	if (s->calls.location >= s->graph.known.location_count ||
	    is_away(&s->graph, rank_of(&s->graph, s->calls.location)))
		die_message(s->graph.in, &message, "calls: of a location of another shard");
	s->taken_rows += s->calls.count;
	polls_take(&s->polls, &s->graph, &message, &s->calls, false);
	return s->calls.count > 0;
}

void
shard_take(struct shard *s, int64_t until_ns)
{
	size_t taken = 0;

	while (!s->ended) {
		if (taken == s->begin_count)
			look_further(s);
		if (s->begins[taken] != INT64_MAX && s->begins[taken] > until_ns)
			break;
		while (!take_message(s))
			;
		taken += !s->ended;
	}
	s->begin_count -= taken;
	memmove(s->begins, s->begins + taken, s->begin_count * sizeof *s->begins);
	if (s->ended)
		polls_release(&s->polls, &s->graph, true);
	order_take(&s->graph, s->ended ? INT64_MAX : s->polls.held.oldest == NULL ? until_ns :
	    s->graph.block_ns);
}

void
shard_close(struct shard *s)
{
	index_settle(&s->graph.index, writer_offset(&s->graph.out));
	need_output(index_write(&s->graph.index, &s->graph.out));
	need_output(writer_end(&s->graph.out));
	index_free(&s->graph.index);
	free(s->rounds);
	free(s->begins);
	reader_close(s->graph.in);
	reader_close(s->ahead);
	calls_free(&s->calls);
}
