/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-import - recordings and measurements of other tools, as a stream
 *
 * reads   text of the given format, also in gzip form
 * writes  one graph stream, one trace (from OTF2), or one measurement
 * memory  tasks and messages in flight; for OTF2, open requests; for measurements, the numbers of
 *         one file
 */
#include <string.h>

#include "import.h"

static const char usage[] =
	"usage: lp-import -f dim|prv|otf2|reprompi|pingpong [FILE ...]\n"
	"Turn a trace, or measurements, of another tool into a stream.\n"
	"  -f, --from FORMAT  dim: Dimemas, prv: Paraver, otf2: the archive's traces.otf2;\n"
	"                     reprompi: one mpirun a file;\n"
	"                     pingpong: bytes and microseconds, of OSU or IMB\n"
	"  -h, --help         print this text\n"
	"  -V, --version      print the version\n";

/* One entry per format. */
static const struct format {
	const char *name;
	bool many;		/* several files are read in sequence */
	void (*import)(char **files, int argc, char **argv);
} formats[] = {
	{ "dim", false, import_dim },
	{ "prv", false, import_prv },
	{ "otf2", false, import_otf2 },
	{ "reprompi", true, import_reprompi },
	{ "pingpong", true, import_pingpong },
};

static const struct format *
parse_format(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	die("--from: %s is no format", name);
}

int
main(int argc, char **argv)
{
	static const struct option_row rows[] = { { "from", 'f', ASKED }, OPTIONS_END };
	const struct format *format = NULL;

	tool = "lp-import";
	while (next_option(argc, argv, "", rows, usage, NULL) == 'f')
		format = parse_format(optarg);
	if (format == NULL || (argc - optind > 1 && !format->many))
		bad_usage(usage);
	refuse_terminal_input(argv[optind], usage);
	refuse_terminal_output();
	format->import(argv + optind, argc, argv);
	return DONE;
}
