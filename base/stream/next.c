/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes from message to message: headers, names of calls, ends, the next shard, and checks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "shards.h"

void
forget_history(struct known *known)
{
	for (size_t i = 0; i < known->history_count; i++)
		free(known->history[i]);
	free(known->history);
	known->history = NULL;
	known->history_count = 0;
}

static void
read_history(struct known *known, const msgpack_object *lines)
{
	forget_history(known);
	if (lines == NULL || lines->type != MSGPACK_OBJECT_ARRAY)
		return;
	known->history = calloc(lines->via.array.size + 1, sizeof *known->history);
	for (uint32_t i = 0; known->history != NULL && i < lines->via.array.size; i++) {
		const msgpack_object *line = &lines->via.array.ptr[i];

		if (line->type == MSGPACK_OBJECT_STR && (known->history[known->history_count] =
		    strndup(line->via.str.ptr, line->via.str.size)) != NULL)
			known->history_count++;
	}
}

static int
read_header(struct reader *in, const struct message *message)
{
	const msgpack_object *content = body_get(message, "content");
	int64_t version;

	if (!is_kind(message, "longpole"))
		return reader_fail(in, message->offset, "not a longpole stream: it begins with a "
		    "message of kind \"%s\"", message->kind);
	if (body_int(in, message, "version", 0, INT64_MAX, &version) < 0)
		return -1;
	if (version != STREAM_VERSION)
		return reader_fail(in, message->offset, "version %lld of the format; this is for "
		    "version %d", (long long)version, STREAM_VERSION);
	if (content == NULL || content->type != MSGPACK_OBJECT_STR)
		return reader_fail(in, message->offset,
		    "longpole: content is missing or no string");
	snprintf(in->content, sizeof in->content, "%.*s", (int)content->via.str.size,
	    content->via.str.ptr);
	in->hashed = body_true(message, "hashed");
	if (in->hashed && message_check_hash(in, message) < 0)
		return -1;
	if (strcmp(in->content, "raw") == 0 && !in->raw)
		return reader_fail(in, message->offset,
		    "a raw trace; lp-merge makes a trace of it");
	if (strcmp(in->content, "raw") != 0 && in->raw)
		return reader_fail(in, message->offset, "not a raw trace but a %s stream",
		    in->content);
	if (!in->raw || in->known->history == NULL)
		read_history(in->known, body_get(message, "history"));
	if (!in->raw)		/* raw traces of one run share their numbers of calls */
		memset(in->known->call_map, 0, sizeof in->known->call_map);
	in->known->site_end = 0;
	in->state = IN_STREAM;
	in->messages = in->rows = 0;
	return 0;
}

int
reader_name_call(struct reader *in, uint16_t number, const char *name)
{
	const int index = call_number(name);

	if (index <= 0)
		return reader_fail(in, buffer_here(&in->input), "call: its name cannot be kept");
	if (in->known->call_map[number] != 0 && in->known->call_map[number] != index)
		return reader_fail(in, buffer_here(&in->input), "call: number %d has two names",
		    (int)number);
	in->known->call_map[number] = (uint16_t)index;
	in->known->call_number[index] = number;
	return 0;
}

/* Names the number of a call; blocks may use it from now on. */
static int
read_call_name(struct reader *in, const struct message *message)
{
	char *name = body_string(message, "name");
	int64_t number;
	int named;

	if (name == NULL)
		return reader_fail(in, message->offset, "call: name is missing or no string");
	named = body_int(in, message, "number", 1, UINT16_MAX, &number);
	if (named == 0)
		named = reader_name_call(in, (uint16_t)number, name);
	if (named < 0)
		in->error_offset = (int64_t)message->offset;
	free(name);
	return named;
}

/*
 * Tools allocate memory for all locations when a run begins, so the stream must be long enough for
 * them. A pipe is read ahead that far.
 */
static int
read_run(struct reader *in, struct message *message)
{
	const bool inflated = in->inflated.begin > 0;
	int64_t locations;
	uint64_t needed;
	int more = 1;

	if (body_int(in, message, "locations", 1, INT32_MAX, &locations) < 0)
		return -1;
	if (locations <= LOCATIONS_FREE)
		return 1;
	needed = (uint64_t)(locations - LOCATIONS_FREE) * NUMBER_BYTES;
	if (!inflated)		/* reading on moves the message */
		in->input.begin -= message->size;
	while (more > 0 && buffer_end(&in->input) + in->inflated_bytes < needed)
		more = reader_more(in);
	if (more == 0)
		return reader_fail(in, message->offset, "run: %lld locations in a stream of "
		    "%llu bytes", (long long)locations, (unsigned long long)buffer_end(&in->input));
	return more < 0 || inflated ? more : message_take(in, message);
}

/* Only what calls_read needs of a site: its number. */
static void
read_site(struct reader *in, const struct message *message)
{
	const msgpack_object *number = body_get(message, "site");

	if (number != NULL && number->type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
	    number->via.u64 < UINT32_MAX && number->via.u64 >= in->known->site_end)
		in->known->site_end = (uint32_t)number->via.u64 + 1;
}

static int
read_end(struct reader *in, const struct message *message)
{
	uint64_t messages, rows;

	if (body_int(in, message, "messages", 0, INT64_MAX, &messages) < 0 ||
	    body_int(in, message, "rows", 0, INT64_MAX, &rows) < 0)
		return -1;
	if (!in->jumped && (messages != in->messages || rows != in->rows))
		return reader_fail(in, message->offset, "damaged: %llu messages and %llu rows, "
		    "but its end message says %llu and %llu", (unsigned long long)in->messages,
		    (unsigned long long)in->rows, (unsigned long long)messages,
		    (unsigned long long)rows);
	in->state = BETWEEN;
	return 0;
}

/* A single shard of a graph cannot be read: it has edges to rows of other shards. */
static int
read_shard(struct reader *in, const struct message *message)
{
	if (shard_read(in, message, &in->shard) < 0)
		return -1;
	if (in->shard.count > 1 && !in->all && !in->of_folder && strcmp(in->content, "trace") != 0)
		return reader_fail(in, message->offset, "shard %u of a %s; its shards are read "
		    "from their folder", in->shard.number, in->content);
	return 0;
}

/* Another shard of the same run may follow a shard: skips what both have. */
static int
next_shard(struct reader *in, struct message *message)
{
	const struct shard_head last = in->shard;
	const uint64_t rows = in->rows;
	char content[sizeof in->content];
	int got;

	strcpy(content, in->content);
	if (message_take(in, message) < 0 || read_header(in, message) < 0)
		return -1;
	in->rows_before += rows;
	in->more_shards = true;
	if (strcmp(content, in->content) != 0)
		return reader_fail(in, message->offset, "a %s after a shard of a %s",
		    in->content, content);
	in->shard.of = NULL;
	free(last.of);
	if ((got = reader_next(in, message)) <= 0)
		return got;
	if (!is_kind(message, "shard") || in->shard.run != last.run)
		return reader_fail(in, message->offset, "no shard of the run before");
	if (in->shard.number != last.number + 1)
		return reader_fail(in, message->offset, "shard %u behind shard %u",
		    in->shard.number, last.number);
	for (uint64_t d = 0; d < in->shard.defined && got > 0; d++)
		got = reader_next(in, message);
	return got > 0 ? reader_next(in, message) : got;
}

/* Skips the unwritten space of a raw trace. 1: something follows, 0: nothing does, -1: error. */
static int
skip_zeros(struct reader *in)
{
	static const unsigned char none[4096];
	struct buffer *input = &in->input;
	int more = 1;

	do {
		while (input->end - input->begin >= sizeof none &&
		    memcmp(input->bytes + input->begin, none, sizeof none) == 0)
			input->begin += sizeof none;
		while (input->begin < input->end && input->bytes[input->begin] == 0)
			input->begin++;
	} while (input->begin == input->end && (more = reader_more(in)) > 0);
	return more;
}

/* Another raw trace may follow a raw trace; nothing may follow any other stream. */
int
next_stream(struct reader *in, struct message *message)
{
	const bool started = in->state != NOT_STARTED;
	int more = in->input.begin < in->input.end ? 1 : reader_more(in);

	if (more > 0 && in->raw && started)
		more = skip_zeros(in);
	if (more == 0 && in->more_shards && in->shard.number + 1 < in->shard.count)
		return reader_fail(in, buffer_here(&in->input), "shard %u of %u is missing",
		    in->shard.number + 1, in->shard.count);
	if (more == 0 && !started)
		return reader_fail(in, 0, in->raw ? "empty: no raw trace" :
		    "empty: not a longpole stream");
	if (more <= 0)
		return more;
	if (!in->raw && started && in->shard.count == 0)
		return reader_fail(in, buffer_here(&in->input),
		    "bytes after the end of the stream");
	if (!in->raw && started && !in->all)
		return next_shard(in, message);
	if ((more = message_take(in, message)) <= 0)
		return more;
	return read_header(in, message) < 0 ? -1 : 1;
}

int
reader_next(struct reader *in, struct message *message)
{
	struct buffer *input = &in->input;
	int got;

	if (in->error[0] != '\0')
		return -1;
	if (in->shards != NULL)
		return shards_next(in->shards, message);
	if (in->state != IN_STREAM)
		return next_stream(in, message);
	if (in->inflated.begin == in->inflated.end) {
		if (input->begin == input->end && (got = reader_more(in)) <= 0)
			return got < 0 ? -1 :
			    reader_fail(in, buffer_here(input), "ends without an end message");
		if (in->raw && input->bytes[input->begin] == 0) {
			/* Unwritten space: the rank died. Another stream may follow. */
			*message = (struct message){ .kind = "cut", .offset = buffer_here(input) };
			in->state = BETWEEN;
			return 1;
		}
	}
	if ((got = message_take(in, message)) <= 0)
		return got;
	if (is_kind(message, "longpole"))
		return reader_fail(in, message->offset,
		    "a second header before the end of the stream");
	if (is_kind(message, "end")) {
		if (read_end(in, message) < 0)
			return -1;
		return in->all ? 1 : next_stream(in, message);
	}
	in->messages++;
	if (is_kind(message, "call"))
		return read_call_name(in, message) < 0 ? -1 : 1;
	if (is_kind(message, "run"))
		return read_run(in, message);
	if (is_kind(message, "site"))
		read_site(in, message);
	if (is_kind(message, "shard") && read_shard(in, message) < 0)
		return -1;
	if (is_kind(message, "calls")) {
		uint64_t rows;

		if (calls_count(in, message, &rows) < 0)
			return -1;
		in->rows += rows;
	}
	return 1;
}
