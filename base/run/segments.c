/* SPDX-License-Identifier: BSD-3-Clause */
#include "segments.h"

#include <stdlib.h>

#include "../tool/memory.h"

const char *const segment_names[KINDS + 1] = { "compute", "mpi", "transfer", "start", "unknown" };

/* The columns of a message, in two allocations. */
struct columns {
	uint32_t *location, *kind, *call, *site, *polls;
	int64_t *begin_ns, *end_ns;
};

static int
columns_read(struct columns *c, struct reader *in, const struct message *message, size_t n)
{
	c->location = zalloc(5 * n, sizeof *c->location);
	c->kind = c->location + n, c->call = c->kind + n, c->site = c->call + n,
	    c->polls = c->site + n;
	c->begin_ns = zalloc(2 * n, sizeof *c->begin_ns);
	c->end_ns = c->begin_ns + n;
	return body_column(in, message, "location", n, c->location) < 0 ||
	    body_column(in, message, "begin", n, c->begin_ns) < 0 ||
	    body_column(in, message, "end", n, c->end_ns) < 0 ||
	    body_column(in, message, "kind", n, c->kind) < 0 ||
	    body_column(in, message, "call", n, c->call) < 0 ||
	    body_column_or_0(in, message, "site", n, c->site) < 0 ||
	    body_column_or_0(in, message, "polls", n, c->polls) < 0 ? -1 : 0;
}

/* The limit of leaves: calls.c. */
#define MOST_NS ((int64_t)1 << 62)

static int
check(struct segments *s, struct reader *in, const struct message *message, const struct columns *c,
    size_t i, const struct definitions *known)
{
	if (defined_rank(known, c->location[i]) < 0 || c->kind[i] > GAP ||
	    c->call[i] > UINT16_MAX || c->end_ns[i] < c->begin_ns[i] || c->begin_ns[i] < -MOST_NS ||
	    c->end_ns[i] > MOST_NS)
		return reader_fail(in, message->offset,
		    "segments: location, kind, call or time is out of range");
	if (s->begun && c->begin_ns[i] != s->end_ns)
		return reader_fail(in, message->offset,
		    "segments: does not go on where the path so far ends");
	s->begun = true;
	s->end_ns = c->end_ns[i];
	return 0;
}

int
segments_read(struct segments *s, struct reader *in, const struct message *message,
    const struct definitions *known)
{
	struct columns c = { 0 };
	size_t count;
	int got = 0;

	if (body_count(in, message, "count", 0, UINT32_MAX, "location", &count) < 0)
		return -1;
	if (known->ranks == 0)
		return reader_fail(in, message->offset, "segments before the message of kind run");
	got = columns_read(&c, in, message, count);
	GROW(s->at, s->capacity, s->count + count);
	for (size_t i = 0;
	    i < count && (got = got < 0 ? got : check(s, in, message, &c, i, known)) == 0; i++)
		s->at[s->count++] = (struct segment){ c.begin_ns[i], c.end_ns[i], c.location[i],
		    c.site[i] < known->site_count ? c.site[i] : 0, reader_calls(in)[c.call[i]],
		    (uint8_t)c.kind[i], c.polls[i] != 0 };
	free(c.location);
	free(c.begin_ns);
	return got;
}
