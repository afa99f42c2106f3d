/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock that calls are timed with, and how far it is from those of other nodes. */
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "recorder.h"

int64_t
clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

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

/* The offset is measured best in the round trip that was shortest: its half bounds the error. */
static void
measure(MPI_Comm leaders, int parent, int parent_rank)
{
	int64_t best_ns = INT64_MAX, offset_ns = 0, at_ns = 0;
	struct small small;

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
	small_begin(&small, "clock", 4);
	small_int(&small, "at_ns", at_ns);
	small_int(&small, "peer", parent_rank);
	small_int(&small, "offset_ns", offset_ns);
	small_int(&small, "error_ns", (best_ns + 1) / 2);
	small_append(&small);
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
		measure_tree(leaders, rank);
		PMPI_Comm_free(&leaders);
		return;
	}
	small_begin(&small, "clock_shared", 1);
	small_int(&small, "peer", leader);
	small_append(&small);
}
