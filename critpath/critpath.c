/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-critpath - the critical path: what the run could not have ended without
 *
 * reads   one graph stream
 * writes  the same messages and the path's segments; or a report as text or JSON
 * memory  56 bytes for each row between two global synchronisation points; with -a kahn 120 more
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "run.h"

static const char usage[] =
	"usage: lp-critpath [-a ALGORITHM] [-F stream|text|json] [--all] [FILE]\n"
	"Find the critical path of a run from its graph stream.\n"
	"  -a, --algorithm HOW  walk, kahn, dijkstra, delta: the same path;\n"
	"                       intervals: an approximation [walk]\n"
	"  -F, --format FORM    stream: the input and the path's segments; text; json [stream]\n"
	"      --slack          how much later each activity could end without harm\n"
	"  -k, --alternatives N the N longest ways through the run beside the path [0]\n"
	"      --gain PERCENT   what each call site would gain if it took less time\n"
	"      --all            text: every rank, call and call site, not only the first\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n";

enum form { STREAM, TEXT, JSON };
enum algorithm { WALK, KAHN, DIJKSTRA, DELTA, INTERVALS };

static bool (*const solvers[])(const struct stretch *, struct segments *) = {
	solve_walk, solve_kahn, solve_dijkstra, solve_delta, solve_intervals,
};

struct options {
	enum algorithm algorithm;
	enum form form;
	bool all, slack;
	int alternatives, faster;	/* how many; per cent */
	const char *file;	/* NULL or "-": standard input */
};

struct critpath {
	struct options opt;
	struct team team;
	struct run run;
	struct writer out;
	struct segments segments;	/* of one stretch */
	struct report report;
	struct whatif whatif;
};

static struct options
parse_options(int argc, char **argv)
{
	static const char *const algorithms[] = { "walk", "kahn", "dijkstra", "delta", "intervals", NULL };
	static const char *const forms[] = { "stream", "text", "json", NULL };
	static const struct option longs[] = {
		{ "algorithm", required_argument, NULL, 'a' }, { "format", required_argument, NULL, 'F' },
		{ "all", no_argument, NULL, 'A' }, { "slack", no_argument, NULL, 'S' },
		{ "alternatives", required_argument, NULL, 'k' },
		{ "gain", required_argument, NULL, 'G' }, { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' }, { NULL, 0, NULL, 0 },
	};
	struct options opt = { .algorithm = WALK, .form = STREAM };
	int c;

	while ((c = getopt_long(argc, argv, "a:F:k:hV", longs, NULL)) != -1)
		switch (c) {
		case 'a': opt.algorithm = (enum algorithm)parse_choice("--algorithm", optarg, algorithms); break;
		case 'F': opt.form = (enum form)parse_choice("--format", optarg, forms); break;
		case 'A': opt.all = true; break;
		case 'S': opt.slack = true; break;
		case 'k': opt.alternatives = (int)parse_integer("--alternatives", optarg, 1, 1000); break;
		case 'G': opt.faster = (int)parse_integer("--gain", optarg, 1, 100); break;
		case 'h': print_and_exit(usage);
		case 'V': print_and_exit("lp-critpath " VERSION "\n");
		default: bad_usage(usage);
		}
	if (argc - optind > 1)
		bad_usage(usage);
	opt.file = argv[optind];
	return opt;
}

/* The path through the stretch that has ended, up to LAST. */
static void
solve_stretch(struct critpath *c, struct event last)
{
	struct stretch stretch = run_stretch(&c->run, &c->team, last);
	struct segments *s = &c->segments;

	s->count = 0;
	while (!solvers[c->opt.algorithm](&stretch, s))
		cut_cycle(&stretch, &c->run.known);
	for (size_t i = 0; i < s->count; i++) {
		if (c->opt.form == JSON)
			print_segment_json(&s->at[i], &c->run.known, c->report.segments == 0);
		report_add(&c->report, &c->run.known, &s->at[i]);
	}
	if (c->opt.form == STREAM)
		write_segments(&c->out, &c->run.in, 0, s);
	if (!c->run.keeps_instances)
		return;
	whatif_add(&c->whatif, &stretch, &c->run.instances, &c->run.known, s);
	if (c->opt.form == STREAM) {
		write_slack(&c->out, &c->whatif.rows);
		for (int n = 0; n < c->whatif.count; n++)
			write_segments(&c->out, &c->run.in, n + 1, &c->whatif.alternatives[n].segments);
	}
}

static void
take_message(struct critpath *c, const struct message *message)
{
	bool ended;
	struct event last;

	ended = run_take(&c->run, message, &last);
	if (c->opt.form == STREAM && writer_pass(&c->out, message,
	    is_kind(message, "calls") ? c->run.calls.count : 0) < 0)
		die_output();
	if (ended) {
		solve_stretch(c, last);
		run_advance(&c->run);
	}
}

/* How far the path of intervals is from the exact one, which is as long as the run. */
static void
tell_distance(const struct critpath *c)
{
	int64_t exact_ns = c->report.end_ns - c->report.begin_ns, less_ns = c->segments.missing_ns;

	note("intervals: %llu groups; the length is %.9f s, %.9f s (%.2f %%) less than the exact %.9f s",
	    (unsigned long long)c->segments.groups, 1e-9 * (double)(exact_ns - less_ns),
	    1e-9 * (double)less_ns, exact_ns > 0 ? 100 * (double)less_ns / (double)exact_ns : 0,
	    1e-9 * (double)exact_ns);
}

static int
end_output(struct critpath *c)
{
	if (c->opt.form == TEXT) {
		report_text(&c->report, &c->run.known, c->opt.all);
		whatif_text(&c->whatif, &c->run.known, c->opt.all);
		return finish(DONE);
	}
	if (c->opt.form == JSON) {
		printf("]");
		report_json(&c->report, &c->run.known);
		whatif_json(&c->whatif, &c->run.known);
		printf("}\n");
		return finish(DONE);
	}
	message_begin(&c->out, "path", 3);
	put_int(&c->out, "run_ns", c->run.known.run_ns);
	put_int(&c->out, "length_ns", c->report.end_ns - c->report.begin_ns);
	put_uint(&c->out, "segments", c->report.segments);
	if (message_end(&c->out) < 0 || writer_end(&c->out) < 0)
		die_output();
	return DONE;
}

int
main(int argc, char **argv)
{
	static struct critpath c;
	struct progress progress;
	struct message message;
	struct event last;

	tool = "lp-critpath";
	c.team = team_open(&argc, &argv);
	c.opt = parse_options(argc, argv);
	refuse_terminal_input(c.opt.file, usage);
	if (c.opt.form == STREAM)
		refuse_terminal_output();
	run_open(&c.run, c.opt.file, 0, UINT64_MAX, 0);
	c.whatif.slack = c.opt.slack;
	c.whatif.faster = c.opt.faster;
	c.whatif.count = c.opt.alternatives;
	c.run.keeps_instances = c.opt.slack || c.opt.faster > 0 || c.opt.alternatives > 0;
	if (c.opt.form == STREAM &&
	    writer_open(&c.out, STDOUT_FILENO, "path", &c.run.in, argc, argv) < 0)
		die_output();
	if (c.opt.form == JSON)
		printf("{\"segments\":[");
	progress_begin(&progress);
	while (run_next(&c.run, &message)) {
		take_message(&c, &message);
		progress_show(&progress, c.run.in.rows, 0, 0);
	}
	progress_end(&progress, c.run.in.rows);
	if (run_end(&c.run, &last))
		solve_stretch(&c, last);
	if (c.opt.algorithm == INTERVALS)
		tell_distance(&c);
	team_close();
	return end_output(&c);
}
