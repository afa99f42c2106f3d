/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A team of one process, without MPI. If a launcher has started several processes, this is the
 * wrong program, and TOOL-mpi beside it takes over. So an analysis on one process does not pay for
 * MPI.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../tool/tool.h"
#include "team.h"

struct team
team_start(int *argc, char ***argv)
{
	int rank, size;
	char path[4096];
	ssize_t length;

	(void)argc;
	cost_begin();
	if (launcher_tells(&rank, &size) && size > 1) {
		length = readlink("/proc/self/exe", path, sizeof path - 5);
		if (length < 0)
			die("finding %s-mpi: /proc/self/exe cannot be read", tool);
		strcpy(path + length, "-mpi");
		execv(path, *argv);
		die("%s cannot be run: build it with MPI, or start %s without a launcher",
		    path, tool);
	}
	return (struct team){ .size = 1 };
}

void
team_open(struct team *team, int *argc, char ***argv)
{
	(void)team;
	(void)argc;
	(void)argv;
}

void
team_close(void)
{
	const struct cost cost = cost_so_far();

	cost_tell(1, &cost);
}

struct team
team_split(const struct team *team, int colour)
{
	(void)colour;
	return *team;
}

void
team_part(const struct team *team)
{
	(void)team;
}

void
team_meet(const struct team *team)
{
	(void)team;
}

void
team_max(const struct team *team, int64_t *values, size_t count)
{
	(void)team;
	(void)values;
	(void)count;
}

uint64_t
team_sum(const struct team *team, uint64_t value)
{
	(void)team;
	return value;
}

void
team_copy(const struct team *team, void *data, size_t bytes)
{
	(void)team;
	(void)data;
	(void)bytes;
}

void *
team_collect(const struct team *team, const void *items, size_t count, size_t bytes, bool for_all,
    size_t *received)
{
	void *copy = zalloc(count, bytes);

	(void)team;
	(void)for_all;
	if (count > 0)
		memcpy(copy, items, count * bytes);
	*received = count;
	return copy;
}

void *
team_exchange(const struct team *team, const void *items, const size_t *counts, size_t bytes,
    size_t *received)
{
	return team_gather(team, items, counts[0], bytes, received);
}

void
team_send(const struct team *team, int to, const void *items, size_t count, size_t bytes)
{
	(void)team;
	(void)to;
	(void)items;
	(void)count;
	(void)bytes;
}

void *
team_receive(const struct team *team, int from, size_t bytes, size_t *count)
{
	(void)team;
	(void)from;
	*count = 0;
	return zalloc(1, bytes);
}
