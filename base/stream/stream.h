/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream: reading and writing messages [kind, body]. The format itself is written down in
 * trace.5 and nowhere else; comments here cite its sections.
 *
 * The library never prints and never exits. A function that can fail returns -1 and leaves a
 * reason, and for input the byte offset, in the reader or writer; the first reason stays.
 * Memory: one message, whatever the length of the stream.
 */
#ifndef STREAM_H
#define STREAM_H

#include <msgpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_VERSION 1

/* ---- messages --------------------------------------------------------------------------- */

struct message {
	char kind[24];			/* longer kinds are cut; no known kind is that long */
	msgpack_object body;		/* a map; valid until the next message is read */
	const unsigned char *bytes;	/* the whole message as it stands in the input */
	size_t size;			/* bytes */
	uint64_t offset;		/* in the input: of its first byte, or of the zstd message it was in */
};

static inline bool is_kind(const struct message *message, const char *kind)
{
	return strcmp(message->kind, kind) == 0;
}

/* ---- reading ---------------------------------------------------------------------------- */

struct reader {
	const char *file;		/* for messages; "standard input" */
	int fd;
	unsigned char *buffer;
	size_t capacity, begin, end;	/* bytes; the unread part is begin..end */
	uint64_t buffer_offset;		/* of buffer[0] in the input */
	bool eof;
	bool raw;			/* accept what only raw traces have: see reader_open_raw */
	bool all;			/* reader_next returns headers and ends, too */
	bool started;			/* a header has been read */
	bool jumped;			/* see reader_jump */
	bool by_offset;			/* bytes are read from buffer_offset on, wherever fd stands */
	bool lazy;			/* see reader_open_lazy */
	bool skims, hollow;		/* see reader_open_skimming; the last message has holes */
	size_t hint_bytes;		/* how large the next message may be, to have it without holes */
	bool names_late;		/* calls_read leaves the stream's numbers: names come later */
	bool in_stream;			/* between a header and its end */
	bool hashed;			/* header says that every message carries its hash */
	char content[16];		/* "raw", "trace", "graph", ... */
	char **history;			/* command lines of the tools so far */
	size_t history_count;
	uint64_t messages, rows;	/* so far, to check the end message */
	bool sites_early;		/* sites are defined before calls: from site_end on they are unknown */
	uint32_t site_end;
	unsigned char *inflated;	/* what a message of kind zstd held; the unread part of it: */
	size_t inflated_capacity, inflated_begin, inflated_end;
	uint64_t inflated_offset;	/* and where that message lay in the input */
	uint64_t inflated_bytes;	/* in all such messages so far */
	msgpack_unpacked unpacked;
	uint16_t *call_map;		/* 65536 entries: number in the stream -> index of call_name */
	uint16_t *call_number;		/* and back */
	char error[200];		/* empty while all is well */
	uint64_t error_offset;
};

/* Opens FILE (NULL or "-" is standard input) and reads the header. 0 or -1. */
int reader_open(struct reader *in, const char *file);

/* An error, "a CONTENT; HINT", where the stream's content is the one that is too early for the tool. */
int reader_refuse_content(struct reader *in, const char *content, const char *hint);
/* An error where it is not the one that the tool reads. */
int reader_need_content(struct reader *in, const char *content);

/*
 * The same for concatenated raw traces: reader_next then also returns the header messages (kind
 * "longpole") and the ends: kind "end", or kind "cut" where a rank died and unwritten space
 * follows its last message (trace.5, RAW TRACES). The first header is returned, too.
 */
int reader_open_raw(struct reader *in, const char *file);

/* The same for whatever comes: one stream of any content, or concatenated raw traces. */
int reader_open_any(struct reader *in, const char *file);

/*
 * The same as reader_open_raw for a file of which few blocks are wanted at a time. Of a block of calls
 * only the small values and the first of each column are there, and its hash is not checked, until
 * reader_verify. Where the file descriptor stands does not matter. 0 or -1.
 */
int reader_open_skimming(struct reader *in, const char *file);
/* Such a reader goes on at OFFSET of a file, in the midst of a stream. */
void reader_turn(struct reader *in, const char *file, int fd, uint64_t offset);

/*
 * The same for a file of which only some blocks are wanted: the hashes of calls and edges are not
 * checked; reader_verify does it for those that are used. 0 or -1.
 */
int reader_open_lazy(struct reader *in, const char *file);
int reader_verify(struct reader *in, const struct message *message);
/*
 * Where the next message begins, and to go on at another one of such a file; the end's counts are then
 * not checked.
 */
uint64_t reader_offset(const struct reader *in);
void reader_jump(struct reader *in, uint64_t offset);

/* Back to the first byte of a file, for a second pass that knows the names of calls. 0 or -1. */
int reader_rewind(struct reader *in);

/* 1: a message; 0: the stream has ended properly; -1: it has not. */
int reader_next(struct reader *in, struct message *message);

/* Lets the reader take messages from memory: SIZE bytes that lay at OFFSET of FILE. */
int reader_open_bytes(struct reader *in, const char *file, const void *bytes, size_t size,
    uint64_t offset);

void reader_close(struct reader *in);

/* Sets the sticky reason at the message's offset; returns -1. */
int reader_fail(struct reader *in, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The value of KEY, or NULL. */
const msgpack_object *body_get(const struct message *message, const char *key);

/* Required values: 0, or -1 with the reason "KIND: KEY is missing" or "... is out of range". */
int body_int(struct reader *in, const struct message *message, const char *key,
    int64_t min, int64_t max, int64_t *value);
int body_uint(struct reader *in, const struct message *message, const char *key, uint64_t *value);
/*
 * The number of something that is being defined, from MIN on. Arrays are indexed with such numbers, so
 * that they must not be much larger than what has been read (trace.5, NUMBERS).
 */
int body_number(struct reader *in, const struct message *message, const char *key, int64_t min,
    uint32_t *value);
/* A copy to be freed by the caller, or NULL where KEY is absent or no string. */
char *body_string(const struct message *message, const char *key);

/*
 * A column of COUNT integers, widened into TO (WIDTH bytes each: 2, 4 or 8). The width in the
 * stream follows from the size of the bin and CAPACITY. An absent column becomes all ABSENT.
 */
struct column_type {
	uint8_t width;			/* bytes in memory */
	bool is_signed;
	bool required;
	int64_t absent;
};
int body_column(struct reader *in, const struct message *message, const char *key,
    struct column_type type, size_t capacity, size_t count, void *to);

/* ---- writing ---------------------------------------------------------------------------- */

struct writer {
	int fd;
	msgpack_sbuffer buffer;		/* messages not yet written to fd */
	msgpack_packer pack;
	size_t message_begin;		/* of the message being built, in buffer */
	uint64_t messages, rows;	/* so far; calls_write counts rows */
	uint64_t flushed;		/* bytes that fd has got */
	uint64_t index_offset;		/* of the message of kind index; 0: none */
	bool failed;			/* errno said why */
	int error;
};

/* Writes the header: the history of IN (NULL: none) and this command line. */
int writer_open(struct writer *out, int fd, const char *content, const struct reader *in,
    int argc, char **argv);

/* Without a header, for messages that are passed on; FD -1 keeps them in the buffer. */
void writer_start(struct writer *out, int fd);

/* A message is begin, PAIRS puts, end. */
void message_begin(struct writer *out, const char *kind, unsigned pairs);
void put_int(struct writer *out, const char *key, int64_t value);
void put_uint(struct writer *out, const char *key, uint64_t value);
void put_double(struct writer *out, const char *key, double value);
void put_string(struct writer *out, const char *key, const char *value);
void put_bytes(struct writer *out, const char *key, const void *bytes, size_t size);
void put_column(struct writer *out, const char *key, struct column_type type, const void *values,
    size_t count);
int message_end(struct writer *out);

/* Whole messages, compressed at LEVEL into one of kind zstd; the caller counts them. */
int put_compressed(struct writer *out, const void *bytes, size_t size, int level);

/*
 * Passes a message on as it was read; ROWS it holds (0 unless it is a block of calls). An index is
 * dropped: its offsets are those of the stream that was read.
 */
int writer_pass(struct writer *out, const struct message *message, uint64_t rows);

int writer_flush(struct writer *out);
/* Where the next message begins, in bytes from the header. */
uint64_t writer_offset(const struct writer *out);
/* Writes the end message and everything still buffered, and closes the file. 0 or -1. */
int writer_end(struct writer *out);
/* The same, but another stream follows in the file. */
int writer_end_more(struct writer *out);

/* Frees the buffer without an end message. */
void writer_close(struct writer *out);

#endif
