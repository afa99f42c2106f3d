/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams: reading and writing messages [kind, body]. trace.5 alone specifies the format; comments
 * here cite its sections.
 *
 * The library never prints and never exits. A function that can fail returns -1 and leaves a
 * reason in the reader or writer, for input with the byte offset; the first reason stays.
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
	char kind[24];			/* longer kinds are cut; no known kind is so long */
	msgpack_object stated_kind;	/* the kind in full */
	msgpack_object body;		/* a map; valid until the next message is read */
	const unsigned char *bytes;	/* the whole message as it stands in the input */
	size_t size;			/* bytes */
	uint64_t offset;		/* of its first byte, or of the zstd message around it */
};

static inline bool is_kind(const struct message *message, const char *kind)
{
	return strcmp(message->kind, kind) == 0;
}

/*
 * Parses the message that begins at BYTES, of which SIZE are there. 1; 0: it does not end there;
 * -1: WHY has the error. It is valid while UNPACKED and the bytes stay.
 */
int message_parse(struct message *message, msgpack_unpacked *unpacked, const void *bytes,
    size_t size, const char **why);
/* Is the message unchanged? HASH: the stated one, whether right or wrong. */
enum message_hash { HASH_RIGHT, HASH_WRONG, HASH_MALFORMED, HASH_NONE };
enum message_hash message_hash(const struct message *message, uint64_t *hash);

/* ---- reading ---------------------------------------------------------------------------- */

/* A stream being read; its contents are private to the library. */
struct reader;

/*
 * How a stream is opened. Unless it is a raw trace, FILE may be a folder of shards, which is read
 * as one stream; its offsets are then places in that stream.
 */
enum reading {
	READ_STREAM,	/* one stream of any content but raw; its header is read at once */
	READ_LAZY,	/* the same of a file; reader_verify checks hashes of calls and edges */
	READ_PARTIAL,	/* the same; of a folder only shards that are whole: see reader_lost */
	READ_ANY,	/* any stream, raw or not; headers and ends are returned, too */
	/*
	 * Concatenated raw traces: reader_next returns their headers (kind "longpole") and ends,
	 * too: kind "end", or kind "cut" if the rank died and unwritten space follows its last
	 * message (trace.5, RAW TRACES). Names of calls, and the history of the first header, are
	 * valid for all of them.
	 */
	READ_RAW,
	/*
	 * The same of a file of which few blocks are needed at a time. Until reader_verify, a block
	 * of calls has only its small values and the first of each column, and its hash is not
	 * checked. The position of the file descriptor does not matter.
	 */
	READ_SKIMMING,
	READ_GROWING,	/* the same of growing traces; never checks hashes of blocks */
};

/*
 * Opens FILE (NULL or "-" is standard input). 0; or -1, and reader_error of *OPENED has the reason,
 * even if *OPENED is NULL (no memory). Close it in any case.
 */
int reader_open(struct reader **opened, const char *file, enum reading how);
void reader_close(struct reader *in);

/* 1: a message; 0: the stream has ended properly; -1: error. */
int reader_next(struct reader *in, struct message *message);
/* reader_next calls WAITING before it waits for an empty pipe: a stage can then pass on output. */
void reader_when_waiting(struct reader *in, void (*waiting)(void *), void *context);

/* Checks the last message's hash, which READ_LAZY and READ_SKIMMING do not. 0 or -1. */
int reader_verify(struct reader *in, const struct message *message);

/* ---- what has been read ---- */

/* The name for messages; "standard input". */
const char *reader_file(const struct reader *in);
/* The reason; NULL: no error. OFFSET, unless NULL, gets the byte, or -1 without a place. */
const char *reader_error(const struct reader *in, int64_t *offset);
/* "raw", "trace", "graph", ... from the header; "" before it. */
const char *reader_content(const struct reader *in);
bool reader_is_raw(const struct reader *in);
/* The contents of a message of kind shard (trace.5, SHARDS). */
struct shard_head {
	uint64_t run;		/* the same in all shards of the run */
	uint64_t defined;	/* messages after it that all shards have */
	uint32_t number, count;	/* this shard, of how many; count 0: no such message */
	uint32_t ranks, *of;	/* number of ranks; the shard of each */
};
/* Of the stream being read, after its first message; NULL: it is no shard. */
const struct shard_head *reader_shard(const struct reader *in);
/* Of one shard of the folder being read; NULL: it is no folder. */
const struct shard_head *reader_folder(const struct reader *in);

/* READ_PARTIAL: line I about missing or damaged shards; NULL after the last. */
const char *reader_lost(const struct reader *in, size_t i);
/* Command line I of the tools so far; NULL after the last. */
const char *reader_history(const struct reader *in, size_t i);
/* Replaces it by the history of the trace that counts, which was read elsewhere. 0 or -1. */
int reader_set_history(struct reader *in, char *const *lines, size_t count);
/* Messages, and rows of blocks of calls, since the header. */
uint64_t reader_messages(const struct reader *in);
uint64_t reader_rows(const struct reader *in);
/* For each of the 65536 numbers of calls, the index of call_name, 0: none; and the reverse. */
const uint16_t *reader_calls(const struct reader *in);
const uint16_t *reader_call_numbers(const struct reader *in);
/* Where the next message begins. */
uint64_t reader_offset(const struct reader *in);
/* The share of the file before it, from 0 to 1; 0: unknown. */
double reader_share(const struct reader *in);

/* Sets the sticky reason at the message's offset; returns -1. */
int reader_fail(struct reader *in, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails if the content is not the one that the tool reads. */
int reader_need_content(struct reader *in, const char *content);
/* Fails with "a CONTENT; HINT" if the content is the one that is too early for the tool. */
int reader_refuse_content(struct reader *in, const char *content, const char *hint);

/* Names call number NUMBER, as a message of kind call does. 0 or -1. */
int reader_name_call(struct reader *in, uint16_t number, const char *name);

/* ---- moving to another place ---- */

/* Continues at another message of a file, or fails on a pipe. The end's counts go unchecked. */
void reader_jump(struct reader *in, uint64_t offset);
/* Back to the first byte of a file, for a second pass that knows the names of calls. 0 or -1. */
int reader_rewind(struct reader *in);
/* False: a pipe. For a second pass, reader_spool first copies it into FD, an empty file. */
bool reader_is_seekable(const struct reader *in);
int reader_spool(struct reader *in, int fd);
/* Closes the file; continues with raw traces of the same run in FILE. Keeps names and history. */
void reader_leave(struct reader *in);
int reader_go_on(struct reader *in, const char *file);
/* Continues inside a raw trace at OFFSET of FILE, which the caller has opened as FD and closes. */
void reader_turn(struct reader *in, const char *file, int fd, uint64_t offset);
/*
 * Reduces the block of calls just returned to COUNT rows from row FROM on: 1. 0: its rows cannot
 * be read apart, so all of it is there. The hash is not checked. -1: error.
 */
int reader_narrow(struct reader *in, struct message *message, size_t from, size_t count);
/* READ_SKIMMING: the next message is read without holes up to this size; 0: unknown. */
void reader_hint(struct reader *in, size_t bytes);

/* ---- values of a message ---- */

/* The value of KEY, or NULL. */
const msgpack_object *body_get(const struct message *message, const char *key);

/* The same of a bin, whose SIZE bytes are in the message; NULL: it is absent or no bin. */
const void *body_bin(const struct message *message, const char *key, size_t *size);
/* Is it this string? Is it true? */
bool body_is(const struct message *message, const char *key, const char *text);
bool body_true(const struct message *message, const char *key);

/*
 * Required values: 0, or -1 with the reason "KIND: KEY is missing" or "... is out of range". VALUE
 * points to an integer of any type that holds MIN to MAX.
 */
#define body_int(in, message, key, min, max, value) \
	body_whole(in, message, key, min, max, value, COLUMN_OF(value).width)
int body_whole(struct reader *in, const struct message *message, const char *key,
    int64_t min, int64_t max, void *value, size_t width);
/* The same of an optional value: if KEY is absent, VALUE stays as it is. */
#define body_int_if(in, message, key, min, max, value) \
	(body_get(message, key) == NULL ? 0 : body_int(in, message, key, min, max, value))
int body_uint(struct reader *in, const struct message *message, const char *key, uint64_t *value);
/*
 * The number of something being defined, from MIN on. Such numbers index arrays, so they must not
 * be much larger than what has been read (trace.5, NUMBERS).
 */
int body_number(struct reader *in, const struct message *message, const char *key, int64_t min,
    uint32_t *value);
/* The number of values of COLUMN, from KEY: believed only if the column has a byte for each. */
int body_count(struct reader *in, const struct message *message, const char *key, int64_t min,
    int64_t max, const char *column, size_t *count);
/* A copy for the caller to free; NULL: KEY is absent or no string. */
char *body_string(const struct message *message, const char *key);

/*
 * A column of COUNT integers, widened into TO. The width in the stream follows from the size of the
 * bin and CAPACITY. An absent column becomes all ABSENT.
 */
struct column_type {
	uint8_t width;			/* bytes in memory */
	bool is_signed;
	bool required;
	int64_t absent;
};
int body_column_of(struct reader *in, const struct message *message, const char *key,
    struct column_type type, size_t capacity, size_t count, void *to);
/* The type of a required column, by that of the array VALUES. */
#define COLUMN_OF(values) ((struct column_type){ sizeof *(values), _Generic(*(values), \
	uint8_t: false, uint16_t: false, uint32_t: false, uint64_t: false, \
	int32_t: true, int64_t: true), true, 0 })
/* An optional one that is all 0 if absent. */
#define COLUMN_OR_0(values) \
	((struct column_type){ sizeof *(values), COLUMN_OF(values).is_signed, false, 0 })
#define body_column(in, message, key, count, to) \
	body_column_of(in, message, key, COLUMN_OF(to), count, count, to)
#define body_column_or_0(in, message, key, count, to) \
	body_column_of(in, message, key, COLUMN_OR_0(to), count, count, to)

/* ---- writing ---------------------------------------------------------------------------- */

enum { MOST_CUTS = 96, MOST_PLANES = 16 };	/* per compressed message */

struct plane {			/* integers in the buffer whose bytes lie apart */
	uint32_t begin;		/* offset of the first byte */
	uint32_t count, width;	/* number of integers; bytes of each */
};

struct writer {
	int fd;
	msgpack_sbuffer buffer;		/* messages not yet written to fd */
	msgpack_packer pack;
	size_t message_begin;		/* of the message being built, in buffer */
	uint64_t messages, rows;	/* so far; calls_write counts rows */
	uint64_t flushed;		/* bytes written to fd */
	uint64_t index_offset;		/* of the message of kind index; 0: none */
	struct plane planes[MOST_PLANES];	/* of the buffer, for put_compressed */
	unsigned plane_count;
	size_t column_bytes;		/* of the column put last */
	uint32_t cuts[MOST_CUTS];	/* where put_compressed begins new frequencies */
	unsigned cut_count;
	bool failed;			/* errno said why */
	int error;
};

/* Writes the header: the history of IN (NULL: none) and this command line. */
int writer_open(struct writer *out, int fd, const char *content, const struct reader *in,
    int argc, char **argv);

/* Without a header, for messages that are passed on; with FD -1 they stay in the buffer. */
void writer_start(struct writer *out, int fd);

/* A message is begin, PAIRS puts, end. */
void message_begin(struct writer *out, const char *kind, unsigned pairs);
void put_int(struct writer *out, const char *key, int64_t value);
void put_uint(struct writer *out, const char *key, uint64_t value);
void put_bool(struct writer *out, const char *key, bool value);
void put_double(struct writer *out, const char *key, double value);
void put_string(struct writer *out, const char *key, const char *value);
void put_bytes(struct writer *out, const char *key, const void *bytes, size_t size);
void put_column_of(struct writer *out, const char *key, struct column_type type,
    const void *values, size_t count);
#define put_column(out, key, values, count) \
	put_column_of(out, key, COLUMN_OF(values), values, count)
int message_end(struct writer *out);

/* The bytes of the column put last may lie apart if the message is compressed. */
void column_apart(struct writer *out, size_t count);
/* From AT on, the bytes in the buffer have other frequencies than before. */
void writer_cut(struct writer *out, size_t at);
/* Compresses the messages that HELD has in memory into one of kind zstd; the caller counts them. */
int put_compressed(struct writer *out, struct writer *held, int level);

/*
 * Passes a message on as it was read. ROWS: of a block of calls, else 0. An index is dropped,
 * because offsets change, and so is a message of kind shard.
 */
int writer_pass(struct writer *out, const struct message *message, uint64_t rows);

/* Appends the messages that MORE has in memory. 0 or -1. */
int writer_append(struct writer *out, const struct writer *more);
/* A hash of the bytes in memory. */
uint64_t writer_hash(const struct writer *out);

int writer_flush(struct writer *out);
/* Where the next message begins, in bytes from the header. */
uint64_t writer_offset(const struct writer *out);
/* Writes the end message and everything still buffered, and closes the file. 0 or -1. */
int writer_end(struct writer *out);
/* The same, but leaves the file open. MORE: the raw trace continues in another segment. */
int writer_end_of(struct writer *out, bool more);

/* Frees the buffer without an end message. */
void writer_close(struct writer *out);

#endif
