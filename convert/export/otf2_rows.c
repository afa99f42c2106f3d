/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of a location: the frames of a call site, the call in them, and an event in the call for
 * each of its rows. Nothing is known of a program between its calls. So it counts as in the frames
 * of a call since the previous call, like computation in all tools.
 */

#include "otf2.h"

/* State while a call's events are written. */
struct cursor {
	struct archive *a;
	struct spot *spot;
	const struct calls *rows;
	uint32_t location;
	uint64_t enter, leave, at;	/* at: time of the last event, as events come in order */
	uint16_t call;
};

#define WRITE(cursor, kind, attributes, ...) \
	do { \
		archive_check((cursor)->a, \
		    OTF2_EvtWriter_##kind((cursor)->spot->writer, attributes, __VA_ARGS__)); \
		(cursor)->spot->events++; \
	} while (0)

/* ---- attributes ---- */

#define value_COMM(a, value) (OTF2_AttributeValue){ .commRef = (value) == 0 ? \
	OTF2_UNDEFINED_COMM : comm_of(a, (uint32_t)(value))->comm }
#define value_INT32(a, value) (OTF2_AttributeValue){ .int32 = (int32_t)(value) }
#define value_UINT32(a, value) (OTF2_AttributeValue){ .uint32 = (uint32_t)(value) }
#define value_UINT64(a, value) (OTF2_AttributeValue){ .uint64 = (uint64_t)(value) }

static void
attribute(struct archive *a, enum otf2_word word, OTF2_Type type, OTF2_AttributeValue value)
{
	archive_check(a, OTF2_AttributeList_AddAttribute(a->attributes, word, type, value));
}

/* The row that a reader would get from the event without attributes. */
static struct call_row
told_row(const struct cursor *k, size_t i, const struct otf2_event *e)
{
	static const enum otf2_what whats[] = {
		OTHER,
#define X(name, when, what, count, ...) what,
		OTF2_EVENTS(X)
#undef X
	};
	const bool about = e->comm != UINT32_MAX || e->window != UINT32_MAX ||
	    e->file != UINT32_MAX;
	const bool completes = whats[e->kind] == COMPLETES;
	struct call_row row = CALL_ROW;

	if (e->kind != NO_EVENT && (!completes || e->kind == EVENT_MpiIrecv))
		row = otf2_told(e, about ? k->rows->comm[i] : 0);
	if (completes) {
		row.request = k->rows->request[i];
		row.request_at = k->rows->request_at[i];
	}
	return row;
}

/* Attributes for the fields in which the row differs from its event; MARK: at least one. */
static OTF2_AttributeList *
differences(struct cursor *k, size_t i, const struct otf2_event *e, bool mark)
{
	const struct calls *c = k->rows;
	const struct call_row told = told_row(k, i, e);
	bool any = false;

	if (k->a->scout)
		return NULL;
#define X(NAME, field, name, what, type) \
	if (c->field[i] != told.field) { \
		attribute(k->a, WORD_##NAME, OTF2_TYPE_##type, value_##type(k->a, c->field[i])); \
		any = true; \
	}
	OTF2_COLUMNS(X)
#undef X
	if (mark && !any)
		attribute(k->a, WORD_PEER, OTF2_TYPE_INT32, value_INT32(k->a, c->peer[i]));
	return any || mark ? k->a->attributes : NULL;
}

/* ---- rows ---- */

static void
put_event(struct cursor *k, const struct otf2_event *e, OTF2_AttributeList *more)
{
#define NOW k->at
#define LEAVE (k->at = k->leave)
#define FIELD(field) , e->field
	switch (e->kind) {
	case NO_EVENT: break;
#define X(name, when, what, count, ...) \
	case EVENT_##name: WRITE(k, name, more, when OTF2_EACH##count(FIELD, __VA_ARGS__)); break;
	OTF2_EVENTS(X)
#undef X
	}
#undef NOW
#undef LEAVE
#undef FIELD
}

/* Writes nothing if scout does not know the event. */
static void
put_row(struct cursor *k, size_t i, struct otf2_event e, size_t part)
{
	OTF2_AttributeList *more = differences(k, i, &e, e.kind == NO_EVENT);

	if (k->a->scout && (e.kind == NO_EVENT || e.kind == EVENT_NonBlockingCollectiveRequest ||
	    e.kind == EVENT_NonBlockingCollectiveComplete))
		return;
	if (e.kind == NO_EVENT) {
		e.kind = EVENT_ParameterUnsignedInt;
		e.value = part;
	} else if (e.kind == EVENT_MpiCollectiveEnd)
		WRITE(k, MpiCollectiveBegin, NULL, k->at);
	else if (e.kind == EVENT_RmaCollectiveEnd)
		WRITE(k, RmaCollectiveBegin, NULL, k->at);
	put_event(k, &e, more);
	if (e.kind != EVENT_IoOperationBegin)
		return;
	if ((e.flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING) != 0)
		WRITE(k, IoOperationIssued, NULL, k->at = k->leave, e.file, e.request);
	else {
		e.kind = EVENT_IoOperationComplete;
		put_event(k, &e, NULL);
	}
}

/* For other readers: the group that opens an epoch. Attributes hold its rows. */
static void
put_epoch(struct cursor *k, size_t first, size_t end)
{
	const enum call_class class = call_class(k->call);
	const struct group_of *of;
	uint32_t group;

	if ((class != CLASS_POST && class != CLASS_ACCESS) || k->rows->peer[first] < 0 ||
	    (of = comm_of(k->a, k->rows->comm[first])) == NULL || of->window == NONE)
		return;
	group = sync_group(k->a, of->number, k->a->known->location_rank[k->location],
	    k->rows->peer + first, end - first);
	if (group == NONE)
		return;
	if (!k->a->scout)
		attribute(k->a, WORD_ASIDE, OTF2_TYPE_UINT8, (OTF2_AttributeValue){ .uint8 = 1 });
	WRITE(k, RmaGroupSync, k->a->scout ? NULL : k->a->attributes, k->at,
	    OTF2_RMA_SYNC_LEVEL_PROCESS, of->window, group);
}

/* ---- frames ---- */

static void
turn_frames(struct cursor *k, uint32_t site, uint64_t at)
{
	uint32_t old[PLACES], new[PLACES];
	size_t from, to, same = 0;

	if (site == k->spot->site)
		return;
	from = site_frames(k->a->known, k->spot->site, old);
	to = site_frames(k->a->known, site, new);
	while (same < from && same < to && old[same] == new[same])
		same++;
	for (size_t f = from; f > same; f--)
		WRITE(k, Leave, NULL, at, region_of_place(k->a, old[f - 1]));
	for (size_t f = same; f < to; f++)
		WRITE(k, Enter, NULL, at, region_of_place(k->a, new[f]));
	k->spot->site = site;
}

/* ---- calls ---- */

/* The times off the core in computation. */
static void
put_off_core(struct cursor *k, int64_t from_ns, int64_t to_ns)
{
	struct off_cut cut = off_between(off_lane_of(&k->a->off, k->location, 0), from_ns, to_ns);
	struct off_span part;

	while (off_next(&cut, &part)) {
		const uint32_t region = region_off_core(k->a, part.reason);

		WRITE(k, Enter, NULL, (uint64_t)part.from_ns, region);
		WRITE(k, Leave, NULL, (uint64_t)part.to_ns, region);
	}
}

static void
put_region(struct cursor *k, uint64_t at, int32_t region)
{
	struct spot *spot = k->spot;

	if (region > 0) {
		*APPEND(spot->open, spot->open_count, spot->open_capacity) =
		    region_of_user(k->a, (uint32_t)region);
		WRITE(k, Enter, NULL, at, spot->open[spot->open_count - 1]);
	} else if (spot->open_count > 0)
		WRITE(k, Leave, NULL, at, spot->open[--spot->open_count]);
	k->a->last_ns = larger(k->a->last_ns, (int64_t)at);
}

/*
 * The begins and ends of regions in the computation up to TO_NS, which is in the frames of a site.
 * Regions are nested, and so are frames, so where a region begins or ends, the frames are left.
 * Returns the time of the last one, or the begin of the computation.
 */
static int64_t
put_regions(struct cursor *k, uint32_t site, int64_t to_ns)
{
	struct spot *spot = k->spot;
	int64_t at_ns = spot->left_ns != INT64_MIN ? spot->left_ns : 0;

	for (; spot->region < spot->region_count && spot->regions[spot->region].at_ns <= to_ns;
	    spot->region++) {
		const struct region_event *event = &spot->regions[spot->region];

		if (event->at_ns > at_ns) {
			if (spot->left_ns != INT64_MIN) {
				turn_frames(k, site, (uint64_t)at_ns);
				put_off_core(k, at_ns, event->at_ns);
			}
			at_ns = event->at_ns;
		}
		turn_frames(k, 0, (uint64_t)at_ns);
		put_region(k, (uint64_t)at_ns, event->region);
	}
	if (spot->region == spot->region_count)
		spot->region = spot->region_count = 0;
	return at_ns;
}

static OTF2_AttributeList *
wait_attributes(struct archive *a, const struct wait *waits, int count)
{
	const struct wait *longest = waits;
	int64_t all_ns = 0;

	if (a->scout || count == 0)
		return NULL;
	for (int i = 0; i < count; i++) {
		all_ns += waits[i].to_ns - waits[i].from_ns;
		if (waits[i].to_ns - waits[i].from_ns > longest->to_ns - longest->from_ns)
			longest = &waits[i];
	}
	attribute(a, WORD_WAIT, OTF2_TYPE_UINT64,
	    (OTF2_AttributeValue){ .uint64 = (uint64_t)all_ns });
	attribute(a, WORD_WAIT_STATE, OTF2_TYPE_STRING,
	    (OTF2_AttributeValue){ .stringRef = a->state_names[longest->state] });
	if (longest->cause != NOBODY)
		attribute(a, WORD_WAITS_FOR, OTF2_TYPE_LOCATION,
		    (OTF2_AttributeValue){ .locationRef = longest->cause });
	return a->attributes;
}

void
rows_put(struct archive *a, uint32_t location, const struct calls *rows, size_t first, size_t end,
    const struct wait *waits, int wait_count)
{
	struct spot *spot = &a->spots[location];
	const int64_t enter_ns = rows->enter_ns[first], leave_ns = rows->leave_ns[first];
	struct cursor k = { a, spot, rows, location, (uint64_t)enter_ns, (uint64_t)leave_ns,
	    (uint64_t)enter_ns, rows->call[first] };
	const enum call_class class = call_class(k.call);
	const uint32_t region = region_of_call(a, k.call),
	    site = rows->site[first] < a->known->site_count ? rows->site[first] : 0;
	const struct otf2_event event = plan_row(a, location, rows, first, 0, k.call);
	OTF2_AttributeList *more = NULL;
	int64_t from_ns;

	if (enter_ns < 0 || enter_ns < spot->left_ns || leave_ns < enter_ns)
		die("a call of location %u begins before 0, or before the previous one has ended",
		    location);
	from_ns = put_regions(&k, site, enter_ns);
	if (spot->left_ns == INT64_MIN)
		from_ns = enter_ns;	/* before the first call nothing is known but regions */
	turn_frames(&k, site, (uint64_t)from_ns);
	put_off_core(&k, from_ns, enter_ns);
	off_forget(&a->off, location, leave_ns);
	/*
	 * Without a mark, lp-import would mistake the call for another if it has further rows, or
	 * is of a kind that without events had no peer.
	 */
	if (event.kind == NO_EVENT)
		more = differences(&k, first, &event, end - first > 1 ||
		    (class >= CLASS_SEND && class <= CLASS_RECV_START));
	WRITE(&k, Enter, more, k.enter, region);
	put_epoch(&k, first, end);
	if (event.kind != NO_EVENT)
		put_row(&k, first, event, 0);
	for (size_t i = first + 1; i < end; i++)
		put_row(&k, i, plan_row(a, location, rows, i, i - first, k.call), i - first);
	WRITE(&k, Leave, wait_attributes(a, waits, wait_count), k.leave, region);
	spot->left_ns = leave_ns;
	a->last_ns = larger(a->last_ns, leave_ns);
}

void
rows_end(struct archive *a)
{
	for (uint32_t l = 0; l < a->locations; l++) {
		struct cursor k = { .a = a, .spot = &a->spots[l], .location = l };

		if (k.spot->left_ns != INT64_MIN)
			turn_frames(&k, 0, (uint64_t)put_regions(&k, 0, INT64_MAX));
	}
}

/* ---- the path ---- */

void
rows_segment(struct archive *a, const struct segment *s)
{
	struct cursor k = { .a = a, .spot = &a->spots[a->locations], .location = a->locations };
	const OTF2_Type type = OTF2_TYPE_INT64;
	const OTF2_MetricValue rank = { .signed_int = s->kind == GAP ? -1 :
	    a->known->location_rank[s->location] };
	uint32_t frames[PLACES];
	const size_t depth = site_frames(a->known, s->site, frames);

	if (s->begin_ns < 0 || s->begin_ns < k.spot->left_ns)
		die("the pieces of the critical path are not in order of time");
	a->path = true;
	k.spot->left_ns = s->begin_ns;
	attribute(a, WORD_KIND, OTF2_TYPE_STRING,
	    (OTF2_AttributeValue){ .stringRef = a->kind_names[s->kind] });
	if (s->call != 0)
		attribute(a, WORD_CALL, OTF2_TYPE_REGION,
		    (OTF2_AttributeValue){ .regionRef = region_of_call(a, s->call) });
	if (depth > 0)
		attribute(a, WORD_SITE, OTF2_TYPE_REGION,
		    (OTF2_AttributeValue){ .regionRef = region_of_place(a, frames[depth - 1]) });
	WRITE(&k, Metric, a->attributes, (uint64_t)s->begin_ns, 0, 1, &type, &rank);
	a->last_ns = larger(a->last_ns, s->end_ns);
}
