/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When threads were off a core: intervals by location, of its own thread and its workers, kept
 * while they are needed. In a stream they come before the calls before which they began (trace.5,
 * SAMPLES). Memory: 48 bytes an interval. Memory errors end the tool.
 */
#ifndef OFF_CORE_H
#define OFF_CORE_H

#include "../stream/samples.h"

enum { OFF_REASONS = OFF_UNKNOWN + 1 };

/* The names of time off the core, beside functions, by reason. */
extern const char *const off_names[OFF_REASONS];

struct off_span {
	int64_t from_ns, to_ns, on_core_ns;	/* on_core_ns: in between, by the thread's clock */
	uint32_t site, callers;			/* where it left its core; 0: unknown */
	enum off_reason reason;
	bool woken;				/* of off_next(): preempted since it was woken */
};

/* One thread: the kept spans BEGIN to END - 1, in order and disjoint. */
struct off_lane {
	uint32_t worker;
	bool clock;
	int64_t from_ns, until_ns;		/* everything in between is known */
	struct off_span *at;
	size_t begin, end, capacity;
};

struct off_lanes {
	struct off_location {
		struct off_lane *of;
		size_t count, capacity;
	} *at;					/* by location */
	size_t count, capacity;
};

/* A time, divided: the sum of all parts. */
struct core_time {
	int64_t on_ns, off_ns[OFF_REASONS];
};

void off_add(struct off_lanes *lanes, const struct samples *block);
/* A thread of the location; NULL: unknown. */
const struct off_lane *off_lane_of(const struct off_lanes *lanes, uint32_t location,
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
/* Drops the spans that ended before the instant. */
void off_forget(struct off_lanes *lanes, uint32_t location, int64_t before_ns);

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
void thread_states_add(struct thread_states *states, const struct off_lanes *lanes,
    uint32_t location, int64_t from_ns, int64_t to_ns, const struct thread_waits *waits);
void thread_states_sum(struct thread_states *states);
/* Adds the time of all threads on cores, and the time of just one on a core. Empties STATES. */
void thread_states_time(struct thread_states *states, int64_t *threads_ns, int64_t *alone_ns);

#endif
