/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives as MPI libraries do them: rounds of messages between members. This part only says
 * which member sends how much to which other in which round. The engine treats these messages like
 * those that the program sends.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum schedule { NO_SCHEDULE, SCHEDULE_LINEAR, SCHEDULE_CHAIN, SCHEDULE_BINOMIAL, SCHEDULE_DOUBLING,
	SCHEDULE_RING, SCHEDULE_BRUCK, SCHEDULE_PAIRWISE, SCHEDULE_HALVING, SCHEDULE_RABENSEIFNER,
	SCHEDULE_TWO_TREES, SCHEDULE_SCATTER_RING, SCHEDULE_BINARY, SCHEDULES };

extern const char *const schedule_names[SCHEDULES + 1];

/* Dimemas' ids of collectives. */
enum operation { OP_BARRIER, OP_BCAST, OP_GATHER, OP_GATHERV, OP_SCATTER, OP_SCATTERV, OP_ALLGATHER,
	OP_ALLGATHERV, OP_ALLTOALL, OP_ALLTOALLV, OP_REDUCE, OP_ALLREDUCE, OP_REDUCE_SCATTER,
	OP_REDUCE_SCATTER_BLOCK, OP_SCAN, OP_ALLTOALLW, OP_OTHER, OPERATIONS };

struct plan {			/* of one collective */
	enum schedule schedule;
	enum operation operation;
	uint32_t ranks, root;
	double bytes;		/* of a block, mean: sent to one other rank, or to all alike */
	double segment;		/* bytes that a tree hands on at once; 0: all */
	double beside_ns;	/* time each member spends before its messages */
	/* By rank if blocks differ, else NULL: bytes of each; in an alltoall all sent, and taken */
	const double *blocks, *taken;
};

enum { NO_MEMBER = UINT32_MAX };

struct round {			/* of one member: both at once; NO_MEMBER: neither */
	uint32_t to, from;
	double to_bytes, from_bytes;
	/* which of the messages between the same two ranks */
	uint32_t to_number, from_number;
};

bool schedule_is_rooted(enum operation operation);
bool schedule_fits(enum schedule schedule, enum operation operation);
uint32_t schedule_rounds(const struct plan *plan);
/* Whether a round combines the received data with the own, as sums do. */
bool schedule_combines(const struct plan *plan, uint32_t round);
struct round schedule_round(const struct plan *plan, uint32_t me, uint32_t round);
/* Whether it uses a tree that may hand on data in segments. */
bool schedule_is_segmented(enum schedule schedule, enum operation operation);

/* trees.c: segmented schedules; ranks count from the root. */
uint32_t tree_rounds(const struct plan *plan);
struct round tree_round(const struct plan *plan, uint32_t me, uint32_t round);
uint32_t tree_depth(uint32_t ranks);	/* ceil(log2) */

#endif
