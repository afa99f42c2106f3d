/* SPDX-License-Identifier: BSD-3-Clause */
#include "functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/stream/samples.h"
#include "../base/tool/hash_table.h"
#include "../base/tool/search.h"

struct sample {
	int64_t at_ns;
	uint32_t site, callers;
};

/* Of one location: those before CUT are of computation, those from NEXT on not looked at yet. */
struct sampled_lane {
	struct sample *at;
	size_t count, capacity, cut, next;
};

#define HASH(p) mix((p)->site, (p)->callers)
#define SAME(a, b) ((a)->site == (b)->site && (a)->callers == (b)->callers)
#define FREE(p) ((p)->site == UINT32_MAX)
#define MAKE_FREE(p) ((p)->site = UINT32_MAX)
HASH_TABLE(place_table, struct sampled, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))

static struct sampled *
place_at(struct functions *f, uint32_t site, uint32_t callers)
{
	struct sampled new = { .site = site, .callers = callers };

	return place_table_add(f->places, &new);
}

static struct sampled_lane *
lane_at(struct functions *f, uint32_t location)
{
	f->lanes = grow(f->lanes, &f->lane_capacity, (size_t)location + 1, sizeof *f->lanes);
	while (f->lane_count <= location)
		f->lanes[f->lane_count++] = (struct sampled_lane){ 0 };
	return &f->lanes[location];
}

static void
take_samples(struct functions *f, struct reader *in, const struct message *message)
{
	struct samples block = { 0 };
	struct sampled_lane *lane;

	if (reader_verify(in, message) < 0 || samples_read(&block, in, message) < 0)
		die_input(in);
	if (!f->any) {
		f->any = true;
		f->places = zalloc(1, sizeof *f->places);
		place_table_begin(f->places, 1024);
	}
	f->period_ns = block.period_ns;
	f->lost += block.lost;
	lane = block.worker == 0 ? lane_at(f, block.location) : NULL;
	for (size_t i = 0; i < block.count; i++)
		if (lane == NULL)	/* a thread that makes no calls only computes */
			place_at(f, block.site[i], block.callers[i])->all++;
		else {
			lane->at = grow(lane->at, &lane->capacity, lane->count + 1, sizeof *lane->at);
			lane->at[lane->count++] = (struct sample){ block.time_ns[i], block.site[i],
			    block.callers[i] };
		}
	samples_free(&block);
}

/* Those before UNTIL_NS are of computation. */
static void
keep_until(struct functions *f, struct sampled_lane *lane, int64_t until_ns)
{
	for (; lane->next < lane->count && lane->at[lane->next].at_ns < until_ns; lane->next++) {
		lane->at[lane->cut] = lane->at[lane->next];
		place_at(f, lane->at[lane->cut].site, lane->at[lane->cut].callers)->all++;
		lane->cut++;
	}
}

static void
take_calls(struct functions *f, const struct calls *calls)
{
	struct sampled_lane *lane;

	if (calls->location >= f->lane_count)
		return;
	lane = &f->lanes[calls->location];
	for (size_t i = 0; i < calls->count && lane->next < lane->count; i++) {
		if (calls->call[i] == 0)
			continue;
		keep_until(f, lane, calls->enter_ns[i]);
		while (lane->next < lane->count && lane->at[lane->next].at_ns < calls->leave_ns[i])
			lane->next++;
	}
}

void
functions_see(struct functions *f, struct reader *in, const struct message *message,
    const struct calls *calls)
{
	if (is_kind(message, "sampled"))
		take_samples(f, in, message);
	else if (is_kind(message, "calls"))
		take_calls(f, calls);
}

/* The first sample that is not before the instant. */
#define BEFORE(sample, ns) ((sample)->at_ns < (ns))
SEARCH(sample_from, struct sample, int64_t, BEFORE)
#undef BEFORE

size_t
functions_between(const struct functions *f, uint32_t location, int64_t begin_ns, int64_t end_ns,
    size_t *from)
{
	const struct sampled_lane *lane;

	*from = 0;
	if (location >= f->lane_count || begin_ns >= end_ns)
		return 0;
	lane = &f->lanes[location];
	*from = sample_from(lane->at, lane->cut, begin_ns);
	return sample_from(lane->at, lane->cut, end_ns) - *from;
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

void
functions_number(struct functions *f, const struct definitions *known)
{
	char text[1024];

	for (size_t i = 0; i < f->places->size; i++) {
		const uint32_t site = f->places->slots[i].site;
		const size_t before = f->number_capacity;

		if (FREE(&f->places->slots[i]))
			continue;
		f->number_of = grow(f->number_of, &f->number_capacity, (size_t)site + 1, sizeof *f->number_of);
		memset(f->number_of + before, 0, (f->number_capacity - before) * sizeof *f->number_of);
		if (f->number_of[site] == 0)
			f->number_of[site] = 1 + number_of_name(f, place_name(known, site, text, sizeof text));
	}
}

uint32_t
functions_at(const struct functions *f, uint32_t location, size_t sample)
{
	return f->number_of[f->lanes[location].at[sample].site] - 1;
}

/* The samples of a piece share out its length, to the nanosecond. */
void
functions_segment(struct functions *f, const struct segment *s)
{
	const int64_t length_ns = s->end_ns - s->begin_ns;
	const struct sampled_lane *lane;
	size_t from = 0, count;

	if (s->kind != COMPUTE) {
		f->other_ns[s->kind] += length_ns;
		return;
	}
	f->compute_ns += length_ns;
	lane = s->location < f->lane_count ? &f->lanes[s->location] : NULL;
	count = functions_between(f, s->location, s->begin_ns, s->end_ns, &from);
	if (count == 0)
		f->not_sampled_ns += length_ns;
	for (size_t i = 0; i < count; i++) {
		struct sampled *place = place_at(f, lane->at[from + i].site, lane->at[from + i].callers);
		const double mean_ns = (double)length_ns / (double)count;

		place->samples++;
		place->squares += mean_ns * mean_ns;
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
	if (!f->any)
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

double
functions_error(const struct functions *f, const struct function *function, int64_t path_ns)
{
	const int64_t sampled_ns = f->compute_ns - f->not_sampled_ns;
	double squares = 0, share, effective;

	for (size_t i = 0; i < f->places->size; i++)
		if (!FREE(&f->places->slots[i]))
			squares += f->places->slots[i].squares;
	if (squares <= 0 || sampled_ns <= 0 || path_ns <= 0)
		return 0;
	/* As many samples of one weight would tell as much. */
	effective = (double)sampled_ns * (double)sampled_ns / squares;
	share = (double)function->path_ns / (double)sampled_ns;
	if (share > 1)
		share = 1;
	return sqrt(share * (1 - share) / effective) * (double)sampled_ns / (double)path_ns;
}

/* ---- places to functions ---- */

static int
compare_text(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int
same_order(const struct function *a, const struct function *b, enum by by)
{
	int order = strcmp(a->name, b->name);

	if (order == 0)
		order = compare_text(a->file, b->file);
	if (order == 0 && by == BY_LINE)
		order = a->line < b->line ? -1 : a->line > b->line;
	return order;
}

static int
by_name(const void *left, const void *right)
{
	return same_order(left, right, BY_FUNCTION);
}

static int
by_line(const void *left, const void *right)
{
	return same_order(left, right, BY_LINE);
}

static int
by_path(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->path_ns != b->path_ns)
		return a->path_ns > b->path_ns ? -1 : 1;
	if (a->all != b->all)
		return a->all > b->all ? -1 : 1;
	return same_order(a, b, BY_LINE);
}

static struct function
function_of(const struct definitions *known, uint32_t site, int line)
{
	char text[1024];
	const struct site *s = site < known->site_count ? &known->sites[site] : NULL;

	return (struct function){ .name = need(strdup(place_name(known, site, text, sizeof text))),
	    .file = s != NULL && s->function != NULL ? s->file : NULL, .site = site, .line = line };
}

/* The same function once, with the sums; its line is the one that was seen most. */
static size_t
join_same(struct function *list, size_t count, enum by by)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct function *to = &list[kept > 0 ? kept - 1 : 0];

		if (kept == 0 || same_order(to, &list[i], by) != 0) {
			list[kept++] = list[i];
			continue;
		}
		to->all += list[i].all;
		to->samples += list[i].samples;
		to->all_inclusive += list[i].all_inclusive;
		to->path_ns += list[i].path_ns;
		to->inclusive_ns += list[i].inclusive_ns;
		to->squares += list[i].squares;
		if (list[i].site_samples > to->site_samples) {
			to->site_samples = list[i].site_samples;
			to->line = list[i].line;
			to->site = list[i].site;
		}
	}
	return kept;
}

struct function *
functions_list(const struct functions *f, const struct definitions *known, enum by by, size_t *count)
{
	size_t places_count;
	struct sampled *places = functions_places(f, &places_count);
	struct function *list = zalloc(places_count + 1, sizeof *list);

	for (size_t i = 0; i < places_count; i++) {
		const struct sampled *p = &places[i];

		list[i] = function_of(known, p->site,
		    p->site < known->site_count ? known->sites[p->site].line : 0);
		list[i].all = p->all;
		list[i].site_samples = p->all;
		list[i].samples = p->samples;
		list[i].path_ns = p->path_ns;
		list[i].squares = p->squares;
	}
	/* Lines first, so that the one seen most can be told of a function. */
	qsort(list, places_count, sizeof *list, by_line);
	*count = join_same(list, places_count, BY_LINE);
	if (by == BY_FUNCTION) {
		for (size_t i = 0; i < *count; i++)
			list[i].site_samples = list[i].all;
		qsort(list, *count, sizeof *list, by_name);
		*count = join_same(list, *count, BY_FUNCTION);
	}
	qsort(list, *count, sizeof *list, by_path);
	free(places);
	return list;
}
