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
#include <unistd.h>

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
	void (*import)(const char *file, int argc, char **argv);
	/* or, of a measurement, for each of several files */
	void (*take)(struct source *text, struct writer *out);
} formats[] = {
	{ "dim", import_dim, NULL }, { "prv", import_prv, NULL }, { "otf2", import_otf2, NULL },
	{ "reprompi", NULL, take_reprompi }, { "pingpong", NULL, take_pingpong },
};

static const struct format *
parse_format(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	die("--from: %s is no format", name);
}

/* Each file, or standard input, into one stream. */
static void
import_measurement(const struct format *format, char **files, int argc, char **argv)
{
	struct writer out;

	need_output(writer_open(&out, STDOUT_FILENO, "measurement", NULL, argc, argv));
	do {
		struct source text;

		text_open(&text, *files);
		format->take(&text, &out);
		text_close(&text);
	} while (*files != NULL && *++files != NULL);
	need_output(writer_end(&out));
}

int
main(int argc, char **argv)
{
	static const struct option_row rows[] = { { "from", 'f', ASKED }, OPTIONS_END };
	const struct format *format = NULL;

	tool = "lp-import";
	while (next_option(argc, argv, "", rows, usage, NULL) == 'f')
		format = parse_format(optarg);
	if (format == NULL || (argc - optind > 1 && format->take == NULL))
		bad_usage(usage);
	refuse_terminal_input(argv[optind], usage);
	refuse_terminal_output();
	if (format->take != NULL)
		import_measurement(format, argv + optind, argc, argv);
	else
		format->import(argv[optind], argc, argv);
	return DONE;
}
