/* SPDX-License-Identifier: BSD-3-Clause */
#include "window.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../base/stream/bytes.h"

enum { DEPTH = 30 };		/* of nested values: trace.5 */

/* How many bytes are there from AT on, at most SIZE. */
static size_t
read_some(int fd, unsigned char *bytes, size_t size, uint64_t at)
{
	size_t got = 0;

	while (got < size) {
		ssize_t more = pread(fd, bytes + got, size - got, (off_t)(at + got));

		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			break;
		got += (size_t)more;
	}
	return got;
}

bool
window_read(int fd, void *bytes, size_t size, uint64_t offset)
{
	return read_some(fd, bytes, size, offset) == size;
}

/* COUNT bytes at that place, at most as many as the window has; NULL: they are not there. */
static const unsigned char *
peek(struct window *w, uint64_t at, size_t count)
{
	if (at < w->begin || at + count > w->begin + w->size) {
		w->begin = at;
		w->size = read_some(w->fd, w->bytes, sizeof w->bytes, at);
	}
	return at + count <= w->begin + w->size ? w->bytes + (at - w->begin) : NULL;
}

/* What a marker says: bytes of a value that follow it at once, or of a length; values within. */
struct form {
	size_t own, length;
	uint64_t values;
};

static struct form
form_of(unsigned marker)
{
	struct form f = { 0 };

	if (marker >= 0x80 && marker < 0x90)
		f.values = 2u * (marker & 15);
	else if (marker >= 0x90 && marker < 0xa0)
		f.values = marker & 15;
	else if (marker >= 0xa0 && marker < 0xc0)
		f.own = marker & 31;
	else if (marker >= 0xc4 && marker <= 0xc6)
		f.length = (size_t)1 << (marker - 0xc4);
	else if (marker == 0xca || marker == 0xcb)
		f.own = marker == 0xca ? 4 : 8;
	else if (marker >= 0xcc && marker <= 0xd3)
		f.own = (size_t)1 << (marker & 3);
	else if (marker >= 0xd9 && marker <= 0xdb)
		f.length = (size_t)1 << (marker - 0xd9);
	else if (marker >= 0xdc && marker <= 0xdf)
		f.length = (size_t)2 << (marker & 1);
	return f;
}

/* Passes over a value. NUMBER: what it is, where it is an unsigned integer. */
static bool
pass(struct window *w, uint64_t *at, uint64_t *number, int depth)
{
	const unsigned char *b = peek(w, *at, 1);
	struct form f;
	unsigned marker;

	if (b == NULL || depth == 0)
		return false;
	marker = *b;
	f = form_of(marker);
	if ((b = peek(w, *at, 1 + f.length + (f.own <= 8 ? f.own : 0))) == NULL)
		return false;
	*number = marker < 0x80 ? marker : marker >= 0xcc && marker <= 0xcf ? big_endian(b + 1, f.own) : 0;
	if (marker >= 0xdc && marker <= 0xdf)
		f.values = big_endian(b + 1, f.length) * (marker >= 0xde ? 2 : 1);
	else if (f.length > 0)
		f.own = big_endian(b + 1, f.length);
	*at += 1 + f.length + f.own;
	for (; f.values > 0; f.values--) {
		uint64_t within;

		if (!pass(w, at, &within, depth - 1))
			return false;
	}
	return true;
}

/* Whether the string TEXT stands there. */
static bool
says(struct window *w, uint64_t at, const char *text)
{
	const size_t size = strlen(text);
	const unsigned char *b = peek(w, at, 1 + size);

	return b != NULL && b[0] == (0xa0 | size) && memcmp(b + 1, text, size) == 0;
}

bool
window_message(struct window *w, uint64_t at, struct seen *seen)
{
	const unsigned char *b;
	uint64_t number;
	size_t pairs;
	bool calls;

	w->size = 0;		/* it may have changed */
	/* The first byte is written last, so what is behind it is there as soon as it is. */
	if ((b = peek(w, at, 1)) == NULL || *b != 0x92)
		return false;
	w->size = 0;
	*seen = (struct seen){ .begin = at++, .location = -1 };
	seen->last = says(w, at, "end");
	calls = says(w, at, "calls");
	if (!pass(w, &at, &number, 1) || (b = peek(w, at, 3)) == NULL)
		return false;
	pairs = *b == 0xde ? (size_t)big_endian(b + 1, 2) : *b & 15u;
	at += *b == 0xde ? 3 : 1;
	for (; pairs > 0; pairs--) {
		const bool location = calls && says(w, at, "location");

		if (!pass(w, &at, &number, 1) || !pass(w, &at, &number, DEPTH))
			return false;
		if (location)
			seen->location = (int64_t)number;
	}
	seen->end = at;
	return true;
}
