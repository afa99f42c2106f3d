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
	char *shown;			/* "io (off.c:8), in usleep" */
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

static char *
shown(const struct blocked *b)
{
	const char *const in = b->called != NULL ? ", in " : "";
	const char *const called = b->called != NULL ? b->called : "";

	if (b->before != NULL)
		return formatted("(unknown), before %s", b->before);
	if (b->file != NULL)
		return formatted("%s (%s:%d)%s%s", b->function, file_name(b->file), (int)b->line,
		    in, called);
	return formatted("%s%s%s", b->function, in, called);
}

/* Places that people would call the same, longest first. Their times add up. */
struct rows
blocked_rows(const struct listed *l, const struct definitions *known)
{
	size_t count, found = 0;
	struct sampled *places = functions_places(l->of, &count);
	struct blocked *list = zalloc(2 * count + 1, sizeof *list);

	for (size_t i = 0; i < count; i++) {
		if (places[i].blocked_ns > 0)
			list[found++] = blocked_there(known, &places[i]);
		if (places[i].before_ns > 0)
			list[found++] = (struct blocked){ .ns = places[i].before_ns,
			    .before = site_shown(known, places[i].site) };
	}
	free(places);
	count = fold(list, found);
	SORT(list, count, by_time);
	for (size_t i = 0; i < count; i++) {
		list[i].share = l->path_ns > 0 ? (double)list[i].ns / (double)l->path_ns : 0;
		list[i].shown = shown(&list[i]);
	}
	return (struct rows){ blocked_fields, list, count, sizeof *list };
}
