/* SPDX-License-Identifier: BSD-3-Clause */
/* The raw trace as a file, and those who write to it: file.c, blocks.c, guard.c; any thread may. */
#ifndef FILE_H
#define FILE_H

#include <pthread.h>
#include <sys/types.h>

#include "rows.h"
#include "small.h"

/*
 * A trace begins without a name, which it gets when it says what rank it is of: so nobody finds one
 * that does not. False: recording was given up.
 */
bool file_begin(const char *folder, int rank);
bool file_is_first(void);	/* takes the name; false: another run of this folder has it */
/* takes it from the trace of an earlier run, if need be */
void file_name(const char *folder, int rank);
void file_close(struct thread *threads);

/*
 * A file of it. Where the trace is to be compressed while the program runs it is one of several
 * segments, each a raw trace of its own: the next one begins when this is full, and this ends when
 * no thread has a block in it.
 */
struct segment {
	unsigned number;	/* from 0 */
	unsigned blocks;	/* open in it */
	int fd;			/* for file_fd() alone: the program may have closed or taken it */
	dev_t device;		/* what the file is known by */
	ino_t inode;
	char path[4096];
	uint64_t tail;		/* where the next message goes */
	uint64_t reserved;	/* bytes of the file that the disk has promised */
	uint64_t zeroed;	/* bytes of the file that were written to */
	uint64_t messages, rows;
};

struct raw_file {
	struct segment *now;	/* where messages go */
	pthread_mutex_t lock;	/* of all of it */
};
extern struct raw_file raw;

/*
 * The descriptor, after a look whether it still is that of the file, and the file as long as it was
 * made; -1: it is not, and recording was given up. Every system call on the file takes it from
 * here.
 */
int file_fd(void);
/* Has the disk promise the file's bytes up to END; 0 or why it does not. */
int file_promise(uint64_t end);
/*
 * Room for SIZE bytes at the tail and a zero behind them. The disk promises it now, so that a store
 * into a mapping cannot fail later. False: recording was given up, as of file_write.
 */
bool file_reserve(size_t size);
bool file_write(const unsigned char *bytes, size_t size, uint64_t offset);
/* No more goes into this segment; it ends now, or with the last block that is open in it. */
void segment_next(void);
/* Of one that nobody writes to any more. MORE: others follow. */
void segment_end(struct segment *segment, bool more);
void small_write(struct small *small);	/* small_append where the lock is held */

/* blocks.c: no more rows into it; it gets its hash. */
void block_close(struct block *block);
/* A message at the tail by plain stores, its first byte last. False: recording was given up. */
bool mapped_write(const unsigned char *bytes, size_t size);
void mapping_leave(const struct segment *segment);	/* no more messages there */

/*
 * guard.c: mappings of the file whose pages may go away under the program: when somebody cuts the
 * file, or its disk fails. A store into such a page ends recording, not the program.
 */
struct guarded;
struct guarded *guard_add(void *map, size_t size);	/* NULL: no memory */
void guard_remove(struct guarded *guarded);
void guard_begin(void);
void guard_end(void);

#endif
