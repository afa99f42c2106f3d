/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When threads were not on a core, kept while it is needed: intervals by location, of its own
 * thread and of the workers that go with it. In a stream they precede the calls before which they
 * began (trace.5, SAMPLES). Memory: 48 bytes an interval. Memory errors end the tool.
 */
#ifndef OFF_CORE_H
#define OFF_CORE_H

#include "../stream/samples.h"

enum { OFF_REASONS = OFF_UNKNOWN + 1 };

/* What stands for time off the core beside functions, by reason. */
extern const char *const off_names[OFF_REASONS];

struct off_span {
	/* on_core_ns: by the thread's own clock, in between */
	int64_t from_ns, to_ns, on_core_ns;
	uint32_t site, callers;			/* where it left its core; 0: not known */
	enum off_reason reason;
};

/* One thread: kept spans are from BEGIN to before END, in order and apart from each other. */
struct off_lane {
	uint32_t worker;
	bool clock;
	int64_t from_ns, until_ns;		/* all is known in between */
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

/* Of a time: it is the sum of all. */
struct core_time {
	int64_t on_ns, off_ns[OFF_REASONS];
};

void off_add(struct off_lanes *lanes, const struct samples *block);
/* A thread of the location; NULL: nothing is known of it. */
const struct off_lane *off_lane_of(const struct off_lanes *lanes, uint32_t location,
    uint32_t worker);
struct core_time core_time(const struct off_lane *lane, int64_t from_ns, int64_t to_ns);
void core_time_add(struct core_time *sum, const struct core_time *more);
/* The first span that ends after the instant. */
size_t off_from(const struct off_lane *lane, int64_t ns);
/* Drops what ended before the instant. */
void off_forget(struct off_lanes *lanes, uint32_t location, int64_t before_ns);

/* Instants at which a thread comes to a core, and leaves it, from all lanes of the locations that
 * are counted. */
struct core_edges {
	struct core_edge {
		int64_t at_ns;
		int change;			/* 1 or -1 */
	} *at;
	size_t count, capacity;
};
/* Adds those of all threads of the location from FROM to TO. */
void core_edges_add(struct core_edges *edges, const struct off_lanes *lanes, uint32_t location,
    int64_t from_ns, int64_t to_ns);
/* The time of all threads on cores, and that in which one alone was. EDGES are empty then. */
void core_edges_sum(struct core_edges *edges, int64_t *threads_ns, int64_t *alone_ns);

#endif
