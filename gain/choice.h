/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The longest way through all that events need (dag.h), where an event may have many edges and weights
 * may be others than they were: which edge binds is for a solver to find out.
 */
#ifndef CHOICE_H
#define CHOICE_H

#include "../base/run/scale.h"
#include "../base/path/run.h"
#include "dag.h"

struct choice {
	struct scales scales;
	int64_t length_ns;	/* of the stretches before */
	uint32_t last;		/* location on which the way through them ended */
};

/*
 * The longest way from the beginning of DAG to its end, behind it in AT; how many vertices, room for all
 * is there. Each is by an algorithm of its own, and all give the same way.
 */
typedef size_t chooser(const struct dag *dag, uint32_t *at);
size_t choose_walk(const struct dag *dag, uint32_t *at);
size_t choose_kahn(const struct dag *dag, uint32_t *at);
size_t choose_dijkstra(const struct dag *dag, uint32_t *at);
size_t choose_delta(const struct dag *dag, uint32_t *at);

/* Appends the stretch's segments, in order of time as they would be. */
void choice_solve(struct choice *choice, chooser *choose, const struct stretch *stretch,
    const struct instances *instances, const struct definitions *known, struct segments *segments);

#endif
