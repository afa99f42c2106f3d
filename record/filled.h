/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks of a raw trace that its rank still writes; those that are full get their hashes. */
#ifndef FILLED_H
#define FILLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct filled {
	int fd;			/* -1: there is nothing more to do */
	dev_t device;
	ino_t inode;
	uint64_t at;		/* where the next message begins */
	uint64_t size;		/* of the file */
	uint64_t blocks;	/* seen so far */
	uint64_t block_bytes;	/* of the last one */
	uint64_t served;	/* the caller's: blocks that it has seen to, and when */
	int64_t served_ns;
	struct known_block *last;	/* of each thread, which may get more rows */
	size_t count, capacity;
	struct known_block *full;	/* whose hashes were not looked at yet */
	size_t full_done, full_count, full_capacity;
	bool ended;		/* the rank has written its end */
};

/* False: not a file. */
bool filled_open(struct filled *trace, const char *path);
void filled_close(struct filled *trace);
/* Looks for messages that have come. */
void filled_look(struct filled *trace);
/* Of the blocks seen that get no more rows at most so many get the hashes that they lack; returns how many. */
size_t filled_hash(struct filled *trace, size_t most);

#endif
