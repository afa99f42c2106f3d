/* SPDX-License-Identifier: BSD-3-Clause */
/* Where waits came from: what caused each, and the chain of waits that led to it. Each has a number; 0: none. */
#ifndef ORIGINS_H
#define ORIGINS_H

#include "imbalance.h"

enum { MOST_CHAINS = 5, MOST_LINKS = 33 };

struct origin {
	int64_t from_ns, to_ns;	/* of the wait, as what follows */
	uint32_t location, cause, site;
	uint32_t before;	/* the wait of the delaying location that had the largest part in it */
	double propagated_ns;	/* of the wait, what caused others, so far */
	uint32_t users;
	uint32_t shares;	/* where its causes are */
	uint8_t state, depth, causes;
	bool over;		/* no wait to come follows from it */
};

/* Its causes, each one's share of the wait; the largest ones. */
struct cause_shares {
	unsigned count;
	uint32_t delay[MOST_CAUSES];	/* numbers: delays.h */
	double share[MOST_CAUSES];
};

static inline struct origin *
origin_at(const struct origins *all, uint32_t number)
{
	return pool_at(&all->waits, sizeof(struct origin), number);
}

/* With one user and no causes yet. */
uint32_t origin_new(struct origins *all, const struct wait *wait);
/* It is freed with the last of its users, and those before it then lose one. */
void origin_release(struct origins *all, uint32_t number);
/* The wait, but for its call, communicator and the row that ended it. */
struct wait origin_wait(const struct origin *origin);
/* Waits to come cannot follow from it any more. */
void origin_end(struct origins *all, struct origin *origin);
/* Of the wait what caused others: known when it is over. */
int64_t origin_propagating_ns(const struct origin *origin);

/* A delay, and its share of the wait; the largest shares are kept. */
void share_add(struct cause_shares *shares, uint32_t delay, double share);
void origin_keep_shares(struct origins *all, struct origin *origin, const struct cause_shares *shares);
/* How many; they are good until the next ones are kept. */
unsigned origin_shares(const struct origins *all, const struct origin *origin, const uint32_t **delay,
    const double **share);

/* The wait that it follows from; not of a chain too long. */
void origin_follows(const struct origins *all, struct origin *origin, uint32_t before);

/* The wait and, behind it, the waits that led to it; how many. */
size_t origin_chain(const struct origins *all, uint32_t number, struct wait chain[MOST_LINKS]);

/* Among the longest waits A comes first; of those that are equally long the one that began first. */
bool is_longer_wait(const struct wait *a, const struct wait *b);
/* The longest waits with their chains, longest first. */
struct longest {
	uint32_t of[MOST_CHAINS];
	size_t count;
};
void longest_add(struct origins *all, struct longest *longest, uint32_t number);

#endif
