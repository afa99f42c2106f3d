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

/* What goes with the samples of a raw trace, in the message's own bytes. */
struct stacks {
	const unsigned char *registers;		/* SAMPLE_REGISTERS of 8 bytes for each, as DWARF numbers them */
	const unsigned char *stack_bytes;	/* 4 bytes for each: how much of its stack there is */
	const unsigned char *stacks;		/* one behind the other */
	size_t size;				/* of all */
};
enum { SAMPLE_REGISTERS = 17 };

/* From a message of kind "sampled". 0 or -1 (with the reason in the reader). */
int samples_read(struct samples *samples, struct reader *in, const struct message *message);
/* How much there is of the stack of sample I. */
uint32_t stack_bytes(const struct stacks *stacks, size_t i);
/* The same message's stacks: 1; 0 where it has none; -1 as above. */
int stacks_read(struct stacks *stacks, struct reader *in, const struct message *message, size_t count);
int samples_write(struct writer *out, const struct samples *samples);
void samples_free(struct samples *samples);

#endif
