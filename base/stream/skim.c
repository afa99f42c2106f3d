/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <unistd.h>

#include "reader.h"

enum {
	LOOK_BYTES = 64,	/* hold a short key, or a value's marker, size and first 8 bytes */
	LEAST_HOLE = 1024,
	PIECE_BYTES = 512,	/* read after a hole */
};

struct skim {
	struct reader *in;
	size_t at;		/* the next byte to look at, from the message's first */
	size_t whole;		/* bytes of the message before the first hole */
};

static size_t
present(const struct skim *s)
{
	return s->in->input.end - s->in->input.begin;
}

/* Reads more bytes behind the end of the buffer. False: there are none. */
static bool
read_on(struct skim *s)
{
	struct buffer *b = &s->in->input;
	ssize_t got;

	if (buffer_room(b, SKIM_BYTES) < 0)
		return false;
	got = pread(b->fd, b->bytes + b->end, SKIM_BYTES, (off_t)buffer_end(b));
	b->end += got > 0 ? (size_t)got : 0;
	return got > 0;
}

/* Leaves a hole up to s->at and reads a piece after it. False: there is nothing. */
static bool
read_behind_hole(struct skim *s)
{
	struct buffer *b = &s->in->input;
	const size_t skipped = s->at - present(s);
	unsigned char piece[PIECE_BYTES];
	ssize_t got;

	if (s->at > MESSAGE_LIMIT)
		return false;
	/* Makes room only for bytes that exist: a damaged size may be anything. */
	got = pread(b->fd, piece, sizeof piece, (off_t)(buffer_end(b) + skipped));
	if (got <= 0 || buffer_room(b, skipped + sizeof piece) < 0)
		return false;
	if (!s->in->hollow)
		s->whole = present(s);
	s->in->hollow = true;
	b->end += skipped;
	memcpy(b->bytes + b->end, piece, (size_t)got);
	b->end += (size_t)got;
	return true;
}

/* The number of bytes from s->at on: LOOK_BYTES, unless the file has fewer. */
static size_t
look(struct skim *s, const unsigned char **bytes)
{
	while (s->at + LOOK_BYTES > present(s) &&
	    (s->at > present(s) + LEAST_HOLE ? read_behind_hole(s) : read_on(s)))
		;
	*bytes = s->in->input.bytes + s->in->input.begin + s->at;
	return s->at < present(s) ? present(s) - s->at : 0;
}

/* Skips an integer, a string or a bin. False: it is none of these, or the bytes end. */
static bool
skip_value(struct skim *s)
{
	const unsigned char *b;
	size_t left = look(s, &b), head;

	if (left == 0)
		return false;
	if (*b <= 0x7f || *b >= 0xe0)
		s->at += 1;
	else if (*b >= 0xa0 && *b <= 0xbf)
		s->at += 1 + (*b & 31u);
	else if (*b >= 0xcc &&
	    *b <= 0xd3)		/* unsigned and signed, of 1, 2, 4 and 8 bytes */
		s->at += 1 + ((size_t)1 << (*b & 3));
	else if ((*b >= 0xc4 && *b <= 0xc6) || (*b >= 0xd9 && *b <= 0xdb)) {
		head = (size_t)1 << (*b - (*b < 0xd0 ? 0xc4 : 0xd9));
		if (left < 1 + head)
			return false;
		s->at += 1 + head + big_endian(b + 1, head);
	} else
		return false;
	return true;
}

static bool
skip_calls(struct skim *s)
{
	static const unsigned char calls[] = { 0x92, 0xa5, 'c', 'a', 'l', 'l', 's' };
	const unsigned char *b;
	size_t pairs;

	if (look(s, &b) < sizeof calls + 3 || memcmp(b, calls, sizeof calls) != 0)
		return false;
	b += sizeof calls;
	s->at = sizeof calls + (*b == 0xde ? 3 : 1);
	if ((*b & 0xf0) == 0x80)
		pairs = *b & 15u;
	else if (*b == 0xde)
		pairs = big_endian(b + 1, 2);
	else
		return false;
	for (size_t values = 2 * pairs; values > 0; values--)	/* keys are values, too */
		if (!skip_value(s))
			return false;
	return s->at <= present(s);
}

void
skim(struct reader *in)
{
	struct skim s = { in, 0, 0 };

	in->hollow = false;
	if (skip_calls(&s) || !in->hollow)
		return;
	in->input.end = in->input.begin + s.whole;
	in->hollow = false;
}
