/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank waits for which in a collective: the one rule for every analysis. */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H

#include "../stream/calls.h"
#include "definitions.h"
#include "window.h"

enum { NOBODY = UINT32_MAX };

struct member {
	uint32_t location;
	uint64_t seq;
	const struct row *row;
};

/* From the last enter to the first leave, which may be before it. */
struct overlap {
	int64_t from_ns, to_ns;
};
struct overlap collective_overlap(const struct member *members, uint32_t count);

/*
 * Calls on files and MPI_Comm_disconnect are collective, but no rule makes a rank wait for another:
 * some libraries and access methods let each rank leave when it is done. So they hold up no rank if
 * one left before the last entered. Of calls that start requests, only a completion that lasts
 * until then shows it.
 */
bool collective_holds(const struct member *members, uint32_t count);

/* The member that is the root; NOBODY if its rank is not known. */
uint32_t collective_root(const struct definitions *definitions, const struct member *members,
    uint32_t count);

/*
 * The dependents of a group need the enters of its sources. Dependents of a chained group also need
 * the sources of the group before. Numbers are indices of members. A member may be its own source.
 */
struct need {
	uint32_t source, source_count;		/* from sources[source] on */
	uint32_t dependent, dependent_count;
	bool chained;
};

/* Ranks in one communicator, by those in the world: the next instance is often of the same one. */
struct comm_ranks { int32_t *of; uint32_t comm; };
/* The rank in a communicator; in the world, if it is not known as one of its members. */
uint32_t comm_rank(struct comm_ranks *ranks, const struct definitions *definitions, uint32_t comm,
    uint32_t location);

/* By time. */
struct entered { int64_t enter_ns; uint32_t location, member; };

struct needs {
	struct need *groups;
	uint32_t *sources, *dependents;
	size_t count, capacity, source_capacity, dependent_capacity;
	uint32_t *waits_for;			/* by member, like the next line */
	uint32_t *in_tree;		/* whom it waited for without needing it; or NOBODY */
	struct entered *entered;
	size_t waits_capacity, tree_capacity, entered_capacity;
	struct comm_ranks *ranks;		/* may be shared; NULL: it gets its own */
	/* The caller's, by member: the rows that complete what the members start. NULL: none. */
	const struct row *ends;
};

/* Fills NEEDS, which keeps its memory between calls; zero it before the first. */
void collective_needs(struct needs *needs, const struct definitions *definitions,
    const struct member *members, uint32_t count);
/*
 * Also heeds the recorded times, unless no call has a length, or all exchange equal data: then only
 * clocks that differ show an early leave. In a partial collective, an all-to-all or to a root that
 * a member left before another entered, each member needs only the one that it waits for. A member
 * without data needs no root that entered after it left.
 */
void collective_needs_seen(struct needs *needs, const struct definitions *definitions,
    const struct member *members, uint32_t count);
void needs_free(struct needs *needs);	/* unless its ranks are shared */
/*
 * Also finds for each member the one that it waits for, or NOBODY: the last to enter of the members
 * that it needs; of several at one instant, the one on the lowest location. A member may wait for
 * itself: then the others wait for it. The caller checks whether the wait was real: the other
 * entered before this one left. In a partial collective that is so.
 *
 * In a scan, or a call to or from a root, it is another one where the times show that the library
 * made this one wait: the last that entered before this one left, if before that nobody entered for
 * 10 us and more than half of the time since this one needed nobody else. If such a collective was
 * only started, that is true of its completions, if they are known (ends).
 */
const uint32_t *collective_waits(struct needs *needs, const struct definitions *definitions,
    const struct member *members, uint32_t count);

#endif
