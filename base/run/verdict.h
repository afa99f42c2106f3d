/* SPDX-License-Identifier: BSD-3-Clause */
/* The long pole of a run, in one sentence that all reports share. */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>
#include <stdint.h>

struct headline;

/* Unknown values are NAN, and the sentence omits them. Fill it from `no_verdict`. */
struct verdict {
	int32_t rank;		/* -1: nothing stands out */
	bool compute;		/* else it is in MPI */
	const char *where;	/* "exchange_halos (heat.c:134)"; "" where it is not known */
	const char *function, *file;	/* with most of a sampled computation; NULL: not known */
	double unsampled_share;	/* of that computation: the rank was off its core, or samples missed it */
	double times;		/* the computation there, of the mean of the other ranks */
	bool alike;		/* all ranks compute there for equally long: the verdict is of all of them */
	double path_share;	/* of the critical path, 0 to 1 */
	double cost_s;		/* waiting time of other ranks for it */
	double all_s;		/* run time of all ranks together; if there is a cost */
	int percent;		/* if all ranks took PERCENT less time there */
	double gain_share;	/* the run would be shorter by this share, 0 to 1 */
};

extern const struct verdict no_verdict;		/* nothing stands out, nothing is known */

/*
 * "rank 2's computation before exchange_halos (heat.c:134) is 52 % of the critical path and cost the
 * others 3.6 s of rank time, 23 % of all; 20 % less there on all ranks gains 10.6 %"; to be freed.
 * With samples: "computation in relax (heat.c) before exchange_halos (heat.c:134), 2.5 times the mean of the others, is".
 */
char *verdict_sentence(const struct verdict *verdict);
/* The same after the headline: the first line of every report; to be freed. */
char *verdict_line(const struct headline *headline, const struct verdict *verdict);

#endif
