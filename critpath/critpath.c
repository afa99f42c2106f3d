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
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "critpath.h"

solver *const solvers[] = {
	solve_walk, solve_kahn, solve_dijkstra, solve_delta, solve_intervals,
};

/* ---- output ---- */

void
put_sums(struct critpath *c, const struct segments *segments)
{
	if (c->by != NULL)
		by_add(c, segments);
	else
		output_report(&c->output, segments);
}

void
put_segments(struct critpath *c, const struct segments *segments)
{
	put_sums(c, segments);
	if (c->opt.form == STREAM)
		output_write(&c->output, 0, segments);
}

/* The file of --verdict, without its newline; NULL: not given. */
static char *
given_verdict(const char *file)
{
	static const char begin[] = "{\"sentence\":";
	char *verdict = NULL;
	size_t size = 0;
	ssize_t length;
	FILE *in;

	if (file == NULL)
		return NULL;
	if ((in = fopen(file, "r")) == NULL)
		die("%s: %s", file, strerror(errno));
	length = getdelim(&verdict, &size, '\0', in);
	if (length < 2 || strncmp(verdict, begin, sizeof begin - 1) != 0 ||
	    strcmp(verdict + length - 2, "}\n") != 0)
		die("%s: not a verdict as lp-report --verdict writes it", file);
	fclose(in);
	verdict[length - 1] = '\0';
	return verdict;
}

/* Reports the gaps of an approximate path, after all other output. */
static void
tell_gaps(const struct critpath *c)
{
	const struct report *r = &c->output.report;
	const int64_t all_ns = r->end_ns - r->begin_ns;
	int left = 0;
	char distance[160] = "; --distance compares it with the exact path";

	if (c->distance.wanted)
		snprintf(distance, sizeof distance, "; for %.2f %% of the time it is on the exact "
		    "path's rank, for %.2f %% at its site, too", 100 * distance_share(&c->distance,
		    c->distance.same_rank_ns), 100 * distance_share(&c->distance,
		    c->distance.same_site_ns));
	/*
	 * Waits until mpirun has read all output: that of Open MPI 5 may put half of a waiting
	 * line of one output into the other.
	 */
	fflush(stdout);
	for (int ms = 0; c->team.size > 1 && ms < 2000 && ioctl(STDOUT_FILENO,
	    isatty(STDOUT_FILENO) ? TIOCOUTQ : FIONREAD, &left) == 0 && left > 0; ms++)
		usleep(1000);
	note("intervals: %zu groups; the length is %.9f s, gaps are %.9f s (%.2f %%)%s",
	    r->computations, seconds(report_length_ns(r)), seconds(r->gap_ns),
	    all_ns > 0 ? 100 * (double)r->gap_ns / (double)all_ns : 0, distance);
}

void
end_output(struct critpath *c)
{
	struct output *o = &c->output;
	const struct distance *d = &c->distance;
	const struct definitions *known = &c->run.graph.known;

	if (c->by != NULL) {
		by_end(c);
		return;
	}
	if (output_has_json(o)) {
		char *verdict = given_verdict(c->opt.verdict);

		output_json(o, NULL, verdict);
		free(verdict);
		functions_json(&o->json, &c->functions, known);
		if (d->wanted) {
			json_break(&o->json);
			json_begin_object(&o->json, "distance");
			json_double(&o->json, "same_rank_share",
			    distance_share(d, d->same_rank_ns));
			json_double(&o->json, "same_site_share",
			    distance_share(d, d->same_site_ns));
			json_end_object(&o->json);
		}
		output_end_json(o);
	}
	if (c->opt.form >= FOLDED) {
		if (!c->functions.sums.any)
			die("%s: no samples: lp-record --sample takes them",
			    reader_file(c->run.graph.in));
		functions_stacks(&o->text, &c->functions, known, c->opt.form == SPEEDSCOPE);
	} else if (c->opt.form == TEXT) {
		report_text(&o->text, &o->report, known, c->opt.all);
		functions_text(&o->text, &c->functions, known, c->opt.all);
		text_flush(&o->text);
	}
	output_end(o, &c->functions);
	if (c->opt.algorithm == INTERVALS)
		tell_gaps(c);
}

/* ---- solving ---- */

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
		cut_cycle(&stretch);
	if (c->distance.wanted)
		distance_add(&c->distance, &stretch, &c->segments);
	if (c->opt.part > 0)	/* the definitions come first, then the segments of all stretches */
		take_piece(c);
	else
		put_segments(c, &c->segments);
}

/* One process: stretch by stretch, in the order of the stream; of a part only its segments. */
static void
solve_stream(struct critpath *c, struct part part, int argc, char **argv)
{
	const struct pieces pieces = { &c->run, &c->segments, take_piece, c };
	struct progress progress = { 0 };
	struct message message;
	struct event last;

	if (c->opt.by >= 0)
		by_begin(c);
	run_open(&c->run, c->opt.files[0], READ_STREAM, part, &c->team);
	c->run.goes_on = c->opt.by == BY_WINDOW;
	c->run.functions = c->output.functions = &c->functions;
	c->run.window_bytes = c->opt.memory;
	if (c->by == NULL)
		output_begin(&c->output, argc, argv);
	while (run_next(&c->run, &message)) {
		bool ended = run_take(&c->run, &message, &last);

		if (c->opt.part == 0 || is_definition(&message))
			output_pass(&c->output, &message);
		if (c->by != NULL)
			by_see(c, &message);
		if (ended) {
			solve_stretch(c, &pieces, last);
			run_advance(&c->run);
		} else if (c->opt.algorithm == WALK && c->opt.part == 0 &&
		    run_decided(&c->run, &message, &last)) {
			pieces_take(&pieces, last);
		}
		progress_input(&progress, c->run.graph.in);
	}
	progress_end(&progress);
	if (run_end(&c->run, &last)) {
		solve_stretch(c, &pieces, last);
		run_count_rest(&c->run);
	}
	c->segments.count = 0;
	if (c->opt.part > 0 && c->opt.form == STREAM)
		output_write(&c->output, 0, &c->segments);
	end_output(c);
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

static void
print_list(struct critpath *c)
{
	struct table_writer list;
	struct index stretches;

	parts_read(&stretches, c->opt.files[0]);
	text_begin(&c->output.text, stdout, NULL);
	table_begin(&list, &c->output.text, "part\tfirst_stretch\tlast_stretch\trows");
	for (int i = 0; i < c->opt.list; i++) {
		uint64_t rows;
		struct part part = part_of(&stretches, i, c->opt.list, &rows);

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
	    c->opt.by >= 0 || c->opt.json != NULL)
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

	tool = "lp-critpath";
	c.team = team_start(&argc, &argv);
	c.opt = parse_options(argc, argv);
	if (c.opt.form == UNSAID_FORM)
		c.opt.form = c.opt.by >= 0 ||
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
		solve_stream(&c, read_part(&c, c.opt.part - 1, c.opt.parts), argc, argv);
	} else if (c.team.size > 1 || c.opt.splits > SEQ_SEQ) {
		solve_together(&c, argc, argv);
	} else {
		solve_stream(&c, ALL_STRETCHES, argc, argv);
	}
	team_close();
	return c.opt.form == STREAM && c.opt.list == 0 ? DONE : finish(DONE);
}
