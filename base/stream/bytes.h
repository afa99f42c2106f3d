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
	size_t few_bytes;		/* unless 0: ask for this many, or as many as are unread */
	bool by_offset;			/* bytes are read by offset, wherever fd stands */
	bool lent;			/* the caller closes fd */
	bool eof;
};

/* Offsets in the input: of the next byte, and of the end of the bytes read. */
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

/* Lets a pipe hold 512 KB; does nothing to other files. */
void widen_pipe(int fd);
/* FILE: NULL or "-" is standard input; a file by name is read by offset. 0 or -1. */
int buffer_open(struct buffer *b, const char *file);
void buffer_close(struct buffer *b);
/* Makes room for BYTES behind bytes[end]; the unread part may move. 0 or -1. */
int buffer_room(struct buffer *b, size_t bytes);
/* Reads more bytes behind bytes[end]. 1: got some, 0: there are no more, -1: error. */
int buffer_more(struct buffer *b);
/* Continues at OFFSET. 0; -1: it is a pipe or the like. */
int buffer_seek(struct buffer *b, uint64_t offset);
/* Reads bytes at OFFSET of the file again. 0 or -1; errno 0: the file has shrunk. */
int buffer_again(const struct buffer *b, void *to, size_t size, uint64_t offset);
/* Copies the unread bytes and all that follow to the file FD, and continues there. 0 or -1. */
int buffer_spool(struct buffer *b, int fd);
/* The size of the file; -1: it is a pipe or the like. */
int64_t buffer_file_bytes(const struct buffer *b);

/* The integer behind a marker of msgpack, for bytes that are looked at without unpacking. */
static inline uint64_t
big_endian(const unsigned char *bytes, size_t count)
{
	uint64_t value = 0;

	for (size_t i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

#endif
