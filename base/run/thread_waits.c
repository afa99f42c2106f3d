/* SPDX-License-Identifier: BSD-3-Clause */
#include "thread_waits.h"

#include <stdlib.h>

#include "../tool/search.h"
#include "../tool/tool.h"

/* One thread while its times are found. */
struct finding {
	struct thread_waits *all;
	const struct definitions *known;
	const struct off_lane *off;
	const struct thread_lane *lane;
	int64_t period_ns, from_ns, to_ns;
	bool is_later;			/* its location is not the first one */
	struct thread_times *times;
};

#define BEFORE(span, ns) ((span)->from_ns < (ns))
SEARCH(span_from, struct time_span, int64_t, BEFORE)
#undef BEFORE

size_t
spans_before(const struct time_spans *spans, int64_t ns)
{
	return span_from(spans->at, spans->count, ns);
}

static void
add_span(struct time_spans *spans, int64_t from_ns, int64_t to_ns)
{
	if (from_ns >= to_ns)
		return;
	*APPEND(spans->at, spans->count, spans->capacity) = (struct time_span){ from_ns, to_ns };
}

static void
add_wait(const struct finding *f, int64_t from_ns, int64_t to_ns)
{
	add_span(&f->times->waits, larger(from_ns, f->from_ns), smaller(to_ns, f->to_ns));
}

static bool
waits_at(const struct finding *f, uint32_t site, uint32_t callers)
{
	struct thread_waits *w = f->all;
	char *known;

	if (site == 0 || site >= f->known->site_count)
		return false;
	while (w->site_count < f->known->site_count)
		*APPEND(w->waits_at, w->site_count, w->site_capacity) = 0;
	known = &w->waits_at[site];
	if (*known == 0)
		*known = waiting_at(f->known, site) != NOT_WAITING ? 'y' : 'n';
	return *known == 'y' || waiting_below(f->known, site, callers) != NOT_WAITING;
}

/* ---- waits --------------------------------------------------------------------------- */

/* Where a thread was seen: in a sample, or while it was off its core. */
struct mark {
	int64_t from_ns, to_ns;
	enum seen { SAMPLED, PREEMPTED, BLOCKED } seen;
	enum { ELSEWHERE, WAITS, MAY_WAIT } place;
};

static void
add_mark(const struct finding *f, struct mark mark, uint32_t site, uint32_t callers)
{
	struct thread_waits *w = f->all;
	const struct time_spans *calls = &f->times->calls;
	const size_t before = calls->count > 0 ? spans_before(calls, mark.from_ns + 1) : 0;

	mark.place = waits_at(f, site, callers) ? WAITS : site == 0 || (mark.seen == SAMPLED ?
	    is_system_call(f->known, site) : may_wait_below(f->known, site, callers)) ? MAY_WAIT :
	    ELSEWHERE;
	if (before > 0 && mark.from_ns < calls->at[before - 1].to_ns)	/* in a call */
		mark.place = ELSEWHERE;
	if (mark.seen != BLOCKED && site == 0)	/* which says nothing */
		return;
	*APPEND(w->marks, w->mark_count, w->mark_capacity) = mark;
}

/* All marks of the piece, in order. */
static void
add_marks(const struct finding *f)
{
	struct off_cut cut = off_between(f->off, f->from_ns, f->to_ns);
	size_t i = lane_from(f->lane, f->from_ns);
	const size_t end = lane_from(f->lane, f->to_ns);
	struct off_span part;
	bool more = true;

	f->all->mark_count = 0;
	while (more) {
		more = off_next(&cut, &part);
		for (; i < end && (!more || f->lane->at[i].at_ns < part.from_ns); i++) {
			const struct thread_sample *s = &f->lane->at[i];

			add_mark(f, (struct mark){ s->at_ns, s->at_ns, .seen = SAMPLED }, s->site,
			    s->callers);
		}
		if (more && part.woken)		/* it waits on, for a core */
			f->all->marks[f->all->mark_count - 1].to_ns = part.to_ns;
		else if (more && part.reason != OFF_UNKNOWN)
			add_mark(f, (struct mark){ part.from_ns, part.to_ns, .seen =
			    part.reason == OFF_BLOCKED ? BLOCKED : PREEMPTED }, part.site,
			    part.callers);
	}
}

/*
 * How far the wait at mark M reaches beyond it where the mark beside it is elsewhere. A thread that
 * gives up its core in a loop does so far more often than samples are taken.
 */
static int64_t
reach_ns(const struct finding *f, const struct mark *last, const struct mark *m,
    const struct mark *next)
{
	int64_t often_ns = m->seen == BLOCKED ? 0 : f->period_ns;

	if (m->seen == PREEMPTED && last != NULL && last->place == WAITS)
		often_ns = smaller(often_ns, m->from_ns - last->to_ns);
	if (m->seen == PREEMPTED && next != NULL && next->place != ELSEWHERE)
		often_ns = smaller(often_ns, next->from_ns - m->to_ns);
	return often_ns / 2;
}

/* Adds the wait at mark M; LAST and NEXT: the marks beside it, or NULL. */
static void
add_wait_at(const struct finding *f, const struct mark *last, const struct mark *m,
    const struct mark *next)
{
	const int64_t beyond_ns = reach_ns(f, last, m, next);
	int64_t from_ns = m->from_ns - beyond_ns, to_ns = m->to_ns + beyond_ns;

	if (last != NULL)
		from_ns = larger(from_ns, last->to_ns + (m->from_ns - last->to_ns) / 2);
	if (next != NULL)
		to_ns = smaller(to_ns, m->to_ns + (next->from_ns - m->to_ns) / 2);
	if (last != NULL && last->place == WAITS && (m->place == MAY_WAIT ||
	    (last->seen != BLOCKED && core_time(f->off, last->to_ns, m->from_ns).on_ns <=
	    SPIN_PERIODS * f->period_ns)))
		from_ns = last->to_ns;
	add_wait(f, from_ns, to_ns);
}

static void
add_waits(const struct finding *f)
{
	struct mark *marks = f->all->marks, *last = NULL;

	for (size_t i = 0; i < f->all->mark_count; i++) {
		struct mark *m = &marks[i];
		const bool waited = last != NULL && last->place == WAITS && m->from_ns -
		    last->to_ns <= (last->seen == SAMPLED ? f->period_ns : NEAR_NS);

		if (m->place == MAY_WAIT && !waited)
			continue;
		if (m->place != ELSEWHERE)
			add_wait_at(f, last, m, i + 1 < f->all->mark_count ? m + 1 : NULL);
		m->place = m->place == ELSEWHERE ? ELSEWHERE : WAITS;
		last = m;
	}
}

ORDER(by_begin, struct time_span, BY(from_ns))

/* Makes one of spans that overlap or touch. */
static void
join_spans(struct time_spans *spans)
{
	size_t kept = 0;

	SORT(spans->at, spans->count, by_begin);
	for (size_t i = 0; i < spans->count; i++)
		if (kept > 0 && spans->at[i].from_ns <= spans->at[kept - 1].to_ns)
			spans->at[kept - 1].to_ns = larger(spans->at[kept - 1].to_ns,
			    spans->at[i].to_ns);
		else
			spans->at[kept++] = spans->at[i];
	spans->count = kept;
}

static void
find_waits(const struct finding *f)
{
	f->times->waits.count = 0;
	if (f->lane->worker > 0 || f->is_later) {
		add_wait(f, f->from_ns, f->off->from_ns);
		add_wait(f, f->off->until_ns, f->to_ns);
	}
	add_marks(f);
	add_waits(f);
	join_spans(&f->times->waits);
}

/* ---- activity ------------------------------------------------------------------------ */

/* Adds what lies outside of OTHERS; *AT goes on among these from call to call. */
static void
add_outside(struct time_spans *spans, int64_t from_ns, int64_t to_ns,
    const struct time_spans *others, size_t *at)
{
	while (*at < others->count && others->at[*at].to_ns <= from_ns)
		++*at;
	for (size_t i = *at; i < others->count && others->at[i].from_ns < to_ns; i++) {
		add_span(spans, from_ns, others->at[i].from_ns);
		from_ns = others->at[i].to_ns;
	}
	add_span(spans, from_ns, to_ns);
}

static void
find_active(const struct finding *f)
{
	struct off_cut cut = off_between(f->off, f->from_ns, f->to_ns);
	struct thread_times *times = f->times;
	int64_t at_ns = cut.from_ns;
	struct off_span part;
	size_t wait = 0;

	times->active.count = 0;
	while (off_next(&cut, &part)) {
		if (part.reason == OFF_PREEMPTED && !part.woken)
			continue;
		add_outside(&times->active, at_ns, part.from_ns, &times->waits, &wait);
		at_ns = part.to_ns;
	}
	add_outside(&times->active, at_ns, cut.to_ns, &times->waits, &wait);
}

/* What lies outside of calls. */
static void
leave_out(struct time_spans *spans, const struct time_spans *calls)
{
	struct time_spans outside = { 0 };
	size_t call = 0;

	for (size_t i = 0; i < spans->count; i++)
		add_outside(&outside, spans->at[i].from_ns, spans->at[i].to_ns, calls, &call);
	free(spans->at);
	*spans = outside;
}

/* Adds the threads of a location. */
static void
add_threads(const struct finding *f, const struct thread_lanes *lanes,
    const struct calling_thread *thread)
{
	struct thread_waits *w = f->all;
	const struct location_threads *l = thread->location < lanes->count ?
	    &lanes->at[thread->location] : NULL;
	struct thread_times *times;

	for (size_t i = 0; l != NULL && i < l->count; i++) {
		const struct thread_lane *lane = &l->of[i];

		if (!lane->off.watched ||
		    (lane->worker > 0 ? thread->only_own : thread->only_others))
			continue;
		if (w->count == w->made)
			APPEND(w->of, w->made, w->capacity);
		times = &w->of[w->count++];
		times->location = thread->location;
		times->worker = lane->worker;
		times->calls = thread->calls;
		if (lane->worker > 0)
			times->calls = (struct time_spans){ 0 };
		w->sampled |= lane_from(lane, f->from_ns) < lane_from(lane, f->to_ns);
	}
}

void
thread_waits_find(struct thread_waits *waits, const struct definitions *known,
    const struct thread_lanes *lanes, int64_t period_ns, const struct calling_thread *threads,
    size_t count, int64_t from_ns, int64_t to_ns)
{
	struct finding f = { waits, known, .from_ns = from_ns, .to_ns = to_ns };

	waits->sampled = false;
	waits->count = 0;
	for (size_t i = 0; i < count; i++)
		add_threads(&f, lanes, &threads[i]);
	f.period_ns = waits->sampled ? period_ns : 0;	/* whatever is known of other times */
	for (f.times = waits->of; f.times < waits->of + waits->count; f.times++) {
		f.lane = lane_find(lanes, f.times->location, f.times->worker);
		f.off = &f.lane->off;
		f.is_later = f.times->location != threads[0].location;
		find_waits(&f);
		find_active(&f);
		if (f.times->calls.count > 0) {
			leave_out(&f.times->waits, &f.times->calls);
			leave_out(&f.times->active, &f.times->calls);
		}
	}
}
