/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_H
#define REGIONS_H

#include "merge.h"

/* Of a thread: the regions that it is in, the innermost last, by their numbers in the trace. */
struct open_regions {
	uint32_t *at;
	size_t count, capacity;
	size_t early;			/* the first of these began with MPI_Init, or before */
};

/* Regions that ended otherwise than the program said, and the first of these. */
struct regions_told {
	uint64_t left, open, unbegun;
	int32_t rank;
	uint32_t first;			/* 0: none */
};

void write_region_name(struct writer *out, uint32_t number, const char *name);
/* The same names on all ranks get one number, in order of the names. */
void write_region_names(struct writer *out, struct input *input);
#define LEFT_OUT UINT32_MAX		/* number of a name that is no region's */

/*
 * Copies events of a raw trace, of rank NUMBER. An end closes the regions within as well; one that
 * closes nothing is left out.
 */
void regions_nest(struct open_regions *open, const struct input *input, int32_t number,
    const struct samples *from, struct samples *to, struct regions_told *told);
/* Ends what is open at the end of a thread. */
void regions_close(struct open_regions *open, const struct input *input, int32_t number,
    int64_t at_ns, struct samples *to, struct regions_told *told);
void regions_tell(const struct input *input, const struct regions_told *told);

#endif
