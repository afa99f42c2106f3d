/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of text; zlib reads what is not compressed as it is. */
#include "import.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINE = 1 << 28 };	/* bytes of a communicator of all ranks there can be */

void
text_open(struct text *text, const char *file)
{
	bool standard = file == NULL || strcmp(file, "-") == 0;

	memset(text, 0, sizeof *text);
	text->name = standard ? "standard input" : file;
	text->file = standard ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(file, "rb");
	if (text->file == NULL)
		die("%s: cannot be opened", text->name);
	gzbuffer(text->file, 1 << 17);
}

/* The rest of a line that is in the buffer goes to LINE; true: it was its end. */
static bool
take_rest(struct text *text, size_t *used)
{
	const char *from = text->buffer + text->at, *end = memchr(from, '\n', text->filled - text->at);
	size_t length = end != NULL ? (size_t)(end - from) + 1 : text->filled - text->at;

	if (memchr(from, '\0', length) != NULL)
		die_text(text, "the line holds a zero byte");
	if (*used + length > MOST_LINE)
		die_text(text, "the line is too long");
	text->line = grow(text->line, &text->capacity, *used + length + 1, 1);
	memcpy(text->line + *used, from, length);
	*used += length;
	text->at += length;
	return end != NULL;
}

static void
fill(struct text *text)
{
	int error, got = gzread(text->file, text->buffer, sizeof text->buffer);
	const char *what;

	text->at = 0;
	text->filled = got > 0 ? (size_t)got : 0;
	if (got > 0)
		return;
	what = gzerror(text->file, &error);
	if (got < 0 || (error != Z_OK && error != Z_STREAM_END))
		die("%s:%llu: %s", text->name, (unsigned long long)text->next,
		    *what != '\0' ? what : "cannot be read");
}

bool
text_next(struct text *text)
{
	size_t used = 0;

	text->offset = text->next;
	for (;;) {
		if (text->at == text->filled)
			fill(text);
		if (text->filled == 0 && used == 0)
			return false;
		if (text->filled == 0)
			die_text(text, "the last line has no end: the text is cut");
		if (take_rest(text, &used))
			break;
	}
	text->next += used;
	text->number++;
	while (used > 0 && (text->line[used - 1] == '\n' || text->line[used - 1] == '\r'))
		text->line[--used] = '\0';
	return true;
}

void
text_end(const struct text *text, const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	if (*at != '\0')
		die_text(text, "something follows the last field");
}

void
text_close(struct text *text)
{
	gzclose(text->file);
	free(text->line);
}

void
die_text(const struct text *text, const char *what)
{
	die("%s:%llu: %s", text->name, (unsigned long long)text->offset, what);
}

int64_t
text_integer(const struct text *text, char **at, int64_t min, int64_t max)
{
	char *p = *at;
	bool negative = *p == '-';
	int64_t value = 0;

	p += negative;
	if (*p < '0' || *p > '9')
		die_text(text, "a number is missing");
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *p - '0', &value))
			die_text(text, "a number is out of range");
	value = negative ? -value : value;
	if (value < min || value > max)
		die_text(text, "a number is out of range");
	*at = *p == ':' || *p == ',' ? p + 1 : p;
	return value;
}
