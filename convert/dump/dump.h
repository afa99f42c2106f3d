/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of lp-dump share. */
#ifndef DUMP_H
#define DUMP_H

#include "../../base/stream/calls.h"
#include "text.h"

struct range {
	int64_t first, last;
};

struct options {
	char **kinds;			/* of lines to print, NULL-terminated; NULL: all */
	bool table;
	struct range *ranks;		/* to print; NULL: all */
	size_t range_count;
	int64_t begin_ns, end_ns;	/* first instant printed, first not printed */
	char **files;			/* NULL-terminated; none: standard input */
};

/* A location that is not the first thread of its rank. */
struct thread {
	uint32_t location;
	int64_t rank, thread;
};

enum { COLUMNS = 6 };	/* of the widest block that is not of kind calls */

struct dump {
	struct options opt;
	struct reader in;
	struct text out;
	struct calls calls;
	uint64_t *columns[COLUMNS];
	size_t column_capacity[COLUMNS];
	struct thread *threads;		/* in order of location */
	size_t thread_count, thread_capacity;
	int64_t *raw_ranks;		/* of each of the concatenated raw traces; -1 unknown */
	size_t raw_count, raw_capacity;
	size_t raw_now;			/* raw traces begun so far */
};

bool is_wanted(const struct dump *dump, const char *kind);
bool is_wanted_rank(const struct dump *dump, int64_t rank);

/* Rank (-1 unknown) and thread of a location. */
struct thread find_thread(const struct dump *dump, uint64_t location);
/* The keys rank and, where it is not 0, thread. */
void put_rank(struct text *out, struct thread where);

/* dump_calls.c: a line for each call of a block. */
void print_calls(struct dump *dump, const struct message *message);

/* dump_edges.c: the lines of a block of edges or segments; false where it is none. */
bool print_edges(struct dump *dump, const struct message *message);

/*
 * Reads a column into columns[INDEX] and its rows into COUNT; they are the value of ROWS_KEY.
 * False: the reader keeps the reason.
 */
enum column_kind { COLUMN_UNSIGNED, COLUMN_SIGNED, COLUMN_OPTIONAL };
bool read_column(struct dump *dump, const struct message *message, size_t index, const char *key,
    const char *rows_key, enum column_kind kind, size_t *count);
/* A JSON array of the values from FROM up to TO. */
void put_column_values(struct text *out, const uint64_t *values, size_t from, size_t to,
    bool is_signed);

#endif
