/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether threads sleep between polls that find nothing: lp-trace(5), poll_gaps. */
#include <sys/resource.h>

#include "rows.h"
#include "small.h"

/* One gap in EACH is measured, by two system calls. */
enum { EACH = 8 };

/* CPU time of this thread, and how often it blocked. */
static int64_t
thread_cpu_ns(long *slept)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	*slept = u.ru_nvcsw;
	return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	    ((int64_t)u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void
add_gap(struct poll_gaps *gaps, uint32_t site, uint64_t apart_ns, uint64_t awake_ns)
{
	size_t i = 0;

	while (i < GAP_SITES && gaps->of[i].count > 0 && gaps->of[i].site != site)
		i++;
	if (i == GAP_SITES)
		return;
	gaps->of[i].site = site;
	gaps->of[i].count++;
	gaps->of[i].apart_ns += apart_ns;
	gaps->of[i].awake_ns += awake_ns < apart_ns ? awake_ns : apart_ns;
}

/* When the thread left its last row; before all times if its block is empty. */
static int64_t
last_leave_ns(const struct block *b)
{
	int64_t enter_ns;
	uint64_t duration_ns = 0;
	const size_t size = (b->form & WIDE) != 0 ? 8 : 4;

	if (b->mapping == NULL || b->count == 0)
		return INT64_MIN;
	memcpy(&enter_ns, b->enter + 8 * (b->count - 1), 8);
	/* little-endian */
	memcpy(&duration_ns, b->duration + size * (b->count - 1), size);
	return enter_ns + (int64_t)duration_ns;
}

void
poll_gap(struct thread *thread, uint32_t site, int64_t leave_ns)
{
	struct poll_gaps *gaps = &thread->gaps;
	int64_t cpu_ns;
	long slept;

	if (last_leave_ns(&thread->block) != thread->polled_ns)
		return;		/* another call came in between */
	if (gaps->from_seq != thread->seq && gaps->seen++ % EACH != 0)
		return;
	cpu_ns = thread_cpu_ns(&slept);
	if (gaps->from_seq == thread->seq) {
		const uint64_t awake_ns = (uint64_t)(cpu_ns - gaps->from_cpu_ns);

		/* If it was only preempted, it was working, or its sleep was over meanwhile. */
		add_gap(gaps, site, slept > gaps->from_slept ?
		    (uint64_t)(leave_ns - gaps->from_ns) : awake_ns, awake_ns);
		gaps->from_seq = 0;
		return;
	}
	gaps->from_seq = thread->seq + 1;
	gaps->from_ns = leave_ns;
	gaps->from_cpu_ns = cpu_ns;
	gaps->from_slept = slept;
}

void
poll_gaps_append(void)
{
	for (const struct thread *thread = all_threads; thread != NULL; thread = thread->next)
		for (size_t i = 0; i < GAP_SITES && thread->gaps.of[i].count > 0; i++) {
			const struct gap_sum *sum = &thread->gaps.of[i];

			small_append("poll_gaps", PAIRS(
			    pair_uint("location", thread->location),
			    pair_uint("site", sum->site),
			    pair_uint("count", sum->count),
			    pair_uint("apart_ns", sum->apart_ns),
			    pair_uint("awake_ns", sum->awake_ns)));
		}
}
