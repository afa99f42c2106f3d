/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of each location, its own and its workers: their samples, and when they were off a
 * core, kept while they are needed. In a stream both come before the calls before which they began
 * (trace.5, SAMPLES), so a tool that drops them together with rows keeps few of them. Memory: 16
 * bytes a kept sample, 40 more if threads have counters; 48 bytes an interval. Memory errors end
 * the tool.
 */
#ifndef THREAD_LANES_H
#define THREAD_LANES_H

#include "../stream/calls.h"
#include "../stream/samples.h"

enum { SITE_IN_CALL = UINT32_MAX };	/* of a sample taken within a call */

struct thread_sample {
	int64_t at_ns;
	uint32_t site, callers;
};

enum { OFF_REASONS = OFF_UNKNOWN + 1 };

/* The names of time off the core, beside functions, by reason. */
extern const char *const off_names[OFF_REASONS];

struct off_span {
	int64_t from_ns, to_ns, on_core_ns;	/* on_core_ns: in between, by the thread's clock */
	uint32_t site, callers;			/* where it left its core; 0: unknown */
	enum off_reason reason;
	bool woken;				/* of off_next(): preempted since it was woken */
};

/* The kept spans BEGIN to END - 1, in order and disjoint. */
struct off_lane {
	bool watched;				/* else nothing is known */
	bool clock;
	int64_t from_ns, until_ns;		/* everything in between is known */
	struct off_span *at;
	size_t begin, end, capacity;
};

/* Kept samples are BEGIN to END - 1; for samples before SEEN the activity is known. */
struct thread_lane {
	uint32_t worker;		/* 0: the location's own thread */
	struct thread_sample *at;
	struct sample_counts {
		uint64_t of[COUNTERS];	/* since the sample before */
	} *counts;			/* of the same sample; NULL: no counters so far */
	size_t begin, seen, end, capacity, counts_capacity;
	struct off_lane off;
};

struct thread_lanes {
	struct location_threads {
		struct thread_lane *of;
		size_t count, capacity;
	} *at;				/* by location */
	size_t count, capacity;
	bool watched;			/* some thread is */
};

/* Adds samples or switches of a thread. */
void lane_add(struct thread_lanes *lanes, const struct samples *block);
/* The lane of a thread; NULL: there is none. */
struct thread_lane *lane_find(const struct thread_lanes *lanes, uint32_t location, uint32_t worker);
/* Marks samples within calls, up to the last of these calls. */
void lane_see(struct thread_lane *lane, const struct calls *calls);
/* The first sample not before the instant; of LANE NULL there are none. */
size_t lane_from(const struct thread_lane *lane, int64_t ns);

static inline bool
lane_has(const struct thread_lane *lane, size_t sample, int64_t before_ns)
{
	return lane != NULL && sample < lane->end && lane->at[sample].at_ns < before_ns;
}

/* Drops samples before TO. */
void lane_forget(struct thread_lane *lane, size_t to);
/* Drops what threads of the location have before the instant: spans that ended, or samples, too. */
void off_forget(struct thread_lanes *lanes, uint32_t location, int64_t before_ns);
void lanes_forget(struct thread_lanes *lanes, uint32_t location, int64_t before_ns);

/* ---- time off the core ---- */

/* A time, divided: the sum of all parts. */
struct core_time {
	int64_t on_ns, off_ns[OFF_REASONS];
};

/* Of a thread's lane, of a thread of the location; NULL: unknown. */
const struct off_lane *off_lane(const struct thread_lane *lane);
const struct off_lane *off_lane_of(const struct thread_lanes *lanes, uint32_t location,
    uint32_t worker);
/* The spans between two instants, cut to these and to what is known of the lane. */
struct off_cut {
	const struct off_lane *lane;
	int64_t from_ns, to_ns;
	size_t next;
	int64_t blocked_ns;		/* until then it was blocked, or woken without a core */
};
struct off_cut off_between(const struct off_lane *lane, int64_t from_ns, int64_t to_ns);
bool off_next(struct off_cut *cut, struct off_span *part);	/* false: there is no more */
struct core_time core_time(const struct off_lane *lane, int64_t from_ns, int64_t to_ns);
void core_time_add(struct core_time *sum, const struct core_time *more);
/*
 * The states of several threads over time. Changes are added; thread_states_sum() makes each of AT
 * the number of threads in each state from that instant to the next of AT.
 */
struct thread_states {
	struct thread_state {
		int64_t at_ns;
		int on_core, active, unknown;	/* active: on a core or ready to run */
		int first;			/* 1: the first thread is active */
		int first_ready;		/* 1: it is preempted, and may be waiting */
	} *at;
	size_t count, capacity;
};
struct thread_waits;
/*
 * Adds all threads of the location from FROM to TO. Threads other than the first exist only while
 * they are watched. None is active while it waits, if WAITS has the location's waits.
 */
void thread_states_add(struct thread_states *states, const struct thread_lanes *lanes,
    uint32_t location, int64_t from_ns, int64_t to_ns, const struct thread_waits *waits);
void thread_states_sum(struct thread_states *states);
/* Adds the time of all threads on cores, and the time of just one on a core. Empties STATES. */
void thread_states_time(struct thread_states *states, int64_t *threads_ns, int64_t *alone_ns);

#endif
