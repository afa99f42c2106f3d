/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions of an OTF2 archive: who the ranks are, their communicators, and which regions are calls of MPI. */
#include <stdlib.h>
#include <string.h>

#include "../../base/mpi/call_class.h"
#include "otf2.h"

HASH_TABLE(ids, struct id, ID_HASH, ID_SAME, ID_FREE, ID_MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))

static const struct column_type rank_type = { 4, true, true, 0 };

#define APPEND(array, count, capacity) \
	((array) = grow((array), &(capacity), (count) + 1, sizeof *(array)), \
	memset(&(array)[count], 0, sizeof *(array)), &(array)[(count)++])

struct ids *
ids_new(void)
{
	struct ids *ids = zalloc(1, sizeof *ids);

	ids_begin(ids, 64);
	return ids;
}

uint32_t
ids_find_at(const struct ids *ids, uint64_t id)
{
	const struct id key = { id, 0 }, *found = ids_find(ids, &key);

	return found != NULL ? found->at : UNKNOWN;
}

static void
add_id(struct ids *ids, uint64_t id, size_t at)
{
	const struct id slot = { id, (uint32_t)at };

	ids_add(ids, &slot)->at = (uint32_t)at;
}

static const char *
string_of(const struct otf2 *o, uint64_t id)
{
	uint32_t at = ids_find_at(o->string_ids, id);

	return at == UNKNOWN ? NULL : o->strings[at];
}

static OTF2_CallbackCode
take_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t realtime)
{
	struct otf2 *o = user;

	(void)offset, (void)length, (void)realtime;
	o->resolution = resolution;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_string(void *user, OTF2_StringRef self, const char *text)
{
	struct otf2 *o = user;

	*APPEND(o->strings, o->string_count, o->string_capacity) = need(strdup(text));
	add_id(o->string_ids, self, o->string_count - 1);
	return OTF2_CALLBACK_SUCCESS;
}

/* The MPI function that a region's name tells of: some write MPI_Send(), or mpi_send_. */
static uint16_t
call_of(const char *name)
{
	char text[64] = "MPI_";
	size_t length = strcspn(name, "( ");

	if (strncasecmp(name, "MPI_", 4) != 0 || length < 5 || length >= sizeof text)
		return 0;
	memcpy(text, name, length);
	text[length] = '\0';
	if (name[0] == 'm' || name[1] == 'p' || text[length - 1] == '_') {
		while (text[length - 1] == '_')
			text[--length] = '\0';
		for (char *c = text; *c != '\0'; c++)
			*c = (char)(c < text + 3 ? *c & ~32 : c == text + 4 ? *c & ~32 : *c | 32);
		text[3] = '_';
	}
	for (unsigned i = 1; i < call_class_count; i++)
		if (strcmp(call_name(i), text) == 0)
			return (uint16_t)i;
	return 0;
}

static OTF2_CallbackCode
take_region(void *user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
    OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
    OTF2_StringRef file, uint32_t begin, uint32_t end)
{
	struct otf2 *o = user;
	struct region *region = APPEND(o->regions, o->region_count, o->region_capacity);
	const char *text = string_of(o, name);

	(void)canonical, (void)description, (void)role, (void)flags, (void)end;
	region->name = text != NULL ? text : "";
	region->file = string_of(o, file);
	region->line = begin;
	region->mpi = paradigm == OTF2_PARADIGM_MPI || strncasecmp(region->name, "MPI_", 4) == 0;
	region->call = region->mpi ? call_of(region->name) : 0;
	add_id(o->region_ids, self, o->region_count - 1);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_group(void *user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
    OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t count, const uint64_t *members)
{
	struct otf2 *o = user;
	struct group *group;

	(void)name;
	if (paradigm != OTF2_PARADIGM_MPI)
		return OTF2_CALLBACK_SUCCESS;
	group = APPEND(o->groups, o->group_count, o->group_capacity);
	group->members = zalloc(count, sizeof *group->members);
	if (count > 0)
		memcpy(group->members, members, count * sizeof *members);
	group->count = count;
	group->type = type;
	group->global = (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0;
	add_id(o->group_ids, self, o->group_count - 1);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef parent,
    OTF2_CommFlag flags)
{
	struct otf2 *o = user;
	struct communicator_of *comm = APPEND(o->comms, o->comm_count, o->comm_capacity);

	(void)parent, (void)flags;
	comm->name = string_of(o, name);
	comm->group = group;
	add_id(o->comm_ids, self, o->comm_count - 1);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_inter_comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef one, OTF2_GroupRef other,
    OTF2_CommRef common, OTF2_CommFlag flags)
{
	struct otf2 *o = user;

	take_comm(user, self, name, one, common, flags);
	o->comms[o->comm_count - 1].inter = true;
	o->comms[o->comm_count - 1].remote = other;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_window(void *user, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm, OTF2_RmaWinFlag flags)
{
	struct otf2 *o = user;
	struct communicator_of *window = APPEND(o->comms, o->comm_count, o->comm_capacity);

	(void)flags;
	window->name = string_of(o, name);
	window->window = true;
	window->window_of = comm;
	add_id(o->window_ids, self, o->comm_count - 1);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_location(void *user, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
    uint64_t events, OTF2_LocationGroupRef group)
{
	struct otf2 *o = user;
	struct lane *lane;

	(void)events;
	if (type != OTF2_LOCATION_TYPE_CPU_THREAD)
		return OTF2_CALLBACK_SUCCESS;
	lane = APPEND(o->lanes, o->lane_count, o->lane_capacity);
	lane->id = self;
	lane->name = string_of(o, name);
	lane->group = group;
	lane->location = UNKNOWN;
	lane->rank = -1;
	lane->last_leave_ns = INT64_MIN;
	add_id(o->lane_ids, self, o->lane_count - 1);
	return OTF2_CALLBACK_SUCCESS;
}

/* World rank N is the N-th member of the group of all locations that communicate. */
static void
number_ranks(struct otf2 *o)
{
	const struct group *world = NULL;
	struct ids *process_rank = ids_new();

	for (size_t i = 0; i < o->group_count; i++)
		if (o->groups[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
			world = &o->groups[i];
	if (world == NULL)
		return;
	for (uint32_t r = 0; r < world->count; r++) {
		uint32_t at = ids_find_at(o->lane_ids, world->members[r]);

		if (at == UNKNOWN || o->lanes[at].rank >= 0)
			otf2_die(o, "a rank of MPI without a location of its own");
		o->lanes[at].rank = (int32_t)r;
		o->lanes[at].location = r;
		add_id(process_rank, o->lanes[at].group, r);
	}
	o->ranks = o->locations = world->count;
	for (size_t i = 0; i < o->lane_count; i++) {
		uint32_t rank = ids_find_at(process_rank, o->lanes[i].group);

		if (o->lanes[i].rank >= 0 || rank == UNKNOWN)
			continue;
		o->lanes[i].rank = (int32_t)rank;
		o->lanes[i].location = o->locations++;
	}
}

/* The world ranks of a group; NULL where it is not known. */
static int32_t *
members_of(const struct otf2 *o, uint64_t id, uint32_t *count)
{
	uint32_t at = ids_find_at(o->group_ids, id);
	const struct group *group = at != UNKNOWN ? &o->groups[at] : NULL;
	int32_t *members;

	if (group == NULL || group->count == 0)
		return NULL;
	*count = group->count;
	members = zalloc(group->count, sizeof *members);
	for (uint32_t i = 0; i < group->count; i++) {
		uint64_t rank = group->members[i];

		if (group->global) {
			uint32_t lane = ids_find_at(o->lane_ids, rank);

			members[i] = lane == UNKNOWN ? -1 : o->lanes[lane].rank;
		} else
			members[i] = rank < o->ranks ? (int32_t)rank : -1;
	}
	return members;
}

static bool
is_world(const struct otf2 *o, const struct communicator_of *comm)
{
	uint32_t count = 0;
	int32_t *members = comm->inter || comm->window ? NULL : members_of(o, comm->group, &count);
	bool all = members != NULL && count == o->ranks;

	for (uint32_t i = 0; all && i < count; i++)
		all = members[i] == (int32_t)i;
	free(members);
	return all;
}

static bool
is_self(const struct otf2 *o, const struct communicator_of *comm)
{
	uint32_t at = ids_find_at(o->group_ids, comm->group);

	return !comm->inter && !comm->window && at != UNKNOWN &&
	    o->groups[at].type == OTF2_GROUP_TYPE_COMM_SELF;
}

/* Of several with all ranks MPI_COMM_WORLD is the one of that name, or else the first. */
static void
number_comms(struct otf2 *o)
{
	struct communicator_of *world = NULL;
	uint32_t number = 3;

	for (size_t i = 0; i < o->comm_count; i++)
		if (is_world(o, &o->comms[i]) && (world == NULL || (o->comms[i].name != NULL &&
		    strcmp(o->comms[i].name, "MPI_COMM_WORLD") == 0)))
			world = &o->comms[i];
	for (size_t i = 0; i < o->comm_count; i++)
		o->comms[i].comm = &o->comms[i] == world ? 1 : is_self(o, &o->comms[i]) ? 2 : number++;
}

void
otf2_definitions(struct otf2 *o)
{
	OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(o->reader);
	OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
	uint64_t count = 0;

	o->string_ids = ids_new();
	o->region_ids = ids_new();
	o->group_ids = ids_new();
	o->comm_ids = ids_new();
	o->window_ids = ids_new();
	o->lane_ids = ids_new();
	if (reader == NULL || c == NULL)
		otf2_die(o, "its definitions cannot be read");
	OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, take_clock);
	OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, take_string);
	OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, take_region);
	OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, take_group);
	OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, take_comm);
	OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, take_inter_comm);
	OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, take_window);
	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, take_location);
	if (OTF2_Reader_RegisterGlobalDefCallbacks(o->reader, reader, c, o) != OTF2_SUCCESS ||
	    OTF2_Reader_ReadAllGlobalDefinitions(o->reader, reader, &count) != OTF2_SUCCESS)
		otf2_die(o, "its definitions are damaged");
	OTF2_GlobalDefReaderCallbacks_Delete(c);
	if (o->resolution == 0)
		otf2_die(o, "the resolution of its clock is not told");
	number_ranks(o);
	number_comms(o);
}

static void
end_message(struct otf2 *o)
{
	if (message_end(&o->out) < 0)
		die_output();
}

static void
write_comm(struct otf2 *o, const struct communicator_of *comm)
{
	const struct communicator_of *of = comm;
	uint32_t count = 0, remote_count = 0, at;
	int32_t *members, *remote = NULL;

	if (comm->window)
		of = (at = ids_find_at(o->comm_ids, comm->window_of)) != UNKNOWN ? &o->comms[at] : NULL;
	if (comm->comm < 3 || of == NULL || of->window ||
	    (members = members_of(o, of->group, &count)) == NULL)
		return;
	if (of->inter && (remote = members_of(o, of->remote, &remote_count)) == NULL) {
		free(members);
		return;
	}
	message_begin(&o->out, "communicator", 3u + (remote != NULL ? 2 : 0) + (comm->window ? 1 : 0));
	put_uint(&o->out, "comm", comm->comm);
	put_uint(&o->out, "size", count);
	put_column(&o->out, "members", rank_type, members, count);
	if (remote != NULL) {
		put_uint(&o->out, "remote_size", remote_count);
		put_column(&o->out, "remote", rank_type, remote, remote_count);
	}
	if (comm->window)
		put_string(&o->out, "type", "window");
	end_message(o);
	free(members);
	free(remote);
}

void
otf2_write_definitions(struct otf2 *o)
{
	uint32_t *threads = zalloc(o->ranks, sizeof *threads);

	message_begin(&o->out, "run", 3);
	put_uint(&o->out, "ranks", o->ranks);
	put_uint(&o->out, "locations", o->locations);
	put_int(&o->out, "run_ns", otf2_ns(o, o->last));
	end_message(o);
	for (uint32_t r = 0; r < o->ranks; r++) {
		message_begin(&o->out, "rank", 1);
		put_uint(&o->out, "rank", r);
		end_message(o);
	}
	for (size_t i = 0; i < o->lane_count; i++) {
		const struct lane *lane = &o->lanes[i];

		if (lane->location == UNKNOWN || lane->location < o->ranks)
			continue;
		message_begin(&o->out, "location", 3);
		put_uint(&o->out, "location", lane->location);
		put_int(&o->out, "rank", lane->rank);
		put_uint(&o->out, "thread", ++threads[lane->rank]);
		end_message(o);
	}
	free(threads);
	o->used[0] = false;
	if (call_names_write(&o->out, o->used) < 0)
		die_output();
	for (size_t c = 0; c < o->comm_count; c++)
		write_comm(o, &o->comms[c]);
}
