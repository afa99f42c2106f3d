/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps that the program names: the instances of the outermost regions that repeat, equally often
 * on all ranks. Most of the time from the first to the last lies in them, and two such regions do
 * not interleave: else they are parts of steps without a name.
 */
#include <stdlib.h>

#include "../tool/tool.h"
#include "steps.h"

/* A region on a rank. */
struct named {
	uint64_t count;
	uint32_t within;		/* the region around its first instance; 0: none */
	int64_t first_ns, last_ns;	/* its begin, and the end of the last instance */
	int64_t total_ns;		/* of all instances */
};

struct open_region {
	uint32_t region;
	int64_t begin_ns;
};

struct names {
	struct named *of;		/* by region */
	size_t capacity;
	struct open_region *inside;	/* the outermost first */
	size_t depth, room;
};

static void
see_event(struct names *names, int64_t at_ns, int32_t region)
{
	if (region > 0) {
		struct named *n = AT(names->of, names->capacity, region);

		if (n->count++ == 0) {
			n->first_ns = at_ns;
			n->within = names->depth > 0 ? names->inside[names->depth - 1].region : 0;
		}
		*APPEND(names->inside, names->depth, names->room) = (struct open_region){
		    (uint32_t)region, at_ns };
	} else if (names->depth > 0) {
		const struct open_region *ended = &names->inside[--names->depth];
		struct named *n = &names->of[ended->region];

		n->last_ns = at_ns;
		n->total_ns += at_ns - ended->begin_ns;
	}
}

void
check_regions(const struct definitions *known, struct reader *in, const struct message *message,
    const struct samples *block)
{
	for (size_t i = 0; i < block->count; i++)
		if (block->region[i] > 0 && ((size_t)block->region[i] >= known->region_count ||
		    known->regions[block->region[i]] == NULL))
			die_message(in, message, "regions: region %d has no name",
			    (int)block->region[i]);
}

static struct names *
read_names(const char *file, struct definitions *known)
{
	struct names *ranks = NULL;
	struct samples block = { 0 };
	struct message message;
	struct reader *in;

	if (reader_open(&in, file, READ_LAZY) < 0)
		die_input(in);
	while (definitions_next(known, in, &message)) {
		if (is_kind(&message, "run") && ranks == NULL)
			ranks = zalloc((size_t)known->ranks, sizeof *ranks);
		if (!is_kind(&message, "regions"))
			continue;
		if (reader_verify(in, &message) < 0 || samples_read(&block, in, &message) < 0)
			die_input(in);
		check_regions(known, in, &message, &block);
		for (size_t i = 0; i < block.count && block.worker == 0 &&
		    block.location < (uint32_t)known->ranks; i++)
			see_event(&ranks[block.location], block.time_ns[i], block.region[i]);
	}
	samples_free(&block);
	reader_close(in);
	return ranks;
}

/* Does no region around it repeat? */
static bool
is_outermost(const struct names *names, uint32_t region)
{
	size_t left = names->capacity;

	for (uint32_t r = names->of[region].within; r > 0; r = names->of[r].within)
		if (names->of[r].count >= LEAST_STEPS || left-- == 0)
			return false;
	return true;
}

ORDER(by_begin, struct loop, BY(begin_ns) BY(region))

bool
steps_named(struct steps *steps, const char *file, uint64_t wanted)
{
	struct definitions known = { 0 };
	struct names *ranks = read_names(file, &known);

	*steps = (struct steps){ .ranks = known.ranks };
	for (uint32_t region = 1; ranks != NULL && region < ranks[0].capacity; region++) {
		const struct named *n = &ranks[0].of[region];
		bool same = n->count >= LEAST_STEPS && is_outermost(&ranks[0], region) &&
		    n->last_ns - n->first_ns >= known.run_ns / LEAST_SHARE &&
		    n->total_ns >= (n->last_ns - n->first_ns) / 2 &&
		    (wanted == 0 || n->count == wanted);

		for (int32_t r = 1; r < known.ranks && same; r++)
			same = region < ranks[r].capacity && ranks[r].of[region].count == n->count;
		if (same)
			*APPEND(steps->loops, steps->count, steps->capacity) = (struct loop){
			    .steps = n->count, .begin_ns = n->first_ns, .end_ns = n->last_ns,
			    .region = region };
	}
	SORT(steps->loops, steps->count, by_begin);
	for (size_t i = 1; i < steps->count; i++)
		if (steps->loops[i].begin_ns < steps->loops[i - 1].end_ns)
			steps->count = 0;
	for (int32_t r = 0; r < known.ranks; r++) {
		free(ranks[r].of);
		free(ranks[r].inside);
	}
	free(ranks);
	return steps->count > 0;
}
