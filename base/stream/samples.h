/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of samples in memory; their layout in a stream is in trace.5, section SAMPLES. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "stream.h"

struct samples {
	uint32_t location, worker;	/* worker 0: the location's own thread */
	size_t count, capacity;
	int64_t period_ns, until_ns;
	uint64_t lost;			/* that the system had no room for, since the block before */
	int64_t *time_ns;
	uint32_t *site, *callers;	/* callers 0: not known */
};

/* From a message of kind "sampled". 0 or -1 (with the reason in the reader). */
int samples_read(struct samples *samples, struct reader *in, const struct message *message);
int samples_write(struct writer *out, const struct samples *samples);
void samples_free(struct samples *samples);

#endif
