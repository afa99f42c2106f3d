/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"

void
rows_open(struct rows *rows, const char *file)
{
	if (reader_open(&rows->in, file, READ_STREAM) < 0 ||
	    reader_refuse_content(rows->in, "trace", "lp-graph matches it first") < 0)
		die_input(rows->in);
}

static void
begin(struct rows *rows, const struct rows_user *user)
{
	if (!rows->begun)
		user->begin(rows);
	rows->begun = true;
}

static void
take_run(struct rows *rows, const struct rows_user *user)
{
	const uint32_t locations = rows->known.location_count;

	window_open(&rows->window, locations, user->row_bytes);
	rows->seqs = zalloc(locations, sizeof *rows->seqs);
	user->run(rows);
}

static void
take_calls(struct rows *rows, const struct rows_user *user, const struct message *message)
{
	static struct calls c;

	begin(rows, user);
	if (calls_read(&c, rows->in, message) < 0 || window_add(&rows->window, rows->in, message, &c) < 0)
		die_input(rows->in);
	for (size_t i = 0; i < c.count; i++) {
		struct kept_row *row = window_change(&rows->window, c.location, c.first + i);

		row->sent = c.bytes_sent[i];
		row->received = c.bytes_received[i];
		row->tag = c.tag[i];
		row->folded = c.folded[i];
	}
}

static void
take_settled(struct rows *rows, const struct rows_user *user, const struct message *message)
{
	if (seqs_read(rows->seqs, rows->in, message, &rows->window) < 0)
		die_input(rows->in);
	for (uint32_t l = 0; l < rows->known.location_count; l++)
		user->settle(rows, l, rows->seqs[l]);
	if (user->settled != NULL)
		user->settled(rows);
}

static void
take(struct rows *rows, const struct rows_user *user, const struct message *message)
{
	static struct segments segments;
	int got = definitions_take(&rows->known, rows->in, message);

	if (got >= 0 && is_kind(message, "messages")) {
		got = messages_read(&rows->edges, rows->in, message, &rows->window);
		for (size_t i = 0; got >= 0 && i < rows->edges.count; i++)
			user->message(rows, i);
	} else if (got >= 0 && is_kind(message, "collectives") && user->collectives != NULL) {
		got = collectives_read(&rows->edges, rows->in, message, &rows->window);
		if (got >= 0)
			user->collectives(rows);
	} else if (got >= 0 && is_kind(message, "segments")) {
		segments.count = 0;
		got = segments_read(&segments, rows->in, message, &rows->known);
		for (size_t i = 0; got >= 0 && i < segments.count; i++)
			user->segment(rows, &segments.at[i]);
		if (got >= 0 && user->settled != NULL)
			user->settled(rows);
	}
	if (got < 0)
		die_input(rows->in);
	if (is_kind(message, "run"))
		take_run(rows, user);
	else if (is_kind(message, "calls"))
		take_calls(rows, user, message);
	else if (is_kind(message, "sync") || is_kind(message, "settled"))
		take_settled(rows, user, message);
	else if (user->other != NULL)
		user->other(rows, message);
}

void
rows_read(struct rows *rows, const struct rows_user *user)
{
	struct progress progress = { 0 };
	struct message message;

	while (progress_next(&progress, rows->in, &message))
		take(rows, user, &message);
	if (rows->known.ranks == 0)
		die("the stream has no message of kind run");
	begin(rows, user);
	for (uint32_t l = 0; l < rows->known.location_count; l++)
		user->settle(rows, l, UINT64_MAX);
}
