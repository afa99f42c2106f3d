/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock that calls are timed with, and how far it is from those of other nodes. */
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "recorder.h"

struct clock_map clock_map = { .rate = (uint64_t)1 << 32 };

/* ---- the processor's counter ---- */

/*
 * The counter can be trusted where it runs at one rate in all states of the processor, and where
 * the kernel itself keeps time with it: then it has found those of all cores in step.
 */
static bool
counter_is_good(void)
{
#ifdef __x86_64__
	static const char where[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	unsigned a, b, c, d;
	char source[16] = "";
	FILE *file;

	if (options.monotonic)
		return false;
	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || (d & 1 << 8) == 0)
		return false;
	if ((file = fopen(where, "r")) == NULL)
		return false;
	if (fgets(source, sizeof source, file) == NULL)
		source[0] = '\0';
	fclose(file);
	return strcmp(source, "tsc\n") == 0;
#else
	return false;
#endif
}

/* Both clocks at one moment: of several tries the one in which the counter went on least. */
struct instant
clock_instant(void)
{
	struct instant best = { 0, 0 };
	struct timespec now;
#ifdef __x86_64__
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t before = __builtin_ia32_rdtsc(), after;

		clock_gettime(CLOCK_MONOTONIC, &now);
		after = __builtin_ia32_rdtsc();
		if (after - before < shortest) {
			shortest = after - before;
			best.counter = before + shortest / 2;
			best.monotonic_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
		}
	}
#else
	clock_gettime(CLOCK_MONOTONIC, &now);
	best.monotonic_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
#endif
	return best;
}

uint64_t
clock_ticks_at(const struct instant *instant)
{
	return clock_map.counter ? instant->counter : (uint64_t)instant->monotonic_ns;
}

/* Ranks of a node that see one time namespace share a clock; the lowest of them is its leader. */
static MPI_Comm
clock_group(int rank)
{
	MPI_Comm node, group;
	struct stat status;
	int namespace = 0;

	PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
	if (stat("/proc/self/ns/time", &status) == 0)
		namespace = (int)(status.st_ino & 0x7fffffff);
	PMPI_Comm_split(node, namespace, rank, &group);
	PMPI_Comm_free(&node);
	return group;
}

/*
 * The rate is what CLOCK_MONOTONIC says of the time that MPI_Init took, some 0.1 s; what it is off
 * is drift of the node's clock like any other, for its ranks all take the leader's map.
 */
void
clock_start(const struct instant *init)
{
	struct instant now = clock_instant();
	struct clock_map map = clock_map;
	int64_t elapsed_ns = now.monotonic_ns - init->monotonic_ns;
	uint64_t ticks = now.counter - init->counter;
	MPI_Comm group;
	int rank;

	if (elapsed_ns > 1000000 && ticks > 0 && counter_is_good()) {
		map.counter = true;
		map.first_ticks = init->counter;
		map.first_ns = init->monotonic_ns;
		map.rate = (uint64_t)(((unsigned __int128)(uint64_t)elapsed_ns << 32) / ticks);
	}
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	group = clock_group(rank);
	PMPI_Bcast(&map, sizeof map, MPI_BYTE, 0, group);
	PMPI_Comm_free(&group);
	clock_map = map;
}

/* ---- the other nodes' clocks ---- */

enum { ROUND_TRIPS = 200, TAG = 1 };

/* The parent answers each message with its time; so does the child, to end the round. */
static void
answer(MPI_Comm leaders, int child)
{
	for (int i = 0; i < ROUND_TRIPS; i++) {
		long long now;

		PMPI_Recv(NULL, 0, MPI_BYTE, child, TAG, leaders, MPI_STATUS_IGNORE);
		now = (long long)clock_ns();
		PMPI_Send(&now, 1, MPI_LONG_LONG, child, TAG, leaders);
	}
}

static void
append_sample(int64_t at_ns, int peer, int64_t offset_ns, int64_t error_ns)
{
	struct small small;

	small_begin(&small, "clock", 4);
	small_int(&small, "at_ns", at_ns);
	small_int(&small, "peer", peer);
	small_int(&small, "offset_ns", offset_ns);
	small_int(&small, "error_ns", error_ns);
	small_append(&small);
}

/* The offset is measured best in the round trip that was shortest: its half bounds the error. */
static void
measure(MPI_Comm leaders, int parent, int parent_rank)
{
	int64_t best_ns = INT64_MAX, offset_ns = 0, at_ns = 0;

	for (int i = 0; i < ROUND_TRIPS; i++) {
		int64_t sent_ns = clock_ns(), got_ns;
		long long theirs;

		PMPI_Send(NULL, 0, MPI_BYTE, parent, TAG, leaders);
		PMPI_Recv(&theirs, 1, MPI_LONG_LONG, parent, TAG, leaders, MPI_STATUS_IGNORE);
		got_ns = clock_ns();
		if (got_ns - sent_ns < best_ns) {
			best_ns = got_ns - sent_ns;
			at_ns = sent_ns + best_ns / 2;
			offset_ns = (int64_t)theirs - at_ns;
		}
	}
	append_sample(at_ns, parent_rank, offset_ns, (best_ns + 1) / 2);
}

/*
 * A binomial tree: in round k = 1, 2, 4, ... the leaders k to 2k - 1 measure against those k below
 * them. So the error grows with the depth of the tree, log2 of the number of clocks.
 */
static void
measure_tree(MPI_Comm leaders, int rank)
{
	int index, count, *ranks;

	PMPI_Comm_rank(leaders, &index);
	PMPI_Comm_size(leaders, &count);
	ranks = malloc((size_t)count * sizeof *ranks);
	if (ranks == NULL)
		abort();
	PMPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, leaders);
	for (int k = 1; k < count; k *= 2)
		if (index >= k && index < 2 * k)
			measure(leaders, index - k, ranks[index - k]);
		else if (index < k && index + k < count)
			answer(leaders, index + k);
	free(ranks);
}

/*
 * The paper's way. Nobody leaves an MPI_Allreduce before the last has entered it. That instant lies
 * between enter and leave on every clock; so [enter - their leave, leave - their enter], the first
 * of the two being the leader's, holds the offset, and all rounds together hold it tighter.
 */
static void
measure_all(MPI_Comm leaders, int rank)
{
	static long long times[2 * ROUND_TRIPS], theirs[2 * ROUND_TRIPS];
	int64_t low_ns = INT64_MIN, high_ns = INT64_MAX;
	int index, first = rank, one = 1, sum;

	PMPI_Comm_rank(leaders, &index);
	PMPI_Bcast(&first, 1, MPI_INT, 0, leaders);
	for (int i = 0; i < ROUND_TRIPS; i++) {
		times[2 * i] = (long long)clock_ns();
		PMPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, leaders);
		times[2 * i + 1] = (long long)clock_ns();
	}
	memcpy(theirs, times, sizeof times);
	PMPI_Bcast(theirs, 2 * ROUND_TRIPS, MPI_LONG_LONG, 0, leaders);
	for (int i = 0; i < ROUND_TRIPS; i++) {
		if (theirs[2 * i] - times[2 * i + 1] > low_ns)
			low_ns = theirs[2 * i] - times[2 * i + 1];
		if (theirs[2 * i + 1] - times[2 * i] < high_ns)
			high_ns = theirs[2 * i + 1] - times[2 * i];
	}
	if (index > 0)
		append_sample(times[ROUND_TRIPS], first, low_ns + (high_ns - low_ns) / 2,
		    (high_ns - low_ns + 1) / 2);
}

void
clock_sync_again(void)
{
	static uint64_t calls, every = 1;
	static int64_t last_ns;
	unsigned long long next = 1;

	if (many_threads || ++calls < every)
		return;
	clock_sync();
	if (last_ns > 0 && clock_ns() > last_ns)
		next = (unsigned long long)((double)calls * (double)options.sync_every_ns /
		    (double)(clock_ns() - last_ns));
	if (next > 4 * calls + 16)
		next = 4 * calls + 16;
	if (next == 0)
		next = 1;
	last_ns = clock_ns();
	/* Rank 0 says for all after how many of these calls they do it again. */
	PMPI_Bcast(&next, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
	every = next;
	calls = 0;
}

void
clock_sync(void)
{
	MPI_Comm group, leaders;
	struct small small;
	int rank, leader, in_group;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	group = clock_group(rank);
	PMPI_Comm_rank(group, &in_group);
	leader = rank;
	PMPI_Bcast(&leader, 1, MPI_INT, 0, group);
	PMPI_Comm_free(&group);
	PMPI_Comm_split(MPI_COMM_WORLD, in_group == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);
	if (leaders != MPI_COMM_NULL) {
		if (options.allreduce)
			measure_all(leaders, rank);
		else
			measure_tree(leaders, rank);
		PMPI_Comm_free(&leaders);
		return;
	}
	small_begin(&small, "clock_shared", 1);
	small_int(&small, "peer", leader);
	small_append(&small);
}
