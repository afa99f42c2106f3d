/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of calls in memory, and the names of calls. The layout of a block in a stream is in
 * trace.5, section CALLS.
 */
#ifndef CALLS_H
#define CALLS_H

#include "stream.h"

/*
 * Names of calls. Each has an index that is valid in this process: 0 is the part, then come the
 * names given before reading began (calls_known), then new names as streams bring them.
 */
const char *call_name(unsigned index);
unsigned call_count(void);
/* The index of NAME, which is added if it is new; -1: more than 65535 names, or no memory. */
int call_number(const char *name);
/* Gives COUNT names the indices from 1 on, before any other name is known. They must stay valid. */
void calls_known(const char *const *names, unsigned count);

/* Values of columns that do not apply to a row. */
enum { ANY_PEER = -1, NULL_PEER = -2, NO_PEER = -3, ROOT_PEER = -4, ANY_TAG = -1, NO_TAG = -2 };

/*
 * One block with widened columns. X(field in memory, key in the stream, type, is_signed, required,
 * absent). Times differ: the stream has enter and duration, memory has enter_ns and
 * leave_ns.
 */
#define CALL_COLUMNS(X) \
	X(call, "call", uint16_t, false, true, 0) \
	X(site, "site", uint32_t, false, false, 0) \
	X(comm, "comm", uint32_t, false, false, 0) \
	X(peer, "peer", int32_t, true, false, NO_PEER) \
	X(tag, "tag", int32_t, true, false, NO_TAG) \
	X(bytes_sent, "bytes_sent", uint64_t, false, false, 0) \
	X(bytes_received, "bytes_received", uint64_t, false, false, 0) \
	X(request, "request", uint32_t, false, false, 0) \
	X(request_at, "request_at", uint32_t, false, false, 0) \
	X(folded, "folded", uint32_t, false, false, 0)

/* The same with the times as they are in memory, which have no key. */
#define CALL_FIELDS(X) \
	X(enter_ns, NULL, int64_t, true, true, 0) \
	X(leave_ns, NULL, int64_t, true, true, 0) \
	CALL_COLUMNS(X)

struct calls {
	uint32_t location;
	uint64_t first;		/* sequence number of row 0 on its location */
	size_t count;		/* rows */
	size_t capacity;	/* rows that the columns have room for */
#define X(field, key, type, ...) type *field;
	CALL_FIELDS(X)
#undef X
};

/* One row of a block. */
struct call_row {
#define X(field, key, type, ...) type field;
	CALL_FIELDS(X)
#undef X
};
/* A row in which nothing applies. */
#define CALL_ROW (struct call_row){ .peer = NO_PEER, .tag = NO_TAG }

/* Makes room for ROWS rows. 0 or -1 (no memory). */
int calls_reserve(struct calls *calls, size_t rows);
/* Adds the rows of MORE at the end. 0 or -1 (no memory). */
int calls_append(struct calls *calls, const struct calls *more);
/* Adds a row. 0 or -1 (no memory). */
int calls_add(struct calls *calls, const struct call_row *row);
/* Rows FROM to TO - 1, where they lie. */
struct calls calls_slice(const struct calls *calls, size_t from, size_t to);
/* Removes the first COUNT rows. */
void calls_drop(struct calls *calls, size_t count);
void calls_free(struct calls *calls);

/* From a message of kind "calls"; numbers of calls become indices of call_name. 0 or -1. */
int calls_read(struct calls *calls, struct reader *in, const struct message *message);
/* The same, but keeps the numbers: in a raw trace, the names may come after the block. */
int calls_read_numbered(struct calls *calls, struct reader *in, const struct message *message);
/* The first enter of a block; only its first row need be there. 0 or -1. */
int calls_begin(struct reader *in, const struct message *message, int64_t *enter_ns);
/* The number of rows, without reading the columns. 0 or -1. */
int calls_count(struct reader *in, const struct message *message, uint64_t *rows);
/* Writes one block. The tool writes the names of the calls itself: call_names_write. */
int calls_write(struct writer *out, const struct calls *calls);
/* The same for a block to be compressed: with coded times, or with gaps if they have no code. */
int calls_write_small(struct writer *out, const struct calls *calls);
/* One message of kind "call" for each index that USED marks. */
int call_names_write(struct writer *out, const bool *used);

#endif
