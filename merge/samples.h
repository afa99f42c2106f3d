/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples on their way into the trace. Memory: of each rank those between the last leave that has gone
 * out and the recorder's next look at its rings, or in a compressed trace those that go with 16384 calls;
 * where the threads of a rank call at other times than each other, those of the time between.
 */
#ifndef MERGE_SAMPLES_H
#define MERGE_SAMPLES_H

#include "../base/stream/samples.h"
#include "source.h"

struct sample_pass {
	const struct input *input;
	struct writer *out;
	struct source *source;		/* that of the calls, in turn */
	struct rank_samples *ranks;
	struct samples block;		/* as read */
	int64_t moved_ns;
};

/* What the logical clock has made of a block of calls, times since the origin; count 0: nothing. */
struct moves {
	size_t count;
	const int64_t *enter_ns, *leave_ns, *moved_enter_ns, *moved_leave_ns;
	int64_t from_ns, from_moved_ns;	/* the last leave of the block before, if there was one */
	bool begun;
};

/* MOVED_NS: by what all is moved, since shifts have moved the first enter. */
void samples_begin(struct sample_pass *pass, struct writer *out, struct source *source,
    int64_t moved_ns);
/*
 * Writes the location's samples from before UNTIL_NS, its own clock, that have not gone out yet;
 * INT64_MAX: all that are left.
 */
void samples_before(struct sample_pass *pass, uint32_t location, int64_t until_ns,
    const struct moves *moves);
void samples_end(struct sample_pass *pass);

#endif
