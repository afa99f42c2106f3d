/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

enum { MOST_OPTIONS = 48 };

static void
store(const struct option_row *row, void *opt)
{
	char name[32], *at = (char *)opt + row->offset;
	int64_t whole;
	double number;

	snprintf(name, sizeof name, "--%s", row->name);
	switch (row->value) {
	case FLAG: *(bool *)at = true; return;
	case AS_TEXT: memcpy(at, &optarg, sizeof optarg); return;
	case AS_NUMBER:
		number = parse_number(name, optarg, row->from, row->to);
		memcpy(at, &number, sizeof number);
		return;
	case AS_WHOLE: whole = parse_integer(name, optarg, row->min, row->max); break;
	case AS_BYTES: whole = parse_bytes(name, optarg, row->min, row->max); break;
	case AS_MEGABYTES: whole = parse_integer(name, optarg, 0, 1 << 30) << 20; break;
	case AS_SECONDS: whole = parse_seconds(name, optarg); break;
	case AS_CHOICE: whole = parse_choice(name, optarg, row->choices); break;
	default: whole = parse_form(optarg, row->choices);
	}
	if (row->size == sizeof whole)
		memcpy(at, &whole, sizeof whole);
	else
		memcpy(at, &(int32_t){ (int32_t)whole }, sizeof(int32_t));
}

int
next_option(int argc, char **argv, const char *mode, const struct option_row *rows,
    const char *usage, void *opt)
{
	enum { ROWS = 1 << 16 };	/* the value of row 0 in ALL */
	struct option all[MOST_OPTIONS + 3] = { { 0 } };
	char letters[2 * MOST_OPTIONS + 8];
	int count = 0, used = snprintf(letters, sizeof letters, "%shV", mode), c;

	for (; rows[count].name != NULL && count < MOST_OPTIONS; count++) {
		const struct option_row *row = &rows[count];

		all[count] = (struct option){ row->name, row->value == FLAG ||
		    row->value == WITHOUT_VALUE ? no_argument : row->value == WITH_OR_WITHOUT ?
		    optional_argument : required_argument, NULL, ROWS + count };
		if (row->letter > 0 && row->letter < 256)
			used += snprintf(letters + used, sizeof letters - (size_t)used, "%c%s",
			    row->letter, all[count].has_arg == no_argument ? "" : ":");
	}
	all[count] = (struct option){ "help", no_argument, NULL, 'h' };
	all[count + 1] = (struct option){ "version", no_argument, NULL, 'V' };
	while ((c = getopt_long(argc, argv, letters, all, NULL)) != -1) {
		const struct option_row *row = rows;

		if (c == 'h')
			print_and_exit(usage);
		if (c == 'V') {
			printf("%s " VERSION "\n", tool);
			exit(finish(DONE));
		}
		if (c == '?')		/* getopt has said why */
			bad_usage(usage);
		if (c >= ROWS)
			row = &rows[c - ROWS];
		else
			while (row->letter != c)
				row++;
		if (row->value <= WITH_OR_WITHOUT)
			return row->letter;
		store(row, opt);
	}
	return -1;
}

int64_t
parse_integer(const char *option, const char *text, int64_t min, int64_t max)
{
	long long value;
	char *end;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || value < min || value > max)
		die("%s %s: a whole number from %lld to %lld is needed", option, text,
		    (long long)min, (long long)max);
	return value;
}

int64_t
parse_bytes(const char *option, const char *text, int64_t min, int64_t max)
{
	static const char suffixes[] = "kMG";
	char digits[32];
	size_t length = strlen(text);
	const char *suffix = length > 0 ? strchr(suffixes, text[length - 1]) : NULL;
	int64_t bytes;

	if (suffix == NULL || *suffix == '\0' || length > sizeof digits)
		return parse_integer(option, text, min, max);
	snprintf(digits, sizeof digits, "%.*s", (int)length - 1, text);
	bytes = parse_integer(option, digits, 0, INT32_MAX) << (10 * (suffix - suffixes + 1));
	if (bytes < min || bytes > max)
		die("%s %s: bytes from %lld to %lld are needed", option, text, (long long)min,
		    (long long)max);
	return bytes;
}

double
parse_number(const char *option, const char *text, double min, double max)
{
	char *end;
	const double value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= min && value <= max))
		die("%s %s: a number from %g to %g is needed", option, text, min, max);
	return value;
}

int64_t
parse_seconds(const char *option, const char *text)
{
	return llround(parse_number(option, text, -9e9, 9e9) * 1e9);
}

int
parse_choice(const char *option, const char *text, const char *const *choices)
{
	char all[160] = "";

	for (int i = 0; choices[i] != NULL; i++) {
		if (strcmp(text, choices[i]) == 0)
			return i;
		strncat(all, i > 0 ? ", " : "", sizeof all - strlen(all) - 1);
		strncat(all, choices[i], sizeof all - strlen(all) - 1);
	}
	die("%s %s: one of %s is needed", option, text, all);
}

void
parse_ranks(struct ranks *ranks, char *list)
{
	for (char *word = strtok(list, ","); word != NULL; word = strtok(NULL, ",")) {
		char *last = strchr(word, '-');
		int64_t first;

		if (last != NULL)
			*last++ = '\0';
		first = parse_integer("--ranks", word, 0, INT32_MAX);
		GROW(ranks->ranges, ranks->capacity, ranks->count + 1);
		ranks->ranges[ranks->count].first = first;
		ranks->ranges[ranks->count++].last = last == NULL ? first :
		    parse_integer("--ranks", last, first, INT32_MAX);
	}
	if (ranks->count == 0)
		die("--ranks: an empty list");
}

bool
has_rank(const struct ranks *ranks, int64_t rank)
{
	bool has = ranks->count == 0;

	for (size_t i = 0; i < ranks->count && !has; i++)
		has = rank >= ranks->ranges[i].first && rank <= ranks->ranges[i].last;
	return has;
}

int
parse_form(const char *text, const char *const *forms)
{
	static const char *const older[][2] = {
		{ "table", "text" }, { "msgpack", "stream" }, { "graph", "stream" },
	};

	for (size_t i = 0; i < sizeof older / sizeof *older; i++)
		for (int f = 0; strcmp(text, older[i][0]) == 0 && forms[f] != NULL; f++)
			if (strcmp(forms[f], older[i][1]) == 0)
				return f;
	return parse_choice("--format", text, forms);
}
