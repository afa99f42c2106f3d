/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../run/sampled_place.h"
#include "../tool/hash_table.h"

/* Counts of less time than this do not explain a rank's time on a core. */
static const double ENOUGH = 0.5;

/* ---- counting ------------------------------------------------------------------------ */

HASH_TABLE_OF(counted_table, struct counted, rank, place, place, UINT32_MAX)

size_t
counted_places(const struct imbalance *im)
{
	return im->counted != NULL ? im->counted->mask + 1 : 0;
}

bool
counted_at(const struct imbalance *im, size_t at, struct counted *counted)
{
	*counted = im->counted->slots[at];
	return !counted_table_is_free(counted);
}

void
counted_add(struct imbalance *im, const struct counted *more)
{
	const struct counted new = { .rank = more->rank, .place = more->place };
	struct counted *sum;

	sum = counted_table_add(&im->counted, &new);
	sum->on_core_ns += more->on_core_ns;
	for (int c = 0; c < COUNTERS; c++)
		sum->of[c] += more->of[c];
}

static void
add_sample(struct imbalance *im, int32_t rank, uint32_t place, const struct sample_counts *counts,
    int64_t on_core_ns)
{
	struct counted one = { .rank = rank, .place = place, .on_core_ns = on_core_ns };

	memcpy(one.of, counts->of, sizeof one.of);
	counted_add(im, &one);
}

void
counted_piece(struct imbalance *im, int32_t rank, const struct awaited_piece *piece)
{
	const struct thread_lane *lane = piece->lane;
	const size_t first = lane_from(lane, piece->from_ns);

	for (size_t i = first; lane_has(lane, i, piece->to_ns); i++) {
		const struct thread_sample *now = &lane->at[i], *before = now - 1;
		uint32_t place = now->site;

		if (i == first) {
			add_sample(im, rank, COUNTED_ACROSS, &lane->counts[i], 0);
			continue;
		}
		if (place >= COUNTED_BETWEEN ||
		    !same_function(&im->graph.known, before->site, place))
			place = COUNTED_BETWEEN;
		add_sample(im, rank, place, &lane->counts[i],
		    core_time(off_lane(lane), before->at_ns, now->at_ns).on_ns);
	}
}

void
counted_call(struct imbalance *im, int32_t rank, const struct thread_lane *lane,
    const struct row *row)
{
	const size_t first = lane_from(lane, row->enter_ns);

	if (lane_has(lane, first, row->leave_ns))
		add_sample(im, rank, COUNTED_ACROSS, &lane->counts[first], 0);
}

/* ---- sums ---------------------------------------------------------------------------- */

static void
add_counted(struct counter_line *line, const struct counted *more)
{
	const bool across = more->place == COUNTED_ACROSS;
	int64_t *const of = across ? line->across : line->counts.of;

	line->counts.on_core_ns += more->on_core_ns;
	for (int c = 0; c < COUNTERS; c++)
		of[c] += (int64_t)more->of[c];
}

static struct counter_line
function_line(const struct definitions *known, const struct counted *counted)
{
	struct stack_frame frame = { .name = "(different functions)" };
	struct counter_line line = { .rank = counted->rank };

	if (counted->place != COUNTED_BETWEEN)
		frame = place_frame(known, counted->place);
	line.function = frame.name;
	line.file = frame.file;
	add_counted(&line, counted);
	return line;
}

ORDER(by_function, struct counter_line, BY(rank) BY_TEXT(function) BY_ANY_TEXT(file))
FOLD(fold, struct counter_line, by_function, counts_add(&to->counts, &more->counts);)
ORDER(by_time, struct counter_line, MOST(counts.on_core_ns) COMPARED(by_function(a, b), 0))

bool
counters_find(const struct imbalance *im, const struct by_function *by, struct counters *all)
{
	const size_t places = counted_places(im);
	struct counted counted;

	*all = (struct counters){ .rank_count = im->graph.known.ranks };
	if (places == 0)
		return false;
	all->ranks = zalloc((size_t)all->rank_count, sizeof *all->ranks);
	all->functions = zalloc(places, sizeof *all->functions);
	for (size_t i = 0; i < places; i++) {
		if (!counted_at(im, i, &counted))
			continue;
		add_counted(&all->ranks[counted.rank], &counted);
		for (int c = 0; c < COUNTERS; c++)
			all->known[c] |= counted.of[c] > 0;
		if (counted.place != COUNTED_ACROSS)
			all->functions[all->function_count++] = function_line(&im->graph.known,
			    &counted);
	}
	all->function_count = fold(all->functions, all->function_count);
	SORT(all->functions, all->function_count, by_time);
	for (int32_t r = 0; r < all->rank_count; r++) {
		all->ranks[r].rank = r;
		all->ranks[r].share = by->ranks == NULL ? NAN : count_ratio(
		    (double)all->ranks[r].counts.on_core_ns, (double)by->ranks[r].core.on_ns);
		counts_show(&all->ranks[r].counts, all->known, by->ranks != NULL);
		for (int c = 0; c < COUNTERS; c++)
			if (!all->known[c])
				all->ranks[r].across[c] = -1;
	}
	for (size_t i = 0; i < all->function_count; i++)
		counts_show(&all->functions[i].counts, all->known, by->ranks != NULL);
	return true;
}

void
counters_free(struct counters *all)
{
	free(all->functions);
	free(all->ranks);
}

/* ---- the slowest rank ---------------------------------------------------------------- */

/* Of one rank, or the sum of several: time, and counts as of all its time on a core. */
struct whole {
	double compute_ns, on_ns, off_ns[OFF_REASONS], instructions, cycles;
	bool enough;
};

static void
add_whole(struct whole *sum, const struct rank_core *core, const struct shown_counts *counts)
{
	const double on_ns = (double)core->core.on_ns, counted_ns = (double)counts->on_core_ns,
	    whole = counted_ns > 0 ? on_ns / counted_ns : 0;

	sum->compute_ns += (double)core->compute_ns;
	sum->on_ns += on_ns;
	for (int reason = 0; reason < OFF_REASONS; reason++)
		sum->off_ns[reason] += (double)core->core.off_ns[reason];
	sum->enough &= counted_ns >= ENOUGH * on_ns;
	sum->instructions += whole * fmax(0, (double)counts->of[COUNT_instructions]);
	sum->cycles += whole * fmax(0, (double)counts->of[COUNT_cycles]);
}

bool
counters_product(const struct by_function *by, const struct counters *all, struct product *p)
{
	const double others = by->rank_count - 1;
	struct whole slow = { .enough = true }, rest = { .enough = true };

	*p = (struct product){ .rank = 0 };
	if (by->ranks == NULL)
		return false;
	for (int32_t r = 1; r < by->rank_count; r++)
		if (by->ranks[r].compute_ns > by->ranks[p->rank].compute_ns)
			p->rank = r;
	for (int32_t r = 0; r < by->rank_count; r++)
		add_whole(r == p->rank ? &slow : &rest, &by->ranks[r], &all->ranks[r].counts);
	p->compute = count_ratio(slow.compute_ns * others, rest.compute_ns);
	p->on_core = count_ratio(slow.on_ns * others, rest.on_ns);
	p->blocked_ns = slow.off_ns[OFF_BLOCKED] - rest.off_ns[OFF_BLOCKED] / others;
	p->preempted_ns = slow.off_ns[OFF_PREEMPTED] - rest.off_ns[OFF_PREEMPTED] / others;
	p->unknown_ns = slow.off_ns[OFF_UNKNOWN] - rest.off_ns[OFF_UNKNOWN] / others;
	p->instructions = p->cycles_per_instruction = p->clock = NAN;
	if (slow.enough && rest.enough) {
		p->instructions = count_ratio(slow.instructions * others, rest.instructions);
		p->clock = count_ratio(slow.cycles * rest.on_ns, rest.cycles * slow.on_ns);
		p->cycles_per_instruction = count_ratio(slow.cycles * rest.instructions,
		    rest.cycles * slow.instructions);
	}
	return by->rank_count > 1 && !isnan(p->compute);
}

/* ---- as text ------------------------------------------------------------------------- */

void
counters_say(const struct counters *all, char *text, size_t size)
{
	snprintf(text, size, "counts between two samples without a call between them");
	for (int c = 0, told = 0; c < COUNTERS; c++)
		if (!all->known[c])
			snprintf(text + strlen(text), size - strlen(text), "%s %s",
			    told++ > 0 ? "," : "; none of", counter_names[c]);
}

void
product_say(const struct counters *all, const struct product *p, char *text, size_t size)
{
	char factors[256] = "";

	if (!isnan(p->instructions * p->cycles_per_instruction * p->clock))
		snprintf(factors, sizeof factors, " = %.3f x the instructions x %.3f x the cycles "
		    "per instruction / %.3f x the clock rate", p->instructions,
		    p->cycles_per_instruction, p->clock);
	else if (!all->known[COUNT_instructions] || !all->known[COUNT_cycles])
		snprintf(factors, sizeof factors, " (without counts of instructions and cycles, "
		    "more work and slower work look the same)");
	else
		snprintf(factors, sizeof factors, " (too little of it is counted to say why)");
	snprintf(text, size, "rank %d computes %.3f x as long as the mean of the others: %.3f x "
	    "the time on a core%s, %+.6f s blocked, %+.6f s preempted, %+.6f s unknown",
	    (int)p->rank, p->compute, p->on_core, factors, 1e-9 * p->blocked_ns,
	    1e-9 * p->preempted_ns, 1e-9 * p->unknown_ns);
}
