/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads and places of ranks; members of communicators, by their ranks in MPI_COMM_WORLD.
 */
#include <stdlib.h>
#include <string.h>

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

/* ---- the definitions of all ranks become groups ---- */

/* A communicator as one rank defines it. */
struct definition {
	const struct membership *of;
	int32_t own;
};

ORDER(by_name, struct definition, BY(of->name) BY(own))

static uint32_t
add_group(struct look *look, const struct membership *m)
{
	const bool other = m->side == 1 && m->remote_size > 0;
	const int32_t remote = m->remote_size > 0 ? m->remote_size : 0;
	struct group group = { .id = m->name, .size = other ? remote : m->size,
	    .remote_size = other ? m->size : remote };
	const int32_t sizes[2] = { group.size, group.remote_size };

	for (int side = 0; side < 2; side++) {
		group.of[side] = zalloc((size_t)sizes[side] + 1, sizeof *group.of[side]);
		for (int32_t i = 0; i < sizes[side]; i++)
			group.of[side][i] = -1;
	}
	*APPEND(look->groups, look->group_count, look->group_capacity) = group;
	return (uint32_t)look->group_count - 1;
}

static void
set_member(struct look *look, int32_t own, const struct membership *m, uint32_t group)
{
	struct rank *rank = &look->ranks[own];

	while (rank->member_count <= m->comm)
		*APPEND(rank->members, rank->member_count, rank->member_capacity) =
		    (struct member){ .rank = -1 };
	rank->members[m->comm] = (struct member){ group, m->rank,
		m->remote_size > 0 ? m->side : 0, m->sources, m->source_count };
	if (group > 2)
		look->groups[group].of[rank->members[m->comm].side][m->rank] = own;
}

/* MPI_COMM_WORLD and MPI_COMM_SELF. */
static void
join_predefined(struct look *look)
{
	for (int i = 0; i < 3; i++)
		add_group(look, &(struct membership){ .size = 0 });
	look->groups[1].size = look->worlds[0].ranks;
	for (size_t w = 0; w < look->world_count; w++) {
		const struct world *world = &look->worlds[w];
		const uint32_t group = w == 0 ? 1 :
		    add_group(look, &(struct membership){ .size = world->ranks });

		for (int32_t r = 0; r < world->ranks; r++) {
			set_member(look, world->first + r,
			    &(struct membership){ .comm = 1, .rank = r }, group);
			set_member(look, world->first + r, &(struct membership){ .comm = 2 }, 2);
		}
	}
}

static void
join_worlds(struct look *look)
{
	struct met_rank *ranks = zalloc((size_t)look->rank_count, sizeof *ranks);
	size_t count;

	for (int32_t r = 0; r < look->rank_count; r++) {
		const struct rank *rank = &look->ranks[r];

		ranks[r] = (struct met_rank){ look->worlds[rank->world].run, rank->comms,
			rank->comm_count, rank->kernels, rank->kernel_count };
	}
	free(meetings_join(ranks, look->rank_count, false, &count));
	free(ranks);
}

static void
join_communicators(struct look *look)
{
	struct definition *definitions = NULL;
	size_t count = 0, capacity = 0;
	uint32_t group = 0;

	for (int32_t r = 0; r < look->rank_count; r++)
		for (size_t i = 0; i < look->ranks[r].comm_count; i++)
			*APPEND(definitions, count, capacity) =
			    (struct definition){ &look->ranks[r].comms[i], r };
	SORT(definitions, count, by_name);
	for (size_t i = 0; i < count; i++) {
		const struct membership *m = definitions[i].of;

		if (i == 0 || m->name != definitions[i - 1].of->name)
			group = add_group(look, m);
		else if (m->size + (m->remote_size > 0 ? m->remote_size : 0) !=
		    look->groups[group].size + look->groups[group].remote_size)
			continue;
		set_member(look, definitions[i].own, m, group);
	}
	free(definitions);
}

/* Ranks that use no partitions of a communicator do not define them. */
static void
add_members_of_partitions(struct look *look)
{
	for (int32_t r = 0; r < look->rank_count; r++)
		for (size_t i = 0; i < look->ranks[r].comm_count; i++) {
			const struct membership *m = &look->ranks[r].comms[i];
			const struct group *g = &look->groups[group_of(&look->ranks[r], m->comm)];
			const uint32_t on = group_of(&look->ranks[r], m->on);

			for (int32_t k = 0; on > 0 && on != 2 && k < m->size; k++)
				g->of[0][k] = member_at(look, on, 0, k);
		}
}

void
members_join(struct look *look)
{
	join_worlds(look);
	join_predefined(look);
	join_communicators(look);
	add_members_of_partitions(look);
}
