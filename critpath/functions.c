/* SPDX-License-Identifier: BSD-3-Clause */
#include "functions.h"

#include <stdlib.h>
#include <string.h>

#include "../base/tool/hash_table.h"

#define HASH(p) mix((p)->site, (p)->callers)
#define SAME(a, b) ((a)->site == (b)->site && (a)->callers == (b)->callers)
#define FREE(p) ((p)->site == UINT32_MAX)
#define MAKE_FREE(p) ((p)->site = UINT32_MAX)
HASH_TABLE(place_table, struct sampled, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))

struct sampled *
functions_place(struct functions *f, uint32_t site, uint32_t callers)
{
	const struct sampled new = { .site = site == SITE_IN_CALL ? 0 : site, .callers = callers };

	if (f->places == NULL) {
		f->places = zalloc(1, sizeof *f->places);
		place_table_begin(f->places, 1024);
	}
	return place_table_add(f->places, &new);
}

static void
add_loss(struct functions *f)
{
	const struct samples *block = &f->block;

	f->losses = grow(f->losses, &f->loss_capacity, f->loss_count + 1, sizeof *f->losses);
	f->losses[f->loss_count++] = (struct loss){ block->count > 0 ? block->time_ns[0] : block->until_ns,
	    block->lost, block->location };
}

void
functions_see(struct functions *f, struct reader *in, const struct message *message, bool keeps, bool owns)
{
	struct samples *block = &f->block;

	if (reader_verify(in, message) < 0 || samples_read(block, in, message) < 0)
		die_input(in);
	f->sums.any = true;
	f->sums.period_ns = block->period_ns;
	if (owns && block->lost > 0)
		add_loss(f);
	if (block->worker == 0 && keeps)
		lane_add(lane_of(&f->lanes, block->location), block);
	else if (block->worker > 0 && owns)	/* a thread that makes no calls only computes */
		lane_add(lane_of(&f->workers, block->location), block);
}

void
functions_see_calls(struct functions *f, const struct calls *calls)
{
	if (calls->location < f->lanes.count)
		lane_see(&f->lanes.of[calls->location], calls);
}

/* Of the samples of its workers, too, those before go. */
static void
forget_workers(struct functions *f, struct sample_lane *lane, int64_t before_ns, bool counts)
{
	size_t kept = 0;

	for (size_t i = 0; i < lane->end; i++)
		if (lane->at[i].at_ns >= before_ns)
			lane->at[kept++] = lane->at[i];
		else if (counts)
			functions_place(f, lane->at[i].site, lane->at[i].callers)->all++;
	lane->end = kept;
}

static void
forget_losses(struct functions *f, uint32_t location, int64_t before_ns, bool counts)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->loss_count; i++)
		if (f->losses[i].location != location || f->losses[i].at_ns >= before_ns)
			f->losses[kept++] = f->losses[i];
		else if (counts)
			f->sums.lost += f->losses[i].lost;
	f->loss_count = kept;
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
				functions_place(f, lane->at[i].site, lane->at[i].callers)->all++;
		lane_forget(lane, to);
	}
	if (location < f->workers.count)
		forget_workers(f, &f->workers.of[location], before_ns, counts);
	if (f->loss_count > 0)
		forget_losses(f, location, before_ns, counts);
}

size_t
functions_between(const struct functions *f, uint32_t location, int64_t begin_ns, int64_t end_ns,
    size_t *from)
{
	*from = 0;
	if (location >= f->lanes.count || begin_ns >= end_ns)
		return 0;
	*from = lane_from(&f->lanes.of[location], begin_ns);
	return lane_from(&f->lanes.of[location], end_ns) - *from;
}

static uint32_t
number_of_name(struct functions *f, const char *name)
{
	uint32_t i = 0;

	while (i < f->gain_count && strcmp(f->gains[i].name, name) != 0)
		i++;
	if (i == f->gain_count) {
		f->gains = grow(f->gains, &f->gain_capacity, f->gain_count + 1, sizeof *f->gains);
		f->gains[f->gain_count++] = (struct function_gain){ .name = need(strdup(name)) };
	}
	return i;
}

/* Sites that nothing defines are all as unknown as number 0. */
static uint32_t
known_site(const struct functions *f, uint32_t site)
{
	return site < f->site_count ? site : 0;
}

void
functions_number(struct functions *f, const struct definitions *known)
{
	char text[1024];

	if (f->number_of == NULL) {
		f->site_count = known->site_count > 0 ? known->site_count : 1;
		f->number_of = zalloc(f->site_count, sizeof *f->number_of);
	}
	for (size_t l = 0; l < f->lanes.count; l++)
		for (size_t i = f->lanes.of[l].begin; i < f->lanes.of[l].end; i++) {
			const uint32_t site = known_site(f, f->lanes.of[l].at[i].site);

			if (f->number_of[site] == 0)
				f->number_of[site] = 1 + number_of_name(f, place_name(known, site, text, sizeof text));
		}
}

uint32_t
functions_at(const struct functions *f, uint32_t location, size_t sample)
{
	return f->number_of[known_site(f, f->lanes.of[location].at[sample].site)] - 1;
}

void
functions_length(struct functions *f, const struct segment *s)
{
	if (s->kind == COMPUTE)
		f->sums.compute_ns += s->end_ns - s->begin_ns;
	else
		f->sums.other_ns[s->kind] += s->end_ns - s->begin_ns;
}

/* The samples of a piece share out its length, to the nanosecond. */
void
functions_segment(struct functions *f, const struct segment *s)
{
	const int64_t length_ns = s->end_ns - s->begin_ns;
	const struct sample_lane *lane;
	functions_wide square;
	size_t from = 0, count;

	if (s->kind == GAP)
		return;
	functions_length(f, s);
	if (s->kind != COMPUTE)
		return;
	count = functions_between(f, s->location, s->begin_ns, s->end_ns, &from);
	if (count == 0) {
		f->sums.not_sampled_ns += length_ns;
		return;
	}
	lane = &f->lanes.of[s->location];
	square = (functions_wide)length_ns * (functions_wide)length_ns / count / count;
	for (size_t i = 0; i < count; i++) {
		struct sampled *place = functions_place(f, lane->at[from + i].site, lane->at[from + i].callers);

		place->samples++;
		place->squares += square;
		place->path_ns += length_ns / (int64_t)count + ((int64_t)i < length_ns % (int64_t)count);
	}
}

static int
by_site(const void *left, const void *right)
{
	const struct sampled *a = left, *b = right;

	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return a->callers < b->callers ? -1 : a->callers > b->callers;
}

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

uint64_t
functions_samples(const struct functions *f)
{
	size_t count;
	struct sampled *places = functions_places(f, &count);
	uint64_t samples = 0;

	for (size_t i = 0; i < count; i++)
		samples += places[i].samples;
	free(places);
	return samples;
}

