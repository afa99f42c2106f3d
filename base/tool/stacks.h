/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks of frames and their durations, for flame graphs: folded lines, one for each stack, or
 * profiles of speedscope, with the stacks in the order in which they were added.
 * Memory: distinct frames and stacks; for speedscope also 16 bytes for each addition.
 */
#ifndef STACKS_H
#define STACKS_H

#include <stdbool.h>

#include "text.h"

struct stack_frame {
	const char *name;	/* any bytes: made visible; a semicolon becomes a colon */
	const char *file;	/* NULL: unknown; lives as long as the stacks */
	int32_t line;		/* of the file; 0: unknown */
};

struct stacks *stacks_begin(struct text *out, bool speedscope);
/* The number of a stack, its outermost frame first; stacks with equal frames have one number. */
uint32_t stacks_number(struct stacks *stacks, const struct stack_frame *frames, size_t count);
/*
 * Starts a profile for later additions. PREFIX: the first frame of its folded lines; NULL: none.
 * Both names live as long as the stacks.
 */
void stacks_profile(struct stacks *stacks, const char *name, const char *prefix, int64_t begin_ns);
void stacks_add(struct stacks *stacks, uint32_t number, uint64_t ns);
/* Writes all stacks and frees them. */
void stacks_end(struct stacks *stacks);

#endif
