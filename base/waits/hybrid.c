/* SPDX-License-Identifier: BSD-3-Clause */
#include "hybrid.h"

#include <stdlib.h>

#include "../mpi/call_class.h"
#include "../tool/tool.h"
#include "functions.h"

/* ---- the states of the threads ------------------------------------------------------- */

static void
count_state(struct imbalance *im, uint32_t location, const struct thread_state *state, int64_t ns)
{
	/* what it waited for has ended, if nobody else is active */
	const bool first_only = state->active == 0 ? state->first_ready == 1 :
	    state->active == 1 && state->first == 1;
	const int index = first_only ? HYBRID_SERIAL : state->active == 0 ? HYBRID_IDLE :
	    HYBRID_SEVERAL + state->active;
	struct hybrid_time *time;

	if (ns == 0 || state->unknown > 0)
		return;
	time = hybrid_at(im, (size_t)index, (int32_t)location);
	time->ns += ns;
	time->on_core_ns += ns * state->on_core;
}

void
hybrid_count(struct imbalance *im, struct thread_states *states, const struct thread_lanes *lanes,
    const struct thread_waits *waits, uint32_t location, const struct row *row, int64_t from_ns,
    int64_t to_ns)
{
	if (location >= (uint32_t)im->graph.known.ranks || im->spans[location].finalized)
		return;
	if (call_class(row->call) == CLASS_INIT) {
		/* Time before MPI_Init is not in the span. */
		for (size_t i = 0; i < im->hybrid_count; i++)
			if (im->hybrid[i] != NULL)
				im->hybrid[i][location] = (struct hybrid_time){ 0 };
	} else if (from_ns < to_ns && off_lane_of(lanes, location, 0) != NULL) {
		thread_states_add(states, lanes, location, from_ns, to_ns, waits);
		thread_states_sum(states);
		for (size_t i = 0; i + 1 < states->count; i++)
			count_state(im, location, &states->at[i],
			    states->at[i + 1].at_ns - states->at[i].at_ns);
		states->count = 0;
	}
}

/* ---- sums ---------------------------------------------------------------------------- */

struct hybrid_time *
hybrid_at(struct imbalance *im, size_t index, int32_t rank)
{
	struct hybrid_time **of = AT(im->hybrid, im->hybrid_count, index);

	if (*of == NULL)
		*of = zalloc((size_t)im->graph.known.ranks, sizeof **of);
	return *of + rank;
}

struct hybrid_time
hybrid_time(const struct imbalance *im, size_t index, int32_t rank)
{
	return index < im->hybrid_count && im->hybrid[index] != NULL ? im->hybrid[index][rank] :
	    (struct hybrid_time){ 0 };
}

/* ---- efficiencies -------------------------------------------------------------------- */

/*
 * The most threads of a rank that are active at once for 1/1000 of its time. Sleeping threads of
 * the MPI library do not count, nor the few moments in which they wake up.
 */
static int64_t
threads_of(const struct imbalance *im, int32_t rank, int64_t outside_ns)
{
	int64_t most = (int64_t)im->hybrid_count - 1 - HYBRID_SEVERAL, ns = 0;

	for (; most > 1; most--) {
		ns += hybrid_time(im, (size_t)(HYBRID_SEVERAL + most), rank).ns;
		if (ns >= outside_ns / 1000 + 1)
			break;
	}
	return most > 1 ? most : 1;
}

/* Adds the times of a rank; returns its known time outside MPI. */
static int64_t
add_rank(const struct imbalance *im, int32_t rank, int64_t threads, struct hybrid *sum)
{
	int64_t known_ns = 0;

	for (size_t i = 0; i < im->hybrid_count; i++) {
		const struct hybrid_time time = hybrid_time(im, i, rank);
		const int64_t active = i == HYBRID_IDLE ? 0 : i == HYBRID_SERIAL ? 1 :
		    (int64_t)i - HYBRID_SEVERAL;
		const int64_t counted = active < threads ? active : threads;
		const int64_t useful_ns = time.on_core_ns < counted * time.ns ? time.on_core_ns :
		    counted * time.ns;

		known_ns += time.ns;
		sum->useful_ns += useful_ns;
		sum->preempted_ns += counted * time.ns - useful_ns;
		*(i == HYBRID_IDLE ? &sum->blocked_ns : i == HYBRID_SERIAL ? &sum->serial_ns :
		    &sum->imbalance_ns) += (threads - counted) * time.ns;
	}
	return known_ns;
}

bool
hybrid_of(const struct imbalance *im, struct hybrid *hybrid)
{
	const struct efficiency e = efficiency_of(im, false);
	const int32_t ranks = im->graph.known.ranks;
	double weighed_ns = 0, left_ns;
	struct hybrid sum = { 0 };
	struct taken taken;

	if (im->hybrid == NULL || im->graph.known.location_count > (uint32_t)ranks)
		return false;
	for (int32_t r = 0; r < ranks; r++) {
		const int64_t useful_ns = im->spans[r].useful_ns;
		const int64_t threads = threads_of(im, r, useful_ns);
		const int64_t known_ns = add_rank(im, r, threads, &sum);

		sum.thread_count += threads;
		sum.outside_ns += threads * known_ns;
		sum.unknown_ns += useful_ns - known_ns;
		weighed_ns += (double)threads * (double)useful_ns;
	}
	if (sum.thread_count == ranks || sum.outside_ns <= 0 || e.span_ns <= 0 ||
	    sum.unknown_ns > e.useful_total_ns / 100)
		return false;
	sum.mpi = weighed_ns / ((double)sum.thread_count * (double)e.span_ns);
	sum.threads = (double)sum.useful_ns / (double)sum.outside_ns;
	sum.parallel = sum.mpi * sum.threads;
	left_ns = (double)(sum.outside_ns - sum.serial_ns);
	sum.serial = left_ns / (double)sum.outside_ns;
	sum.imbalance = (left_ns - (double)sum.imbalance_ns) / left_ns;
	sum.on_core = (double)sum.useful_ns / (left_ns - (double)sum.imbalance_ns);
	for (size_t i = 0; i < taken_places(im) && !sum.sampled; i++)
		sum.sampled = taken_at(im, i, &taken) && taken.period_ns > 0;
	*hybrid = sum;
	return true;
}
