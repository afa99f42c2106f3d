/* SPDX-License-Identifier: BSD-3-Clause */
/* The long pole of a run, in one sentence and one JSON object that all reports share. */
#ifndef VERDICT_H
#define VERDICT_H

#include "../tool/json.h"
#include "../tool/stacks.h"
#include "definitions.h"
#include "thread_lanes.h"

struct balance;
struct place;

/* ---- trust.c: how far to trust it: cores, other processes, clocks, samples, missing ranks ---- */

enum trust_level { TRUST_UNKNOWN, TRUST_GOOD, TRUST_FAIR, TRUST_POOR };

/* Evidence beyond the definitions of a run. Start from `no_evidence`. */
struct evidence {
	int64_t samples;		/* of computation; -1: unknown, or not sampled */
	int64_t function_samples;	/* of the named function; -1: none */
	int64_t unmatched;		/* sends, receives and collectives without a partner */
	int64_t calls;
	/* a rank whose threads may have waited for each other, which no path follows; -1: none */
	int32_t handing_rank;
};

extern const struct evidence no_evidence;

struct trust {
	enum trust_level level;		/* of the worst reason; unknown if the cores are */
	char *measured;			/* load_measured of the worst host; NULL: unknown */
	char *reasons[8];		/* why not good; the first is MEASURED if ITS_CORES */
	size_t reason_count;
	bool its_cores;
	struct load_shares load;
	int64_t samples, clock_error_ns;	/* -1: unknown */
};

struct trust trust_of(const struct definitions *known, const struct evidence *evidence);
void trust_free(struct trust *trust);

/* "good: 2 ranks on 2 cores, ..." or "do not act on this: ..."; NULL: unknown. free() it. */
char *trust_text(const struct trust *trust);
void trust_json(struct json *json, const struct trust *trust);
/* An object "load" for all hosts together; nothing if unknown. */
void load_json(struct json *json, const struct headline *headline);

/* ---- verdict.c ------------------------------------------------------------------------------ */

enum pole_kind { POLE_COMPUTE, POLE_MPI, POLE_TRANSFER, POLE_POLLING, POLE_STUCK };
enum pole_kind place_kind(const struct place *place);

/* What a rank does most in what counts as its computation. */
enum pole_reason { COMPUTES, IS_BLOCKED, IS_PREEMPTED, WAITS_FOR_THREADS, POLE_REASONS };

/* Unknown values are NAN, and the sentence omits them. Start from `no_pole`. */
struct long_pole {
	int32_t rank;		/* -1: nothing stands out */
	enum pole_kind kind;	/* a transfer is, for most of its time, also in MPI */
	char where[1024];	/* "exchange_halos (heat.c:134)"; "" if unknown */
	/* with most samples of the computation, or in which it is blocked; NULL: unknown */
	const char *function, *file;
	int32_t line;		/* with most samples in the function; 0: unknown */
	struct stack_frame inlined;	/* there, with these samples; without a name: none */
	int64_t samples;	/* of that function; -1: none */
	enum pole_reason reason;	/* of a rank that computes longer, why it does */
	double reason_share;	/* of the computation, if the reason is another */
	/* of the computation: off its core by reason, and on it, but missed by samples */
	double unsampled_share[OFF_REASONS + 1];
	double times;		/* the computation there, relative to the other ranks' mean */
	bool alike;		/* all ranks compute equally long there: the verdict is for all */
	/* several that compute equally long there, RANK among them, in order; or of a run that
	 * hangs, RANK, and others to look at; otherwise NULL */
	int32_t *ranks;
	size_t rank_count;
	double path_s, path_share;	/* on the critical path; its share of the path, 0 to 1 */
	double cost_s;		/* waiting time of other ranks for it */
	double all_s;		/* run time of all ranks together, if there is a cost */
	/* the gain is for PERCENT less time there on all ranks, or if BALANCED, for that rank as
	 * fast as the others; the run takes RUN_S */
	int percent;
	bool balanced;
	double run_s;
	double gain_s, gain_share;	/* how much shorter the run would be, and its share */
	const char *hung;	/* what is known of a run that hangs */
};

extern const struct long_pole no_pole;		/* nothing stands out, nothing is known */

/* Does the pole tell of that rank? */
bool pole_has(const struct long_pole *pole, int32_t rank);
/*
 * The pole's rank, if several of its threads make calls and may have waited for each other: no
 * function has samples in its computation, or much of that is blocked. Otherwise -1.
 */
int32_t pole_handing_rank(const struct long_pole *pole, const struct definitions *known);
/* The pole of a run that hangs; false: it did not, as far as is known. */
bool pole_hung(struct long_pole *pole, const struct definitions *known);

/* Does a rank compute long enough at a place, and the others at all? Else that it be as fast as
 * they are is no question. */
bool can_be_balanced(double own_ns, double others_ns);
/* If that is known of PLACE, it is what the pole gains; shares are of TOLD_NS. */
void pole_balance(struct long_pole *pole, const struct place *place,
    const struct definitions *known, const struct balance *balances, size_t count,
    double told_ns);

struct verdict {
	struct long_pole pole, next[2];		/* those with a rank >= 0 */
	struct trust trust;
};

void verdict_free(struct verdict *verdict);

/*
 * "rank 2's computation before exchange_halos (heat.c:134) is 52 % of the critical path and cost
 * the others 3.6 s of rank time, 23 % of all; 20 % less there on all ranks gains 10.6 %", or for a
 * slow rank "balanced, the run takes 4.1 instead of 10.2 s"; free() it. With samples:
 * "computation in relax (heat.c:80) before exchange_halos (heat.c:134), 2.5
 * times the mean of the others, is".
 */
char *verdict_sentence(const struct long_pole *pole);
/* The first lines of every report: headline, sentence, and how far it can be trusted. */
void verdict_text(struct text *text, const struct headline *headline,
    const struct verdict *verdict);
/* An object with KEY, or on its own. RANKS: of the run. */
void verdict_json(struct json *json, const char *key, const struct verdict *verdict,
    int32_t ranks);

#endif
