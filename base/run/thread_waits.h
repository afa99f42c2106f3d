/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the threads of a process wait for each other, from switches and samples. A thread waits
 *
 *	- while it is blocked in a waiting function (runtimes.h), and until it has a core then;
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

#include "off_core.h"
#include "sample_lanes.h"

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

/* The location's own thread, and those of its rank that make no calls. */
void thread_waits_find(struct thread_waits *waits, const struct definitions *known,
    const struct off_lanes *off, const struct sample_lanes *samples, int64_t period_ns,
    uint32_t location, int64_t from_ns, int64_t to_ns);
/* The same of all locations of a process, the first thread's first, without their calls. */
struct calling_thread {
	uint32_t location;
	struct time_spans calls;	/* in order; none: the time has no calls */
	/* Of its location only the thread that makes calls; only those that make none. */
	bool only_own, only_others;
};
void thread_waits_of_process(struct thread_waits *waits, const struct definitions *known,
    const struct off_lanes *off, const struct sample_lanes *samples, int64_t period_ns,
    const struct calling_thread *threads, size_t count, int64_t from_ns, int64_t to_ns);
/* The number of spans that begin before the instant. */
size_t spans_before(const struct time_spans *spans, int64_t ns);

#endif
