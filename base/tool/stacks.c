/* SPDX-License-Identifier: BSD-3-Clause */
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

#include "hash_table.h"
#include "json.h"
#include "tool.h"

struct known_frame {
	char *name;		/* as it will be written */
	const char *file;	/* NULL: none */
	int32_t line;
	uint32_t number;	/* 1 + the frame's number; 0: a free slot */
};

#define HASH(f) mix(hash_of_text((f)->name), mix(hash_of_text((f)->file), (uint32_t)(f)->line))
#define SAME(a, b) ((a)->line == (b)->line && strcmp((a)->name, (b)->name) == 0 && \
	text_compare((a)->file, (b)->file) == 0)
HASH_TABLE_BY(known_frames, struct known_frame, HASH, SAME, number, 0)
#undef HASH
#undef SAME

struct known_stack {
	uint32_t *frames;
	size_t count;
	uint32_t number;	/* 1 + the stack's number; 0: a free slot */
};

#define HASH(s) hash_of_numbers((s)->frames, (s)->count)
#define SAME(a, b) ((a)->count == (b)->count && \
	memcmp((a)->frames, (b)->frames, (a)->count * sizeof *(a)->frames) == 0)
HASH_TABLE_BY(known_stacks, struct known_stack, HASH, SAME, number, 0)

struct stacks {
	struct text *out;
	bool speedscope;
	struct known_frames *frame_table;
	struct known_frame *frames;	/* by number */
	size_t frame_count, frame_capacity;
	struct known_stacks *stack_table;
	struct known_stack *stacks;	/* by number */
	size_t stack_count, stack_capacity;
	uint64_t *ns;			/* folded: by stack, of this profile */
	size_t ns_capacity;
	struct added { uint64_t ns; uint32_t stack; } *added;	/* speedscope */
	size_t added_count, added_capacity;
	struct profile { const char *name; int64_t begin_ns; size_t first; } *profiles;
	size_t profile_count, profile_capacity;
	const char *prefix;		/* NULL: none */
	uint32_t *numbers;		/* of the frames of one stack */
	size_t number_capacity;
};

struct stacks *
stacks_begin(struct text *out, bool speedscope)
{
	struct stacks *s = zalloc(1, sizeof *s);

	s->out = out;
	s->speedscope = speedscope;
	return s;
}

static uint32_t
frame_number(struct stacks *s, const struct stack_frame *frame)
{
	const size_t size = 10 * strlen(frame->name) + 1;	/* enough for any visible form */
	char *name = zalloc(size, 1);
	struct known_frame key = { name, frame->file, frame->line, (uint32_t)s->frame_count + 1 },
	    *found;

	visible_copy(name, size, frame->name);
	for (char *c = name; (c = strchr(c, ';')) != NULL; )	/* it divides frames */
		*c = ':';
	found = known_frames_add(&s->frame_table, &key);
	if (found->number > s->frame_count)
		*APPEND(s->frames, s->frame_count, s->frame_capacity) = *found;
	else
		free(name);
	return found->number - 1;
}

uint32_t
stacks_number(struct stacks *s, const struct stack_frame *frames, size_t count)
{
	struct known_stack key = { NULL, count, (uint32_t)s->stack_count + 1 }, *found;

	GROW(s->numbers, s->number_capacity, count + 1);
	for (size_t i = 0; i < count; i++)
		s->numbers[i] = frame_number(s, &frames[i]);
	key.frames = s->numbers;
	found = known_stacks_add(&s->stack_table, &key);
	if (found->number <= s->stack_count)
		return found->number - 1;
	found->frames = zalloc(count, sizeof *found->frames);
	memcpy(found->frames, s->numbers, count * sizeof *found->frames);
	*APPEND(s->stacks, s->stack_count, s->stack_capacity) = *found;
	return found->number - 1;
}

void
stacks_add(struct stacks *s, uint32_t stack, uint64_t ns)
{
	if (s->speedscope) {
		*APPEND(s->added, s->added_count, s->added_capacity) = (struct added){ ns, stack };
		return;
	}
	*AT(s->ns, s->ns_capacity, stack) += ns;
}

/* ---- folded ---- */

struct line { char *text; uint64_t ns; };

ORDER(by_text, struct line, BY_TEXT(text))
FOLD(fold_lines, struct line, by_text, to->ns += more->ns; free(more->text);)

static char *
line_of(const struct stacks *s, const struct known_stack *stack)
{
	size_t size = (s->prefix != NULL ? strlen(s->prefix) : 0) + 2;
	char *text, *end;

	for (size_t i = 0; i < stack->count; i++)
		size += strlen(s->frames[stack->frames[i]].name) + 1;
	end = text = zalloc(size, 1);
	if (s->prefix != NULL)
		end = stpcpy(end, s->prefix);
	for (size_t i = 0; i < stack->count; i++)
		end = stpcpy(stpcpy(end, end > text ? ";" : ""), s->frames[stack->frames[i]].name);
	return text;
}

/* Writes a profile's lines in order of their text; joins functions that look alike. */
static void
put_lines(struct stacks *s)
{
	struct line *lines = zalloc(s->stack_count, sizeof *lines);
	size_t count = 0;

	for (size_t i = 0; i < s->stack_count && i < s->ns_capacity; i++)
		if (s->ns[i] > 0) {
			lines[count++] = (struct line){ line_of(s, &s->stacks[i]), s->ns[i] };
			s->ns[i] = 0;
		}
	count = fold_lines(lines, count);
	for (size_t i = 0; i < count; i++) {
		text_put(s->out, lines[i].text);
		text_char(s->out, ' ');
		text_uint(s->out, lines[i].ns);
		text_char(s->out, '\n');
		free(lines[i].text);
	}
	free(lines);
}

void
stacks_profile(struct stacks *s, const char *name, const char *prefix, int64_t begin_ns)
{
	if (!s->speedscope)
		put_lines(s);
	s->prefix = prefix;
	*APPEND(s->profiles, s->profile_count, s->profile_capacity) = (struct profile){
	    name, begin_ns, s->added_count };
}

/* ---- speedscope ---- */

static void
put_profile(struct json *json, const struct stacks *s, const struct profile *profile, size_t end)
{
	int64_t end_ns = profile->begin_ns;

	json_break(json);
	json_begin_object(json, NULL);
	json_text(json, "type", "sampled");
	json_text(json, "name", profile->name);
	json_text(json, "unit", "nanoseconds");
	json_begin_array(json, "samples");
	for (size_t i = profile->first; i < end; i++) {
		const struct known_stack *stack = &s->stacks[s->added[i].stack];

		json_begin_array(json, NULL);
		for (size_t f = 0; f < stack->count; f++)
			json_uint(json, NULL, stack->frames[f]);
		json_end_array(json);
	}
	json_end_array(json);
	json_begin_array(json, "weights");
	for (size_t i = profile->first; i < end; i++) {
		json_uint(json, NULL, s->added[i].ns);
		end_ns += (int64_t)s->added[i].ns;
	}
	json_end_array(json);
	json_int(json, "startValue", profile->begin_ns);
	json_int(json, "endValue", end_ns);
	json_end_object(json);
}

static void
put_speedscope(const struct stacks *s)
{
	struct json json;

	json_begin(&json, s->out);
	json_begin_object(&json, NULL);
	json_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text(&json, "exporter", tool);
	json_begin_object(&json, "shared");
	json_begin_array(&json, "frames");
	for (size_t i = 0; i < s->frame_count; i++) {
		json_begin_object(&json, NULL);
		json_text(&json, "name", s->frames[i].name);
		if (s->frames[i].file != NULL) {
			json_text(&json, "file", s->frames[i].file);
			json_int(&json, "line", s->frames[i].line);
		}
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	json_begin_array(&json, "profiles");
	for (size_t i = 0; i < s->profile_count; i++)
		put_profile(&json, s, &s->profiles[i],
		    i + 1 < s->profile_count ? s->profiles[i + 1].first : s->added_count);
	json_end_array(&json);
	json_end_object(&json);
	json_end_line(&json);
}

void
stacks_end(struct stacks *s)
{
	if (s->speedscope)
		put_speedscope(s);
	else
		put_lines(s);
	for (size_t i = 0; i < s->frame_count; i++)
		free(s->frames[i].name);
	for (size_t i = 0; i < s->stack_count; i++)
		free(s->stacks[i].frames);
	free(s->frame_table);
	free(s->stack_table);
	free(s->frames);
	free(s->stacks);
	free(s->ns);
	free(s->added);
	free(s->profiles);
	free(s->numbers);
	free(s);
}
