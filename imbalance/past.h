/* SPDX-License-Identifier: BSD-3-Clause */
/* What a location did of late, call by call, as far as waits to come may have their cause in it. */
#ifndef PAST_H
#define PAST_H

#include "imbalance.h"
#include "origins.h"

struct activity {
	int64_t begin_ns, enter_ns, leave_ns;	/* it computed from begin, then made a call */
	int64_t wait_from_ns, wait_to_ns;	/* what of the call was a wait for another; or both 0 */
	double propagated_ns;			/* of that wait, what caused others */
	struct origin *origin;			/* of the wait; NULL: nobody is known to have caused it */
	int64_t polled_ns;		/* of a run of failed polls, which counts as one call: their compute */
	uint32_t site;
	bool polls;
};

struct past {
	struct activity *of;		/* in order; the kept ones are begin to before end */
	size_t begin, end, capacity;
	size_t since_last, since_sync;	/* the calls that were the last two synchronisations of all */
	int64_t sync_ns;		/* the last one: the latest enter */
	int64_t kept_ns;		/* from here on nothing is forgotten */
};

/*
 * The last call but for its wait, which is told later; MOST are kept. Polls in a row at one site are
 * taken together, since a rank may make thousands of them while another waits for it.
 */
struct activity *past_add(struct imbalance *im, struct past *past, size_t most,
    const struct activity *activity);
/* The last call was a synchronisation of all: what was before the last but one may go. */
void past_sync(struct imbalance *im, struct past *past, int64_t at_ns);
void past_forget(struct imbalance *im, struct past *past, size_t until);

#endif
