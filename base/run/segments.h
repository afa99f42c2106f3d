/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path as lp-critpath writes it: messages of kind segments and sampled_path. */
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
 * Appends the segments of a message; undefined sites become 0. Bad input ends the tool: a column is
 * missing, a value is out of range, or the path does not continue at its end.
 */
void segments_read(struct segments *segments, struct reader *in, const struct message *message,
    const struct definitions *known);

/* ---- the path by function of a run with samples ---- */

/* A function, or a name for the rest of the path such as not_sampled. */
struct function_time {
	const char *name, *file;	/* file NULL: unknown */
	int64_t path_ns, all_ns;	/* on the path; of all computation, by samples */
};

struct function_times {
	struct function_time *at;
	size_t count, capacity;		/* 0: the run was not sampled */
};

/* Adds the places of one message of kind sampled_path as functions. Bad input ends the tool. */
void sampled_path_read(struct function_times *functions, struct reader *in,
    const struct message *message, const struct definitions *known);
/* The texts of MORE live as long as the list. */
void function_times_add(struct function_times *functions, const struct function_time *more);
/* Joins functions with the same name and file name, and sorts by these. */
void function_times_fold(struct function_times *functions);
/* Compares two struct function_time. */
int function_times_compare(const void *left, const void *right);

#endif
