/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns sampled places into functions, or lines of these: their own samples, and those with their
 * callees.
 */
#include <stdlib.h>
#include <string.h>

#include "critpath.h"

ORDER(by_frame, struct stack_frame, BY_TEXT(name) BY_ANY_TEXT(file) BY(line))

ORDER(by_path, struct function, MOST(samples) MOST(all) MOST(inclusive) MOST(all_inclusive)
    COMPARED(by_frame(&a->frame, &b->frame), 0))

int
functions_by_path(const void *left, const void *right)
{
	return by_path(left, right);
}

FOLD(fold, struct function, by_frame,
	to->all += more->all;
	to->samples += more->samples;
	to->all_inclusive += more->all_inclusive;
	to->inclusive += more->inclusive;)

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
#define CALLEES(item) ((item)->all == 0 ? (item)->all_inclusive : 0)
ORDER(by_seen, struct function, MOST(all) COMPARED(CALLEES(b), CALLEES(a))
    COMPARED(by_path(a, b), 0))

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
