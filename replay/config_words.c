/* SPDX-License-Identifier: BSD-3-Clause */
/* Words on a line of the own format: numbers, and quantities with their units. */
#include <stdlib.h>
#include <string.h>

#include "config_words.h"

const struct unit word_times[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 } };
/* Bytes a second. */
static const struct unit rates[] = {
	{ "B/s", 1 }, { "kB/s", 1e3 }, { "MB/s", 1e6 }, { "GB/s", 1e9 }, { "KiB/s", 1024 },
	{ "MiB/s", 1048576 }, { "GiB/s", 1073741824 }, { "Mbit/s", 125e3 }, { "Gbit/s", 125e6 }, { NULL, 0 },
};
const struct unit word_sizes[] = { { "B", 1 }, { "KiB", 1024 }, { "MiB", 1048576 }, { NULL, 0 } };

double
word_number(const struct config *config, struct line *line, int i)
{
	char *end;
	double value;

	if (i >= line->count)
		die_config(config, "%s: a number is missing", line->words[0]);
	line->used = i + 1 > line->used ? i + 1 : line->used;
	value = strtod(line->words[i], &end);
	if (end == line->words[i] || *end != '\0' || !(value >= 0 && value <= 1e15))
		die_config(config, "%s is no number", line->words[i]);
	return value;
}

int64_t
word_count(const struct config *config, struct line *line, int i)
{
	double value = word_number(config, line, i);

	if (value != (double)(int64_t)value)
		die_config(config, "%s is no whole number", line->words[i]);
	return (int64_t)value;
}

/* A number in words I and I + 1, the second its unit. */
double
word_quantity(const struct config *config, struct line *line, int i, const struct unit *units)
{
	double value = word_number(config, line, i);

	if (i + 1 < line->count)
		for (; units->name != NULL; units++)
			if (strcmp(line->words[i + 1], units->name) == 0) {
				line->used = i + 2;
				return value * units->factor;
			}
	die_config(config, "%s: a unit is missing or not known", line->words[0]);
}

double
word_ns_each(const struct config *config, struct line *line, int i)
{
	double rate;

	if (i < line->count && strcmp(line->words[i], "infinite") == 0) {
		line->used = i + 1;
		return 0;
	}
	rate = word_quantity(config, line, i, rates);
	return rate > 0 ? 1e9 / rate : 0;
}

bool
word_is(struct line *line, const char *first, const char *second)
{
	if (strcmp(line->words[0], first) != 0 || (second != NULL && (line->count < 2 ||
	    strcmp(line->words[1], second) != 0)))
		return false;
	line->used = second != NULL ? 2 : 1;
	return true;
}
