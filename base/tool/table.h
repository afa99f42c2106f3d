/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables for people. In files and pipes, cells are separated by tabs and written at once. On a
 * terminal, columns are aligned within its width and written when the table ends. Cells are made
 * visible (text.h). Memory: the table, on a terminal only.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

#include "text.h"

enum { MOST_COLUMNS = 40 };

struct table_writer {
	struct text *text;
	bool aligned;
	size_t width;		/* of the terminal */
	size_t columns;		/* in the line so far */
	/* On a terminal: */
	struct table_cell {
		char *text;	/* NULL ends a line */
		bool number;
	} *cells;
	size_t count, capacity;
};

/* HEAD: names of the columns with tabs between them; NULL: none. */
void table_begin(struct table_writer *table, struct text *text, const char *head);
void table_text(struct table_writer *table, const char *string);
void table_format(struct table_writer *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void table_int(struct table_writer *table, int64_t value);
void table_uint(struct table_writer *table, uint64_t value);
/* "-" if unknown. */
void table_fixed(struct table_writer *table, double value, int decimals);
void table_significant(struct table_writer *table, double value, int digits);
void table_seconds(struct table_writer *table, int64_t ns);	/* six decimals */
void table_printed(struct table_writer *table, const char *number);	/* a formatted number */
void table_end_line(struct table_writer *table);
void table_end(struct table_writer *table);

#endif
