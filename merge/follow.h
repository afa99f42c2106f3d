/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run that continues: its raw traces as far as they are read (tails.c), and the output
 * (follow.c).
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "../base/stream/open_call.h"
#include "../base/tool/process.h"
#include "definitions.h"

#define SECOND_NS INT64_C(1000000000)

/* Where a message is. */
struct message_place {
	size_t segment;
	uint64_t offset;	/* in its file */
	unsigned within;	/* messages before it that are compressed with it */
};

/* A block with unread rows. */
struct piece {
	struct message_place place;
	uint64_t first;
	uint32_t rows;		/* at the last look */
	/* offsets in the block of its row count and open call; 0: none */
	uint32_t count_at, open_at;
};

/* Blocks of regions of a thread: those before AT are written, and TAKEN events of that one. */
struct lane_regions {
	struct message_place *pieces;
	size_t at, count, capacity;
	size_t taken;
	int64_t floor_ns;	/* the last one's time, own clock */
	int64_t written_ns;	/* all before this are written; own clock */
	bool placed;		/* one is written: they stay where that one is */
	uint32_t location, worker;	/* worker 0: at the thread's own location */
	struct open_regions open;
};

/* A thread of a rank. */
struct lane {
	struct piece *pieces;
	size_t begin, end, capacity;	/* [begin, end) are unread */
	uint64_t next;		/* row to be read next */
	struct calls rows;	/* rows read; those before FROM are written */
	size_t from;
	bool unsure;		/* the last of these may get more calls */
	struct open_call open;	/* as of the last look at the folder */
	int64_t last_leave_ns;	/* of the rows read so far */
	struct lane_regions regions;
};

/* The last block of the thread so far; NULL: none. */
static inline struct piece *
last_piece(const struct lane *lane)
{
	return lane->begin < lane->end ? &lane->pieces[lane->end - 1] : NULL;
}

/* The number of the thread's rows so far. */
static inline uint64_t
rows_seen(const struct lane *lane)
{
	const struct piece *last = last_piece(lane);

	return last != NULL ? last->first + last->rows : 0;
}

/* The raw trace of a rank. */
struct tail {
	char *path;		/* of the first segment */
	struct segment {
		int fd;		/* -1: all of it is read */
		char *path;
	} *segments;
	size_t segment_count, segment_capacity;
	uint64_t offset;	/* in the last segment: bytes behind it are not read */
	unsigned within;	/* messages taken at this offset */
	struct scan scan;
	/* Blocks of samples, from sample_at on: those before are read. */
	struct sample_piece {
		struct message_place place;
		int64_t look_ns;	/* when the recorder read its rings; own clock */
	} *samples;
	size_t sample_at, sample_count, sample_capacity;
	int64_t sampled_ns;	/* look_ns of the last one that is read */
	int64_t pid;
	int32_t number;		/* of its rank */
	bool gone;		/* its process is gone, or its trace has ended */
	struct lane *lanes;
	size_t lane_count;
};

struct follow {
	struct input *input;
	const struct options *opt;
	const char *empty;	/* a folder without a trace so far; NULL: none */
	int64_t worlds_ns;	/* of the last look for spawned processes */
	char host[256];
	struct tail *tails;
	size_t tail_count, tail_capacity;
	struct tail **by_rank;
	struct calls read;	/* a piece */
	struct samples regions, regions_left;	/* a piece, and what is left of it */
	struct nesting nesting;
	struct source source;	/* of samples: the reader of the input */
	struct sample_pass sampled;
	struct writer out;
	struct later *later;
	int64_t step_ns;	/* on the trace's clock: all that returned before is written */
	int64_t last_ns;	/* the latest leave written */
	int64_t begun_ns;	/* when following began, on the clock of this host */
	int64_t moved_ns;	/* when a trace last grew */
	int64_t held_ns;	/* since when steps wait for a row; 0: they do not */
	bool over;		/* the traces will not grow any more */
	bool told;		/* of a thread that is left out */
	bool spawned;		/* the run has spawned processes since the begin */
};

/* follow.c: converts from the trace's clock to the rank's own. */
int64_t own_ns(const struct follow *f, int32_t rank, int64_t at_ns);

/* ---- regions.c ---- */

/* Writes regions of the thread from before UNTIL_NS of its own clock. */
void regions_before(struct follow *f, struct tail *tail, struct lane *lane, int64_t until_ns);
/* Ends what is open when the run has ended. */
void regions_end(struct follow *f);

/* ---- tails.c ---- */

/* Dies if a world that is over has met no other. */
void tails_refuse(const struct follow *f);
/* Reads new traces, messages and rows of blocks; notes processes that are gone. */
void tails_look(struct follow *f);
/* The lane of a thread, added if missing. */
struct lane *lane_at(struct tail *tail, size_t location);
/* The message there, as it is now. */
void read_at(struct follow *f, const struct tail *tail, struct message_place place,
    struct message *message);
/*
 * Whether the recorder has read its rings at that time or later, on the rank's own clock, and not
 * after LATEST_NS.
 */
bool is_sampled(const struct tail *tail, int64_t at_ns, int64_t latest_ns);
/* Reads samples until those from before AT_NS are read, but of no later look than LATEST_NS. */
void read_samples(struct follow *f, struct tail *tail, int64_t at_ns, int64_t latest_ns);
/*
 * Reads more rows of the thread, after those it has. False: there are none. Rows left before
 * FINAL_NS, on the rank's clock, do not change any more; forget_unsure removes one that may.
 */
void forget_unsure(struct lane *lane);
bool read_rows(struct follow *f, struct tail *tail, struct lane *lane, int64_t final_ns);
/* Whether the row of the thread's last call is there, if it was entered before UNTIL_NS. */
bool is_complete(struct follow *f, struct tail *tail, struct lane *lane, int64_t until_ns);
/* Closes segments that are read to their end. */
void close_segments(struct tail *tail);

#endif
