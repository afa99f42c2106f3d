/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of calls, and how those of the ranks are compared: clock.c. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "recorder.h"

/*
 * clock.c: calls are timed in ticks, of the processor's counter where that can be trusted and
 * of CLOCK_MONOTONIC, in nanoseconds, elsewhere. One map per clock leads to nanoseconds.
 */
struct clock_map {
	bool counter;
	uint64_t first_ticks;	/* before all that is timed */
	int64_t first_ns;
	uint64_t rate;		/* nanoseconds a tick, times 2^32 */
};
SHARED struct clock_map clock_map;
struct instant {		/* the same moment on both, before it is known which is used */
	uint64_t counter;
	int64_t monotonic_ns;
};
struct instant clock_instant(void);
uint64_t hash_text(uint64_t hash, const char *text);
int64_t clock_namespace_ns(void);
/* All ranks of MPI_COMM_WORLD: chooses the clock, which instants of before are then ticks of. */
void clock_start(const struct instant *init);
uint64_t clock_ticks_at(const struct instant *instant);
/* how far the kernel's clock is, which other runs on the host know; to the trace */
void clock_say(void);
void clock_sync(void);		/* all ranks of MPI_COMM_WORLD; appends its samples to the trace */
void clock_sync_again(void);	/* after a collective of MPI_COMM_WORLD: at times compares again */

ALWAYS uint64_t
clock_ticks(void)
{
	struct timespec now;

#ifdef __x86_64__
	if (LIKELY(clock_map.counter))
		return __builtin_ia32_rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

ALWAYS int64_t
ticks_ns(uint64_t ticks)
{
	/* one multiplication of 64 bits by 64 */
	const unsigned __int128 since = ticks - clock_map.first_ticks;

	return clock_map.first_ns + (int64_t)(since * clock_map.rate >> 32);
}

ALWAYS int64_t clock_ns(void) { return ticks_ns(clock_ticks()); }

#endif
