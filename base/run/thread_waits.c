/* SPDX-License-Identifier: BSD-3-Clause */
#include "thread_waits.h"

#include <stdlib.h>

#include "../tool/search.h"
#include "../tool/tool.h"
#include "runtimes.h"

/* One thread while its times are found. */
struct finding {
	struct thread_waits *all;
	const struct definitions *known;
	const struct off_lane *off;
	const struct sample_lane *samples;	/* NULL: none */
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

static bool
is_in_call(const struct finding *f, int64_t ns)
{
	const struct time_spans *calls = &f->times->calls;
	const size_t count = calls->count > 0 ? spans_before(calls, ns + 1) : 0;

	return count > 0 && ns < calls->at[count - 1].to_ns;
}

static void
add_mark(const struct finding *f, struct mark mark, uint32_t site, uint32_t callers)
{
	struct thread_waits *w = f->all;

	mark.place = waits_at(f, site, callers) ? WAITS : site == 0 || (mark.seen == SAMPLED ?
	    is_system_call(f->known, site) : may_wait_below(f->known, site, callers)) ? MAY_WAIT :
	    ELSEWHERE;
	if (is_in_call(f, mark.from_ns))
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
	size_t i = f->samples != NULL ? lane_from(f->samples, f->from_ns) : 0;
	const size_t end = f->samples != NULL ? lane_from(f->samples, f->to_ns) : 0;
	struct off_span part;
	bool more = true;

	f->all->mark_count = 0;
	while (more) {
		more = off_next(&cut, &part);
		for (; i < end && (!more || f->samples->at[i].at_ns < part.from_ns); i++) {
			const struct thread_sample *s = &f->samples->at[i];

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
	if (f->off->worker > 0 || f->is_later) {
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
add_threads(struct finding *f, const struct off_lanes *off, const struct sample_lanes *samples,
    const struct calling_thread *thread)
{
	struct thread_waits *w = f->all;
	const struct off_location *l = thread->location < off->count ?
	    &off->at[thread->location] : NULL;
	const struct sample_lane *lane;
	struct thread_times *times;

	for (size_t i = 0; l != NULL && i < l->count; i++) {
		if (l->of[i].worker > 0 ? thread->only_own : thread->only_others)
			continue;
		if (w->count == w->made)
			APPEND(w->of, w->made, w->capacity);
		times = &w->of[w->count++];
		times->location = thread->location;
		times->worker = l->of[i].worker;
		if (times->worker > 0)
			times->calls = (struct time_spans){ 0 };
		else
			times->calls = thread->calls;
		lane = lane_find(samples, times->location, times->worker);
		w->sampled |= lane != NULL &&
		    lane_from(lane, f->from_ns) < lane_from(lane, f->to_ns);
	}
}

void
thread_waits_of_process(struct thread_waits *waits, const struct definitions *known,
    const struct off_lanes *off, const struct sample_lanes *samples, int64_t period_ns,
    const struct calling_thread *threads, size_t count, int64_t from_ns, int64_t to_ns)
{
	struct finding f = { waits, known, .from_ns = from_ns, .to_ns = to_ns };

	waits->sampled = false;
	waits->count = 0;
	for (size_t i = 0; i < count; i++)
		add_threads(&f, off, samples, &threads[i]);
	f.period_ns = waits->sampled ? period_ns : 0;	/* whatever is known of other times */
	for (f.times = waits->of; f.times < waits->of + waits->count; f.times++) {
		f.off = off_lane_of(off, f.times->location, f.times->worker);
		f.samples = lane_find(samples, f.times->location, f.times->worker);
		f.is_later = f.times->location != threads[0].location;
		find_waits(&f);
		find_active(&f);
		if (f.times->calls.count > 0) {
			leave_out(&f.times->waits, &f.times->calls);
			leave_out(&f.times->active, &f.times->calls);
		}
	}
}

void
thread_waits_find(struct thread_waits *waits, const struct definitions *known,
    const struct off_lanes *off, const struct sample_lanes *samples, int64_t period_ns,
    uint32_t location, int64_t from_ns, int64_t to_ns)
{
	const uint32_t others = thread_location(known, location, 1);
	const struct calling_thread threads[] = {
		{ .location = location, .only_own = others != location },
		{ .location = others, .only_others = true },
	};

	thread_waits_of_process(waits, known, off, samples, period_ns, threads,
	    others != location ? 2 : 1, from_ns, to_ns);
}
