/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks of sampled places, in the formats of stack viewers. */
#include <stdlib.h>

#include "critpath.h"

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

struct frames
frames_of(const struct definitions *known, const struct sampled *place)
{
	struct frames frames = { .count = 0 };

	add_frames(&frames, known, place->site);
	if (frames.count == 0)
		add_frame(&frames, (struct stack_frame){ .name = "(unknown)" });
	add_frames(&frames, known, place->callers);
	return frames;
}

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
