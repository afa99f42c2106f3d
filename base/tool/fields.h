/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fields of a row, declared once for all forms of output: columns of a table (table.h) or of CSV,
 * members of a JSON object, pairs of a message. A row is a struct; fill values that are computed
 * for the output into it first.
 *
 *	struct line { int32_t ranks; int64_t run_ns; double share; const char *call; };
 *	#define LINE(member) FIELD(struct line, member)
 *	static const struct field fields[] = {
 *		{ "ranks", LINE(ranks), IN_ALL },
 *		{ "run_time_s", LINE(run_ns), IN_SECONDS },
 *		{ "share", LINE(share), IN_PERCENT(1, 9), .head = "share_%" },	// 12.3; 0.123456789
 *		{ "call", LINE(call), .csv = PLAIN, .json = PLAIN },		// not in the table
 *		FIELDS_END
 *	};
 *
 *	table_rows(&text, fields, lines, count, sizeof *lines);
 *	csv_rows(&text, fields, lines, count, sizeof *lines);
 *	json_rows(&json, "lines", fields, lines, count, sizeof *lines);
 *
 * An unknown value - NaN, NULL, or an integer according to KNOWN - is "-" in a table, an empty cell
 * of CSV and null in JSON; a message omits it. Names are escaped as each form requires.
 * memory  none
 */
#ifndef FIELDS_H
#define FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "csv.h"
#include "json.h"
#include "table.h"

enum field_type { FIELD_BOOL, FIELD_INT, FIELD_UNSIGNED, FIELD_INT64, FIELD_UINT64, FIELD_DOUBLE,
	FIELD_STRING, FIELD_CHARS };
enum field_known { KNOWN_ALWAYS, UNLESS_ZERO, UNLESS_NEGATIVE };

struct field {
	const char *name;		/* column of CSV, key of JSON; NULL ends the fields */
	size_t offset;
	enum field_type type;
	const char *text, *csv, *json;	/* printf format of a double, or PLAIN; NULL: none */
	const char *head;		/* column of the table; NULL: name */
	const char *infinite;		/* text of an infinite double; empty in CSV */
	const char *key;		/* of a message, without scale; NULL: not in it */
	const char *const *names;	/* of the values of an integer */
	double scale;			/* of formatted numbers; 0: 1 */
	bool percent;			/* times 100, in the table only */
	enum field_known known;		/* of integers */
	bool optional;			/* JSON omits an unknown value */
};

#define FIELD(type, member) offsetof(type, member), _Generic(&((type *)NULL)->member, \
	bool *: FIELD_BOOL, int *: FIELD_INT, unsigned *: FIELD_UNSIGNED, int64_t *: FIELD_INT64, \
	uint64_t *: FIELD_UINT64, double *: FIELD_DOUBLE, char **: FIELD_STRING, \
	const char **: FIELD_STRING, default: FIELD_CHARS)
#define FIELDS_END { .name = NULL }

#define PLAIN ""	/* integers, names; doubles with the fewest digits that are exact */
#define IN_ALL .text = PLAIN, .csv = PLAIN, .json = PLAIN
#define IN_DATA .csv = PLAIN, .json = PLAIN
/* SHOWN decimals in the table, KEPT decimals in CSV and JSON. */
#define IN_FIXED(shown, kept) .text = "%." #shown "f", .csv = "%." #kept "f", .json = "%." #kept "f"
#define IN_PERCENT(shown, kept) IN_FIXED(shown, kept), .percent = true
#define IN_SECONDS IN_FIXED(6, 9), .scale = 1e-9	/* of ns */

void table_rows(struct text *text, const struct field *fields, const void *rows, size_t count,
    size_t size);
/* Only the SHOWN first rows; then a line with the number of the others. */
void table_first(struct text *text, const struct field *fields, const void *rows, size_t count,
    size_t size, size_t shown);
void csv_rows(struct text *text, const struct field *fields, const void *rows, size_t count,
    size_t size);
/* An object; null if ROW is NULL. */
void json_row(struct json *json, const char *key, const struct field *fields, const void *row);
/* An array of objects, one a line. */
void json_rows(struct json *json, const char *key, const struct field *fields, const void *rows,
    size_t count, size_t size);

/* The same, row by row, if a line has more than fields: */
void table_head(struct table_writer *table, const struct field *fields);
void table_row(struct table_writer *table, const struct field *fields, const void *row);
/* The line of table_first, in the last column. */
void table_more(struct table_writer *table, const struct field *fields, size_t more);
void csv_head(struct csv *csv, struct text *text, const struct field *fields);
void csv_row(struct csv *csv, const struct field *fields, const void *row);
/* Members of an open object. */
void json_members(struct json *json, const struct field *fields, const void *row);
struct writer;
void put_row(struct writer *out, const char *kind, const struct field *fields, const void *row);

/* Integer fields with a key as columns of one message: writes it; reads at most CAPACITY rows. */
void put_rows(struct writer *out, const char *kind, const struct field *fields, const void *rows,
    size_t count, size_t size);
struct message;
struct reader;
int rows_read(struct reader *in, const struct message *message, const struct field *fields,
    void *rows, size_t capacity, size_t size, size_t *count);

#endif
