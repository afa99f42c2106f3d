/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of calls in memory, and the names of calls. The layout of a block in a stream is in
 * trace.5, section CALLS.
 */
#ifndef CALLS_H
#define CALLS_H

#include "stream.h"

/*
 * Names of calls, each with an index that holds in this process: 0 is the part, then those that
 * were given before reading began (calls_known), then new ones as streams bring them.
 */
const char *call_name(unsigned index);
unsigned call_count(void);
/* The index of NAME, added where it is new; -1 when more than 65535 are known or memory is out. */
int call_number(const char *name);
/* COUNT names for the indices from 1 on, which live as long as the process; before any other is
 * known. */
void calls_known(const char *const *names, unsigned count);

/* Values of the columns where nothing applies. */
enum { ANY_PEER = -1, NULL_PEER = -2, NO_PEER = -3, ROOT_PEER = -4, ANY_TAG = -1, NO_TAG = -2 };

/*
 * One block, columns widened. X(field in memory, key in the stream, type, is_signed, required,
 * absent). The times are apart: the stream has enter and duration, memory has enter_ns and
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

struct calls {
	uint32_t location;
	uint64_t first;		/* sequence number of row 0 on its location */
	size_t count;		/* rows */
	size_t capacity;	/* rows that the columns have room for */
	int64_t *enter_ns;
	int64_t *leave_ns;
#define X(field, key, type, is_signed, required, absent) type *field;
	CALL_COLUMNS(X)
#undef X
};

/* One row of it. */
struct call_row {
	int64_t enter_ns, leave_ns;
#define X(field, key, type, is_signed, required, absent) type field;
	CALL_COLUMNS(X)
#undef X
};
/* A row in which nothing applies. */
#define CALL_ROW (struct call_row){ .peer = NO_PEER, .tag = NO_TAG }

/* Makes room for ROWS rows. 0 or -1 (no memory). */
int calls_reserve(struct calls *calls, size_t rows);
/* Adds the rows of MORE behind those that are there. 0 or -1 (no memory). */
int calls_append(struct calls *calls, const struct calls *more);
/* Adds a row. 0 or -1 (no memory). */
int calls_add(struct calls *calls, const struct call_row *row);
/* Removes the first COUNT rows. */
void calls_drop(struct calls *calls, size_t count);
void calls_free(struct calls *calls);

/* From a message of kind "calls"; call numbers become indices of call_name. 0 or -1. */
int calls_read(struct calls *calls, struct reader *in, const struct message *message);
/* The same where the names of calls, which may come behind their block in a raw trace, are not
 * known yet. */
int calls_read_numbered(struct calls *calls, struct reader *in, const struct message *message);
/* The first enter of a block that has rows, of which the first will do. 0 or -1. */
int calls_begin(struct reader *in, const struct message *message, int64_t *enter_ns);
/* Rows of a block without reading its columns. 0 or -1. */
int calls_count(struct reader *in, const struct message *message, uint64_t *rows);
/* Writes one block. The tool writes the names of the calls itself: call_names_write. */
int calls_write(struct writer *out, const struct calls *calls);
/* The same for a block that is compressed: with coded times, or where these cannot be coded with
 * gaps. */
int calls_write_small(struct writer *out, const struct calls *calls);
/* One message of kind "call" for each index that USED marks. */
int call_names_write(struct writer *out, const bool *used);

#endif
