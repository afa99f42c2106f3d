/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, call sites, regions: all at once, or as they arrive (later.c). */
#ifndef MERGE_DEFINITIONS_H
#define MERGE_DEFINITIONS_H

#include "merge.h"

/* One rank's share of a communicator. Sorting brings the shares of one together. */
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
 * Writes the communicator NUMBER of these shares. COMPLETE: no rank's trace is missing, so a member
 * without a trace belongs to another world.
 */
void write_group(struct writer *out, struct input *input, const struct group *group,
    uint32_t number, bool complete);
/* The predefined communicators of all ranks, and those of several worlds. */
void write_worlds(struct writer *out, const struct input *input);
/* The place of a call site. */
struct known_site place_of(const struct input *input, const struct rank *rank,
    const struct raw_site *site);
void write_module(struct writer *out, size_t number, const struct module *module);
/* SYMBOLS: of its module, for names; NULL: none. */
void write_place(struct writer *out, size_t number, const struct known_site *site,
    struct symbols *symbols);

/* ---- regions.c ---------------------------------------------------------------------- */

/* Of a thread: the regions that it is in, the innermost last, by their numbers in the trace. */
struct open_regions {
	uint32_t *at;
	size_t count, capacity;
	size_t early;			/* the first of these began with MPI_Init, or before */
};

/* Events of regions on their way into the trace, and what has been seen. */
struct nesting {
	const struct input *input;
	struct samples events;		/* as they are written */
	/* regions that ended otherwise than the program said, and the first of these */
	uint64_t left, open, unbegun;
	int32_t rank;
	uint32_t first;			/* 0: none */
};

void write_region_name(struct writer *out, uint32_t number, const char *name);
/* The same names on all ranks get one number, in order of the names. */
void write_region_names(struct writer *out, struct input *input);
#define LEFT_OUT UINT32_MAX		/* number of a name that is no region's */

/*
 * Copies events of a raw trace, of rank NUMBER. An end closes the regions within as well; one that
 * closes nothing is left out.
 */
void regions_nest(struct nesting *nesting, struct open_regions *open, int32_t number,
    const struct samples *from);
/* Ends what is open at the end of a thread. */
void regions_close(struct nesting *nesting, struct open_regions *open, int32_t number,
    int64_t at_ns);
/* Notes what has been seen, and frees the events. */
void regions_tell(struct nesting *nesting);

/* ---- later.c: definitions of ranks that continue ------------------------------------- */

struct later;
struct later *later_begin(struct input *input, struct writer *out, bool names);
void later_end(struct later *later);
/*
 * All ranks' new definitions have been read; OVER: there will be no more. False: members of a
 * communicator are still to define it, so no step may be written yet.
 */
bool later_look(struct later *later, bool over);
/* Writes the definitions that COUNT rows of CALLS from FROM on refer to. */
void later_define(struct later *later, int32_t rank, const struct calls *calls, size_t from,
    size_t count);
/* The same for the name of a call, by its index. */
void later_call(struct later *later, uint16_t call);
/* Of a call site or a sample: its number in the trace; 0: unknown. */
uint32_t later_site(struct later *l, struct rank *rank, uint32_t site);
/* Of an event; false: its name has not come yet. */
bool later_region(struct later *later, struct rank *rank, int64_t region);

#endif
