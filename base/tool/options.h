/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: options of every tool alike, and their values. */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

#include <getopt.h>
#include <stdint.h>

/*
 * The next option as of getopt_long, -1 behind the last. SHORTS and LONGS list the tool's own, without
 * --help and --version, which are answered here as everywhere. A bad option ends the tool.
 */
int next_option(int argc, char **argv, const char *shorts, const struct option *longs,
    const char *usage);

/* Values: parsed to the last character, or the tool dies naming the option. */
int64_t parse_integer(const char *option, const char *text, int64_t min, int64_t max);
int64_t parse_bytes(const char *option, const char *text, int64_t min, int64_t max);	/* "64k": 65536; M, G */
double parse_number(const char *option, const char *text, double min, double max);
int64_t parse_seconds(const char *option, const char *text);	/* "1.5" is 1500000000 ns */
int parse_choice(const char *option, const char *text, const char *const *choices);	/* index; NULL ends */

/*
 * The form of output, -F: index in FORMS, whose words are text, json, csv, stream and what only this
 * tool has. Older words for them are taken, too: table is text; msgpack and graph are stream.
 */
int parse_form(const char *text, const char *const *forms);

#endif
