/* SPDX-License-Identifier: BSD-3-Clause */
/* What the formats read: streams, rows, segments of the path, and the frames of sites. */
#include <string.h>

#include "../../base/waits/waits.h"
#include "export.h"

struct reader *
open_stream(const char *file)
{
	struct reader *in;

	if (reader_open(&in, file, READ_STREAM) < 0)
		die_input(in);
	return in;
}

bool
observe(struct imbalance *im, struct observer *observer, struct reader *in)
{
	const bool waits = observer->call != NULL && strcmp(reader_content(in), "trace") != 0;
	struct graph_input *graph = &im->graph;
	const struct calls *c = &graph->calls;
	const struct wait none = { 0 };	/* those of a trace are not known */
	struct progress progress = { 0 };
	struct message message;

	*im = (struct imbalance){ .graph.in = in, .observer = observer, .waits_only = true,
	    .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	if (waits)
		read_graph(im, NULL);
	while (!waits && progress_next(&progress, in, &message)) {
		const bool calls = is_kind(&message, "calls");

		definitions_take(&graph->known, in, &message);
		if (calls && calls_read(&graph->calls, in, &message) < 0)
			die_input(in);
		observer->message(observer, im, &message, c);
		for (size_t i = 0; calls && observer->call != NULL && i < c->count; i++)
			if (c->call[i] != 0)
				observer->call(observer, im, c->location, &(struct row){
				    .call = c->call[i], .site = c->site[i] }, &none, 0);
	}
	if (graph->known.ranks == 0)
		die("%s: the stream has no message of kind run", reader_file(in));
	reader_close(in);
	return waits;
}

void
uncounted_add(struct uncounted *of, struct reader *in, const struct message *message,
    const struct calls *block)
{
	if (block->count > 0 &&
	    (block->first != of->rows.first + of->rows.count || block->call[0] == 0))
		die_message(in, message, "calls: the block does not follow the one before");
	need_memory(calls_append(&of->rows, block));
}

size_t
uncounted_end(const struct uncounted *of)
{
	size_t end = of->begin + 1;

	while (end < of->rows.count && of->rows.call[end] == 0)
		end++;
	return end;
}

size_t
uncounted_drop(struct uncounted *of, size_t end)
{
	enum { MANY = 4096 };

	of->begin = end;
	if (end < MANY || end < of->rows.count - end)	/* amortised: as many as come after them */
		return 0;
	calls_drop(&of->rows, end);
	of->begin = 0;
	return end;
}

const struct segments *
message_segments(struct reader *in, const struct message *message, const struct definitions *known)
{
	static struct segments segments;

	if (!is_kind(message, "segments"))
		return NULL;
	segments.count = 0;
	segments_read(&segments, in, message, known);
	return &segments;
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
