/* SPDX-License-Identifier: BSD-3-Clause */
/* What a location did of late, call by call, as far as waits to come may have their cause in it. */
#ifndef PAST_H
#define PAST_H

#include "imbalance.h"
#include "origins.h"

/*
 * It computed since the one before was left, then made a call. There are some of these for each location, so they
 * have 16 bytes: times are counted from the activity behind, and what does not fit is kept apart.
 */
struct activity {
	uint32_t compute_ns;	/* or, of a wide one, its number */
	uint32_t call_ns;	/* WIDE: see struct wide */
	uint32_t site;
	uint32_t origin;	/* of what was a wait for another in the call; 0: nothing */
};

enum { WIDE = UINT32_MAX };

/* Compute, and the call behind it. */
struct activity_part {
	int64_t compute_ns, call_ns;
};

/* An activity of times that do not fit, or a run of failed polls, which counts as one call. */
struct wide {
	struct activity_part all;
	int64_t polled_ns;	/* of a run of failed polls: their compute, before the first or not */
	bool polls;
};

struct past {
	struct activity *of;	/* in order; the kept ones are begin to before end */
	uint32_t begin, end, capacity;
	uint32_t since_last, since_sync;	/* the calls that were the last two synchronisations of all */
	int64_t begin_ns, end_ns;	/* when the first kept one began and the last call was left */
	int64_t sync_ns;		/* the last one: the latest enter */
	int64_t kept_ns;		/* from here on nothing is forgotten; INT64_MIN: nothing was */
};

/* All of them: as many as there are locations. */
struct pasts {
	struct past *of;
	size_t most;			/* activities of each */
	size_t first;			/* of these, so many of all locations lie side by side */
	struct item_pool wides;
};

/* NULL where its times fit. */
static inline struct wide *
activity_wide(const struct pasts *all, const struct activity *a)
{
	return __builtin_expect(a->call_ns == WIDE, 0) ?
	    pool_at(&all->wides, sizeof(struct wide), a->compute_ns) : NULL;
}

static inline struct activity_part
activity_all(const struct activity *a, const struct wide *wide)
{
	return wide != NULL ? wide->all : (struct activity_part){ a->compute_ns, a->call_ns };
}

void pasts_begin(struct pasts *all, uint32_t locations, size_t most);
/*
 * The last call but for its wait, which is told later. Polls in a row at one site are taken together, since a
 * rank may make thousands of them while another waits for it. Good until the next one is added.
 */
struct activity *past_add(struct imbalance *im, struct pasts *all, const struct whole_call *call);
/* What the last call did from then on becomes an activity of its own, which is returned. */
struct activity *past_divide(struct imbalance *im, struct pasts *all, uint32_t location, int64_t at_ns);
/* The last call was a synchronisation of all: what was before the last but one may go. */
void past_sync(struct imbalance *im, struct pasts *all, uint32_t location, int64_t at_ns);
/* The same, and nobody will ask for what was before AT, when the last one entered that call. */
void past_restart(struct imbalance *im, struct pasts *all, uint32_t location, int64_t at_ns);
/* Nothing is kept of it any more. */
void past_end(struct imbalance *im, struct pasts *all, uint32_t location);

#endif
