/* SPDX-License-Identifier: BSD-3-Clause */
/* What each row of a stretch may have waited for: the first step in making the graph of dag.h. */
#ifndef GATES_H
#define GATES_H

#include "dag.h"

enum { NO_GATE = UINT32_MAX };

/* Hubs while they are made; each becomes a vertex behind the events. */
struct hubs {
	uint32_t *gate;		/* by row: the vertex that its call needs, besides its enter */
	uint64_t *in;		/* as in the dag */
	uint32_t *source;
	size_t count, in_capacity, source_count, source_capacity;
};

/* The dag must have its numbering and its number of events. */
void find_gates(struct hubs *hubs, const struct dag *dag, const struct instances *instances,
    const struct definitions *known);
void free_gates(struct hubs *hubs);

uint32_t *gate_of(const struct dag *dag, const struct hubs *hubs, uint32_t location, uint64_t seq);
/* The enter of the call that a row belongs to. */
uint32_t enter_of(const struct dag *dag, uint32_t location, uint64_t seq);

static inline bool
is_inside(const struct stretch *stretch, uint32_t location, uint64_t seq)
{
	return seq >= stretch->first_seq[location] && seq < stretch->end_seq[location];
}

#endif
