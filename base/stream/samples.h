/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of samples and of switches in memory; their layout in a stream is in trace.5, section
 * SAMPLES. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "stream.h"

struct samples {
	uint32_t location, worker;	/* worker 0: the location's own thread */
	size_t count, capacity;
	/* intervals off the core, of kind "switched"; else "sampled" */
	bool switches;
	bool clock;			/* they are told by the thread's own clock: see trace.5 */
	int64_t period_ns, until_ns;
	int64_t from_ns;		/* of switches: the thread has been watched since */
	/* that the system had no room for, since the block before */
	uint64_t lost;
	int64_t *time_ns;		/* of an interval its begin */
	uint32_t *site, *callers;	/* callers 0: not known */
	/* Of switches: */
	int64_t *end_ns, *on_core_ns;
	unsigned char *reason;		/* enum off_reason */
};
enum off_reason { OFF_BLOCKED, OFF_PREEMPTED, OFF_UNKNOWN };
enum { SAMPLE_COLUMNS = 8 };

/* What goes with the samples of a raw trace, in the message's own bytes. */
struct stacks {
	/* SAMPLE_REGISTERS of 8 bytes for each, as DWARF numbers them */
	const unsigned char *registers;
	/* 4 bytes for each: how much of its stack there is */
	const unsigned char *stack_bytes;
	const unsigned char *stacks;		/* one behind the other */
	size_t size;				/* of all */
};
enum { SAMPLE_REGISTERS = 17 };

bool is_samples(const struct message *message);	/* of either kind */
/* From such a message. 0 or -1 (with the reason in the reader). */
int samples_read(struct samples *samples, struct reader *in, const struct message *message);
/* How much there is of the stack of sample I. */
uint32_t stack_bytes(const struct stacks *stacks, size_t i);
/* The same message's stacks: 1; 0 where it has none; -1 as above. */
int stacks_read(struct stacks *stacks, struct reader *in, const struct message *message,
    size_t count);
int samples_write(struct writer *out, const struct samples *samples);
void samples_free(struct samples *samples);
/* Room for so many, of which those there stay: 0, or -1 without memory. */
int samples_reserve(struct samples *samples, size_t count);
/* The values of a column and their width in bytes; NULL: it has none of that number. */
void *samples_column(const struct samples *samples, int column, size_t *width);

#endif
