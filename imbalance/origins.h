/* SPDX-License-Identifier: BSD-3-Clause */
/* Where waits came from: what caused each, and the chain of waits that led to it. */
#ifndef ORIGINS_H
#define ORIGINS_H

#include "imbalance.h"

enum { MOST_CHAINS = 5, MOST_LINKS = 33, MOST_CAUSES = 8 };

struct origin {
	struct wait wait;
	struct origin *before;	/* the wait of the delaying location that had the largest part in it */
	unsigned users;
	uint16_t depth, causes;
	bool explained;
	int64_t direct_ns, indirect_ns, propagating_ns;	/* of it, as counted under its state */
	double propagated_ns;	/* of the wait, what caused others, so far */
	struct origin_cause { uint32_t key; int32_t rank; double share; } *cause;	/* MOST_CAUSES */
};

/* With one user and no causes yet. */
struct origin *origin_new(struct origin_pool *pool, const struct wait *wait);
/* Waits to come cannot follow from it any more. */
void origin_forget_causes(struct origin_pool *pool, struct origin *origin);

/* It is freed with the last of its users, and those before it then lose one. */
void origin_release(struct origin_pool *pool, struct origin *origin);
/* A cause, as of struct delay, and its share of the wait; the largest shares are kept. */
void origin_add(struct origin_pool *pool, struct origin *origin, uint32_t key, int32_t rank, double share);
/* The wait of the delaying location that had the largest part in it; not of a chain too long. */
void origin_follows(struct origin *origin, struct origin *before);

/* Among the longest waits A comes first; of those that are equally long the one that began first. */
bool is_longer_wait(const struct wait *a, const struct wait *b);
/* The longest waits with their chains, longest first. */
struct longest {
	struct origin *of[MOST_CHAINS];
	size_t count;
};
void longest_add(struct origin_pool *pool, struct longest *longest, struct origin *origin);

#endif
