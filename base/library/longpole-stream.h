/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes streams of longpole in your own stages:
 *
 *	cc stage.c $(pkg-config --cflags --libs longpole-stream)
 *
 * lp-trace(5) describes the format and the messages that a stage needs.
 *
 * The library never prints and never exits. A function that fails returns -1, and longpole_error
 * returns the reason; the first reason stays. Memory: one message. All readers of a process share
 * the names of calls, so only one thread at a time may use readers.
 */
#ifndef LONGPOLE_STREAM_H
#define LONGPOLE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct longpole_reader;
struct longpole_writer;

enum longpole_how {
	LONGPOLE_STREAM,	/* one stream of any content but raw */
	LONGPOLE_RAW,		/* concatenated raw traces; headers and ends are messages, too */
	LONGPOLE_ANY		/* any of these; headers and ends are messages, too */
};

/* FILE: NULL or "-" is standard input. Check longpole_error next. NULL: no memory. */
struct longpole_reader *longpole_open(const char *file, enum longpole_how how);
void longpole_close(struct longpole_reader *in);
/* The reason, with the offset in bytes if OFFSET is not NULL; NULL if there is no error. */
const char *longpole_error(const struct longpole_reader *in, uint64_t *offset);
/* "trace", "graph", "path", ... */
const char *longpole_content(const struct longpole_reader *in);

/* Reads the next message. 1: there is one, 0: the stream has ended properly, -1: error. */
int longpole_next(struct longpole_reader *in);

/* ---- the current message ---- */

const char *longpole_kind(const struct longpole_reader *in);
uint64_t longpole_offset(const struct longpole_reader *in);
/* 1: found, 0: the key is absent, -1: it has another type. Strings do not end in a zero byte. */
int longpole_int(struct longpole_reader *in, const char *key, int64_t *value);
int longpole_float(struct longpole_reader *in, const char *key, double *value);
int longpole_string(struct longpole_reader *in, const char *key, const char **text, size_t *length);
/* A column as stored, for COUNT rows: WIDTH bytes each, little-endian, at any address. */
int longpole_column(struct longpole_reader *in, const char *key, size_t count, const void **values,
    unsigned *width);
/* The same, widened to 64 bits into VALUES[COUNT]; an absent column is all ABSENT. */
int longpole_column_int(struct longpole_reader *in, const char *key, size_t count, int is_signed,
    int64_t absent, int64_t *values);

/* A block of calls with all columns: see lp-trace(5), CALLS. Valid until the next one is read. */
struct longpole_calls {
	uint32_t location;
	uint64_t first;			/* seq of row 0 */
	size_t count;
	const int64_t *enter_ns, *leave_ns;
	const uint16_t *call;		/* index for longpole_call_name; 0: part of a call */
	const uint32_t *site, *comm;
	const int32_t *peer, *tag;
	const uint64_t *bytes_sent, *bytes_received;
	const uint32_t *request, *request_at, *folded;
};
int longpole_calls(struct longpole_reader *in, struct longpole_calls *calls);
const char *longpole_call_name(unsigned call);

/* ---- writing ---- */

/*
 * Writes a header to FD: the history of IN (NULL: none) and this command line. NULL: no memory, or
 * a failed write, see errno. longpole_end reports later errors; it returns 0 if all succeeded.
 */
struct longpole_writer *longpole_create(int fd, const char *content,
    const struct longpole_reader *in, int argc, char **argv);
/* Passes the current message on unchanged. An index is dropped, because offsets change. */
int longpole_pass(struct longpole_writer *out, struct longpole_reader *in);
/* A message is begin, PAIRS puts, and finish. */
void longpole_begin(struct longpole_writer *out, const char *kind, unsigned pairs);
void longpole_put_int(struct longpole_writer *out, const char *key, int64_t value);
void longpole_put_float(struct longpole_writer *out, const char *key, double value);
void longpole_put_string(struct longpole_writer *out, const char *key, const char *value);
/* A column, in the least width that holds all values. */
void longpole_put_column(struct longpole_writer *out, const char *key, int is_signed,
    const int64_t *values, size_t count);
int longpole_finish(struct longpole_writer *out);
/* Writes the end and closes FD; readers refuse a stream without an end. Frees the writer. */
int longpole_end(struct longpole_writer *out);
/* Frees the writer without an end: for a stage that failed. */
void longpole_abandon(struct longpole_writer *out);

#ifdef __cplusplus
}
#endif
#endif
