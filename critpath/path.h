/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole path, where several processes find its parts. */
#ifndef PATH_H
#define PATH_H

#include "../base/path/report.h"
#include "../base/path/run.h"
#include "solvers.h"

struct path {
	struct segments segments;
	uint64_t *counts;		/* by stretch: how many of the segments are its */
	size_t stretches, capacity;
};

/*
 * The path through the stretches of a part; whole on member 0 of the team, empty on the others. RUN
 * has been opened for the part. Where there is a REPORT it gets the segments, and PATH keeps none.
 */
void path_find(struct path *path, struct run *run, const struct team *team, solver *solve,
    struct report *report);
/* Notes that segments were added for one more stretch; BEFORE: how many there were. */
void path_end_stretch(struct path *path, size_t before);
/* Appends MORE and frees it. */
void path_append(struct path *path, struct path *more);
/* Member 0 gets the parts of all, in the order of members. */
void path_gather(struct path *path, const struct team *team);

/* The path of intervals, with calls read by location and intervals solved by period of time. */
void path_find_intervals(struct path *path, struct run *run, const struct team *team,
    struct report *report);
/* Who takes the samples of the run gets the segments from number FROM on. */
void path_count_functions(const struct path *path, size_t from, const struct run *run);
/* PATH's segments go into the report instead. */
void path_report(struct path *path, const struct definitions *known, struct report *report);

#endif
