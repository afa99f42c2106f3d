/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path as stacks of calls, for flame graphs: folded lines, or a speedscope profile. */
#include <stdlib.h>
#include <string.h>

#include "../../base/tool/hash_table.h"
#include "../../base/tool/stacks.h"
#include "export.h"

static const char *const leaves[KINDS + 1] = { "computation", "MPI", "transfer",
    "start of the process", "unknown" };

static const char *
leaf(const struct segment *s)
{
	return s->kind == 1 && s->call > 0 ? call_name(s->call) : leaves[s->kind];
}

/* Passes all segments of a stream's path to TAKE. */
static void
read_path(const struct export *export, struct definitions *known,
    void (*take)(void *context, const struct segment *), void *context)
{
	const struct segments *path;
	struct message message;
	struct reader *in;
	bool any = false;
	struct progress progress = { 0 };

	if (reader_open(&in, export->files[0], READ_STREAM) < 0 ||
	    reader_refuse_content(in, "trace", "lp-graph and lp-critpath come first") < 0 ||
	    reader_refuse_content(in, "graph", "lp-critpath finds its path") < 0)
		die_input(in);
	while (progress_next(&progress, in, &message)) {
		if (definitions_take(known, in, &message) < 0)
			die_input(in);
		path = message_segments(in, &message, known);
		for (size_t i = 0; path != NULL && i < path->count; i++)
			take(context, &path->at[i]);
		any |= path != NULL;
	}
	if (!any)
		die("the stream has no critical path");
	reader_close(in);
}

/* Where segments of the path are, with the number of the stack once known. */
struct spot {
	uint32_t site, kind, call;
	/* NO_STACK: not yet known; the slot is free if kind is FREE_KIND */
	uint32_t stack;
};
enum { FREE_KIND = KINDS + 1 };
#define NO_STACK UINT32_MAX
#define HASH(s) mix((uint64_t)(s)->site << 32 | (s)->call, (s)->kind)
#define SAME(a, b) ((a)->site == (b)->site && (a)->kind == (b)->kind && (a)->call == (b)->call)
HASH_TABLE_BY(spots, struct spot, HASH, SAME, kind, FREE_KIND)

struct flame {
	const struct definitions *known;
	struct stacks *stacks;
	struct spots spots;
	bool begun;
};

static uint32_t
stack_of(struct flame *flame, const struct segment *s)
{
	const struct definitions *known = flame->known;
	struct stack_frame stack[PLACES + 1];
	char names[PLACES][256];
	uint32_t sites[PLACES];
	const size_t depth = site_frames(known, s->site, sites);

	for (size_t i = 0; i < depth; i++)
		stack[i] = (struct stack_frame){ site_text(known, sites[i], names[i],
		    sizeof names[i]), known->sites[sites[i]].file, known->sites[sites[i]].line };
	stack[depth] = (struct stack_frame){ .name = leaf(s) };
	return stacks_number(flame->stacks, stack, depth + 1);
}

static void
add(void *context, const struct segment *s)
{
	struct flame *flame = context;
	const struct spot key = { s->site, s->kind, s->kind == 1 ? s->call : 0, NO_STACK };
	struct spot *spot = spots_add(&flame->spots, &key);

	if (!flame->begun)
		stacks_profile(flame->stacks, "critical path", NULL, s->begin_ns);
	flame->begun = true;
	if (spot->stack == NO_STACK)
		spot->stack = stack_of(flame, s);
	stacks_add(flame->stacks, spot->stack, (uint64_t)(s->end_ns - s->begin_ns));
}

static void
export_flame(const struct export *export, bool speedscope)
{
	static struct definitions known;
	static struct text text;	/* too large for the stack */
	struct flame flame = { .known = &known, .stacks = stacks_begin(&text, speedscope) };

	text_begin(&text, stdout, NULL);
	spots_begin(&flame.spots, 64);
	read_path(export, &known, add, &flame);
	free(flame.spots.slots);
	stacks_end(flame.stacks);
	text_flush(&text);
}

void
export_folded(const struct export *export)
{
	export_flame(export, false);
}

void
export_speedscope(const struct export *export)
{
	export_flame(export, true);
}
