/* SPDX-License-Identifier: BSD-3-Clause */
/* Input for an OTF2 archive: calls, and the messages that define them. */
#include <stdlib.h>
#include <string.h>

#include "otf2.h"

static void
take_rank(struct archive *a, struct reader *in, const struct message *message)
{
	struct rank_of *of;
	int64_t rank;

	if (body_int(in, message, "rank", 0, a->known->ranks - 1, &rank) < 0)
		die_input(in);
	of = &a->ranks[rank];
	free(of->program);
	of->program = body_string(message, "program");
#define X(key) \
	const msgpack_object *key##_value = body_get(message, #key); \
	of->has_##key = key##_value != NULL && \
	    (key##_value->type == MSGPACK_OBJECT_POSITIVE_INTEGER || \
	    key##_value->type == MSGPACK_OBJECT_NEGATIVE_INTEGER || \
	    key##_value->type == MSGPACK_OBJECT_BOOLEAN); \
	of->key = !of->has_##key ? 0 : key##_value->type == MSGPACK_OBJECT_BOOLEAN ? \
	    key##_value->via.boolean : key##_value->via.i64;
	OTF2_RANK_KEYS(X)
#undef X
}

static void
take_regions(struct archive *a, const struct samples *regions)
{
	struct spot *spot = &a->spots[regions->location];

	for (size_t i = 0; i < regions->count; i++)
		*APPEND(spot->regions, spot->region_count, spot->region_capacity) =
		    (struct region_event){ regions->time_ns[i], regions->region[i] };
}

/* Scout has no use for these. Threads without calls are no locations. */
static void
take_switches(struct archive *a, struct reader *in, const struct message *message)
{
	if (reader_verify(in, message) < 0 || samples_read(&a->switches, in, message) < 0)
		die_input(in);
	if (a->scout || a->switches.worker > 0 || a->switches.location >= a->locations)
		return;
	if (a->switches.regions)
		take_regions(a, &a->switches);
	else if (!a->switches.clock)
		off_add(&a->off, &a->switches);
}

/* Messages other than calls, in both kinds of input. */
static void
take_other(struct archive *a, struct reader *in, const struct message *message)
{
	const struct segments *path;
	uint32_t number;
	char *type;

	if (is_kind(message, "run")) {
		a->locations = a->known->location_count;
		a->ranks = zalloc((size_t)a->known->ranks + 1, sizeof *a->ranks);
		a->spots = zalloc((size_t)a->locations + 1, sizeof *a->spots);
		for (uint32_t l = 0; l <= a->locations; l++) {
			a->spots[l].left_ns = INT64_MIN;
			a->spots[l].rows.location = l;
		}
		if (body_int_if(in, message, "date_s", 0, INT64_MAX / 1000000000, &a->date_s) < 0)
			die_input(in);
	} else if (is_kind(message, "rank") && a->ranks != NULL)
		take_rank(a, in, message);
	else if (is_kind(message, "communicator")) {
		if (body_number(in, message, "comm", 1, &number) < 0)
			die_input(in);
		type = body_string(message, "type");
		comm_type(a, number, type);
		free(type);
	} else if (is_kind(message, "switched") || is_kind(message, "regions"))
		take_switches(a, in, message);
	else if (!a->scout && (path = message_segments(in, message, a->known)) != NULL) {
		need_writer(a, a->locations);
		for (size_t i = 0; i < path->count; i++)
			rows_segment(a, &path->at[i]);
	}
}

/* ---- calls with their waits, which a trace does not tell ---- */

struct watch {
	struct observer observer;	/* must be first: its caller knows only this */
	struct archive *a;
};

static void
see_message(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *calls)
{
	struct archive *a = ((struct watch *)(void *)observer)->a;
	struct calls *rows;

	take_other(a, im->graph.in, message);
	if (!is_kind(message, "calls"))
		return;
	rows = &a->spots[calls->location].rows;
	if (calls->count > 0 &&
	    (calls->first != rows->first + rows->count || calls->call[0] == 0))
		die_message(im->graph.in, message,
		    "calls: the block does not follow the one before");
	if (calls_append(rows, calls) < 0)
		die("out of memory");
}

static void
see_call(struct observer *observer, struct imbalance *im, uint32_t location, const struct row *row,
    const struct wait *waits, int count)
{
	struct archive *a = ((struct watch *)(void *)observer)->a;
	struct spot *spot = &a->spots[location];
	const struct calls *c = &spot->rows;
	size_t end = spot->begin + 1;

	(void)im, (void)row;
	while (end < c->count && c->call[end] == 0)
		end++;
	need_writer(a, location);
	rows_put(a, location, c, spot->begin, end, waits, count);
	spot->begin = end;
	if (end >= 4096 && end >= c->count - end) {	/* amortised: as many as come after them */
		calls_drop(&spot->rows, end);
		spot->begin = 0;
	}
}

void
archive_read(struct archive *a, const char *file)
{
	static struct imbalance im;
	struct watch watch = { .observer = { .message = see_message, .call = see_call }, .a = a };

	a->known = &im.graph.known;
	definitions_begin(a);
	im.observer = &watch.observer;
	observe(&im, open_stream(file), true);
}
