/* SPDX-License-Identifier: BSD-3-Clause */
/* The callers of a function: frames.c, and cfi.c where compilers tell how to find them. */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How a frame leads to its caller's, at one address of its code. The caller's stack pointer (CFA)
 * is found from the frame's own or its base pointer; the return address lies below it, and the
 * caller's base pointer is the same or lies there, too.
 */
enum frame_kind {
	FRAME_UNKNOWN,		/* nothing is told, or more than this can say */
	FRAME_LAST,		/* nobody has called it */
	FRAME_BY_STACK,		/* CFA = stack pointer + cfa */
	FRAME_BY_BASE,		/* CFA = base pointer + cfa */
	/* CFA = what lies at base pointer + cfa, where a stack was aligned */
	FRAME_AT_BASE,
};
enum base_kind {
	BASE_SAME,
	BASE_AT_CFA,		/* at CFA + base */
	BASE_AT_BASE,		/* at base pointer + base */
};
struct frame_rule {
	const void *address;	/* NULL: none */
	int32_t cfa, base;
	uint8_t kind, base_kind;
};

/* cfi.c: the rule of a return address; false: it is not known, or more than a rule can say. */
bool frame_rule(const void *address, struct frame_rule *rule);

/*
 * frames.c: return addresses of this function's callers from FIRST on, at most DEPTH of them; as
 * backtrace() has them, and 0 where FIRST is none of the first of them. The memory of what was
 * learnt is the thread's.
 */
struct frame_memory;
int callers_from(struct frame_memory **memory, const void *first, const void **frames, int depth);

#endif
