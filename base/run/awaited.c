/* SPDX-License-Identifier: BSD-3-Clause */
#include "thread_waits.h"

#include "../tool/tool.h"

static void
add_piece(struct awaited *a, uint32_t worker, int64_t from_ns, int64_t to_ns)
{
	if (from_ns >= to_ns)
		return;
	if (a->count > 0 && a->at[a->count - 1].worker == worker) {
		a->at[a->count - 1].from_ns = from_ns;
		return;
	}
	*APPEND(a->at, a->count, a->capacity) = (struct awaited_piece){ worker, from_ns, to_ns,
	    NULL };
}

/*
 * The last instant of activity up to NS; INT64_MIN: there is none. A thread that enters or leaves a
 * call is active at that instant, even if it seems to wait right before or after.
 */
static int64_t
last_active_ns(const struct thread_times *t, int64_t ns)
{
	const size_t count = spans_before(&t->active, ns);
	const size_t calls = t->calls.count > 0 ? spans_before(&t->calls, ns) : 0;
	const int64_t active_ns = count == 0 ? INT64_MIN :
	    smaller(t->active.at[count - 1].to_ns, ns);
	const struct time_span *call = calls > 0 ? &t->calls.at[calls - 1] : NULL;

	return call == NULL ? active_ns :
	    larger(active_ns, call->to_ns <= ns ? call->to_ns : call->from_ns);
}

/* Has a wait ended in the time up to NS? */
static bool
began_within(const struct thread_times *t, int64_t ns, int64_t near_ns)
{
	size_t i = spans_before(&t->waits, ns);

	while (i > 0 && t->waits.at[i - 1].to_ns > ns)
		i--;
	return i > 0 && t->waits.at[i - 1].to_ns > ns - near_ns;
}

static int64_t
next_of(const struct time_spans *spans, int64_t ns)
{
	size_t i = spans_before(spans, ns);

	if (i > 0 && spans->at[i - 1].to_ns > ns)
		i--;
	return i < spans->count ? spans->at[i].from_ns : INT64_MAX;
}

/* The begin of the wait or call at that instant, or of the next one; INT64_MAX: there is none. */
static int64_t
next_wait_ns(const struct thread_times *t, int64_t ns)
{
	return smaller(next_of(&t->waits, ns), next_of(&t->calls, ns));
}

/* The threads for which another one may have waited, while they are counted. */
struct candidates {
	const struct thread_times *last;	/* to wait */
	int64_t last_ns;			/* when it waited */
	size_t count;
};

static void
count_candidate(struct candidates *c, const struct thread_times *t, int64_t active_ns)
{
	const int64_t ns = next_wait_ns(t, active_ns);

	if (c->count++ == 0 || ns > c->last_ns ||
	    (ns == c->last_ns && t->worker < c->last->worker)) {
		c->last = t;
		c->last_ns = ns;
	}
}

const struct thread_times *
awaited_by(const struct thread_waits *of_all, const struct thread_times *thread,
    const struct time_span *wait, int64_t near_ns, int64_t *at_ns)
{
	struct candidates all = { 0 }, docked = { 0 }, fresh = { 0 }, fresh_docked = { 0 };
	int64_t last_ns = INT64_MIN;

	for (size_t i = 0; i < of_all->count; i++)
		if (&of_all->of[i] != thread)
			last_ns = larger(last_ns, last_active_ns(&of_all->of[i], wait->to_ns));
	if (last_ns <= wait->from_ns) {	/* it was the last one: what let it go was under way */
		*at_ns = wait->from_ns;
		return spans_before(&thread->active, wait->from_ns) > 0 ? thread : NULL;
	}
	for (size_t i = 0; i < of_all->count; i++) {
		const struct thread_times *t = &of_all->of[i];
		const bool is_fresh = began_within(t, last_ns, near_ns);

		if (t == thread || last_active_ns(t, last_ns) <= last_ns - near_ns)
			continue;
		count_candidate(is_fresh ? &fresh : &all, t, last_ns);
		if (next_wait_ns(t, last_ns) <= wait->to_ns + near_ns)
			count_candidate(is_fresh ? &fresh_docked : &docked, t, last_ns);
	}
	if (all.count == 0) {
		all = fresh;
		docked = fresh_docked;
	}
	if (all.count > 1)
		all = docked;
	if (all.count == 0)
		return NULL;
	*at_ns = last_active_ns(all.last, last_ns);
	return *at_ns > wait->from_ns ? all.last : NULL;
}

/* From the end to the begin. */
static void
walk(struct awaited *a, const struct thread_times *own, int64_t near_ns, int64_t from_ns,
    int64_t to_ns)
{
	const struct thread_times *t = own, *other;
	int64_t at_ns, ns = to_ns;
	const struct time_span *wait;
	size_t waits;

	while (ns > from_ns) {
		if ((waits = spans_before(&t->waits, ns)) == 0) {
			add_piece(a, t->worker, from_ns, ns);
			return;
		}
		wait = &t->waits.at[waits - 1];
		if (wait->to_ns < ns) {
			add_piece(a, t->worker, wait->to_ns, ns);
			ns = wait->to_ns;
		}
		other = ns == wait->to_ns ?
		    awaited_by(&a->threads, t, wait, near_ns, &at_ns) : NULL;
		if (other != NULL)
			add_piece(a, t->worker, at_ns, ns);
		else if (t == own)
			add_piece(a, t->worker, at_ns = wait->from_ns, ns);
		else
			at_ns = ns;
		ns = at_ns;
		t = other != NULL ? other : own;
	}
}

/* Are there switches of several threads? */
static bool
several_watched(const struct thread_lanes *lanes, uint32_t location)
{
	size_t count = 0;

	for (size_t i = 0; location < lanes->count && i < lanes->at[location].count; i++)
		count += lanes->at[location].of[i].off.watched;
	return count > 1;
}

static void
find_pieces(struct awaited *a, const struct definitions *known, const struct thread_lanes *lanes,
    int64_t period_ns, uint32_t location, int64_t from_ns, int64_t to_ns)
{
	const struct off_lane *lane = off_lane_of(lanes, location, 0);
	const uint32_t workers = thread_location(known, location, 1);
	const struct calling_thread threads[] = {
		{ .location = location, .only_own = workers != location },
		{ .location = workers, .only_others = true },
	};

	a->count = a->threads.count = 0;
	/* Among threads that make calls it stays in them, unless lp-graph has found their waits. */
	if (lane == NULL || lane->clock || !several_watched(lanes, workers) ||
	    (known->handovers == 0 &&
	    several_threads_call(known, known->location_rank[location]))) {
		add_piece(a, 0, from_ns, to_ns);
		return;
	}
	/* the location's own thread, and those of its rank that make no calls */
	thread_waits_find(&a->threads, known, lanes, period_ns, threads,
	    workers != location ? 2 : 1, from_ns, to_ns);
	for (size_t i = 0; i < a->threads.count; i++)
		if (a->threads.of[i].worker == 0)
			walk(a, &a->threads.of[i], a->threads.sampled ? period_ns : NEAR_NS,
			    from_ns, to_ns);
}

void
awaited_find(struct awaited *a, const struct definitions *known, const struct thread_lanes *lanes,
    int64_t period_ns, uint32_t location, int64_t from_ns, int64_t to_ns)
{
	find_pieces(a, known, lanes, period_ns, location, from_ns, to_ns);
	for (size_t i = 0; i < a->count; i++)
		a->at[i].lane = lane_find(lanes, thread_location(known, location,
		    a->at[i].worker), a->at[i].worker);
}
