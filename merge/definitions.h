/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and call sites one by one, for all at once (definitions.c) and as they come
 * (later.c). */
#ifndef MERGE_DEFINITIONS_H
#define MERGE_DEFINITIONS_H

#include "merge.h"

/* One rank's share of a communicator, to be sorted so that the shares of one come together. */
struct share {
	const struct membership *of;
	int32_t rank;
};

/* Communicators are numbered in the order in which their lowest rank made them. */
struct group {
	struct share *shares;
	size_t count;
};

/*
 * The communicator NUMBER of these shares. COMPLETE: no rank's trace is missing, so that a member
 * that no trace tells of is a process of another world.
 */
void write_group(struct writer *out, struct input *input, const struct group *group,
    uint32_t number, bool complete);
/* Where a call site lies. */
struct known_site place_of(const struct rank *rank, const struct raw_site *site);
void write_module(struct writer *out, size_t number, const struct module *module);
/* SYMBOLS: of its module, for its name; NULL: none. */
void write_place(struct writer *out, size_t number, const struct known_site *site,
    struct symbols *symbols);
void write_stack(struct writer *out, size_t number, const struct stack *stack);

/* ---- later.c: as they come, of ranks that go on ---- */

struct later;
struct later *later_begin(struct input *input, struct writer *out, bool names);
void later_end(struct later *later);
/* New ones of all ranks have been read; OVER: there will be no more. */
void later_look(struct later *later, bool over);
/*
 * What the COUNT rows of CALLS from FROM on refer to is defined in front of them. Returns for how
 * many of them that can be done now: to the others' communicator some of its members are still to
 * come.
 */
size_t later_define(struct later *later, int32_t rank, const struct calls *calls, size_t from,
    size_t count);
/* The same for the name of a call, by its index. */
void later_call(struct later *later, uint16_t call);

#endif
