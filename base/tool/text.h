/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text output: a buffer in front of a file, and one function for each form in which a name can be
 * printed. Names come from traces and may contain any bytes, so only these functions, json.h, csv.h
 * and table.h print names. Failed writes end the tool.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	TEXT_BYTES = 1 << 16,
	NUMBER_BYTES = 400,	/* hold %f of the largest double */
};

struct text {
	FILE *file;
	const char *name;	/* of the file; NULL: standard output */
	size_t used;
	char bytes[TEXT_BYTES];
};

void text_begin(struct text *text, FILE *file, const char *name);
/* Writes the buffer to the file. */
void text_flush(struct text *text);

/* Unchanged: our own text, numbers. */
void text_more(struct text *text, const char *bytes, size_t size);	/* of any size */
static inline void text_bytes(struct text *text, const char *bytes, size_t size)
{
	if (size > TEXT_BYTES - text->used) {
		text_more(text, bytes, size);
		return;
	}
	memcpy(text->bytes + text->used, bytes, size);
	text->used += size;
}
void text_uint(struct text *text, uint64_t value);
void text_int(struct text *text, int64_t value);
void text_print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The number of digits with which %.*g is exact: 15 if they are enough. */
int exact_digits(double value);

static inline void text_char(struct text *text, char c)
{
	if (text->used == TEXT_BYTES)
		text_flush(text);
	text->bytes[text->used++] = c;
}

static inline void text_put(struct text *text, const char *string)
{
	text_bytes(text, string, strlen(string));
}

/* The order of two names; one that is not known, NULL, comes first. */
static inline int text_compare(const char *a, const char *b)
{
	return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static inline double
seconds(int64_t ns)
{
	return 1e-9 * (double)ns;
}

/* ---- for people ----------------------------------------------------------------------------- */

/*
 * Makes characters visible that act on a terminal or break a line: control characters, changes of
 * the writing direction, bytes that are not UTF-8. For example \t, \n, \x1b, \u202e, \xff.
 */
void text_visible(struct text *text, const char *string);
/* A line with its end; all of it is made visible. */
void text_line(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same into memory, cut to SIZE; for messages. */
void visible_copy(char *to, size_t size, const char *string);

/* ---- for programs --------------------------------------------------------------------------- */

/* HTML and SVG, between tags and within quotes. */
void text_markup(struct text *text, const char *string);
/* gnuplot: a string in single quotes, in which nothing is executed. */
void text_gnuplot(struct text *text, const char *string);

/* ---- UTF-8 ---------------------------------------------------------------------------------- */

/* The number of bytes of the character that begins here; 0: none does. */
size_t utf8_size(const unsigned char *c, size_t left);
/* The number of places that these bytes take on a terminal. */
size_t utf8_count(const char *bytes, size_t size);

/* The part of a path after the last slash; "" if PATH is NULL. */
static inline const char *
file_name(const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return slash != NULL ? slash + 1 : path != NULL ? path : "";
}

#endif
