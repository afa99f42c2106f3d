/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of sampling share: sample.c has the rings, sample_read.c takes samples out of them. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FRAMES = 24 };	/* callers that are kept of a sample */

/* Of the kernel's bits: ax bx cx dx si di bp sp ip, r8 to r15. */
#define SAMPLE_REGISTER_MASK UINT64_C(0xff01ff)

struct ring {
	struct ring *next;
	struct perf_event_mmap_page *page;
	size_t bytes;		/* of data, behind the page */
	uint64_t lost;		/* samples that the kernel had no room for, not yet told */
	pid_t tid;
	uint32_t worker;	/* 0: not a worker so far */
	int fd;
	bool there;		/* the thread was found when last looked for */
};

/* Before rings are read: sees to room for stacks where they are asked for. False: there is none. */
bool sample_room(void);
/* Appends what the ring holds to the trace; OFFSET: from the kernel's clock to that of the trace. */
void sample_read(struct ring *ring, int64_t offset, int64_t until_ns);

#endif
