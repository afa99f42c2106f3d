/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that have lacked their other end for so long that reports go on without it. */
#ifndef OVERDUE_H
#define OVERDUE_H

#include "graph.h"

/*
 * It is time for new marks when AT rows have been read, or the run has come to AT ns,
 * EVERY more than at the last ones, if rows still to come are not entered before COME_NS.
 */
struct overdue *overdue_new(uint32_t locations);
static inline int64_t
overdue_rows(uint32_t locations)	/* EVERY, in rows */
{
	return (1 << 18) + 16 * (int64_t)locations;
}
bool overdue_is_time(const struct overdue *overdue, int64_t at, int64_t every, int64_t come_ns);
/* To be filled: rows of each location so far; NEWEST_NS: the latest leave of these. */
uint64_t *overdue_mark(struct overdue *overdue, int64_t at, int64_t newest_ns);
/*
 * Writes rows that have become overdue. Lowers SEQS to the first row of each location that lacks
 * its other end and is not overdue; false: none is overdue.
 */
bool overdue_pass(struct graph *graph, uint64_t *seqs);

#endif
