/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions as slices, on a track for each thread. With limits of time, only what lies within. */
#include <stdlib.h>

#include "perfetto.h"

struct region_track {
	uint32_t location, worker;
	struct begun { uint32_t region; int64_t ns; } *open;
	size_t count, capacity;
	size_t shown;			/* the first ones of these have a begin in the output */
};

static struct region_track *
track_of(struct perfetto *p, uint32_t location, uint32_t worker)
{
	struct region_track *track;

	for (size_t i = 0; i < p->region_track_count; i++)
		if (p->region_tracks[i].location == location &&
		    p->region_tracks[i].worker == worker)
			return &p->region_tracks[i];
	track = APPEND(p->region_tracks, p->region_track_count, p->region_track_capacity);
	*track = (struct region_track){ .location = location, .worker = worker };
	region_track(p, location, worker);
	return track;
}

/* The regions that are open at the first instant shown begin there. */
static void
show_open(struct perfetto *p, struct region_track *track)
{
	const int64_t from_ns = p->export->from_ns;

	for (; track->shown < track->count; track->shown++) {
		const struct begun *begun = &track->open[track->shown];

		slice_open(p, begun->ns < from_ns ? from_ns : begun->ns,
		    REGION_TRACK(track->location, track->worker), region_iid(p, begun->region));
	}
}

static void
take_event(struct perfetto *p, struct region_track *track, int64_t at_ns, uint32_t region)
{
	const int64_t from_ns = p->export->from_ns, to_ns = p->export->to_ns;
	const struct begun *last = track->count > 0 ? &track->open[track->count - 1] : NULL;

	if (region > 0)
		*APPEND(track->open, track->count, track->capacity) =
		    (struct begun){ region, at_ns };
	else if (last == NULL)
		return;
	if (at_ns >= from_ns && (region > 0 ? at_ns : last->ns) <= to_ns)
		show_open(p, track);
	if (region > 0)
		return;
	if (track->shown == track->count) {
		slice_end(p, at_ns < to_ns ? at_ns : to_ns,
		    REGION_TRACK(track->location, track->worker));
		track->shown--;
	}
	track->count--;
}

void
perfetto_regions(struct perfetto *p, const struct samples *s)
{
	struct region_track *track;

	if (s->location >= p->graph.known.location_count || !is_wanted(p->export,
	    p->graph.known.location_rank[s->location], p->export->from_ns, p->export->from_ns))
		return;
	track = track_of(p, s->location, s->worker);
	for (size_t i = 0; i < s->count; i++)
		take_event(p, track, s->time_ns[i],
		    s->region[i] > 0 ? (uint32_t)s->region[i] : 0);
}
