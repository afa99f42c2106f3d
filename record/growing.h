/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A raw trace that its rank still writes, and how what is complete in it gives way to what is smaller, so
 * that the file is a whole trace at every instant and nothing of it is there twice or not at all.
 *
 * Where the recorder is told to, a message of kind spare stands in the file in front of the blocks: room
 * (trace.5, RAW TRACES). What takes the place of the messages behind it is written into that room, with
 * the head of another spare behind it that reaches over those messages to the end of their last one, whose
 * key of the hash becomes its own. All of it counts as soon as the length of the first spare, four bytes,
 * is stored, in one store: then what it had in it are messages, and the others are room, of which the disk
 * gets the pages back. The rank never writes to any of these bytes, and waits for none of it.
 *
 * Memory: 40 bytes for each message that is not compressed yet, and for each stretch between those of several threads.
 */
#ifndef GROWING_H
#define GROWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct growing {
	int fd;			/* -1: it is left alone from now on */
	dev_t device;
	ino_t inode;
	uint64_t at;		/* where the next message begins */
	struct item *items;	/* messages, in order, from the first spare on */
	size_t count, capacity;
	bool ended;		/* the rank has written its end */
};

/* Messages that can give way, behind a spare. */
struct stretch {
	size_t spare, last;	/* items */
	size_t bytes;		/* of all but spares */
	uint64_t fewer;		/* messages that the spares among them stand for */
};

enum { STRETCH_BYTES = 1 << 19 };	/* that are worth it */

/* False: not a trace, or the file system cannot give pages back. */
bool growing_open(struct growing *g, const char *path);
void growing_close(struct growing *g);
/* Looks for messages that have come. False: it ended, or is left alone. */
bool growing_look(struct growing *g);
/* The first stretch of STRETCH_BYTES and more; false: there is none. */
bool growing_stretch(const struct growing *g, struct stretch *stretch);
/* Its messages, with a zero behind the last; NULL: that failed. The caller frees it. */
unsigned char *growing_read(struct growing *g, const struct stretch *stretch);
/* SIZE bytes of messages, FEWER less than these were, take their place, where there is room. */
void growing_replace(struct growing *g, const struct stretch *stretch, const void *bytes, size_t size,
    uint64_t fewer);

#endif
