/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: the same handling of options and their values for every tool. */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The next option, as from getopt_long; -1 after the last. SHORTS and LONGS list the tool's own
 * options. Handles --help and --version for all tools. A bad option ends the tool.
 */
int next_option(int argc, char **argv, const char *shorts, const struct option *longs,
    const char *usage);

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
