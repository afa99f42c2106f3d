/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical path by place: the time of each rank at each call site. */
#ifndef PLACES_H
#define PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "definitions.h"

struct place {
	uint32_t site;
	int32_t rank;		/* -1: an empty slot */
	bool compute;		/* before the call there; else in MPI, or asleep between polls */
	int64_t ns;
	int64_t transfer_ns;	/* the part of it with a message under way */
	int64_t polling_ns;	/* the part of it that polls: segments.h */
};

/* If a rank computed there no longer than the others do on the mean, see gain/balance.c. */
struct balance {
	uint32_t site;
	int32_t rank;
	/* by how much the run gets shorter, and would if no other path took over */
	int64_t gain_ns, most_ns;
	int64_t compute_ns, others_ns;	/* in the run: of that rank, and the mean of the others */
};

struct places {
	struct place_table *table;	/* NULL: none yet */
};

void places_add(struct places *places, const struct place *more);
/* The sum at the place of KEY. */
int64_t places_ns(const struct places *places, const struct place *key);
/* Longest first; free() them. */
struct place *places_sorted(const struct places *places, size_t *count);
void places_free(struct places *places);

/*
 * Call sites of one name. A compiler may make several sites of a line, each for other ranks or
 * steps: the first of them that is met stands for all.
 */

struct same_sites {		/* begins as zeros */
	uint32_t *first;	/* by site: 1 + the one that stands for it; 0: not met */
	size_t capacity;
	struct site_names *names;
};

/* A site without a name stands for itself. */
uint32_t first_of_name(struct same_sites *sites, const struct definitions *known, uint32_t site);
void same_sites_free(struct same_sites *sites);
/* As places_sorted, with the sites of one name as one. */
struct place *places_by_name(const struct places *places, const struct definitions *known,
    struct same_sites *sites, size_t *count);
/* Is one of them the other, or of the same name? */
bool is_same_site(const struct definitions *known, uint32_t site, uint32_t other);

#endif
