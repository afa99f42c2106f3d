/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns sampled places into functions, or lines of these: their own samples, and those with their
 * callees.
 */
#include <stdlib.h>
#include <string.h>

#include "critpath.h"

ORDER(by_frame, struct stack_frame, BY_TEXT(name) BY_ANY_TEXT(file) BY(line))

static int
more_first(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

int
functions_by_path(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	int order;

	if ((order = more_first(a->samples, b->samples)) != 0 || (order = more_first(a->all,
	    b->all)) != 0 || (order = more_first(a->inclusive, b->inclusive)) != 0 ||
	    (order = more_first(a->all_inclusive, b->all_inclusive)) != 0)
		return order;
	return by_frame(&a->frame, &b->frame);
}

/* Merges rows of one frame. */
static size_t
fold(struct function *at, size_t count)
{
	size_t kept = 0;

	SORT(at, count, by_frame);
	for (size_t i = 0; i < count; i++) {
		struct function *last = &at[kept > 0 ? kept - 1 : 0];

		if (kept == 0 || by_frame(&last->frame, &at[i].frame) != 0) {
			at[kept++] = at[i];
			continue;
		}
		last->all += at[i].all;
		last->samples += at[i].samples;
		last->all_inclusive += at[i].all_inclusive;
		last->inclusive += at[i].inclusive;
	}
	return kept;
}

/* All frames, in order. A recursive function has its time once. */
static struct function *
list_frames(const struct functions *f, const struct definitions *known, enum by by, size_t *count)
{
	struct function *list = NULL;
	size_t places, capacity = 0, fold_at = 1 << 16;
	struct sampled *place = functions_places(f, &places);

	*count = 0;
	for (size_t p = 0; p < places; p++) {
		struct frames frames;
		const size_t first = *count;

		if (place[p].all == 0 && place[p].samples == 0)	/* a thread only blocked there */
			continue;
		frames = frames_of(known, &place[p]);
		GROW(list, capacity, first + frames.count);
		for (size_t i = 0; i < frames.count; i++) {
			struct function row = { frames.at[i], i == 0 ? place[p].all : 0,
			    i == 0 ? place[p].samples : 0, place[p].all, place[p].samples, 0 };
			size_t k = first;

			if (by == BY_FUNCTION)
				row.frame.line = 0;
			while (k < *count && by_frame(&list[k].frame, &row.frame) != 0)
				k++;
			if (k == *count)
				list[(*count)++] = row;
		}
		if (*count > fold_at) {
			*count = fold(list, *count);
			fold_at = 2 * *count + (1 << 16);
		}
	}
	*count = fold(list, *count);
	free(place);
	return list;
}

/* Own samples count before those of callees. */
static int
by_seen(const struct function *a, const struct function *b)
{
	int order = more_first(a->all, b->all);

	if (order == 0 && a->all == 0)
		order = more_first(a->all_inclusive, b->all_inclusive);
	return order != 0 ? order : functions_by_path(a, b);
}

/* Finds the most frequent line of each function. */
static void
find_lines(struct function *functions, size_t count, const struct function *lines,
    size_t line_count)
{
	for (size_t i = 0, l = 0; i < count; i++) {
		const struct function *most = NULL;
		const struct stack_frame *of = &functions[i].frame;

		for (; l < line_count && strcmp(lines[l].frame.name, of->name) == 0 &&
		    text_compare(lines[l].frame.file, of->file) == 0; l++)
			if (most == NULL || by_seen(&lines[l], most) < 0)
				most = &lines[l];
		functions[i].frame.line = most != NULL ? most->frame.line : 0;
	}
}

struct listed
functions_list(const struct functions *f, const struct definitions *known, enum by by)
{
	struct listed l = { .of = f, .on_path = functions_on_path(f) };

	for (int kind = 0; kind < KINDS; kind++)
		l.path_ns += f->sums.path_ns[kind];
	l.at = list_frames(f, known, by, &l.count);
	if (by == BY_FUNCTION) {
		size_t count;
		struct function *lines = list_frames(f, known, BY_LINE, &count);

		find_lines(l.at, l.count, lines, count);
		free(lines);
	}
	SORT(l.at, l.count, functions_by_path);
	for (size_t i = 0; i < l.count; i++) {
		l.at[i].path_ns = on_path_ns(&l.on_path, l.at[i].samples);
		l.all += l.at[i].all;
	}
	l.all += l.all == 0;
	return l;
}
