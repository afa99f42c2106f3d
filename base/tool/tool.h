/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How every tool fails and ends. What else they have in common stands in the headers named below;
 * their output in text.h, json.h, csv.h and table.h.
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

#include "memory.h"
#include "options.h"
#include "progress.h"

struct message;
struct reader;
struct writer;

enum exit_status { DONE = 0, ANSWER_IS_NO = 1, TROUBLE = 2 };

extern const char *tool;	/* the command's name, set first thing by main */
extern const char *output_name;	/* what die_output is about: "standard output", unless a tool writes elsewhere */

/* The only ways out of a tool. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die_input(const struct reader *in);	/* says file, offset and the reader's reason */
_Noreturn void die_output(void);			/* says why the output failed */
_Noreturn void bad_usage(const char *usage);		/* first line of the usage text, on stderr */
_Noreturn void print_and_exit(const char *text);	/* for --help and --version */
int finish(enum exit_status status);			/* flushes and checks standard output */

/* A string of a message, to be freed; where there is none the reader's file is bad input. */
char *need_string(struct reader *in, const struct message *message, const char *key);

/*
 * Where several processes do one thing: what is asked before this one says why it fails, true: it is to say
 * it; and once more when it has. NULL: it just says it.
 */
void on_failure(bool (*ask)(bool has_said));

/* One line on standard error that is no failure. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Notes are kept back from here to there: another process says the same. */
void be_silent(void);
void be_heard(void);

/* The rank as which a launcher has started this process; NULL where none has. */
const char *rank_of_launcher(void);

/* Somebody looks at it: what a launcher gives its ranks may call itself a terminal and go into a file. */
bool is_terminal(int fd);

/* Binary to a terminal is refused with a hint; a terminal as standard input prints the usage. */
void refuse_terminal_output(void);
void refuse_terminal_input(const char *file, const char *usage);

#endif
