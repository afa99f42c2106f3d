/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that goes on: its raw traces as far as they are read (tails.c), and what goes out of them
 * (follow.c). */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "../base/stream/open_call.h"
#include "definitions.h"
#include "scan.h"

#define SECOND_NS INT64_C(1000000000)

/* A block that has rows that are still to be read. */
struct piece {
	size_t segment;
	uint64_t place;		/* in its file */
	uint64_t first;
	uint32_t rows;		/* that were there when it was looked at */
	/* where it says how many, and the open call, from its first byte; 0: nowhere */
	uint32_t count_at, open_at;
};

/* A thread of a rank. */
struct lane {
	struct piece *pieces;
	size_t begin, count, capacity;	/* those from BEGIN on */
	uint64_t next;		/* row to be read next */
	struct calls rows;	/* that are read, of which FROM have gone out */
	size_t from;
	struct open_call open;	/* as it was when the folder was looked at last */
	/* enter of the call that it is in at the end of the step; or that end */
	int64_t open_ns;
	uint16_t open_call;
};

/* The raw trace of a rank. */
struct tail {
	char *path;		/* of the first segment */
	struct segment {
		int fd;		/* -1: all of it is read */
		char *path;
	} *segments;
	size_t segment_count, segment_capacity;
	uint64_t offset;	/* of what has not been looked at, in the last of them */
	struct scan scan;
	int64_t pid;
	bool gone;		/* its process is, or its trace has ended */
	struct lane *lanes;
	size_t lane_count;
};

struct follow {
	struct input *input;
	const char *folder;
	char host[256];
	struct tail *tails;
	size_t tail_count, tail_capacity;
	struct tail **by_rank;
	struct calls read;	/* a piece */
	struct writer out;
	struct later *later;
	/* what has returned before this, on the trace's clock, has gone out */
	int64_t step_ns;
	int64_t last_ns;	/* the last leave that has */
	int64_t moved_ns;	/* when a trace was seen to grow last */
	bool over;		/* the traces will not grow any more */
	bool told;		/* of a thread that is left out */
};

/* ---- tails.c ---- */

int64_t now_ns(void);
/* What is new: traces, their messages, rows in blocks, and processes that are gone. */
void tails_look(struct follow *f);
/* The lane of a thread, which may be new. */
struct lane *lane_at(struct tail *tail, size_t location);
/* The next message from OFFSET of the segment on, as it is now. */
void read_at(struct follow *f, const struct segment *segment, uint64_t offset,
    struct message *message);
/* More rows of the thread, behind those that are there. False: there are none. */
bool read_rows(struct follow *f, struct tail *tail, struct lane *lane);
/* Segments that are read to their end. */
void close_segments(struct tail *tail);

#endif
