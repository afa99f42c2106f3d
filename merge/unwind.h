/* SPDX-License-Identifier: BSD-3-Clause */
/* Callers of samples that came with their stacks. */
#ifndef UNWIND_H
#define UNWIND_H

#include "../base/stream/samples.h"
#include "merge.h"

/*
 * All ranks' samples, in the order of their messages: the sites of their callers are defined, and the
 * number of each goes to a file, which is returned; -1: there are no samples. It is named rank by rank
 * from the rank's UNWOUND on, for those that have stacks.
 */
int unwind_samples(struct input *input);
/* Where callers were found they take the place of those that frame pointers led to. */
void unwound_callers(int spool, uint64_t first, uint32_t *callers, size_t count);

#endif
