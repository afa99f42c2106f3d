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
	msgpack_object stated_kind;	/* whole */
	msgpack_object body;		/* a map; valid until the next message is read */
	const unsigned char *bytes;	/* the whole message as it stands in the input */
	size_t size;			/* bytes */
	/* in the input: of its first byte, or of the zstd message it was in */
	uint64_t offset;
};

static inline bool is_kind(const struct message *message, const char *kind)
{
	return strcmp(message->kind, kind) == 0;
}

/*
 * The message that begins at BYTES, SIZE of which are there. 1; 0: it does not end there; -1: WHY
 * says what is wrong. It is valid as long as UNPACKED, and the bytes, stay.
 */
int message_parse(struct message *message, msgpack_unpacked *unpacked, const void *bytes,
    size_t size, const char **why);
/* Is it as it was written? HASH: the one that it states, if it is right or wrong. */
enum message_hash { HASH_RIGHT, HASH_WRONG, HASH_MALFORMED, HASH_NONE };
enum message_hash message_hash(const struct message *message, uint64_t *hash);

/* ---- reading ---------------------------------------------------------------------------- */

/* A stream being read; what is in it is the library's own. */
struct reader;

/*
 * How a stream is opened. FILE may be a folder of shards but for raw traces, and is then read as
 * the one stream that they are pieces of; its offsets are places in that.
 */
enum reading {
	READ_STREAM,	/* one stream of any content but raw; its header is read at once */
	/* the same of a file; the hashes of calls and edges are left to reader_verify */
	READ_LAZY,
	/* the same; of a folder of shards what is there and whole: see reader_lost */
	READ_PARTIAL,
	READ_ANY,	/* whichever comes, raw or not; headers and ends are returned, too */
	/*
	 * Concatenated raw traces: reader_next returns their headers (kind "longpole") and ends,
	 * too: kind "end", or kind "cut" where a rank died and unwritten space follows its last
	 * message (trace.5, RAW TRACES). Names of calls, and the history of the first header, hold
	 * for all of them.
	 */
	READ_RAW,
	/*
	 * The same of a file of which few blocks are wanted at a time: of a block of calls only the
	 * small values and the first of each column are there, and its hash is not checked, until
	 * reader_verify. Where the file descriptor stands does not matter.
	 */
	READ_SKIMMING,
	/* the same of traces that are still written to; hashes of blocks are never checked */
	READ_GROWING,
};

/*
 * Opens FILE (NULL or "-" is standard input). 0; or -1, and *OPENED tells why, also where it is
 * NULL since memory is out; it is to be closed in any case.
 */
int reader_open(struct reader **opened, const char *file, enum reading how);
void reader_close(struct reader *in);

/* 1: a message; 0: the stream has ended properly; -1: it has not. */
int reader_next(struct reader *in, struct message *message);
/* WAITING is called in it before it waits for a pipe that is empty: so a stage passes on what it
 * has. */
void reader_when_waiting(struct reader *in, void (*waiting)(void *), void *context);

/* Checks what READ_LAZY and READ_SKIMMING have left of the message just returned. 0 or -1. */
int reader_verify(struct reader *in, const struct message *message);

/* ---- what it has read ---- */

/* For messages; "standard input". */
const char *reader_file(const struct reader *in);
/* The reason, NULL while all is well; the byte goes to OFFSET unless that is NULL: -1 without a
 * place. */
const char *reader_error(const struct reader *in, int64_t *offset);
/* "raw", "trace", "graph", ... as the header says; "" before it. */
const char *reader_content(const struct reader *in);
bool reader_is_raw(const struct reader *in);
/* What a message of kind shard says (trace.5, SHARDS). */
struct shard_head {
	uint64_t run;		/* the same in all shards of the run */
	uint64_t defined;	/* messages behind it that all shards have */
	uint32_t number, count;	/* of how many; 0: no such message */
	uint32_t ranks, *of;	/* the shard of each rank */
};
/* Of the stream being read, once its first message is; NULL where it is no shard. */
const struct shard_head *reader_shard(const struct reader *in);
/* Of one of the shards of the folder that is read; NULL where it is no folder. */
const struct shard_head *reader_folder(const struct reader *in);

/* READ_PARTIAL: line I about what of the shards is missing or damaged; NULL behind the last. */
const char *reader_lost(const struct reader *in, size_t i);
/* Command line I of the tools so far; NULL behind the last. */
const char *reader_history(const struct reader *in, size_t i);
/* Others in their place: of the trace whose history counts, where that was read elsewhere. 0 or
 * -1. */
int reader_set_history(struct reader *in, char *const *lines, size_t count);
/* Since the header: messages, and rows of blocks of calls. */
uint64_t reader_messages(const struct reader *in);
uint64_t reader_rows(const struct reader *in);
/* By the stream's number of a call, all 65536: the index of call_name, 0: none. And back. */
const uint16_t *reader_calls(const struct reader *in);
const uint16_t *reader_call_numbers(const struct reader *in);
/* Where the next message begins. */
uint64_t reader_offset(const struct reader *in);
/* How much of the file that is, from 0 to 1; 0 where there is no telling. */
double reader_share(const struct reader *in);

/* Sets the sticky reason at the message's offset; returns -1. */
int reader_fail(struct reader *in, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* An error where the content is not the one that the tool reads. */
int reader_need_content(struct reader *in, const char *content);
/* An error, "a CONTENT; HINT", where it is the one that is too early for the tool. */
int reader_refuse_content(struct reader *in, const char *content, const char *hint);

/* Number NUMBER is the call of this name, as a message of kind call says. 0 or -1. */
int reader_name_call(struct reader *in, uint16_t number, const char *name);

/* ---- going elsewhere ---- */

/* Goes on at another message of a file, or fails on a pipe; the end's counts are not checked
 * then. */
void reader_jump(struct reader *in, uint64_t offset);
/* Back to the first byte of a file, for a second pass that knows the names of calls. 0 or -1. */
int reader_rewind(struct reader *in);
/* False: a pipe, which has no second pass, but reader_spool first copies it into FD, an empty
 * file. */
bool reader_is_seekable(const struct reader *in);
int reader_spool(struct reader *in, int fd);
/* Closes the file, and goes on with raw traces of the same run in FILE. Names and history stay. */
void reader_leave(struct reader *in);
int reader_go_on(struct reader *in, const char *file);
/* Goes on at OFFSET of FILE, which the caller has opened as FD and closes, in the midst of a raw
 * trace. */
void reader_turn(struct reader *in, const char *file, int fd, uint64_t offset);
/*
 * Of the block of calls just returned, COUNT rows from row FROM on become all that it has, where
 * its rows can be read apart: 1, else 0, and all of it is there. Its hash is not checked. -1:
 * error.
 */
int reader_narrow(struct reader *in, struct message *message, size_t from, size_t count);
/* READ_SKIMMING: how large the next message may be, to have it without holes; 0: no knowing. */
void reader_hint(struct reader *in, size_t bytes);

/* ---- values of a message ---- */

/* The value of KEY, or NULL. */
const msgpack_object *body_get(const struct message *message, const char *key);

/* Required values: 0, or -1 with the reason "KIND: KEY is missing" or "... is out of range". */
int body_int(struct reader *in, const struct message *message, const char *key,
    int64_t min, int64_t max, int64_t *value);
int body_uint(struct reader *in, const struct message *message, const char *key, uint64_t *value);
/*
 * The number of something that is being defined, from MIN on. Arrays are indexed with such numbers,
 * so that they must not be much larger than what has been read (trace.5, NUMBERS).
 */
int body_number(struct reader *in, const struct message *message, const char *key, int64_t min,
    uint32_t *value);
/* How many values COLUMN has, as KEY says: believed only if the column has a byte for each. */
int body_count(struct reader *in, const struct message *message, const char *key, int64_t min,
    int64_t max, const char *column, size_t *count);
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

enum { MOST_CUTS = 96, MOST_PLANES = 16 };	/* of a message that is compressed */

struct plane {			/* a stretch of bytes that is integers, whose bytes lie apart */
	uint32_t begin;		/* its first byte */
	uint32_t count, width;	/* how many, and bytes of each */
};

struct writer {
	int fd;
	msgpack_sbuffer buffer;		/* messages not yet written to fd */
	msgpack_packer pack;
	size_t message_begin;		/* of the message being built, in buffer */
	uint64_t messages, rows;	/* so far; calls_write counts rows */
	uint64_t flushed;		/* bytes that fd has got */
	uint64_t index_offset;		/* of the message of kind index; 0: none */
	struct plane planes[MOST_PLANES];	/* of what is in buffer, for put_compressed() */
	unsigned plane_count;
	size_t column_bytes;		/* of the column put last */
	/* where put_compressed() begins to count frequencies anew */
	uint32_t cuts[MOST_CUTS];
	unsigned cut_count;
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
void put_bool(struct writer *out, const char *key, bool value);
void put_double(struct writer *out, const char *key, double value);
void put_string(struct writer *out, const char *key, const char *value);
void put_bytes(struct writer *out, const char *key, const void *bytes, size_t size);
void put_column(struct writer *out, const char *key, struct column_type type, const void *values,
    size_t count);
int message_end(struct writer *out);

/* The column put last: its bytes may lie apart where the message is compressed. */
void column_apart(struct writer *out, size_t count);
/* What is put next has other frequencies than what is before it in the buffer; AT: where that
 * begins. */
void writer_cut(struct writer *out, size_t at);
/* The whole messages that HELD has in memory, compressed at LEVEL into one of kind zstd; the caller
 * counts them. */
int put_compressed(struct writer *out, struct writer *held, int level);

/*
 * Passes a message on as it was read; ROWS it holds (0 unless it is a block of calls). An index is
 * dropped, its offsets are those of the stream that was read; so is what says that that was a
 * shard.
 */
int writer_pass(struct writer *out, const struct message *message, uint64_t rows);

/* The messages that MORE holds in memory. 0 or -1; and a hash of their bytes. */
int writer_append(struct writer *out, const struct writer *more);
uint64_t writer_hash(const struct writer *out);

int writer_flush(struct writer *out);
/* Where the next message begins, in bytes from the header. */
uint64_t writer_offset(const struct writer *out);
/* Writes the end message and everything still buffered, and closes the file. 0 or -1. */
int writer_end(struct writer *out);
/* The same, but the file stays open; MORE: of a raw trace whose next segment follows somewhere. */
int writer_end_of(struct writer *out, bool more);

/* Frees the buffer without an end message. */
void writer_close(struct writer *out);

#endif
