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
		frames->at[frames->count++] = (struct frame){ need(strdup(name)), file, line };
}

static void
add_frames(struct frames *frames, const struct definitions *known, uint32_t site)
{
	const struct site *s;
	char text[1024];

	if (site == 0 || site >= known->site_count)
		return;
	s = &known->sites[site];
	if (s->stack != NULL) {
		for (uint32_t i = 0; i < s->depth; i++)
			add_frames(frames, known, s->stack[i]);
		return;
	}
	add_frame(frames, place_name(known, site, text, sizeof text), s->function != NULL ? s->file : NULL,
	    s->function != NULL ? s->line : 0);
	for (size_t i = 0; i < s->inlined_count; i++)
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
put_frame(struct text *out, const char *name)
{
	for (; *name != '\0'; name++)	/* what divides frames and lines */
		text_char(out, *name == ';' || (unsigned char)*name < ' ' ? '_' : *name);
}

static void
folded_of(struct text *out, const struct functions *f, const struct definitions *known, bool path)
{
	size_t count;
	struct sampled *places = functions_places(f, &count);

	for (size_t i = 0; i < count; i++) {
		const int64_t ns = path ? places[i].path_ns : (int64_t)places[i].all * f->sums.period_ns;
		struct frames frames;

		if (ns <= 0)
			continue;
		frames = frames_of(known, &places[i]);
		text_put(out, path ? "path" : "all");
		for (size_t j = frames.count; j-- > 0; ) {
			text_char(out, ';');
			put_frame(out, frames.at[j].name);
		}
		text_char(out, ' ');
		text_int(out, ns);
		text_char(out, '\n');
		frames_free(&frames);
	}
	free(places);
	if (path && f->sums.not_sampled_ns > 0) {
		text_put(out, "path;not sampled ");
		text_int(out, f->sums.not_sampled_ns);
		text_char(out, '\n');
	}
	for (int kind = 0; path && kind < KINDS; kind++)
		if (other_names[kind] != NULL && f->sums.other_ns[kind] > 0) {
			text_put(out, "path;");
			text_put(out, other_names[kind]);
			text_char(out, ' ');
			text_int(out, f->sums.other_ns[kind]);
			text_char(out, '\n');
		}
}

struct frame_names {
	char **names;
	size_t count, capacity;
};

static size_t
frame_number(struct frame_names *known, const char *name)
{
	size_t i = 0;

	while (i < known->count && strcmp(known->names[i], name) != 0)
		i++;
	if (i == known->count) {
		known->names = grow(known->names, &known->capacity, known->count + 1, sizeof *known->names);
		known->names[known->count++] = need(strdup(name));
	}
	return i;
}

static void
profile_json(struct json *out, const struct functions *f, const struct definitions *known, bool path,
    struct frame_names *frame_names)
{
	size_t count;
	struct sampled *places = functions_places(f, &count);
	int64_t sum_ns = 0;

	json_break(out);
	json_begin_object(out, NULL);
	json_text(out, "type", "sampled");
	json_text(out, "name", path ? "on the path" : "in all time");
	json_text(out, "unit", "nanoseconds");
	json_begin_array(out, "samples");
	for (size_t i = 0; i < count; i++) {
		struct frames frames;

		if (path ? places[i].path_ns <= 0 : places[i].all == 0)
			continue;
		frames = frames_of(known, &places[i]);
		json_begin_array(out, NULL);
		for (size_t j = frames.count; j-- > 0; )
			json_uint(out, NULL, frame_number(frame_names, frames.at[j].name));
		json_end_array(out);
		frames_free(&frames);
	}
	json_end_array(out);
	json_begin_array(out, "weights");
	for (size_t i = 0; i < count; i++) {
		const int64_t ns = path ? places[i].path_ns : (int64_t)places[i].all * f->sums.period_ns;

		if (ns > 0) {
			json_int(out, NULL, ns);
			sum_ns += ns;
		}
	}
	json_end_array(out);
	json_int(out, "startValue", 0);
	json_int(out, "endValue", sum_ns);
	json_end_object(out);
	free(places);
}

static void
put_speedscope(struct json *out, const struct functions *f, const struct definitions *known)
{
	struct frame_names names = { 0 };

	json_begin_object(out, NULL);
	json_text(out, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text(out, "exporter", "lp-critpath");
	json_begin_array(out, "profiles");
	profile_json(out, f, known, true, &names);
	profile_json(out, f, known, false, &names);
	json_end_array(out);
	json_begin_object(out, "shared");
	json_begin_array(out, "frames");
	for (size_t i = 0; i < names.count; i++) {
		json_begin_object(out, NULL);
		json_text(out, "name", names.names[i]);
		json_end_object(out);
	}
	json_end_array(out);
	json_end_object(out);
	json_end_object(out);
	json_end_line(out);
}

void
functions_stacks(struct text *out, const struct functions *f, const struct definitions *known,
    bool speedscope)
{
	struct json json;

	json_begin(&json, out);
	if (speedscope)
		put_speedscope(&json, f, known);
	else {
		folded_of(out, f, known, true);
		folded_of(out, f, known, false);
	}
	text_flush(out);
}
