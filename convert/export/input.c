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
keep_rows(struct graph_input *graph)
{
	const struct calls *c = &graph->calls;

	for (size_t i = 0; i < c->count; i++) {
		struct kept_row *row = window_change(&graph->window, c->location, c->first + i);

		row->sent = c->bytes_sent[i];
		row->received = c->bytes_received[i];
		row->tag = c->tag[i];
		row->folded = c->folded[i];
	}
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
