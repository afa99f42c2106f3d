/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lp-import - what other tools have measured, as a stream
 *
 * reads   files of another tool's format
 * writes  one stream of what they hold
 * memory  one file's numbers
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import.h"

static const char usage[] =
	"usage: lp-import -f FORMAT [FILE...]\n"
	"Read files of another tool and write a stream.\n"
	"  -f, --from FORMAT  reprompi: raw text of ReproMPI, one mpirun a file\n"
	"  -h, --help         print this text\n"
	"  -V, --version      print the version\n";

static const struct format formats[] = {
	{ "reprompi", "measurement", read_reprompi },
};

struct options {
	const struct format *format;
	char **files;
	size_t file_count;
};

static struct options
parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "from", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	static char *standard_input[] = { "-" };
	const char *names[sizeof formats / sizeof formats[0] + 1] = { NULL };
	struct options opt = { NULL, standard_input, 1 };
	int c;

	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		names[i] = formats[i].name;
	while ((c = getopt_long(argc, argv, "f:hV", longs, NULL)) != -1)
		switch (c) {
		case 'f': opt.format = &formats[parse_choice("--from", optarg, names)]; break;
		case 'h': print_and_exit(usage);
		case 'V': print_and_exit("lp-import " VERSION "\n");
		default: bad_usage(usage);
		}
	if (opt.format == NULL)
		bad_usage(usage);
	if (optind < argc) {
		opt.files = argv + optind;
		opt.file_count = (size_t)(argc - optind);
	}
	return opt;
}

char *
text_line(struct text *text)
{
	ssize_t length = getline(&text->line, &text->capacity, text->in);

	if (length < 0 && ferror(text->in))
		die("%s: %s", text->file, strerror(errno));
	if (length < 0)
		return NULL;
	text->number++;
	text->line[strcspn(text->line, "\r\n")] = '\0';
	return text->line;
}

void
die_text(const struct text *text, const char *what)
{
	die("%s: line %zu: %s", text->file, text->number, what);
}

static void
read_file(const struct format *format, const char *file, struct writer *out)
{
	bool standard = strcmp(file, "-") == 0;
	struct text text = { .file = standard ? "standard input" : file,
	    .in = standard ? stdin : fopen(file, "r") };

	if (text.in == NULL)
		die("%s: %s", file, strerror(errno));
	format->read(&text, out);
	free(text.line);
	fclose(text.in);
}

int
main(int argc, char **argv)
{
	struct options opt;
	struct writer out;

	tool = "lp-import";
	opt = parse_options(argc, argv);
	refuse_terminal_input(opt.files[0], usage);
	refuse_terminal_output();
	if (writer_open(&out, STDOUT_FILENO, opt.format->content, NULL, argc, argv) < 0)
		die_output();
	for (size_t i = 0; i < opt.file_count; i++)
		read_file(opt.format, opt.files[i], &out);
	if (writer_end(&out) < 0)
		die_output();
	return DONE;
}
