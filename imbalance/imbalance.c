/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-imbalance - who waits, for whom, where, and why
 *
 * reads   one graph stream; further ones of a replay or of runs to compare with
 * writes  a report: table, JSON, CSV or a stream
 * memory  ranks, call sites, open requests, and the rows from the oldest without its edges
 *         to the newest; each of several processes for its part of the run
 *         (base/waits/parts.c)
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/run/sections.h"
#include "../base/team/team.h"
#include "report.h"

static const char usage[] =
	"usage: lp-imbalance [-F text|json|csv|stream] [OPTION ...] [FILE ...]\n"
	"Report who waits for whom, where and why, from a graph stream; of several how they scale.\n"
	"  -F, --format FORM       text, json, csv or stream [text]\n"
	"      --json FILE         the report as JSON, too\n"
	"      --by WHAT           rank, site, call, communicator, partner, function, step or region\n"
	"      --steps N           by step: of those loops only the ones with N steps, regular or not\n"
	"      --from S, --to S    only what lies between these seconds of the run\n"
	"      --every S               a line for each S seconds of the run, text or JSON, also of one that goes on\n"
	"      --path FILE         its critical path, from lp-critpath: what is critical of that\n"
	"      --ideal FILE        its replay on an ideal network: serialisation and transfer\n"
	"      --weak              several runs: each has as much work as it has ranks\n"
	"      --whole             efficiencies of all the run, its start, Init and Finalize too\n"
	"      --order RULE        strict, or scalasca: wrong order also where there was no choice [strict]\n"
	"      --limit NAME=VALUE  exit status 1 if that is exceeded; may be repeated\n"
	"      --all               text: every line, not only the most costly\n"
	"      --memory MB         for rows; older ones go into a temporary file [128 and more]\n"
	"  -h, --help              print this text\n"
	"  -V, --version           print the version\n";

struct options {
	enum form form;
	struct view view;
	int64_t from_ns, to_ns;
	int64_t every_ns;	/* 0: the whole run */
	int64_t steps;		/* of a loop; 0: unsaid */
	const char **limits;
	size_t limit_count, limit_capacity;
	const char *path, *ideal;
	const char *json;	/* a file for JSON beside the form; NULL: none */
	size_t memory;		/* bytes for rows; SIZE_MAX: unsaid */
	bool weak;
	int order;		/* 1: every one */
	char **files;		/* none or "-": standard input */
	size_t file_count;
};

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	enum { LIMIT = 256, EVERY };
	static const char *const forms[] = { "text", "json", "csv", "stream", NULL };
	static const char *const orders[] = { "strict", "scalasca", NULL };
	static const struct option_row rows[] = {
		{ "format", 'F', AS_FORM, OPTION(form), .choices = forms },
		{ "by", 0, AS_CHOICE, OPTION(view.by), .choices = dimension_names },
		{ "steps", 0, AS_WHOLE, OPTION(steps), LEAST_STEPS, INT32_MAX },
		{ "from", 0, AS_SECONDS, OPTION(from_ns) }, { "to", 0, AS_SECONDS, OPTION(to_ns) },
		{ "path", 0, AS_TEXT, OPTION(path) }, { "ideal", 0, AS_TEXT, OPTION(ideal) },
		{ "json", 0, AS_TEXT, OPTION(json) }, { "weak", 0, FLAG, OPTION(weak) },
		{ "whole", 0, FLAG, OPTION(view.whole) },
		{ "limit", LIMIT, ASKED }, { "all", 0, FLAG, OPTION(view.all) },
		{ "memory", 0, AS_MEGABYTES, OPTION(memory) },
		{ "order", 0, AS_CHOICE, OPTION(order), .choices = orders },
		{ "every", EVERY, ASKED }, OPTIONS_END
	};
	struct options opt = { .from_ns = INT64_MIN, .to_ns = INT64_MAX, .view.by = -1,
	    .memory = SIZE_MAX };
	bool of_one_report;
	int c;

	while ((c = next_option(argc, argv, "", rows, usage, &opt)) != -1)
		switch (c) {
		case LIMIT:
			*APPEND(opt.limits, opt.limit_count, opt.limit_capacity) = optarg;
			break;
		case EVERY:
			if ((opt.every_ns = parse_seconds("--every", optarg)) <= 0)
				die("--every: no time");
		}
	opt.files = argv + optind;
	opt.file_count = (size_t)(argc - optind);
	of_one_report = opt.path != NULL || opt.ideal != NULL || opt.limit_count > 0 ||
	    opt.from_ns != INT64_MIN || opt.to_ns != INT64_MAX;
	if (opt.file_count > 1 && (of_one_report || opt.view.by >= 0 || opt.form == STREAM))
		die("of several runs there is only the table of how they scale");
	if (opt.every_ns > 0 && (opt.file_count > 1 || of_one_report || opt.view.by >= 0 ||
	    opt.view.whole || opt.form > JSON))
		die("--every goes with -F text or json, --order and --memory alone");
	if (opt.json != NULL && (opt.file_count > 1 || opt.every_ns > 0 || opt.view.by >= BY_STEP))
		die("--json is of one run as a whole");
	if (opt.steps > 0 && opt.view.by != BY_STEP)
		die("--steps is for --by step");
	if (opt.view.by >= BY_STEP && (of_one_report || opt.view.whole || opt.form == STREAM))
		die("--by step and region go with -F text, json or csv, --steps, --order, --all "
		    "and --memory alone");
	if (opt.from_ns >= opt.to_ns)
		die("--from is not before --to");
	return opt;
}

/* False: a limit is exceeded. */
static bool
tell(struct imbalance *im, struct options *opt, int argc, char **argv)
{
	struct critical critical;
	struct times ideal;

	/* A time outside the run has no results. */
	if (im->from_ns > 0 && im->from_ns >= im->graph.known.run_ns)
		die("--from: the run has ended by then, after %.9f s",
		    (double)im->graph.known.run_ns / 1e9);
	if (im->to_ns <= 0)
		die("--to: the run has not begun by then");
	if (opt->path != NULL) {
		critical = read_critical(im, opt->path);
		opt->view.critical = &critical;
	}
	if (opt->ideal != NULL) {
		ideal = read_times(opt->ideal, opt->view.whole);
		if (ideal.ranks != im->graph.known.ranks)
			die("%s: of %d ranks, the run is of %d", opt->ideal, (int)ideal.ranks,
			    (int)im->graph.known.ranks);
		opt->view.ideal = &ideal;
	}
	if (opt->json != NULL)
		report(im, JSON, opt->json, &opt->view, argc, argv);
	report(im, opt->form, NULL, &opt->view, argc, argv);
	return !check_limits(im, opt->limits, opt->limit_count, opt->view.whole);
}

int
main(int argc, char **argv)
{
	static struct imbalance im;
	enum exit_status status = DONE;
	struct options opt;
	struct team team;

	tool = "lp-imbalance";
	team = team_start(&argc, &argv);
	opt = parse_options(argc, argv);
	if (opt.file_count <= 1)
		refuse_terminal_input(opt.files[0], usage);
	if (opt.form == STREAM && team.size == 1)	/* under mpirun, standard output is one */
		refuse_terminal_output();
	team_open(&team, &argc, &argv);
	im.every_order = opt.order == 1;
	im.from_ns = opt.from_ns;
	im.to_ns = opt.to_ns;
	im.window_bytes = opt.memory;
	im.window_bytes_set = opt.memory != SIZE_MAX;
	if (opt.file_count > 1) {
		if (team.rank == 0)
			print_scaling(opt.files, opt.file_count, opt.weak, opt.view.whole,
			    opt.form);
	} else if (opt.every_ns > 0 || opt.view.by >= BY_STEP) {
		if (team.rank == 0)
			print_by_section(&im, opt.files[0], &opt.view, opt.every_ns,
			    (uint64_t)opt.steps, opt.form);
	} else {
		read_graph_together(&im, opt.files[0], &team);
		if (team.rank == 0 && !tell(&im, &opt, argc, argv))
			status = ANSWER_IS_NO;
	}
	team_close();
	/* A stream has closed standard output. */
	return opt.form == STREAM ? (int)status : finish(status);
}
