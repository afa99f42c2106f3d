/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of sampling share: sample.c has the rings, sample_read.c reads the kernel's
 * records in them, and switch.c makes intervals of records of switches.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rows.h"

enum { FRAMES = 24 };	/* callers kept per sample */

/* The kernel's bits for ax bx cx dx si di bp sp ip, r8 to r15. */
#define SAMPLE_REGISTER_MASK UINT64_C(0xff01ff)

/* Why a thread was not on a core in an interval; lp-trace(5), SWITCHES. */
enum reason { BLOCKED, PREEMPTED, NOT_KNOWN };

struct ring {
	struct ring *next;
	struct perf_event_mmap_page *page;
	size_t bytes;		/* of data, behind the page */
	uint64_t lost;		/* records that the kernel had no room for, not yet reported */
	pid_t tid;
	struct thread *thread;	/* that makes calls; NULL: none so far */
	uint32_t worker;	/* number of a thread that makes no calls; 0: none so far */
	int fd;
	int place_fd;		/* samples where it blocks; -1: not permitted */
	uint64_t place_id;	/* id of these samples */
	bool there;		/* the last look found the thread */
	/* If switches are recorded, in times of the trace: */
	int64_t from_ns;	/* watched since then */
	int64_t since_ns;	/* start of its present state */
	int64_t end_ns;		/* end of the thread; INT64_MAX: it is running */
	/* off the core; told: a record said so, rather than its state when found */
	bool off, told;
	enum reason reason;
	uint32_t site, callers;	/* where it blocked; 0: not known */
};

/* Makes room for stacks, if asked for, before rings are read. Returns false if there is none. */
bool sample_room(void);
/* Appends the ring's content to the trace. OFFSET: of the trace's clock from the kernel's. */
void sample_read(struct ring *ring, int64_t offset, int64_t until_ns);

/* switch.c; the caller holds SAMPLING while it touches rings or intervals. */
extern pthread_mutex_t sampling;
void switch_found(struct ring *ring);	/* watches it from now on */
void switch_out(struct ring *ring, int64_t at_ns, bool preempted);
void switch_in(struct ring *ring, int64_t at_ns);
void switch_lost(struct ring *ring);	/* the next records are missing */
void switch_write(struct ring *ring, int64_t until_ns);	/* the ring has been read up to UNTIL_NS */
/* From now on, calls of the thread are remembered: switches within them are dropped. */
void switch_begin(struct thread *thread);
void switch_call(struct thread *thread, uint64_t enter_ticks, uint64_t leave_ticks);
/* For a kernel that reports no switches: times the computation between calls. */
void stretch_start(struct thread *thread);
void stretch_begin(struct thread *thread, uint64_t leave_ticks);
void stretch_write(struct thread *thread, int64_t until_ns);

#endif
