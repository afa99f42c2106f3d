/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run's long pole is, in one sentence that all reports share. */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>
#include <stdint.h>

struct headline;

/* What is not known is NAN, and the sentence goes without it. */
struct verdict {
	int32_t rank;		/* -1: nothing stands out */
	bool compute;		/* else it is in MPI */
	const char *where;	/* "exchange_halos (heat.c:134)"; "" where it is not known */
	double path_share;	/* of the critical path, 0 to 1 */
	double cost_s;		/* that other ranks waited for it, all of them together */
	double all_s;		/* run time of all ranks together; where there is a cost */
	int percent;		/* if all ranks took so much less time there */
	double gain_share;	/* the run would be so much shorter, 0 to 1 */
};

/*
 * "rank 2's computation before exchange_halos (heat.c:134) is 52 % of the critical path and cost the
 * others 3.6 s of rank time, 23 % of all; 20 % less there on all ranks gains 10.6 %"; to be freed.
 */
char *verdict_sentence(const struct verdict *verdict);
/* The same behind the run that it is of: the first line of every report; to be freed. */
char *verdict_line(const struct headline *headline, const struct verdict *verdict);

#endif
