/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Definitions of the archive: those of rows at first use; those of ranks at the end, when the
 * events of each are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "otf2.h"

uint32_t
define_string(struct archive *a, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return a->empty;
	DEFINE(String, a->strings, text);
	return a->strings++;
}

static uint32_t
define_numbered(struct archive *a, const char *name, uint32_t number)
{
	char text[64];

	snprintf(text, sizeof text, "%s%u", name, number);
	return define_string(a, text);
}

/* ---- ranks ---- */

static void
put_rank(struct archive *a, int32_t rank, uint32_t node)
{
	const struct rank_of *of = &a->ranks[rank];
	OTF2_AttributeValue value;

	DEFINE(LocationGroup, (uint32_t)rank, define_numbered(a, "MPI Rank ", (uint32_t)rank),
	    OTF2_LOCATION_GROUP_TYPE_PROCESS, node, OTF2_UNDEFINED_LOCATION_GROUP);
	if (a->scout)
		return;
	if (of->program != NULL) {
		value.stringRef = define_string(a, of->program);
		DEFINE(LocationGroupProperty, (uint32_t)rank, define_string(a, OTF2_RANK "program"),
		    OTF2_TYPE_STRING, value);
	}
#define X(key) \
	if (of->has_##key) { \
		value.int64 = of->key; \
		DEFINE(LocationGroupProperty, (uint32_t)rank, define_string(a, OTF2_RANK #key), \
		    OTF2_TYPE_INT64, value); \
	}
	OTF2_RANK_KEYS(X)
#undef X
}

static void
put_ranks(struct archive *a)
{
	const uint32_t node_class = define_string(a, "node"),
	    machine_class = define_string(a, "machine");
	const struct headline *run = &a->known->headline;
	uint32_t nodes = MACHINE, *of_host = zalloc(run->host_count + 1, sizeof *of_host);

	DEFINE(SystemTreeNode, MACHINE, machine_class, machine_class,
	    OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	for (int32_t r = 0; r < a->known->ranks; r++) {
		const size_t host = headline_host(run, r);

		if (host != SIZE_MAX && of_host[host] == 0) {
			of_host[host] = ++nodes;
			DEFINE(SystemTreeNode, nodes, define_string(a, run->hosts[host].name),
			    node_class, MACHINE);
			DEFINE(SystemTreeNodeDomain, nodes, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
		}
		put_rank(a, r, host != SIZE_MAX ? of_host[host] : MACHINE);
	}
	free(of_host);
	for (uint32_t l = 0; l < a->locations; l++) {
		const uint32_t thread = a->known->location_thread[l];

		if (a->known->location_rank[l] < 0)
			continue;
		DEFINE(Location, l, thread == 0 ? define_string(a, "Master thread") :
		    define_numbered(a, "Thread ", thread), OTF2_LOCATION_TYPE_CPU_THREAD,
		    a->spots[l].events, (uint32_t)a->known->location_rank[l]);
	}
}

/* The critical path is a location with the rank as its metric. */
static void
put_path(struct archive *a)
{
	const uint32_t member = 0;
	uint32_t name = define_string(a, "critical path"), unit = define_string(a, "rank"),
	    what = define_string(a, "rank that the critical path is on");

	DEFINE(Location, a->locations, name, OTF2_LOCATION_TYPE_METRIC,
	    a->spots[a->locations].events, 0);
	DEFINE(MetricMember, member, name, what, OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_NEXT,
	    OTF2_TYPE_INT64, OTF2_BASE_DECIMAL, 0, unit);
	DEFINE(MetricClass, 0, 1, &member, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT);
}

static void
put_words(struct archive *a)
{
	static const struct { const char *name, *what; OTF2_Type type; } words[WORDS] = {
#define X(NAME, field, name, what, type) { name, what, OTF2_TYPE_##type },
		OTF2_COLUMNS(X)
#undef X
		{ "longpole::aside", "the event is also told by attributes of the call",
		    OTF2_TYPE_UINT8 },
		{ "longpole::wait_ns", "of the call, that its rank could not go on for another",
		    OTF2_TYPE_UINT64 },
		{ "longpole::wait_state", "why it could not: the longest wait", OTF2_TYPE_STRING },
		{ "longpole::waits_for", "for whom it waited longest", OTF2_TYPE_LOCATION },
		{ "longpole::kind", "what the critical path consists of here", OTF2_TYPE_STRING },
		{ "longpole::call", "the call of MPI that it is in", OTF2_TYPE_REGION },
		{ "longpole::site", "the place in the program that it is at", OTF2_TYPE_REGION },
	};

	for (uint32_t w = 0; w < WORDS; w++)
		DEFINE(Attribute, w, define_string(a, words[w].name),
		    define_string(a, words[w].what), words[w].type);
}

/* ---- communicators, windows and files, with the groups of their ranks ---- */

struct comm_slot { uint32_t number, at; };
#define HASH(s) mix((s)->number, 3)
#define SAME(x, y) ((x)->number == (y)->number)
HASH_TABLE_BY(comm_table, struct comm_slot, HASH, SAME, at, NONE)

/* A group of ranks of a window; written at the end, after the ranks. */
struct sync_slot { uint64_t hash; uint32_t count, group; int32_t *members; };
#define SYNC_HASH(s) ((s)->hash)
#define SYNC_SAME(x, y) ((x)->hash == (y)->hash && (x)->count == (y)->count)
HASH_TABLE_BY(sync_table, struct sync_slot, SYNC_HASH, SYNC_SAME, group, NONE)

static void
define_group(const struct archive *a, struct group_of *of)
{
	const struct communicator *c = of->number < a->known->comm_count ?
	    &a->known->comms[of->number] : NULL;

	of->defined = of->number < 3 || (c != NULL && c->members != NULL);
	of->inter = c != NULL && c->remote_size > 0;
}

struct group_of *
comm_of(struct archive *a, uint32_t number)
{
	struct comm_slot slot = { number, (uint32_t)a->comm_count }, *found;

	if (number == 0)
		return NULL;
	found = comm_table_add(&a->comm_table, &slot);
	if (found->at == a->comm_count) {
		*APPEND(a->comms, a->comm_count, a->comm_capacity) = (struct group_of){
		    .number = number, .comm = found->at, .window = NONE, .file = NONE };
		define_group(a, &a->comms[found->at]);
	}
	return &a->comms[found->at];
}

void
comm_type(struct archive *a, uint32_t number, const char *type)
{
	struct group_of *of = comm_of(a, number);

	if (of == NULL)
		return;
	define_group(a, of);
	if (type == NULL || of->type != A_COMMUNICATOR)
		return;
	if (strcmp(type, "window") == 0) {
		of->type = A_WINDOW;
		of->window = a->windows++;
	} else if (strcmp(type, "file") == 0) {
		of->type = A_FILE;
		of->file = a->files++;
	} else if (strcmp(type, "partitions") == 0)
		of->type = PARTITIONS;
}

/* Members as ranks of the run; others are left out. */
static uint32_t
put_group(struct archive *a, const int32_t *members, size_t count)
{
	uint64_t *ids = zalloc(count + 1, sizeof *ids);
	size_t known = 0;

	for (size_t i = 0; i < count; i++)
		if (members[i] >= 0)
			ids[known++] = (uint64_t)members[i];
	DEFINE(Group, a->groups, a->empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
	    OTF2_GROUP_FLAG_NONE, (uint32_t)known, ids);
	free(ids);
	return a->groups++;
}

/* A property of the root of the system tree. */
static void
put_list(struct archive *a, const char *name, const int32_t *values, size_t count)
{
	enum { LONGEST = sizeof " -2147483648" };
	OTF2_AttributeValue value;
	char *text = zalloc(count + 1, LONGEST), *end = text;

	for (size_t i = 0; i < count; i++)
		end += snprintf(end, LONGEST, "%s%d", i > 0 ? " " : "", (int)values[i]);
	value.stringRef = define_string(a, text);
	DEFINE(SystemTreeNodeProperty, MACHINE, define_string(a, name), OTF2_TYPE_STRING, value);
	free(text);
}

/* Members that a group cannot express. */
static void
put_strangers(struct archive *a, const char *name, uint32_t number, const int32_t *members,
    int32_t count)
{
	char text[64];

	for (int32_t i = 0; members != NULL && !a->scout && i < count; i++)
		if (members[i] < 0) {
			snprintf(text, sizeof text, "%s%u", name, number);
			put_list(a, text, members, (size_t)count);
			return;
		}
}

uint32_t
sync_group(struct archive *a, uint32_t number, int32_t rank, const int32_t *peers, size_t count)
{
	struct sync_slot slot = { 0, (uint32_t)count, a->groups, NULL }, *found;
	int32_t *members = zalloc(count + 1, sizeof *members);

	for (size_t i = 0; i < count; i++) {
		members[i] = world_rank(a->known, number, rank, peers[i]);
		if (members[i] < 0) {
			free(members);
			return NONE;
		}
		slot.hash = mix(slot.hash, (uint64_t)members[i] + 1);
	}
	slot.members = members;
	found = sync_table_add(&a->syncs, &slot);
	if (found->group == a->groups)
		a->groups++;
	else
		free(members);
	return found->group;
}

ORDER(by_group, struct sync_slot, BY(group))

static void
put_comm(struct archive *a, const struct group_of *of)
{
	static const char *const names[] = { OTF2_COMMUNICATOR, OTF2_WINDOW, OTF2_FILE,
	    OTF2_PARTITIONS };
	const struct communicator *c = of->defined ? &a->known->comms[of->number] : NULL;
	uint32_t name = define_numbered(a, names[of->type], of->number), group, remote;
	char list[80];

	if (of->inter && a->scout)
		return;
	group = put_group(a, c != NULL ? c->members : NULL, c != NULL ? (size_t)c->size : 0);
	if (of->inter) {
		remote = put_group(a, c->remote, (size_t)c->remote_size);
		DEFINE(InterComm, of->comm, name, group, remote, OTF2_UNDEFINED_COMM,
		    OTF2_COMM_FLAG_NONE);
	} else
		DEFINE(Comm, of->comm, name, group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
	if (of->window != NONE)
		DEFINE(RmaWin, of->window, name, of->comm, OTF2_RMA_WIN_FLAG_NONE);
	if (of->file != NONE && !a->scout) {
		DEFINE(IoRegularFile, of->file, name, MACHINE);
		DEFINE(IoHandle, of->file, name, of->file, MPI_IO, OTF2_IO_HANDLE_FLAG_NONE,
		    of->comm, OTF2_UNDEFINED_IO_HANDLE);
	}
	if (c == NULL)
		return;
	put_strangers(a, OTF2_MEMBERS, of->number, c->members, c->size);
	put_strangers(a, OTF2_REMOTE, of->number, c->remote, c->remote_size);
	/* of a communicator with a topology: the ranks that each member receives from */
	for (int32_t m = 0; c->neighbours != NULL && !a->scout && m < c->size; m++) {
		if (c->neighbours[m].sources == NULL)
			continue;
		snprintf(list, sizeof list, OTF2_NEIGHBOURS "%u::%d", of->number, (int)m);
		put_list(a, list, c->neighbours[m].sources, c->neighbours[m].count);
	}
}

static void
comms_end(struct archive *a)
{
	const int32_t ranks = a->known->ranks;
	uint64_t *members = zalloc((size_t)ranks + 1, sizeof *members);
	const uint32_t groups = a->groups;
	struct sync_slot *syncs = sync_table_sorted(a->syncs, by_group);
	uint32_t name;

	for (int32_t r = 0; r < ranks; r++)
		members[r] = (uint64_t)r;	/* location r, and rank r among these */
	DEFINE(Group, LOCATIONS_GROUP, a->empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
	    OTF2_GROUP_FLAG_NONE, (uint32_t)ranks, members);
	DEFINE(Group, WORLD_GROUP, a->empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
	    OTF2_GROUP_FLAG_NONE, (uint32_t)ranks, members);
	DEFINE(Group, SELF_GROUP, a->empty, OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI,
	    OTF2_GROUP_FLAG_NONE, 0, members);
	free(members);
	/* those of windows, numbered before */
	a->groups = FIRST_GROUP;
	for (size_t i = 0; i < sync_table_count(a->syncs); i++)
		put_group(a, syncs[i].members, syncs[i].count);
	free(syncs);
	a->groups = groups;
	name = define_string(a, "MPI_COMM_WORLD");
	DEFINE(Comm, WORLD_COMM, name, WORLD_GROUP, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
	name = define_string(a, "MPI_COMM_SELF");
	DEFINE(Comm, SELF_COMM, name, SELF_GROUP, WORLD_COMM, OTF2_COMM_FLAG_NONE);
	if (a->files > 0 && !a->scout) {
		uint32_t id = define_string(a, "MPI-IO"), text = define_string(a, "MPI I/O");

		DEFINE(IoParadigm, MPI_IO, id, text, OTF2_IO_PARADIGM_CLASS_PARALLEL,
		    OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL, NULL);
	}
	for (size_t i = 2; i < a->comm_count; i++)
		put_comm(a, &a->comms[i]);
}

void
definitions_begin(struct archive *a)
{
	a->meanings = zalloc(UINT16_MAX + 1, sizeof *a->meanings);
	a->groups = FIRST_GROUP;
	DEFINE(String, a->strings++, "");
	comm_of(a, 1);		/* WORLD_COMM and SELF_COMM */
	comm_of(a, 2);
	for (int s = 0; s < STATES; s++)
		a->state_names[s] = define_string(a, state_names[s]);
	for (int k = 0; k <= KINDS; k++)
		a->kind_names[k] = define_string(a, segment_names[k]);
	DEFINE(Paradigm, OTF2_PARADIGM_MPI, define_string(a, "MPI"), OTF2_PARADIGM_CLASS_PROCESS);
	if (!a->scout) {
		put_words(a);
		DEFINE(Parameter, 0, define_string(a, "longpole::operation"),
		    OTF2_PARAMETER_TYPE_UINT64);
	}
}

void
definitions_end(struct archive *a)
{
	DEFINE(ClockProperties, 1000000000, 0, (uint64_t)larger(a->known->run_ns, a->last_ns),
	    a->date_s > 0 ? (uint64_t)a->date_s * 1000000000 : OTF2_UNDEFINED_TIMESTAMP);
	put_ranks(a);
	if (a->path)
		put_path(a);
	comms_end(a);
}
