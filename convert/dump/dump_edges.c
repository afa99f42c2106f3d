/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of edges and of path segments as lines: one for each edge, instance and piece. */
#include "dump.h"

#include "../../base/run/segments.h"
#include "../../base/tool/tool.h"

bool
read_column(struct dump *dump, const struct message *message, size_t index, const char *key,
    const char *rows_key, enum column_kind kind, size_t *count)
{
	const msgpack_object *found = body_get(message, key);
	struct column_type type = { 8, kind == COLUMN_SIGNED, kind != COLUMN_OPTIONAL, 0 };
	int64_t rows;

	if (body_int(dump->in, message, rows_key, 0, UINT32_MAX, &rows) < 0)
		return false;
	/* The count is believed only as far as there are bytes for it. */
	if (found != NULL && found->type == MSGPACK_OBJECT_BIN &&
	    found->via.bin.size < (uint64_t)rows) {
		reader_fail(dump->in, message->offset, "%s: %s is too short", message->kind, key);
		return false;
	}
	if (found == NULL && type.required) {
		reader_fail(dump->in, message->offset, "%s: %s is missing", message->kind, key);
		return false;
	}
	*count = (size_t)rows;
	dump->columns[index] = grow(dump->columns[index], &dump->column_capacity[index], *count,
	    sizeof *dump->columns[index]);
	return body_column(dump->in, message, key, type, *count, *count,
	    dump->columns[index]) == 0;
}

void
put_column_values(struct json *out, const char *key, const uint64_t *values, size_t count,
    bool is_signed)
{
	json_begin_array(out, key);
	for (size_t i = 0; i < count; i++)
		if (is_signed)
			json_int(out, NULL, (int64_t)values[i]);
		else
			json_uint(out, NULL, values[i]);
	json_end_array(out);
}

static bool
is_wanted_location(const struct dump *dump, uint64_t location)
{
	return dump->opt.ranks == NULL || is_wanted_rank(dump, find_thread(dump, location).rank);
}

static void
print_messages(struct dump *dump, const struct message *message)
{
	static const char *const keys[] = { "source", "send", "target", "receive" };
	uint64_t **columns = dump->columns;
	size_t count;

	for (size_t k = 0; k < 4; k++)
		if (!read_column(dump, message, k, keys[k], "count", COLUMN_UNSIGNED, &count))
			return;
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted_location(dump, columns[0][i]) &&
		    !is_wanted_location(dump, columns[2][i]))
			continue;
		begin_picked(dump, is_kind(message, "probes") ? "probe" : "message", false);
		for (size_t k = 0; k < 4; k++)
			json_uint(&dump->json, keys[k], columns[k][i]);
		end_line(dump);
	}
}

static void
print_collective(struct dump *dump, size_t from, size_t to)
{
	struct json *out = &dump->json;
	bool wanted = false;

	for (size_t i = from; i < to && !wanted; i++)
		wanted = is_wanted_location(dump, dump->columns[0][i]);
	if (!wanted)
		return;
	begin_picked(dump, "collective", false);
	json_begin_array(out, "members");
	for (size_t i = from; i < to; i++) {
		json_begin_array(out, NULL);
		json_uint(out, NULL, dump->columns[0][i]);
		json_uint(out, NULL, dump->columns[1][i]);
		json_end_array(out);
	}
	json_end_array(out);
	end_line(dump);
}

static void
print_collectives(struct dump *dump, const struct message *message)
{
	size_t count, instances, done = 0;

	if (!read_column(dump, message, 0, "location", "count", COLUMN_UNSIGNED, &count) ||
	    !read_column(dump, message, 1, "seq", "count", COLUMN_UNSIGNED, &count) ||
	    !read_column(dump, message, 2, "size", "instances", COLUMN_UNSIGNED, &instances))
		return;
	for (size_t i = 0; i < instances; i++) {
		uint64_t size = dump->columns[2][i];

		if (size > count - done) {
			reader_fail(dump->in, message->offset,
			    "collectives: more members than count");
			return;
		}
		print_collective(dump, done, done + (size_t)size);
		done += (size_t)size;
	}
	if (done < count)
		reader_fail(dump->in, message->offset, "collectives: fewer members than count");
}

static const char *
stream_call_name(const struct dump *dump, uint64_t number)
{
	unsigned index = number <= UINT16_MAX ? reader_calls(dump->in)[number] : 0;

	return index > 0 ? call_name(index) : NULL;
}

static void
print_segments(struct dump *dump, const struct message *message)
{
	static const struct {
		const char *key;
		enum column_kind kind;
	} columns[COLUMNS] = {
		{ "location", COLUMN_UNSIGNED }, { "begin", COLUMN_SIGNED },
		{ "end", COLUMN_SIGNED }, { "kind", COLUMN_UNSIGNED },
		{ "call", COLUMN_UNSIGNED }, { "site", COLUMN_OPTIONAL },
	};
	uint64_t **values = dump->columns;
	struct json *out = &dump->json;
	int64_t number = 0;		/* of an alternative */
	size_t count;

	if (is_kind(message, "alternatives") &&
	    body_int(dump->in, message, "number", 1, INT32_MAX, &number) < 0)
		return;
	for (size_t k = 0; k < COLUMNS; k++)
		if (!read_column(dump, message, k, columns[k].key, "count", columns[k].kind,
		    &count))
			return;
	for (size_t i = 0; i < count; i++) {
		int64_t begin_ns = (int64_t)values[1][i];
		const char *name = stream_call_name(dump, values[4][i]);

		if (!is_wanted_location(dump, values[0][i]) || begin_ns < dump->opt.begin_ns ||
		    begin_ns >= dump->opt.end_ns)
			continue;
		begin_picked(dump, number > 0 ? "alternative" : "segment", true);
		if (number > 0)
			json_int(out, "number", number);
		put_rank(out, find_thread(dump, values[0][i]));
		json_int(out, "begin_ns", begin_ns);
		json_int(out, "end_ns", (int64_t)values[2][i]);
		if (values[3][i] <= GAP)
			json_text(out, "segment", segment_names[values[3][i]]);
		else
			json_uint(out, "segment", values[3][i]);
		if (name != NULL)
			json_text(out, "call", name);
		else if (values[4][i] != 0)
			json_uint(out, "call", values[4][i]);
		if (values[5][i] != 0)
			json_uint(out, "site", values[5][i]);
		end_line(dump);
	}
}

static void
print_slack(struct dump *dump, const struct message *message)
{
	struct json *out = &dump->json;
	uint64_t **values = dump->columns;
	size_t count;

	if (!read_column(dump, message, 0, "location", "count", COLUMN_UNSIGNED, &count) ||
	    !read_column(dump, message, 1, "seq", "count", COLUMN_UNSIGNED, &count) ||
	    !read_column(dump, message, 2, "compute", "count", COLUMN_SIGNED, &count) ||
	    !read_column(dump, message, 3, "call", "count", COLUMN_SIGNED, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted_location(dump, values[0][i]))
			continue;
		begin_picked(dump, "slack", false);
		put_rank(out, find_thread(dump, values[0][i]));
		json_uint(out, "seq", values[1][i]);
		json_int(out, "compute_ns", (int64_t)values[2][i]);
		json_int(out, "call_ns", (int64_t)values[3][i]);
		end_line(dump);
	}
}

static void
print_seqs(struct dump *dump, const struct message *message)
{
	size_t count;

	if (!read_column(dump, message, 0, "seq", "count", COLUMN_UNSIGNED, &count))
		return;
	begin_line(dump, message->kind);
	put_column_values(&dump->json, "seq", dump->columns[0], count, false);
	end_line(dump);
}

bool
print_edges(struct dump *dump, const struct message *message)
{
	static const struct {
		const char *kind, *line;
		void (*print)(struct dump *, const struct message *);
	} blocks[] = {
		{ "messages", "message", print_messages },
		{ "probes", "probe", print_messages },
		{ "collectives", "collective", print_collectives },
		{ "segments", "segment", print_segments },
		{ "alternatives", "alternative", print_segments },
		{ "slack", "slack", print_slack },
		{ "sync", "sync", print_seqs },
		{ "settled", "settled", print_seqs },
	};

	for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
		if (is_kind(message, blocks[i].kind)) {
			if (is_wanted(dump, blocks[i].line))
				blocks[i].print(dump, message);
			return true;
		}
	return false;
}
