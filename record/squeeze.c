/* SPDX-License-Identifier: BSD-3-Clause */
#include "squeeze.h"

#include <stdlib.h>
#include <string.h>

#include "../base/tool/tool.h"

enum { ROWS = 1 << 14 };	/* of a block, at least, but for the last */

void
squeeze_start(struct squeeze *s, int fd, int level)
{
	*s = (struct squeeze){ .level = level };
	writer_start(&s->out, fd);
	writer_start(&s->one, -1);
}

void
squeeze_end(struct squeeze *s)
{
	for (size_t i = 0; i < s->pending_count; i++)
		calls_free(&s->pending[i]);
	free(s->pending);
	calls_free(&s->calls);
	writer_close(&s->out);
	writer_close(&s->one);
}

static int
put_one(struct squeeze *s)
{
	int done = s->one.buffer.size == 0 ? 0 : put_compressed(&s->out, &s->one, s->level);

	msgpack_sbuffer_clear(&s->one.buffer);
	return done;
}

/* Definitions first: the rows may need them. */
static int
put_rows(struct squeeze *s, struct calls *rows)
{
	if (rows->count == 0)
		return 0;
	if (put_one(s) < 0 || calls_write_small(&s->one, rows) < 0)
		return -1;
	s->out.messages++;
	s->out.rows += rows->count;
	rows->count = 0;
	return put_one(s);
}

static int
take_block(struct squeeze *s, const struct message *message)
{
	struct calls *rows;

	if (calls_read_numbered(&s->calls, s->in, message) < 0)
		return -1;
	if (s->calls.location > 1 << 20)
		return -1;
	s->pending = grow(s->pending, &s->pending_capacity, s->calls.location + (size_t)1,
	    sizeof *s->pending);
	while (s->pending_count <= s->calls.location)
		s->pending[s->pending_count++] = (struct calls){ 0 };
	rows = &s->pending[s->calls.location];
	rows->location = s->calls.location;
	if (rows->count == 0)		/* those before may be compressed already */
		rows->first = s->calls.first;
	if (rows->first + rows->count != s->calls.first || calls_append(rows, &s->calls) < 0)
		return -1;
	return rows->count >= ROWS ? put_rows(s, rows) : 0;
}

int
squeeze_take(struct squeeze *s, const struct message *message)
{
	if (is_kind(message, "calls"))
		return take_block(s, message);
	s->out.messages++;
	return writer_pass(&s->one, message, 0);
}

int
squeeze_all(struct squeeze *s)
{
	for (size_t i = 0; i < s->pending_count; i++)
		if (put_rows(s, &s->pending[i]) < 0)
			return -1;
	return put_one(s);
}
