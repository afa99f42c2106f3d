/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of the trace: ranks, hosts and communicators. */
#include <stdlib.h>
#include <string.h>

#include "otf2.h"

/* ---- ranks ---- */

/* World rank N is the N-th member of the group of all locations that communicate. */
static void
number_ranks(struct otf2 *o)
{
	const struct group *world = NULL;
	uint32_t *rank_of, further = 0;

	for (size_t i = 0; i < o->group_count; i++)
		if (o->groups[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
			world = &o->groups[i];
	if (world == NULL || world->count == 0)
		return;
	o->lane_of = zalloc(world->count, sizeof *o->lane_of);
	for (uint32_t r = 0; r < world->count; r++) {
		uint32_t at = ids_find(o, ID_LANE, world->members[r]);

		if (at == UNKNOWN || o->lanes[at].location != UNKNOWN)
			otf2_die(o, "a rank of MPI without a location of its own");
		o->lanes[at].location = r;
		o->lane_of[r] = at;
		ids_put(o, ID_RANK, o->lanes[at].group, r);
	}
	rank_of = zalloc(o->lane_count, sizeof *rank_of);
	for (size_t i = 0; i < o->lane_count; i++) {
		uint32_t rank = ids_find(o, ID_RANK, o->lanes[i].group);

		if (o->lanes[i].location != UNKNOWN || rank == UNKNOWN)
			continue;
		o->lanes[i].location = world->count + further;
		rank_of[further++] = rank;
	}
	build_begin(&o->build, world->count, rank_of, further);
	free(rank_of);
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
			const uint32_t lane = ids_find(o, ID_LANE, rank),
			    location = lane != UNKNOWN ? o->lanes[lane].location : UNKNOWN;

			members[i] = location == UNKNOWN ? -1 :
			    (int32_t)o->build.of[location].rank;
		} else
			members[i] = rank < o->build.ranks ? (int32_t)rank : -1;
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
	bool all = members != NULL && count == o->build.ranks;

	for (uint32_t i = 0; all && i < count; i++)
		all = members[i] == (int32_t)i;
	free(members);
	return all;
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

/* A window or file of lp-export has a communicator of the same name: only one is written. */
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

void
otf2_number(struct otf2 *o)
{
	const struct communicator_of *world = NULL;
	uint32_t number = 3;

	number_ranks(o);
	/* MPI_COMM_WORLD among communicators with all ranks: the one of that name, or the first */
	for (size_t i = 0; i < o->comm_count; i++)
		if (is_world(o, &o->comms[i]) && (world == NULL || (o->comms[i].name != NULL &&
		    strcmp(o->comms[i].name, "MPI_COMM_WORLD") == 0)))
			world = &o->comms[i];
	for (size_t i = 0; i < o->comm_count; i++) {
		struct communicator_of *comm = &o->comms[i];
		const uint32_t group = ids_find(o, ID_GROUP, comm->group);

		if (comm == world)
			comm->comm = 1;
		else if (is_comm(comm) && group != UNKNOWN &&
		    o->groups[group].type == OTF2_GROUP_TYPE_COMM_SELF)
			comm->comm = 2;
		else if (o->ours)
			number_own(o, comm);
		else {
			comm->comm = number++;
			comm->type = comm->window ? "window" : comm->file ? "file" : NULL;
		}
	}
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
		*APPEND(values, *count, capacity) = (int32_t)value;
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
write_comm(const struct otf2 *o, const struct communicator_of *comm, struct writer *out)
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
	communicator_write(out, comm->comm, &(struct communicator){ .size = (int32_t)count,
	    .members = members, .remote_size = (int32_t)remote_count, .remote = remote },
	    comm->type);
	free(members);
	free(remote);
}

/* Writes neighbours of members of communicators with a topology. */
static void
write_neighbours(const struct otf2 *o, struct writer *out)
{
	const size_t length = strlen(OTF2_NEIGHBOURS);

	for (size_t i = 0; i < o->list_count; i++) {
		unsigned comm, member;
		struct neighbours of = { 0 };

		if (strncmp(o->lists[i].name, OTF2_NEIGHBOURS, length) != 0 ||
		    sscanf(o->lists[i].name + length, "%u::%u", &comm, &member) != 2)
			continue;
		of.sources = listed(o, o->lists[i].name, &of.count);
		neighbours_write(out, comm, (int32_t)member, &of);
		free(of.sources);
	}
}

void
otf2_define_rank(void *otf2, uint32_t rank, struct writer *out)
{
	const struct otf2 *o = otf2;
	const uint32_t at = ids_find(o, ID_PROCESS, o->lanes[o->lane_of[rank]].group);
	const struct process *process = at != UNKNOWN ? &o->processes[at] : NULL;
	const char *host = process != NULL ? host_of(o, process) : NULL;
	const size_t more = process != NULL ? process->property_count : 0;

	if (o->ours && host == NULL && more == 0 && (process == NULL || process->program == NULL))
		return;		/* it is unknown */
	message_begin(out, "rank",
	    1u + (host != NULL) + (process != NULL && process->program != NULL) + (unsigned)more);
	put_uint(out, "rank", rank);
	if (host != NULL)
		put_string(out, "host", host);
	if (process != NULL && process->program != NULL)
		put_string(out, "program", process->program);
	for (size_t i = 0; i < more; i++) {
		const struct property *p = &process->properties[i];

		if (strcmp(p->name, "ended") == 0)
			put_bool(out, p->name, p->value != 0);
		else
			put_int(out, p->name, p->value);
	}
	end_message(out);
}

void
otf2_define(void *otf2, struct writer *out)
{
	struct otf2 *o = otf2;

	for (size_t c = 0; c < o->comm_count; c++)
		write_comm(o, &o->comms[c], out);
	write_neighbours(o, out);
	for (size_t n = 0; n < o->name_count; n++) {
		message_begin(out, "region_name", 2);
		put_uint(out, "number", n + 1);
		put_string(out, "name", o->names[n]);
		end_message(out);
	}
	if (o->sites > 0 && writer_append(out, &o->places) < 0)
		die_output();
}
