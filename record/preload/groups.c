/* SPDX-License-Identifier: BSD-3-Clause */
/* What tells groups of processes apart: their members' ranks in another group. */
#include <stdlib.h>

#include "../../base/tool/hash_table.h"
#include "communicators.h"
#include "groups.h"
#include "recorder.h"
#include "small.h"

MPI_Group
world_group(void)
{
	MPI_Group world = MPI_GROUP_NULL;

	if (have_world)
		PMPI_Comm_group(MPI_COMM_WORLD, &world);
#ifdef HAVE_MPI_4
	else
		world = session_world();
#endif
	return world;
}

/* The ranks of the group's members in BASE, for the caller to free; NULL: none, or no memory. */
static int *
ranks_in(MPI_Group group, MPI_Group base, int *size)
{
	int *from, *to;

	PMPI_Group_size(group, size);
	if (*size == 0 || base == MPI_GROUP_NULL)
		return NULL;
	from = malloc((size_t)*size * sizeof *from);
	to = malloc((size_t)*size * sizeof *to);
	if (from != NULL && to != NULL) {
		for (int i = 0; i < *size; i++)
			from[i] = i;
		PMPI_Group_translate_ranks(group, *size, from, base, to);
	} else {
		out_of_memory();
		free(to);
		to = NULL;
	}
	free(from);
	return to;
}

uint64_t
hash_group(MPI_Group group, MPI_Group base, int *first)
{
	uint64_t hash = 0x1234567;
	int size, *ranks = ranks_in(group, base, &size);

	*first = -1;
	if (ranks == NULL)
		return hash;
	for (int i = 0; i < size; i++)
		hash = mix(hash, (uint64_t)ranks[i] + 1);
	*first = ranks[0];
	free(ranks);
	return hash;
}

bool
has_strangers(MPI_Group group)
{
	MPI_Group world = world_group();
	int size, *ranks = ranks_in(group, world, &size);
	bool any = false;

	for (int i = 0; ranks != NULL && i < size; i++)
		any |= ranks[i] == MPI_UNDEFINED;
	free(ranks);
	if (world != MPI_GROUP_NULL)
		PMPI_Group_free(&world);
	return any;
}

static int
first_rank_in(MPI_Group group, MPI_Group base)
{
	int zero = 0, size, rank = -1;

	PMPI_Group_size(group, &size);
	if (size > 0)
		PMPI_Group_translate_ranks(group, 1, &zero, base, &rank);
	return rank;
}

int
first_world_rank(MPI_Comm comm)
{
	MPI_Group group, world = world_group();
	int rank;

	if (world == MPI_GROUP_NULL)
		return -1;
	PMPI_Comm_group(comm, &group);
	rank = first_rank_in(group, world);
	PMPI_Group_free(&group);
	PMPI_Group_free(&world);
	return rank;
}

uint64_t
place_in(MPI_Comm parent, MPI_Comm made)
{
	MPI_Group group, base;
	int of_inter, inter;
	uint64_t place = 0;

	PMPI_Comm_test_inter(parent, &of_inter);
	PMPI_Comm_test_inter(made, &inter);
	if (of_inter && !inter)
		return 0;		/* only one was made, by a merge */
	PMPI_Comm_group(made, &group);
	PMPI_Comm_group(parent, &base);
	place += mix((uint64_t)first_rank_in(group, base) + 1, 0);
	PMPI_Group_free(&group);
	PMPI_Group_free(&base);
	if (!inter)
		return place;
	PMPI_Comm_remote_group(made, &group);
	PMPI_Comm_remote_group(parent, &base);
	place += mix((uint64_t)first_rank_in(group, base) + 1, 0);
	PMPI_Group_free(&group);
	PMPI_Group_free(&base);
	return place;
}
