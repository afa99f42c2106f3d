/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of a raw trace made smaller: every block with the narrowest columns that hold it and compressed,
 * small blocks of a location as one, the definitions between them together. Memory: one such block for each
 * location.
 */
#ifndef SQUEEZE_H
#define SQUEEZE_H

#include "../base/stream/calls.h"

struct squeeze {
	struct reader *in;
	struct writer out, one;		/* one: messages to be compressed together; never written */
	struct calls calls;
	struct calls *pending;		/* by location: rows not yet written */
	size_t pending_count, pending_capacity;
	int level;
};

/* FD: where the messages go; -1: they stay in memory. */
void squeeze_start(struct squeeze *s, int fd, int level);
void squeeze_end(struct squeeze *s);
/* A block of calls or a definition, as IN has just returned it. 0 or -1. */
int squeeze_take(struct squeeze *s, const struct message *message);
/* Writes all that was taken. 0 or -1. */
int squeeze_all(struct squeeze *s);

#endif
