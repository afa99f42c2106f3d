/* SPDX-License-Identifier: BSD-3-Clause */
/* The raw trace as a file, for those who write to it: file.c, blocks.c. */
#ifndef FILE_H
#define FILE_H

#include "recorder.h"

struct raw_file {
	int fd;
	char path[4096];
	uint64_t tail;		/* where the next message goes */
	uint64_t reserved;	/* bytes of the file that the disk has promised */
	uint64_t zeroed;	/* bytes of the file that were written to */
	uint64_t messages, rows;
	pthread_mutex_t lock;	/* of all of it */
};
extern struct raw_file raw;

/* Has the disk promise the file's bytes up to END; 0 or why it does not. */
int file_promise(uint64_t end);
/*
 * Room for SIZE bytes at the tail and a zero behind them. The disk promises it now, so that a store
 * into a mapping cannot fail later. False: recording was given up, as of file_write.
 */
bool file_reserve(size_t size);
bool file_write(const unsigned char *bytes, size_t size, uint64_t offset);
void small_write(struct small *small);	/* small_append where the lock is held */

/* blocks.c: no more rows into it; it gets its hash. */
void block_close(struct block *block);

#endif
