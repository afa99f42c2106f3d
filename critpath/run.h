/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a graph stream stretch by stretch: all of them, or some in the middle. */
#ifndef RUN_H
#define RUN_H

#include "dag.h"

/* A part of the stretches, and where to find it in a file. */
struct part {
	uint64_t from, to;		/* the first one, and the first that is not in it */
	uint64_t from_at, to_at;	/* offsets of the points where these begin; 0: an end of the run */
	uint64_t offset;		/* its rows do not begin before */
	uint64_t stretch;		/* that the stream is in at the offset */
	uint64_t defined;		/* no definition comes after; 0: not known */
};

struct run {
	struct reader in;
	struct definitions known;
	struct window window;
	struct calls calls;		/* the block read last */
	struct edge_block edges;
	struct member *members;		/* of one instance */
	uint32_t *waits_for;
	size_t member_capacity, wait_capacity;
	bool keeps_instances;
	struct instances instances;	/* where they are kept: collectives of the stretch, or later */
	uint64_t *first_seq, *end_seq;	/* of the stretch being read */
	int64_t begin_ns;
	uint64_t stretch;		/* its number, from 0 */
	struct part part;
};

/* Opens FILE for all stretches. */
void run_open(struct run *run, const char *file);
/* Opens a file for some of them, or for all. */
void run_open_part(struct run *run, const char *file, const struct part *part);
/* Opens a file for none: the caller takes what he wants besides definitions, and verifies it. */
void run_open_lazy(struct run *run, const char *file);
/* The next message: false at the end of the stream, or of the part. */
bool run_next(struct run *run, struct message *message);
/* Takes it; true where it ends a wanted stretch, whose last event is then in LAST. */
bool run_take(struct run *run, const struct message *message, struct event *last);
/* After the last message: the same for the last stretch. */
bool run_end(struct run *run, struct event *last);
/* The stretch that has ended. */
struct stretch run_stretch(const struct run *run, const struct team *team, struct event last);
/* Forgets its rows and goes on to the next one. */
void run_advance(struct run *run);

#endif
