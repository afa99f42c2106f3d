/* SPDX-License-Identifier: BSD-3-Clause */
/* What a location did of late, call by call, as far as waits to come may have their cause in it. */
#ifndef PAST_H
#define PAST_H

#include "imbalance.h"
#include "origins.h"

struct activity {
	int64_t enter_ns, leave_ns;	/* it computed since the one before was left, then made a call */
	struct origin *origin;		/* of what was a wait for another in the call; NULL: nothing */
	int64_t polled_ns;		/* of a run of failed polls, which counts as one call: their compute */
	uint32_t site;
	bool polls;
};

struct past {
	struct activity *of;		/* in order; the kept ones are begin to before end */
	size_t begin, end, capacity;
	size_t since_last, since_sync;	/* the calls that were the last two synchronisations of all */
	int64_t sync_ns;		/* the last one: the latest enter */
	int64_t kept_ns;		/* from here on nothing is forgotten; INT64_MIN: nothing was */
};

/* When the computation before it began; that before the first call of all does not count. */
static inline int64_t
activity_begin_ns(const struct past *past, size_t at)
{
	return at > past->begin ? past->of[at - 1].leave_ns :
	    past->kept_ns != INT64_MIN ? past->kept_ns : past->of[at].enter_ns;
}

/*
 * The last call but for its wait, which is told later; MOST are kept. Polls in a row at one site are
 * taken together, since a rank may make thousands of them while another waits for it.
 */
struct activity *past_add(struct imbalance *im, struct past *past, size_t most,
    const struct whole_call *call);
/* What the last call did from then on becomes an activity of its own, which is returned. */
struct activity *past_divide(struct imbalance *im, struct past *past, size_t most, int64_t at_ns);
/* The last call was a synchronisation of all: what was before the last but one may go. */
void past_sync(struct imbalance *im, struct past *past, int64_t at_ns);
void past_forget(struct imbalance *im, struct past *past, size_t until);
/* The same, and nobody will ask for what was before AT, when the last one entered that call. */
void past_restart(struct imbalance *im, struct past *past, int64_t at_ns);

#endif
