/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-export - graph streams as traces of other tools
 *
 * reads   one graph stream
 * writes  NAME.prv, NAME.pcf and NAME.row
 * memory  the trace
 */
#include <string.h>

#include "export.h"

static const char usage[] =
	"usage: lp-export -f prv -o NAME [FILE]\n"
	"Turn a graph stream into a trace of another tool.\n"
	"  -f, --to FORMAT    prv: Paraver\n"
	"  -o, --output NAME  of the files NAME.prv, NAME.pcf and NAME.row\n"
	"  -h, --help         print this text\n"
	"  -V, --version      print the version\n";

/* One row a format. */
static const struct format {
	const char *name;
	void (*write)(const struct trace *trace, const char *name);
} formats[] = {
	{ "prv", export_prv },
};

static const struct format *
parse_format(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	die("--to: %s is no format", name);
}

int
main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "to", required_argument, NULL, 'f' }, { "output", required_argument, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	static struct trace trace;
	const struct format *format = NULL;
	const char *name = NULL;
	int c;

	tool = "lp-export";
	while ((c = next_option(argc, argv, "f:o:", longs, usage)) != -1)
		switch (c) {
		case 'f': format = parse_format(optarg); break;
		case 'o': name = optarg; break;
		}
	if (argc - optind > 1 || format == NULL || name == NULL)
		bad_usage(usage);
	refuse_terminal_input(argv[optind], usage);
	trace_read(&trace, argv[optind]);
	format->write(&trace, name);
	return finish(DONE);
}
