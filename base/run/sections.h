/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run divided into sections: steps, regions, or windows of time. A section has, on each rank,
 * one time or several. At each instant a thread is in one section, so sums over sections add up to
 * the run. Section 0 is the time in none. Windows have numbers from 1, and no labels.
 *
 *	sections_by_steps(&sections, file, 0);		or by_regions or by_windows
 *	sections_take(&sections, &known, in, &message, &calls);	each, before its times are divided
 *	cut = section_cut(location, worker, from_ns, to_ns);
 *	while (section_next(&sections, &cut))
 *		... the time from cut.from_ns to cut.to_ns is in cut.section; add it to
 *		... section_sums(&sections, cut.section)
 *	sections_close(&sections, sections_forget(&sections, before_ns), end, of);
 *
 * A step lasts from the leave of the call before it to the leave of its last call, for all threads
 * of the rank. The section of a region has all its instances, without the regions within it; each
 * thread has its own. A thread without calls that is in no region of its own works for the region
 * of its location's thread.
 *
 * Memory: 24 bytes for each rank and section from the oldest that is needed to the newest, and 24
 * bytes for each section; of windows 8 from that oldest on. Sums are the tool's.
 */
#ifndef SECTIONS_H
#define SECTIONS_H

#include "../stream/calls.h"
#include "../stream/samples.h"
#include "../tool/fields.h"
#include "places.h"

enum { LEAST_STEPS = 5 };

/* A place of calls: a site, or a function if the site is unknown. */
struct call_place {
	uint32_t site;			/* 0: unknown */
	uint16_t call;			/* of call_name; 0 if the site is known */
};

/* The steps of one rank. Calls have numbers from 0, without tests and probes. */
struct rank_steps {
	struct call_place place;	/* begins or ends each step */
	uint64_t first, last;		/* calls of all steps */
	uint64_t unit, burst;		/* as of struct repeated: steps.h */
	uint64_t period;		/* each of so many calls there divides; of bursts, one */
};

struct loop {
	uint64_t steps;
	uint32_t first;			/* section of the first one */
	int ends;			/* 1: the place ends a step, 0: begins it; -1: none does */
	/* of steps found in calls; NAN: they are regions */
	double chance;			/* the largest of all ranks */
	double calls;			/* of a step, mean of rank 0 */
	int64_t begin_ns, end_ns;	/* of rank 0 */
	uint64_t synchronised;		/* points in its steps at which all ranks meet */
	uint64_t differ;		/* of these, with ranks in different steps */
	uint32_t region;		/* whose instances are the steps; 0: found in calls */
	struct rank_steps *ranks;	/* NULL with a region */
	char *label;			/* sections_name gives it: the place, or the region */
};

struct steps {
	struct loop *loops;		/* in order of time */
	size_t count, capacity;
	/* The longest undecided loop; steps 0: none. */
	struct loop undecided;
	struct call_place undecided_at;
	int32_t ranks;
};

struct section_mark {
	int64_t at_ns;			/* the section begins */
	uint64_t seq;			/* with this row */
	uint32_t section;
};

struct section {
	int64_t begin_ns, end_ns;	/* of the first rank, of the last one */
	uint64_t kind;			/* equal if rank 0 calls at the same places in both */
	int64_t instances;		/* of a region */
};

/* A row of a table by section begins with this one, as its member `row`. */
struct section_row {
	uint32_t section;
	const char *label;		/* the call that divides its loop; a region */
	int64_t instance;		/* of its loop, from 1; of a region how many; 0: none */
	int64_t begin_ns, end_ns;	/* of the first rank, of the last; the whole run for none */
};

/* Its fields, with those of the tool between them. */
#define STEP_FIELDS(type, ...) \
	{ "step", FIELD(type, row.instance), IN_ALL, .known = UNLESS_ZERO }, \
	{ "begin_s", FIELD(type, row.begin_ns), IN_SECONDS }, \
	{ "end_s", FIELD(type, row.end_ns), IN_SECONDS }, \
	__VA_ARGS__, \
	{ "loop", FIELD(type, row.label), IN_DATA }
#define REGION_FIELDS(type, ...) \
	{ "region", FIELD(type, row.label), IN_ALL }, \
	{ "instances", FIELD(type, row.instance), IN_ALL, .known = UNLESS_ZERO }, \
	__VA_ARGS__

struct sections {
	struct steps steps;
	struct section *at;		/* 0: none */
	size_t count, capacity;
	bool regions;
	int64_t window_ns;		/* 0: steps or regions */
	/* What the tool sums up: in section 0, and in those after the last CLOSED one. */
	size_t sums_size;		/* the tool sets it */
	void *none_sums, **sums;
	size_t sums_begin, sums_end, sums_room;
	uint64_t closed;
	struct samples block;		/* of regions, as read */
	const struct definitions *known;
	size_t lane_count;
	struct section_lane {		/* of steps by rank, of regions by location */
		struct section_lane *workers;	/* threads without calls that have regions */
		size_t worker_count, worker_room;
		uint32_t worker;
		struct section_mark *marks;
		size_t begin, end, capacity;
		uint64_t calls;		/* so far */
		uint64_t at;		/* of them, until the last at the place; 0: none */
		uint64_t turn;		/* of those that may divide */
		int64_t leave_ns;	/* of the last row */
		uint32_t now;		/* section of the last row */
		size_t loop;		/* the current one, or the next */
		uint32_t *inside;	/* regions that are open, the outermost first */
		size_t depth, room;
		/* Of steps that are regions: how many so far, by loop; the depth of the last. */
		uint64_t *steps;
		size_t steps_room, step_depth;
	} *lanes;
	struct same_sites same;
	struct place_seen *seen;	/* places of the current section of rank 0 */
};

/*
 * Finds the steps of FILE, or of standard input, which can then be read again. Leaves out loops in
 * which ranks are in different steps at a synchronisation point.
 */
void sections_by_steps(struct sections *sections, const char *file, uint64_t wanted);
void sections_by_regions(struct sections *sections);
void sections_by_windows(struct sections *sections, int64_t window_ns);
/* Any message; CALLS holds the block if it is one. */
void sections_take(struct sections *sections, const struct definitions *known, struct reader *in,
    const struct message *message, const struct calls *calls);
/* No time before the instant will be divided. Returns the first section that is still needed. */
uint64_t sections_forget(struct sections *sections, int64_t before_ns);

/* Of a section that is not closed; zero at first. A closed one's are those of the first open. */
void *section_sums(struct sections *sections, uint64_t section);
/* Closes the sections from 1 to before FIRST, in order: calls END, and frees their sums. */
void sections_close(struct sections *sections, uint64_t first,
    void (*end)(void *of, uint64_t section), void *of);

/* The time of a thread, cut where its sections begin, as far as blocks have been seen. */
struct section_cut {
	int64_t from_ns, to_ns;		/* the current piece */
	uint64_t section;
	uint32_t location, worker;
	int64_t left_from_ns, left_to_ns;
};

static inline struct section_cut
section_cut(uint32_t location, uint32_t worker, int64_t from_ns, int64_t to_ns)
{
	return (struct section_cut){ .location = location, .worker = worker,
	    .left_from_ns = from_ns, .left_to_ns = to_ns };
}

bool section_next(const struct sections *sections, struct section_cut *cut);

/* The loop of a section, and the section's number in it from 1; NULL: section 0. */
struct loop *section_loop(const struct sections *sections, uint32_t section, uint64_t *instance);

/* Ends the tool if the regions of a block are not defined. */
void check_regions(const struct definitions *known, struct reader *in,
    const struct message *message, const struct samples *block);

/* ---- sections_print.c ---- */

struct json;
struct text;

/* Labels the loops, once all of the run is known. */
void sections_name(struct sections *sections, const struct definitions *known);
/* A label for section 0 and for a region without a name, too. */
struct section_row section_row(const struct sections *sections, uint32_t section);
/* The loops, and how sure they are. */
void sections_text(struct text *out, const struct sections *sections);
void sections_json(struct json *out, const struct sections *sections);

#endif
