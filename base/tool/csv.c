/* SPDX-License-Identifier: BSD-3-Clause */
#include "csv.h"

#include <math.h>

void
csv_begin(struct csv *csv, struct text *text, const char *head)
{
	*csv = (struct csv){ .text = text };
	text_put(text, head);
	csv_end_row(csv);
}

static void
next_cell(struct csv *csv)
{
	if (csv->more)
		text_char(csv->text, ',');
	csv->more = true;
}

/* Control characters other than tab and newline do not belong in a table, nor does broken UTF-8. */
static void
put_character(struct text *text, const unsigned char *c, size_t size)
{
	if (size == 0)
		text_put(text, "\357\277\275");		/* U+FFFD */
	else if (*c == '"')
		text_put(text, "\"\"");
	else if ((*c < ' ' && strchr("\t\n\r", *c) == NULL) || *c == 0x7f)
		text_print(text, "\\x%02x", *c);
	else
		text_bytes(text, (const char *)c, size);
}

void
csv_text(struct csv *csv, const char *string)
{
	const unsigned char *c = (const unsigned char *)string;
	bool formula = *string != '\0' && strchr("=+-@\t\r\n", *string) != NULL;
	bool quoted = strpbrk(string, ",\"\n\r\t") != NULL || *string == ' ' ||
	    (*string != '\0' && string[strlen(string) - 1] == ' ');

	next_cell(csv);
	if (quoted)
		text_char(csv->text, '"');
	if (formula)
		text_char(csv->text, '\'');
	for (size_t left = strlen(string), step; left > 0; c += step, left -= step) {
		step = utf8_size(c, left);
		put_character(csv->text, c, step);
		step += step == 0;
	}
	if (quoted)
		text_char(csv->text, '"');
}

void
csv_int(struct csv *csv, int64_t value)
{
	next_cell(csv);
	text_int(csv->text, value);
}

void
csv_uint(struct csv *csv, uint64_t value)
{
	next_cell(csv);
	text_uint(csv->text, value);
}

void
csv_fixed(struct csv *csv, double value, int decimals)
{
	next_cell(csv);
	if (!isnan(value))
		text_print(csv->text, "%.*f", decimals, value);
}

void
csv_significant(struct csv *csv, double value, int digits)
{
	next_cell(csv);
	if (!isnan(value))
		text_print(csv->text, "%.*g", digits, value);
}

void
csv_printed(struct csv *csv, const char *number)
{
	next_cell(csv);
	text_put(csv->text, number);
}

void
csv_end_row(struct csv *csv)
{
	text_char(csv->text, '\n');
	csv->more = false;
}
