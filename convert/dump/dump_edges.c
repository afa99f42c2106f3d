/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of edges and of path segments: one line for each edge, instance and segment. */
#include "dump.h"

#include "../../base/run/segments.h"

bool
read_column(struct dump *dump, const struct message *message, size_t index, const char *key,
    const char *rows_key, enum column_kind kind, size_t *count)
{
	const msgpack_object *found = body_get(message, key);
	struct column_type type = { 8, kind == COLUMN_SIGNED, kind != COLUMN_OPTIONAL, 0 };
	int64_t rows, capacity;

	if (body_int(dump->in, message, rows_key, 0, UINT32_MAX, &rows) < 0)
		return false;
	capacity = rows;
	if (body_int_if(dump->in, message, "capacity", rows, UINT32_MAX, &capacity) < 0)
		return false;
	/* The count is trusted only as far as there are bytes for it. */
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
	GROW(dump->columns[index], dump->column_capacity[index], *count);
	return body_column_of(dump->in, message, key, type, (size_t)capacity, *count,
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
	return dump->opt.ranks.count == 0 ||
	    has_rank(&dump->opt.ranks, find_thread(dump, location).rank);
}

/* Print format of a value: a number, an END with the location's number, or as named. */
enum shown { NUMBER, END, PLACE, TIME, SEGMENT, CALL, SITE };
struct shown_column {
	const char *key, *name;		/* in the stream; as printed */
	enum column_kind kind;
	enum shown shown;
};

static void
put_column_value(struct dump *dump, const struct shown_column *column, uint64_t value)
{
	struct json *out = &dump->json;
	const unsigned call = column->shown == CALL && value <= UINT16_MAX ?
	    reader_calls(dump->in)[value] : 0;
	const char *name = call > 0 ? call_name(call) :
	    column->shown == SEGMENT && value <= GAP ? segment_names[value] : NULL;

	if (column->shown == PLACE)
		put_rank(out, find_thread(dump, value));
	else if (name != NULL)
		json_text(out, column->name, name);
	else if (column->kind == COLUMN_SIGNED)
		json_int(out, column->name, (int64_t)value);
	else if (value != 0 || (column->shown != CALL && column->shown != SITE))
		json_uint(out, column->name, value);
}

/* Whether the row's locations and time, if it has one, are among those selected. */
static bool
is_wanted_row(const struct dump *dump, const struct shown_column *columns, size_t row)
{
	bool wanted = false;

	if (dump->opt.ranks.count == 0 && dump->opt.begin_ns == INT64_MIN &&
	    dump->opt.end_ns == INT64_MAX)
		return true;
	for (size_t k = 0; k < COLUMNS && columns[k].key != NULL; k++) {
		const uint64_t value = dump->columns[k][row];

		if (columns[k].shown == PLACE || columns[k].shown == END)
			wanted |= is_wanted_location(dump, value);
		else if (columns[k].shown == TIME)
			wanted &= (int64_t)value >= dump->opt.begin_ns &&
			    (int64_t)value < dump->opt.end_ns;
	}
	return wanted;
}

static void
print_rows(struct dump *dump, const struct message *message, const char *line,
    const struct shown_column *columns)
{
	int64_t number = 0;		/* of an alternative */
	size_t count = 0, width = 0;
	bool timed = false;

	if (is_kind(message, "alternatives") &&
	    body_int(dump->in, message, "number", 1, INT32_MAX, &number) < 0)
		return;
	for (; width < COLUMNS && columns[width].key != NULL; width++) {
		timed |= columns[width].shown == TIME;
		if (!read_column(dump, message, width, columns[width].key, "count",
		    columns[width].kind, &count))
			return;
	}
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted_row(dump, columns, i))
			continue;
		begin_picked(dump, line, timed);
		if (number > 0)
			json_int(&dump->json, "number", number);
		for (size_t k = 0; k < width; k++)
			put_column_value(dump, &columns[k], dump->columns[k][i]);
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

static void
print_seqs(struct dump *dump, const struct message *message)
{
	size_t count;

	if (!read_column(dump, message, 0, "seq", "count", COLUMN_UNSIGNED, &count))
		return;
	begin_line(dump, message->kind);
	put_column_values(&dump->json, "seq", dump->columns[0], count, false);
	if (body_get(message, "early") != NULL &&
	    read_column(dump, message, 1, "early", "count", COLUMN_UNSIGNED, &count))
		put_column_values(&dump->json, "early", dump->columns[1], count, false);
	end_line(dump);
}

static void
print_reached(struct dump *dump, const struct message *message)
{
	int64_t at_ns;
	size_t count;

	if (body_int(dump->in, message, "at_ns", INT64_MIN, INT64_MAX, &at_ns) < 0 ||
	    !read_column(dump, message, 0, "since", "count", COLUMN_SIGNED, &count) ||
	    !read_column(dump, message, 1, "call", "count", COLUMN_UNSIGNED, &count))
		return;
	begin_line(dump, message->kind);
	json_int(&dump->json, "at_ns", at_ns);
	put_column_values(&dump->json, "since", dump->columns[0], count, true);
	put_column_values(&dump->json, "call", dump->columns[1], count, false);
	end_line(dump);
}

bool
print_edges(struct dump *dump, const struct message *message)
{
	static const struct shown_column messages[COLUMNS] = {
		{ "source", "source", COLUMN_UNSIGNED, END },
		{ "send", "send", COLUMN_UNSIGNED, NUMBER },
		{ "target", "target", COLUMN_UNSIGNED, END },
		{ "receive", "receive", COLUMN_UNSIGNED, NUMBER },
	}, segments[COLUMNS] = {
		{ "location", NULL, COLUMN_UNSIGNED, PLACE },
		{ "begin", "begin_ns", COLUMN_SIGNED, TIME },
		{ "end", "end_ns", COLUMN_SIGNED, NUMBER },
		{ "kind", "segment", COLUMN_UNSIGNED, SEGMENT },
		{ "call", "call", COLUMN_UNSIGNED, CALL },
		{ "site", "site", COLUMN_OPTIONAL, SITE },
	}, overdue[COLUMNS] = {
		{ "location", NULL, COLUMN_UNSIGNED, PLACE },
		{ "seq", "seq", COLUMN_UNSIGNED, NUMBER },
	}, slack[COLUMNS] = {
		{ "location", NULL, COLUMN_UNSIGNED, PLACE },
		{ "seq", "seq", COLUMN_UNSIGNED, NUMBER },
		{ "compute", "compute_ns", COLUMN_SIGNED, NUMBER },
		{ "call", "call_ns", COLUMN_SIGNED, NUMBER },
	};
	static const struct {
		const char *kind, *line;
		const struct shown_column *columns;
		void (*print)(struct dump *, const struct message *);
	} blocks[] = {
		{ "messages", "message", messages, NULL },
		{ "probes", "probe", messages, NULL },
		{ "locks", "lock", messages, NULL },
		{ "holds", "hold", messages, NULL },
		{ "collectives", "collective", NULL, print_collectives },
		{ "segments", "segment", segments, NULL },
		{ "alternatives", "alternative", segments, NULL },
		{ "slack", "slack", slack, NULL },
		{ "sync", "sync", NULL, print_seqs },
		{ "settled", "settled", NULL, print_seqs },
		{ "overdue", "overdue", overdue, NULL },
		{ "reached", "reached", NULL, print_reached },
	};

	for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
		if (is_kind(message, blocks[i].kind)) {
			if (!is_wanted(dump, blocks[i].line))
				return true;
			if (blocks[i].print != NULL)
				blocks[i].print(dump, message);
			else
				print_rows(dump, message, blocks[i].line, blocks[i].columns);
			return true;
		}
	return false;
}
