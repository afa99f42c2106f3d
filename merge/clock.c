/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From every rank's clock to that of rank 0. A rank either shares the clock of another or has
 * samples of its offset to another's; the offsets of a chain of clocks add up, and so do the
 * bounds of their errors.
 */
#include <math.h>
#include <stdlib.h>

#include "merge.h"

int64_t
corrected_ns(const struct correction *correction, int64_t time_ns)
{
	double drifted = correction->drift * (double)(time_ns - correction->at_ns);

	return time_ns + correction->offset_ns + (int64_t)llround(drifted);
}

static void
sample_correction(struct rank *rank, const struct correction *peer, enum sync sync)
{
	const struct sample *first = &rank->samples[0], *last = first;
	int64_t first_ns, last_ns;

	for (size_t i = 1; i < rank->sample_count; i++) {
		if (rank->samples[i].at_ns < first->at_ns)
			first = &rank->samples[i];
		if (rank->samples[i].at_ns > last->at_ns)
			last = &rank->samples[i];
	}
	first_ns = corrected_ns(peer, first->at_ns + first->offset_ns);
	last_ns = corrected_ns(peer, last->at_ns + last->offset_ns);
	rank->correction = (struct correction){ first->at_ns, first_ns - first->at_ns, 0,
	    first->error_ns + peer->error_ns, true };
	if (sync == SYNC_LINEAR && last->at_ns > first->at_ns) {
		rank->correction.drift = (double)(last_ns - first_ns - (last->at_ns - first->at_ns)) /
		    (double)(last->at_ns - first->at_ns);
		if (last->error_ns > first->error_ns)
			rank->correction.error_ns = last->error_ns + peer->error_ns;
	}
}

/* A chain of clocks is followed to its end, then unwound: no recursion, and a loop is found. */
static void
correct_rank(struct input *input, int32_t start, enum sync sync, int32_t *chain)
{
	int32_t length = 0;

	for (int32_t r = start; !input->ranks[r].correction.known; ) {
		struct rank *rank = &input->ranks[r];
		int32_t peer = rank->sample_count > 0 ? rank->samples[0].peer : rank->clock_peer;

		if (length >= input->rank_count)
			die("%s: the clocks of rank %d refer to each other in a circle", rank->file, (int)r);
		chain[length++] = r;
		if (peer < 0 || sync == SYNC_NONE || !rank->present) {
			rank->correction.known = true;	/* taken as it is */
			break;
		}
		r = peer;
	}
	while (length-- > 0) {
		struct rank *rank = &input->ranks[chain[length]];

		if (rank->correction.known)
			continue;
		if (rank->sample_count > 0)
			sample_correction(rank, &input->ranks[rank->samples[0].peer].correction, sync);
		else
			rank->correction = input->ranks[rank->clock_peer].correction;
	}
}

int64_t
correct_clocks(struct input *input, enum sync sync)
{
	int32_t *chain = zalloc((size_t)input->rank_count, sizeof *chain);
	int64_t origin_ns = INT64_MAX;

	for (int32_t r = 0; r < input->rank_count; r++)
		correct_rank(input, r, sync, chain);
	for (size_t b = 0; b < input->block_count; b++) {
		struct block *block = &input->blocks[b];

		block->enter_ns = corrected_ns(&input->ranks[block->rank].correction, block->enter_ns);
		if (block->enter_ns < origin_ns)
			origin_ns = block->enter_ns;
	}
	free(chain);
	return input->block_count > 0 ? origin_ns : 0;
}
