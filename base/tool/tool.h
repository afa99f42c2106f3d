/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How every tool fails and ends. The headers below have the tools' other common parts; text.h,
 * json.h, csv.h and table.h have their output.
 *
 * Exit status: 0 done, 1 done and the answer is no (if the tool judges), 2 error.
 * A message is one line on standard error: "tool: what" or "tool: file:offset: what".
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "memory.h"
#include "options.h"
#include "order.h"
#include "progress.h"

struct message;
struct reader;
struct writer;

enum exit_status { DONE = 0, ANSWER_IS_NO = 1, TROUBLE = 2 };

extern const char *tool;	/* the command's name; main sets it first */
/* The output, for die_output: "standard output", unless a tool writes elsewhere. */
extern const char *output_name;

/* The only ways out of a tool. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints file, offset and the reader's reason. */
_Noreturn void die_input(const struct reader *in);
/* The same for a message: with its offset, and a reason as for printf. */
#define die_message(in, message, ...) \
	(reader_fail(in, (message)->offset, __VA_ARGS__), die_input(in))
_Noreturn void die_output(void);			/* prints why the output failed */
void need_output(int result);				/* the same if it is negative */
/* Prints the first line of the usage text on standard error. */
_Noreturn void bad_usage(const char *usage);
_Noreturn void print_and_exit(const char *text);	/* for --help and --version */
int finish(enum exit_status status);			/* flushes and checks standard output */

/* A string of a message, for the caller to free; if it is missing, the tool ends. */
char *need_string(struct reader *in, const struct message *message, const char *key);

/*
 * For several processes with one task. Before this process prints why it fails, it calls ASK(false)
 * and prints only if that is true; after printing, it calls ASK(true). NULL: it just prints.
 */
void on_failure(bool (*ask)(bool has_said));

void end_message(struct writer *out);	/* message_end, or die_output */
void flush_output(void *out);		/* writer_flush, or die_output: for reader_when_waiting */

/* One line on standard error that is not an error. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Notes are not printed, because another process prints them; or they are again. */
void be_silent(bool from_now_on);

/* The rank that a launcher gave this process; NULL: no launcher. */
const char *rank_of_launcher(void);

/* Does a user see it? A launcher may give its ranks terminals that lead to a file. */
bool is_terminal(int fd);

/* Refuses to write binary output to a terminal, with a hint; or to read one, with the usage. */
void refuse_terminal_output(void);
void refuse_terminal_input(const char *file, const char *usage);

#endif
