/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internal to the causes of waits: the calls of each location that a wait may look back at, what
 * they cost, and the waits in them.
 */
#ifndef CAUSES_H
#define CAUSES_H

#include "core.h"

/* ---- scratch memory, empty between uses -------------------------------------------------- */

/* Time by key, as in struct delay. */
struct spending {
	struct spent {			/* by key */
		int64_t ns;
		bool listed;
	} *spent;
	size_t capacity;
	uint32_t *keys;			/* the keys in use */
	double *ns;			/* by index in keys: the time gathered */
	size_t count, key_capacity, ns_capacity;
};

void spending_grow(struct spending *spending, uint32_t site);

/* Makes room for the keys of a site before any time is spent on it. */
static inline void
spending_know(struct spending *s, uint32_t site)
{
	if (2 * (size_t)site + 1 >= s->capacity)
		spending_grow(s, site);
}

/* Without a branch: which keys are new is hard to predict. */
static inline void
spend(struct spending *s, uint32_t key, int64_t ns)
{
	struct spent *spent = &s->spent[key];

	s->keys[s->count] = key;
	s->count += ns != 0 && !spent->listed;
	spent->ns += ns;
	spent->listed |= ns != 0;
}

/*
 * The share of each delay in a wait. A wait may have thousands of causes, and each is a cause of
 * the waits that follow from it. So only few are kept, as a sample that stands for all: large
 * shares as they are, and of the others some, with an equal share each. The sum of shares does not
 * change, and the expected share of each cause is its own (systematic sampling with probability
 * proportional to size: Madow, Annals of Mathematical Statistics 20, 1949). The sample depends on
 * the wait alone, so it is the same in each analysis of a run.
 */
struct share_sums {
	double *of;		/* by number of a delay */
	size_t capacity;
	uint32_t *delays;	/* the delays with a share */
	size_t count, delay_capacity;
};

void share_sums_grow(struct share_sums *sums, size_t delays);

/* Makes room for DELAYS delays, before any of them gets a share. */
static inline void
share_sums_know(struct share_sums *sums, size_t delays)
{
	if (delays > sums->capacity)
		share_sums_grow(sums, delays);
}

/* Without a branch: which delays are new is hard to predict. */
static inline void
share_add(struct share_sums *sums, uint32_t delay, double share)
{
	double *sum = &sums->of[delay];

	sums->delays[sums->count] = delay;
	sums->count += *sum == 0 && share > 0;
	*sum += share;
}

/* Empties the sums into at most MOST delays and their shares. Returns their number. */
size_t share_take(struct share_sums *sums, size_t most, uint64_t seed, uint32_t *delay,
    double *share);

/* ---- origins.c: delays ------------------------------------------------------------------- */

/* Delays by rank and piece of code. Each has a number that does not change. */
struct delays {
	struct delay *of;	/* by number */
	size_t count, capacity;
	uint32_t **numbers;	/* by key, of each rank: 1 + its number, or 0; or NULL */
	size_t keys;
	int32_t ranks;
	struct observer *observer;	/* sees each share as it is added; NULL: nobody does */
};

uint32_t delay_new(struct delays *delays, uint32_t key, int32_t rank);

/* The number of a delay, added if missing. */
static inline uint32_t
delay_of(struct delays *delays, uint32_t key, int32_t rank)
{
	const uint32_t *numbers = key < delays->keys ? delays->numbers[key] : NULL;

	return numbers != NULL && numbers[rank] > 0 ? numbers[rank] - 1 :
	    delay_new(delays, key, rank);
}

/* A cost of either kind, in a wait of the call that is counted. */
static inline void
delay_see(const struct delays *delays, const struct delay *delay, double ns)
{
	if (delays->observer != NULL)
		delays->observer->delay(delays->observer, delay->key, delay->rank, ns);
}

/* ---- origins.c: waits, their causes and chains ------------------------------------------- */

/* Takes the causes of the wait, or few that stand for all. */
void origin_keep_shares(struct origins *all, struct origin *origin, struct share_sums *sums);

/* COUNT shares, then COUNT delays. There is a pool for each number of causes. */
static inline size_t
shares_bytes(unsigned count)
{
	return (count * (sizeof(double) + sizeof(uint32_t)) + sizeof(double) - 1) / sizeof(double) *
	    sizeof(double);
}

/* Valid until the next shares are stored. */
struct origin_shares {
	const double *share;
	const uint32_t *delay;
	unsigned count;
};

static inline struct origin_shares
origin_shares(const struct origins *all, const struct origin *origin)
{
	const double *share;

	if (origin->causes == 0)
		return (struct origin_shares){ NULL, NULL, 0 };
	share = pool_at(&all->shares[origin->causes], shares_bytes(origin->causes),
	    origin->shares);
	return (struct origin_shares){ share,
	    (const uint32_t *)(const void *)(share + origin->causes), origin->causes };
}

/* Makes BEFORE the wait that ORIGIN follows from, unless the chain is too long. */
void origin_follows(const struct origins *all, struct origin *origin, uint32_t before);
/* No later wait can follow from it. */
void origin_end(struct origins *all, struct origin *origin);

/* The longest waits with their chains, longest first. */
struct longest {
	uint32_t of[MOST_CHAINS];
	size_t count;
	int64_t least_ns;	/* the last one */
};
void longest_add(struct imbalance *im, uint32_t number);

/* ---- activities.c: the recent calls of each location, as far back as a cause may lie ------ */

/*
 * Computation since the last activity, then a call. There are thousands of these for each location,
 * so they take 16 bytes. Times are relative to the next activity; times that do not fit are stored
 * in a struct wide.
 */
struct activity {
	uint32_t compute_ns;	/* of a wide activity: its number */
	uint32_t call_ns;	/* WIDE: see struct wide */
	uint32_t site;
	uint32_t origin;	/* of the wait in the call; 0: none */
};

enum { WIDE = UINT32_MAX };

/* Compute time and the time of the call after it. */
struct activity_part {
	int64_t compute_ns, call_ns;
};

/* An activity whose times do not fit, or a run of failed polls, which counts as one call. */
struct wide {
	struct activity_part all;
	int64_t polled_ns;	/* compute of a run of failed polls, with that before the first */
	bool polls;		/* it is such a run */
};

struct past {
	struct activity *of;		/* a ring: see past_at */
	uint32_t mask;			/* its size - 1; a power of two */
	uint32_t begin, end;		/* [begin, end) are kept; the numbers wrap around */
	uint32_t since_last, since_sync;	/* the last two calls that synchronised all */
	int64_t begin_ns, end_ns;	/* of the first kept activity; of the last call */
	int64_t sync_ns;		/* latest enter of the last synchronisation */
	int64_t kept_ns;		/* since when all are kept; INT64_MIN: always */
	struct batch **batches;		/* a ring, too; NULL: it has none yet. See batch_at */
};

/* By location. */
struct pasts {
	struct past *of;
	size_t most;			/* activities of each location */
	struct item_pool wides;
	bool batches;			/* some are added up: see struct batch */
	struct spending spending;	/* scratch, like the next line */
	struct share_sums sums;
};

static inline struct activity *
past_at(const struct past *past, uint32_t number)
{
	return &past->of[number & past->mask];
}

/* NULL if the times fit. */
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

/* The compute and call time between LOW and HIGH of an activity that was left at LEAVE. */
static inline struct activity_part
activity_cut(const struct activity_part *all, const struct wide *wide, int64_t leave_ns,
    int64_t low_ns, int64_t high_ns)
{
	const int64_t enter_ns = leave_ns - all->call_ns, begin_ns = enter_ns - all->compute_ns;
	const int64_t ns = larger(0, smaller(leave_ns, high_ns) - larger(begin_ns, low_ns));
	int64_t compute_ns = larger(0, smaller(enter_ns, high_ns) - larger(begin_ns, low_ns));

	if (wide != NULL && wide->polls)
		compute_ns = ns == 0 ? 0 : (int64_t)((double)ns * (double)wide->polled_ns /
		    (double)(leave_ns - begin_ns));
	return (struct activity_part){ compute_ns, ns - compute_ns };
}

/*
 * Some waits look back at thousands of activities, and others look back at the same ones. So BATCH
 * activities with consecutive numbers are added up when a second wait looks back beyond them. The
 * numbers begin at the synchronisation point before them, so several processes make the same
 * batches as one.
 */
enum { BATCH = 128, BATCH_CAUSES = 4 * MOST_CAUSES };

struct batch {
	int64_t ns, waited_ns;		/* of all; of the waits in them */
	struct batch_key { int64_t ns; uint32_t key; } *of;	/* without waits */
	uint32_t *delay;		/* the causes of its waits; NULL: nothing is summed yet */
	double *cause_ns;		/* their parts of waited_ns */
	size_t keys, causes;		/* the numbers of these */
	uint32_t longest;		/* origin of its longest wait; 0: none */
	int64_t longest_ns;
	/* the part of each of its waits that caused waits of others, beside what is noted there */
	double propagated;
};

static inline struct batch **
batch_at(const struct past *past, uint32_t number)
{
	return &past->batches[(number & past->mask) / BATCH];
}

/* ---- causes.c ---------------------------------------------------------------------------- */

struct causes {
	struct pasts pasts;
	struct syncs *syncs;
	struct delays delays;
	struct spending spending;	/* scratch, like the next line */
	struct share_sums sums;
	struct waited {			/* scratch: waits of the delaying location */
		uint32_t origin;	/* of a batch: of its longest wait */
		int64_t ns;
		struct batch *batch;	/* NULL: one wait */
	} *waited;
	size_t waited_count, waited_capacity;
	struct longest longest;
};

/* ---- activities.c ------------------------------------------------------------------------ */

void pasts_begin(struct imbalance *im, size_t most, bool batches);
/*
 * Adds the last call without its wait, which follows later. Consecutive polls at one site become
 * one activity, since a rank may make thousands while another waits for it. The result is valid
 * until the next call.
 */
struct activity *past_add(struct imbalance *im, const struct whole_call *call);
/* Divides the last call at AT. Returns the second part, an activity of its own. */
struct activity *past_divide(struct imbalance *im, uint32_t location, int64_t at_ns);
/* The last call synchronised all: activities before the last synchronisation but one may go. */
void past_sync(struct imbalance *im, uint32_t location, int64_t at_ns);
/*
 * The same, if nothing before AT is needed any more: AT is when the last location entered that
 * call.
 */
void past_restart(struct imbalance *im, uint32_t location, int64_t at_ns);

/*
 * A wait that looks back from LEAVE, the leave of the activity before number END, to LOW: those
 * before END as a batch. NULL: it has to look at each.
 */
struct batch *batch_before(struct imbalance *im, struct past *past, uint32_t end, int64_t leave_ns,
    int64_t low_ns);

#endif
