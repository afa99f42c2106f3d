/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of text, also in gzip form. */
#include "import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Memory allowed for any text, and additional memory per byte of the file: trace.5, NUMBERS. */
enum { FREE_BYTES = 1 << 24, FACTOR = 64 };

static void
fill_file(struct source *text)
{
	ssize_t got;

	do
		got = read(text->fd, text->packed, sizeof text->packed);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		die("%s:%llu: %s", text->name, (unsigned long long)text->next, strerror(errno));
	text->zlib.next_in = text->packed;
	text->zlib.avail_in = (unsigned)got;
	text->file_bytes += (uint64_t)got;
}

void
text_open(struct source *text, const char *file)
{
	bool standard = file == NULL || strcmp(file, "-") == 0;
	struct stat about;

	memset(text, 0, sizeof *text);
	text->name = standard ? "standard input" : file;
	text->fd = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	if (text->fd < 0)
		die("%s: cannot be opened: %s", text->name, strerror(errno));
	if (fstat(text->fd, &about) == 0 && S_ISREG(about.st_mode))
		text->file_size = (uint64_t)about.st_size;
	fill_file(text);
	text->gzip = text->zlib.avail_in > 1 && text->packed[0] == 0x1f && text->packed[1] == 0x8b;
	if (text->gzip && inflateInit2(&text->zlib, 15 + 16) != Z_OK)
		die("out of memory");
}

bool
text_allows(const struct source *text, uint64_t count, size_t size)
{
	uint64_t bytes;

	return !__builtin_mul_overflow(count, size, &bytes) && bytes <= FREE_BYTES + FACTOR *
	    (text->file_bytes > text->file_size ? text->file_bytes : text->file_size);
}

/* Moves the rest of the current line from the buffer to LINE; returns whether the line ended. */
static bool
take_rest(struct source *text, size_t *used)
{
	const char *from = text->buffer + text->at,
	    *end = memchr(from, '\n', text->filled - text->at);
	size_t length = end != NULL ? (size_t)(end - from) + 1 : text->filled - text->at;

	if (memchr(from, '\0', length) != NULL)
		die_text(text, "the line holds a zero byte");
	if (!text_allows(text, *used + length, 1))
		die_text(text, "the line is too long");
	text->line = grow(text->line, &text->capacity, *used + length + 1, 1);
	memcpy(text->line + *used, from, length);
	*used += length;
	text->at += length;
	return end != NULL;
}

_Noreturn static void
die_packed(const struct source *text, const char *what)
{
	die("%s:%llu: %s", text->name,
	    (unsigned long long)(text->file_bytes - text->zlib.avail_in), what);
}

/* Another compressed member may follow, or zeros that fill a block. */
static void
next_member(struct source *text)
{
	z_stream *z = &text->zlib;

	for (text->ended = true; z->avail_in > 0 || (fill_file(text), z->avail_in > 0); ) {
		if (*z->next_in == 0x1f) {
			inflateReset(z);
			text->ended = false;
			return;
		}
		if (*z->next_in != 0)
			die_packed(text, "something follows the compressed text");
		z->next_in++;
		z->avail_in--;
	}
}

static void
inflate_more(struct source *text)
{
	z_stream *z = &text->zlib;

	z->next_out = (unsigned char *)text->buffer;
	z->avail_out = sizeof text->buffer;
	while (!text->ended && z->avail_out == sizeof text->buffer) {
		int got;

		if (z->avail_in == 0)
			fill_file(text);
		if (z->avail_in == 0)
			die_packed(text, "the compressed text is cut");
		got = inflate(z, Z_NO_FLUSH);
		if (got == Z_STREAM_END)
			next_member(text);
		else if (got == Z_MEM_ERROR)
			die("out of memory");
		else if (got != Z_OK && got != Z_BUF_ERROR)
			die_packed(text, "the compressed text is damaged");
	}
	text->filled = sizeof text->buffer - z->avail_out;
}

static void
fill(struct source *text)
{
	z_stream *z = &text->zlib;

	text->at = 0;
	if (text->gzip) {
		inflate_more(text);
		return;
	}
	if (z->avail_in == 0)
		fill_file(text);
	text->filled = z->avail_in;
	memcpy(text->buffer, z->next_in, z->avail_in);
	z->avail_in = 0;
}

bool
text_next(struct source *text)
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
text_end(const struct source *text, const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	if (*at != '\0')
		die_text(text, "something follows the last field");
}

void
text_close(struct source *text)
{
	if (text->gzip)
		inflateEnd(&text->zlib);
	if (text->fd != STDIN_FILENO)
		close(text->fd);
	free(text->line);
}

void
die_text(const struct source *text, const char *what)
{
	die("%s:%llu: %s", text->name, (unsigned long long)text->offset, what);
}

int64_t
text_integer(const struct source *text, char **at, int64_t min, int64_t max)
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
