/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-report - a run as one page that can be mailed, and as pictures
 *
 * reads   one graph or path stream (for a graph in a file it runs lp-gain or lp-critpath);
 *         streams of its replay and of other runs to compare with
 * writes  one HTML file that loads nothing else, one SVG picture, its timeline as a table,
 *         or the verdict; beside it the verdict and the report of lp-imbalance
 * memory  that of lp-imbalance, and an amount proportional to --size and to ranks
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"
#include "../base/imbalance/imbalance.h"
#include "../base/tool/process.h"
#include "../base/tool/whole_file.h"

static const char usage[] =
	"usage: lp-report [-F html|svg|text|json|csv] [-o FILE] [--size 5M] [OPTION ...] [FILE]\n"
	"Show a run: one HTML page from a graph or path stream, or one of its pictures.\n"
	"  -F, --format FORM    html; svg: one picture; text, json: the verdict; csv:\n"
	"                       the columns of the timeline as numbers [html]\n"
	"      --by WHAT        step, region: also the path by these parts of the run\n"
	"      --figure NAME    of svg: timeline, steps, regions, path, waits, gains, efficiency,\n"
	"                       matrix, monitor [timeline]\n"
	"  -o, --output FILE    where to [standard output]\n"
	"      --verdict FILE   the verdict as JSON, too\n"
	"      --text FILE      the verdict as lines of text, too\n"
	"      --imbalance FILE, --imbalance-json FILE\n"
	"                       what lp-imbalance says of the run, too, as text and as JSON\n"
	"      --size BYTES     the page is no larger: 500k, 5M [5M]\n"
	"      --gain PERCENT   what places gain if they took so much less time; 0: none [20]\n"
	"      --ideal FILE     the run's replay on an ideal network: serialisation and transfer,\n"
	"                       and over time what a monitored one says\n"
	"      --beside FILE    another run, whose timeline is shown with this one's on one axis\n"
	"      --runs FILE,...  graphs of other runs, for efficiencies against ranks\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n";

enum kind_of_output { HTML, SVG, VERDICT, VERDICT_JSON, COLUMNS, IMBALANCE, IMBALANCE_JSON };

struct options {
	enum kind_of_output form;
	int figure;		/* index in figures[] */
	const char *output;	/* NULL: standard output */
	const char *verdict, *text;	/* as JSON, as text; NULL: only in the output form */
	const char *imbalance, *imbalance_json;
	int64_t size;
	int percent;
	const char *ideal;
	char *runs;
	const char *beside;
	int by;			/* index in parts[]; -1: none */
	const char *file;	/* NULL or "-": standard input */
};

static const char *const part_kinds[] = { "step", "region", NULL };

static int
parse_figure(const char *text)
{
	const char *names[16] = { NULL };

	for (size_t i = 0; i < figure_count; i++)
		names[i] = figures[i].name;
	return parse_choice("--figure", text, names);
}

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	enum { FIGURE = 256 };
	static const char *const forms[] = { "html", "svg", "text", "json", "csv", NULL };
	static const struct option_row rows[] = {
		{ "format", 'F', AS_FORM, OPTION(form), .choices = forms },
		{ "by", 0, AS_CHOICE, OPTION(by), .choices = part_kinds },
		{ "figure", FIGURE, ASKED }, { "output", 'o', AS_TEXT, OPTION(output) },
		{ "verdict", 0, AS_TEXT, OPTION(verdict) }, { "text", 0, AS_TEXT, OPTION(text) },
		{ "imbalance", 0, AS_TEXT, OPTION(imbalance) },
		{ "imbalance-json", 0, AS_TEXT, OPTION(imbalance_json) },
		{ "size", 0, AS_BYTES, OPTION(size), 100000, (int64_t)1 << 30 },
		{ "gain", 0, AS_WHOLE, OPTION(percent), 0, 100 },
		{ "ideal", 0, AS_TEXT, OPTION(ideal) }, { "runs", 0, AS_TEXT, OPTION(runs) },
		{ "beside", 0, AS_TEXT, OPTION(beside) }, OPTIONS_END
	};
	struct options opt = { .size = 5 << 20, .percent = 20, .by = -1 };

	while (next_option(argc, argv, "", rows, usage, &opt) == FIGURE)
		opt.figure = parse_figure(optarg);
	if (argc - optind > 1)
		bad_usage(usage);
	opt.file = argv[optind];
	return opt;
}

/* ---- the path --------------------------------------------------------------------------- */

/* A graph in a file, or a folder of shards, has no path yet. */
static bool
needs_path(const char *file)
{
	struct reader *in;
	struct stat status;
	bool needs;

	if (file == NULL || strcmp(file, "-") == 0 || stat(file, &status) != 0 ||
	    !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
		return false;
	if (reader_open(&in, file, READ_STREAM) < 0)
		die_input(in);
	needs = strcmp(reader_content(in), "graph") == 0;
	reader_close(in);
	return needs;
}

/* A graph gets its path, and gains unless their percentage is 0. */
static void
read_run(struct page *page, const struct options *opt)
{
	char *name = (char *)(uintptr_t)opt->file, gain[32];
	int fd = -1;
	pid_t child = 0;

	snprintf(gain, sizeof gain, "--gain=%d", opt->percent);
	if (needs_path(opt->file))
		child = start_tool(opt->percent > 0 ?
		    (char *[]){ "lp-gain", gain, "-F", "stream", "--", name, NULL } :
		    (char *[]){ "lp-critpath", "-F", "stream", "--", name, NULL }, &fd);
	page_read(page, opt->file, fd, (size_t)opt->size);
	if (child > 0 && !ended_well(child))
		die("%s failed", opt->percent > 0 ? "lp-gain" : "lp-critpath");
}

/* ---- output ------------------------------------------------------------------------------- */

/* Reads the other run, without the parts that only a page needs. */
static void
read_other(struct page *page, void *options)
{
	struct options its = *(const struct options *)options;

	its.file = its.beside;
	its.percent = 0;
	read_run(page, &its);
}

static void
read_runs(struct page *page, char *list)
{
	struct times *runs = NULL;
	size_t capacity = 0;
	char *name;

	while ((name = strsep(&list, ",")) != NULL)
		*APPEND(runs, page->run_count, capacity) = read_times(name, false);
	if (runs != NULL)
		sort_and_scale(runs, page->run_count, false);
	page->runs = runs;
}

static void
write_file(const char *name, struct page *page, enum kind_of_output form, int figure)
{
	static struct text text;	/* too large for the stack */
	const struct view overview = { .by = -1, .ideal = page->ideal };
	struct whole_file whole = whole_file_begin(name);

	text_begin(&text, whole.file, name);
	if (form == SVG)
		figure_file(&text, page, &figures[figure]);
	else if (form == VERDICT || form == VERDICT_JSON)
		verdict_write(&text, page, form == VERDICT_JSON);
	else if (form == IMBALANCE)
		print_table(&text, &page->im, &overview);
	else if (form == IMBALANCE_JSON)
		print_json(&text, &page->im, &overview);
	else if (form == COLUMNS)
		columns_write(&text, page);
	else
		page_write(&text, page);
	text_flush(&text);
	whole_file_end(&whole);
}

int
main(int argc, char **argv)
{
	static struct page page;
	struct options opt;
	struct times ideal;

	tool = "lp-report";
	opt = parse_options(argc, argv);
	refuse_terminal_input(opt.file, usage);
	if (opt.output == NULL && opt.form < VERDICT && isatty(STDOUT_FILENO))
		die("standard output is a terminal; -o FILE writes to a file");
	if (opt.ideal != NULL) {
		ideal = read_times(opt.ideal, false);
		page.ideal = &ideal;
	}
	if (opt.runs != NULL)
		read_runs(&page, opt.runs);
	if (opt.beside != NULL) {
		beside_read(&page.beside, opt.file, opt.beside, read_other, &opt);
		if (strcmp(figures[opt.figure].name, "timeline") == 0)
			opt.figure = parse_figure("beside");
	}
	if (opt.by >= 0)
		by_read(&page.parts, part_kinds[opt.by], opt.file);
	read_run(&page, &opt);
	if (page.ideal != NULL)
		monitor_read(&page.monitor, opt.ideal, page.im.graph.known.run_ns);
	if (page.ideal != NULL && ideal.ranks != page.im.graph.known.ranks)
		die("%s: of %d ranks, the run is of %d", opt.ideal, (int)ideal.ranks,
			    (int)page.im.graph.known.ranks);
	if (opt.form == SVG && !figures[opt.figure].has(&page))
		die("--figure %s: the stream has no data for it", figures[opt.figure].name);
	if (opt.verdict != NULL)
		write_file(opt.verdict, &page, VERDICT_JSON, 0);
	if (opt.text != NULL)
		write_file(opt.text, &page, VERDICT, 0);
	if (opt.imbalance != NULL)
		write_file(opt.imbalance, &page, IMBALANCE, 0);
	if (opt.imbalance_json != NULL)
		write_file(opt.imbalance_json, &page, IMBALANCE_JSON, 0);
	write_file(opt.output, &page, opt.form, opt.figure);
	return finish(DONE);
}
