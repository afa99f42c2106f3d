/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams of MPI processes: TOOL-mpi has this in place of alone.c. */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../tool/tool.h"
#include "../team.h"

static MPI_Comm
comm_of(const struct team *team)
{
	return *(MPI_Comm *)team->comm;
}

static struct team
team_of(MPI_Comm comm)
{
	struct team team = { .comm = zalloc(1, sizeof comm) };

	memcpy(team.comm, &comm, sizeof comm);
	MPI_Comm_rank(comm, &team.rank);
	MPI_Comm_size(comm, &team.size);
	return team;
}

/* Bytes from one process to all others, counted once for each receiver. */
static uint64_t
to_others(const struct team *team, size_t bytes)
{
	return (uint64_t)(team->size - 1) * bytes;
}

enum { GOT_FAR = 3 };	/* exit status of a child that reached team_open */

struct team
team_start(int *argc, char ***argv)
{
	struct team team = { 0 };
	int status = 0;
	pid_t child;

	cost_begin();
	if (!launcher_tells(&team.rank, &team.size)) {
		MPI_Init(argc, argv);
		cost_met();
		return team_of(MPI_COMM_WORLD);
	}
	if (team.rank == 0 || (child = fork()) < 0)
		return team;
	if (child == 0) {
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		team.on_trial = true;
	} else if (waitpid(child, &status, 0) == child &&
	    !(WIFEXITED(status) && WEXITSTATUS(status) == GOT_FAR))
		_exit(DONE);
	return team;
}

void
team_open(struct team *team, int *argc, char ***argv)
{
	if (team->on_trial)
		_exit(GOT_FAR);
	if (team->comm == NULL) {
		MPI_Init(argc, argv);
		*team = team_of(MPI_COMM_WORLD);
		cost_met();
	}
}

/*
 * The last process to enter an exchange waits for nobody. So the cost of an exchange is the least
 * time that any process spends in it. If groups had exchanges of their own, it is the least total
 * of any process.
 */
static double
without_waiting(const struct cost *cost)
{
	size_t count;
	const double *own = cost_exchanges(&count);
	double least_s = 0, *least;
	int64_t counts[2] = { (int64_t)count, -(int64_t)count };

	MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
	if (counts[0] != -counts[1] || count > INT_MAX) {
		MPI_Reduce(&cost->exchange_s, &least_s, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
		return least_s;
	}
	least = zalloc(count, sizeof *least);
	MPI_Reduce(own, least, (int)count, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
	for (size_t i = 0; i < count; i++)
		least_s += least[i];
	free(least);
	return least_s;
}

void
team_close(void)
{
	struct cost cost = cost_so_far(), all = cost;
	double own[3] = { cost.start_s, cost.work_s, cost.wall_s }, most[3] = { 0 };
	int rank, size;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Reduce(own, most, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Reduce(&cost.bytes, &all.bytes, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(&cost.peak_bytes, &all.peak_bytes, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
	all.exchange_s = without_waiting(&cost);
	all.start_s = most[0];
	all.work_s = most[1];
	all.wall_s = most[2];
	if (rank == 0)
		cost_tell(size, &all);
	MPI_Finalize();
}

struct team
team_split(const struct team *team, int colour)
{
	MPI_Comm part;

	cost_enter();
	MPI_Comm_split(comm_of(team), colour, team->rank, &part);
	/* each member sends its colour and its rank */
	cost_leave(to_others(team, 2 * sizeof colour));
	return team_of(part);
}

/* The team between team_part and team_meet, for a member that fails. */
static const struct team *apart;

/* The lowest member that has failed; -1: none. */
static int
first_failed(bool failed)
{
	int64_t lowest = failed ? -(int64_t)apart->rank : INT64_MIN;

	team_max(apart, &lowest, 1);
	return lowest == INT64_MIN ? -1 : (int)-lowest;
}

/* A launcher ends the others once one process has failed: none exits before the line is out. */
static bool
ask_others(bool has_said)
{
	if (!has_said)
		return first_failed(true) == apart->rank;
	MPI_Barrier(comm_of(apart));
	return true;
}

void
team_part(const struct team *team)
{
	apart = team;
	on_failure(ask_others);
}

void
team_meet(const struct team *team)
{
	(void)team;
	on_failure(NULL);
	if (first_failed(false) < 0)
		return;
	MPI_Barrier(comm_of(apart));
	_exit(TROUBLE);
}

void
team_max(const struct team *team, int64_t *values, size_t count)
{
	if (count > INT_MAX)
		die("more than 2^31 values for all processes");
	cost_enter();
	MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_INT64_T, MPI_MAX, comm_of(team));
	cost_leave(to_others(team, count * sizeof *values));
}

uint64_t
team_sum(const struct team *team, uint64_t value)
{
	uint64_t sum = value;

	cost_enter();
	MPI_Allreduce(&value, &sum, 1, MPI_UINT64_T, MPI_SUM, comm_of(team));
	cost_leave(to_others(team, sizeof value));
	return sum;
}

void
team_copy(const struct team *team, void *data, size_t bytes)
{
	char *at = data;

	for (size_t piece; bytes > 0; at += piece, bytes -= piece) {
		piece = bytes < INT_MAX ? bytes : INT_MAX;
		cost_enter();
		MPI_Bcast(at, (int)piece, MPI_BYTE, 0, comm_of(team));
		cost_leave(team->rank == 0 ? to_others(team, piece) : 0);
	}
}

/* Where the items of each member begin; *TOTAL is their sum. MPI counts items in int. */
static int *
offsets(const int *counts, int size, size_t *total)
{
	int *offset = zalloc((size_t)size, sizeof *offset);

	*total = 0;
	for (int m = 0; m < size; m++) {
		if (*total > INT_MAX)
			die("more than 2^31 items for one process at once");
		offset[m] = (int)*total;
		*total += (size_t)counts[m];
	}
	return offset;
}

static MPI_Datatype
item_type(size_t bytes)
{
	MPI_Datatype type;

	MPI_Type_contiguous((int)bytes, MPI_BYTE, &type);
	MPI_Type_commit(&type);
	return type;
}

void *
team_exchange(const struct team *team, const void *items, const size_t *counts, size_t bytes,
    size_t *received)
{
	int *out = zalloc((size_t)team->size, sizeof *out),
	    *in = zalloc((size_t)team->size, sizeof *in);
	int *out_at, *in_at;
	MPI_Datatype type = item_type(bytes);
	size_t sent;
	void *got;

	for (int m = 0; m < team->size; m++) {
		if (counts[m] > INT_MAX)
			die("more than 2^31 items for one process at once");
		out[m] = (int)counts[m];
	}
	cost_enter();
	MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm_of(team));
	cost_leave(to_others(team, sizeof *out));
	out_at = offsets(out, team->size, &sent);
	in_at = offsets(in, team->size, received);
	got = zalloc(*received, bytes);
	cost_enter();
	MPI_Alltoallv(items, out, out_at, type, got, in, in_at, type, comm_of(team));
	cost_leave((sent - (size_t)out[team->rank]) * bytes);
	MPI_Type_free(&type);
	free(out);
	free(in);
	free(out_at);
	free(in_at);
	return got;
}

void *
team_collect(const struct team *team, const void *items, size_t count, size_t bytes, bool for_all,
    size_t *received)
{
	const uint64_t receivers = for_all ? to_others(team, 1) : team->rank > 0;
	int *counts = zalloc((size_t)team->size, sizeof *counts), *at, mine = (int)count;
	MPI_Datatype type = item_type(bytes);
	MPI_Comm comm = comm_of(team);
	void *got;

	if (count > INT_MAX)
		die("more than 2^31 items of one process at once");
	cost_enter();
	if (for_all)
		MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, comm);
	else
		MPI_Gather(&mine, 1, MPI_INT, counts, 1, MPI_INT, 0, comm);
	cost_leave(receivers * sizeof mine);
	at = offsets(counts, team->size, received);
	got = zalloc(*received, bytes);
	cost_enter();
	if (for_all)
		MPI_Allgatherv(items, mine, type, got, counts, at, type, comm);
	else
		MPI_Gatherv(items, mine, type, got, counts, at, type, 0, comm);
	cost_leave(receivers * count * bytes);
	MPI_Type_free(&type);
	free(counts);
	free(at);
	return got;
}

void
team_send(const struct team *team, int to, const void *items, size_t count, size_t bytes)
{
	const uint64_t all = count;

	if (count * bytes > INT_MAX)
		die("more than 2^31 bytes for one process at once");
	cost_enter();
	MPI_Send(&all, 1, MPI_UINT64_T, to, 0, comm_of(team));
	if (count > 0)
		MPI_Send(items, (int)(count * bytes), MPI_BYTE, to, 0, comm_of(team));
	cost_leave_pair(count * bytes);
}

void *
team_receive(const struct team *team, int from, size_t bytes, size_t *count)
{
	uint64_t all;
	void *got;

	cost_enter();
	MPI_Recv(&all, 1, MPI_UINT64_T, from, 0, comm_of(team), MPI_STATUS_IGNORE);
	got = zalloc((size_t)all, bytes);
	if (all > 0)
		MPI_Recv(got, (int)((size_t)all * bytes), MPI_BYTE, from, 0, comm_of(team),
		    MPI_STATUS_IGNORE);
	cost_leave_pair(0);
	*count = (size_t)all;
	return got;
}
