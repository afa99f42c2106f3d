/* SPDX-License-Identifier: BSD-3-Clause */
#include "critpath.h"

#include <stdlib.h>
#include <string.h>

void
path_end_stretch(struct path *path, size_t before)
{
	*APPEND(path->counts, path->stretches, path->capacity) = path->segments.count - before;
}

void
path_report(struct path *path, const struct definitions *known, struct report *report)
{
	for (size_t i = 0; i < path->segments.count; i++)
		report_add(report, known, &path->segments.at[i]);
	path->segments.count = path->stretches = 0;
}

void
path_count_functions(const struct path *path, size_t from, const struct run *run)
{
	for (size_t i = from; run->functions != NULL && i < path->segments.count; i++)
		functions_segment(run->functions, &path->segments.at[i]);
}

static void
add_stretch(struct path *path, const struct run *run, struct event last,
    solver *solve, struct report *report)
{
	struct stretch stretch = run_stretch(run, last);
	size_t before = path->segments.count;

	while (!solve(&stretch, &path->segments))
		cut_cycle(&stretch, &run->graph.known);
	path_count_functions(path, before, run);
	if (report == NULL)
		path_end_stretch(path, before);
	else
		path_report(path, &run->graph.known, report);
}

void
path_find(struct path *path, struct run *run, solver *solve, struct report *report)
{
	struct message message;
	struct event last;

	while (run_next(run, &message))
		if (run_take(run, &message, &last)) {
			add_stretch(path, run, last, solve, report);
			run_advance(run);
		}
	if (run_end(run, &last)) {
		add_stretch(path, run, last, solve, report);
		run_count_rest(run);
	}
	if (run->team->rank > 0)
		path->stretches = 0;
}

void
path_append(struct path *path, struct path *more)
{
	struct segments *s = &path->segments;

	if (more->segments.count > 0) {		/* not on members other than 0 */
		GROW(s->at, s->capacity, s->count + more->segments.count);
		memcpy(s->at + s->count, more->segments.at, more->segments.count * sizeof *s->at);
		s->count += more->segments.count;
	}
	if (more->stretches > 0) {
		GROW(path->counts, path->capacity, path->stretches + more->stretches);
		memcpy(path->counts + path->stretches, more->counts,
		    more->stretches * sizeof *path->counts);
		path->stretches += more->stretches;
	}
	free(more->segments.at);
	free(more->counts);
}

void
path_gather(struct path *path, const struct team *team)
{
	struct segment *at = path->segments.at;
	uint64_t *counts = path->counts;

	path->segments.at = team_gather(team, at, path->segments.count, sizeof *at,
	    &path->segments.count);
	path->segments.capacity = path->segments.count;
	path->counts = team_gather(team, counts, path->stretches, sizeof *counts, &path->stretches);
	path->capacity = path->stretches;
	free(at);
	free(counts);
}
