/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the path's threads blocked, from their stacks when they left their cores. If the kernel
 * gave no stack, the call before which they blocked.
 */
#include <stdlib.h>
#include <string.h>

#include "critpath.h"
#include "../base/path/report.h"
#include "../base/tool/fields.h"
#include "../base/tool/text.h"

struct blocked {
	const char *function, *called, *before, *file;	/* NULL: unknown */
	int32_t line;
	int64_t ns;
	double share;
	char *shown;
};
#define BLOCKED(member) FIELD(struct blocked, member)
static const struct field blocked_fields[] = {
	{ "function", BLOCKED(function), .json = PLAIN },
	{ "file", BLOCKED(file), .json = PLAIN },
	{ "line", BLOCKED(line), .json = PLAIN, .known = UNLESS_ZERO },
	{ "called", BLOCKED(called), .json = PLAIN },
	{ "before", BLOCKED(before), .json = PLAIN },
	{ "path_%", BLOCKED(share), .text = "%.2f", .percent = true },
	{ "path_s", BLOCKED(ns), IN_SECONDS },
	{ "path_share", BLOCKED(share), .json = PLAIN },
	{ "blocked in", BLOCKED(shown), .text = PLAIN },
	FIELDS_END
};

ORDER(by_place, struct blocked, BY_ANY_TEXT(function) BY_ANY_TEXT(file) BY(line)
    BY_ANY_TEXT(called) BY_ANY_TEXT(before))
FOLD(fold, struct blocked, by_place, to->ns += more->ns;)

ORDER(by_time, struct blocked, MOST(ns) COMPARED(by_place(a, b), 0))

/* The program's function that blocked, and the function of the system that it called for that. */
static struct blocked
blocked_there(const struct definitions *known, const struct sampled *place)
{
	const uint32_t called = called_place(known, place->site, place->callers);
	struct blocked b = { .ns = place->blocked_ns };
	struct stack_frame frame, inlined;

	frame = own_frame(known, own_place(known, place->site, place->callers), &inlined);
	b.function = frame.name;
	b.file = frame.file;
	b.line = frame.file != NULL ? frame.line : 0;
	if (called > 0)
		b.called = caller_frame(known, called).name;
	return b;
}

static struct blocked
blocked_before(const struct definitions *known, const struct sampled *place)
{
	return (struct blocked){ .ns = place->before_ns,
	    .before = site_shown(known, place->site) };
}

/* Places that people would call the same, longest first. Their times add up. */
static struct blocked *
blocked_list(const struct listed *l, const struct definitions *known, size_t *count)
{
	struct sampled *places = functions_places(l->of, count);
	struct blocked *list = zalloc(2 * *count + 1, sizeof *list);
	size_t found = 0;

	for (size_t i = 0; i < *count; i++) {
		if (places[i].blocked_ns > 0)
			list[found++] = blocked_there(known, &places[i]);
		if (places[i].before_ns > 0)
			list[found++] = blocked_before(known, &places[i]);
	}
	free(places);
	*count = fold(list, found);
	SORT(list, *count, by_time);
	for (size_t i = 0; i < *count; i++)
		list[i].share = l->path_ns > 0 ? (double)list[i].ns / (double)l->path_ns : 0;
	return list;
}

static void
free_list(struct blocked *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i].shown);
	free(list);
}

/* "io (off.c:8), in usleep" */
static char *
shown(const struct blocked *b)
{
	const char *const in = b->called != NULL ? ", in " : "";
	const char *const called = b->called != NULL ? b->called : "";
	char *text;
	int size;

	if (b->before != NULL)
		size = asprintf(&text, "(unknown), before %s", b->before);
	else if (b->file != NULL)
		size = asprintf(&text, "%s (%s:%d)%s%s", b->function, file_name(b->file),
		    (int)b->line, in, called);
	else
		size = asprintf(&text, "%s%s%s", b->function, in, called);
	if (size < 0)
		die("out of memory");
	return text;
}

void
blocked_text(struct text *out, const struct listed *l, const struct definitions *known,
    size_t most)
{
	size_t count;
	struct blocked *list = blocked_list(l, known, &count);

	for (size_t i = 0; i < count; i++)
		list[i].shown = shown(&list[i]);
	if (count > 0) {
		text_char(out, '\n');
		table_first(out, blocked_fields, list, count, sizeof *list, most);
	}
	free_list(list, count);
}

void
blocked_json(struct json *out, const struct listed *l, const struct definitions *known)
{
	size_t count;
	struct blocked *list = blocked_list(l, known, &count);

	json_break(out);
	json_rows(out, "blocked", blocked_fields, list, count, sizeof *list);
	free_list(list, count);
}
