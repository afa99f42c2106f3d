/* SPDX-License-Identifier: BSD-3-Clause */
/* The segments of the critical path, as in messages of kind segments. */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include "definitions.h"

/*
 * START is the time of a rank before MPI_Init: span.h. In a GAP of an approximate path the rank is
 * unknown; the gap is not part of the path's length.
 */
enum segment_kind { COMPUTE, MPI, TRANSFER, START, KINDS, GAP = KINDS };
extern const char *const segment_names[KINDS + 1];

struct segment {
	int64_t begin_ns, end_ns;
	uint32_t location;	/* of a transfer: the receiver */
	uint32_t site;
	uint16_t call;		/* index of call_name; 0 for compute */
	uint8_t kind;		/* enum segment_kind */
	/*
	 * MPI: a test or probe that completed nothing. Compute: asleep between two of them.
	 * Transfer: to a rank that looked for the message late.
	 */
	bool polls;
};

struct segments {
	struct segment *at;
	size_t count, capacity;
	int64_t end_ns;		/* of the last one read, if BEGUN */
	bool begun;
};

/*
 * Appends the segments of a message; undefined sites become 0. -1 with the reason in the reader: a
 * column is missing, a value is out of range, or the path does not continue at its end.
 */
int segments_read(struct segments *segments, struct reader *in, const struct message *message,
    const struct definitions *known);

#endif
