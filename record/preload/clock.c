/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock that times calls, and its offset from the clocks of other nodes. */
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/tool/hash_table.h"
#include "../../base/tool/order.h"
#include "clock.h"
#include "small.h"

struct clock_map clock_map = { .rate = (uint64_t)1 << 32 };

/* ---- the processor's counter ---- */

/*
 * The counter is good if its rate is the same in all states of the processor and if the kernel uses
 * it for its own clock: then the kernel has found the counters of all cores synchronised. On
 * AArch64 all cores read one counter of the system. The kernel's clock is no finer there.
 */
static bool
counter_is_good(void)
{
#if defined __x86_64__
	static const char where[] =
	    "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	unsigned a, b, c, d;
	char source[16];

	if (options.monotonic)
		return false;
	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || (d & 1 << 8) == 0)
		return false;
	file_text(where, source, sizeof source);
	return strcmp(source, "tsc\n") == 0;
#elif defined __aarch64__
	return !options.monotonic;
#else
	return false;
#endif
}

/* Reads both clocks at one moment: of several tries, the one that took the fewest ticks. */
struct instant
clock_instant(void)
{
	struct instant best = { 0, 0 };
	struct timespec now;
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t before = counter_ticks(), after;

		clock_gettime(CLOCK_MONOTONIC, &now);
		after = counter_ticks();
		if (after - before < shortest) {
			shortest = after - before;
			best.counter = before + shortest / 2;
			best.monotonic_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
		}
	}
	return best;
}

/* Difference of CLOCK_MONOTONIC in this time namespace from the kernel's. */
int64_t
clock_namespace_ns(void)
{
	long long s, ns;
	char text[200];

	file_text("/proc/self/timens_offsets", text, sizeof text);
	return sscanf(text, "monotonic %lld %lld", &s, &ns) == 2 ? s * 1000000000 + ns : 0;
}

uint64_t
clock_ticks_at(const struct instant *instant)
{
	return clock_map.counter ? instant->counter : (uint64_t)instant->monotonic_ns;
}

int64_t
clock_tick_ns(void)
{
	struct timespec tick = { 0, 1 };

	/* A measured rate of 16.0001 is one of 16, or runs would differ by their clocks. */
	if (clock_map.counter)
		return (int64_t)((clock_map.rate - clock_map.rate / 1000 + UINT32_MAX) >> 32);
	clock_getres(CLOCK_MONOTONIC, &tick);
	return (int64_t)tick.tv_sec * 1000000000 + tick.tv_nsec;
}

/* ---- which ranks share a clock ---- */

/* The lowest rank on each clock is its leader and measures for it. */
static struct {
	int *ranks, count;	/* all leaders, in order; NULL if all ranks share one clock */
	int own, index;		/* this rank's leader, and its index in ranks */
} leaders = { .count = 1 };

/*
 * CLOCK_MONOTONIC starts with the kernel, and a time namespace shifts it. The host's name is
 * included because cloned virtual machines have the same boot id.
 */
static uint64_t
clock_identity(void)
{
	char host[256] = "", boot[64];
	struct stat namespace;

	file_text("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
	gethostname(host, sizeof host - 1);
	if (stat("/proc/self/ns/time", &namespace) != 0)
		namespace.st_ino = 0;
	return mix(mix(hash_of_text(host), hash_of_text(boot)), namespace.st_ino);
}

void
clock_say(void)
{
	const struct instant now = clock_instant();
	const int64_t at_ns = ticks_ns(clock_ticks_at(&now));

	small_append("kernel_clock", PAIRS(
	    pair_uint("kernel", clock_identity()),
	    pair_int("at_ns", at_ns),
	    pair_int("offset_ns", now.monotonic_ns - at_ns)));
}

struct told {
	uint64_t clock;
	struct clock_map map;
	int rank;
};

ORDER(by_clock, struct told, BY(clock) BY(rank))
ORDER(by_rank, int, COMPARED(*a, *b))

/* Finds this rank's leader with its map, and all leaders, from what all ranks sent. */
static void
find_leaders(struct told *all, int ranks, uint64_t clock)
{
	const struct told *leader = NULL;
	int count = 0;

	qsort(all, (size_t)ranks, sizeof *all, by_clock);
	for (int i = 0; i < ranks; i++)
		if (i == 0 || all[i].clock != all[i - 1].clock) {
			if (all[i].clock == clock)
				leader = &all[i];
			leaders.ranks[count++] = all[i].rank;
		}
	leaders.count = count;
	leaders.own = leader->rank;
	clock_map = leader->map;
	qsort(leaders.ranks, (size_t)count, sizeof *leaders.ranks, by_rank);
	while (leaders.ranks[leaders.index] != leaders.own)
		leaders.index++;
}

/*
 * Makes no communicator: an additional one would change what the library does in the program's
 * calls. If all ranks share a clock, two small collectives suffice.
 */
static void
share_map(struct clock_map map)
{
	struct told mine = { .clock = clock_identity(), .map = map }, *all;
	unsigned long long least[3], own[3];
	int ranks;

	PMPI_Comm_rank(MPI_COMM_WORLD, &mine.rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
	all = malloc((size_t)ranks * sizeof *all);
	leaders.ranks = malloc((size_t)ranks * sizeof *leaders.ranks);
	own[0] = mine.clock;
	own[1] = ~mine.clock;
	own[2] = all != NULL && leaders.ranks != NULL;
	PMPI_Allreduce(own, least, 3, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
	if (least[0] != ~least[1] && least[2] == 1) {
		PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE,
		    MPI_COMM_WORLD);
		find_leaders(all, ranks, mine.clock);
	} else {	/* one clock; a rank without memory records nothing anyway */
		PMPI_Bcast(&map, sizeof map, MPI_BYTE, 0, MPI_COMM_WORLD);
		clock_map = map;
		free(leaders.ranks);
		leaders.ranks = NULL;
	}
	free(all);
	if (own[2] == 0)
		out_of_memory();
}

/*
 * The rate is measured against CLOCK_MONOTONIC during MPI_Init, some 0.1 s. Its error appears as
 * drift of the node's clock, since all ranks of the clock use their leader's map.
 */
void
clock_start(const struct instant *init)
{
	struct instant now = clock_instant();
	struct clock_map map = clock_map;
	int64_t elapsed_ns = now.monotonic_ns - init->monotonic_ns;
	uint64_t ticks = now.counter - init->counter;

	if (elapsed_ns > 1000000 && ticks > 0 && counter_is_good()) {
		map.counter = true;
		map.rate = (uint64_t)(((unsigned __int128)(uint64_t)elapsed_ns << 32) / ticks);
		/*
		 * 2^48 ticks (about a day) earlier, since another rank may have begun first: a
		 * whole number of ns.
		 */
		map.first_ticks = init->counter - ((uint64_t)1 << 48);
		map.first_ns = init->monotonic_ns - (int64_t)(map.rate << 16);
	}
	share_map(map);
}

/* ---- the clocks of other nodes ---- */

enum { ROUND_TRIPS = 200, TAG = 32767 };

/*
 * During MPI_Init nobody else uses MPI_COMM_WORLD, and later messages of a leader do not overtake
 * those of this comparison. Afterwards a receive of the program could match them, so leaders, in
 * their order, get a communicator of their own. It is never freed.
 */
static MPI_Comm
leaders_alone(void)
{
	static MPI_Comm made = MPI_COMM_NULL;
	MPI_Group world, group;

	if (made != MPI_COMM_NULL)
		return made;
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_incl(world, leaders.count, leaders.ranks, &group);
	PMPI_Comm_create_group(MPI_COMM_WORLD, group, TAG, &made);
	PMPI_Group_free(&group);
	PMPI_Group_free(&world);
	return made;
}

/* The parent answers each message with its time. The child sends the last message of a round. */
static void
answer(MPI_Comm comm, int child)
{
	for (int i = 0; i < ROUND_TRIPS; i++) {
		long long now;

		PMPI_Recv(NULL, 0, MPI_BYTE, child, TAG, comm, MPI_STATUS_IGNORE);
		now = (long long)clock_ns();
		PMPI_Send(&now, 1, MPI_LONG_LONG, child, TAG, comm);
	}
}

static void
append_sample(int64_t at_ns, int peer, int64_t offset_ns, int64_t error_ns)
{
	small_append("clock", PAIRS(
	    pair_int("at_ns", at_ns),
	    pair_int("peer", peer),
	    pair_int("offset_ns", offset_ns),
	    pair_int("error_ns", error_ns)));
}

/*
 * The shortest round trip to the LEADER, whose rank in the communicator is PARENT, gives the best
 * offset; half of it bounds the error.
 */
static void
measure(MPI_Comm comm, int parent, int leader)
{
	int64_t best_ns = INT64_MAX, offset_ns = 0, at_ns = 0;

	for (int i = 0; i < ROUND_TRIPS; i++) {
		int64_t sent_ns = clock_ns(), got_ns;
		long long theirs;

		PMPI_Send(NULL, 0, MPI_BYTE, parent, TAG, comm);
		PMPI_Recv(&theirs, 1, MPI_LONG_LONG, parent, TAG, comm, MPI_STATUS_IGNORE);
		got_ns = clock_ns();
		if (got_ns - sent_ns < best_ns) {
			best_ns = got_ns - sent_ns;
			at_ns = sent_ns + best_ns / 2;
			offset_ns = (int64_t)theirs - at_ns;
		}
	}
	append_sample(at_ns, leader, offset_ns, (best_ns + 1) / 2);
}

/*
 * As in the paper. Nobody leaves an MPI_Allreduce before the last rank has entered it. That instant
 * is between enter and leave on every clock. So the offset is in [enter - their leave, leave -
 * their enter], where the first is the leader's time; the intersection over all rounds is tighter.
 */
static void
measure_all(bool leads)
{
	static long long times[2 * ROUND_TRIPS], theirs[2 * ROUND_TRIPS];
	int64_t low_ns = INT64_MIN, high_ns = INT64_MAX;
	int one = 1, sum;

	for (int i = 0; i < ROUND_TRIPS; i++) {
		times[2 * i] = (long long)clock_ns();
		PMPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		times[2 * i + 1] = (long long)clock_ns();
	}
	memcpy(theirs, times, sizeof times);
	PMPI_Bcast(theirs, 2 * ROUND_TRIPS, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
	for (int i = 0; i < ROUND_TRIPS; i++) {
		low_ns = larger(low_ns, theirs[2 * i] - times[2 * i + 1]);
		high_ns = smaller(high_ns, theirs[2 * i + 1] - times[2 * i]);
	}
	if (leads && leaders.index > 0)
		append_sample(times[ROUND_TRIPS], 0, low_ns + (high_ns - low_ns) / 2,
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
	/* Rank 0 decides for all after how many such calls to repeat this. */
	PMPI_Bcast(&next, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
	every = next;
	calls = 0;
}

void
clock_sync(void)
{
	static bool again;
	const int index = leaders.index, *ranks = leaders.ranks;
	MPI_Comm comm;
	int rank;
	bool leads;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	leads = rank == leaders.own;
	if (leaders.count > 1 && options.allreduce)
		measure_all(leads);
	else if (leaders.count > 1 && leads) {
		comm = again ? leaders_alone() : MPI_COMM_WORLD;
		/*
		 * A binomial tree: in round k = 1, 2, 4, ... leaders k to 2k - 1 measure against
		 * the leaders k below. So the error grows with the depth of the tree, log2 of the
		 * number of clocks.
		 */
		for (int k = 1; k < leaders.count; k *= 2)
			if (index >= k && index < 2 * k)
				measure(comm, again ? index - k : ranks[index - k],
				    ranks[index - k]);
			else if (index < k && index + k < leaders.count)
				answer(comm, again ? index + k : ranks[index + k]);
	}
	if (!leads && !again)
		small_append("clock_shared", PAIRS(pair_int("peer", leaders.own)));
	again = true;
}
