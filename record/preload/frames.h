/* SPDX-License-Identifier: BSD-3-Clause */
/* The callers of a function: frames.c, and cfi.c for what compilers say about frames. */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How to find the caller's frame, for one address of code. The caller's stack pointer (CFA) follows
 * from the stack pointer or the base pointer of the frame. The return address is at CFA + back, or
 * still in AArch64's link register. The caller's base pointer is unchanged or saved on the stack.
 */
enum frame_kind {
	FRAME_UNKNOWN,		/* no information, or too complex for a rule */
	FRAME_LAST,		/* it has no caller */
	FRAME_BY_STACK,		/* CFA = stack pointer + cfa */
	FRAME_BY_BASE,		/* CFA = base pointer + cfa */
	/* CFA = value at (base pointer + cfa), after the stack was aligned */
	FRAME_AT_BASE,
};
/* Where a register of the caller is saved, perhaps at an offset from CFA or base pointer. */
enum where { NOT_SAVED, SAVED_AT_CFA, SAVED_AT_BASE, SAVED_NOWHERE, SAVED_ELSEWHERE };
struct frame_rule {
	const void *address;	/* NULL: none */
	int32_t cfa, base, back;
	uint8_t kind, base_is;	/* enum frame_kind, and of the first three of enum where */
	bool in_link;		/* the return address */
};

/* cfi.c: the rule of a return address. Returns false if it is unknown or too complex. */
bool frame_rule(const void *address, struct frame_rule *rule);

/* frames.c: how many objects were ever loaded and unloaded. */
struct object_counts { unsigned long long loads, unloads; };
struct object_counts count_objects(void);
/* The bounds of this thread's stack. It makes the system read all mappings. */
bool find_stack(uintptr_t *low, uintptr_t *high);
/*
 * Like backtrace(), the return addresses of this function's callers, beginning with
 * FIRST, at most DEPTH. Returns 0 if FIRST is not among the first callers. Rules are remembered per
 * thread.
 */
struct frame_memory;
int callers_from(struct frame_memory **memory, const void *first, const void **frames, int depth);

/*
 * The registers of a stopped thread, a copy of the top of its stack, from STACK on, and its callers
 * if all functions from BASE on keep frame pointers.
 */
struct stack_copy {
	uintptr_t address, stack, base, link;	/* link: 0 if the processor has none */
	const unsigned char *bytes;	/* aligned to 8 bytes */
	size_t size;
	const void *const *chain;
	int chained;
};
/*
 * Its callers, the innermost first: as far as the copy and the rules go, and from there on by frame
 * pointers if the function keeps one.
 */
int callers_in(struct frame_memory **memory, const struct stack_copy *copy, const void **frames,
    int depth);

#endif
