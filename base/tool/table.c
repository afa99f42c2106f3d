/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tool.h"

enum { GAP = 2, LEAST_WIDTH = 8 };	/* between columns; of a shrunk column of names */

static size_t
terminal_width(FILE *file)
{
	const char *said = getenv("COLUMNS");
	struct winsize size;

	if (said != NULL && atoi(said) > 0)
		return (size_t)atoi(said);
	if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 80;
}

/* On a terminal: keeps the cell, in its visible form. */
static void
keep(struct table_writer *table, const char *string, bool number)
{
	const size_t room = string != NULL ? 6 * strlen(string) + 1 : 0;
	char *text = string != NULL ? zalloc(room, 1) : NULL;

	if (string != NULL)
		visible_copy(text, room, string);
	*APPEND(table->cells, table->count, table->capacity) = (struct table_cell){ text, number };
}

static void
put_cell(struct table_writer *table, const char *string, bool number)
{
	if (table->aligned)
		keep(table, string, number);
	else {
		if (table->columns > 0)
			text_char(table->text, '\t');
		text_visible(table->text, string);
	}
	table->columns++;
}

void
table_begin(struct table_writer *table, struct text *text, const char *head)
{
	char *names, *rest, *name;

	*table = (struct table_writer){ .text = text, .aligned = is_terminal(fileno(text->file)) };
	if (table->aligned)
		table->width = terminal_width(text->file);
	if (head == NULL)
		return;
	names = rest = need(strdup(head));
	while ((name = strsep(&rest, "\t")) != NULL)
		put_cell(table, name, false);
	free(names);
	table_end_line(table);
}

void
table_text(struct table_writer *table, const char *string)
{
	put_cell(table, string, false);
}

void
table_format(struct table_writer *table, const char *format, ...)
{
	va_list arguments;
	char *cell;

	va_start(arguments, format);
	need_memory(vasprintf(&cell, format, arguments));
	va_end(arguments);
	put_cell(table, cell, false);
	free(cell);
}

void
table_printed(struct table_writer *table, const char *number)
{
	put_cell(table, number, true);
}

void
table_int(struct table_writer *table, int64_t value)
{
	char number[24];

	snprintf(number, sizeof number, "%lld", (long long)value);
	put_cell(table, number, true);
}

void
table_uint(struct table_writer *table, uint64_t value)
{
	char number[24];

	snprintf(number, sizeof number, "%llu", (unsigned long long)value);
	put_cell(table, number, true);
}

static void
put_number(struct table_writer *table, const char *format, int digits, double value)
{
	char number[NUMBER_BYTES];

	snprintf(number, sizeof number, format, digits, value);
	put_cell(table, isnan(value) ? "-" : number, true);
}

void
table_fixed(struct table_writer *table, double value, int decimals)
{
	put_number(table, "%.*f", decimals, value);
}

void
table_significant(struct table_writer *table, double value, int digits)
{
	put_number(table, "%.*g", digits, value);
}

void
table_seconds(struct table_writer *table, int64_t ns)
{
	table_fixed(table, 1e-9 * (double)ns, 6);
}

void
table_end_line(struct table_writer *table)
{
	if (table->aligned)
		keep(table, NULL, false);
	else
		text_char(table->text, '\n');
	table->columns = 0;
}

/* ---- on a terminal -------------------------------------------------------------------------- */

struct column {
	size_t width;
	bool number;		/* all its cells but the head are numbers */
};

/* The widths that columns want, and their number. */
static size_t
measure(const struct table_writer *table, struct column columns[MOST_COLUMNS])
{
	size_t count = 0, column = 0, row = 0;

	for (size_t i = 0; i < table->count; i++) {
		size_t width;

		if (table->cells[i].text == NULL) {
			column = 0;
			row++;
			continue;
		}
		if (column == MOST_COLUMNS)
			continue;
		if (column == count)
			columns[count++] = (struct column){ 0, true };
		width = utf8_count(table->cells[i].text, strlen(table->cells[i].text));
		columns[column].width = width > columns[column].width ? width :
		    columns[column].width;
		columns[column++].number &= row == 0 || table->cells[i].number || width == 0;
	}
	return count;
}

/* Shrinks the widest column of names until the line fits, or no column can shrink more. */
static void
shrink(struct column columns[MOST_COLUMNS], size_t count, size_t width)
{
	for (;;) {
		size_t all = 0, widest = count;

		for (size_t c = 0; c < count; c++) {
			all += columns[c].width + (c > 0 ? GAP : 0);
			if (!columns[c].number && columns[c].width > LEAST_WIDTH &&
			    (widest == count || columns[c].width > columns[widest].width))
				widest = c;
		}
		if (all <= width || widest == count)
			return;
		columns[widest].width--;
	}
}

static void
put_aligned(struct text *text, const char *cell, struct column column, bool last)
{
	size_t width = utf8_count(cell, strlen(cell)), kept = 0;

	if (column.number)
		for (; width < column.width; width++)
			text_char(text, ' ');
	if (width <= column.width)
		text_put(text, cell);
	else {		/* a cell that does not fit is cut visibly */
		for (const char *c = cell; ; c++)
			if ((*c & 0xc0) != 0x80 && ++kept == column.width) {
				text_bytes(text, cell, (size_t)(c - cell));
				break;
			}
		text_put(text, "\342\200\246");
	}
	if (!column.number && !last)
		for (; width < column.width; width++)
			text_char(text, ' ');
}

void
table_end(struct table_writer *table)
{
	struct column columns[MOST_COLUMNS];
	size_t count = measure(table, columns), column = 0;

	if (table->aligned)
		shrink(columns, count, table->width);
	for (size_t i = 0; i < table->count; i++) {
		char *cell = table->cells[i].text;

		if (cell == NULL) {
			text_char(table->text, '\n');
			column = 0;
			continue;
		}
		for (size_t c = 0; c < GAP && column > 0; c++)
			text_char(table->text, ' ');
		if (column < MOST_COLUMNS)
			put_aligned(table->text, cell, columns[column],
			    i + 1 == table->count || table->cells[i + 1].text == NULL);
		column++;
		free(cell);
	}
	free(table->cells);
	*table = (struct table_writer){ 0 };
}
