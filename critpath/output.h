/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that lp-critpath adds to a stream (lp-trace(5)); output errors end the tool. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "whatif.h"

/* Pieces of the path, or of the alternative NUMBER from 1; names of calls are those of IN. */
void write_segments(struct writer *out, const struct reader *in, int number,
    const struct segments *segments);
/*
 * The same in portions: pieces of a stretch that has not ended, in an unnamed file, and all of them when
 * it has; so a stream does not depend on when the pieces were known. FILE begins as zeros.
 */
struct segment_file {
	FILE *file;		/* NULL: not needed so far */
	size_t count;
};
void segment_file_add(struct segment_file *file, const struct segments *segments);
void segment_file_write(struct segment_file *file, struct writer *out, const struct reader *in);
void write_slack(struct writer *out, const struct slack_rows *rows);
/* What each call site would gain, of the whole run. */
void write_gains(struct writer *out, const struct whatif *whatif);

#endif
