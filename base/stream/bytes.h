/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lowest layer: the bytes of a file or a pipe, read ahead into a buffer. It knows no messages.
 * A function that fails leaves the reason in errno.
 */
#ifndef BYTES_H
#define BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	int fd;				/* -1: none */
	unsigned char *bytes;
	size_t capacity, begin, end;	/* the unread part is begin..end */
	uint64_t offset;		/* of bytes[0] in the input */
	size_t chunk_bytes;		/* asked of the kernel at once */
	size_t few_bytes;		/* if not 0: ask for so many, or as many as are unread */
	bool by_offset;			/* bytes are read from offset on, wherever fd stands */
	bool lent;			/* fd is the caller's */
	bool eof;
};

/* Where the next byte lies in the input, and the end of what has been read. */
static inline uint64_t
buffer_here(const struct buffer *b)
{
	return b->offset + b->begin;
}

static inline uint64_t
buffer_end(const struct buffer *b)
{
	return b->offset + b->end;
}

/* FILE: NULL or "-" is standard input; a file by name is read by offset. 0 or -1. */
int buffer_open(struct buffer *b, const char *file);
void buffer_close(struct buffer *b);
/* Room for so many bytes behind bytes[end]; the unread part may move. 0 or -1. */
int buffer_room(struct buffer *b, size_t bytes);
/* More bytes behind bytes[end]. 1: got some, 0: there are no more, -1: error. */
int buffer_more(struct buffer *b);
/* Goes on at OFFSET. 0; -1: it is a pipe, or the like. */
int buffer_seek(struct buffer *b, uint64_t offset);
/* Bytes at OFFSET of the file again; errno 0: it has shrunk. 0 or -1. */
int buffer_again(const struct buffer *b, void *to, size_t size, uint64_t offset);
/* What is unread, and still to come, goes to the file FD, which is read from now on. 0 or -1. */
int buffer_spool(struct buffer *b, int fd);
/* Bytes of the file; -1: it is a pipe, or the like. */
int64_t buffer_file_bytes(const struct buffer *b);

/* What follows a marker of msgpack, where bytes are looked at and nothing is unpacked. */
static inline uint64_t
big_endian(const unsigned char *bytes, size_t count)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

#endif
