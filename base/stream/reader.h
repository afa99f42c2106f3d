/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader as its parts see it. bytes.c: bytes of a file. message.c, skim.c: bytes become
 * messages. next.c: from one message to the next. shards.h: a folder of shards, each with a reader
 * of its own.
 */
#ifndef READER_H
#define READER_H

#include "bytes.h"
#include "stream.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "columns are little-endian in a stream and are not swapped here"
#endif

/*
 * What a stream states is believed as far as it has bytes for it (trace.5, NUMBERS), so that memory
 * follows the size of the input: what small runs have is free, and every further one takes some
 * bytes.
 */
enum {
	NUMBERS_FREE = 1 << 16,		/* sites, communicators, modules */
	LOCATIONS_FREE = 1 << 14,
	NUMBER_BYTES = 16,
	/* bytes that a message of kind zstd may hold whatever its size */
	INFLATED_FREE = 1 << 24,
	INFLATED_FACTOR = 64,
};

/* What the streams of a run say alike: those of its ranks, or of its shards. */
struct known {
	uint16_t call_map[65536];	/* number in the stream -> index of call_name */
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
	void (*waiting)(void *context);	/* before the input makes it wait; NULL: nobody asks */
	void *waiting_context;
	/* messages */
	msgpack_unpacked unpacked;
	enum { NOT_STARTED, IN_STREAM, BETWEEN } state;	/* before the first header; behind an end */
	bool raw;			/* accept what only raw traces have */
	bool all;			/* reader_next returns headers and ends, too */
	bool lazy;			/* READ_LAZY */
	bool growing;			/* READ_GROWING */
	bool jumped;			/* see reader_jump */
	bool hashed;			/* header says that every message carries its hash */
	char content[16];		/* "raw", "trace", "graph", ... */
	uint64_t messages, rows;	/* so far, to check the end message */
	struct known *known;
	char error[200];		/* empty while all is well */
	int64_t error_offset;		/* -1: it has no place */
	/* shards */
	struct shard_head shard;	/* of the stream being read, where it is a shard */
	uint64_t rows_before;		/* rows in shards before it */
	bool more_shards;		/* there was one before it */
	/* it is one of a folder that is read; known is the folder's */
	bool of_folder;
	struct shards *shards;		/* a folder of them is read; NULL: a stream */
};

/* reader_open with what other streams of the run have said; NULL: nothing. */
int reader_open_known(struct reader **opened, const char *file, enum reading how,
    struct known *known);

/* More bytes of the input. 1: got some, 0: there are no more, -1: error. */
int reader_more(struct reader *in);
/* errno said why the input cannot be read. -1. */
int reader_fail_input(struct reader *in, uint64_t offset);

/* next.c: between streams: the first message of the next one, as message_take returns it. */
int next_stream(struct reader *in, struct message *message);
void forget_history(struct known *known);

/* Takes the next message. 1: done, 0: nothing left, -1: error. */
int message_take(struct reader *in, struct message *message);
/* A message of many rows, as most are. */
bool message_is_block(const struct message *message);
int message_check_hash(struct reader *in, const struct message *message);

enum { SKIM_BYTES = 1 << 14 };	/* asked of the kernel at once by a reader that skims */
/*
 * Brings the message that begins at the unread part into the buffer where it is a block of calls as
 * writers make them: its small values, and of each column the beginning; the rest is a hole.
 * Anything else, damage included, is left for the reader to read whole.
 */
void skim(struct reader *in);

/* column.c: the bytes of integers apart and together; ROOM has as many bytes as the integers. */
void planes_apart(unsigned char *bytes, const struct plane *plane, unsigned char *room);
void planes_together(unsigned char *bytes, const struct plane *plane, unsigned char *room);

#endif
