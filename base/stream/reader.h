/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader as its own sources see it. bytes.c reads bytes; message.c and skim.c make messages of
 * them; next.c goes from message to message; shards.h has a reader for each shard of a folder.
 */
#ifndef READER_H
#define READER_H

#include <string.h>

#include "bytes.h"
#include "stream.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "columns are little-endian in a stream and are not swapped here"
#endif

/*
 * Numbers in a stream are believed as far as its size supports them (trace.5, NUMBERS), so that
 * memory follows the size of the input. Small numbers are free; each further location, site or
 * the like takes some bytes.
 */
enum {
	NUMBERS_FREE = 1 << 16,		/* sites, communicators, modules */
	LOCATIONS_FREE = 1 << 14,
	NUMBER_BYTES = 16,
	INFLATED_FREE = 1 << 24,	/* bytes that any message of kind zstd may hold */
	INFLATED_FACTOR = 64,
};

/* What the streams of a run share: the raw traces of its ranks, or its shards. */
struct known {
	uint16_t call_map[65536];	/* number in the stream to index of call_name */
	uint16_t call_number[65536];	/* and back */
	char **history;			/* command lines of the tools so far */
	size_t history_count;
	uint32_t site_end;		/* sites from here on are not defined */
};

struct reader {
	/* bytes */
	const char *file;		/* for messages; "standard input" */
	struct buffer input;
	struct buffer inflated;		/* what a message of kind zstd held; in no file */
	uint64_t inflated_offset;	/* where that message lay in the input */
	uint64_t inflated_bytes;	/* in all such messages so far */
	bool skims, hollow;		/* READ_SKIMMING; the last message has holes */
	void (*waiting)(void *context);	/* called before the input blocks; NULL: none */
	void *waiting_context;
	/* messages */
	msgpack_unpacked unpacked;
	enum { NOT_STARTED, IN_STREAM, BETWEEN } state;	/* no header yet; after an end */
	bool raw;			/* accept what only raw traces have */
	bool all;			/* reader_next returns headers and ends, too */
	bool lazy;			/* READ_LAZY */
	bool growing;			/* READ_GROWING */
	bool jumped;			/* see reader_jump */
	bool hashed;			/* the header says that every message has a hash */
	char content[16];		/* "raw", "trace", "graph", ... */
	uint64_t messages, rows;	/* so far, to check the end message */
	struct known *known;
	char error[200];		/* empty while all is well */
	int64_t error_offset;		/* -1: no place */
	/* shards */
	struct shard_head shard;	/* of the stream being read, if it is a shard */
	uint64_t rows_before;		/* rows in shards before it */
	bool more_shards;		/* a shard came before it */
	bool of_folder;			/* it is a shard of a folder, which owns known */
	struct shards *shards;		/* of the folder being read; NULL: a stream */
};

/* reader_open that shares KNOWN with other streams of the run; NULL: with none. */
int reader_open_known(struct reader **opened, const char *file, enum reading how,
    struct known *known);

static inline bool
has_text(const msgpack_object *object, const char *text, size_t length)
{
	return object->type == MSGPACK_OBJECT_STR && object->via.str.size == length &&
	    memcmp(object->via.str.ptr, text, length) == 0;
}

static inline bool
is_text(const msgpack_object *object, const char *text)
{
	return has_text(object, text, strlen(text));
}

/* Reads more bytes of the input. 1: got some, 0: there are no more, -1: error. */
int reader_more(struct reader *in);

/* next.c: between streams, the first message of the next one, as message_take returns it. */
int next_stream(struct reader *in, struct message *message);
void forget_history(struct known *known);

/* Takes the next message. 1: done, 0: nothing left, -1: error. */
int message_take(struct reader *in, struct message *message);
/* A message of many rows. */
bool message_is_block(const struct message *message);
int message_check_hash(struct reader *in, const struct message *message);

#define MESSAGE_LIMIT ((size_t)1 << 31)	/* bytes; a longer message counts as damage */

enum { SKIM_BYTES = 1 << 14 };	/* asked of the kernel at once by a reader that skims */
/*
 * Brings the next message into the buffer if it is a block of calls as our writers make them: its
 * small values and the beginning of each column; the rest is a hole. The reader reads anything
 * else, damage included, as a whole.
 */
void skim(struct reader *in);

/* column.c: take the bytes of integers apart and put them together; ROOM: as many bytes. */
void planes_apart(unsigned char *bytes, const struct plane *plane, unsigned char *room);
void planes_together(unsigned char *bytes, const struct plane *plane, unsigned char *room);

#endif
