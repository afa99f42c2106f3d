/* SPDX-License-Identifier: BSD-3-Clause */
#include "critpath.h"

#include "../base/run/sections.h"

const char usage[] =
	"usage: lp-critpath [-a ALGORITHM] [-F text|json|stream] [--all] [FILE]\n"
	"Find the critical path of a run from its graph stream.\n"
	"  -a, --algorithm HOW  walk, kahn, dijkstra, delta: the same path;\n"
	"                       intervals: an approximation [walk]\n"
	"      --splits HOW     seq-seq, seq-par, par-seq, par-par: under mpirun, the algorithm between\n"
	"                       two synchronisation points, and these stretches, by one process or\n"
	"                       several [par-seq for dijkstra and delta, else seq-par]\n"
	"  -F, --format FORM    text, json, stream: the input and the path's segments; with --by csv;\n"
	"                       of samples folded or speedscope [stream; to a terminal text]\n"
	"      --json FILE      the report as JSON, too\n"
	"      --verdict FILE   json: the verdict that lp-report --verdict wrote; else of the path alone\n"
	"      --distance       of intervals: for how much of the time the exact path is there, too\n"
	"      --all            text: every rank, call and call site, not only the first\n"
	"      --by WHAT        step: of each step that the calls repeat, and which are slow, and why;\n"
	"                       region: of each region that the program names\n"
	"      --steps N        of those loops only the ones with N steps, regular or not\n"
	"      --every S        a line for each S seconds of the run, text or JSON, also of one that goes on\n"
	"      --whole          shares of all the path, its start, Init and Finalize too\n"
	"      --list N         list N parts of the run with about equally many calls\n"
	"      --part I/N       only the I-th of them; as a stream, its segments alone\n"
	"      --join           the FILEs are paths of parts: print the whole path\n"
	"      --memory MB      for rows; older ones go into a temporary file [128 and more]\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n";

/* "2/8" */
static void
parse_part(struct options *opt, const char *text)
{
	char *copy = need(strdup(text)), *slash = strchr(copy, '/');

	if (slash == NULL)
		die("--part %s: a part and their number are needed, as in 2/8", text);
	*slash = '\0';
	opt->parts = (int)parse_integer("--part", slash + 1, 1, 1 << 20);
	opt->part = (int)parse_integer("--part", copy, 1, opt->parts);
	free(copy);
}

static void
check_together(const struct options *opt)
{
	bool split = opt->part > 0 || opt->join || opt->splits > SEQ_SEQ;

	if (opt->json != NULL && (opt->part > 0 || opt->splits > SEQ_SEQ || opt->list > 0 ||
	    opt->by >= 0 || opt->every_ns > 0))
		die("--json is of the whole path, by one process");
	if (opt->verdict != NULL && opt->form != JSON && opt->json == NULL)
		die("--verdict is for JSON");
	if (opt->form >= FOLDED && opt->list > 0)
		die("-F folded and speedscope are of a path, not of --list");
	if (opt->every_ns > 0 && (split || opt->list > 0 || opt->distance ||
	    opt->verdict != NULL || opt->all || opt->whole || opt->algorithm == INTERVALS ||
	    (opt->form != UNSAID_FORM && opt->form != TEXT && opt->form != JSON)))
		die("--every goes with -F text or json, -a of an exact path and --memory alone");
	if (opt->steps > 0 && opt->by != BY_STEP)
		die("--steps is for --by step");
	if (opt->by >= 0 && (split || opt->list > 0 || opt->distance || opt->verdict != NULL ||
	    opt->every_ns > 0 || opt->algorithm == INTERVALS || opt->form == STREAM ||
	    opt->form >= FOLDED))
		die("--by goes with -F text, json or csv, -a of an exact path, --all, --whole and "
		    "--memory alone");
	if (opt->form == CSV && opt->by < 0)
		die("-F csv is for --by");
	if (opt->distance && (opt->algorithm != INTERVALS || split))
		die("--distance is that of -a intervals, of the whole run on one process");
	if (opt->splits >= PAR_SEQ && opt->algorithm <= KAHN)
		die("--splits par-*: walk and kahn are not parallel; dijkstra, delta and intervals "
		    "are");
	if ((opt->list > 0) + (opt->part > 0) + opt->join > 1)
		die("--list, --part and --join exclude each other");
}

#define OPTION(member) MEMBER(struct options, member)

struct options
parse_options(int argc, char **argv)
{
	static const char *const algorithms[] = { "walk", "kahn", "dijkstra", "delta",
	    "intervals", NULL };
	static const char *const splits[] = { "seq-seq", "seq-par", "par-seq", "par-par", NULL };
	static const char *const forms[] = { "stream", "text", "json", "csv", "folded",
	    "speedscope", NULL };
	static const char *const parts[] = { "step", "region", NULL };
	enum { PART = 256, EVERY, GONE };
	static const struct option_row rows[] = {
		{ "algorithm", 'a', AS_CHOICE, OPTION(algorithm), .choices = algorithms },
		{ "splits", 0, AS_CHOICE, OPTION(splits), .choices = splits },
		{ "format", 'F', AS_FORM, OPTION(form), .choices = forms },
		{ "all", 0, FLAG, OPTION(all) }, { "list", 0, AS_WHOLE, OPTION(list), 1, 1 << 20 },
		{ "part", PART, ASKED }, { "join", 0, FLAG, OPTION(join) },
		{ "whole", 0, FLAG, OPTION(whole) }, { "distance", 0, FLAG, OPTION(distance) },
		{ "verdict", 0, AS_TEXT, OPTION(verdict) }, { "json", 0, AS_TEXT, OPTION(json) },
		{ "memory", 0, AS_MEGABYTES, OPTION(memory) }, { "every", EVERY, ASKED },
		{ "by", 0, AS_CHOICE, OPTION(by), .choices = parts },
		{ "steps", 0, AS_WHOLE, OPTION(steps), LEAST_STEPS, INT32_MAX },
		/* Options that moved to other tools: */
		{ "slack", GONE, ASKED_ALONE }, { "alternatives", 'k', ASKED },
		{ "gain", GONE, ASKED }, { "needed", GONE, ASKED_ALONE }, { "scale", GONE, ASKED },
		OPTIONS_END
	};
	struct options opt = { .algorithm = WALK, .form = UNSAID_FORM, .splits = UNSAID, .by = -1,
	    .memory = SIZE_MAX };
	int c;

	while ((c = next_option(argc, argv, "", rows, usage, &opt)) != -1)
		switch (c) {
		case PART: parse_part(&opt, optarg); break;
		case EVERY:
			if ((opt.every_ns = parse_seconds("--every", optarg)) <= 0)
				die("--every: no time");
			break;
		default: die("--slack, -k, --gain, --needed and --scale are those of lp-gain");
		}
	if (argc - optind > 1 && !opt.join)
		bad_usage(usage);
	check_together(&opt);
	if (opt.every_ns > 0)
		opt.by = BY_WINDOW;
	opt.files = argv + optind;
	opt.file_count = argc - optind > 0 ? argc - optind : 1;	/* argv ends with NULL */
	return opt;
}
