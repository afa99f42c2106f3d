/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CSV as of RFC 4180, lines ended by a newline alone. A name that a spreadsheet would take for a
 * formula, as it begins with = + - @ or a blank of control, gets a single quote in front.
 */
#ifndef CSV_H
#define CSV_H

#include <stdbool.h>

#include "text.h"

struct csv {
	struct text *text;
	bool more;		/* the row has a cell */
};

void csv_begin(struct csv *csv, struct text *text, const char *head);	/* "a,b": names of ours */
void csv_text(struct csv *csv, const char *string);
void csv_int(struct csv *csv, int64_t value);
void csv_uint(struct csv *csv, uint64_t value);
/* A number that is not known is an empty cell. */
void csv_fixed(struct csv *csv, double value, int decimals);
void csv_significant(struct csv *csv, double value, int digits);
/* A number in its form, or nothing. */
void csv_printed(struct csv *csv, const char *number);
void csv_end_row(struct csv *csv);

#endif
