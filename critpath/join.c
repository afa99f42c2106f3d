/* SPDX-License-Identifier: BSD-3-Clause */
#include "functions.h"
#include "join.h"

#include <stdlib.h>

static const struct column_type u4 = { 4, false, true, 0 };
static const struct column_type i8 = { 8, true, true, 0 };
static const struct column_type u2 = { 2, false, true, 0 };
static const struct column_type u1 = { 1, false, true, 0 };
static const struct column_type site_type = { 4, false, false, 0 };

static void
add_segments(struct path *path, struct reader *in, const struct message *message)
{
	struct segments *s = &path->segments;
	const msgpack_object *kinds = body_get(message, "kind");
	uint32_t *location, *site;
	int64_t *begin, *end, rows;
	uint16_t *call;
	uint8_t *kind;
	size_t n;

	if (body_int(in, message, "count", 0, UINT32_MAX, &rows) < 0)
		die_input(in);
	if (kinds == NULL || kinds->type != MSGPACK_OBJECT_BIN || kinds->via.bin.size < rows) {
		reader_fail(in, message->offset, "segments: kind is missing or too short");
		die_input(in);
	}
	n = (size_t)rows;
	location = zalloc(n, sizeof *location);
	site = zalloc(n, sizeof *site);
	begin = zalloc(n, sizeof *begin);
	end = zalloc(n, sizeof *end);
	call = zalloc(n, sizeof *call);
	kind = zalloc(n, sizeof *kind);
	if (body_column(in, message, "location", u4, n, n, location) < 0 ||
	    body_column(in, message, "begin", i8, n, n, begin) < 0 ||
	    body_column(in, message, "end", i8, n, n, end) < 0 ||
	    body_column(in, message, "kind", u1, n, n, kind) < 0 ||
	    body_column(in, message, "call", u2, n, n, call) < 0 ||
	    body_column(in, message, "site", site_type, n, n, site) < 0)
		die_input(in);
	s->at = grow(s->at, &s->capacity, s->count + n, sizeof *s->at);
	for (size_t i = 0; i < n; i++) {
		if (kind[i] >= KINDS || (s->count > 0 && begin[i] != s->at[s->count - 1].end_ns)) {
			reader_fail(in, message->offset, "segments: does not go on where the path so far ends");
			die_input(in);
		}
		s->at[s->count++] = (struct segment){ begin[i], end[i], location[i], site[i],
		    reader_calls(in)[call[i]], kind[i] };
	}
	free(location);
	free(site);
	free(begin);
	free(end);
	free(call);
	free(kind);
}

void
join_read(struct path *path, char **files, int count, struct functions *functions)
{
	for (int f = 0; f < count; f++) {
		struct definitions known = { 0 };
		struct message message;
		struct reader *in;
		int got;

		if (reader_open(&in, files[f], READ_STREAM) < 0 ||
		    reader_refuse_content(in, "graph", "lp-critpath --part finds a part of its path") < 0)
			die_input(in);
		while ((got = reader_next(in, &message)) > 0) {
			size_t before = path->segments.count;

			if (definitions_take(&known, in, &message) < 0)
				die_input(in);
			if (is_kind(&message, "sampled_path"))
				functions_read(functions, in, &message);
			if (!is_kind(&message, "segments"))
				continue;
			add_segments(path, in, &message);
			for (size_t i = before; i < path->segments.count; i++)
				if (path->segments.at[i].location >= known.location_count) {
					reader_fail(in, message.offset, "segments: location is out of range");
					die_input(in);
				}
		}
		if (got < 0)
			die_input(in);
		reader_close(in);
	}
	for (size_t i = 0; i < path->segments.count; i++)
		functions_length(functions, &path->segments.at[i]);
	path_end_stretch(path, 0);
}
