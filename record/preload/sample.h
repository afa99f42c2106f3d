/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of sampling share: sample.c has the rings, sample_read.c takes out of them what
 * the kernel wrote, and switch.c makes intervals of what it tells of switches.
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

enum { FRAMES = 24 };	/* callers that are kept of a sample */

/* Of the kernel's bits: ax bx cx dx si di bp sp ip, r8 to r15. */
#define SAMPLE_REGISTER_MASK UINT64_C(0xff01ff)

/* Of an interval in which a thread was not on a core; lp-trace(5), SWITCHES. */
enum reason { BLOCKED, PREEMPTED, NOT_KNOWN };

struct ring {
	struct ring *next;
	struct perf_event_mmap_page *page;
	size_t bytes;		/* of data, behind the page */
	uint64_t lost;		/* records that the kernel had no room for, not yet told */
	pid_t tid;
	struct thread *thread;	/* that makes calls; NULL: none so far */
	uint32_t worker;	/* its number as one that makes none; 0: not so far */
	int fd;
	int place_fd;		/* samples where it blocks; -1: they are not allowed */
	uint64_t place_id;	/* what they are told by */
	bool there;		/* the thread was found when last looked for */
	/* Where switches are asked for, times of the trace: */
	int64_t from_ns;	/* it has been watched since */
	int64_t since_ns;	/* as it is now */
	int64_t end_ns;		/* the thread has ended; INT64_MAX: it has not */
	/* off the core; a record has said so, and not the state it was found in */
	bool off, told;
	enum reason reason;
	uint32_t site, callers;	/* where it blocked; 0: not known */
};

/* Before rings are read: sees to room for stacks where they are asked for. False: there is none. */
bool sample_room(void);
/* Appends what the ring holds to the trace; OFFSET: from the kernel's clock to that of the
 * trace. */
void sample_read(struct ring *ring, int64_t offset, int64_t until_ns);

/* switch.c; SAMPLING is held while rings or intervals are touched. */
extern pthread_mutex_t sampling;
void switch_found(struct ring *ring);	/* it is watched from now on */
void switch_out(struct ring *ring, int64_t at_ns, bool preempted);
void switch_in(struct ring *ring, int64_t at_ns);
void switch_lost(struct ring *ring);	/* records that would come next are missing */
void switch_write(struct ring *ring, int64_t until_ns);	/* the ring has been read until then */
/* Calls of the thread are told from now on: what lies within them is not kept. */
void switch_begin(struct thread *thread);
void switch_call(struct thread *thread, uint64_t enter_ticks, uint64_t leave_ticks);
/* The kernel tells no switches: stretches between calls are timed. */
void stretch_start(struct thread *thread);
void stretch_begin(struct thread *thread, uint64_t leave_ticks);
void stretch_write(struct thread *thread, int64_t until_ns);

#endif
