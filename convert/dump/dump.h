/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces between the files of lp-dump. */
#ifndef DUMP_H
#define DUMP_H

#include "../../base/stream/calls.h"
#include "../../base/tool/json.h"
#include "../../base/tool/tool.h"

struct options {
	char **kinds;			/* of lines to print, NULL-terminated; NULL: all */
	bool table;			/* calls only */
	struct ranks ranks;		/* ranks to print */
	int64_t begin_ns, end_ns;	/* first instant printed, first instant not printed */
	char **files;			/* NULL-terminated; none: standard input */
};

/* A location that is not the first thread of its rank. */
struct thread {
	int64_t rank, thread;		/* thread 0: not defined */
};

enum { COLUMNS = 6 };	/* of the widest block other than calls */

struct dump {
	struct options opt;
	struct reader *in;
	struct text out;
	struct json json;		/* writes to out */
	bool chosen_from;		/* calls were seen */
	/* any: a line was printed; picked: one that ranks and times may select */
	bool any, picked;
	struct calls calls;
	uint64_t *columns[COLUMNS];
	size_t column_capacity[COLUMNS];
	struct thread *threads;		/* by location */
	size_t thread_capacity;
	int64_t *raw_ranks;		/* by concatenated raw trace; -1: unknown */
	size_t raw_count, raw_capacity;
	size_t raw_now;			/* number of raw traces begun */
};

bool is_wanted(const struct dump *dump, const char *kind);

/* Rank (-1: unknown) and thread of a location. */
struct thread find_thread(const struct dump *dump, uint64_t location);
/* The keys rank and, unless 0, thread. */
void put_rank(struct json *out, struct thread where);
/* Begins a line: an object with its kind. */
void begin_line(struct dump *dump, const char *kind);
/* Begins a line that ranks and, if TIMED, times may select. */
void begin_picked(struct dump *dump, const char *kind, bool timed);
void end_line(struct dump *dump);

/* dump_calls.c: prints a line for each call of a block. */
void print_calls(struct dump *dump, const struct message *message);

/* dump_edges.c: prints the lines of a block of edges or segments; false for other messages. */
bool print_edges(struct dump *dump, const struct message *message);

/*
 * Reads a column into columns[INDEX] and its number of rows, the value of ROWS_KEY, into COUNT. If
 * it returns false, the reader has the reason.
 */
enum column_kind { COLUMN_UNSIGNED, COLUMN_SIGNED, COLUMN_OPTIONAL };
bool read_column(struct dump *dump, const struct message *message, size_t index, const char *key,
    const char *rows_key, enum column_kind kind, size_t *count);
void put_column_values(struct json *out, const char *key, const uint64_t *values, size_t count,
    bool is_signed);

#endif
