/* SPDX-License-Identifier: BSD-3-Clause */
#include "thread_waits.h"

#include <stdlib.h>
#include <string.h>

#include "../tool/search.h"
#include "../tool/tool.h"

const char *const off_names[OFF_REASONS] = { "(blocked)", "(preempted)", NOT_SAMPLED };

struct thread_lane *
lane_find(const struct thread_lanes *lanes, uint32_t location, uint32_t worker)
{
	const struct location_threads *l = location < lanes->count ? &lanes->at[location] : NULL;

	for (size_t i = 0; l != NULL && i < l->count; i++)
		if (l->of[i].worker == worker)
			return &l->of[i];
	return NULL;
}

static void
add_samples(struct thread_lane *lane, const struct samples *block)
{
	if (lane->begin > lane->end / 2 && lane->end + block->count > lane->capacity) {
		memmove(lane->at, lane->at + lane->begin,
		    (lane->end - lane->begin) * sizeof *lane->at);
		if (lane->counts != NULL)
			memmove(lane->counts, lane->counts + lane->begin,
			    (lane->end - lane->begin) * sizeof *lane->counts);
		lane->seen -= lane->begin;
		lane->end -= lane->begin;
		lane->begin = 0;
	}
	GROW(lane->at, lane->capacity, lane->end + block->count);
	/* Samples of blocks without counters have zeros. */
	if (block->counts || lane->counts != NULL) {
		(void)AT(lane->counts, lane->counts_capacity, lane->end + block->count);
		for (size_t i = 0; i < block->count; i++)
			for (int c = 0; c < COUNTERS; c++)
				lane->counts[lane->end + i].of[c] =
				    block->counts ? block->counted[c][i] : 0;
	}
	for (size_t i = 0; i < block->count; i++)
		lane->at[lane->end++] = (struct thread_sample){ block->time_ns[i], block->site[i],
		    block->callers[i] };
}

static void
add_spans(struct off_lane *off, const struct samples *block)
{
	const int64_t last_ns = off->end > off->begin ? off->at[off->end - 1].to_ns : INT64_MIN;

	for (size_t i = 0; i < block->count; i++) {
		struct off_span span = { block->time_ns[i], block->end_ns[i], block->on_core_ns[i],
		    block->site[i], block->callers[i], block->reason[i], false };

		if (span.from_ns < last_ns)	/* in a damaged stream, as is this site */
			span.from_ns = last_ns;
		if (span.site == UINT32_MAX)
			span.site = 0;
		if (span.from_ns < span.to_ns)
			*ENQUEUE(off->at, off->begin, off->end, off->capacity) = span;
	}
	off->clock |= block->clock;
	off->from_ns = off->watched ? smaller(off->from_ns, block->from_ns) : block->from_ns;
	off->until_ns = off->watched ? larger(off->until_ns, block->until_ns) : block->until_ns;
	off->watched = true;
}

void
lane_add(struct thread_lanes *lanes, const struct samples *block)
{
	struct thread_lane *lane = lane_find(lanes, block->location, block->worker);
	struct location_threads *l;

	while (lanes->count <= block->location)
		APPEND(lanes->at, lanes->count, lanes->capacity);
	if (lane == NULL) {
		l = &lanes->at[block->location];
		lane = APPEND(l->of, l->count, l->capacity);
		lane->worker = block->worker;
	}
	lanes->watched |= block->switches;
	if (block->switches)
		add_spans(&lane->off, block);
	else
		add_samples(lane, block);
}

void
lane_see(struct thread_lane *lane, const struct calls *calls)
{
	for (size_t i = 0; i < calls->count && lane->seen < lane->end; i++) {
		while (lane->seen < lane->end && lane->at[lane->seen].at_ns < calls->enter_ns[i])
			lane->seen++;
		while (lane->seen < lane->end && lane->at[lane->seen].at_ns < calls->leave_ns[i])
			lane->at[lane->seen++].site = SITE_IN_CALL;
	}
}

#define IS_BEFORE(sample, ns) ((sample)->at_ns < (ns))
SEARCH(sample_from, struct thread_sample, int64_t, IS_BEFORE)

size_t
lane_from(const struct thread_lane *lane, int64_t ns)
{
	return lane == NULL ? 0 :
	    lane->begin + sample_from(lane->at + lane->begin, lane->end - lane->begin, ns);
}

void
lane_forget(struct thread_lane *lane, size_t to)
{
	if (to <= lane->begin)
		return;
	lane->begin = to;
	if (lane->seen < to)
		lane->seen = to;
}

/* ---- time off the core ---- */

const struct off_lane *
off_lane(const struct thread_lane *lane)
{
	return lane != NULL && lane->off.watched ? &lane->off : NULL;
}

const struct off_lane *
off_lane_of(const struct thread_lanes *lanes, uint32_t location, uint32_t worker)
{
	return off_lane(lane_find(lanes, location, worker));
}

#define ENDS_UNTIL(span, ns) ((span)->to_ns <= (ns))
SEARCH(span_from, struct off_span, int64_t, ENDS_UNTIL)

/* The first span that ends after the instant. */
static size_t
off_from(const struct off_lane *lane, int64_t ns)
{
	return lane->begin + span_from(lane->at + lane->begin, lane->end - lane->begin, ns);
}

struct off_cut
off_between(const struct off_lane *lane, int64_t from_ns, int64_t to_ns)
{
	struct off_cut cut = { .lane = lane, .from_ns = to_ns, .to_ns = to_ns,
	    .blocked_ns = INT64_MIN };

	if (lane == NULL)
		return cut;
	cut.from_ns = larger(from_ns, lane->from_ns);
	cut.to_ns = smaller(to_ns, lane->until_ns);
	cut.next = off_from(lane, cut.from_ns);
	if (cut.from_ns > cut.to_ns)
		cut.to_ns = cut.from_ns;
	return cut;
}

bool
off_next(struct off_cut *cut, struct off_span *part)
{
	__extension__ typedef __int128 wide;
	const struct off_span *whole;

	if (cut->from_ns == cut->to_ns || cut->next >= cut->lane->end ||
	    cut->lane->at[cut->next].from_ns >= cut->to_ns)
		return false;
	whole = &cut->lane->at[cut->next++];
	*part = *whole;
	part->from_ns = larger(whole->from_ns, cut->from_ns);
	part->to_ns = smaller(whole->to_ns, cut->to_ns);
	if (whole->on_core_ns > 0)	/* its share */
		part->on_core_ns = (int64_t)((wide)whole->on_core_ns *
		    (part->to_ns - part->from_ns) / (whole->to_ns - whole->from_ns));
	part->woken = part->reason == OFF_PREEMPTED && part->from_ns == cut->blocked_ns;
	if (part->reason == OFF_BLOCKED || part->woken)
		cut->blocked_ns = part->to_ns;
	return true;
}

struct core_time
core_time(const struct off_lane *lane, int64_t from_ns, int64_t to_ns)
{
	struct off_cut cut = off_between(lane, from_ns, to_ns);
	int64_t rest_ns = to_ns - from_ns, seen_ns = cut.to_ns - cut.from_ns;
	struct core_time time = { 0 };
	struct off_span part;

	while (off_next(&cut, &part)) {
		const int64_t ns = part.to_ns - part.from_ns;

		time.on_ns += part.on_core_ns;
		time.off_ns[part.reason] += ns - part.on_core_ns;
		seen_ns -= ns;
		rest_ns -= ns;
	}
	if (seen_ns > 0 && !lane->clock) {	/* else only its intervals are known */
		time.on_ns += seen_ns;
		rest_ns -= seen_ns;
	}
	time.off_ns[OFF_UNKNOWN] += rest_ns;
	return time;
}

void
core_time_add(struct core_time *sum, const struct core_time *more)
{
	sum->on_ns += more->on_ns;
	for (int reason = 0; reason < OFF_REASONS; reason++)
		sum->off_ns[reason] += more->off_ns[reason];
}

void
off_forget(struct thread_lanes *lanes, uint32_t location, int64_t before_ns)
{
	for (size_t i = 0; location < lanes->count && i < lanes->at[location].count; i++) {
		struct off_lane *off = &lanes->at[location].of[i].off;

		off->begin = off_from(off, before_ns);
	}
}

void
lanes_forget(struct thread_lanes *lanes, uint32_t location, int64_t before_ns)
{
	for (size_t i = 0; location < lanes->count && i < lanes->at[location].count; i++) {
		struct thread_lane *lane = &lanes->at[location].of[i];

		lane_forget(lane, lane_from(lane, before_ns));
	}
	off_forget(lanes, location, before_ns);
}

/* ---- several threads ---- */

/* A thread is in that state from FROM to TO. */
static void
add_state(struct thread_states *states, struct thread_state state, int64_t from_ns, int64_t to_ns)
{
	if (from_ns >= to_ns)
		return;
	states->at = grow(states->at, &states->capacity, states->count + 2, sizeof *states->at);
	state.at_ns = from_ns;
	states->at[states->count++] = state;
	states->at[states->count++] = (struct thread_state){ to_ns, -state.on_core, -state.active,
	    -state.unknown, -state.first, -state.first_ready };
}

/* The same outside the waits; *WAIT goes on from call to call. */
static void
add_active(struct thread_states *states, struct thread_state state, int64_t from_ns,
    int64_t to_ns, const struct time_spans *waits, size_t *wait)
{
	while (*wait < waits->count && waits->at[*wait].to_ns <= from_ns)
		++*wait;
	for (size_t i = *wait; i < waits->count && waits->at[i].from_ns < to_ns; i++) {
		add_state(states, state, from_ns, waits->at[i].from_ns);
		from_ns = waits->at[i].to_ns;
	}
	add_state(states, state, from_ns, to_ns);
}

static void
add_thread(struct thread_states *states, const struct off_lane *lane, int first, int64_t from_ns,
    int64_t to_ns, const struct time_spans *waits)
{
	const struct thread_state on_core = { .on_core = 1, .active = 1, .first = first },
	    ready = { .active = 1, .first = first }, unknown = { .unknown = 1 },
	    first_ready = { .first_ready = 1 };
	struct off_cut cut = off_between(lane, from_ns, to_ns);
	int64_t at_ns = cut.from_ns;
	struct off_span part;
	size_t wait = 0;

	if (lane->clock) {
		add_state(states, unknown, from_ns, to_ns);
		return;
	}
	if (first) {
		add_state(states, unknown, from_ns, smaller(at_ns, to_ns));
		add_state(states, unknown, cut.to_ns, to_ns);
	}
	while (off_next(&cut, &part)) {
		add_active(states, on_core, at_ns, part.from_ns, waits, &wait);
		if (part.reason == OFF_PREEMPTED && first)
			add_state(states, first_ready, part.from_ns, part.to_ns);
		if (part.woken)
			add_state(states, ready, part.from_ns, part.to_ns);
		else if (part.reason == OFF_PREEMPTED)
			add_active(states, ready, part.from_ns, part.to_ns, waits, &wait);
		else if (part.reason == OFF_UNKNOWN)
			add_state(states, unknown, part.from_ns, part.to_ns);
		at_ns = part.to_ns;
	}
	add_active(states, on_core, at_ns, cut.to_ns, waits, &wait);
}

void
thread_states_add(struct thread_states *states, const struct thread_lanes *lanes, uint32_t location,
    int64_t from_ns, int64_t to_ns, const struct thread_waits *waits)
{
	static const struct time_spans none = { 0 };
	size_t watched = 0;

	for (size_t i = 0; location < lanes->count && i < lanes->at[location].count; i++) {
		const struct thread_lane *lane = &lanes->at[location].of[i];

		if (!lane->off.watched)
			continue;
		add_thread(states, &lane->off, lane->worker == 0, from_ns, to_ns,
		    waits != NULL && watched < waits->count ? &waits->of[watched].waits : &none);
		watched++;
	}
	/* all of the time, if nobody is active */
	add_state(states, (struct thread_state){ 0 }, from_ns, to_ns);
}

ORDER(by_time, struct thread_state, BY(at_ns))

void
thread_states_sum(struct thread_states *states)
{
	SORT(states->at, states->count, by_time);
	for (size_t i = 1; i < states->count; i++) {
		const struct thread_state *before = &states->at[i - 1];
		struct thread_state *now = &states->at[i];

		now->on_core += before->on_core;
		now->active += before->active;
		now->unknown += before->unknown;
		now->first += before->first;
		now->first_ready += before->first_ready;
	}
}

void
thread_states_time(struct thread_states *states, int64_t *threads_ns, int64_t *alone_ns)
{
	thread_states_sum(states);
	for (size_t i = 0; i + 1 < states->count; i++) {
		const int64_t ns = states->at[i + 1].at_ns - states->at[i].at_ns;

		*threads_ns += states->at[i].on_core * ns;
		*alone_ns += states->at[i].on_core == 1 ? ns : 0;
	}
	states->count = 0;
}
