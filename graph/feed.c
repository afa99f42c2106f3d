/* SPDX-License-Identifier: BSD-3-Clause */
#include "feed.h"

#include <stdlib.h>
#include <string.h>

struct held_samples {
	struct message message;		/* its bytes are ours */
};

static struct reader *
open_shard(const char *folder, uint32_t number, enum reading how)
{
	char name[SHARD_NAME], *path;
	struct reader *in;
	struct message message;

	shard_name(name, number);
	if (asprintf(&path, "%s/%s", folder, name) < 0)		/* lives as long as the reader names it */
		die("out of memory");
	if (reader_open(&in, path, how) < 0 || reader_next(in, &message) < 0)
		die_input(in);
	if (reader_shard(in) == NULL) {
		reader_fail(in, message.offset, "not a shard of a run");
		die_input(in);
	}
	return in;
}

void
feed_open(struct feed *f, const char *from, const char *to, uint32_t number,
    const struct definitions *known, struct location *locations, const struct polls *polls, int argc,
    char **argv)
{
	const struct shard_head *head;
	struct shard_plan plan;
	struct message message;

	*f = (struct feed){ .begun_ns = INT64_MIN, .polls = *polls,
	    .graph = { .free_operation = NONE, .known = *known, .locations = locations },
	    .in = open_shard(from, number, READ_STREAM), .ahead = open_shard(from, number, READ_LAZY) };
	head = reader_shard(f->in);
	plan = (struct shard_plan){ head->run, head->count, head->ranks, head->of };
	f->exchange = (struct exchange){ .of = head->of, .shard = number, .shards = head->count, .oldest = NONE,
	    .newest = NONE };
	f->graph.exchange = &f->exchange;
	if (writer_open(&f->graph.out, shard_create(to, number), "graph", f->in, argc, argv) < 0)
		die_output();
	shard_write(&f->graph.out, &plan, number, head->defined + 1);
	for (uint64_t d = 0; d < head->defined; d++)
		if (reader_next(f->in, &message) <= 0)
			die_input(f->in);
		else if (writer_pass(&f->graph.out, &message, 0) < 0)
			die_output();
	index_begin(&f->graph.index, head->count);
	f->graph.index.defined = writer_offset(&f->graph.out);
	polls_begin(&f->polls, &f->graph);
	request_begin(&f->graph);
	match_begin(&f->graph);
	epoch_begin(&f->graph);
	collective_begin(&f->graph);
	edges_begin(&f->graph);
}

void
feed_begin_round(struct feed *f)
{
	struct graph *graph = &f->graph;
	const uint64_t at = writer_offset(&graph->out);

	index_settle(&graph->index, at);
	f->rounds = grow(f->rounds, &f->round_capacity, f->round_count + 1, sizeof *f->rounds);
	f->rounds[f->round_count++] = (struct round){ at, graph->index.syncs };
	graph->block.round = f->round_count;
	message_begin(&graph->out, "round", 1);
	put_uint(&graph->out, "number", f->round_count);
	if (message_end(&graph->out) < 0)
		die_output();
}

void
feed_take_sync(struct feed *f, uint64_t round, const uint64_t *seqs)
{
	const struct round *first = &f->rounds[round - 1];

	if (seqs != NULL)
		write_sync(&f->graph, seqs, (struct index_entry){ .from = first->at, .before = first->syncs });
	else
		index_add(&f->graph.index, (struct index_entry){ .from = first->at });
}

int64_t
feed_look(struct feed *f, uint64_t rows)
{
	struct message message;
	int got = 1;

	while (!f->looked || (f->next_ns != INT64_MAX && f->ahead_rows < f->taken_rows + rows)) {
		const int64_t last_ns = f->looked ? f->next_ns : INT64_MIN;
		uint64_t count = 0;

		f->looked = true;
		f->ahead_rows += f->next_rows;
		f->next_rows = 0;
		do
			got = reader_next(f->ahead, &message);
		while (got > 0 && !(is_kind(&message, "calls") && calls_count(f->ahead, &message, &count) == 0 && count > 0));
		if (got < 0)
			die_input(f->ahead);
		f->next_ns = INT64_MAX;
		if (got > 0 && calls_begin(f->ahead, &message, &f->next_ns) < 0)
			die_input(f->ahead);
		if (f->next_ns < last_ns)
			f->next_ns = last_ns;
		f->next_rows = count;
	}
	return f->next_ns;
}

static void
hold_samples(struct feed *f)
{
	unsigned char *bytes = need(malloc(f->head.size));

	polls_samples(&f->polls, &f->graph, f->in, &f->head);
	memcpy(bytes, f->head.bytes, f->head.size);
	f->samples = grow(f->samples, &f->sample_capacity, f->sample_count + 1, sizeof *f->samples);
	f->samples[f->sample_count].message = f->head;
	f->samples[f->sample_count++].message.bytes = bytes;
}

static void
release_samples(struct feed *f)
{
	for (size_t i = 0; i < f->sample_count; i++) {
		polls_take(&f->polls, &f->graph, f->in, &f->samples[i].message, NULL);
		free((unsigned char *)(uintptr_t)f->samples[i].message.bytes);
	}
	f->sample_count = 0;
}

static bool
is_later(struct feed *f, int64_t until_ns)
{
	uint64_t rows;
	int64_t enter_ns = INT64_MIN;

	if (calls_count(f->in, &f->head, &rows) < 0 || (rows > 0 && calls_begin(f->in, &f->head, &enter_ns) < 0))
		die_input(f->in);
	if (enter_ns > f->begun_ns)
		f->begun_ns = enter_ns;
	return f->begun_ns > until_ns;
}

static void
take_block(struct feed *f)
{
	release_samples(f);
	if (calls_read(&f->calls, f->in, &f->head) < 0)
		die_input(f->in);
	if (f->calls.location >= f->graph.known.location_count ||
	    is_away(&f->graph, rank_of(&f->graph, f->calls.location))) {
		reader_fail(f->in, f->head.offset, "calls: of a location of another shard");
		die_input(f->in);
	}
	f->taken_rows += f->calls.count;
	polls_take(&f->polls, &f->graph, f->in, &f->head, &f->calls);
}

void
feed_read(struct feed *f, int64_t until_ns)
{
	while (!f->ended) {
		if (!f->has_head) {
			int got = reader_next(f->in, &f->head);

			if (got < 0)
				die_input(f->in);
			f->ended = got == 0;
			f->has_head = got > 0;
		} else if (is_kind(&f->head, "sampled")) {
			hold_samples(f);
			f->has_head = false;
		} else if (is_kind(&f->head, "calls")) {
			if (is_later(f, until_ns))
				return;
			take_block(f);
			f->has_head = false;
		} else {
			polls_take(&f->polls, &f->graph, f->in, &f->head, NULL);
			f->has_head = false;
		}
	}
	release_samples(f);
	polls_end(&f->polls, &f->graph, f->in);
}

void
feed_close(struct feed *f)
{
	index_settle(&f->graph.index, writer_offset(&f->graph.out));
	if (index_write(&f->graph.index, &f->graph.out) < 0 || writer_end(&f->graph.out) < 0)
		die_output();
	index_free(&f->graph.index);
	free(f->rounds);
	reader_close(f->in);
	reader_close(f->ahead);
	calls_free(&f->calls);
}
