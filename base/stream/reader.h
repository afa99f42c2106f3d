/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the reader share: input.c (bytes), message.c, reader.c (streams). */
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

/* Where the next byte lies in the input. */
static inline uint64_t
input_here(const struct reader *in)
{
	return in->buffer_offset + in->begin;
}

int input_open(struct reader *in, const char *file);
/* 0, or -1 where it is a pipe or the like, which cannot be read more than once. */
int input_is_file(struct reader *in);
/* SIZE bytes in memory become the input; they lay at OFFSET of a file. */
int input_copy(struct reader *in, const void *bytes, size_t size, uint64_t offset);
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

/* Takes the next message. 1: done, 0: nothing left, -1: error. */
int message_take(struct reader *in, struct message *message);
/* A message of many rows, as most are. */
bool message_is_block(const struct message *message);
int message_check_hash(struct reader *in, const struct message *message);

#endif
