/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of sampling share: sample.c has the rings, sample_read.c reads the kernel's
 * records in them, switch.c makes intervals of records of switches, and place.c finds where threads
 * block.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <linux/perf_event.h>

#include "rows.h"

enum {
	FRAMES = 24,		/* callers kept per sample */
	/* of a stack in which callers are found: with each sample, and where a thread blocks */
	SAMPLED_BYTES = 512,
	COPIED_BYTES = 2048,
	MOST_COPIED = 1 << 15,
};

/* The kernel's bits of the registers that finding callers needs, and their order. */
#ifdef __aarch64__
enum { BASE, LINK, STACK, ADDRESS, REGISTERS };
#define SAMPLE_REGISTER_MASK (UINT64_C(0xf) << 29)	/* x29, lr, sp, pc */
#else
enum { BASE, STACK, ADDRESS, REGISTERS };
#define SAMPLE_REGISTER_MASK UINT64_C(0x1c0)		/* bp, sp, ip */
#endif

/* Why a thread was not on a core in an interval; lp-trace(5), SWITCHES. */
enum reason { BLOCKED, PREEMPTED, NOT_KNOWN };

#define NEVER_READ UINT64_MAX

/* An event of a thread, and its records. */
struct buffer {
	struct perf_event_mmap_page *page;
	size_t bytes;		/* of data, behind the page */
	int fd;
	unsigned read;		/* words with counters in each sample */
};

enum sample_counter {
#define COUNTER(name, ...) COUNT_##name,
#include "../../base/stream/counters.h"
#undef COUNTER
	COUNTERS
};

struct ring {
	struct ring *next;
	struct buffer buffer;
	struct places *places;	/* where it blocked; NULL: not permitted */
	uint64_t lost;		/* records that the kernel had no room for, not yet reported */
	pid_t tid;
	struct thread *thread;	/* that makes calls; NULL: none so far */
	uint32_t worker;	/* number of the thread; 0: none so far, or the first thread's */
	bool there;		/* the last look found the thread */
	/* If switches are recorded, in times of the trace: */
	int counter[COUNTERS];	/* further events in its samples; -1: none */
	uint64_t counted[COUNTERS];	/* up to its last sample */
	uint64_t switched;	/* the kernel's time of the last switch read */
	int64_t look_ns;	/* the look at all rings that reads it */
	int64_t from_ns;	/* watched since then */
	int64_t since_ns;	/* start of its present state */
	int64_t left_ns;	/* when it left its core last */
	int64_t came_ns;	/* when it got a core last; or the last look, if that is later */
	/* the kernel's sums of its time without a core and on one, at the last look and at this */
	struct kernel_sums {
		uint64_t waited_ns;	/* NEVER_READ: neither is known */
		int64_t ran_ns, at_ns;
	} sums, sums_now;
	/* since the last look, by records: of that time, and how often it got a core after each */
	int64_t preempted_ns, on_core_ns;
	uint32_t preempted, arrived;
	int64_t begun_ns;	/* from its creation until then it had no core; 0: written */
	int64_t end_ns;		/* end of the thread; INT64_MAX: it is running */
	/* off the core; told: a record said so, rather than its state when found */
	bool off, told;
	enum reason reason;
	uint32_t site, callers;	/* where it blocked; 0: not known */
};

/* sample.c: the kernel writes this event of the thread into a buffer. 0, or an error number. */
int buffer_open(struct buffer *buffer, struct perf_event_attr *attr, pid_t tid, size_t bytes);
void buffer_close(struct buffer *buffer);
/* What the kernel needs at a switch of the calling thread for its event: it stops and starts it. */
int64_t buffer_cost_ns(const struct buffer *buffer);
struct perf_event_attr event_of(uint64_t config, uint64_t period, int stack_bytes);

/* sample_read.c */
/* The record of a sample: struct perf_event_header, then these. */
struct taken {
	uint64_t id, ip, time, frames, frame[FRAMES + 8];
	/* between time and frames: how many values follow, that of the timer, those of counters */
	uint64_t read[2 + COUNTERS];
};
enum { TAKEN_BYTES = offsetof(struct taken, read) };
struct place {
	uint64_t time;		/* of the kernel */
	uint32_t site, callers;	/* 0: not known */
};
void buffer_copy(const struct buffer *buffer, uint64_t from, void *to, size_t size);
/* Reads the record FROM a place on; returns how much of TAKEN is valid. */
size_t take_record(const struct buffer *buffer, uint64_t from,
    const struct perf_event_header *header, struct taken *taken);
/* Of a record with registers and a copy of the stack, FROM a place on. */
struct place full_place(const struct buffer *buffer, uint64_t from,
    const struct perf_event_header *header, const struct taken *taken, size_t size);
/* The program's own frames: its PLACE, if there is one, and the callers. Returns their number. */
int take_frames(const struct taken *taken, size_t size, uint64_t *place, const void **callers);
uint32_t site_at(uint64_t place);
uint32_t next_number(void);
/* Appends the ring's content to the trace. OFFSET: of the trace's clock from the kernel's. */
void sample_read(struct ring *ring, int64_t offset, int64_t until_ns);

/* collect.c: a thread calls sample_collect() if one of these is half full. */
void collect_begin(void);
void collect_start(void);
void collect_from(const struct buffer *buffer);
bool is_collector(pid_t tid);		/* or may be */
void collect_end(void);
void collect_forget(void);		/* in a forked child */
void sample_collect(void);

/* place.c */
void places_begin(struct ring *ring);
void places_end(struct ring *ring);
int64_t places_cost_ns(const struct ring *ring);	/* at a switch */
void places_read(struct ring *ring);
/* The ring's thread left its core at that time of the kernel: where? */
void places_find(struct ring *ring, uint64_t time);
/* The ring's thread enters or leaves a call. */
void places_enter(struct ring *ring);
void places_leave(struct ring *ring);

/* counters.c: adds events to the ring's. Returns 0 or an error number. */
void counters_prepare(struct perf_event_attr *attr);
int counters_add(struct ring *ring);
void counters_close(struct ring *ring);
void counters_say(void);		/* one line if some are missing */

/* switch.c; the caller holds SAMPLING while it touches rings or intervals. */
extern pthread_mutex_t sampling;
/* Watches it from now on; returns up to where the ring's records are older. */
uint64_t switch_found(struct ring *ring);
/* The ring's thread was ready to run since its creation, and had no core until it began. */
void switch_created(struct ring *ring, int64_t created_ns, int64_t begun_ns);
/* Before the ring is read. */
void switch_begun(struct ring *ring);
/* Up to where the ring is to be read; with it, its thread's sum up to there. */
uint64_t switch_head(struct ring *ring);
void switch_out(struct ring *ring, int64_t at_ns, bool preempted);
void switch_in(struct ring *ring, int64_t at_ns);
void switch_lost(struct ring *ring);	/* the next records are missing */
void switch_write(struct ring *ring, int64_t until_ns);	/* the ring has been read up to UNTIL_NS */
/* From now on, calls of the thread are remembered: switches within them are dropped. */
void switch_begin(struct thread *thread);
void switch_call(struct thread *thread, int64_t enter_ns, int64_t leave_ns);
/* For a kernel that reports no switches: times the computation between calls. */
void stretch_start(struct thread *thread);
void stretch_begin(struct thread *thread, uint64_t leave_ticks);
void stretch_end(struct thread *thread);
void stretch_write(struct thread *thread, int64_t until_ns);

#endif
