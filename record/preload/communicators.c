/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators get an id that all members agree on without talking to each other. All members of a
 * communicator make new ones from it in the same order; so its id, how many were made from it
 * before, and the world rank of the new one's first member (a split makes several at once) name the
 * new one. Where only a group takes part the members themselves and a count of such calls do.
 */
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

static struct communicator *table;	/* open addressing; handle MPI_COMM_NULL: free */
static size_t table_size, table_count;
static uint32_t last_number = 2;
static struct communicator unknown = { .peers = 1, .size = 1 };

static struct { uint64_t key; uint32_t count; } *groups;	/* calls by the same members */
static size_t group_count, group_capacity;

static uint64_t
mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15u;
	a = (a ^ a >> 32) * 0xff51afd7ed558ccdu;
	return a ^ a >> 29;
}

static size_t
slot_of(MPI_Comm comm)
{
	size_t at = mix((uint64_t)(uintptr_t)comm, 0) & (table_size - 1);

	while (table[at].handle != MPI_COMM_NULL && table[at].handle != comm)
		at = (at + 1) & (table_size - 1);
	return at;
}

static void
table_grow(size_t size)
{
	struct communicator *old = table;
	size_t old_size = table_size;

	table = malloc(size * sizeof *table);
	if (table == NULL)
		abort();
	table_size = size;
	for (size_t i = 0; i < size; i++)
		table[i].handle = MPI_COMM_NULL;
	for (size_t i = 0; i < old_size; i++)
		if (old[i].handle != MPI_COMM_NULL)
			table[slot_of(old[i].handle)] = old[i];
	free(old);
}

static struct communicator *
table_add(struct communicator new)
{
	size_t at = slot_of(new.handle);

	if (table[at].handle == MPI_COMM_NULL) {
		if (4 * ++table_count > 3 * table_size)
			table_grow(2 * table_size);
		at = slot_of(new.handle);
	}
	table[at] = new;
	return &table[at];
}

static void
measure(struct communicator *comm)
{
	int inter;

	PMPI_Comm_rank(comm->handle, &comm->rank);
	PMPI_Comm_size(comm->handle, &comm->size);
	comm->peers = comm->size;
	PMPI_Comm_test_inter(comm->handle, &inter);
	if (inter)
		PMPI_Comm_remote_size(comm->handle, &comm->peers);
}

void
communicators_begin(void)
{
	struct communicator world = { .handle = MPI_COMM_WORLD, .id = 1, .number = 1 };
	struct communicator self = { .handle = MPI_COMM_SELF, .id = 2, .number = 2 };

	table_grow(64);
	measure(&world);
	measure(&self);
	table_add(world);
	table_add(self);
}

struct communicator *
communicator_find(MPI_Comm comm, bool known_alive)
{
	struct communicator *found = &unknown;
	size_t at;

	lock_tables();
	if (comm != MPI_COMM_NULL && table_size > 0) {
		at = slot_of(comm);
		if (table[at].handle == comm)
			found = &table[at];
	}
	unlock_tables();
	(void)known_alive;
	return found;
}

/* A hash of the group's members, in order. */
static uint64_t
hash_group(MPI_Group group, int *first)
{
	MPI_Group world;
	uint64_t hash = 0x1234567;
	int size, *from, *to;

	PMPI_Group_size(group, &size);
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	from = malloc(2 * (size_t)size * sizeof *from);
	if (from == NULL)
		abort();
	to = from + size;
	for (int i = 0; i < size; i++)
		from[i] = i;
	PMPI_Group_translate_ranks(group, size, from, world, to);
	for (int i = 0; i < size; i++)
		hash = mix(hash, (uint64_t)to[i] + 1);
	*first = size > 0 ? to[0] : -1;
	free(from);
	PMPI_Group_free(&world);
	return hash;
}

static int
first_world_rank(MPI_Comm comm)
{
	MPI_Group group, world;
	int zero = 0, rank = 0;

	PMPI_Comm_group(comm, &group);
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_translate_ranks(group, 1, &zero, world, &rank);
	PMPI_Group_free(&group);
	PMPI_Group_free(&world);
	return rank;
}

static void
append(const struct communicator *comm, int side, const char *name)
{
	bool inter = side >= 0;
	struct small small;

	small_begin(&small, "communicator", 4u + (inter ? 2 : 0) + (name[0] != '\0' ? 1 : 0));
	small_uint(&small, "comm", comm->number);
	small_uint(&small, "size", (uint64_t)comm->size);
	small_uint(&small, "id", comm->id);
	small_uint(&small, "rank", (uint64_t)comm->rank);
	if (inter) {
		small_uint(&small, "remote_size", (uint64_t)comm->peers);
		small_uint(&small, "side", (uint64_t)side);
	}
	if (name[0] != '\0')
		small_string(&small, "name", name);
	small_append(&small);
}

static void
add_new(MPI_Comm made, uint64_t id, int side)
{
	struct communicator new = { .handle = made, .id = id };

	measure(&new);
	lock_tables();
	new.number = ++last_number;
	table_add(new);
	unlock_tables();
	append(&new, side, "");
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
		group_capacity = group_capacity == 0 ? 16 : 2 * group_capacity;
		groups = realloc(groups, group_capacity * sizeof *groups);
		if (groups == NULL)
			abort();
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

void
forget_communicator(MPI_Comm comm)
{
	size_t mask = table_size - 1, hole;

	if (comm == MPI_COMM_NULL)
		return;
	lock_tables();
	hole = slot_of(comm);
	if (table[hole].handle == comm) {
		for (size_t i = (hole + 1) & mask; table[i].handle != MPI_COMM_NULL; i = (i + 1) & mask) {
			size_t home = mix((uint64_t)(uintptr_t)table[i].handle, 0) & mask;

			if (((i - home) & mask) >= ((i - hole) & mask)) {
				table[hole] = table[i];
				hole = i;
			}
		}
		table[hole].handle = MPI_COMM_NULL;
		table_count--;
	}
	unlock_tables();
}
