/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path as stacks of calls, for flame graphs: folded lines, or a speedscope profile. */
#include <stdlib.h>

#include "../../base/tool/hash_table.h"
#include "../../base/tool/stacks.h"
#include "../../base/waits/waits.h"
#include "export.h"

static const char *const leaves[KINDS + 1] = { "computation", "MPI", "transfer",
    "start of the process", "unknown" };

/* Where segments of the path are, with the number of the stack once known. */
struct spot {
	uint32_t site, what;	/* what: a call of MPI, or the kind behind all calls; NONE: free */
	uint32_t stack;		/* NONE: not yet known */
};
#define NONE UINT32_MAX
HASH_TABLE_OF(spots, struct spot, site, what, what, NONE)

struct flame {
	struct observer observer;	/* must be first: its caller knows only this */
	struct stacks *stacks;
	struct spots *spots;
	bool begun, any;
};

static uint32_t
stack_of(struct flame *flame, const struct definitions *known, const struct segment *s)
{
	struct stack_frame stack[PLACES + 1];
	uint32_t sites[PLACES];
	const size_t depth = site_frames(known, s->site, sites);

	for (size_t i = 0; i < depth; i++)
		stack[i] = (struct stack_frame){ site_text(known, sites[i]),
		    known->sites[sites[i]].file, known->sites[sites[i]].line };
	stack[depth] = (struct stack_frame){ .name = s->kind == MPI && s->call > 0 ?
	    call_name(s->call) : leaves[s->kind] };
	return stacks_number(flame->stacks, stack, depth + 1);
}

static void
see_message(struct observer *observer, struct imbalance *im, const struct message *message,
    const struct calls *calls)
{
	struct flame *flame = (struct flame *)(void *)observer;
	const struct definitions *known = &im->graph.known;
	const struct segments *path = message_segments(im->graph.in, message, known);

	(void)calls;
	for (size_t i = 0; path != NULL && i < path->count; i++) {
		const struct segment *s = &path->at[i];
		const struct spot key = { s->site, s->kind == MPI ? s->call :
		    UINT16_MAX + 1u + s->kind, NONE };
		struct spot *spot = spots_add(&flame->spots, &key);

		if (!flame->begun)
			stacks_profile(flame->stacks, "critical path", NULL, s->begin_ns);
		flame->begun = true;
		if (spot->stack == NONE)
			spot->stack = stack_of(flame, known, s);
		stacks_add(flame->stacks, spot->stack, (uint64_t)(s->end_ns - s->begin_ns));
	}
	flame->any |= path != NULL;
}

void
export_flame(const struct export *export)
{
	static struct text text;	/* too large for the stack */
	struct flame flame = { .observer.message = see_message,
	    .stacks = stacks_begin(&text, export->speedscope) };
	static struct imbalance im;
	struct reader *in = open_stream(export->files[0]);

	if (reader_refuse_content(in, "trace", "lp-graph and lp-critpath come first") < 0 ||
	    reader_refuse_content(in, "graph", "lp-critpath finds its path") < 0)
		die_input(in);
	text_begin(&text, export->out.file, export->out.name);
	observe(&im, &flame.observer, in);
	if (!flame.any)
		die("the stream has no critical path");
	free(flame.spots);
	stacks_end(flame.stacks);
	text_flush(&text);
}
