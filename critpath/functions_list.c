/* SPDX-License-Identifier: BSD-3-Clause */
/* Places that were sampled become functions, or lines of these: by themselves, and with what they called. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "../base/tool/hash_table.h"

int
compare_text(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

/* By name and file, where LINE is not negative by that, too. */
struct entry {
	const char *name, *file;	/* name NULL: a free slot */
	int32_t line;
	size_t number;			/* in the list */
};

static uint64_t
text_hash(const char *text)
{
	uint64_t hash = 0;

	for (; text != NULL && *text != '\0'; text++)
		hash = mix(hash, (unsigned char)*text);
	return hash;
}

#define HASH(e) mix(text_hash((e)->name) ^ (uint64_t)(e)->line, text_hash((e)->file))
#define SAME(a, b) ((a)->line == (b)->line && strcmp((a)->name, (b)->name) == 0 && \
	compare_text((a)->file, (b)->file) == 0)
#define FREE(e) ((e)->name == NULL)
#define MAKE_FREE(e) ((e)->name = NULL)
HASH_TABLE(entries, struct entry, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))

struct list {
	struct function *at;
	size_t *seen;		/* by number: 1 + the place that it was met in last */
	size_t count, capacity, seen_capacity;
	struct entries entries;
	enum by by;
};

static size_t
number_of(struct list *list, const struct stack_frame *frame)
{
	struct entry new = { frame->name, frame->file, list->by == BY_LINE ? frame->line : -1, list->count };
	struct entry *entry = entries_add(&list->entries, &new);

	if (entry->number < list->count)
		return entry->number;
	list->at = grow(list->at, &list->capacity, list->count + 1, sizeof *list->at);
	list->seen = grow(list->seen, &list->seen_capacity, list->count + 1, sizeof *list->seen);
	/* The table goes on to point to these. */
	entry->name = need(strdup(frame->name));
	list->at[list->count] = (struct function){ .name = entry->name, .file = frame->file,
	    .line = list->by == BY_LINE ? frame->line : 0 };
	list->seen[list->count] = 0;
	return list->count++;
}

/* A function that calls itself has its time once. */
static void
add_place(struct list *list, const struct definitions *known, const struct sampled *place, size_t index)
{
	struct frames frames = frames_of(known, place);

	for (size_t i = 0; i < frames.count; i++) {
		const size_t number = number_of(list, &frames.at[i]);
		struct function *it = &list->at[number];

		if (i == 0) {
			it->all += place->all;
			it->samples += place->samples;
			it->path_ns += place->path_ns;
			it->squares += place->squares;
		}
		if (list->seen[number] == index + 1)
			continue;
		list->seen[number] = index + 1;
		it->all_inclusive += place->all;
		it->inclusive_ns += place->path_ns;
	}
	frames_free(&frames);
}

static int
by_path(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	int order;

	if (a->path_ns != b->path_ns)
		return a->path_ns > b->path_ns ? -1 : 1;
	if (a->all != b->all)
		return a->all > b->all ? -1 : 1;
	if (a->inclusive_ns != b->inclusive_ns)
		return a->inclusive_ns > b->inclusive_ns ? -1 : 1;
	if (a->all_inclusive != b->all_inclusive)
		return a->all_inclusive > b->all_inclusive ? -1 : 1;
	if ((order = strcmp(a->name, b->name)) == 0)
		order = compare_text(a->file, b->file);
	return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

static struct list
make_list(const struct functions *f, const struct definitions *known, enum by by)
{
	struct list list = { .by = by };
	size_t count;
	struct sampled *places = functions_places(f, &count);

	entries_begin(&list.entries, 1024);
	for (size_t i = 0; i < count; i++)
		add_place(&list, known, &places[i], i);
	free(places);
	return list;
}

/* Of each function the line that is seen most; LINES come in a fixed order. */
static void
find_lines(struct list *functions, const struct function *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct stack_frame frame = { lines[i].name, lines[i].file, lines[i].line };
		struct function *it = &functions->at[number_of(functions, &frame)];
		/* Time of its own counts before that of what was called there. */
		const uint64_t samples = lines[i].all > 0 ? lines[i].all + (UINT64_C(1) << 62) : lines[i].all_inclusive;

		if (samples > it->line_samples) {
			it->line_samples = samples;
			it->line = lines[i].line;
		}
	}
}

/* By how many samples of one weight each share of the sampled path might as well be known. */
static void
find_errors(struct list *list, int64_t sampled_ns)
{
	functions_wide squares = 0;
	double effective;

	for (size_t i = 0; i < list->count; i++)
		squares += list->at[i].squares;
	if (squares == 0 || sampled_ns <= 0)
		return;
	effective = (double)sampled_ns * (double)sampled_ns / (double)squares;
	for (size_t i = 0; i < list->count; i++) {
		const double share = (double)list->at[i].path_ns / (double)sampled_ns;

		list->at[i].error = sqrt(share < 1 ? share * (1 - share) / effective : 0);
	}
}

struct function *
functions_list(const struct functions *f, const struct definitions *known, enum by by, size_t *count)
{
	struct list list = make_list(f, known, BY_LINE);

	if (list.count > 0)
		qsort(list.at, list.count, sizeof *list.at, by_path);
	if (by == BY_FUNCTION) {
		struct list lines = list;

		list = make_list(f, known, BY_FUNCTION);
		find_lines(&list, lines.at, lines.count);
		if (list.count > 0)
			qsort(list.at, list.count, sizeof *list.at, by_path);
		free(lines.at);
		free(lines.seen);
		free(lines.entries.slots);
	}
	find_errors(&list, f->sums.compute_ns - f->sums.not_sampled_ns);
	free(list.seen);
	free(list.entries.slots);
	*count = list.count;
	return list.at;
}
