/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the passes: whether the raw traces are of one run and whole, and its locations. */
#include <stdlib.h>

#include "merge.h"

static int
by_place(const void *left, const void *right)
{
	const struct block *a = left, *b = right;

	if (a->location != b->location)
		return a->location < b->location ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* All names have been read by now. */
static void
check_names(struct input *input)
{
	for (unsigned number = 1; number <= UINT16_MAX; number++) {
		uint16_t index = input->scan.call_map[number];

		if (input->used_numbers[number] && index == 0)
			die("%s: call %u has no name in any raw trace", input->run_file, number);
		input->used[index] |= input->used_numbers[number];
	}
}

/* A rank's first thread has the rank's number; the others follow behind all ranks. */
static void
number_locations(struct input *input)
{
	uint32_t locations = (uint32_t)input->rank_count;

	for (int32_t r = 0; r < input->rank_count; r++) {
		struct rank *rank = &input->ranks[r];

		rank->location_base = locations;
		if (rank->threads > 1)
			locations += rank->threads - 1;
	}
	input->location_count = locations;
	input->location_rank = zalloc(locations, sizeof *input->location_rank);
	for (int32_t r = 0; r < input->rank_count; r++) {
		input->location_rank[r] = r;
		for (uint32_t t = 1; t < input->ranks[r].threads; t++)
			input->location_rank[input->ranks[r].location_base + t - 1] = r;
	}
	for (size_t b = 0; b < input->block_count; b++) {
		struct block *block = &input->blocks[b];

		block->location = block->location == 0 ? (uint32_t)block->rank :
		    input->ranks[block->rank].location_base + block->location - 1;
	}
}

void
check_ranks(struct input *input, const char *whole, bool partial)
{
	int32_t missing = 0, first_missing = -1;

	check_names(input);
	for (int32_t r = input->rank_count - 1; r >= 0; r--)
		if (!input->ranks[r].present) {
			missing++;
			first_missing = r;
		}
	if (missing > 0 && !partial)
		die("%s: rank %d of %d is missing (%d in all; --partial goes on without)", whole,
		    (int)first_missing, (int)input->rank_count, (int)missing);
	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];

		if (!rank->present)
			note("rank %d is missing", (int)r);
		else if (!rank->ended)
			note("%s: rank %d ended early, after %llu rows", rank->file, (int)r,
			    (unsigned long long)rank->rows);
	}
	number_locations(input);
	qsort(input->blocks, input->block_count, sizeof *input->blocks, by_place);
	for (size_t b = 0; b < input->block_count; b++) {
		const struct block *block = &input->blocks[b], *before = block - 1;
		bool same = b > 0 && before->location == block->location;
		uint64_t expected = same ? before->first + before->rows : 0;

		if (block->first != expected)
			die("%s:%llu: rank %d: the block begins with row %llu instead of %llu",
			    input->ranks[block->rank].file, (unsigned long long)block->offset,
			    (int)block->rank, (unsigned long long)block->first,
			    (unsigned long long)expected);
	}
}
