/* SPDX-License-Identifier: BSD-3-Clause */
#include "functions.h"

#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"

#define HASH(p) mix((p)->site, (p)->callers)
#define SAME(a, b) ((a)->site == (b)->site && (a)->callers == (b)->callers)
#define FREE(p) ((p)->site == UINT32_MAX)
#define MAKE_FREE(p) ((p)->site = UINT32_MAX)
HASH_TABLE(place_table, struct sampled, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL,
    die("out of memory"))

/* A site of workers for lost samples; their number is in callers. */
enum { SITE_LOST = UINT32_MAX };

void
functions_add_place(struct functions *f, const struct sampled *more)
{
	const struct sampled new = { .site = more->site, .callers = more->callers };
	struct sampled *place;

	if (more->site == UINT32_MAX)	/* of a damaged stream */
		return;
	if (f->places == NULL) {
		f->places = zalloc(1, sizeof *f->places);
		place_table_begin(f->places, 1024);
	}
	place = place_table_add(f->places, &new);
	place->all += more->all;
	place->samples += more->samples;
	place->blocked_ns += more->blocked_ns;
	place->before_ns += more->before_ns;
}

void
functions_see(struct functions *f, struct reader *in, const struct message *message,
    bool keeps, bool owns)
{
	struct samples *block = &f->block;

	if (reader_verify(in, message) < 0 || samples_read(block, in, message) < 0)
		die_input(in);
	f->sums.any = true;
	if (block->switches) {
		f->sums.switched = true;
		f->sums.clock |= block->clock;
		f->sums.lost += owns ? block->lost : 0;
		if (keeps)
			off_add(&f->off, block);
		return;
	}
	f->sums.period_ns = block->period_ns;
	if (owns && block->lost > 0) {
		uint32_t site = SITE_LOST,
		    lost = block->lost < UINT32_MAX ? (uint32_t)block->lost : UINT32_MAX;
		int64_t at_ns = block->count > 0 ? block->time_ns[0] : block->until_ns;

		lane_add(lane_of(&f->workers, block->location), &(struct samples){ .count = 1,
		    .time_ns = &at_ns, .site = &site, .callers = &lost });
	}
	if (block->worker == 0 && keeps)
		lane_add(lane_of(&f->lanes, block->location), block);
	else if (block->worker > 0 && owns)	/* a thread without calls only computes */
		lane_add(lane_of(&f->workers, block->location), block);
}

void
functions_see_calls(struct functions *f, const struct calls *calls)
{
	if (calls->location < f->lanes.count)
		lane_see(&f->lanes.of[calls->location], calls);
}

/* Drops the earlier samples of a location's workers. */
static void
forget_workers(struct functions *f, struct sample_lane *lane, int64_t before_ns, bool counts)
{
	size_t kept = 0;

	for (size_t i = 0; i < lane->end; i++) {
		const struct sample *s = &lane->at[i];

		if (s->at_ns >= before_ns)
			lane->at[kept++] = *s;
		else if (counts && s->site == SITE_LOST)
			f->sums.lost += s->callers;
		else if (counts)
			functions_add_place(f, &(struct sampled){ s->site, s->callers, .all = 1 });
	}
	lane->end = kept;
}

void
functions_forget(struct functions *f, uint32_t location, int64_t before_ns, bool owns, bool counts)
{
	struct sample_lane *lane = location < f->lanes.count ? &f->lanes.of[location] : NULL;
	size_t to;

	if (lane != NULL) {
		to = lane_from(lane, before_ns);
		if (owns && to > lane->seen)	/* its calls are still to come */
			to = lane->seen;
		for (size_t i = lane->begin; i < to && counts; i++)
			if (lane->at[i].site != SITE_IN_CALL)
				functions_add_place(f, &(struct sampled){ lane->at[i].site,
				    lane->at[i].callers, .all = 1 });
		lane_forget(lane, to);
	}
	if (location < f->workers.count)
		forget_workers(f, &f->workers.of[location], before_ns, counts);
	off_forget(&f->off, location, before_ns);
}

void
functions_length(struct functions *f, const struct segment *s)
{
	if (s->kind != GAP)
		f->sums.path_ns[s->kind] += s->end_ns - s->begin_ns;
}

/* Adds the places where the piece's thread blocked. */
static void
add_blocked(struct functions *f, const struct off_lane *lane, const struct segment *s)
{
	struct off_cut cut = off_between(lane, s->begin_ns, s->end_ns);
	struct off_span part;

	while (off_next(&cut, &part)) {
		const int64_t ns = part.to_ns - part.from_ns - part.on_core_ns;

		if (part.reason != OFF_BLOCKED)
			continue;
		if (part.site > 0)
			functions_add_place(f, &(struct sampled){ part.site, part.callers,
			    .blocked_ns = ns });
		else
			functions_add_place(f, &(struct sampled){ s->site, .before_ns = ns });
	}
}

/* Adds the time of the piece's thread on a core, and of the other threads of its process. */
static void
add_core_time(struct functions *f, const struct segment *s)
{
	const struct off_lane *lane = off_lane_of(&f->off, s->location, 0);
	const struct core_time time = core_time(lane, s->begin_ns, s->end_ns);

	core_time_add(&f->sums.core, &time);
	add_blocked(f, lane, s);
	for (uint32_t l = 0; l < f->location_count; l++)
		if (f->location_rank[l] == f->location_rank[s->location])
			thread_states_add(&f->threads, &f->off, l, s->begin_ns, s->end_ns);
	thread_states_time(&f->threads, &f->sums.threads_ns, &f->sums.alone_ns);
}

void
functions_segment(struct functions *f, const struct segment *s)
{
	const struct sample_lane *lane = s->location < f->lanes.count ?
	    &f->lanes.of[s->location] : NULL;

	functions_length(f, s);
	if (s->kind == COMPUTE && f->sums.switched)
		add_core_time(f, s);
	if (s->kind != COMPUTE || lane == NULL)
		return;
	for (size_t i = lane_from(lane, s->begin_ns);
	    i < lane->end && lane->at[i].at_ns < s->end_ns; i++)
		functions_add_place(f,
		    &(struct sampled){ lane->at[i].site, lane->at[i].callers, .samples = 1 });
}

ORDER(by_site, struct sampled, BY(site) BY(callers))

struct sampled *
functions_places(const struct functions *f, size_t *count)
{
	struct sampled *places;

	*count = 0;
	if (f->places == NULL)
		return NULL;
	places = zalloc(f->places->count + 1, sizeof *places);
	for (size_t i = 0; i < f->places->size; i++)
		if (!FREE(&f->places->slots[i]))
			places[(*count)++] = f->places->slots[i];
	qsort(places, *count, sizeof *places, by_site);
	return places;
}

struct on_path
functions_on_path(const struct functions *f)
{
	struct on_path path = { .compute_ns = f->sums.path_ns[COMPUTE] };

	for (size_t i = 0; f->places != NULL && i < f->places->size; i++)
		if (!FREE(&f->places->slots[i]))
			path.samples += f->places->slots[i].samples;
	path.drawn_ns = f->sums.switched ? f->sums.core.on_ns : path.compute_ns;
	path.worth_ns = sample_worth(f->sums.period_ns, path.samples, path.drawn_ns);
	path.on_core_ns = on_path_ns(&path, path.samples);
	path.off_ns[OFF_UNKNOWN] = path.compute_ns - path.on_core_ns;
	if (f->sums.switched) {
		path.unsampled_ns = path.drawn_ns - path.on_core_ns;
		path.on_core_ns = path.drawn_ns;
		memcpy(path.off_ns, f->sums.core.off_ns, sizeof path.off_ns);
	}
	return path;
}

int64_t
on_path_ns(const struct on_path *path, uint64_t samples)
{
	return (int64_t)samples * path->worth_ns;
}
