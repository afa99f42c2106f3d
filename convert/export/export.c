/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-export - streams in the formats of other tools
 *
 * reads   a graph stream, or one of a later stage; for extrap one per run
 * writes  the format, to standard output or to files of a name
 * memory  speedscope: the path; others: ranks, call sites, and rows to which edges may still come
 */
#include <string.h>

#include "export.h"

static const char usage[] =
	"usage: lp-export -f FORMAT [-o NAME] [OPTION...] [FILE...]\n"
	"Write a stream in the format of another tool.\n"
	"  -f, --format FORMAT  prv: Paraver, files NAME.prv, .pcf and .row;\n"
	"                       perfetto: for ui.perfetto.dev;\n"
	"                       folded, speedscope: the path as a flame graph;\n"
	"                       extrap: metrics by call site, of several runs;\n"
	"                       csv: a line a call; waits: a line a wait\n"
	"                       otf2: an archive in a new folder NAME\n"
	"  -o, --output NAME    of what is written [standard output; prv, otf2: needed]\n"
	"      --for scout      otf2: only what Scalasca's scout knows [all]\n"
	"      --from SECONDS   perfetto, csv, waits: from then on [all]\n"
	"      --to SECONDS     perfetto, csv, waits: up to then [all]\n"
	"      --ranks RANKS    perfetto, csv, waits: of these: 0,4-7 [all]\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n";

/* One entry per format. */
static const struct format {
	const char *name;
	void (*write)(const struct export *export);
	bool files;		/* needs a file name, not standard output */
	bool many;		/* takes several streams */
	bool windows;		/* takes --from, --to and --ranks */
	bool readers;		/* takes --for */
	bool speedscope;
} formats[] = {
	{ "prv", export_prv_files, .files = true },
	{ "otf2", export_otf2, .files = true, .readers = true },
	{ "perfetto", export_perfetto, .windows = true },
	{ "folded", export_flame, .speedscope = false },
	{ "speedscope", export_flame, .speedscope = true },
	{ "extrap", export_extrap, .many = true },
	{ "csv", export_csv, .windows = true },
	{ "waits", export_waits, .windows = true },
};

static const struct format *
find_format(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

int
main(int argc, char **argv)
{
	enum { TO = 256, RANKS, FOR };
#define OPTION(member) MEMBER(struct export, member)
	static const struct option_row rows[] = {
		{ "format", 'f', ASKED }, { "output", 'o', AS_TEXT, OPTION(name) },
		{ "from", 0, AS_SECONDS, OPTION(from_ns) }, { "to", TO, ASKED },
		{ "ranks", RANKS, ASKED }, { "for", FOR, ASKED }, OPTIONS_END
	};
	static const char *const readers[] = { "scout", NULL };
	struct export export = { .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	const struct format *format = NULL;
	int c;

	tool = "lp-export";
	while ((c = next_option(argc, argv, "", rows, usage, &export)) != -1)
		switch (c) {
		case 'f':
			if ((format = find_format(optarg)) == NULL)
				die("--format: %s is no format", optarg);
			break;
		case TO:	/* it once selected the format, whose name cannot be a time */
			if (find_format(optarg) != NULL)
				format = find_format(optarg);
			else
				export.to_ns = parse_seconds("--to", optarg);
			break;
		case RANKS: parse_ranks(&export.ranks, optarg); break;
		case FOR: export.scout = parse_choice("--for", optarg, readers) == 0; break;
		}
	export.files = argv + optind;
	if (format == NULL || (argc - optind > 1 && !format->many) ||
	    (format->files && export.name == NULL))
		bad_usage(usage);
	if (!format->windows && !is_all_wanted(&export))
		die("-f %s does not take --from, --to and --ranks", format->name);
	if (!format->readers && export.scout)
		die("-f %s does not take --for", format->name);
	refuse_terminal_input(argv[optind], usage);
	if (!format->files) {
		if (export.name == NULL)
			refuse_terminal_output();
		export.out = whole_file_begin(export.name);
	}
	export.speedscope = format->speedscope;
	format->write(&export);
	if (!format->files)
		whole_file_end(&export.out);
	return finish(DONE);
}
