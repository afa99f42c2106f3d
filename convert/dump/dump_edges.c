/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of edges and of path segments as lines: one for each edge, instance and piece. */
#include "dump.h"

#include "../../base/tool/tool.h"

bool
read_column(struct dump *dump, const struct message *message, size_t index, const char *key,
    const char *rows_key, enum column_kind kind, size_t *count)
{
	const msgpack_object *found = body_get(message, key);
	struct column_type type = { 8, kind == COLUMN_SIGNED, kind != COLUMN_OPTIONAL, 0 };
	int64_t rows;

	if (body_int(&dump->in, message, rows_key, 0, UINT32_MAX, &rows) < 0)
		return false;
	/* The count is believed only as far as there are bytes for it. */
	if (found != NULL && found->type == MSGPACK_OBJECT_BIN &&
	    found->via.bin.size < (uint64_t)rows) {
		reader_fail(&dump->in, message->offset, "%s: %s is too short", message->kind, key);
		return false;
	}
	if (found == NULL && type.required) {
		reader_fail(&dump->in, message->offset, "%s: %s is missing", message->kind, key);
		return false;
	}
	*count = (size_t)rows;
	dump->columns[index] = grow(dump->columns[index], &dump->column_capacity[index], *count,
	    sizeof *dump->columns[index]);
	return body_column(&dump->in, message, key, type, *count, *count,
	    dump->columns[index]) == 0;
}

void
put_column_values(struct text *out, const uint64_t *values, size_t from, size_t to, bool is_signed)
{
	text_char(out, '[');
	for (size_t i = from; i < to; i++) {
		if (i > from)
			text_char(out, ',');
		if (is_signed)
			text_int(out, (int64_t)values[i]);
		else
			text_uint(out, values[i]);
	}
	text_char(out, ']');
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
		text_put(&dump->out, "{\"kind\":\"message\"");
		for (size_t k = 0; k < 4; k++)
			text_pair(&dump->out, keys[k], columns[k][i]);
		text_put(&dump->out, "}\n");
	}
}

static void
print_collective(struct dump *dump, size_t from, size_t to)
{
	struct text *out = &dump->out;
	bool wanted = false;

	for (size_t i = from; i < to && !wanted; i++)
		wanted = is_wanted_location(dump, dump->columns[0][i]);
	if (!wanted)
		return;
	text_put(out, "{\"kind\":\"collective\",\"members\":[");
	for (size_t i = from; i < to; i++) {
		text_put(out, i > from ? ",[" : "[");
		text_uint(out, dump->columns[0][i]);
		text_char(out, ',');
		text_uint(out, dump->columns[1][i]);
		text_char(out, ']');
	}
	text_put(out, "]}\n");
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
			reader_fail(&dump->in, message->offset,
			    "collectives: more members than count");
			return;
		}
		print_collective(dump, done, done + (size_t)size);
		done += (size_t)size;
	}
	if (done < count)
		reader_fail(&dump->in, message->offset, "collectives: fewer members than count");
}

static const char *
stream_call_name(const struct dump *dump, uint64_t number)
{
	unsigned index = number <= UINT16_MAX ? dump->in.call_map[number] : 0;

	return index > 0 ? call_name(index) : NULL;
}

static void
print_segments(struct dump *dump, const struct message *message)
{
	static const char *const names[] = { "compute", "mpi", "transfer" };
	static const struct {
		const char *key;
		enum column_kind kind;
	} columns[COLUMNS] = {
		{ "location", COLUMN_UNSIGNED }, { "begin", COLUMN_SIGNED },
		{ "end", COLUMN_SIGNED }, { "kind", COLUMN_UNSIGNED },
		{ "call", COLUMN_UNSIGNED }, { "site", COLUMN_OPTIONAL },
	};
	uint64_t **values = dump->columns;
	struct text *out = &dump->out;
	int64_t number = 0;		/* of an alternative */
	size_t count;

	if (is_kind(message, "alternatives") &&
	    body_int(&dump->in, message, "number", 1, INT32_MAX, &number) < 0)
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
		text_put(out, number > 0 ? "{\"kind\":\"alternative\"" : "{\"kind\":\"segment\"");
		if (number > 0)
			text_pair(out, "number", (uint64_t)number);
		put_rank(out, find_thread(dump, values[0][i]));
		text_signed_pair(out, "begin_ns", begin_ns);
		text_signed_pair(out, "end_ns", (int64_t)values[2][i]);
		text_key(out, "segment");
		if (values[3][i] < 3) {
			text_char(out, '"');
			text_put(out, names[values[3][i]]);
			text_char(out, '"');
		} else
			text_uint(out, values[3][i]);
		if (name != NULL) {
			text_key(out, "call");
			text_string(out, name, strlen(name));
		} else if (values[4][i] != 0)
			text_pair(out, "call", values[4][i]);
		if (values[5][i] != 0)
			text_pair(out, "site", values[5][i]);
		text_put(out, "}\n");
	}
}

static void
print_slack(struct dump *dump, const struct message *message)
{
	struct text *out = &dump->out;
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
		text_put(out, "{\"kind\":\"slack\"");
		put_rank(out, find_thread(dump, values[0][i]));
		text_pair(out, "seq", values[1][i]);
		text_signed_pair(out, "compute_ns", (int64_t)values[2][i]);
		text_signed_pair(out, "call_ns", (int64_t)values[3][i]);
		text_put(out, "}\n");
	}
}

static void
print_seqs(struct dump *dump, const struct message *message)
{
	size_t count;

	if (!read_column(dump, message, 0, "seq", "count", COLUMN_UNSIGNED, &count))
		return;
	text_put(&dump->out, "{\"kind\":\"");
	text_put(&dump->out, message->kind);
	text_char(&dump->out, '"');
	text_key(&dump->out, "seq");
	put_column_values(&dump->out, dump->columns[0], 0, count, false);
	text_put(&dump->out, "}\n");
}

bool
print_edges(struct dump *dump, const struct message *message)
{
	static const struct {
		const char *kind, *line;
		void (*print)(struct dump *, const struct message *);
	} blocks[] = {
		{ "messages", "message", print_messages },
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
