/* SPDX-License-Identifier: BSD-3-Clause */
/* The meaning of samples: places with names, and time on a core. */
#ifndef SAMPLED_PLACE_H
#define SAMPLED_PLACE_H

#include "../tool/stacks.h"
#include "definitions.h"

/* The name of computation without samples, a line beside the functions. */
extern const char not_sampled[];
#define NOT_SAMPLED "(not on a core, or not sampled)"
/* The name of computation on a core without samples, if there are switches: likewise. */
extern const char on_core_name[];
extern const char thread_wait_name[];

/*
 * The function of a sampled place, or of its caller; "[module]" if it is unknown. Names and files
 * live as long as the definitions.
 */
struct stack_frame place_frame(const struct definitions *known, uint32_t site);
struct stack_frame caller_frame(const struct definitions *known, uint32_t site);

bool same_function(const struct definitions *known, uint32_t site, uint32_t other);

/*
 * The innermost place of a sample that is in the program or in a library of the user, not of the
 * system. The place itself if there is no such caller, or where a runtime waits.
 */
uint32_t own_place(const struct definitions *known, uint32_t site, uint32_t callers);
/* The same where a thread waits in a runtime: the place in the program that called this. */
uint32_t waiting_place(const struct definitions *known, uint32_t site, uint32_t callers);
/* The place that it called, in a library of the system; 0: it called none. */
uint32_t called_place(const struct definitions *known, uint32_t site, uint32_t callers);
/*
 * The function of such a place, in the user's files: the outermost into which the code there is
 * inlined. INLINED: the innermost; without a name if none is inlined. "Python code" is all that
 * samples show of a script.
 */
struct stack_frame own_frame(const struct definitions *known, uint32_t site,
    struct stack_frame *inlined);

/* The time of each sample: the period, or less if all would exceed the computation. */
int64_t sample_worth(int64_t period_ns, uint64_t samples, int64_t compute_ns);
/*
 * The standard error of the time of COUNT samples, in ns. Of n = compute / worth draws, k are this
 * function's. By Laplace's rule the variance of the share is (k+1)(n-k+1) / ((n+2)^2 (n+3)), which
 * is never 0. In a run without samples the error is 0.
 */
double sampled_error(uint64_t count, int64_t worth_ns, int64_t compute_ns);

#endif
