/* SPDX-License-Identifier: BSD-3-Clause */
#include "fields.h"

#include <math.h>
#include <stdlib.h>

#include "../stream/stream.h"
#include "tool.h"

static const void *
place_of(const struct field *f, const void *row)
{
	return (const char *)row + f->offset;
}

static int64_t
whole_of(const struct field *f, const void *at)
{
	switch (f->type) {
	case FIELD_BOOL: return *(const bool *)at;
	case FIELD_INT: return *(const int *)at;
	case FIELD_UNSIGNED: return *(const unsigned *)at;
	case FIELD_INT64:
	case FIELD_UINT64: return *(const int64_t *)at;
	default: return 0;
	}
}

static bool
is_string(const struct field *f)
{
	return f->type == FIELD_STRING || f->type == FIELD_CHARS || f->names != NULL;
}

static bool
is_infinite(const struct field *f, const void *row)
{
	return f->type == FIELD_DOUBLE && isinf(*(const double *)place_of(f, row));
}

/* The value in FORM, or NULL if it is unknown; NUMBER is room for it. */
static const char *
value_text(const struct field *f, const void *row, const char *form, bool percent, char *number)
{
	const void *at = place_of(f, row);
	const int64_t whole = whole_of(f, at);
	double real = f->type == FIELD_UINT64 ? (double)(uint64_t)whole : (double)whole;

	if (f->type == FIELD_STRING || f->type == FIELD_CHARS)
		return f->type == FIELD_CHARS ? at : *(const char *const *)at;
	if (f->type == FIELD_DOUBLE)
		real = *(const double *)at;
	if (isnan(real) || (f->known == UNLESS_ZERO && whole == 0) ||
	    (f->known == UNLESS_NEGATIVE && whole < 0))
		return NULL;
	if (f->names != NULL)
		return f->names[whole];
	if (*form != '\0')
		snprintf(number, NUMBER_BYTES, form,
		    (percent ? 100 : 1) * ((f->scale > 0 ? f->scale : 1) * real));
	else if (f->type == FIELD_UINT64)
		snprintf(number, NUMBER_BYTES, "%llu", (unsigned long long)whole);
	else if (f->type != FIELD_DOUBLE)
		snprintf(number, NUMBER_BYTES, "%lld", (long long)whole);
	else
		snprintf(number, NUMBER_BYTES, "%.*g", exact_digits(real), real);
	return number;
}

void
table_head(struct table_writer *table, const struct field *fields)
{
	for (const struct field *f = fields; f->name != NULL; f++)
		if (f->text != NULL)
			table_text(table, f->head != NULL ? f->head : f->name);
	table_end_line(table);
}

void
table_row(struct table_writer *table, const struct field *fields, const void *row)
{
	char number[NUMBER_BYTES];

	for (const struct field *f = fields; f->name != NULL; f++) {
		const char *value = f->text != NULL ?
		    value_text(f, row, f->text, f->percent, number) : NULL;

		if (value != NULL && f->infinite != NULL && is_infinite(f, row))
			value = f->infinite;
		if (f->text != NULL)
			(is_string(f) ? table_text : table_printed)(table,
			    value != NULL ? value : "-");
	}
	table_end_line(table);
}

void
table_rows(struct text *text, const struct field *fields, const void *rows, size_t count,
    size_t size)
{
	table_first(text, fields, rows, count, size, count);
}

void
table_first(struct text *text, const struct field *fields, const void *rows, size_t count,
    size_t size, size_t shown)
{
	struct table_writer table;

	table_begin(&table, text, NULL);
	table_head(&table, fields);
	for (size_t i = 0; i < count && i < shown; i++)
		table_row(&table, fields, (const char *)rows + i * size);
	if (count > shown)
		table_more(&table, fields, count - shown);
	table_end(&table);
}

void
table_more(struct table_writer *table, const struct field *fields, size_t more)
{
	int columns = 0;

	for (const struct field *f = fields; f->name != NULL; f++)
		columns += f->text != NULL;
	for (; columns > 1; columns--)
		table_text(table, "");
	table_format(table, "(%zu more; --all shows them)", more);
	table_end_line(table);
}

void
csv_head(struct csv *csv, struct text *text, const struct field *fields)
{
	*csv = (struct csv){ .text = text };
	for (const struct field *f = fields; f->name != NULL; f++)
		if (f->csv != NULL)
			csv_text(csv, f->name);
	csv_end_row(csv);
}

void
csv_row(struct csv *csv, const struct field *fields, const void *row)
{
	char number[NUMBER_BYTES];

	for (const struct field *f = fields; f->name != NULL; f++) {
		const char *value = f->csv != NULL ?
		    value_text(f, row, f->csv, false, number) : NULL;

		if (f->csv != NULL)
			(is_string(f) ? csv_text : csv_printed)(csv,
			    value != NULL && !is_infinite(f, row) ? value : "");
	}
	csv_end_row(csv);
}

void
csv_rows(struct text *text, const struct field *fields, const void *rows, size_t count, size_t size)
{
	struct csv csv;

	csv_head(&csv, text, fields);
	for (size_t i = 0; i < count; i++)
		csv_row(&csv, fields, (const char *)rows + i * size);
}

void
json_members(struct json *json, const struct field *fields, const void *row)
{
	char number[NUMBER_BYTES];

	for (const struct field *f = fields; f->name != NULL; f++) {
		const char *value = f->json != NULL ?
		    value_text(f, row, f->json, false, number) : NULL;

		if (f->json == NULL || (value == NULL && f->optional))
			continue;
		if (value == NULL || is_infinite(f, row))
			json_null(json, f->name);
		else if (is_string(f))
			json_text(json, f->name, value);
		else if (f->type == FIELD_BOOL)
			json_bool(json, f->name, *value == '1');
		else {
			json_next(json, f->name);
			text_put(json->text, value);
		}
	}
}

void
json_row(struct json *json, const char *key, const struct field *fields, const void *row)
{
	if (row == NULL) {
		json_null(json, key);
		return;
	}
	json_begin_object(json, key);
	json_members(json, fields, row);
	json_end_object(json);
}

void
json_rows(struct json *json, const char *key, const struct field *fields, const void *rows,
    size_t count, size_t size)
{
	json_begin_array(json, key);
	for (size_t i = 0; i < count; i++) {
		json_break(json);
		json_row(json, NULL, fields, (const char *)rows + i * size);
	}
	json_end_array(json);
}

void
put_row(struct writer *out, const char *kind, const struct field *fields, const void *row)
{
	char number[NUMBER_BYTES];
	unsigned pairs = 0;

	for (const struct field *f = fields; f->name != NULL; f++)
		pairs += f->key != NULL && value_text(f, row, PLAIN, false, number) != NULL;
	message_begin(out, kind, pairs);
	for (const struct field *f = fields; f->name != NULL; f++) {
		const char *value = f->key != NULL ?
		    value_text(f, row, PLAIN, false, number) : NULL;

		if (value == NULL)
			continue;
		if (is_string(f))
			put_string(out, f->key, value);
		else if (f->type == FIELD_DOUBLE)
			put_double(out, f->key, *(const double *)place_of(f, row));
		else if (f->type == FIELD_UINT64)
			put_uint(out, f->key, (uint64_t)whole_of(f, place_of(f, row)));
		else
			put_int(out, f->key, whole_of(f, place_of(f, row)));
	}
	end_message(out);
}

void
put_rows(struct writer *out, const char *kind, const struct field *fields, const void *rows,
    size_t count, size_t size)
{
	int64_t *column = zalloc(count, sizeof *column);
	unsigned pairs = 1;

	for (const struct field *f = fields; f->name != NULL; f++)
		pairs += f->key != NULL;
	message_begin(out, kind, pairs);
	put_uint(out, "count", count);
	for (const struct field *f = fields; f->name != NULL; f++) {
		for (size_t i = 0; f->key != NULL && i < count; i++)
			column[i] = whole_of(f, place_of(f, (const char *)rows + i * size));
		if (f->key != NULL)
			put_column(out, f->key, column, count);
	}
	free(column);
	end_message(out);
}

static void
set_whole(const struct field *f, void *at, int64_t value)
{
	switch (f->type) {
	case FIELD_BOOL: *(bool *)at = value != 0; break;
	case FIELD_INT: *(int *)at = (int)value; break;
	case FIELD_UNSIGNED: *(unsigned *)at = (unsigned)value; break;
	default: *(int64_t *)at = value; break;
	}
}

int
rows_read(struct reader *in, const struct message *message, const struct field *fields, void *rows,
    size_t capacity, size_t size, size_t *count)
{
	int64_t all, *column = zalloc(capacity, sizeof *column);
	int got = body_int(in, message, "count", 0, (int64_t)capacity, &all);

	for (const struct field *f = fields; got == 0 && f->name != NULL; f++) {
		if (f->key == NULL)
			continue;
		got = body_column(in, message, f->key, (size_t)all, column);
		for (size_t i = 0; got == 0 && i < (size_t)all; i++)
			set_whole(f, (char *)rows + i * size + f->offset, column[i]);
	}
	free(column);
	*count = got == 0 ? (size_t)all : 0;
	return got;
}
