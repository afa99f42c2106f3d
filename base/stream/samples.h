/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of samples, of switches and of regions in memory; trace.5, SAMPLES and REGIONS, has their
 * layout in a stream.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "stream.h"

enum sample_counter {
#define COUNTER(name, ...) COUNT_##name,
#include "counters.h"
#undef COUNTER
	COUNTERS
};
extern const char *const counter_names[COUNTERS];

struct samples {
	uint32_t location, worker;	/* worker 0: the location's own thread */
	size_t count, capacity;
	bool switches;			/* intervals off the core, "switched"; */
	bool regions;			/* begins and ends of regions; else "sampled" */
	bool clock;			/* timed by the thread's own clock: see trace.5 */
	int64_t period_ns, until_ns;
	int64_t from_ns;		/* of switches: the thread has been watched since */
	/* of regions in a raw trace: later blocks, of any thread, have no earlier time */
	uint64_t lost;			/* since the block before: the system had no room */
	int64_t *time_ns;		/* of an interval: its begin */
	uint32_t *site, *callers;	/* callers 0: unknown */
	bool counts;			/* one of the counters is there */
	uint64_t *counted[COUNTERS];	/* since the thread's sample before */
	/* Of switches: */
	int64_t *end_ns, *on_core_ns;
	unsigned char *reason;		/* enum off_reason */
	/* Of regions: */
	int32_t *region;		/* begins; 0: the innermost ends; raw: -N: N ends */
	uint64_t left;			/* of these ends, those that the program did not say */
};
enum off_reason { OFF_BLOCKED, OFF_PREEMPTED, OFF_UNKNOWN };
enum { SAMPLE_COLUMNS = 9 + COUNTERS };

bool is_samples(const struct message *message);	/* samples or switches */
bool comes_before_calls(const struct message *message);	/* these, or regions */
/* Reads such a message. 0 or -1 (with the reason in the reader). */
int samples_read(struct samples *samples, struct reader *in, const struct message *message);
int samples_write(struct writer *out, const struct samples *samples);
void samples_free(struct samples *samples);
/* Makes room for COUNT samples and keeps the present ones. 0, or -1 without memory. */
int samples_reserve(struct samples *samples, size_t count);
/* Leaves out the first ones: moves the pointers, so SAMPLES must be a copy. */
void samples_skip(struct samples *samples, size_t count);
/* The values of a column and their width in bytes; NULL: there is no such column. */
void *samples_column(const struct samples *samples, int column, size_t *width);

#endif
