/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: the same handling of options and their values for every tool. */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Options, declared once. Most values go to a member of the tool's struct; the tool handles those
 * that are ASKED.
 *
 *	#define OPTION(member) MEMBER(struct options, member)
 *	enum { SCALE = 256 };
 *	static const struct option_row rows[] = {
 *		{ "format", 'F', AS_FORM, OPTION(form), .choices = forms },
 *		{ "list", 0, AS_WHOLE, OPTION(list), 1, 1000 },
 *		{ "eager", 0, AS_NUMBER, OPTION(eager), .from = 0, .to = 1 },
 *		{ "all", 0, FLAG, OPTION(all) },
 *		{ "scale", SCALE, ASKED },
 *		OPTIONS_END
 *	};
 *
 *	while ((c = next_option(argc, argv, "", rows, usage, &opt)) != -1)
 *		if (c == SCALE)
 *			...				with optarg
 */
enum option_value { WITH_VALUE, WITHOUT_VALUE, WITH_OR_WITHOUT,	/* ASKED */
	FLAG, AS_TEXT, AS_WHOLE, AS_BYTES, AS_MEGABYTES, AS_NUMBER, AS_SECONDS, AS_CHOICE,
	AS_FORM };

struct option_row {
	const char *name;		/* without --; NULL ends the rows */
	int letter;			/* of the short option; 0, or 256 and more: there is none */
	enum option_value value;
	size_t offset, size;		/* of the member */
	int64_t min, max;		/* AS_WHOLE, AS_BYTES */
	double from, to;		/* AS_NUMBER */
	const char *const *choices;	/* AS_CHOICE, AS_FORM; NULL ends them */
};

#define MEMBER(type, member) \
	.offset = offsetof(type, member), .size = sizeof ((type *)NULL)->member
#define ASKED .value = WITH_VALUE
#define ASKED_ALONE .value = WITHOUT_VALUE
#define ASKED_MAYBE .value = WITH_OR_WITHOUT
#define OPTIONS_END { .name = NULL }

/*
 * The letter of the next option that is ASKED; -1 after the last. Stores the values of all others
 * in OPT, and handles --help and --version. A bad option ends the tool. MODE: "+" if the first
 * operand ends the options, else "".
 */
int next_option(int argc, char **argv, const char *mode, const struct option_row *rows,
    const char *usage, void *opt);

/* Values: one that does not parse to its last character ends the tool, which names the option. */
int64_t parse_integer(const char *option, const char *text, int64_t min, int64_t max);
/* "64k": 65536; M, G */
int64_t parse_bytes(const char *option, const char *text, int64_t min, int64_t max);
double parse_number(const char *option, const char *text, double min, double max);
int64_t parse_seconds(const char *option, const char *text);	/* "1.5" is 1500000000 ns */
/* An index in CHOICES, which NULL ends. */
int parse_choice(const char *option, const char *text, const char *const *choices);

/* Ranks as in 0,4-7; without ranges: all. */
struct ranks {
	struct { int64_t first, last; } *ranges;
	size_t count, capacity;
};
void parse_ranks(struct ranks *ranks, char *list);
bool has_rank(const struct ranks *ranks, int64_t rank);

/*
 * The form of output, -F: an index in FORMS, whose words are text, json, csv, stream and the
 * tool's own forms. Older words are accepted, too: table means text; msgpack and graph mean stream.
 */
int parse_form(const char *text, const char *const *forms);

#endif
