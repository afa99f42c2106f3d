/* SPDX-License-Identifier: BSD-3-Clause */
/* The raw trace as a file, written by file.c, blocks.c and guard.c from any thread. */
#ifndef FILE_H
#define FILE_H

#include "rows.h"

/*
 * A trace begins without a name and gets it with the message that says its rank. So every trace
 * that can be found says its rank. Returns false if recording was given up. May be called again
 * with another rank.
 */
bool file_begin(const char *folder, int rank);
/*
 * Lets the kernel enlarge the table of descriptors for the file's number. Once the process has
 * threads, as MPI starts them, the kernel waits for all cores to do this: 10 to 25 ms.
 */
void file_room(void);
bool file_is_first(void);	/* takes the name; false: another run in this folder has it */
/* takes the name, from the trace of an earlier run if necessary */
void file_name(const char *folder, int rank);
void file_close(void);

/*
 * A file of the trace. If the trace is compressed while the program runs, it has several segments,
 * each a raw trace of its own. When one is full, the next begins; the full one ends when no thread
 * has a block open in it.
 */
struct segment {
	unsigned number;	/* counted from 0 */
	unsigned blocks;	/* open blocks */
	int fd;			/* for file_fd() only: the program may have closed or reused it */
	dev_t device;		/* identity of the file */
	ino_t inode;
	char path[4096];
	uint64_t tail;		/* offset of the next message */
	uint64_t reserved;	/* bytes of the file that the disk has allocated */
	uint64_t zeroed;	/* bytes of the file that were written to */
	uint64_t messages, rows;
};

struct raw_file {
	struct segment *now;	/* the segment for new messages */
	pthread_mutex_t lock;	/* protects all members */
};
extern struct raw_file raw;

/*
 * The descriptor, if it still refers to the file and the file has its length; else -1, and
 * recording was given up. Every system call on the file uses it.
 */
int file_fd(void);
/* Allocates the file's bytes up to END on the disk; returns 0 or the error number. */
int file_promise(uint64_t end);
/*
 * Reserves SIZE bytes at the tail and a zero behind them. The disk allocates them now, so a later
 * store into a mapping cannot fail. Returns false if recording was given up, as file_write does.
 */
bool file_reserve(size_t size);
bool file_write(const unsigned char *bytes, size_t size, uint64_t offset);
/* Closes this segment for new blocks; it ends now, or with the last block open in it. */
void segment_next(void);
/* Ends a segment that nobody writes to any more. MORE: others follow. */
void segment_end(struct segment *segment, bool more);

/*
 * blocks.c: room for a block at the tail; returns where its second byte goes, or NULL. Its hash is
 * put at AT, and then it is part of the trace.
 */
unsigned char *block_map(struct block *block, size_t bytes);
/* Of the block after so many rows: the unused end of a trace is at most 1/16 of it. */
uint32_t block_capacity(uint64_t rows, uint32_t least, uint32_t most);
void block_column(unsigned char **at, const char *key, unsigned char **column, uint32_t bytes);
void block_show(struct block *block, unsigned char *at);
/* Ends the block with its hash. USED: another thread may still store to it; it stays open. */
void block_close(struct block *block, bool used);
void segment_go_on(void);	/* if this segment is full */
bool block_is_old(const struct block *block);	/* of an earlier segment */
/* Stores a message at the tail, its first byte last. Returns false if recording was given up. */
bool mapped_write(const unsigned char *bytes, size_t size);
void mapping_leave(const struct segment *segment);	/* no more messages into its mapping */

/*
 * A mapping holds many blocks, to share the cost of the system call. It is unmapped with the last
 * of its blocks.
 */
struct mapping {
	unsigned char *_Atomic map;	/* NULL: it is free */
	_Atomic size_t size;
	struct segment *segment;	/* the file it maps */
	uint64_t begin;		/* in the file */
	unsigned blocks;	/* open blocks, and 1 while the mapping is current */
	struct mapping *next;
};
/* All of them: a signal handler may walk the list at any time, so they are reused, never freed. */
extern struct mapping *_Atomic mappings;

/*
 * guard.c: guards mappings whose pages may vanish when somebody truncates the file or its disk
 * fails. A store into such a page ends recording, not the program.
 */
void guard_begin(void);
void guard_end(void);

#endif
