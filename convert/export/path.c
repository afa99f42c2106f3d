/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the formats: rows, segments of the path, and the frames of sites. */
#include <stdlib.h>

#include "../../base/tool/text.h"
#include "export.h"

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
	if (segments_read(&segments, in, message, known) < 0)
		die_input(in);
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

void
frames_text(const struct definitions *known, uint32_t site, const char *separator,
    char *text, size_t size)
{
	uint32_t frames[PLACES];
	size_t count = site_frames(known, site, frames), used = 0;
	char one[256], shown[256];

	text[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++) {
		visible_copy(shown, sizeof shown, site_text(known, frames[i], one, sizeof one));
		for (char *c = shown; *c != '\0'; c++)
			if (*c == ';')
				*c = ':';	/* ';' separates frames in folded stacks */
		used += (size_t)snprintf(text + used, size - used, "%s%s",
		    i > 0 ? separator : "", shown);
	}
}
