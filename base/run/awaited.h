/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread that the others of its process wait for.
 *
 * A computation of the thread that makes the calls is divided by the threads through which its
 * path leads, backwards from its end. Where the path's thread waited (thread_waits.h), the path
 * goes on in the thread that was active last before the wait's end, which is itself if no other one
 * was active meanwhile. Threads that began to work within NEAR of that last activity were
 * themselves awaited by the same event, and do not count if others are left. Of several, the last
 * to wait within NEAR of the wait's end is the one. If none or several remain, the awaited thread
 * is not known: the path then stays in the thread that makes the calls. NEAR is the period of the
 * samples, or NEAR_NS if there are none in this computation.
 */
#ifndef AWAITED_H
#define AWAITED_H

#include "thread_waits.h"

struct awaited {
	struct thread_waits threads;
	struct awaited_piece {
		uint32_t worker;	/* 0: the thread that makes the calls */
		int64_t from_ns, to_ns;
	} *at;				/* the last one first; together all of the time */
	size_t count, capacity;
};

/* Who ended THREAD's wait; NULL: that is not known. *AT_NS gets the end of its activity. */
const struct thread_times *awaited_by(const struct thread_waits *all,
    const struct thread_times *thread, const struct time_span *wait, int64_t near_ns,
    int64_t *at_ns);

/*
 * Without switches of several threads all of the time is of the location's own thread. The others
 * make no calls.
 */
void awaited_find(struct awaited *awaited, const struct definitions *known,
    const struct off_lanes *off, const struct sample_lanes *samples, int64_t period_ns,
    uint32_t location, int64_t from_ns, int64_t to_ns);

#endif
