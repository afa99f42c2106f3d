/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the program's threads leave their cores and return. At each switch the kernel writes a
 * record into the thread's ring. Intervals within recent calls of the thread are dropped, since a
 * rank that yields in a call switches thousands of times a second.
 *
 * If the kernel refuses such records, each thread that makes calls reads its own CPU clock at both
 * ends of stretches between calls, at most once a millisecond. That shows how long it was off a
 * core there, but not when or why.
 */
#include <stdlib.h>
#include <unistd.h>

#include "../../base/tool/order.h"
#include "clock.h"
#include "sample.h"
#include "small.h"

/* The kernel's number of a thread's CPU clock; clock_getcpuclockid(3) knows those of processes. */
#define THREAD_CLOCK(tid) ((clockid_t)(~(unsigned)(tid) << 3 | 6))

enum {
	BATCH = 1024,			/* intervals per message */
	PAST = 1 << 14,			/* more than a ring holds */
	/* recent calls of a thread that may contain an interval */
	KEPT_CALLS = 4096,
	LONG_NS = 1000,			/* shorter calls have none: two switches take longer */
	STRETCH_EVERY_NS = 1000000,	/* least time between two readings of the thread's clock */
	STRETCH_LEAST_NS = 20000,	/* shorter stretches are not reported */
};

struct intervals {
	int64_t time_ns[BATCH], duration_ns[BATCH], on_core_ns[BATCH];
	unsigned char reason[BATCH];
	uint32_t site[BATCH], callers[BATCH];
	uint32_t count;
	bool placed;			/* one of them has a site */
};

struct switching {
	int64_t enter_ns[KEPT_CALLS], leave_ns[KEPT_CALLS];
	/* number of calls so far; the array is a ring */
	_Atomic uint64_t calls;
	/* Where the thread reads its own clock: */
	struct intervals *stretches;
	int64_t from_ns, begin_ns, begin_cpu_ns;
};

/* Of the ring being read, until all of it is read; BATCH: until they are written. */
static struct past {
	int64_t from_ns, to_ns;
	uint32_t site, callers;
	enum reason reason;
	bool arrived;			/* and then it had a core */
	bool woken;			/* and it was blocked */
	bool in_call;			/* not written */
} past[PAST];
static uint32_t past_count;
static struct intervals batch;

/* RING NULL: the thread has read its own clock. */
static void
write_intervals(struct intervals *v, struct ring *ring, const struct thread *thread,
    int64_t until_ns)
{
	const bool clocked = ring == NULL;
	const size_t count = v->count;
	/* otherwise the samples report it */
	const uint64_t missing = clocked || options.sample_hz > 0 ? 0 : ring->lost;

	small_append("switched", PAIRS(
	    pair_uint("location", thread != NULL ? thread->location : 0),
	    pair_unless_0("worker", clocked ? 0 : ring->worker),
	    pair_uint("count", count),
	    pair_int("from_ns", clocked ? thread->switching->from_ns : ring->from_ns),
	    pair_int("until_ns", until_ns),
	    pair_if(!clocked && ring->look_ns != until_ns,
	        pair_int("look_ns", clocked ? 0 : ring->look_ns)),
	    pair_unless_0("lost", missing),
	    pair_bytes("time", v->time_ns, 8 * count),
	    pair_bytes("duration", v->duration_ns, 8 * count),
	    pair_bytes("reason", v->reason, count),
	    pair_true("clock", clocked),
	    pair_if(clocked, pair_bytes("on_core", v->on_core_ns, 8 * count)),
	    pair_if(v->placed, pair_bytes("site", v->site, 4 * count)),
	    pair_if(v->placed, pair_bytes("callers", v->callers, 4 * count))));
	v->count = 0;
	v->placed = false;
	if (missing > 0)
		ring->lost = 0;
}

/* ---- the kernel's records ---- */

/* The state of a thread that existed before it was watched, according to the system. */
static bool
is_asleep(pid_t tid)
{
	char text[400];
	const char *state;

	thread_file(tid, "stat", text, sizeof text);
	state = strrchr(text, ')');	/* behind the name */
	return state != NULL && strlen(state) > 2 && state[2] != 'R';
}

/* Reads the sums of now; returns up to where the ring has what is in them. */
static uint64_t
read_sums(struct ring *ring)
{
	const __u64 *head = &ring->buffer.page->data_head;
	uint64_t read = __atomic_load_n(head, __ATOMIC_ACQUIRE), before, by_last_tick_ns;
	struct kernel_sums *sums = &ring->sums_now;
	int tries = 3;

	do {
		before = read;
		if (!thread_scheduled(ring->tid, &by_last_tick_ns, &sums->waited_ns))
			sums->waited_ns = NEVER_READ;
		sums->ran_ns = clock_of(THREAD_CLOCK(ring->tid));
		sums->at_ns = clock_ns();
		read = __atomic_load_n(head, __ATOMIC_ACQUIRE);
	} while (read != before && --tries > 0);
	return read;
}

uint64_t
switch_head(struct ring *ring)
{
	const struct perf_event_mmap_page *page = ring->buffer.page;
	const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	return options.switches && head != page->data_tail ? read_sums(ring) : head;
}

uint64_t
switch_found(struct ring *ring)
{
	const uint64_t head = read_sums(ring);

	ring->sums = ring->sums_now;
	ring->from_ns = ring->since_ns = ring->left_ns = ring->came_ns = ring->sums.at_ns;
	ring->end_ns = INT64_MAX;
	ring->off = ring->tid != gettid() && is_asleep(ring->tid);
	ring->reason = BLOCKED;
	return head;
}

void
switch_created(struct ring *ring, int64_t created_ns, int64_t begun_ns)
{
	/* the sums have what was recorded so far */
	__atomic_store_n(&ring->buffer.page->data_tail, switch_found(ring), __ATOMIC_RELEASE);
	/* It may have waited again before it was watched: then it began as much later. */
	if (ring->sums.waited_ns != NEVER_READ)
		begun_ns = larger(begun_ns, created_ns + (int64_t)ring->sums.waited_ns);
	if (begun_ns <= created_ns)
		return;
	ring->from_ns = ring->since_ns = created_ns;
	ring->begun_ns = begun_ns;
	ring->off = ring->told = true;
	ring->reason = PREEMPTED;
}

/* Whether one of the kept calls contains the instant, a middle; their owner may go on meanwhile. */
static bool
lies_in_call(struct switching *of, int64_t at_ns)
{
	const uint64_t end = atomic_load_explicit(&of->calls, memory_order_acquire);
	uint64_t low = end > KEPT_CALLS - 64 ? end - (KEPT_CALLS - 64) : 0, high = end;
	const uint64_t first = low;
	bool within;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (of->leave_ns[middle % KEPT_CALLS] < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	within = low < end && of->enter_ns[low % KEPT_CALLS] <= at_ns;
	return within &&
	    atomic_load_explicit(&of->calls, memory_order_acquire) - first <= KEPT_CALLS;
}

static void
put_interval(struct ring *ring, const struct past *p, int64_t from_ns, int64_t to_ns)
{
	const uint32_t i = batch.count;

	if (from_ns >= to_ns)
		return;
	batch.time_ns[i] = from_ns;
	batch.duration_ns[i] = to_ns - from_ns;
	batch.reason[i] = (unsigned char)p->reason;
	batch.site[i] = p->site;
	batch.callers[i] = p->callers;
	batch.placed |= p->site != 0;
	if (++batch.count == BATCH)
		write_intervals(&batch, ring, ring->thread, to_ns);
}

/*
 * Of the time since the last look, how long it took the kernel each time to switch to the thread.
 * The kernel counts that for the thread, while its records say that the thread is not there yet.
 * *READY_NS gets what the thread was ready to run, without preemption, which has records.
 */
static int64_t
switching_each_ns(struct ring *ring, int64_t *ready_ns)
{
	const struct kernel_sums *before = &ring->sums, *now = &ring->sums_now;
	int64_t each_ns = 0;

	*ready_ns = 0;
	if (before->waited_ns != NEVER_READ && now->waited_ns != NEVER_READ) {
		if (ring->arrived > 0)
			each_ns = larger(0, (now->ran_ns - before->ran_ns -
			    ring->on_core_ns) / ring->arrived);
		*ready_ns = (int64_t)(now->waited_ns - before->waited_ns) -
		    (ring->preempted_ns - each_ns * ring->preempted);
	}
	ring->sums = *now;
	ring->preempted_ns = ring->on_core_ns = 0;
	ring->preempted = ring->arrived = 0;
	return each_ns;
}

/*
 * The kernel does not say when a thread was woken. So each time it waited equally long for a core,
 * but not longer than it was off it.
 */
static int64_t
ready_each_ns(int64_t sum_ns)
{
	int64_t each_ns = 0, last_ns;

	do {
		int64_t rest_ns = sum_ns, longer = 0;

		for (const struct past *p = past; p < past + past_count; p++)
			if (p->woken && p->to_ns - p->from_ns > each_ns)
				longer++;
			else if (p->woken)
				rest_ns -= p->to_ns - p->from_ns;
		last_ns = each_ns;
		if (longer > 0 && rest_ns / longer > each_ns)
			each_ns = rest_ns / longer;
	} while (each_ns > last_ns);
	return each_ns;
}

static void
write_past(struct ring *ring, int64_t until_ns)
{
	int64_t ready_ns;
	const int64_t switching_ns = switching_each_ns(ring, &ready_ns),
	    each_ns = ready_each_ns(ready_ns);

	for (struct past *p = past; p < past + past_count; p++) {
		int64_t ready_from_ns;

		if (p->in_call)
			continue;
		if (p->arrived)
			p->to_ns -= smaller(switching_ns, p->to_ns - p->from_ns);
		ready_from_ns = p->to_ns;
		if (p->woken)
			ready_from_ns -= smaller(each_ns, p->to_ns - p->from_ns);
		put_interval(ring, p, p->from_ns, ready_from_ns);
		p->reason = PREEMPTED;
		p->site = p->callers = 0;
		put_interval(ring, p, ready_from_ns, p->to_ns);
	}
	past_count = 0;
	write_intervals(&batch, ring, ring->thread, until_ns);
}

/* Adds the state of the ring's thread up to now; ARRIVED: it has a core. */
static void
add_interval(struct ring *ring, enum reason reason, int64_t end_ns, bool arrived)
{
	struct switching *calls = ring->thread != NULL ? ring->thread->switching : NULL;
	const int64_t from_ns = ring->since_ns;
	const bool woken = arrived && reason == BLOCKED;
	const bool in_call = calls != NULL && lies_in_call(calls, from_ns + (end_ns - from_ns) / 2);

	if (end_ns <= from_ns || (in_call && !woken))
		return;
	past[past_count++] = (struct past){ from_ns, end_ns, ring->site, ring->callers, reason,
	    arrived, woken, in_call };
	if (past_count == PAST)
		write_past(ring, end_ns);
}

void
switch_out(struct ring *ring, int64_t at_ns, bool preempted)
{
	/* Records from before the first sums were read tell the state then. */
	at_ns = larger(at_ns, ring->from_ns);
	if (ring->told && ring->off) {	/* the missing records end here */
		add_interval(ring, ring->reason, at_ns, false);
		ring->sums.waited_ns = NEVER_READ;
	} else
		ring->on_core_ns += at_ns - ring->came_ns;
	ring->told = ring->off = true;
	ring->reason = preempted ? PREEMPTED : BLOCKED;
	ring->since_ns = ring->left_ns = at_ns;
}

void
switch_in(struct ring *ring, int64_t at_ns)
{
	at_ns = larger(at_ns, ring->from_ns);
	if (!ring->told && !ring->off)	/* when found, it was ready to run but without a core */
		ring->reason = PREEMPTED;
	if (!ring->told || ring->off) {
		add_interval(ring, ring->reason, at_ns, true);
		if (ring->reason == PREEMPTED) {
			ring->preempted_ns += at_ns - ring->left_ns;
			ring->preempted++;
		}
		ring->arrived++;
	}
	ring->told = true;
	ring->off = false;
	ring->since_ns = ring->came_ns = at_ns;
	ring->site = ring->callers = 0;
}

void
switch_begun(struct ring *ring)
{
	if (ring->begun_ns > 0) {
		/* the kernel's sums have that interval, and its switching is not in it */
		add_interval(ring, PREEMPTED, ring->begun_ns, false);
		ring->off = false;
		ring->since_ns = ring->begun_ns;
	}
	ring->begun_ns = 0;
}

void
switch_lost(struct ring *ring)
{
	ring->told = ring->off = true;
	ring->reason = NOT_KNOWN;
	ring->site = ring->callers = 0;
	ring->sums.waited_ns = NEVER_READ;
}

void
switch_write(struct ring *ring, int64_t until_ns)
{
	until_ns = smaller(until_ns, ring->end_ns);
	if (ring->off)		/* the next look writes the rest of the interval */
		add_interval(ring, ring->reason, until_ns, false);
	else {
		ring->on_core_ns += ring->sums_now.at_ns - ring->came_ns;
		ring->came_ns = ring->sums_now.at_ns;
	}
	ring->since_ns = larger(ring->since_ns, until_ns);
	write_past(ring, until_ns);
}

/* ---- calls of the thread ---- */

void
switch_begin(struct thread *thread)
{
	thread->switching = calloc(1, sizeof *thread->switching);
}

void
switch_call(struct thread *thread, int64_t enter_ns, int64_t leave_ns)
{
	struct switching *of = thread->switching;
	const uint64_t calls = of->calls;

	if (leave_ns - enter_ns < LONG_NS)
		return;
	of->enter_ns[calls % KEPT_CALLS] = enter_ns;
	of->leave_ns[calls % KEPT_CALLS] = leave_ns;
	atomic_store_explicit(&of->calls, calls + 1, memory_order_release);
}

/* ---- the thread's own clock ---- */

void
stretch_start(struct thread *thread)
{
	struct switching *of = calloc(1, sizeof *of);

	if (of == NULL || (of->stretches = calloc(1, sizeof *of->stretches)) == NULL) {
		free(of);
		return;
	}
	of->from_ns = clock_ns();
	of->begin_ns = of->from_ns - STRETCH_EVERY_NS;
	thread->switching = of;
}

void
stretch_begin(struct thread *thread, uint64_t leave_ticks)
{
	struct switching *of = thread->switching;
	const int64_t leave_ns = ticks_ns(leave_ticks);

	if (leave_ns - of->begin_ns < STRETCH_EVERY_NS)
		return;
	of->begin_ns = leave_ns;
	of->begin_cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID);
	thread->within = sample_mark;
}

void
stretch_end(struct thread *thread)
{
	struct switching *of = thread->switching;
	const int64_t cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) - of->begin_cpu_ns,
	    duration_ns = clock_ns() - of->begin_ns;
	struct intervals *v = of->stretches;

	if (duration_ns < STRETCH_LEAST_NS)
		return;
	pthread_mutex_lock(&sampling);
	v->time_ns[v->count] = of->begin_ns;
	v->duration_ns[v->count] = duration_ns;
	v->on_core_ns[v->count] = smaller(cpu_ns, duration_ns);
	v->reason[v->count] = NOT_KNOWN;
	if (++v->count == BATCH)
		stretch_write(thread, of->begin_ns + duration_ns);
	pthread_mutex_unlock(&sampling);
}

void
stretch_write(struct thread *thread, int64_t until_ns)
{
	struct switching *of = thread->switching;

	if (of != NULL && of->stretches != NULL)
		write_intervals(of->stretches, NULL, thread, until_ns);
}
