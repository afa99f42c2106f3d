/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tells groups of processes apart: their members' ranks in another group; and how two
 * MPI_COMM_WORLDs met: both sides name the port in the same way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "../../base/tool/hash_table.h"
#include "clock.h"
#include "communicators.h"
#include "pack.h"

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

int *
ranks_in(MPI_Group group, MPI_Group base, int *size)
{
	int *to, *from;

	PMPI_Group_size(group, size);
	if (*size == 0 || base == MPI_GROUP_NULL ||
	    (to = zeroed(2 * (size_t)*size * sizeof *to)) == NULL)
		return NULL;
	from = to + *size;
	for (int i = 0; i < *size; i++)
		from[i] = i;
	PMPI_Group_translate_ranks(group, *size, from, base, to);
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
	for (int remote = 0; remote <= (inter != 0); remote++) {
		int (*group_of)(MPI_Comm, MPI_Group *) =
		    remote ? PMPI_Comm_remote_group : PMPI_Comm_group;

		group_of(made, &group);
		group_of(parent, &base);
		place += mix((uint64_t)first_rank_in(group, base) + 1, 0);
		PMPI_Group_free(&group);
		PMPI_Group_free(&base);
	}
	return place;
}

/* ---- meetings ---- */

/* Hashes of a name that both sides know are never 0, which stands for none. */

uint64_t
port_of_name(const char *name, size_t length)
{
	size_t end = strnlen(name, length);

	while (end > 0 && name[end - 1] == ' ')		/* Fortran pads with blanks */
		end--;
	return hash_of(name, end) | 1;
}

/*
 * Open MPI 4 gives a spawned process the job number of its parents, and which of them was the root.
 */
uint64_t
port_of_root(MPI_Comm comm, int root)
{
	const char *job = getenv("PMIX_NAMESPACE");
	MPI_Group world = world_group(), group;
	char name[64];
	int rank = -1;

	PMPI_Comm_group(comm, &group);
	if (world != MPI_GROUP_NULL) {
		PMPI_Group_translate_ranks(group, 1, &root, world, &rank);
		PMPI_Group_free(&world);
	}
	PMPI_Group_free(&group);
	if (job == NULL || rank < 0 || job[strspn(job, "0123456789")] != '\0')
		return 0;
	return port_of_name(name, (size_t)snprintf(name, sizeof name, "%.40s.%d", job, rank));
}

/* Hash of the addresses of both ends. */
uint64_t
port_of_socket(int fd)
{
	struct sockaddr_storage own = { 0 }, other = { 0 };
	socklen_t own_size = sizeof own, other_size = sizeof other;

	if (getsockname(fd, (struct sockaddr *)&own, &own_size) != 0 || own.ss_family == AF_UNIX ||
	    getpeername(fd, (struct sockaddr *)&other, &other_size) != 0)
		return 0;
	return (hash_of(&own, own_size) + hash_of(&other, other_size)) | 1;
}

void
note_parent(MPI_Comm parent)
{
	const char *port = getenv("OMPI_PARENT_PORT");

	if (parent != MPI_COMM_NULL && communicator_of(parent)->number == 0)
		note_meeting((struct meeting){ "parent", port == NULL ? 0 :
		    port_of_name(port, strcspn(port, ":")), clock_ns() }, parent);
}
