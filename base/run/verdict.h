/* SPDX-License-Identifier: BSD-3-Clause */
/* The long pole of a run, in one sentence and in one JSON object that all reports share. */
#ifndef VERDICT_H
#define VERDICT_H

#include "trust.h"

struct place;

enum pole_kind { POLE_COMPUTE, POLE_MPI, POLE_TRANSFER };
enum pole_kind place_kind(const struct place *place);

/* Unknown values are NAN, and the sentence omits them. Fill it from `no_pole`. */
struct long_pole {
	int32_t rank;		/* -1: nothing stands out */
	enum pole_kind kind;	/* a transfer is in MPI, too, most of its time */
	char where[1024];	/* "exchange_halos (heat.c:134)"; "" where it is not known */
	const char *function, *file;	/* with most of a sampled computation; NULL: not known */
	int32_t line;		/* in it, with most samples; 0: not known */
	int64_t samples;	/* of that function; -1: none is named */
	/* of that computation: the rank was off its core, or samples missed it */
	double unsampled_share;
	double times;		/* the computation there, of the mean of the other ranks */
	/* all ranks compute there for equally long: the verdict is of all of them */
	bool alike;
	double path_s, path_share;	/* on the critical path, and the share of it, 0 to 1 */
	double cost_s;		/* waiting time of other ranks for it */
	double all_s;		/* run time of all ranks together; if there is a cost */
	int percent;		/* if all ranks took PERCENT less time there */
	double gain_s, gain_share;	/* the run would be shorter by that, and by this share */
};

extern const struct long_pole no_pole;		/* nothing stands out, nothing is known */

struct verdict {
	struct long_pole pole, next[2];		/* as many as have a rank */
	struct trust trust;
};

/*
 * "rank 2's computation before exchange_halos (heat.c:134) is 52 % of the critical path and cost
 * the others 3.6 s of rank time, 23 % of all; 20 % less there on all ranks gains 10.6 %"; to be
 * freed. With samples: "computation in relax (heat.c:80) before exchange_halos (heat.c:134), 2.5
 * times the mean of the others, is".
 */
char *verdict_sentence(const struct long_pole *pole);
/* The first lines of every report: the same behind the headline, and how far it can be trusted. */
void verdict_text(struct text *text, const struct headline *headline,
    const struct verdict *verdict);
/* An object with the KEY, or on its own. RANKS of the run. */
void verdict_json(struct json *json, const char *key, const struct verdict *verdict,
    int32_t ranks);

#endif
