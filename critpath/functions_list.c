/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sampled places as functions, or lines of these: their own samples, and those with their callees;
 * and as stacks, in the formats of stack viewers.
 */
#include "critpath.h"

/* ---- the frames of a place ---- */

struct frames {
	struct stack_frame at[256];	/* the place itself first */
	size_t count;
};

const char *const other_names[KINDS] = {
	[MPI] = "(MPI)", [TRANSFER] = "(transfer)", [START] = "(start)",
};

static void
add_frame(struct frames *frames, struct stack_frame frame)
{
	if (frames->count < sizeof frames->at / sizeof frames->at[0])
		frames->at[frames->count++] = frame;
}

static void
add_frames(struct frames *frames, const struct definitions *known, uint32_t site)
{
	const struct site *s = site < known->site_count ? &known->sites[site] : NULL;
	struct stack_frame frame;

	for (uint32_t i = 0; s != NULL && s->stack != NULL && i < s->depth; i++)
		add_frames(frames, known, s->stack[i]);
	if (site == 0 || s == NULL || s->stack != NULL)
		return;
	frame = frames->count == 0 ? place_frame(known, site) : caller_frame(known, site);
	add_frame(frames, frame);
	for (size_t i = 0; i < s->inlined_count && frame.name == s->function; i++)
		add_frame(frames, (struct stack_frame){ s->inlined[i].function, s->inlined[i].file,
		    s->inlined[i].line });
}

static struct frames
frames_of(const struct definitions *known, const struct sampled *place)
{
	struct frames frames = { .count = 0 };

	add_frames(&frames, known, place->site);
	if (frames.count == 0)
		add_frame(&frames, (struct stack_frame){ .name = "(unknown)" });
	add_frames(&frames, known, place->callers);
	return frames;
}

/* ---- functions and lines ---- */

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

/* ---- stacks ---- */

/* Below ROOT, unless it is NULL. */
static void
add_stack(struct stacks *stacks, const struct definitions *known, const char *root,
    const struct sampled *place, uint64_t ns)
{
	struct frames frames = frames_of(known, place);
	struct stack_frame outer_first[1 + sizeof frames.at / sizeof frames.at[0]];
	const size_t first = root != NULL;

	outer_first[0] = (struct stack_frame){ .name = root };
	for (size_t i = 0; i < frames.count; i++)	/* functions, on any line */
		outer_first[first + i] = (struct stack_frame){ .name = frames.at[frames.count -
		    1 - i].name };
	stacks_add(stacks, stacks_number(stacks, outer_first, first + frames.count), ns);
}

static void
add_one(struct stacks *stacks, const char *name, int64_t ns)
{
	if (ns > 0)
		stacks_add(stacks, stacks_number(stacks, &(struct stack_frame){ .name = name }, 1),
		    (uint64_t)ns);
}

void
functions_stacks(struct text *out, const struct functions *f, const struct definitions *known,
    bool speedscope)
{
	struct on_path on_path = functions_on_path(f);
	struct stacks *stacks = stacks_begin(out, speedscope);
	size_t count;
	struct sampled *places = functions_places(f, &count);

	stacks_profile(stacks, "on the path", "path", 0);
	for (size_t i = 0; i < count; i++)
		if (places[i].samples > 0 && on_path.worth_ns > 0)
			add_stack(stacks, known, NULL, &places[i], (uint64_t)on_path_ns(&on_path,
			    places[i].samples));
	add_one(stacks, on_core_name, on_path.unsampled_ns);
	for (size_t i = 0; i < count; i++)
		if (places[i].blocked_ns > 0) {
			add_stack(stacks, known, off_names[OFF_BLOCKED], &places[i],
			    (uint64_t)places[i].blocked_ns);
			on_path.off_ns[OFF_BLOCKED] -= places[i].blocked_ns;
		}
	for (int reason = 0; reason < OFF_REASONS; reason++)
		add_one(stacks, off_names[reason], on_path.off_ns[reason]);
	for (int kind = 0; kind < KINDS; kind++)
		if (other_names[kind] != NULL)
			add_one(stacks, other_names[kind], f->sums.path_ns[kind]);
	stacks_profile(stacks, "in all time", "all", 0);
	for (size_t i = 0; i < count; i++)
		if (places[i].all > 0)
			add_stack(stacks, known, NULL, &places[i],
			    places[i].all * (uint64_t)f->sums.period_ns);
	free(places);
	stacks_end(stacks);
	text_flush(out);
}
