/* SPDX-License-Identifier: BSD-3-Clause */
/* Message by message: headers, names of calls and ends, the shard behind a shard, and what streams promise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "reader.h"
#include "shards.h"

void
forget_history(struct reader *in)
{
	for (size_t i = 0; i < in->history_count; i++)
		free(in->history[i]);
	free(in->history);
	in->history = NULL;
	in->history_count = 0;
}

static void
read_history(struct reader *in, const msgpack_object *lines)
{
	forget_history(in);
	if (lines == NULL || lines->type != MSGPACK_OBJECT_ARRAY)
		return;
	in->history = calloc(lines->via.array.size + 1, sizeof *in->history);
	for (uint32_t i = 0; in->history != NULL && i < lines->via.array.size; i++) {
		const msgpack_object *line = &lines->via.array.ptr[i];

		if (line->type == MSGPACK_OBJECT_STR && (in->history[in->history_count] =
		    strndup(line->via.str.ptr, line->via.str.size)) != NULL)
			in->history_count++;
	}
}

static int
read_header(struct reader *in, const struct message *message)
{
	const msgpack_object *hashed = body_get(message, "hashed");
	char *content = body_string(message, "content");
	int64_t version;

	if (!is_kind(message, "longpole")) {
		free(content);
		return reader_fail(in, message->offset, "not a longpole stream: it begins with a "
		    "message of kind \"%s\"", message->kind);
	}
	if (body_int(in, message, "version", 0, INT64_MAX, &version) < 0) {
		free(content);
		return -1;
	}
	if (version != STREAM_VERSION) {
		free(content);
		return reader_fail(in, message->offset, "version %lld of the format; this is for "
		    "version %d", (long long)version, STREAM_VERSION);
	}
	if (content == NULL)
		return reader_fail(in, message->offset, "longpole: content is missing or no string");
	snprintf(in->content, sizeof in->content, "%s", content);
	free(content);
	in->hashed = hashed != NULL && hashed->type == MSGPACK_OBJECT_BOOLEAN && hashed->via.boolean;
	if (in->hashed && message_check_hash(in, message) < 0)
		return -1;
	if (strcmp(in->content, "raw") == 0 && !in->raw)
		return reader_fail(in, message->offset, "a raw trace; lp-merge makes a trace of it");
	if (strcmp(in->content, "raw") != 0 && in->raw)
		return reader_fail(in, message->offset, "not a raw trace but a %s stream", in->content);
	if (!in->raw || in->history == NULL)
		read_history(in, body_get(message, "history"));
	if (!in->raw)		/* the ranks of a run, and its shards, number their calls alike */
		memset(in->call_map, 0, 65536 * sizeof *in->call_map);
	in->in_stream = in->started = true;
	in->messages = in->rows = 0;
	in->site_end = 0;
	in->sites_early = !in->raw;	/* in a raw trace they come behind their calls */
	return 0;
}

int
reader_name_call(struct reader *in, uint16_t number, const char *name)
{
	const int index = call_number(name);

	if (index <= 0)
		return reader_fail(in, input_here(in), "call: its name cannot be kept");
	if (in->call_map[number] != 0 && in->call_map[number] != index)
		return reader_fail(in, input_here(in), "call: number %d has two names", (int)number);
	in->call_map[number] = (uint16_t)index;
	in->call_number[index] = number;
	return 0;
}

/* A name for the number of a call: from now on blocks may use it. */
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
		in->error_offset = message->offset;
	free(name);
	return named;
}

/*
 * Tools make room for all locations of a run when it begins, so that the stream must be long enough for
 * them; a pipe is read so far ahead.
 */
static int
read_run(struct reader *in, struct message *message)
{
	const bool inflated = in->inflated_begin > 0;
	int64_t locations;
	uint64_t needed;
	int more = 1;

	if (body_int(in, message, "locations", 1, INT32_MAX, &locations) < 0)
		return -1;
	if (locations <= LOCATIONS_FREE)
		return 1;
	needed = (uint64_t)(locations - LOCATIONS_FREE) * NUMBER_BYTES;
	if (!inflated)		/* reading on moves the message */
		in->begin -= message->size;
	while (more > 0 && in->buffer_offset + in->end + in->inflated_bytes < needed)
		more = input_more(in);
	if (more == 0)
		return reader_fail(in, message->offset, "run: %lld locations in a stream of %llu bytes",
		    (long long)locations, (unsigned long long)in->buffer_offset + in->end);
	return more < 0 || inflated ? more : message_take(in, message);
}

/* What calls_read needs to know of sites; what they are is not for the reader. */
static void
read_site(struct reader *in, const struct message *message)
{
	const msgpack_object *number = body_get(message, "site");

	if (number != NULL && number->type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
	    number->via.u64 < UINT32_MAX && number->via.u64 >= in->site_end)
		in->site_end = (uint32_t)number->via.u64 + 1;
}

static int
read_end(struct reader *in, const struct message *message)
{
	int64_t messages, rows;

	if (body_int(in, message, "messages", 0, INT64_MAX, &messages) < 0 ||
	    body_int(in, message, "rows", 0, INT64_MAX, &rows) < 0)
		return -1;
	if (!in->jumped && ((uint64_t)messages != in->messages || (uint64_t)rows != in->rows))
		return reader_fail(in, message->offset, "damaged: %llu messages and %llu rows, but its "
		    "end tells of %lld and %lld", (unsigned long long)in->messages,
		    (unsigned long long)in->rows, (long long)messages, (long long)rows);
	in->in_stream = false;
	return 0;
}

/* One of a graph has edges to rows of the others. */
static int
read_shard(struct reader *in, const struct message *message)
{
	if (shard_read(in, message, &in->shard) < 0)
		return -1;
	if (in->shard.count > 1 && !in->all && !in->of_folder && strcmp(in->content, "trace") != 0)
		return reader_fail(in, message->offset, "shard %u of a %s; its shards are read from their folder",
		    in->shard.number, in->content);
	return 0;
}

/* Behind a shard the next one of the same run may follow: what is the same in both is passed over. */
static int
next_shard(struct reader *in, struct message *message)
{
	const struct shard_head last = in->shard;
	const uint64_t rows = in->rows;
	char content[sizeof in->content];
	int got = message_take(in, message);

	strcpy(content, in->content);
	if (got <= 0 || read_header(in, message) < 0)
		return got < 0 || in->error[0] != '\0' ? -1 : 0;
	in->rows_before += rows;
	in->more_shards = true;
	if (strcmp(content, in->content) != 0)
		return reader_fail(in, message->offset, "a %s behind a shard of a %s", in->content, content);
	in->shard.of = NULL;
	free(last.of);
	if ((got = reader_next(in, message)) <= 0)
		return got;
	if (!is_kind(message, "shard") || in->shard.run != last.run)
		return reader_fail(in, message->offset, "no shard of the run before");
	if (in->shard.number != last.number + 1)
		return reader_fail(in, message->offset, "shard %u behind shard %u", in->shard.number, last.number);
	for (uint64_t d = 0; d < in->shard.defined && got > 0; d++)
		got = reader_next(in, message);
	return got > 0 ? reader_next(in, message) : got;
}

/* A raw trace may be followed by another one, any other by nothing. */
int
next_stream(struct reader *in, struct message *message)
{
	int more = in->raw && in->started ? input_skip_zeros(in) : in->begin < in->end ? 1 : input_more(in);

	if (more == 0 && in->more_shards && in->shard.number + 1 < in->shard.count)
		return reader_fail(in, input_here(in), "shard %u of %u is missing", in->shard.number + 1,
		    in->shard.count);
	if (more == 0 && !in->started)
		return reader_fail(in, 0, in->raw ? "empty: no raw trace" :
		    "empty: not a longpole stream");
	if (more <= 0)
		return more;
	if (!in->raw && in->started && in->shard.count == 0)
		return reader_fail(in, input_here(in), "bytes after the end of the stream");
	if (!in->raw && in->started && !in->all)
		return next_shard(in, message);
	if ((more = message_take(in, message)) <= 0)
		return more;
	return read_header(in, message) < 0 ? -1 : 1;
}

int
reader_next(struct reader *in, struct message *message)
{
	int got;

	if (in->error[0] != '\0')
		return -1;
	if (in->shards != NULL)
		return shards_next(in, message);
	if (!in->in_stream)
		return next_stream(in, message);
	if (in->inflated_begin < in->inflated_end)
		got = 1;
	else if (in->begin == in->end && (got = input_more(in)) <= 0)
		return got < 0 ? -1 : reader_fail(in, input_here(in), "ends without an end message");
	else if (in->raw && in->buffer[in->begin] == 0) {
		/* Unwritten space: the rank died. The next stream, if any, begins behind it. */
		*message = (struct message){ .kind = "cut", .offset = input_here(in) };
		in->in_stream = false;
		return input_skip_zeros(in) < 0 ? -1 : 1;
	}
	if ((got = message_take(in, message)) <= 0)
		return got;
	if (is_kind(message, "longpole"))
		return reader_fail(in, message->offset, "a second header before the end of the stream");
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
		int64_t rows;

		if (body_int(in, message, "count", 0, UINT32_MAX, &rows) < 0)
			return -1;
		in->rows += (uint64_t)rows;
	}
	return 1;
}
