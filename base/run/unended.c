/* SPDX-License-Identifier: BSD-3-Clause */
/* The headline of a run that did not end: what its threads were in (trace.5, unended). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tool/tool.h"
#include "../mpi/call_class.h"
#include "../stream/calls.h"
#include "unended.h"

enum { MOST_GROUPS = 4 };

/* Threads at the same place. */
struct group {
	uint16_t call;		/* index of call_name */
	uint32_t site;
	int64_t since_ns;	/* the first of them */
	uint32_t *of;		/* locations, in order */
	size_t count;
};

struct block {
	int64_t at_ns;
	bool known;
	size_t count;
	uint32_t *locations, *sites;
	uint16_t *calls;
	int64_t *since_ns;
};

static int
read_block(struct block *b, struct reader *in, const struct message *message)
{
	static const struct column_type time_type = { 8, true, true, 0 },
	    call_type = { 2, false, true, 0 },
		number_type = { 4, false, true, 0 };
	const msgpack_object *known = body_get(message, "known");

	b->known = known != NULL && known->type == MSGPACK_OBJECT_BOOLEAN && known->via.boolean;
	if (body_int(in, message, "at_ns", INT64_MIN / 4, INT64_MAX / 4, &b->at_ns) < 0 ||
	    body_count(in, message, "count", 1, 1 << 26, "location", &b->count) < 0)
		return -1;
	b->locations = zalloc(b->count, sizeof *b->locations);
	b->sites = zalloc(b->count, sizeof *b->sites);
	b->calls = zalloc(b->count, sizeof *b->calls);
	b->since_ns = zalloc(b->count, sizeof *b->since_ns);
	return body_column(in, message, "location", number_type,
	    b->count, b->count, b->locations) < 0 ||
	    body_column(in, message, "call", call_type, b->count, b->count, b->calls) < 0 ||
	    body_column(in, message, "since", time_type, b->count, b->count, b->since_ns) < 0 ||
	    body_column(in, message, "site", number_type, b->count, b->count, b->sites) < 0 ? -1 :
	    0;
}

static size_t
group_all(struct definitions *d, struct reader *in, const struct block *b, struct group *groups)
{
	size_t count = 0, g;

	for (size_t i = 0; i < b->count; i++) {
		const uint16_t call = reader_calls(in)[b->calls[i]];

		if (b->locations[i] >= d->location_count)
			continue;
		if (call_is_open(call))
			d->headline.open_ns += b->at_ns - b->since_ns[i];
		for (g = 0;
		    g < count && (groups[g].call != call || groups[g].site != b->sites[i]); g++)
			;
		if (g == MOST_GROUPS)
			continue;
		if (g == count)
			groups[count++] = (struct group){ call, b->sites[i], b->since_ns[i],
				zalloc(b->count, sizeof *groups->of), 0 };
		groups[g].of[groups[g].count++] = b->locations[i];
		if (b->since_ns[i] < groups[g].since_ns)
			groups[g].since_ns = b->since_ns[i];
	}
	return count;
}

static void
put_group(FILE *out, const struct definitions *d, const struct group *g)
{
	const char *name = call_name(g->call);
	const uint32_t first = g->of[0], last = g->of[g->count - 1];
	char place[400];

	if (first >= (uint32_t)d->ranks)
		fprintf(out, "%zu further thread%s", g->count, g->count == 1 ? "" : "s");
	else if (g->count == 1)
		fprintf(out, "rank %u", first);
	else if (last - first + 1 == g->count)
		fprintf(out, "ranks %u-%u", first, last);
	else
		fprintf(out, "%zu ranks, the first %u,", g->count, first);
	if (strcmp(name, "(killed)") == 0)
		fputs(" computed", out);
	else {
		fprintf(out, " %s in %.*s", g->count == 1 ? "was" : "were",
		    (int)strcspn(name, "("), name);
		site_text(d, g->site, place, sizeof place);
		/* "MPI_Recv at ..." */
		if (place[0] != '\0')
			fprintf(out, " at %s",
			    strstr(place, " at ") != NULL ? strstr(place, " at ") + 4 : place);
	}
	fprintf(out, " since %.1f s", (double)g->since_ns / 1e9);
}

static char *
text_of(struct definitions *d, struct reader *in, const struct block *b)
{
	struct group groups[MOST_GROUPS];
	const size_t count = group_all(d, in, b, groups);
	size_t told = 0, size;
	char *text = NULL;
	FILE *out = need(open_memstream(&text, &size));

	fprintf(out, b->known ? "killed at %.1f s: " : "did not end, last seen at %.1f s: ",
	    (double)b->at_ns / 1e9);
	for (size_t g = 0; g < count; g++) {
		fputs(g > 0 ? ", " : "", out);
		put_group(out, d, &groups[g]);
		told += groups[g].count;
		free(groups[g].of);
	}
	if (told < b->count)
		fprintf(out, ", and %zu more elsewhere", b->count - told);
	if (fclose(out) != 0)
		die("out of memory");
	return text;
}

int
unended_take(struct definitions *d, struct reader *in, const struct message *message)
{
	struct block block = { 0 };
	const int done = read_block(&block, in, message);

	if (done == 0) {
		free(d->headline.unended);
		d->headline.unended = text_of(d, in, &block);
	}
	free(block.locations);
	free(block.sites);
	free(block.calls);
	free(block.since_ns);
	return done < 0 ? -1 : 1;
}
