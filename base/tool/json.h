/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON: valid for any bytes, with its commas. KEY is NULL for members of an array and for single
 * values. Keys are ours and need no escapes, except in json_key_bytes.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>

#include "text.h"

struct json {
	struct text *text;
	bool more;		/* not the first member: a comma is due */
	bool line;		/* the next member begins a line */
	bool in_markup;		/* in a script element: no < and no & */
};

void json_begin(struct json *json, struct text *text);

static inline void json_next(struct json *json, const char *key)
{
	if (json->more)
		text_char(json->text, ',');
	if (json->line)
		text_char(json->text, '\n');
	json->more = true;
	json->line = false;
	if (key != NULL) {
		text_char(json->text, '"');
		text_put(json->text, key);
		text_bytes(json->text, "\":", 2);
	}
}

static inline void json_open(struct json *json, const char *key, char bracket)
{
	json_next(json, key);
	text_char(json->text, bracket);
	json->more = false;
}

static inline void json_close(struct json *json, char bracket)
{
	text_char(json->text, bracket);
	json->more = true;
	json->line = false;
}

static inline void json_begin_object(struct json *json, const char *key)
{
	json_open(json, key, '{');
}
static inline void json_begin_array(struct json *json, const char *key)
{
	json_open(json, key, '[');
}
static inline void json_end_object(struct json *json) { json_close(json, '}'); }
static inline void json_end_array(struct json *json) { json_close(json, ']'); }

/* The next member begins a line. */
static inline void json_break(struct json *json) { json->line = true; }
/* Ends the line; the next value is a new text. */
static inline void json_end_line(struct json *json)
{
	text_char(json->text, '\n');
	json->more = json->line = false;
}

static inline void json_uint(struct json *json, const char *key, uint64_t value)
{
	json_next(json, key);
	text_uint(json->text, value);
}

static inline void json_int(struct json *json, const char *key, int64_t value)
{
	json_next(json, key);
	text_int(json->text, value);
}

static inline void json_bool(struct json *json, const char *key, bool value)
{
	json_next(json, key);
	text_put(json->text, value ? "true" : "false");
}

static inline void json_null(struct json *json, const char *key)
{
	json_next(json, key);
	text_put(json->text, "null");
}

/* A string: bytes that are not UTF-8 become U+FFFD. */
void json_bytes(struct json *json, const char *key, const char *bytes, size_t size);
static inline void json_text(struct json *json, const char *key, const char *string)
{
	json_bytes(json, key, string, strlen(string));
}
/* A key from the input; its value follows with KEY NULL. */
void json_key_bytes(struct json *json, const char *bytes, size_t size);

/* NaN and infinity become null. */
void json_fixed(struct json *json, const char *key, double value, int decimals);
void json_significant(struct json *json, const char *key, double value, int digits);
/* The shortest exact form. */
void json_double(struct json *json, const char *key, double value);
void json_seconds(struct json *json, const char *key, int64_t ns);

#endif
