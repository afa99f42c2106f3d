/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The callers that Extrae records with a call, level by level, become the call's site: a place or a
 * stack of places. They are numbers of functions and of lines; the .pcf beside the trace names
 * them, if it exists.
 *
 * memory distinct places and stacks
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/tool/hash_table.h"
#include "prv.h"

/* A site: a place, or the stack of a place and the stack that it was called from. */
struct caller {
	int64_t function, line;
	uint32_t outer;			/* site that it was called from; 0: it is a place alone */
	uint32_t place, site;		/* site of the place alone; 0: free slot */
};
#define CALLER_HASH(c) mix(mix((uint64_t)(c)->function, (uint64_t)(c)->line), (c)->outer)
#define CALLER_SAME(a, b) ((a)->function == (b)->function && (a)->line == (b)->line && \
	(a)->outer == (b)->outer)
HASH_TABLE_BY(caller_table, struct caller, CALLER_HASH, CALLER_SAME, site, 0)

struct name_slot { int64_t value; bool line; char *text; };	/* text NULL: free */
HASH_TABLE_OF(name_table, struct name_slot, value, line, text, NULL)

struct callers {
	struct caller_table *table;
	struct name_table *names;
	struct caller *made;		/* by site, from 1 */
	size_t count, capacity;
};

struct callers *
callers_new(void)
{
	struct callers *c = zalloc(1, sizeof *c);

	APPEND(c->made, c->count, c->capacity);
	return c;
}

/* The site of a place called from the site OUTER, or alone. */
static uint32_t
site_of(struct prv *p, struct caller caller, uint32_t outer)
{
	struct callers *c = p->callers;

	caller.outer = outer;
	caller.site = (uint32_t)c->count;
	caller.site = caller_table_add(&c->table, &caller)->site;
	if (caller.site < c->count)
		return caller.site;
	if (!text_allows(&p->text, c->count, 4 * sizeof caller))
		die_text(&p->text, "too many callers");
	*APPEND(c->made, c->count, c->capacity) = caller;
	return caller.site;
}

void
callers_take(struct levels *levels, int64_t type, int64_t value)
{
	const bool line = type > CALLER_LINE;
	const size_t level = (size_t)(type - (line ? CALLER_LINE : CALLER));

	if (value <= CALLER_VALUES)
		return;		/* unknown */
	for (; levels->count < level; levels->count++)
		levels->function[levels->count] = levels->line[levels->count] = 0;
	*(line ? &levels->line[level - 1] : &levels->function[level - 1]) = value;
}

uint32_t
callers_site(struct prv *p, const struct levels *levels)
{
	uint32_t site = 0;

	for (size_t level = levels->count; level > 0; level--) {
		struct caller caller = { levels->function[level - 1], levels->line[level - 1], 0,
		    0, 0 };

		if (caller.function == 0 && caller.line == 0)
			continue;
		caller.place = site_of(p, caller, 0);
		site = site == 0 ? caller.place : site_of(p, caller, site);
	}
	return site;
}

/* ---- names ---- */

/* The whole name in "short [whole]". */
static char *
whole_name(char *text)
{
	char *open = strrchr(text, '['), *close = strrchr(text, ']');

	if (open == NULL || close == NULL || close < open || close[1] != '\0')
		return text;
	*close = '\0';
	return open + 1;
}

static void
take_names(struct callers *c, FILE *in)
{
	enum { OTHER, FUNCTIONS, LINES } what = OTHER;
	char *line = NULL;
	size_t capacity = 0;

	while (getline(&line, &capacity, in) > 0) {
		long long number, type;
		int behind = 0;

		line[strcspn(line, "\r\n")] = '\0';
		if (strncmp(line, "EVENT_TYPE", 10) == 0)
			what = OTHER;
		else if (sscanf(line, "%lld %lld %n", &number, &type, &behind) == 2 && behind > 0 &&
		    is_level(type, CALLER))
			what = FUNCTIONS;
		else if (behind > 0 && is_level(type, CALLER_LINE))
			what = LINES;
		else if (what != OTHER &&
		    sscanf(line, "%lld %n", &number, &behind) == 1 && behind > 0) {
			const struct name_slot slot = { number, what == LINES, need(strdup(what ==
			    LINES ? line + behind : whole_name(line + behind))) };
			const struct name_slot *kept = name_table_add(&c->names, &slot);

			if (kept->text != slot.text)
				free(slot.text);
		}
	}
	free(line);
}

void
callers_names(struct prv *p, const char *file)
{
	FILE *in = open_beside(file, ".pcf");

	if (in == NULL)
		return;
	take_names(p->callers, in);
	fclose(in);
}

static const char *
name_of(const struct callers *c, int64_t value, bool line)
{
	const struct name_slot key = { value, line, NULL }, *found = value != 0 ?
	    name_table_find(c->names, &key) : NULL;

	return found != NULL ? found->text : NULL;
}

/* ---- written ---- */

/* A line is "133 (file.c, function)", or lacks the function. */
static void
write_caller(const struct callers *c, uint32_t site, struct writer *out)
{
	const struct caller *made = &c->made[site];
	const char *function = name_of(c, made->function, false),
	    *source = name_of(c, made->line, true);
	char *end = NULL, *file = NULL;
	long number = source != NULL ? strtol(source, &end, 10) : 0;

	if (source != NULL && end > source && strncmp(end, " (", 2) == 0) {
		file = need(strdup(end + 2));
		file[strcspn(file, ",)")] = '\0';
	}
	site_write(out, site, &(struct site){ .module = UINT32_MAX, .function = function,
	    .file = file, .line = number > 0 && number <= INT32_MAX ? (int32_t)number : 0,
	    .offset = (uint64_t)(made->line != 0 ? made->line : made->function) });
	free(file);
}

void
callers_write(void *context, struct writer *out)
{
	const struct callers *c = context;

	for (uint32_t site = 1; site < c->count; site++) {
		uint32_t frames[MOST_LEVELS], depth = 0, at = site;

		for (; c->made[at].outer != 0 && depth + 1 < MOST_LEVELS; at = c->made[at].outer)
			frames[depth++] = c->made[at].place;
		frames[depth++] = at;
		if (at == site)
			write_caller(c, site, out);
		else
			site_write(out, site, &(struct site){ .stack = frames, .depth = depth });
	}
}
