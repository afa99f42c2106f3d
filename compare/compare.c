/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-compare - what changed between two sides of runs, where, and with which confidence
 *
 * reads graph or path streams of both sides, or summaries of its own writes a report as text, JSON,
 * CSV or a stream; with --summary one run as a small stream memory call sites and ranks of all
 * runs; for the run being read, as lp-imbalance
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare.h"
#include "../base/tool/spool.h"

static const char usage[] =
	"usage: lp-compare [-F text|json|csv|stream] [OPTION ...] A... -- B...\n"
	"       lp-compare --scaling|--history [-F text|json|csv] RUN...\n"
	"Tell what changed from runs A to runs B: graph or path streams, or summaries.\n"
	"  -F, --format FORM       text, json, csv or stream [text]\n"
	"      --limit NAME=VALUE  exit status 1 if that grew by more; seconds, or % of A's run\n"
	"                          time; may be repeated\n"
	"      --junit FILE        the limits as test cases for a CI server, too\n"
	"      --by WHAT           also by step or region, the parts of the run: lp-critpath(1)\n"
	"      --summary           one FILE: print the summary of the run, a small stream that\n"
	"                          stands for it later\n"
	"      --scaling           runs on several numbers of ranks: which sites stop scaling\n"
	"      --weak              of them each has as much work as it has ranks\n"
	"      --history           runs in order of their dates\n"
	"      --all               text: every site and fact, not only the largest\n"
	"  -h, --help              print this text\n"
	"  -V, --version           print the version\n";

struct options {
	enum form form;
	bool all, summary, scaling, weak, history;
	int by;
	const char *junit;
	const char **limits;
	size_t limit_count, limit_capacity;
	char **files[SIDES];
	size_t count[SIDES];
};

/*
 * Options come before the first file; a "--" separates the files of the two sides, unless there are
 * just two.
 */
#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	static const char *const forms[] = { "text", "json", "csv", "stream", NULL };
	enum { LIMIT = 256 };
	static const struct option_row rows[] = {
		{ "format", 'F', AS_FORM, OPTION(form), .choices = forms },
		{ "limit", LIMIT, ASKED }, { "summary", 0, FLAG, OPTION(summary) },
		{ "all", 0, FLAG, OPTION(all) }, { "junit", 0, AS_TEXT, OPTION(junit) },
		{ "by", 0, AS_CHOICE, OPTION(by), .choices = section_kinds },
		{ "scaling", 0, FLAG, OPTION(scaling) }, { "weak", 0, FLAG, OPTION(weak) },
		{ "history", 0, FLAG, OPTION(history) }, OPTIONS_END
	};
	struct options opt = { .form = TEXT, .by = NO_SECTIONS };

	while (next_option(argc, argv, "+", rows, usage, &opt) == LIMIT)
		*APPEND(opt.limits, opt.limit_count, opt.limit_capacity) = optarg;
	opt.files[A] = argv + optind;
	while (optind + (int)opt.count[A] < argc && strcmp(opt.files[A][opt.count[A]], "--") != 0)
		opt.count[A]++;
	if (opt.summary || opt.scaling || opt.history) {
		if (opt.summary + opt.scaling + opt.history > 1 || opt.limit_count > 0 ||
		    opt.junit != NULL || optind + (int)opt.count[A] < argc || opt.count[A] == 0 ||
		    (opt.summary && opt.count[A] > 1) || (!opt.summary &&
		    (opt.form == STREAM || opt.by != NO_SECTIONS)))
			bad_usage(usage);
		return opt;
	}
	if (optind + (int)opt.count[A] < argc) {
		opt.files[B] = opt.files[A] + opt.count[A] + 1;
		opt.count[B] = (size_t)(argc - optind) - opt.count[A] - 1;
	} else if (opt.count[A] == 2) {
		opt.files[B] = opt.files[A] + 1;
		opt.count[A] = opt.count[B] = 1;
	}
	if (opt.count[A] == 0 || opt.count[B] == 0)
		die("runs of two sides are needed: A... -- B...");
	return opt;
}

/* A name under which FILE can be opened more than once. Pipes are copied to a temporary file. */
static const char *
openable(const char *file)
{
	const bool is_stdin = strcmp(file, "-") == 0;
	const int from = is_stdin ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *name;
	int to;

	if (from < 0 || fstat(from, &status) < 0 ||
	    ((S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) && !is_stdin)) {
		if (from >= 0)
			close(from);
		return file;	/* if it does not exist, its reader says so */
	}
	to = spool_copy(from, is_stdin ? "standard input" : file);
	if (!is_stdin)
		close(from);
	/* lp-critpath reads it, too */
	if (fcntl(to, F_SETFD, 0) < 0 || asprintf(&name, "/dev/fd/%d", to) < 0)
		die("%s: %s", file, strerror(errno));
	return name;
}

/* Returns whether a limit is exceeded. */
static bool
compare(struct text *text, struct comparison *c, const struct options *opt, int argc, char **argv)
{
	struct verdict v = { 0 };
	bool beyond;

	leave_out_repeated(c);
	align(c);
	find_facts(c, &v);
	find_disturbed(c);
	judge(c, &v);
	judge_reasons(c, &v);
	judge_lists(c, &v);
	say_verdict(c, &v);
	beyond = judge_limits(c, &v, opt->limits, opt->limit_count);
	if (opt->junit != NULL)
		write_junit(&v, opt->junit);
	if (opt->form == STREAM)
		print_stream(c, &v, argc, argv);
	else
		print_comparison(text, c, &v, opt->form, opt->all, opt->by);
	return beyond;
}

int
main(int argc, char **argv)
{
	static struct text text;	/* too large for the stack */
	struct comparison c = { 0 };
	struct options opt;
	bool beyond = false;

	tool = "lp-compare";
	opt = parse_options(argc, argv);
	if (opt.summary || opt.form == STREAM)
		refuse_terminal_output();
	if (opt.summary) {
		summarise(openable(opt.files[A][0]), opt.by, argc, argv);
		return DONE;
	}
	c.all = zalloc(opt.count[A] + opt.count[B], sizeof *c.all);
	for (int side = A; side < SIDES; side++) {
		c.runs[side] = c.all + c.run_count;
		for (size_t r = 0; r < opt.count[side]; r++) {
			struct summary *run = &c.all[c.run_count++];

			summary_read(run, openable(opt.files[side][r]), opt.by);
			run->side = side;
			run->number = ++c.count[side];
		}
	}
	text_begin(&text, stdout, NULL);
	if (opt.history)
		print_history(&text, &c, opt.form, opt.all);
	else if (opt.scaling)
		print_scaling_sites(&text, &c, opt.weak, opt.form, opt.all);
	else
		beyond = compare(&text, &c, &opt, argc, argv);
	text_flush(&text);
	return finish(beyond ? ANSWER_IS_NO : DONE);
}
