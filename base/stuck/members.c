/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of communicators, by their ranks in MPI_COMM_WORLD. */
#include "look.h"

uint32_t
group_of(const struct rank *rank, uint32_t comm)
{
	return comm < rank->member_count ? rank->members[comm].group : 0;
}

const struct member *
member_of(const struct rank *rank, uint32_t group)
{
	for (uint32_t comm = 1; comm < rank->member_count; comm++)
		if (rank->members[comm].group == group)
			return &rank->members[comm];
	return NULL;
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
