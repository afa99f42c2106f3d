/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock that times calls, and the comparison of clocks between ranks: clock.c. */
#ifndef CLOCK_H
#define CLOCK_H

#include "recorder.h"

/*
 * Calls are timed in ticks: of the processor's counter if it is good, else nanoseconds of
 * CLOCK_MONOTONIC. Each clock has one map from ticks to nanoseconds.
 */
struct clock_map {
	bool counter;
	uint64_t first_ticks;	/* before any timed event */
	int64_t first_ns;
	uint64_t rate;		/* nanoseconds per tick, times 2^32 */
};
SHARED struct clock_map clock_map;
struct instant {		/* one moment on both clocks, before one is chosen */
	uint64_t counter;
	int64_t monotonic_ns;
};
struct instant clock_instant(void);
int64_t clock_namespace_ns(void);
/* Collective over MPI_COMM_WORLD: chooses the clock; earlier instants become ticks of it. */
void clock_start(const struct instant *init);
uint64_t clock_ticks_at(const struct instant *instant);
int64_t clock_tick_ns(void);	/* how fine it is, at least 1 */
/* writes the offset from the kernel's clock, which other runs on the host know, to the trace */
void clock_say(void);
void clock_sync(void);	/* collective over MPI_COMM_WORLD; appends its samples to the trace */
/* after a collective over MPI_COMM_WORLD: compares again if it is time */
void clock_sync_again(void);

ALWAYS uint64_t
counter_ticks(void)
{
#if defined __x86_64__
	return __builtin_ia32_rdtsc();
#elif defined __aarch64__
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0;
#endif
}

ALWAYS uint64_t
clock_ticks(void)
{
	struct timespec now;

	if (LIKELY(clock_map.counter))
		return counter_ticks();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

ALWAYS int64_t
ticks_ns(uint64_t ticks)
{
	/* one 64 by 64 bit multiplication */
	const unsigned __int128 since = ticks - clock_map.first_ticks;

	return clock_map.first_ns + (int64_t)(since * clock_map.rate >> 32);
}

ALWAYS int64_t clock_ns(void) { return ticks_ns(clock_ticks()); }

#endif
