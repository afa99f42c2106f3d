/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader as its parts see it: reader.c (opening), input.c (bytes), message.c, next.c (from one message
 * to the next), state.c (what it tells).
 */
#ifndef READER_H
#define READER_H

#include "stream.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "columns are little-endian in a stream and are not swapped here"
#endif

/*
 * What a stream states is believed as far as it has bytes for it (trace.5, NUMBERS), so that memory
 * follows the size of the input: what small runs have is free, and every further one takes some bytes.
 */
enum {
	NUMBERS_FREE = 1 << 16,		/* sites, communicators, modules */
	LOCATIONS_FREE = 1 << 14,
	NUMBER_BYTES = 16,
	INFLATED_FREE = 1 << 24,	/* bytes that a message of kind zstd may hold whatever its size */
	INFLATED_FACTOR = 64,
};

struct reader {
	const char *file;		/* for messages; "standard input" */
	int fd;
	unsigned char *buffer;
	size_t capacity, begin, end;	/* bytes; the unread part is begin..end */
	uint64_t buffer_offset;		/* of buffer[0] in the input */
	bool eof;
	bool raw;			/* accept what only raw traces have */
	bool all;			/* reader_next returns headers and ends, too */
	bool started;			/* a header has been read */
	bool jumped;			/* see reader_jump */
	bool by_offset;			/* bytes are read from buffer_offset on, wherever fd stands */
	bool lazy;			/* READ_LAZY */
	bool skims, hollow;		/* READ_SKIMMING; the last message has holes */
	bool names_late;		/* READ_NUMBERED */
	bool lent;			/* fd is the caller's: see reader_turn */
	size_t hint_bytes;		/* how large the next message may be, to have it without holes */
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
	size_t chunk_bytes;		/* asked of the kernel at once */
	struct shard_head shard;	/* of the stream being read, where it is a shard */
	uint64_t rows_before;		/* rows in shards before it */
	bool more_shards;		/* there was one before it */
	bool of_folder;			/* it is one of a folder that is read */
	struct shards *shards;		/* a folder of them is read; NULL: a stream */
	bool placed;			/* the error of such a folder is at a place in the file */
};

/* Where the next byte lies in the input. */
static inline uint64_t
input_here(const struct reader *in)
{
	return in->buffer_offset + in->begin;
}

int input_open(struct reader *in, const char *file);
/* 0, or -1 where it is a pipe or the like, which cannot be read more than once. */
int input_is_file(struct reader *in);
/* SIZE bytes in memory become the input. */
int input_copy(struct reader *in, const void *bytes, size_t size);
int input_rewind(struct reader *in);
void input_close(struct reader *in);
/* Goes on at OFFSET of the file; only of readers by offset. */
void input_seek(struct reader *in, uint64_t offset);
/* Room for so many bytes behind buffer[end]; the unread part may move. 0 or -1. */
int input_room(struct reader *in, size_t bytes);
/* More bytes behind buffer[end]. 1: got some, 0: there are no more, -1: error. */
int input_more(struct reader *in);
/* Skips the unwritten space of a raw trace. 1: something follows, 0: nothing, -1: error. */
int input_skip_zeros(struct reader *in);

/* The holes that skimming left in a message become what the file has there. 0 or -1. */
int input_fill(struct reader *in, const struct message *message);

/* next.c: between streams: the first message of the next one, as message_take returns it. */
int next_stream(struct reader *in, struct message *message);
void forget_history(struct reader *in);

/* Takes the next message. 1: done, 0: nothing left, -1: error. */
int message_take(struct reader *in, struct message *message);
/* A message of many rows, as most are. */
bool message_is_block(const struct message *message);
int message_check_hash(struct reader *in, const struct message *message);

#endif
