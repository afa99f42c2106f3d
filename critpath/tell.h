/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool's state, and how it tells the path, in whichever form. */
#ifndef TELL_H
#define TELL_H

#include "../base/path/output.h"
#include "distance.h"
#include "options.h"

/*
 * Pieces of a stretch that has not ended, in an unnamed file, and all of them when it has; so a stream does
 * not depend on when the pieces were known. FILE begins as zeros.
 */
struct segment_file {
	FILE *file;		/* NULL: not needed so far */
	size_t count;
};
void segment_file_add(struct segment_file *file, const struct segments *segments);

struct critpath {
	struct options opt;
	struct team team;
	struct part part;		/* of --part */
	struct run run;
	struct output output;
	struct segments segments;	/* of one stretch, or of a part of it */
	struct segment_file early;	/* of the stretch, before it has ended */
	struct functions functions;
	struct distance distance;	/* of --distance */
};

/* Into the sums, and into a stream: the rest of a stretch, or all of it. */
void put_segments(struct critpath *c, const struct segments *segments);
void end_output(struct critpath *c);
/* What an approximate path lacks, when all else is out. */
void tell_gaps(const struct critpath *c);

/*
 * decided.c: after a message that was taken, true where the path up to an event of the stretch is known
 * whatever comes, and far enough to be worth it; the event is in TO. Then run_stretch gives the way to it,
 * and run_go_on forgets the rows that nothing needs any more.
 */
bool run_decided(struct run *run, const struct message *message, struct event *to);
void run_go_on(struct run *run, struct event from);

#endif
