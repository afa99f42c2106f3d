/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks of the places that were sampled, and the forms that viewers of stacks read. */
#include <stdlib.h>
#include <string.h>

#include "functions.h"

const char *const other_names[KINDS] = {
	[MPI] = "(MPI)", [TRANSFER] = "(transfer)", [START] = "(start)",
};
const char not_sampled[] = "not sampled";

static void
add_frame(struct frames *frames, const char *name, const char *file, int32_t line)
{
	if (frames->count < sizeof frames->at / sizeof frames->at[0])
		frames->at[frames->count++] = (struct stack_frame){ need(strdup(name)), file, line };
}

static void
add_frames(struct frames *frames, const struct definitions *known, uint32_t site)
{
	const struct site *s;
	char text[1024];
	bool has_lines;

	if (site == 0 || site >= known->site_count)
		return;
	s = &known->sites[site];
	if (s->stack != NULL) {
		for (uint32_t i = 0; i < s->depth; i++)
			add_frames(frames, known, s->stack[i]);
		return;
	}
	has_lines = place_has_lines(known, site);
	add_frame(frames, place_name(known, site, text, sizeof text), has_lines ? s->file : NULL,
	    has_lines ? s->line : 0);
	for (size_t i = 0; i < s->inlined_count && has_lines; i++)
		add_frame(frames, s->inlined[i].function, s->inlined[i].file, s->inlined[i].line);
}

struct frames
frames_of(const struct definitions *known, const struct sampled *place)
{
	struct frames frames = { .count = 0 };

	add_frames(&frames, known, place->site);
	if (frames.count == 0)
		add_frame(&frames, "(unknown)", NULL, 0);
	add_frames(&frames, known, place->callers);
	return frames;
}

void
frames_free(struct frames *frames)
{
	for (size_t i = 0; i < frames->count; i++)
		free((void *)(uintptr_t)frames->at[i].name);
}

static void
add_stack(struct stacks *stacks, const struct definitions *known, const struct sampled *place, int64_t ns)
{
	struct frames frames = frames_of(known, place);
	struct stack_frame outer_first[sizeof frames.at / sizeof frames.at[0]];

	for (size_t i = 0; i < frames.count; i++)	/* functions, whichever their lines */
		outer_first[i] = (struct stack_frame){ .name = frames.at[frames.count - 1 - i].name };
	stacks_add(stacks, stacks_number(stacks, outer_first, frames.count), (uint64_t)ns);
	frames_free(&frames);
}

static void
add_one(struct stacks *stacks, const char *name, int64_t ns)
{
	const struct stack_frame frame = { .name = name };

	if (ns > 0)
		stacks_add(stacks, stacks_number(stacks, &frame, 1), (uint64_t)ns);
}

static void
add_all(struct stacks *stacks, const struct functions *f, const struct definitions *known, bool path)
{
	size_t count;
	struct sampled *places = functions_places(f, &count);

	for (size_t i = 0; i < count; i++) {
		const int64_t ns = path ? places[i].path_ns : (int64_t)places[i].all * f->sums.period_ns;

		if (ns > 0)
			add_stack(stacks, known, &places[i], ns);
	}
	free(places);
}

void
functions_stacks(struct text *out, const struct functions *f, const struct definitions *known,
    bool speedscope)
{
	struct stacks *stacks = stacks_begin(out, speedscope);

	stacks_profile(stacks, "on the path", "path", 0);
	add_all(stacks, f, known, true);
	add_one(stacks, not_sampled, f->sums.not_sampled_ns);
	for (int kind = 0; kind < KINDS; kind++)
		if (other_names[kind] != NULL)
			add_one(stacks, other_names[kind], f->sums.other_ns[kind]);
	stacks_profile(stacks, "in all time", "all", 0);
	add_all(stacks, f, known, false);
	stacks_end(stacks);
	text_flush(out);
}
