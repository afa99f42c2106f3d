/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-critpath - the critical path: what the run could not have ended without
 *
 * reads   one graph stream
 * writes  the same messages and the path's segments; or a report as text or JSON;
 *         a report of several forms goes to a terminal as text
 * memory  64 bytes for each row between two global synchronisation points, or, with walk,
 *         since the ranks last heard of each other (base/path/early.c), up to a bound (critpath.1):
 *         older rows are packed, the rest is in a temporary file;
 *         with several processes or parts also the path, and in a group that solves
 *         a stretch together only the rows of own ranks
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "critpath.h"

static solver *const solvers[] = {
	solve_walk, solve_kahn, solve_dijkstra, solve_delta, solve_intervals,
};

/* ---- one process: stretch by stretch, in the order of the stream --------------------- */

static void
take_piece(void *critpath)
{
	struct critpath *c = critpath;

	put_sums(c, &c->segments);
	if (c->opt.form == STREAM)
		output_early(&c->output, &c->segments);
}

static void
solve_stretch(struct critpath *c, const struct pieces *pieces, struct event last)
{
	struct stretch stretch;

	if (c->opt.algorithm == WALK)
		pieces_end(pieces, last);
	stretch = run_stretch(&c->run, last);
	c->segments.count = 0;
	while (!solvers[c->opt.algorithm](&stretch, &c->segments))
		cut_cycle(&stretch, &c->run.graph.known);
	if (c->distance.wanted)
		distance_add(&c->distance, &stretch, &c->run.graph.known, &c->segments);
	put_segments(c, &c->segments);
}

static void
solve_stream(struct critpath *c, int argc, char **argv)
{
	const struct pieces pieces = { &c->run, &c->segments, take_piece, c };
	struct progress progress;
	struct message message;
	struct event last;

	if (c->opt.by >= 0)
		by_begin(c);
	run_open(&c->run, c->opt.files[0], READ_STREAM, ALL_STRETCHES, &c->team);
	c->run.goes_on = c->opt.every_ns > 0;
	c->run.functions = c->output.functions = &c->functions;
	c->run.window_bytes = c->opt.memory;
	if (c->opt.every_ns > 0)
		every_begin(c);
	else if (c->opt.by < 0)
		output_begin(&c->output, argc, argv);
	progress_begin(&progress);
	while (run_next(&c->run, &message)) {
		bool ended = run_take(&c->run, &message, &last);

		output_pass(&c->output, &message);
		if (c->by != NULL)
			by_see(c, &message);
		if (is_kind(&message, "run") && body_get(&message, "followed") != NULL)
			c->every.screen = c->opt.form == TEXT && is_terminal(STDOUT_FILENO);
		if (ended) {
			solve_stretch(c, &pieces, last);
			run_advance(&c->run);
		} else if (c->opt.algorithm == WALK && run_decided(&c->run, &message, &last)) {
			pieces_take(&pieces, last);
		}
		progress_input(&progress, c->run.graph.in);
	}
	progress_end(&progress);
	if (run_end(&c->run, &last)) {
		solve_stretch(c, &pieces, last);
		run_count_rest(&c->run);
	}
	end_output(c);
}

/* ---- several processes, or a part: the path first, then the output ------------------------- */

/* Member 0 finds the parts and sends them to the others. */
static struct part
read_part(const struct critpath *c, int index, int count)
{
	struct part *parts = zalloc((size_t)count, sizeof *parts), part;
	struct chunks chunks;

	if (c->team.rank == 0) {
		chunks_read(&chunks, c->opt.files[0]);
		for (int i = 0; i < count; i++)
			parts[i] = chunks_part(&chunks, i, count, &(uint64_t){ 0 });
		chunks_free(&chunks);
	}
	team_copy(&c->team, parts, (size_t)count * sizeof *parts);
	part = parts[index];
	free(parts);
	return part;
}

/* Groups of the team solve a part of the stretches each; member 0 gets the path. */
static void
solve_together(struct critpath *c, struct path *path)
{
	enum splits splits = c->opt.splits != UNSAID ? c->opt.splits :
	    c->opt.algorithm == DIJKSTRA || c->opt.algorithm == DELTA ? PAR_SEQ : SEQ_PAR;
	int groups = splits == SEQ_PAR ? c->team.size :
	    splits == PAR_PAR && c->team.size > 1 ? c->team.size / 2 : 1;
	int colour = splits == SEQ_SEQ ? c->team.rank > 0 :	/* the others have nothing to do */
	    (int)((int64_t)c->team.rank * groups / c->team.size);
	struct part part = { .to = UINT64_MAX };
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
		report_gather(&c->output.report, &c->run.graph.known, &c->team);
}

/*
 * Passes the whole stream again, with each stretch's segments after it; of a part its definitions.
 */
static void
print_stream(struct critpath *c, struct segments rest, const struct path *path,
    bool only_definitions)
{
	struct message message;
	size_t stretch = 0;

	while (run_next(&c->run, &message)) {
		run_take(&c->run, &message, NULL);	/* definitions */
		if (!only_definitions || is_definition(&message))
			output_pass(&c->output, &message);
		if (is_kind(&message, "sync") && !only_definitions &&
		    stretch + 1 < path->stretches) {
			rest.count = (size_t)path->counts[stretch++];
			put_segments(c, &rest);
			rest.at += rest.count;
		}
	}
	rest.count = path->segments.count - (size_t)(rest.at - path->segments.at);
	put_segments(c, &rest);
}

/* The paths of files in order; each must begin where the one before ends. */
static void
join(struct critpath *c, int argc, char **argv)
{
	struct segments segments = { 0 };
	struct message message;

	for (int f = 0; f < c->opt.file_count; f++) {
		struct graph_input other = { 0 }, *graph = f == 0 ? &c->run.graph : &other;

		graph_open(graph, c->opt.files[f], READ_STREAM);
		if (reader_refuse_content(graph->in, "graph",
		    "lp-critpath --part finds a part of its path") < 0)
			die_input(graph->in);
		if (f == 0)
			output_begin(&c->output, argc, argv);
		while (definitions_next(&graph->known, graph->in, &message)) {
			if (f == 0 && is_definition(&message))
				output_pass(&c->output, &message);
			if (is_kind(&message, "sampled_path"))
				functions_read(&c->functions, graph->in, &message);
			if (!is_kind(&message, "segments"))
				continue;
			segments.count = 0;
			segments_read(&segments, graph->in, &message, &graph->known);
			for (size_t i = 0; i < segments.count; i++)
				functions_length(&c->functions, &segments.at[i]);
			put_segments(c, &segments);
		}
		if (f > 0)
			reader_close(graph->in);
	}
	end_output(c);
}

/* RUN has been read, or has not been opened. */
static void
print_path(struct critpath *c, const struct path *path, bool only_definitions,
    int argc, char **argv)
{
	if (c->opt.form == STREAM || c->run.graph.known.ranks == 0) {
		/* Reads again from the beginning; of a part only the definitions. */
		run_open(&c->run, c->opt.files[0], c->opt.part > 0 ? READ_STREAM : READ_LAZY,
		    (struct part){ .defined = c->part.defined }, &c->team);
	}
	output_begin(&c->output, argc, argv);
	if (reader_messages(c->run.graph.in) == 0)
		print_stream(c, path->segments, path, only_definitions);
	else
		put_segments(c, &path->segments);
	end_output(c);
}

static void
print_list(struct critpath *c)
{
	struct table_writer list;
	struct chunks chunks;

	chunks_read(&chunks, c->opt.files[0]);
	text_begin(&c->output.text, stdout, NULL);
	table_begin(&list, &c->output.text, "part\tfirst_stretch\tlast_stretch\trows");
	for (int i = 0; i < c->opt.list; i++) {
		uint64_t rows;
		struct part part = chunks_part(&chunks, i, c->opt.list, &rows);

		if (part.to <= part.from)
			continue;
		table_int(&list, i + 1);
		table_uint(&list, part.from + 1);
		table_uint(&list, part.to);
		table_uint(&list, rows);
		table_end_line(&list);
	}
	table_end(&list);
	text_flush(&c->output.text);
}

/* Checks that need no other members; the first one checks the file. */
static void
check_options(const struct critpath *c)
{
	const char *file = c->opt.files[0];
	struct run run;

	refuse_terminal_input(file, usage);
	/* under mpirun, standard output is one */
	if (c->opt.form == STREAM && c->opt.list == 0 && c->team.size == 1)
		refuse_terminal_output();
	if (c->team.size == 1)
		return;
	if (c->opt.list > 0 || c->opt.part > 0 || c->opt.join || c->opt.distance ||
	    c->opt.every_ns > 0 || c->opt.by >= 0 || c->opt.json != NULL)
		die("only -a, --splits, -F and --all are for several processes");
	if (c->team.rank > 0)
		return;
	run_open(&run, file, READ_LAZY, NO_STRETCHES, &c->team);
	reader_close(run.graph.in);
}

int
main(int argc, char **argv)
{
	static struct critpath c;
	struct path path = { 0 };

	tool = "lp-critpath";
	c.team = team_start(&argc, &argv);
	c.opt = parse_options(argc, argv);
	if (c.opt.form == UNSAID_FORM)
		c.opt.form = c.opt.every_ns > 0 || c.opt.by >= 0 ||
		    (isatty(STDOUT_FILENO) && c.team.size == 1) ? TEXT : STREAM;
	c.distance.wanted = c.opt.distance;
	c.output.form = c.opt.form;
	c.output.json_name = c.opt.json;
	c.output.run = &c.run;
	c.output.report.whole = c.opt.whole;
	check_options(&c);
	team_open(&c.team, &argc, &argv);
	if (c.opt.list > 0) {
		print_list(&c);
	} else if (c.opt.join) {
		join(&c, argc, argv);
	} else if (c.opt.part > 0) {
		c.part = read_part(&c, c.opt.part - 1, c.opt.parts);
		run_open(&c.run, c.opt.files[0], READ_STREAM, c.part, &c.team);
		c.run.window_bytes = c.opt.memory;
		c.run.functions = &c.functions;
		path_find(&path, &c.run, solvers[c.opt.algorithm], NULL);
		print_path(&c, &path, true, argc, argv);
	} else if (c.team.size > 1 || c.opt.splits > SEQ_SEQ) {
		solve_together(&c, &path);
		if (c.team.rank == 0)
			print_path(&c, &path, false, argc, argv);
	} else {
		solve_stream(&c, argc, argv);
	}
	team_close();
	return c.opt.form == STREAM && c.opt.list == 0 ? DONE : finish(DONE);
}
