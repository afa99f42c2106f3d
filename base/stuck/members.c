/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of this host, from /proc; threads and places of ranks; members of communicators, by
 * their ranks in MPI_COMM_WORLD.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../tool/process.h"
#include "../tool/tool.h"
#include "look.h"

struct thread *
next_thread(const struct look *look, const struct thread *thread)
{
	size_t t = thread == NULL ? 0 : (size_t)thread->location + 1;

	for (int32_t r = thread == NULL ? 0 : thread->rank; r < look->rank_count; r++, t = 0)
		if (t < look->ranks[r].thread_count)
			return &look->ranks[r].threads[t];
	return NULL;
}

uint32_t
group_of(const struct rank *rank, uint32_t comm)
{
	return comm < rank->member_count ? rank->members[comm].group : 0;
}

uint32_t
comm_of(const struct rank *rank, uint32_t group)
{
	for (uint32_t comm = 1; comm < rank->member_count; comm++)
		if (rank->members[comm].group == group)
			return comm;
	return 0;
}

bool
is_inter(const struct look *look, uint32_t group)
{
	return look->groups[group].remote_size > 0;
}

int32_t
side_size(const struct look *look, uint32_t group, int side)
{
	const struct group *g = &look->groups[group];

	return side == 0 ? g->size : g->remote_size;
}

int32_t
member_at(const struct look *look, uint32_t group, int side, int32_t i)
{
	if (group == 0 || group == 2 || i < 0 || i >= side_size(look, group, side))
		return -1;
	return group == 1 ? i : look->groups[group].of[side][i];
}

int
peers_side(const struct look *look, const struct rank *rank, uint32_t comm)
{
	return is_inter(look, group_of(rank, comm)) ? 1 - rank->members[comm].side : 0;
}

int32_t
world_peer(const struct look *look, const struct rank *rank, uint32_t comm, int32_t peer)
{
	const uint32_t group = group_of(rank, comm);

	return group == 2 ? (int32_t)(rank - look->ranks) : member_at(look, group, peers_side(look,
	    rank, comm), peer);
}

struct site
look_place(const struct look *look, const struct rank *rank, uint64_t address)
{
	size_t m = rank->module_count;
	struct symbols *symbols = NULL;
	uint64_t offset = 0;

	/* The last that was loaded at the address. */
	while (m > 0 &&
	    (offset = address - rank->modules[m - 1].base) >= rank->modules[m - 1].bytes)
		m--;
	if (m > 0 && look->names_of != NULL)
		symbols = symbols_of(look->names_of, &rank->modules[m - 1].module);
	return symbols != NULL ? *symbols_find(symbols, offset) : (struct site){ 0 };
}

/* Another process may have the number by now: then it runs another program. */
static bool
lives(const struct rank *rank)
{
	char path[64], program[4096];
	ssize_t got;

	snprintf(path, sizeof path, "/proc/%lld/exe", (long long)rank->pid);
	if ((got = readlink(path, program, sizeof program - 1)) <= 0)
		return errno == EACCES;
	program[got] = '\0';
	return rank->program == NULL || strcmp(program, rank->program) == 0;
}

void
process_look(const struct look *look, struct rank *rank)
{
	char host[256] = "";

	if (rank->ended) {
		rank->life = ENDED;
		return;
	}
	if (rank->died || !look->live) {
		rank->life = DEAD;
		return;
	}
	gethostname(host, sizeof host - 1);
	if (rank->host == NULL || strcmp(host, rank->host) != 0)
		return;
	rank->state = process_state(rank->pid);
	rank->life = rank->state != 0 && lives(rank) ? ALIVE : DEAD;
	if (rank->life == DEAD)
		rank->state = 0;
	else
		process_read(rank->pid, "wchan", rank->wchan, sizeof rank->wchan);
	if (strcmp(rank->wchan, "0") == 0)
		rank->wchan[0] = '\0';
}
