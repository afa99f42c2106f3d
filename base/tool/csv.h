/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CSV as in RFC 4180, but lines end with a newline only. A name that a spreadsheet would read as a
 * formula, because it begins with = + - @ or a control character, gets a single quote in front.
 */
#ifndef CSV_H
#define CSV_H

#include <stdbool.h>

#include "text.h"

struct csv {
	struct text *text;
	bool more;		/* the row has a cell */
};

void csv_begin(struct csv *csv, struct text *text, const char *head);	/* our names: "a,b" */
void csv_text(struct csv *csv, const char *string);
void csv_int(struct csv *csv, int64_t value);
void csv_uint(struct csv *csv, uint64_t value);
/* An unknown number is an empty cell. */
void csv_fixed(struct csv *csv, double value, int decimals);
void csv_significant(struct csv *csv, double value, int digits);
/* A formatted number, or an empty cell. */
void csv_printed(struct csv *csv, const char *number);
void csv_end_row(struct csv *csv);

#endif
