/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How every tool starts, parses numbers, fails and ends.
 *
 * Exit status: 0 done, 1 done and the answer is no (where the tool judges), 2 trouble.
 * A message is one line on standard error: "tool: what" or "tool: file:offset: what".
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct reader;
struct writer;

enum exit_status { DONE = 0, ANSWER_IS_NO = 1, TROUBLE = 2 };

extern const char *tool;	/* the command's name, set first thing by main */

/* The only ways out of a tool. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die_input(const struct reader *in);	/* says file, offset and the reader's reason */
_Noreturn void die_output(void);			/* says why standard output failed */
_Noreturn void bad_usage(const char *usage);		/* first line of the usage text, on stderr */
_Noreturn void print_and_exit(const char *text);	/* for --help and --version */
int finish(enum exit_status status);			/* flushes and checks standard output */

/* One line on standard error that is no failure. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Numbers of the command line: parsed to the last character, or the tool dies naming the option. */
int64_t parse_integer(const char *option, const char *text, int64_t min, int64_t max);
int64_t parse_bytes(const char *option, const char *text, int64_t min, int64_t max);	/* "64k": 65536; M, G */
double parse_number(const char *option, const char *text, double min, double max);
int64_t parse_seconds(const char *option, const char *text);	/* "1.5" is 1500000000 ns */
int parse_choice(const char *option, const char *text, const char *const *choices);	/* index; NULL ends */

/* Binary to a terminal is refused with a hint; a terminal as standard input prints the usage. */
void refuse_terminal_output(void);
void refuse_terminal_input(const char *file, const char *usage);

/* Memory or death. Zeroed where "z"; counts times size is checked for overflow. */
void *need(void *pointer);
void *zalloc(size_t count, size_t size);
void *grow(void *pointer, size_t *capacity, size_t wanted, size_t size);	/* at least doubles */

/* JSON text on stdout: a string with quotes and escapes. */
void json_string(FILE *out, const char *text);

/* Progress on stderr, only where it is a terminal: rows so far, at most a few times a second. */
struct progress {
	bool shown;		/* stderr is a terminal */
	double began_s, last_s;
};
void progress_begin(struct progress *progress);
void progress_show(struct progress *progress, uint64_t rows, uint64_t done_bytes, uint64_t all_bytes);
void progress_end(struct progress *progress, uint64_t rows);

#endif
