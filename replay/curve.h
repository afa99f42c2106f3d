/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run time as a function of one parameter of the machine, all of it in one pass: each time is the
 * largest of lines in the parameter, which are kept as far as they are largest anywhere. Where all ranks
 * stand at one time and nothing is in flight the lines begin anew, and what was before is added up.
 */
#ifndef CURVE_H
#define CURVE_H

#include "marks.h"

struct line { double ns, slope; };	/* at 0 */

struct envelope {		/* of lines in order of slopes; on top of them all BASE */
	struct line base;
	struct line *lines;
	uint32_t count, capacity;	/* count 0: one line, which is BASE */
	uint32_t generation;		/* of an earlier one the time is 0: it is before all of this one */
};

struct curve {
	enum parameter parameter;
	double base, range;	/* its value in the replay; the curve ends there */
	uint32_t locations, generation;
	struct envelope *times;
	size_t time_count;
	struct line *merged;
	size_t merged_capacity;
	struct line sum;	/* of what is behind */
	struct bend { double at, by; } *bends;
	size_t bend_count, bend_capacity;
};

struct piece { double from, to, run_ns, slope; };	/* run time at FROM; to: INFINITY */

void curve_begin(struct curve *curve, enum parameter parameter, double base, double range, uint32_t locations);
struct watcher curve_watcher(struct curve *curve);
size_t curve_end(struct curve *curve, struct piece **pieces);	/* how many */
double pieces_at(const struct piece *pieces, size_t count, double value);	/* run time */
/* The largest value at which the run time is no more than that; INFINITY: none is. */
double pieces_reach(const struct piece *pieces, size_t count, double run_ns);

#endif
