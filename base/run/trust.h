/* SPDX-License-Identifier: BSD-3-Clause */
/* How far to trust the verdict: cores, other processes, clocks, samples, missing ranks. */
#ifndef TRUST_H
#define TRUST_H

#include "../tool/json.h"
#include "definitions.h"

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
	int64_t cores, ranks, threads, samples, clock_error_ns;		/* -1: unknown */
	double preempted, off_core, others;				/* NAN: unknown */
};

struct trust trust_of(const struct definitions *known, const struct evidence *evidence);
void trust_free(struct trust *trust);

/* "good: 2 ranks on 2 cores, ..." or "do not act on this: ..."; NULL: unknown. free() it. */
char *trust_text(const struct trust *trust);
void trust_json(struct json *json, const struct trust *trust);

#endif
