/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the threads of a process wait for each other, from switches and samples. A thread waits
 *
 *	- while it is blocked in a waiting function (runtimes.c), and until it has a core then;
 *	- while it is blocked at an unknown place right after it waited: NEAR_NS later, or a period
 *	  after a sample;
 *	- while it spins: around each sample in a waiting function, and around each time when it had
 *	  to give up its core there. A sample counts for half a period before it and behind it; a
 *	  time without its core for half of what lies between it and the nearest such time, and for
 *	  half a period at most;
 *	- from there to the next such sample or switch, if it was not seen elsewhere, and was on a
 *	  core for SPIN_PERIODS at most;
 *	- before its begin and after its end, unless it is the first thread of the locations.
 *
 * Memory: 32 bytes an interval or sample, for one piece of computation.
 */
#ifndef THREAD_WAITS_H
#define THREAD_WAITS_H

#include "sampled_place.h"
#include "thread_lanes.h"

/* A loop of sched_yield spends most of its time in the kernel, where no samples are taken. */
enum { SPIN_PERIODS = 10 };
enum { NEAR_NS = 200000 };

struct time_spans {
	struct time_span {
		int64_t from_ns, to_ns;
	} *at;				/* in order and disjoint */
	size_t count, capacity;
};

struct thread_times {
	uint32_t location, worker;	/* worker 0: the location's own thread */
	struct time_spans waits;
	/* outside waits, on a core or preempted; not from a wake-up until it has a core */
	struct time_spans active;
	struct time_spans calls;	/* left out of both, the caller's; or none */
};

/* The threads of a location, or of a process, between two instants. */
struct thread_waits {
	struct thread_times *of;
	size_t count, made, capacity;
	bool sampled;			/* there are samples of them */
	struct mark *marks;		/* of one thread */
	size_t mark_count, mark_capacity;
	char *waits_at;			/* by site: 0 unknown, 'y' or 'n' */
	size_t site_count, site_capacity;
};

/* Threads that make calls, and those of their locations; of a process, the first thread's first. */
struct calling_thread {
	uint32_t location;
	struct time_spans calls;	/* in order; none: the time has no calls */
	/* of its location only the thread that makes calls; only those that make none */
	bool only_own, only_others;
};
void thread_waits_find(struct thread_waits *waits, const struct definitions *known,
    const struct thread_lanes *lanes, int64_t period_ns, const struct calling_thread *threads,
    size_t count, int64_t from_ns, int64_t to_ns);
/* The number of spans that begin before the instant. */
size_t spans_before(const struct time_spans *spans, int64_t ns);

/*
 * ---- awaited.c: the thread that the others of its process wait for
 *
 * A computation of the thread that makes the calls is divided by the threads through which its
 * path leads, backwards from its end. Where the path's thread waited (thread_waits.h), the path
 * goes on in the thread that was active last before the wait's end, which is itself if no other one
 * was active meanwhile. Threads that began to work within NEAR of that last activity were
 * themselves awaited by the same event, and do not count if others are left. Of several, the last
 * to wait within NEAR of the wait's end is the one. If none or several remain, the awaited thread
 * is not known: the path then stays in the thread that makes the calls. NEAR is the period of the
 * samples, or NEAR_NS if there are none in this computation.
 */
struct awaited {
	struct thread_waits threads;
	struct awaited_piece {
		uint32_t worker;	/* 0: the thread that makes the calls */
		int64_t from_ns, to_ns;
		const struct thread_lane *lane;	/* until samples are added; NULL: none */
	} *at;				/* the last one first; together all of the time */
	size_t count, capacity;
};

/* Who ended THREAD's wait; NULL: that is not known. *AT_NS gets the end of its activity. */
const struct thread_times *awaited_by(const struct thread_waits *all,
    const struct thread_times *thread, const struct time_span *wait, int64_t near_ns,
    int64_t *at_ns);

/*
 * Without switches of several threads all of the time is of the location's own thread. The others
 * make no calls.
 */
void awaited_find(struct awaited *awaited, const struct definitions *known,
    const struct thread_lanes *lanes, int64_t period_ns, uint32_t location, int64_t from_ns,
    int64_t to_ns);

#endif
