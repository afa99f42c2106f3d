/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters beside samples: events in the group of a thread's timer, whose values the kernel writes
 * into each sample. Those that the first thread cannot have are left out everywhere, and are named
 * once.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sample.h"

static const struct {
	const char *name;
	uint32_t type;
	uint64_t event;
} counters[COUNTERS] = {
#define COUNTER(name, type, event) { #name, PERF_TYPE_##type, PERF_COUNT_##event },
#include "../../base/stream/counters.h"
#undef COUNTER
};

static unsigned missing;
static int missing_error;
static bool tried;		/* by the first thread */

void
counters_prepare(struct perf_event_attr *attr)
{
	if (options.counters == 0)
		return;
	attr->sample_type |= PERF_SAMPLE_READ;
	attr->read_format = PERF_FORMAT_GROUP;
	attr->disabled = 1;	/* a sample before all counters are there would have fewer values */
}

static int
add_counter(const struct ring *ring, int c)
{
	struct perf_event_attr attr = { .type = counters[c].type, .size = sizeof attr,
	    .config = counters[c].event, .read_format = PERF_FORMAT_GROUP,
	    .exclude_kernel = c != COUNT_migrations,	/* which happen there */
	    .exclude_hv = 1,
	    .use_clockid = 1, .clockid = CLOCK_MONOTONIC };		/* as the timer */

	return (int)syscall(SYS_perf_event_open, &attr, ring->tid, -1, ring->buffer.fd,
	    PERF_FLAG_FD_CLOEXEC);
}

int
counters_add(struct ring *ring)
{
	int error = 0;

	for (int c = 0; c < COUNTERS; c++)
		ring->counter[c] = -1;
	if (options.counters == 0)
		return 0;
	ring->buffer.read = 2;
	for (int c = 0; c < COUNTERS && error == 0; c++) {
		if ((options.counters >> c & 1) == 0)
			continue;
		if ((ring->counter[c] = add_counter(ring, c)) >= 0)
			ring->buffer.read++;
		else if (tried)
			error = errno;
		else {
			missing_error = errno;
			missing |= 1u << c;
		}
	}
	options.counters &= ~missing;
	tried = true;
	if (error == 0 && ioctl(ring->buffer.fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
		error = errno;
	return error;
}

void
counters_close(struct ring *ring)
{
	for (int c = 0; c < COUNTERS; c++)
		if (ring->counter[c] >= 0)
			close(ring->counter[c]);
}

void
counters_say(void)
{
	char line[400] = "--counters: not counted here:";

	for (int c = 0; c < COUNTERS; c++)
		if (missing >> c & 1)
			snprintf(line + strlen(line), sizeof line - strlen(line), " %s",
			    counters[c].name);
	if (missing == 0)
		return;
	snprintf(line + strlen(line), sizeof line - strlen(line), ": %s", strerror(missing_error));
	say(line);
}
