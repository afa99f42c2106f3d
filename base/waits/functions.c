/* SPDX-License-Identifier: BSD-3-Clause */
#include "functions.h"

#include <stdlib.h>

#include "../run/thread_waits.h"
#include "../tool/hash_table.h"
#include "counters.h"
#include "hybrid.h"

#define HASH(t) mix((t)->site, (uint64_t)(uint32_t)(t)->rank << 32 | ((t)->place ^ (t)->own << 16))
#define SAME(a, b) \
	((a)->site == (b)->site && (a)->rank == (b)->rank && (a)->place == (b)->place && \
	(a)->own == (b)->own)
HASH_TABLE_BY(taken_table, struct taken, HASH, SAME, site, UINT32_MAX)

struct functions {
	struct thread_lanes lanes;
	struct thread_states threads;	/* of one piece */
	struct awaited awaited;		/* the same */
	struct samples block;
	int64_t period_ns;
	struct taken_table *taken;
};

void
functions_begin(struct imbalance *im)
{
	if (im->functions != NULL)
		return;
	im->counts.sampled = 1;
	im->functions = zalloc(1, sizeof *im->functions);
}

void
functions_take(struct imbalance *im, const struct message *message)
{
	functions_begin(im);
	if (samples_read(&im->functions->block, im->graph.in, message) < 0)
		die_input(im->graph.in);
	lane_add(&im->functions->lanes, &im->functions->block);
	if (im->functions->block.switches)
		im->counts.switched = 1;
	else
		im->functions->period_ns = im->functions->block.period_ns;
}

static void
count_time(struct functions *f, const struct taken *of, uint32_t place, int64_t ns)
{
	struct taken new = *of;

	new.place = place;
	if (ns > 0)
		taken_table_add(&f->taken, &new)->samples += (uint64_t)ns;
}

/* Counts the time blocked, by place if that is known. The observer gets time preempted, too. */
static void
count_blocked(struct imbalance *im, uint32_t location, const struct taken *of,
    const struct awaited_piece *piece)
{
	struct off_cut cut = off_between(off_lane(piece->lane), piece->from_ns, piece->to_ns);
	struct observer *observer = im->observer;
	struct off_span part;
	struct taken new = *of;

	while (off_next(&cut, &part)) {
		if (part.reason == OFF_UNKNOWN)
			continue;
		new.own = part.site > 0 ? own_place(&im->graph.known, part.site, part.callers) : 0;
		if (observer != NULL && observer->off != NULL)
			observer->off(observer, location, &part, new.own);
		if (part.reason == OFF_BLOCKED)
			count_time(im->functions, &new, taken_off(OFF_BLOCKED),
			    part.to_ns - part.from_ns - part.on_core_ns);
	}
}

/* Counts time on and off the core. */
static void
count_core(struct imbalance *im, uint32_t location, const struct taken *of,
    const struct awaited_piece *piece)
{
	struct functions *f = im->functions;
	const struct core_time time = core_time(off_lane(piece->lane), piece->from_ns,
	    piece->to_ns);

	count_time(f, of, TAKEN_ON_CORE, time.on_ns);
	count_blocked(im, location, of, piece);
	count_time(f, of, taken_off(OFF_PREEMPTED), time.off_ns[OFF_PREEMPTED]);
	count_time(f, of, taken_off(OFF_UNKNOWN), time.off_ns[OFF_UNKNOWN]);
}

/* Counts the time of all threads of the location's rank. */
static void
count_threads(struct imbalance *im, uint32_t location, const struct taken *of, int64_t from_ns,
    int64_t to_ns)
{
	struct functions *f = im->functions;
	const uint32_t ranks = (uint32_t)im->graph.known.ranks;
	int64_t threads_ns = 0, alone_ns = 0;

	thread_states_add(&f->threads, &f->lanes, location, from_ns, to_ns, NULL);
	for (uint32_t l = ranks; l < im->graph.known.location_count; l++)
		if (im->graph.known.location_rank[l] == of->rank)
			thread_states_add(&f->threads, &f->lanes, l, from_ns, to_ns, NULL);
	thread_states_time(&f->threads, &threads_ns, &alone_ns);
	count_time(f, of, TAKEN_THREADS, threads_ns);
	count_time(f, of, TAKEN_ALONE, alone_ns);
}

void
functions_drop(struct imbalance *im, uint32_t location, int64_t leave_ns)
{
	const struct definitions *known = &im->graph.known;
	const int32_t rank = known->location_rank[location];

	if (known->location_count == (uint32_t)known->ranks) {
		lanes_forget(&im->functions->lanes, location, leave_ns);
		return;
	}
	for (uint32_t l = 0; l < known->location_count; l++)
		if (l != location && known->location_rank[l] == rank &&
		    (l == (uint32_t)rank || im->last_leave_ns[l] != INT64_MIN) &&
		    im->last_leave_ns[l] < leave_ns)
			leave_ns = im->last_leave_ns[l];
	for (uint32_t l = 0; l < known->location_count; l++)
		if (known->location_rank[l] == rank)
			lanes_forget(&im->functions->lanes, l, leave_ns);
}

/* Counts the samples of the piece's thread, and its counters. */
static void
count_samples(struct imbalance *im, const struct taken *of, const struct awaited_piece *piece)
{
	const struct thread_lane *lane = piece->lane;
	struct taken new = *of;

	if (lane != NULL && lane->counts != NULL)
		counted_piece(im, of->rank, piece);
	for (size_t i = lane_from(lane, piece->from_ns); lane_has(lane, i, piece->to_ns); i++) {
		const struct thread_sample *s = &lane->at[i];

		if (s->site >= TAKEN_THREADS)
			continue;
		new.place = s->site;
		new.own = own_place(&im->graph.known, s->site, s->callers);
		taken_table_add(&im->functions->taken, &new)->samples++;
	}
}

void
functions_count(struct imbalance *im, uint32_t location, const struct row *row, int64_t last_ns)
{
	struct functions *f = im->functions;
	const struct taken of = { .site = row->site,
	    .rank = im->graph.known.location_rank[location], .period_ns = f->period_ns };
	const int64_t to_ns = row->enter_ns < im->to_ns ? row->enter_ns : im->to_ns;
	int64_t from_ns = last_ns > im->from_ns ? last_ns : im->from_ns;
	const struct thread_lane *lane;

	/* time before the first call is the start */
	if (last_ns == INT64_MIN || row->site == UINT32_MAX || from_ns > to_ns)
		from_ns = to_ns;
	awaited_find(&f->awaited, &im->graph.known, &f->lanes, f->period_ns, location, from_ns,
	    to_ns);
	for (size_t i = 0; i < f->awaited.count; i++) {
		if (im->counts.switched > 0)
			count_core(im, location, &of, &f->awaited.at[i]);
		count_samples(im, &of, &f->awaited.at[i]);
	}
	if (im->counts.switched > 0) {
		if (from_ns < to_ns && location < (uint32_t)im->graph.known.ranks)
			count_threads(im, location, &of, from_ns, to_ns);
		hybrid_count(im, &f->threads, &f->lanes, &f->awaited.threads, location, row,
		    from_ns, to_ns);
	}
	lane = lane_find(&f->lanes, location, 0);
	if (lane != NULL && lane->counts != NULL && row->enter_ns < im->to_ns)
		counted_call(im, of.rank, lane, row);
	functions_drop(im, location, row->leave_ns);
}

size_t
taken_places(const struct imbalance *im)
{
	return im->functions->taken != NULL ? im->functions->taken->mask + 1 : 0;
}

bool
taken_at(const struct imbalance *im, size_t at, struct taken *taken)
{
	*taken = im->functions->taken->slots[at];
	return !taken_table_is_free(taken);
}

void
join_taken(struct imbalance *im, const struct taken *more)
{
	struct taken new = *more;

	new.samples = 0;
	taken_table_add(&im->functions->taken, &new)->samples += more->samples;
}
