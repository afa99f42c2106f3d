/* SPDX-License-Identifier: BSD-3-Clause */
/* Several processes: the path first, then the output. */
#include "critpath.h"

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
add_stretch(struct path *path, const struct run *run, struct event last, solver *solve,
    struct report *report)
{
	struct stretch stretch = run_stretch(run, last);
	size_t before = path->segments.count;

	while (!solve(&stretch, &path->segments))
		cut_cycle(&stretch);
	path_count_functions(path, before, run);
	if (report == NULL)
		path_end_stretch(path, before);
	else
		path_report(path, &run->graph.known, report);
}

/*
 * Finds the path through the stretches of a part: all of it on member 0 of the team, empty on the
 * others. With a REPORT the segments go there, and PATH keeps none.
 */
static void
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

/* Member 0 finds the parts and sends them to the others. */
struct part
read_part(const struct critpath *c, int index, int count)
{
	struct part *parts = zalloc((size_t)count, sizeof *parts), part;
	struct index stretches;

	if (c->team.rank == 0) {
		parts_read(&stretches, c->opt.files[0]);
		for (int i = 0; i < count; i++)
			parts[i] = part_of(&stretches, i, count, &(uint64_t){ 0 });
		index_free(&stretches);
	}
	team_copy(&c->team, parts, (size_t)count * sizeof *parts);
	part = parts[index];
	free(parts);
	return part;
}

/* Groups of the team solve a part of the stretches each; member 0 gets the path. */
static void
find_together(struct critpath *c, struct path *path)
{
	enum splits splits = c->opt.splits != UNSAID ? c->opt.splits :
	    c->opt.algorithm == DIJKSTRA || c->opt.algorithm == DELTA ? PAR_SEQ : SEQ_PAR;
	int groups = splits == SEQ_PAR ? c->team.size :
	    splits == PAR_PAR && c->team.size > 1 ? c->team.size / 2 : 1;
	int colour = splits == SEQ_SEQ ? c->team.rank > 0 :	/* the others have nothing to do */
	    (int)((int64_t)c->team.rank * groups / c->team.size);
	struct part part = ALL_STRETCHES;
	struct team group;

	if (splits >= PAR_SEQ && c->opt.algorithm == INTERVALS) {
		run_open(&c->run, c->opt.files[0], READ_LAZY, NO_STRETCHES, &c->team);
		c->run.window_bytes = c->opt.memory;
		c->run.functions = &c->functions;
		path_find_intervals(path, &c->run, &c->team,
		    c->opt.form == TEXT ? &c->output.report : NULL);
		functions_gather(&c->functions, &c->team);
		return;
	}
	group = team_split(&c->team, colour);
	if (groups > 1)
		part = read_part(c, colour, groups);
	if (splits != SEQ_SEQ || colour == 0) {
		run_open(&c->run, c->opt.files[0], READ_STREAM, part, &group);
		c->run.window_bytes = c->opt.memory;
		c->run.processes = c->team.size;
		c->run.functions = &c->functions;
		path_find(path, &c->run, solvers[c->opt.algorithm],
		    c->opt.form == TEXT ? &c->output.report : NULL);
	}
	path_gather(path, &c->team);
	functions_gather(&c->functions, &c->team);
	if (c->opt.form == TEXT)
		report_gather(&c->output.report, &c->team);
}

/* Passes the whole stream again, with each stretch's segments after it. */
static void
print_stream(struct critpath *c, const struct path *path)
{
	struct segments rest = path->segments;
	struct message message;
	size_t stretch = 0;

	while (run_next(&c->run, &message)) {
		run_take(&c->run, &message, NULL);	/* definitions */
		output_pass(&c->output, &message);
		if (is_kind(&message, "sync") && stretch + 1 < path->stretches) {
			rest.count = (size_t)path->counts[stretch++];
			put_segments(c, &rest);
			rest.at += rest.count;
		}
	}
	rest.count = path->segments.count - (size_t)(rest.at - path->segments.at);
	put_segments(c, &rest);
}

void
solve_together(struct critpath *c, int argc, char **argv)
{
	struct path path = { 0 };

	find_together(c, &path);
	if (c->team.rank > 0)
		return;
	/* a stream is read again from the beginning; so is what only the others have read */
	if (c->opt.form == STREAM || c->run.graph.known.ranks == 0)
		run_open(&c->run, c->opt.files[0], READ_LAZY, NO_STRETCHES, &c->team);
	output_begin(&c->output, argc, argv);
	if (reader_messages(c->run.graph.in) == 0)
		print_stream(c, &path);
	else
		put_segments(c, &path.segments);
	end_output(c);
}
