/* SPDX-License-Identifier: BSD-3-Clause */
/* The long pole of a run, in one sentence that all reports share. */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>
#include <stdint.h>

struct headline;

/* Unknown values are NAN, and the sentence omits them. */
struct verdict {
	int32_t rank;		/* -1: nothing stands out */
	bool compute;		/* else it is in MPI */
	const char *where;	/* "exchange_halos (heat.c:134)"; "" where it is not known */
	double path_share;	/* of the critical path, 0 to 1 */
	double cost_s;		/* waiting time of all other ranks for it */
	double all_s;		/* run time of all ranks together; if there is a cost */
	int percent;		/* if all ranks took PERCENT less time there */
	double gain_share;	/* the run would be shorter by this share, 0 to 1 */
};

/*
 * "rank 2's computation before exchange_halos (heat.c:134) is 52 % of the critical path and cost the
 * others 3.6 s of rank time, 23 % of all; 20 % less there on all ranks gains 10.6 %"; to be freed.
 */
char *verdict_sentence(const struct verdict *verdict);
/* The same after the headline: the first line of every report; to be freed. */
char *verdict_line(const struct headline *headline, const struct verdict *verdict);

#endif
