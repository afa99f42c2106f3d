/* SPDX-License-Identifier: BSD-3-Clause */
/* Internal to the causes of waits: the calls of each location that a wait may look back at. */
#ifndef ACTIVITIES_H
#define ACTIVITIES_H

#include "core.h"
#include "spending.h"

/* ---- activities.c ---- */

/* The recent calls of each location, as far back as later waits may have their cause. */

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
	struct batch_scratch *scratch;	/* NULL: no batches */
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

void pasts_begin(struct pasts *all, uint32_t locations, size_t most);
/*
 * Adds the last call without its wait, which follows later. Consecutive polls at one site become
 * one activity, since a rank may make thousands while another waits for it. The result is valid
 * until the next call.
 */
struct activity *past_add(struct imbalance *im, struct pasts *all, const struct whole_call *call);
/* Divides the last call at AT. Returns the second part, an activity of its own. */
struct activity *past_divide(struct imbalance *im, struct pasts *all, uint32_t location,
    int64_t at_ns);
/* The last call synchronised all: activities before the last synchronisation but one may go. */
void past_sync(struct imbalance *im, struct pasts *all, uint32_t location, int64_t at_ns);
/*
 * The same, if nothing before AT is needed any more: AT is when the last location entered that
 * call.
 */
void past_restart(struct imbalance *im, struct pasts *all, uint32_t location, int64_t at_ns);
/* Frees the activities of the location. */
void past_end(struct imbalance *im, struct pasts *all, uint32_t location);

/* ---- batches.c ---- */

/*
 * Some waits look back at thousands of activities, and others look back at the same ones. So BATCH
 * activities with consecutive numbers are added up when a second wait looks back beyond them. The
 * numbers begin at the synchronisation point before them, so several processes make the same
 * batches as one.
 */
enum { BATCH = 128, BATCH_CAUSES = 4 * MOST_CAUSES };

struct batch {
	bool is_summed;
	int64_t ns, waited_ns;		/* of all; of the waits in them */
	struct batch_key { int64_t ns; uint32_t key; } *of;	/* without waits */
	uint32_t *delay;		/* the causes of its waits, as in shares.h */
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

void batches_begin(struct pasts *all);
/*
 * A wait that looks back from LEAVE, the leave of the activity before number END, to LOW: those
 * before END as a batch. NULL: it has to look at each.
 */
struct batch *batch_before(struct imbalance *im, struct pasts *all, struct past *past,
    uint32_t end, int64_t leave_ns, int64_t low_ns);
void batch_free(struct past *past, uint32_t number);

#endif
