/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded: clocks that tick every 40 us, like a counter of 25 kHz. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	const long result = syscall(SYS_clock_gettime, clock, now);

	now->tv_nsec -= now->tv_nsec % 40000;
	return (int)result;
}

int
clock_getres(clockid_t clock, struct timespec *tick)
{
	(void)clock;
	*tick = (struct timespec){ 0, 40000 };
	return 0;
}
