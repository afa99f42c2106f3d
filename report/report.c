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
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "../base/imbalance/imbalance.h"
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

enum kind_of_output { HTML, SVG, VERDICT, VERDICT_JSON, COLUMNS, IMBALANCE, IMBALANCE_JSON,
	KINDS_OF_OUTPUT };

struct options {
	enum kind_of_output form;
	int figure;		/* index in figures[] */
	const char *output;	/* NULL: standard output */
	const char *also[KINDS_OF_OUTPUT];	/* files for these, too; NULL: none */
	int64_t size;
	int percent;
	const char *ideal;
	char *runs;
	const char *beside;
	int by;			/* index in part_kinds[]; -1: none */
	const char *file;	/* NULL or "-": standard input */
};

static const char *const part_kinds[] = { "step", "region", NULL };

#define OPTION(member) MEMBER(struct options, member)

static struct options
parse_options(int argc, char **argv)
{
	static const char *const forms[] = { "html", "svg", "text", "json", "csv", NULL };
	const char *names[16] = { NULL };
	const struct option_row rows[] = {
		{ "format", 'F', AS_FORM, OPTION(form), .choices = forms },
		{ "by", 0, AS_CHOICE, OPTION(by), .choices = part_kinds },
		{ "figure", 0, AS_CHOICE, OPTION(figure), .choices = names },
		{ "output", 'o', AS_TEXT, OPTION(output) },
		{ "verdict", 0, AS_TEXT, OPTION(also[VERDICT_JSON]) },
		{ "text", 0, AS_TEXT, OPTION(also[VERDICT]) },
		{ "imbalance", 0, AS_TEXT, OPTION(also[IMBALANCE]) },
		{ "imbalance-json", 0, AS_TEXT, OPTION(also[IMBALANCE_JSON]) },
		{ "size", 0, AS_BYTES, OPTION(size), 100000, (int64_t)1 << 30 },
		{ "gain", 0, AS_WHOLE, OPTION(percent), 0, 100 },
		{ "ideal", 0, AS_TEXT, OPTION(ideal) }, { "runs", 0, AS_TEXT, OPTION(runs) },
		{ "beside", 0, AS_TEXT, OPTION(beside) }, OPTIONS_END
	};
	struct options opt = { .size = 5 << 20, .percent = 20, .by = -1 };

	for (size_t i = 0; i < figure_count; i++)
		names[i] = figures[i].name;
	next_option(argc, argv, "", rows, usage, &opt);
	if (argc - optind > 1)
		bad_usage(usage);
	opt.file = argv[optind];
	return opt;
}

static void
read_runs(struct page *page, char *list)
{
	char *name;

	while ((name = strsep(&list, ",")) != NULL)
		*APPEND(page->runs, page->run_count, page->run_capacity) = read_times(name, false);
	sort_and_scale(page->runs, page->run_count, false);
}

static void
write_file(const char *name, struct page *page, enum kind_of_output form, int figure)
{
	static struct text text;	/* too large for the stack */
	struct json json;
	const struct view overview = { .by = -1, .ideal = page->ideal };
	struct whole_file whole = whole_file_begin(name);

	text_begin(&text, whole.file, name);
	if (form == SVG)
		figure_file(&text, page, &figures[figure]);
	else if (form == VERDICT)
		verdict_text(&text, &page->im.graph.known.headline, &page->verdict);
	else if (form == VERDICT_JSON) {
		json_begin(&json, &text);
		verdict_json(&json, NULL, &page->verdict, page->im.graph.known.ranks);
		json_end_line(&json);
	} else if (form == IMBALANCE)
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
		beside_read(&page.beside, opt.file, opt.beside, (size_t)opt.size);
		if (opt.figure == TIMELINE_FIGURE)
			opt.figure = BESIDE_FIGURE;
	}
	if (opt.by >= 0)
		by_read(&page.parts, part_kinds[opt.by], opt.file);
	page_read(&page, opt.file, opt.percent, (size_t)opt.size);
	if (opt.ideal != NULL) {
		monitor_read(&page.monitor, opt.ideal, page.im.graph.known.run_ns);
		if (ideal.ranks != page.im.graph.known.ranks)
			die("%s: of %d ranks, the run is of %d", opt.ideal, (int)ideal.ranks,
			    (int)page.im.graph.known.ranks);
	}
	if (opt.form == SVG && figures[opt.figure].has != NULL &&
	    !figures[opt.figure].has(&page))
		die("--figure %s: the stream has no data for it", figures[opt.figure].name);
	for (enum kind_of_output kind = 0; kind < KINDS_OF_OUTPUT; kind++)
		if (opt.also[kind] != NULL)
			write_file(opt.also[kind], &page, kind, 0);
	write_file(opt.output, &page, opt.form, opt.figure);
	return finish(DONE);
}
