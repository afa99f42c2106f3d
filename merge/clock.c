/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Corrects every rank's clock to that of rank 0. A rank shares another's clock, or has samples of
 * its offset to one. The offsets of a chain of clocks add up, and so do their error bounds.
 */
#include <math.h>
#include <stdlib.h>

#include "../base/tool/search.h"
#include "merge.h"

/* A linear piece of a correction, from one time to another. */
struct piece {
	struct knot from;
	double drift;
	int64_t until_ns;
};

#define NOT_BEHIND(knot, time_ns) ((knot)->at_ns <= (time_ns))
SEARCH(knot_behind, struct knot, int64_t, NOT_BEHIND)

static struct piece
piece_at(const struct correction *c, int64_t time_ns)
{
	const struct knot *knots = c->knots;
	const size_t k = knot_behind(knots, c->count, time_ns);

	if (c->count == 0)
		return (struct piece){ { 0, 0 }, 0, INT64_MAX };
	if (k == c->count)
		return (struct piece){ knots[k - 1], c->drift, INT64_MAX };
	if (k == 0)
		return (struct piece){ knots[0], c->drift, knots[0].at_ns };
	return (struct piece){ knots[k - 1],
	    (double)(knots[k].offset_ns - knots[k - 1].offset_ns) /
	    (double)(knots[k].at_ns - knots[k - 1].at_ns), knots[k].at_ns };
}

static inline int64_t
apply(const struct piece *piece, int64_t time_ns)
{
	double drifted = piece->drift * (double)(time_ns - piece->from.at_ns);

	return time_ns + piece->from.offset_ns + (int64_t)(drifted + (drifted < 0 ? -0.5 : 0.5));
}

int64_t
corrected_ns(const struct correction *correction, int64_t time_ns)
{
	const struct piece piece = piece_at(correction, time_ns);

	return apply(&piece, time_ns);
}

/*
 * A line through samples with errors E1 and E2, T apart, also has a linear error: outside a sample
 * at most its error plus (E1 + E2) / T for each ns.
 */
int64_t
correction_error_ns(const struct correction *correction, int64_t begin_ns, int64_t end_ns)
{
	int64_t outside_ns;

	if (correction->count < 2)
		return correction->error_ns;
	outside_ns = larger(correction->knots[0].at_ns - begin_ns,
	    end_ns - correction->knots[correction->count - 1].at_ns);
	return correction->error_ns +
	    (outside_ns > 0 ? (int64_t)(correction->error_rate * (double)outside_ns) : 0);
}

void
correct_times(const struct correction *correction, int64_t origin_ns, int64_t *times_ns,
    size_t count)
{
	for (size_t begin = 0, end = 0; begin < count; begin = end) {
		const struct piece piece = piece_at(correction, times_ns[begin]);

		/* Most often one piece covers all of them. */
		if (times_ns[count - 1] < piece.until_ns || piece.until_ns == INT64_MAX)
			end = count;
		while (end < count && times_ns[end] < piece.until_ns)
			end++;
		if (piece.drift == 0)
			for (size_t i = begin; i < end; i++)
				times_ns[i] += piece.from.offset_ns - origin_ns;
		else
			for (size_t i = begin; i < end; i++)
				times_ns[i] = apply(&piece, times_ns[i]) - origin_ns;
	}
}

ORDER(by_instant, struct sample, BY(at_ns))

/* The distance of the knot from the line between two others, beyond its error. */
static double
excess(const struct knot *knot, int64_t error_ns, const struct knot *from, const struct knot *to)
{
	double part = (double)(knot->at_ns - from->at_ns) / (double)(to->at_ns - from->at_ns);
	double line = (double)from->offset_ns + part * (double)(to->offset_ns - from->offset_ns);

	return fabs((double)knot->offset_ns - line) - (double)error_ns;
}

/*
 * Samples in the middle are worse than those at the ends, where the machine was less busy. So one
 * bends the line only if the line contradicts it: the worst such sample first, then those on either
 * side of it (Douglas and Peucker, 1973). Returns the number of samples kept.
 */
static size_t
keep_bends(struct knot *knots, int64_t *errors_ns, size_t count)
{
	size_t *stack = zalloc(2 * count, sizeof *stack), depth = 0, kept = 0;
	bool *keep = zalloc(count, sizeof *keep);

	keep[0] = keep[count - 1] = true;
	stack[depth++] = 0;
	stack[depth++] = count - 1;
	while (depth > 0) {
		size_t to = stack[--depth], from = stack[--depth], worst = from;
		double most = 0;

		for (size_t i = from + 1; i < to; i++) {
			double here = excess(&knots[i], errors_ns[i], &knots[from], &knots[to]);

			if (here > most) {
				most = here;
				worst = i;
			}
		}
		if (worst == from)
			continue;
		keep[worst] = true;
		stack[depth++] = from;
		stack[depth++] = worst;
		stack[depth++] = worst;
		stack[depth++] = to;
	}
	for (size_t i = 0; i < count; i++)
		if (keep[i]) {
			errors_ns[kept] = errors_ns[i];
			knots[kept++] = knots[i];
		}
	free(stack);
	free(keep);
	return kept;
}

static void
sample_correction(struct rank *rank, const struct correction *peer, enum sync sync)
{
	struct correction *c = &rank->correction;
	/* Against a clock of unknown drift, later samples show nothing about this one's drift. */
	size_t count = sync == SYNC_OFFSET || peer->count == 1 ? 1 : rank->sample_count;
	int64_t *errors_ns = zalloc(count, sizeof *errors_ns);
	const struct knot *first, *last;

	SORT(rank->samples, rank->sample_count, by_instant);
	c->knots = zalloc(count, sizeof *c->knots);
	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &rank->samples[i];
		const int64_t peer_ns = sample->at_ns + sample->offset_ns,
		    to_ns = corrected_ns(peer, peer_ns);

		/* Skips samples at which the corrected clock would not advance. */
		if (c->count > 0 && (sample->at_ns == c->knots[c->count - 1].at_ns ||
		    to_ns <= c->knots[c->count - 1].at_ns + c->knots[c->count - 1].offset_ns))
			continue;
		errors_ns[c->count] = sample->error_ns +
		    correction_error_ns(peer, peer_ns, peer_ns);
		c->knots[c->count++] = (struct knot){ sample->at_ns, to_ns - sample->at_ns };
	}
	c->count = keep_bends(c->knots, errors_ns, c->count);
	for (size_t i = 0; i < c->count; i++)
		c->error_ns = larger(c->error_ns, errors_ns[i]);
	first = &c->knots[0];
	last = &c->knots[c->count - 1];
	if (c->count > 1) {
		c->drift = (double)(last->offset_ns - first->offset_ns) /
		    (double)(last->at_ns - first->at_ns);
		c->error_rate = (double)(errors_ns[0] + errors_ns[c->count - 1]) /
		    (double)(last->at_ns - first->at_ns);
	}
	free(errors_ns);
	c->known = true;
}

/* Follows a chain of clocks to its end, then unwinds it: no recursion, and loops are found. */
static void
correct_rank(struct input *input, int32_t start, enum sync sync, int32_t *chain)
{
	int32_t length = 0;

	for (int32_t r = start; !input->ranks[r].correction.known; ) {
		struct rank *rank = &input->ranks[r];
		int32_t peer = rank->sample_count > 0 ? rank->samples[0].peer : rank->clock_peer;

		if (length >= input->rank_count)
			die("%s: the clocks of rank %d refer to each other in a cycle",
			    rank->file, (int)r);
		chain[length++] = r;
		rank->clock = r;
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
			sample_correction(rank,
			    &input->ranks[rank->samples[0].peer].correction, sync);
		else {
			rank->correction = input->ranks[rank->clock_peer].correction;
			rank->clock = input->ranks[rank->clock_peer].clock;
		}
	}
}

void
correct_clocks(struct input *input, enum sync sync)
{
	int32_t *chain = zalloc((size_t)input->rank_count, sizeof *chain);

	for (int32_t r = 0; r < input->rank_count; r++)
		correct_rank(input, r, sync, chain);
	free(chain);
	/* The last look at a kernel's clock is from MPI_Finalize. */
	for (int32_t r = 0; r < input->rank_count; r++)
		if (sync == SYNC_OFFSET && input->ranks[r].kernel_count > 1)
			input->ranks[r].kernel_count = 1;
	if (sync != SYNC_NONE)
		join_clocks(input);
	set_origin(input);
}

void
set_origin(struct input *input)
{
	bool any = false;

	input->origin_ns = 0;
	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];
		int64_t begin_ns = corrected_ns(&rank->correction, rank->begin_ns);

		if (rank->rows > 0 && (!any || begin_ns < input->origin_ns)) {
			input->origin_ns = begin_ns;
			any = true;
		}
	}
}

/* By how much the rank's clock has moved against that of the first since the begin of the run. */
static int64_t
moved_ns(const struct input *input, int32_t rank)
{
	int64_t sum_ns = 0;

	for (int32_t length = 0; rank >= 0 && length < input->rank_count; length++) {
		const struct rank *at = &input->ranks[rank];
		const size_t count = at->sample_count;

		if (count > 0)
			sum_ns += at->samples[count - 1].offset_ns - at->samples[0].offset_ns;
		rank = count > 0 ? at->samples[0].peer : at->clock_peer;
	}
	return sum_ns;
}

void
tell_of_clocks(const struct input *input, bool ended)
{
	int64_t most_ns = 0;

	for (int32_t r = 0; r < input->rank_count; r++) {
		const int64_t ns = ended ? moved_ns(input, r) :
		    input->ranks[r].correction.error_ns;

		most_ns = larger(most_ns, ns < 0 ? -ns : ns);
	}
	if (most_ns > 0)
		note(ended ? "since then they have drifted apart by up to %.1f us" : "the clocks "
		    "of the nodes are known to %.1f us at the beginning of the run",
		    1e-3 * (double)most_ns);
}
