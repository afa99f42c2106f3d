/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators get an id on which all members agree without communication. All members of a
 * communicator make new ones from it in the same order. So three numbers name a new one: the id of
 * the parent, how many were made from it before, and the world rank of the new one's first member,
 * as a split makes several at once. If only a group takes part, the members and a count of such
 * calls name it.
 *
 * Two MPI_COMM_WORLDs that meet cannot agree on a name without communication, which would hang if
 * one of them is not recorded. So each records how and when it met another, and lp-merge pairs
 * them. Ids of communicators made from such an intercommunicator belong to it: its ranks name the
 * members.
 */
#include <stdlib.h>

#include "../../base/tool/hash_table.h"
#include "notes.h"
#include "small.h"

/* Slots move. What they point to stays, as threads use it outside the lock. */
struct slot {
	uintptr_t handle;
	struct communicator *it;
};
#define HASH(s) mix((s)->handle, 0)
#define SAME(a, b) ((a)->handle == (b)->handle)
#define FREE(s) ((s)->handle == 0)
#define MAKE_FREE(s) ((s)->handle = 0)
HASH_TABLE(communicators, struct slot, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, out_of_memory())

static struct communicators *table;
struct communicator *near[NEAR];
static uint32_t last_number = 2;
/* Of unknown members: sizes that depend on them are 0, and no rank is the root. */
static struct communicator unknown = { .inter = true };

bool have_met;

/* number of such calls by the same members */
static struct calls_by { uint64_t key; uint32_t count; } *groups;
static size_t group_count, group_capacity;

static void
table_set(struct communicator new)
{
	struct slot slot = { .handle = new.handle, .it = zeroed(sizeof new) }, *at;

	if (slot.it == NULL)
		return;
	*slot.it = new;
	lock_tables();
	if ((at = communicators_add(&table, &slot)) != NULL)
		*at = slot;		/* the handle may be used again after a free */
	else
		free(slot.it);
	unlock_tables();
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

bool have_world;

void
communicators_add_world(void)
{
	struct communicator world = { .id = 1, .number = 1, .group = MPI_GROUP_NULL };
	struct communicator myself = { .id = 2, .number = 2, .group = MPI_GROUP_NULL };

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
	if (handle != 0 && (found = communicators_find(table, &key)) != NULL)
		near[near_slot(handle)] = it = found->it;
	unlock_tables();
	return it;
}

/*
 * Gives it a number, and appends its definition: to be called before the table has it, as another
 * thread may then use it.
 */
static void
define(struct communicator *comm, struct creation name, int side, const char *type,
    const struct meeting *meeting)
{
	const struct meeting of = meeting != NULL ? *meeting : (struct meeting){ 0 };
	const bool inter = side >= 0;

	lock_tables();
	comm->number = ++last_number;
	unlock_tables();
	small_append("communicator", PAIRS(
	    pair_uint("comm", comm->number),
	    pair_uint("size", (uint64_t)comm->size),
	    pair_uint("id", name.id),
	    pair_uint("rank", (uint64_t)comm->rank),
	    pair_if(inter, pair_uint("remote_size", (uint64_t)comm->peers)),
	    pair_if(inter, pair_uint("side", (uint64_t)side)),
	    pair_if(type != NULL, pair_text("type", type)),
	    pair_unless_0("from", name.root),
	    pair_unless_0("on", name.on),
	    pair_if(meeting != NULL, pair_text("met", of.how)),
	    pair_if(meeting != NULL, pair_uint("port", of.port)),
	    pair_if(meeting != NULL, pair_int("at_ns", of.at_ns))));
}

/* Appends the ranks that this rank receives from in neighbourhood collectives, in no order. */
static void
add_topology(MPI_Comm comm, struct communicator *new)
{
	int topology, in = 0, out = 0, weighted, dimensions = 0, *all;

	PMPI_Topo_test(comm, &topology);
	if (topology == MPI_DIST_GRAPH)
		PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
	else if (topology == MPI_GRAPH)
		PMPI_Graph_neighbors_count(comm, new->rank, &in);
	else if (topology == MPI_CART) {
		PMPI_Cartdim_get(comm, &dimensions);
		in = 2 * dimensions;
	} else
		return;
	if ((all = zeroed(2 * ((size_t)in + (size_t)out + 1) * sizeof *all)) == NULL)
		return;
	if (topology == MPI_DIST_GRAPH)
		PMPI_Dist_graph_neighbors(comm, in, all, all + in + out, out, all + in,
		    all + in + out + in);
	else if (topology == MPI_GRAPH)
		PMPI_Graph_neighbors(comm, new->rank, in, all);
	else
		for (int d = 0; d < dimensions; d++)
			PMPI_Cart_shift(comm, d, 1, &all[2 * d], &all[2 * d + 1]);
	new->sources = (uint32_t)in;
	new->targets = (uint32_t)(topology == MPI_DIST_GRAPH ? out : in);
	for (int i = 0; i < in; i++)
		all[i] = peer_of(all[i]);
	small_append("neighbours", PAIRS(
	    pair_uint("comm", new->number),
	    pair_uint("count", new->sources),
	    pair_bytes("sources", all, new->sources * sizeof *all)));
	free(all);
}

static void
add_new(MPI_Comm made, struct creation name, int side, const struct meeting *meeting)
{
	struct communicator new = { .id = name.id, .root = name.root, .group = MPI_GROUP_NULL };

	measure(&new, made);
	define(&new, name, side, NULL, meeting);
	/* the other side has its own numbers for communicators made from it */
	if (meeting != NULL) {
		have_met = true;
		new.id = 3;
		new.root = new.number;
	}
	if (!new.inter)
		add_topology(made, &new);
	table_set(new);
}

struct creation
next_creation(MPI_Comm parent)
{
	struct communicator *from = communicator_of(parent);

	return (struct creation){ mix(from->id, ++from->created), from->root, 0 };
}

void
register_communicator(MPI_Comm made, struct creation creation)
{
	if (made != MPI_COMM_NULL) {
		int inter;

		PMPI_Comm_test_inter(made, &inter);
		/* a copy of an intercommunicator has the same name in both groups */
		if (inter && creation.root == 0) {
			note_group_communicator(MPI_COMM_NULL, 0, made);
			return;
		}
		if (creation.root == 0)
			creation.id = mix(creation.id, (uint64_t)first_world_rank(made) + 1);
		add_new(made, creation, inter ? 0 : -1, NULL);
	}
}

void
note_new_communicator(MPI_Comm parent, MPI_Comm made)
{
	struct creation creation = next_creation(parent);

	if (creation.root != 0 && made != MPI_COMM_NULL)
		creation.id = mix(creation.id, place_in(parent, made));
	register_communicator(made, creation);
}

/* How often exactly these members have made a communicator together. */
static uint32_t
group_calls(uint64_t key)
{
	struct calls_by *more;

	for (size_t i = 0; i < group_count; i++)
		if (groups[i].key == key)
			return ++groups[i].count;
	if ((more = room_for(groups, &group_capacity, group_count + 1, sizeof *groups)) == NULL)
		return 0;
	groups = more;
	groups[group_count++] = (struct calls_by){ key, 1 };
	return 1;
}

/* MEETING: how processes of one or of two MPI_COMM_WORLDs met, if they did. */
static void
name_group(MPI_Comm parent, uint64_t tag, MPI_Comm made, struct meeting *meeting)
{
	const struct communicator *from = communicator_of(parent);
	MPI_Group group[2], base;	/* both groups, or the same one twice */
	int first[2], side, inter;
	uint64_t key[2];
	bool strangers;

	PMPI_Comm_test_inter(made, &inter);
	PMPI_Comm_group(made, &group[0]);
	(inter ? PMPI_Comm_remote_group : PMPI_Comm_group)(made, &group[1]);
	strangers = inter && (from->root != 0 || has_strangers(group[1]));
	if (from->root != 0)
		PMPI_Comm_group(parent, &base);
	else
		base = world_group();
	for (int i = 0; i < 2; i++) {
		key[i] = mix(hash_group(group[i], base, &first[i]), tag);
		PMPI_Group_free(&group[i]);
	}
	if (base != MPI_GROUP_NULL)
		PMPI_Group_free(&base);
	side = strangers || first[0] < first[1] ? 0 : 1;
	if (inter)
		key[0] = mix(key[side], key[1 - side]);
	lock_tables();
	key[0] = mix(key[0], group_calls(key[0]));
	unlock_tables();
	if (from->root != 0)
		key[0] = mix(from->id, key[0]);
	add_new(made, (struct creation){ key[0], from->root, 0 }, inter ? side : -1,
	    strangers ? meeting : NULL);
	if (strangers)
		clock_say();
}

void
note_group_communicator(MPI_Comm parent, int tag, MPI_Comm made)
{
	struct meeting meeting = { "create", mix((uint64_t)(unsigned)tag, 1), clock_ns() };

	if (made != MPI_COMM_NULL)
		name_group(parent, (uint64_t)(unsigned)tag, made, &meeting);
}

void
note_meeting(struct meeting meeting, MPI_Comm made)
{
	if (made != MPI_COMM_NULL)
		name_group(MPI_COMM_NULL, 0, made, &meeting);
}

/* Adds an object of TYPE that all members of a communicator make on it, with the same members. */
static void
add_made_on(MPI_Comm parent, uintptr_t handle, MPI_Group group, const char *type)
{
	struct communicator *from = communicator_of(parent), new = *from;
	struct creation name = next_creation(parent);

	new.handle = handle;
	new.id = name.id = mix(name.id, 0x57494e);
	new.created = 0;
	new.group = group;
	define(&new, name, -1, type, NULL);
	table_set(new);
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

struct communicator *
partitions_of(MPI_Comm comm)
{
	static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
	struct communicator *it, new;

	pthread_mutex_lock(&making);
	it = of_handle(partition_key(comm));
	new = *communicator_of(comm);
	if (it == &unknown && new.number != 0) {
		new.handle = partition_key(comm);
		new.id = mix(new.id, 0x50415254);
		new.group = MPI_GROUP_NULL;
		define(&new, (struct creation){ new.id, new.root, new.number }, -1, "partitions",
		    NULL);
		table_set(new);
		it = of_handle(new.handle);
	}
	pthread_mutex_unlock(&making);
	return it;
}

/* By now another thread may have made a communicator with the same handle. */
void
forget_communicator(struct communicator *comm)
{
	struct slot key = { .handle = comm->handle }, *found;

	if (comm == &unknown)
		return;
	lock_tables();
	found = communicators_find(table, &key);
	if (found != NULL && found->it == comm)
		communicators_remove(table, found);
	if (near[near_slot(comm->handle)] == comm)
		near[near_slot(comm->handle)] = NULL;
	unlock_tables();
	if (comm->group != MPI_GROUP_NULL)
		PMPI_Group_free(&comm->group);
	if (comm->handle % 4 == 0)	/* partitions of the communicator go with it */
		forget_communicator(of_handle(comm->handle + 3));
	free(comm);
}
