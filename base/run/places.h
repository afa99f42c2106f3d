/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path by place: the time of each rank at each call site. */
#ifndef PLACES_H
#define PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place {
	uint32_t site;
	int32_t rank;		/* -1: an empty slot */
	bool compute;		/* before the call there; else in MPI */
	int64_t ns;
	int64_t transfer_ns;	/* the part of it with a message under way */
};

struct places {
	struct place_table *table;	/* NULL: none yet */
};

void places_add(struct places *places, const struct place *more);
/* Longest first; free() them. */
struct place *places_sorted(const struct places *places, size_t *count);
void places_free(struct places *places);

#endif
