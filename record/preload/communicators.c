/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators get an id that all members agree on without talking to each other. All members of a
 * communicator make new ones from it in the same order; so its id, how many were made from it
 * before, and the world rank of the new one's first member (a split makes several at once) name the
 * new one. Where only a group takes part the members themselves and a count of such calls do.
 */
#include <stdlib.h>
#include <string.h>

#include "../../base/tool/hash_table.h"
#include "communicators.h"
#include "notes.h"
#include "recorder.h"
#include "small.h"

/* Slots move; what they point to stays, for threads that use it outside of the lock. */
struct slot {
	uintptr_t handle;
	struct communicator *it;
};
#define HASH(s) mix((s)->handle, 0)
#define SAME(a, b) ((a)->handle == (b)->handle)
#define FREE(s) ((s)->handle == 0)
#define MAKE_FREE(s) ((s)->handle = 0)
HASH_TABLE(communicators, struct slot, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, out_of_memory())

static struct communicators table;
struct communicator *near[NEAR];
static uint32_t last_number = 2;
/* Nothing is known of its members: sizes that depend on them are 0, and nobody is its root. */
static struct communicator unknown = { .inter = true };

static struct calls_by { uint64_t key; uint32_t count; } *groups;	/* calls by the same members */
static size_t group_count, group_capacity;

static void
table_set(struct communicator new)
{
	struct slot slot = { .handle = new.handle, .it = malloc(sizeof new) }, *at;

	if (slot.it == NULL) {
		out_of_memory();
		return;
	}
	*slot.it = new;
	if ((at = communicators_add(&table, &slot)) != NULL)
		*at = slot;		/* a handle may come again after a free */
	else
		free(slot.it);
}

static void
measure(struct communicator *comm, MPI_Comm handle)
{
	int inter;

	comm->handle = comm_key(handle);
	PMPI_Comm_rank(handle, &comm->rank);
	PMPI_Comm_size(handle, &comm->size);
	comm->peers = comm->size;
	PMPI_Comm_test_inter(handle, &inter);
	comm->inter = inter != 0;
	if (inter)
		PMPI_Comm_remote_size(handle, &comm->peers);
}

void
communicators_start(void)
{
	communicators_begin(&table, 64);
}

static bool have_world;

void
communicators_add_world(void)
{
	struct communicator world = { .id = 1, .number = 1, .group = MPI_GROUP_NULL };
	struct communicator myself = { .id = 2, .number = 2, .group = MPI_GROUP_NULL };

	if (table.size == 0)
		return;
	have_world = true;
	measure(&world, MPI_COMM_WORLD);
	measure(&myself, MPI_COMM_SELF);
	table_set(world);
	table_set(myself);
}

struct communicator *
communicator_find(uintptr_t handle)
{
	struct slot key = { .handle = handle }, *found;
	struct communicator *it = &unknown;

	lock_tables();
	if (handle != 0 && table.size > 0 && (found = communicators_find(&table, &key)) != NULL)
		near[near_slot(handle)] = it = found->it;
	unlock_tables();
	return it;
}

/* All processes, as a group to be freed. */
static MPI_Group
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

/* A hash of the group's members, in order. */
static uint64_t
hash_group(MPI_Group group, int *first)
{
	MPI_Group world;
	uint64_t hash = 0x1234567;
	int size, *from, *to;

	*first = -1;
	PMPI_Group_size(group, &size);
	if (size == 0 || (world = world_group()) == MPI_GROUP_NULL)
		return hash;
	if ((from = malloc(2 * (size_t)size * sizeof *from)) == NULL) {
		out_of_memory();
		PMPI_Group_free(&world);
		return hash;
	}
	to = from + size;
	for (int i = 0; i < size; i++)
		from[i] = i;
	PMPI_Group_translate_ranks(group, size, from, world, to);
	for (int i = 0; i < size; i++)
		hash = mix(hash, (uint64_t)to[i] + 1);
	*first = to[0];
	free(from);
	PMPI_Group_free(&world);
	return hash;
}

static int
first_world_rank(MPI_Comm comm)
{
	MPI_Group group, world = world_group();
	int zero = 0, rank = 0;

	if (world == MPI_GROUP_NULL)
		return -1;
	PMPI_Comm_group(comm, &group);
	PMPI_Group_translate_ranks(group, 1, &zero, world, &rank);
	PMPI_Group_free(&group);
	PMPI_Group_free(&world);
	return rank;
}

static void
append(const struct communicator *comm, int side, const char *type)
{
	bool inter = side >= 0;
	struct small small;

	small_begin(&small, "communicator", 4u + (inter ? 2 : 0) + (type[0] != '\0' ? 1 : 0));
	small_uint(&small, "comm", comm->number);
	small_uint(&small, "size", (uint64_t)comm->size);
	small_uint(&small, "id", comm->id);
	small_uint(&small, "rank", (uint64_t)comm->rank);
	if (inter) {
		small_uint(&small, "remote_size", (uint64_t)comm->peers);
		small_uint(&small, "side", (uint64_t)side);
	}
	if (type[0] != '\0')
		small_string(&small, "type", type);
	small_append(&small);
}

/* Ranks of the communicator that this rank gets from in neighbourhood collectives, in no order. */
static int *
find_neighbours(MPI_Comm comm, int topology, int rank, uint32_t *sources, uint32_t *targets)
{
	int in = 0, out = 0, weighted, dimensions = 0, *all;

	if (topology == MPI_DIST_GRAPH)
		PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
	else if (topology == MPI_GRAPH)
		PMPI_Graph_neighbors_count(comm, rank, &in);
	else {
		PMPI_Cartdim_get(comm, &dimensions);
		in = 2 * dimensions;
	}
	*sources = *targets = 0;
	if ((all = malloc(2 * ((size_t)in + (size_t)out + 1) * sizeof *all)) == NULL) {
		out_of_memory();
		return NULL;
	}
	if (topology == MPI_DIST_GRAPH)
		PMPI_Dist_graph_neighbors(comm, in, all, all + in + out, out, all + in,
		    all + in + out + in);
	else if (topology == MPI_GRAPH)
		PMPI_Graph_neighbors(comm, rank, in, all);
	else
		for (int d = 0; d < dimensions; d++)
			PMPI_Cart_shift(comm, d, 1, &all[2 * d], &all[2 * d + 1]);
	*sources = (uint32_t)in;
	*targets = (uint32_t)(topology == MPI_DIST_GRAPH ? out : in);
	return all;
}

static void
add_topology(MPI_Comm handle, struct communicator *new)
{
	struct small small;
	int topology, *all;

	PMPI_Topo_test(handle, &topology);
	if (topology != MPI_DIST_GRAPH && topology != MPI_GRAPH && topology != MPI_CART)
		return;
	all = find_neighbours(handle, topology, new->rank, &new->sources, &new->targets);
	if (all == NULL)
		return;
	for (uint32_t i = 0; i < new->sources; i++)
		all[i] = peer_of(all[i]);
	small_begin(&small, "neighbours", 3);
	small_uint(&small, "comm", new->number);
	small_uint(&small, "count", new->sources);
	small_bytes(&small, "sources", all, new->sources * sizeof *all);
	small_append(&small);
	free(all);
}

static void
add_new(MPI_Comm made, uint64_t id, int side)
{
	struct communicator new = { .id = id, .group = MPI_GROUP_NULL };

	measure(&new, made);
	lock_tables();
	new.number = ++last_number;
	unlock_tables();
	append(&new, side, "");
	if (!new.inter)
		add_topology(made, &new);
	lock_tables();
	table_set(new);
	unlock_tables();
}

uint64_t
next_id(MPI_Comm parent)
{
	struct communicator *from = communicator_of(parent);

	return mix(from->id, ++from->created);
}

void
register_communicator(MPI_Comm made, uint64_t creation)
{
	if (made != MPI_COMM_NULL) {
		uint64_t id = mix(creation, (uint64_t)first_world_rank(made) + 1);
		int inter;

		PMPI_Comm_test_inter(made, &inter);
		if (inter) {	/* a copy of an intercommunicator: both groups name it alike */
			note_group_communicator(MPI_COMM_NULL, 0, made);
			return;
		}
		add_new(made, id, -1);
	}
}

void
note_new_communicator(MPI_Comm parent, MPI_Comm made)
{
	register_communicator(made, next_id(parent));
}

/* How often exactly these members have made a communicator together. */
static uint32_t
group_calls(uint64_t key)
{
	for (size_t i = 0; i < group_count; i++)
		if (groups[i].key == key)
			return ++groups[i].count;
	if (group_count == group_capacity) {
		size_t larger = group_capacity == 0 ? 16 : 2 * group_capacity;
		struct calls_by *more = realloc(groups, larger * sizeof *groups);

		if (more == NULL) {
			out_of_memory();
			return 0;
		}
		groups = more;
		group_capacity = larger;
	}
	groups[group_count].key = key;
	groups[group_count++].count = 1;
	return 1;
}

void
note_group_communicator(MPI_Comm parent, int tag, MPI_Comm made)
{
	MPI_Group local, remote;
	int inter, first, remote_first, side = -1;
	uint64_t key;

	(void)parent;
	if (made == MPI_COMM_NULL)
		return;
	PMPI_Comm_test_inter(made, &inter);
	PMPI_Comm_group(made, &local);
	key = mix(hash_group(local, &first), (uint64_t)(unsigned)tag);
	PMPI_Group_free(&local);
	if (inter) {
		uint64_t other;

		PMPI_Comm_remote_group(made, &remote);
		other = mix(hash_group(remote, &remote_first), (uint64_t)(unsigned)tag);
		PMPI_Group_free(&remote);
		side = first < remote_first ? 0 : 1;
		key = side == 0 ? mix(key, other) : mix(other, key);
	}
	lock_tables();
	key = mix(key, group_calls(key));
	unlock_tables();
	add_new(made, key, side);
}

/* What TYPE of thing is made on a communicator by all of its members, and keeps them. */
static void
add_made_on(MPI_Comm parent, uintptr_t handle, MPI_Group group, const char *type)
{
	struct communicator *from = communicator_of(parent), new = *from;

	new.handle = handle;
	new.id = mix(next_id(parent), 0x57494e);
	new.created = 0;
	new.group = group;
	lock_tables();
	new.number = ++last_number;
	table_set(new);
	unlock_tables();
	append(&new, -1, type);
}

void
note_new_win(MPI_Comm parent, MPI_Win made)
{
	MPI_Group group;

	PMPI_Win_get_group(made, &group);
	add_made_on(parent, win_key(made), group, "window");
}

void
note_new_file(MPI_Comm parent, MPI_File made)
{
	add_made_on(parent, file_key(made), MPI_GROUP_NULL, "file");
}

void
note_parent(MPI_Comm parent)
{
	if (parent != MPI_COMM_NULL && communicator_of(parent)->number == 0)
		note_group_communicator(MPI_COMM_NULL, 0, parent);
}

struct communicator *
partitions_of(MPI_Comm comm)
{
	struct communicator *it = of_handle(partition_key(comm)), new;

	if (it != &unknown)
		return it;
	new = *communicator_of(comm);
	if (new.number == 0)
		return it;
	new.handle = partition_key(comm);
	new.id = mix(new.id, 0x50415254);
	new.group = MPI_GROUP_NULL;
	lock_tables();
	new.number = ++last_number;
	table_set(new);
	unlock_tables();
	append(&new, -1, "partitions");
	return of_handle(new.handle);
}

/* By now another thread may have made one that has the handle. */
void
forget_communicator(struct communicator *comm)
{
	struct slot key = { .handle = comm->handle }, *found;

	if (comm == &unknown)
		return;
	lock_tables();
	found = table.size > 0 ? communicators_find(&table, &key) : NULL;
	if (found != NULL && found->it == comm)
		communicators_remove(&table, found);
	if (near[near_slot(comm->handle)] == comm)
		near[near_slot(comm->handle)] = NULL;
	unlock_tables();
	if (comm->group != MPI_GROUP_NULL)
		PMPI_Group_free(&comm->group);
	if (comm->handle % 4 == 0)	/* a communicator may have partitions, which go with it */
		forget_communicator(of_handle(comm->handle + 3));
	free(comm);
}
