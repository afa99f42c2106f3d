/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <errno.h>
#include <stdlib.h>

#include "tool.h"

void
text_begin(struct text *text, FILE *file, const char *name)
{
	text->file = file;
	text->name = name;
	text->used = 0;
}

void
text_flush(struct text *text)
{
	if (fwrite(text->bytes, 1, text->used, text->file) != text->used) {
		if (text->name == NULL)
			die_output();
		die("%s: %s", text->name, strerror(errno));
	}
	text->used = 0;
}

void
text_more(struct text *text, const char *bytes, size_t size)
{
	while (size > 0) {
		size_t room = TEXT_BYTES - text->used, part = size < room ? size : room;

		memcpy(text->bytes + text->used, bytes, part);
		text->used += part;
		bytes += part;
		size -= part;
		if (size > 0)
			text_flush(text);
	}
}

#define TENS(n) #n "0" #n "1" #n "2" #n "3" #n "4" #n "5" #n "6" #n "7" #n "8" #n "9"
static const char hundred[] =
    TENS(0) TENS(1) TENS(2) TENS(3) TENS(4) TENS(5) TENS(6) TENS(7) TENS(8) TENS(9);
#undef TENS

void
text_uint(struct text *text, uint64_t value)
{
	char digits[20];
	size_t begin = sizeof digits;

	for (; value >= 100; value /= 100)	/* two digits for each division */
		memcpy(digits + (begin -= 2), hundred + 2 * (value % 100), 2);
	if (value >= 10)
		memcpy(digits + (begin -= 2), hundred + 2 * value, 2);
	else
		digits[--begin] = (char)('0' + value);
	text_bytes(text, digits + begin, sizeof digits - begin);
}

void
text_int(struct text *text, int64_t value)
{
	if (value < 0)
		text_char(text, '-');
	text_uint(text, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void
text_print(struct text *text, const char *format, ...)
{
	char some[256], *all = some;
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vsnprintf(some, sizeof some, format, arguments);
	va_end(arguments);
	if (size >= (int)sizeof some) {
		va_start(arguments, format);
		need_memory(vasprintf(&all, format, arguments));
		va_end(arguments);
	}
	text_bytes(text, all, (size_t)size);
	if (all != some)
		free(all);
}

int
exact_digits(double value)
{
	char digits[32];
	double read;

	snprintf(digits, sizeof digits, "%.15g", value);
	read = strtod(digits, NULL);
	return read < value || read > value ? 17 : 15;
}

/* ---- UTF-8 ---------------------------------------------------------------------------------- */

size_t
utf8_size(const unsigned char *c, size_t left)
{
	size_t size = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 :
	    c[0] < 0xf5 ? 4 : 0;

	if (size > left)
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and code points beyond U+10FFFF. */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
	    (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	return size;
}

size_t
utf8_count(const char *bytes, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += (bytes[i] & 0xc0) != 0x80;
	return count;
}

static unsigned
code_point(const unsigned char *c, size_t size)
{
	static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	unsigned code = c[0] & first[size];

	for (size_t i = 1; i < size; i++)
		code = code << 6 | (c[i] & 0x3f);
	return code;
}

/* Separators of lines and changes of the writing direction: the text would not be as it looks. */
static bool
misleads(unsigned code)
{
	return (code >= 0x80 && code < 0xa0) || code == 0x61c ||
	    (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	    (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

enum { PIECE = 12 };

/* One character in its visible form; returns the bytes taken. */
static size_t
visible_piece(const unsigned char *c, size_t left, char piece[PIECE])
{
	size_t size = utf8_size(c, left);
	unsigned code = size > 0 ? code_point(c, size) : 0;

	if (size == 0)
		snprintf(piece, PIECE, "\\x%02x", c[0]);
	else if (code == '\t' || code == '\n' || code == '\r')
		snprintf(piece, PIECE, "\\%c", code == '\t' ? 't' : code == '\n' ? 'n' : 'r');
	else if (code < ' ' || code == 0x7f)
		snprintf(piece, PIECE, "\\x%02x", code);
	else if (misleads(code))
		snprintf(piece, PIECE, "\\u%04x", code);
	else
		snprintf(piece, PIECE, "%.*s", (int)size, (const char *)c);
	return size > 0 ? size : 1;
}

static bool
is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f;
}

void
text_visible(struct text *text, const char *string)
{
	const unsigned char *c = (const unsigned char *)string;
	char piece[PIECE];

	for (size_t left = strlen(string), step; left > 0; c += step, left -= step) {
		for (step = 0; step < left && is_plain(c[step]); step++)
			;
		text_bytes(text, (const char *)c, step);
		if (step > 0)
			continue;
		step = visible_piece(c, left, piece);
		text_put(text, piece);
	}
}

void
visible_copy(char *to, size_t size, const char *string)
{
	const unsigned char *c = (const unsigned char *)string;
	char piece[PIECE];

	for (size_t left = strlen(string), step; left > 0; c += step, left -= step) {
		step = visible_piece(c, left, piece);
		if (strlen(piece) >= size)
			break;
		memcpy(to, piece, strlen(piece));
		to += strlen(piece);
		size -= strlen(piece);
	}
	if (size > 0)
		*to = '\0';
}

void
text_line(struct text *text, const char *format, ...)
{
	va_list arguments;
	char *line;

	va_start(arguments, format);
	need_memory(vasprintf(&line, format, arguments));
	va_end(arguments);
	text_visible(text, line);
	text_char(text, '\n');
	free(line);
}

/* ---- for programs --------------------------------------------------------------------------- */

void
text_markup(struct text *text, const char *string)
{
	const unsigned char *c = (const unsigned char *)string;
	char piece[PIECE];

	for (size_t left = strlen(string), step; left > 0; c += step, left -= step) {
		step = visible_piece(c, left, piece);
		switch (*c) {
		case '&': text_put(text, "&amp;"); break;
		case '<': text_put(text, "&lt;"); break;
		case '>': text_put(text, "&gt;"); break;
		case '"': text_put(text, "&quot;"); break;
		case '\'': text_put(text, "&#39;"); break;
		default: text_put(text, piece);
		}
	}
}

void
text_gnuplot(struct text *text, const char *string)
{
	const unsigned char *c = (const unsigned char *)string;
	char piece[PIECE];

	text_char(text, '\'');
	for (size_t left = strlen(string), step; left > 0; c += step, left -= step) {
		step = visible_piece(c, left, piece);
		text_put(text, *c == '\'' ? "''" : piece);
	}
	text_char(text, '\'');
}
