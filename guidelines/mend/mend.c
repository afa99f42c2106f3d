/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-mend - run an MPI program with mock-ups in place of slower functions
 *
 * reads verdict streams; with --factors a graph stream writes nothing except for --list and
 * --factors: the output is the program's memory a rule for each function, number of ranks and size
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/tool/preload.h"
#include "mend.h"

static const char usage[] =
	"usage: lp-mend --verdict FILE [OPTION ...] [--] COMMAND [ARGUMENT ...]\n"
	"Run an MPI program with mock-ups in place of functions that a verdict calls slower.\n"
	"COMMAND is mpirun and what it starts, or each rank: mpirun -n 4 lp-mend ... ./app\n"
	"      --verdict FILE   from lp-guidelines -F stream; one for each number of ranks\n"
	"      --exact          leave reductions whose result depends on the order\n"
	"      --count          at the end rank 0 says how many of its calls were replaced\n"
	"      --list           print what becomes of which sizes, and start nothing\n"
	"      --factors GRAPH  print factors for lp-replay, of functions of a recorded run\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n";

struct options {
	const char **verdicts;
	size_t verdict_count;
	const char *graph;
	bool exact, count, list;
	char **command;
};

static struct options
parse_options(int argc, char **argv)
{
	enum { VERDICT = 256, EXACT, COUNT, LIST, FACTORS };
	static const struct option longs[] = {
		{ "verdict", required_argument, NULL, VERDICT },
		{ "exact", no_argument, NULL, EXACT },
		{ "count", no_argument, NULL, COUNT }, { "list", no_argument, NULL, LIST },
		{ "factors", required_argument, NULL, FACTORS }, { NULL, 0, NULL, 0 },
	};
	struct options opt = { 0 };
	size_t capacity = 0;
	int c;

	while ((c = next_option(argc, argv, "+", longs, usage)) != -1)
		switch (c) {
		case VERDICT:
			*APPEND(opt.verdicts, opt.verdict_count, capacity) = optarg;
			break;
		case EXACT: opt.exact = true; break;
		case COUNT: opt.count = true; break;
		case LIST: opt.list = true; break;
		case FACTORS: opt.graph = optarg; break;
		}
	opt.command = argv + optind;
	if (opt.verdict_count == 0 || (optind == argc) != (opt.list || opt.graph != NULL))
		bad_usage(usage);
	return opt;
}

static _Noreturn void
start(const struct options *opt, const struct mending *m)
{
	char library[PATH_MAX], *text = rules_text(m);
	const char *rank = rank_of_launcher();

	preload_find("mend", library, sizeof library);
	/* after a recorder, so that it records the program's own calls */
	preload_add(library, false);
	setenv("LONGPOLE_MEND", text, 1);
	if (opt->exact)
		setenv("LONGPOLE_MEND_EXACT", "1", 1);
	else
		unsetenv("LONGPOLE_MEND_EXACT");
	if (opt->count)
		setenv("LONGPOLE_MEND_COUNT", "1", 1);
	if (rank != NULL)
		setenv("LONGPOLE_MEND_RANK", rank, 1);
	execvp(opt->command[0], opt->command);
	die("%s: %s", opt->command[0], strerror(errno));
}

int
main(int argc, char **argv)
{
	static struct text text;	/* too large for the stack */
	struct mending m = { 0 };
	struct options opt;

	tool = "lp-mend";
	opt = parse_options(argc, argv);
	for (size_t i = 0; i < opt.verdict_count; i++)
		read_verdict(&m, opt.verdicts[i]);
	finish_rules(&m);
	if (!opt.list && opt.graph == NULL) {
		if (count_rules(&m) == 0 &&
		    (rank_of_launcher() == NULL || strcmp(rank_of_launcher(), "0") == 0))
			note("no replaceable function is slower: nothing is replaced");
		start(&opt, &m);
	}
	text_begin(&text, stdout, NULL);
	if (opt.list)
		print_rules(&text, &m);
	if (opt.graph != NULL)
		print_factors(&text, &m, opt.graph);
	text_flush(&text);
	return finish(DONE);
}
