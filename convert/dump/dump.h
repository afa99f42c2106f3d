/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of lp-dump share. */
#ifndef DUMP_H
#define DUMP_H

#include "../../base/stream/calls.h"
#include "../../base/tool/json.h"
#include "../../base/tool/options.h"

struct options {
	char **kinds;			/* of lines to print, NULL-terminated; NULL: all */
	bool table;			/* of calls only */
	struct ranks ranks;		/* to print */
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
	struct reader *in;
	struct text out;
	struct json json;		/* onto it */
	bool chosen_from;		/* there were calls */
	/* a line has been printed; one that ranks and times choose */
	bool any, picked;
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

/* Rank (-1 unknown) and thread of a location. */
struct thread find_thread(const struct dump *dump, uint64_t location);
/* The keys rank and, where it is not 0, thread. */
void put_rank(struct json *out, struct thread where);
/* A line: an object with its kind. */
void begin_line(struct dump *dump, const char *kind);
/* Of what ranks choose, and if TIMED times, too. */
void begin_picked(struct dump *dump, const char *kind, bool timed);
void end_line(struct dump *dump);

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
void put_column_values(struct json *out, const char *key, const uint64_t *values, size_t count,
    bool is_signed);

/* value.c: what msgpack says as JSON; bytes are hexadecimal digits. */
void put_value(struct json *out, const char *key, const msgpack_object *value);
/* A key of a map; its value follows with KEY NULL. */
void put_map_key(struct json *out, const msgpack_object *key);

#endif
