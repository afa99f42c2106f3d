/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of the trace: ranks, hosts and communicators. */
#include <stdlib.h>
#include <string.h>

#include "../../base/mpi/call_class.h"
#include "otf2.h"

/* ---- ranks ---- */

/* World rank N is the N-th member of the group of all locations that communicate. */
static void
number_ranks(struct otf2 *o)
{
	const struct group *world = NULL;

	for (size_t i = 0; i < o->group_count; i++)
		if (o->groups[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
			world = &o->groups[i];
	if (world == NULL)
		return;
	for (uint32_t r = 0; r < world->count; r++) {
		uint32_t at = ids_find(o, ID_LANE, world->members[r]);

		if (at == UNKNOWN || o->lanes[at].rank >= 0)
			otf2_die(o, "a rank of MPI without a location of its own");
		o->lanes[at].rank = (int32_t)r;
		o->lanes[at].location = r;
		ids_put(o, ID_RANK, o->lanes[at].group, r);
	}
	o->ranks = o->locations = world->count;
	for (size_t i = 0; i < o->lane_count; i++) {
		uint32_t rank = ids_find(o, ID_RANK, o->lanes[i].group);

		if (o->lanes[i].rank >= 0 || rank == UNKNOWN)
			continue;
		o->lanes[i].rank = (int32_t)rank;
		o->lanes[i].location = o->locations++;
	}
}

/* The host of a process: the ancestor with shared memory, or one called a node. */
static const char *
host_of(const struct otf2 *o, const struct process *process)
{
	uint32_t at = ids_find(o, ID_TREE, process->node);

	for (int depth = 0; at != UNKNOWN && depth < 64; depth++) {
		const struct tree_node *node = &o->tree[at];

		if (node->host || (node->class != NULL && strcmp(node->class, "node") == 0))
			return node->name;
		at = ids_find(o, ID_TREE, node->parent);
	}
	return NULL;
}

/* ---- communicators ---- */

int32_t *
otf2_members(const struct otf2 *o, uint64_t id, uint32_t *count)
{
	uint32_t at = ids_find(o, ID_GROUP, id);
	const struct group *group = at != UNKNOWN ? &o->groups[at] : NULL;
	int32_t *members;

	if (group == NULL || group->count == 0)
		return NULL;
	*count = group->count;
	members = zalloc(group->count, sizeof *members);
	for (uint32_t i = 0; i < group->count; i++) {
		uint64_t rank = group->members[i];

		if (group->global) {
			uint32_t lane = ids_find(o, ID_LANE, rank);

			members[i] = lane == UNKNOWN ? -1 : o->lanes[lane].rank;
		} else
			members[i] = rank < o->ranks ? (int32_t)rank : -1;
	}
	return members;
}

static bool
is_comm(const struct communicator_of *comm)
{
	return !comm->inter && !comm->window && !comm->file;
}

static bool
is_world(const struct otf2 *o, const struct communicator_of *comm)
{
	uint32_t count = 0;
	int32_t *members = is_comm(comm) ? otf2_members(o, comm->group, &count) : NULL;
	bool all = members != NULL && count == o->ranks;

	for (uint32_t i = 0; all && i < count; i++)
		all = members[i] == (int32_t)i;
	free(members);
	return all;
}

static bool
is_self(const struct otf2 *o, const struct communicator_of *comm)
{
	uint32_t at = ids_find(o, ID_GROUP, comm->group);

	return is_comm(comm) && at != UNKNOWN && o->groups[at].type == OTF2_GROUP_TYPE_COMM_SELF;
}

/* MPI_COMM_WORLD among communicators with all ranks: the one of that name, else the first. */
static const struct communicator_of *
find_world(const struct otf2 *o)
{
	const struct communicator_of *world = NULL;

	for (size_t i = 0; i < o->comm_count; i++)
		if (is_world(o, &o->comms[i]) && (world == NULL || (o->comms[i].name != NULL &&
		    strcmp(o->comms[i].name, "MPI_COMM_WORLD") == 0)))
			world = &o->comms[i];
	return world;
}

/* The number in lp-export's name of a communicator; 0: another name. */
static uint32_t
own_number(struct communicator_of *comm)
{
	static const struct { const char *name, *type; } names[] = { { OTF2_COMMUNICATOR, NULL },
		{ OTF2_WINDOW, "window" }, { OTF2_FILE, "file" }, { OTF2_PARTITIONS, "partitions"
		    } };

	for (size_t i = 0; comm->name != NULL && i < sizeof names / sizeof *names; i++) {
		const size_t length = strlen(names[i].name);
		char *end;
		unsigned long number;

		if (strncmp(comm->name, names[i].name, length) != 0)
			continue;
		number = strtoul(comm->name + length, &end, 10);
		comm->type = names[i].type;
		return end > comm->name + length && *end == '\0' && number >= 3 &&
		    number < UINT32_MAX ? (uint32_t)number : 0;
	}
	return 0;
}

/*
 * In archives of lp-export a window or file has a communicator of the same name: only one is
 * written.
 */
static void
number_own(struct otf2 *o, struct communicator_of *comm)
{
	uint32_t before;

	if ((comm->comm = own_number(comm)) == 0)
		otf2_die(o, "damaged: a communicator without a number");
	if ((before = ids_find(o, ID_NUMBER, comm->comm)) == UNKNOWN)
		ids_put(o, ID_NUMBER, comm->comm, (size_t)(comm - o->comms));
	else if (is_comm(&o->comms[before]) != is_comm(comm))
		comm->told = true;
	else
		otf2_die(o, "damaged: two communicators of one number");
}

static void
number_comms(struct otf2 *o)
{
	const struct communicator_of *world = find_world(o);
	uint32_t number = 3;

	for (size_t i = 0; i < o->comm_count; i++) {
		struct communicator_of *comm = &o->comms[i];

		if (comm == world)
			comm->comm = 1;
		else if (is_self(o, comm))
			comm->comm = 2;
		else if (o->ours)
			number_own(o, comm);
		else {
			comm->comm = number++;
			comm->type = comm->window ? "window" : comm->file ? "file" : NULL;
		}
	}
}

void
otf2_number(struct otf2 *o)
{
	number_ranks(o);
	number_comms(o);
}

/* ---- written ---- */

/* The numbers of a list from lp-export; NULL: there is none of that name. */
static int32_t *
listed(const struct otf2 *o, const char *name, uint32_t *count)
{
	const char *at = NULL;
	int32_t *values = NULL;
	size_t capacity = 0;

	for (size_t i = 0; i < o->list_count; i++)
		if (strcmp(o->lists[i].name, name) == 0)
			at = o->lists[i].values;
	if (at == NULL)
		return NULL;
	GROW(values, capacity, 1);
	for (*count = 0; *at != '\0'; ) {
		char *end;
		long value = strtol(at, &end, 10);

		if (end == at || value < -2 || value > INT32_MAX)
			otf2_die(o, "damaged: a list of ranks");
		GROW(values, capacity, *count + (size_t)1);
		values[(*count)++] = (int32_t)value;
		at = *end == ' ' ? end + 1 : end;
	}
	return values;
}

static int32_t *
members_or_list(const struct otf2 *o, const char *list, uint32_t number, uint64_t group,
    uint32_t *count)
{
	char name[64];
	int32_t *members = NULL;

	snprintf(name, sizeof name, "%s%u", list, number);
	if (o->list_count > 0)
		members = listed(o, name, count);
	return members != NULL ? members : otf2_members(o, group, count);
}

static void
write_comm(struct otf2 *o, const struct communicator_of *comm)
{
	const struct communicator_of *of = comm;
	uint32_t count = 0, remote_count = 0, at;
	int32_t *members, *remote = NULL;

	if (comm->window || comm->file)
		of = (at = ids_find(o, ID_COMM, comm->parent)) != UNKNOWN ? &o->comms[at] : NULL;
	if (comm->comm < 3 || comm->told || of == NULL || of->window || of->file ||
	    (members = members_or_list(o, OTF2_MEMBERS, comm->comm, of->group, &count)) == NULL)
		return;
	if (of->inter && (remote = members_or_list(o, OTF2_REMOTE, comm->comm, of->remote,
	    &remote_count)) == NULL) {
		free(members);
		return;
	}
	message_begin(&o->out, "communicator",
	    3u + (remote != NULL ? 2 : 0) + (comm->type != NULL ? 1 : 0));
	put_uint(&o->out, "comm", comm->comm);
	put_uint(&o->out, "size", count);
	put_column(&o->out, "members", column_i32, members, count);
	if (remote != NULL) {
		put_uint(&o->out, "remote_size", remote_count);
		put_column(&o->out, "remote", column_i32, remote, remote_count);
	}
	if (comm->type != NULL)
		put_string(&o->out, "type", comm->type);
	end_message(&o->out);
	free(members);
	free(remote);
}

/* Writes neighbours of members of communicators with a topology. */
static void
write_neighbours(struct otf2 *o)
{
	const size_t length = strlen(OTF2_NEIGHBOURS);

	for (size_t i = 0; i < o->list_count; i++) {
		unsigned comm, member;
		uint32_t count = 0;
		int32_t *sources;

		if (strncmp(o->lists[i].name, OTF2_NEIGHBOURS, length) != 0 ||
		    sscanf(o->lists[i].name + length, "%u::%u", &comm, &member) != 2)
			continue;
		sources = listed(o, o->lists[i].name, &count);
		message_begin(&o->out, "neighbours", 4);
		put_uint(&o->out, "comm", comm);
		put_uint(&o->out, "member", member);
		put_uint(&o->out, "count", count);
		put_column(&o->out, "sources", column_i32, sources, count);
		end_message(&o->out);
		free(sources);
	}
}

static void
write_rank(struct otf2 *o, uint32_t rank, const struct lane *lane)
{
	const uint32_t at = ids_find(o, ID_PROCESS, lane->group);
	const struct process *process = at != UNKNOWN ? &o->processes[at] : NULL;
	const char *host = process != NULL ? host_of(o, process) : NULL;
	const size_t more = process != NULL ? process->property_count : 0;

	if (o->ours && host == NULL && more == 0 && (process == NULL || process->program == NULL))
		return;		/* it is unknown */
	message_begin(&o->out, "rank",
	    1u + (host != NULL) + (process != NULL && process->program != NULL) + (unsigned)more);
	put_uint(&o->out, "rank", rank);
	if (host != NULL)
		put_string(&o->out, "host", host);
	if (process != NULL && process->program != NULL)
		put_string(&o->out, "program", process->program);
	for (const struct property *p = process->properties; p < process->properties + more; p++) {
		if (strcmp(p->name, "ended") != 0)
			put_int(&o->out, p->name, p->value);
		else {
			msgpack_pack_str_with_body(&o->out.pack, p->name, strlen(p->name));
			if (p->value != 0)
				msgpack_pack_true(&o->out.pack);
			else
				msgpack_pack_false(&o->out.pack);
		}
	}
	end_message(&o->out);
}

void
otf2_write_definitions(struct otf2 *o)
{
	uint32_t *threads = zalloc(o->ranks, sizeof *threads);
	const struct lane **first = zalloc(o->ranks, sizeof *first);

	write_run(&o->out, o->ranks, o->locations, otf2_ns(o, o->last), o->date_s);
	for (size_t i = 0; i < o->lane_count; i++)
		if (o->lanes[i].location < o->ranks)
			first[o->lanes[i].location] = &o->lanes[i];
	for (uint32_t r = 0; r < o->ranks; r++)
		write_rank(o, r, first[r]);
	for (const struct lane *lane = o->lanes; lane < o->lanes + o->lane_count; lane++) {
		if (lane->location == UNKNOWN || lane->location < o->ranks)
			continue;
		write_location(&o->out, lane->location, (uint32_t)lane->rank,
		    ++threads[lane->rank]);
	}
	free(threads);
	free(first);
	for (size_t i = 0; i < o->region_count; i++) {
		o->used[o->regions[i].call] = true;
		/* OTF2 represents it as the operation that it starts */
		if (call_class(o->regions[i].call) == CLASS_START)
			o->used[build_call("MPI_Isend")] = o->used[build_call("MPI_Irecv")] = true;
		if (o->regions[i].phase)
			o->used[build_call("phase")] = true;
	}
	o->used[0] = false;
	if (call_names_write(&o->out, o->used) < 0)
		die_output();
	for (size_t c = 0; c < o->comm_count; c++)
		write_comm(o, &o->comms[c]);
	write_neighbours(o);
}
