/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path of a path stream, and stacks of frames, for the formats that show them. */
#include <stdlib.h>

#include "../../base/tool/text.h"
#include "export.h"

void
segments_read(struct segments *segments, struct reader *in, const struct message *message,
    const struct definitions *known)
{
	static const struct column_type location_type = { 4, false, true, 0 }, time_type = { 8, true, true, 0 },
	    site_type = { 4, false, false, 0 };
	const msgpack_object *bin = body_get(message, "location");
	uint32_t *location, *kind, *call, *site;
	int64_t count, *begin_ns, *end_ns;
	size_t n;

	if (body_int(in, message, "count", 0, UINT32_MAX, &count) < 0)
		die_input(in);
	if (bin == NULL || bin->type != MSGPACK_OBJECT_BIN || bin->via.bin.size < count) {
		reader_fail(in, message->offset, "segments: location is missing or too short");
		die_input(in);
	}
	n = (size_t)count;
	location = zalloc(4 * n, sizeof *location);
	begin_ns = zalloc(2 * n, sizeof *begin_ns);
	kind = location + n, call = kind + n, site = call + n, end_ns = begin_ns + n;
	if (body_column(in, message, "location", location_type, n, n, location) < 0 ||
	    body_column(in, message, "kind", location_type, n, n, kind) < 0 ||
	    body_column(in, message, "call", location_type, n, n, call) < 0 ||
	    body_column(in, message, "site", site_type, n, n, site) < 0 ||
	    body_column(in, message, "begin", time_type, n, n, begin_ns) < 0 ||
	    body_column(in, message, "end", time_type, n, n, end_ns) < 0)
		die_input(in);
	segments->at = grow(segments->at, &segments->capacity, n, sizeof *segments->at);
	segments->count = n;
	for (size_t i = 0; i < n; i++) {
		if (location[i] >= known->location_count || kind[i] >= SEGMENT_KINDS || begin_ns[i] > end_ns[i]) {
			reader_fail(in, message->offset, "segments: location, kind or time is out of range");
			die_input(in);
		}
		/* In the stream a call is a number, of which the reader knows the name. */
		segments->at[i] = (struct segment){ begin_ns[i], end_ns[i], location[i], kind[i],
		    site[i] < known->site_count ? site[i] : 0,
		    call[i] <= UINT16_MAX ? reader_calls(in)[call[i]] : 0 };
	}
	free(location);
	free(begin_ns);
}

size_t
site_frames(const struct definitions *known, uint32_t site, uint32_t frames[PLACES])
{
	const struct site *s;
	size_t count;

	if (site == 0 || site >= known->site_count)
		return 0;
	s = &known->sites[site];
	if (s->stack == NULL) {
		frames[0] = site;
		return 1;
	}
	count = s->depth < PLACES ? s->depth : PLACES;
	for (size_t i = 0; i < count; i++)
		frames[i] = s->stack[count - 1 - i];
	return count;
}

void
frames_text(const struct definitions *known, uint32_t site, const char *separator, char *text, size_t size)
{
	uint32_t frames[PLACES];
	size_t count = site_frames(known, site, frames), used = 0;
	char one[256], shown[256];

	text[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++) {
		visible_copy(shown, sizeof shown, site_text(known, frames[i], one, sizeof one));
		for (char *c = shown; *c != '\0'; c++)
			if (*c == ';')
				*c = ':';	/* it divides frames where stacks are folded */
		used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? separator : "", shown);
	}
}
