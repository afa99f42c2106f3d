/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Definitions of the archive: what rows use when it is first used, and at the end who the ranks are, as
 * only then the events of each are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "../../base/tool/hash_table.h"
#include "../../base/tool/text.h"
#include "otf2.h"

enum { WORLD_COMM, SELF_COMM, LOCATIONS_GROUP = 0, WORLD_GROUP, SELF_GROUP, FIRST_GROUP };
enum { MPI_IO = 0, MACHINE = 0 };

struct comm_slot { uint32_t number, at; };
#define HASH(s) mix((s)->number, 3)
#define SAME(x, y) ((x)->number == (y)->number)
#define FREE(s) ((s)->at == NONE)
#define MAKE_FREE(s) ((s)->at = NONE)
HASH_TABLE(comm_table, struct comm_slot, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))

struct sync_slot { uint64_t hash; uint32_t count, group; };
#define SYNC_HASH(s) ((s)->hash)
#define SYNC_SAME(x, y) ((x)->hash == (y)->hash && (x)->count == (y)->count)
#define SYNC_FREE(s) ((s)->group == NONE)
#define SYNC_MAKE_FREE(s) ((s)->group = NONE)
HASH_TABLE(sync_table, struct sync_slot, SYNC_HASH, SYNC_SAME, SYNC_FREE, SYNC_MAKE_FREE, HASH_KEEP_ALL,
    die("out of memory"))

#define DEFINE(kind, ...) archive_check(a, OTF2_GlobalDefWriter_Write##kind(a->definitions, __VA_ARGS__))

static uint32_t
string(struct archive *a, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return a->empty;
	DEFINE(String, a->strings, text);
	return a->strings++;
}

static uint32_t
numbered(struct archive *a, const char *name, uint32_t number)
{
	char text[64];

	snprintf(text, sizeof text, "%s%u", name, number);
	return string(a, text);
}

/* ---- functions ---- */

/* The part of a name that says which collective it is: of MPI_Iallreduce_c allreduce. */
static int
collective_of(const char *name)
{
	static const struct { const char *name; OTF2_CollectiveOp op; } ops[] = {
		{ "barrier", OTF2_COLLECTIVE_OP_BARRIER }, { "bcast", OTF2_COLLECTIVE_OP_BCAST },
		{ "gather", OTF2_COLLECTIVE_OP_GATHER }, { "gatherv", OTF2_COLLECTIVE_OP_GATHERV },
		{ "scatter", OTF2_COLLECTIVE_OP_SCATTER }, { "scatterv", OTF2_COLLECTIVE_OP_SCATTERV },
		{ "allgather", OTF2_COLLECTIVE_OP_ALLGATHER }, { "allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV },
		{ "alltoall", OTF2_COLLECTIVE_OP_ALLTOALL }, { "alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV },
		{ "alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW }, { "allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE },
		{ "reduce", OTF2_COLLECTIVE_OP_REDUCE },
		{ "reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER },
		{ "reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK },
		{ "scan", OTF2_COLLECTIVE_OP_SCAN }, { "exscan", OTF2_COLLECTIVE_OP_EXSCAN },
		{ "win_fence", OTF2_COLLECTIVE_OP_BARRIER },
		{ "win_free", OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE },
	};
	char word[64];
	size_t length;

	if (strncmp(name, "MPI_Start(", 10) == 0)
		name += 10;
	else if (strncmp(name, "MPI_", 4) == 0)
		name += 4;
	for (length = 0; name[length] != '\0' && name[length] != ')' && length + 1 < sizeof word; length++)
		word[length] = (char)(name[length] >= 'A' && name[length] <= 'Z' ? name[length] | 32 :
		    name[length]);
	word[length] = '\0';
	if (length > 2 && strcmp(word + length - 2, "_c") == 0)
		word[length - 2] = '\0';
	for (int skip = 0; skip <= (word[0] == 'i'); skip++)
		for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
			if (strcmp(word + skip, ops[i].name) == 0)
				return (int)ops[i].op;
	return -1;
}

static bool
begins(const char *name, const char *with)
{
	return strncasecmp(name, with, strlen(with)) == 0;
}

static void
mean_one_sided(struct meaning *m, const char *name)
{
	const char *what = name + 4;

	if (strcmp(name, "MPI_Win_lock") == 0)
		m->rma = LOCK;
	else if (strcmp(name, "MPI_Win_unlock") == 0)
		m->rma = UNLOCK;
	if (what[0] == 'R' && what[1] >= 'a') {
		m->starts = true;
		what++;
	}
	if (begins(what, "put"))
		m->rma = PUT;
	else if (begins(what, "get_accumulate") || begins(what, "fetch_and_op")) {
		m->rma = ATOMIC;
		m->atomic = OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
	} else if (begins(what, "accumulate") || begins(what, "compare_and_swap")) {
		m->rma = ATOMIC;
		m->atomic = what[0] == 'a' || what[0] == 'A' ? OTF2_RMA_ATOMIC_TYPE_ACCUMULATE :
		    OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
	} else if (begins(what, "get"))
		m->rma = GET;
}

static void
mean_io(struct meaning *m, const char *name)
{
	m->starts = begins(name, "MPI_File_i");
	if (strcmp(name, "MPI_File_close") == 0)
		m->io = CLOSES;
	else if (begins(name, "MPI_File_read") || begins(name, "MPI_File_iread"))
		m->io = READS;
	else if (begins(name, "MPI_File_write") || begins(name, "MPI_File_iwrite"))
		m->io = WRITES;
	m->io_collective = strstr(name, "_all") != NULL || strstr(name, "_ordered") != NULL;
}

struct meaning *
meaning_of(struct archive *a, uint16_t call)
{
	struct meaning *m = &a->meanings[call];
	const char *name = call_name(call);
	const enum call_class class = call_class(call);

	if (m->known)
		return m;
	*m = (struct meaning){ .known = true, .region = NONE, .collective = -1 };
	if (class == CLASS_COMM_CREATE || class == CLASS_COMM_CREATE_START)
		m->collective = OTF2_COLLECTIVE_OP_CREATE_HANDLE;
	else if (is_collective(class))
		m->collective = collective_of(name);
	if (class == CLASS_RMA)
		mean_one_sided(m, name);
	if (class == CLASS_IO)
		mean_io(m, name);
	m->frees = strcmp(name, "MPI_Comm_free") == 0 || strcmp(name, "MPI_Comm_disconnect") == 0;
	return m;
}

/* ---- regions ---- */

static OTF2_RegionRole
role_of(enum call_class class)
{
	switch (blocking_class(class)) {
	case CLASS_SEND: case CLASS_RECV: case CLASS_SENDRECV: case CLASS_SEND_START: case CLASS_RECV_START:
	case CLASS_START: case CLASS_COMPLETE: case CLASS_PROBE:
		return OTF2_REGION_ROLE_POINT2POINT;
	case CLASS_IO: return OTF2_REGION_ROLE_FILE_IO;
	case CLASS_RMA: case CLASS_POST: case CLASS_ACCESS: case CLASS_ACCESS_END: case CLASS_EXPOSE_END:
		return OTF2_REGION_ROLE_RMA;
	case CLASS_BARRIER: return OTF2_REGION_ROLE_BARRIER;
	case CLASS_ALL_TO_ALL: return OTF2_REGION_ROLE_COLL_ALL2ALL;
	case CLASS_ONE_TO_ALL: return OTF2_REGION_ROLE_COLL_ONE2ALL;
	case CLASS_ALL_TO_ONE: return OTF2_REGION_ROLE_COLL_ALL2ONE;
	case CLASS_SCAN: case CLASS_NEIGHBOUR: return OTF2_REGION_ROLE_COLL_OTHER;
	default: return OTF2_REGION_ROLE_FUNCTION;
	}
}

uint32_t
region_of_call(struct archive *a, uint16_t call)
{
	struct meaning *m = meaning_of(a, call);
	const char *name = call_name(call);
	uint32_t text, what;

	if (m->region != NONE)
		return m->region;
	text = string(a, name);
	what = string(a, OTF2_CALL);
	m->region = a->regions++;
	DEFINE(Region, m->region, text, text, what, role_of(call_class(call)),
	    strncmp(name, "MPI_", 4) == 0 ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
	    a->empty, 0, 0);
	return m->region;
}

/* What lp-import takes back of a place, line by line. */
static uint32_t
place_description(struct archive *a, const struct site *site)
{
	const char *module = (size_t)site->module < a->known->module_count ?
	    a->known->modules[site->module] : NULL;
	char *text, *more;
	uint32_t id;

	if (asprintf(&text, OTF2_PLACE "\n%llu\n%s\n%s", (unsigned long long)site->offset,
	    module != NULL ? module : "", site->call != NULL ? site->call : "") < 0)
		die("out of memory");
	for (size_t i = 0; i < site->inlined_count; i++, text = more) {
		if (asprintf(&more, "%s\n%s", text, site->inlined[i]) < 0)
			die("out of memory");
		free(text);
	}
	id = string(a, text);
	free(text);
	return id;
}

/* A place is shown by its function and line, and its canonical name is the function alone. */
uint32_t
region_of_place(struct archive *a, uint32_t number)
{
	struct definitions *known = a->known;
	const struct site *site = &known->sites[number];
	char one[512], *shown;
	uint32_t name, function, what, file;

	if (number >= a->site_capacity) {
		size_t before = a->site_capacity;

		a->site_regions = grow(a->site_regions, &a->site_capacity, known->site_count,
		    sizeof *a->site_regions);
		memset(a->site_regions + before, 0, (a->site_capacity - before) * sizeof *a->site_regions);
	}
	if (a->site_regions[number] != 0)
		return a->site_regions[number] - 1;
	site_text(known, number, one, sizeof one);
	shown = strstr(one, " at ");
	visible_copy(one + sizeof one / 2, sizeof one / 2, shown != NULL && site->call != NULL ? shown + 4 : one);
	name = string(a, one + sizeof one / 2);
	function = string(a, site->function);
	what = place_description(a, site);
	file = string(a, site->file);
	a->site_regions[number] = ++a->regions;
	DEFINE(Region, a->regions - 1, name, function, what, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_COMPILER,
	    OTF2_REGION_FLAG_NONE, file, (uint32_t)site->line, (uint32_t)site->line);
	return a->regions - 1;
}

/* ---- communicators, windows, files ---- */

struct group_of *
comm_of(struct archive *a, uint32_t number)
{
	struct comm_slot slot = { number, (uint32_t)a->comm_count }, *found;
	const struct communicator *c = number < a->known->comm_count ? &a->known->comms[number] : NULL;
	struct group_of *of;

	if (number == 0)
		return NULL;
	found = comm_table_add(a->comm_table, &slot);
	if (found->at < a->comm_count)
		return &a->comms[found->at];
	a->comms = grow(a->comms, &a->comm_capacity, a->comm_count + 1, sizeof *a->comms);
	of = &a->comms[a->comm_count];
	*of = (struct group_of){ .number = number, .comm = (uint32_t)a->comm_count++, .window = NONE,
	    .file = NONE, .defined = number < 3 || (c != NULL && c->members != NULL),
	    .inter = c != NULL && c->remote_size > 0 };
	return of;
}

void
definitions_type(struct archive *a, uint32_t number, const char *type)
{
	struct group_of *of = comm_of(a, number);
	const struct communicator *c = number < a->known->comm_count ? &a->known->comms[number] : NULL;

	if (of == NULL)
		return;
	of->defined = number < 3 || (c != NULL && c->members != NULL);
	of->inter = c != NULL && c->remote_size > 0;
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

/* Members as ranks of the run; those that are none are left out. */
static uint32_t
put_group(struct archive *a, uint32_t name, OTF2_GroupType type, const int32_t *members, size_t count)
{
	uint64_t *ids = zalloc(count + 1, sizeof *ids);
	size_t known = 0;

	for (size_t i = 0; i < count; i++)
		if (members[i] >= 0)
			ids[known++] = (uint64_t)members[i];
	DEFINE(Group, a->groups, name, type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, (uint32_t)known, ids);
	free(ids);
	return a->groups++;
}

/* A property of the root of the system tree. */
static void
put_list(struct archive *a, const char *name, const int32_t *values, size_t count)
{
	OTF2_AttributeValue value;
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		die("out of memory");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%d", i > 0 ? " " : "", (int)values[i]);
	if (fclose(out) != 0)
		die("out of memory");
	value.stringRef = string(a, text);
	DEFINE(SystemTreeNodeProperty, MACHINE, string(a, name), OTF2_TYPE_STRING, value);
	free(text);
}

/* Members that a group cannot hold. */
static void
put_strangers(struct archive *a, const char *name, uint32_t number, const int32_t *members, int32_t count)
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
	struct sync_slot slot = { 0, (uint32_t)count, NONE }, *found;
	int32_t *members = zalloc(count + 1, sizeof *members);

	for (size_t i = 0; i < count; i++) {
		members[i] = world_rank(a->known, number, rank, peers[i]);
		if (members[i] < 0) {
			free(members);
			return NONE;
		}
		slot.hash = mix(slot.hash, (uint64_t)members[i] + 1);
	}
	if ((found = sync_table_find(a->syncs, &slot)) == NULL) {
		slot.group = put_group(a, a->empty, OTF2_GROUP_TYPE_COMM_GROUP, members, count);
		found = sync_table_add(a->syncs, &slot);
	}
	free(members);
	return found->group;
}

/* Of a communicator with a topology, whom each member gets from. */
static void
put_neighbours(struct archive *a, const struct group_of *of, const struct communicator *c)
{
	char name[80];

	for (int32_t m = 0; c->neighbours != NULL && !a->scout && m < c->size; m++) {
		if (c->neighbours[m].sources == NULL)
			continue;
		snprintf(name, sizeof name, OTF2_NEIGHBOURS "%u::%d", of->number, (int)m);
		put_list(a, name, c->neighbours[m].sources, c->neighbours[m].count);
	}
}

static void
put_comm(struct archive *a, const struct group_of *of)
{
	static const char *const names[] = { OTF2_COMMUNICATOR, OTF2_WINDOW, OTF2_FILE, OTF2_PARTITIONS };
	const struct communicator *c = of->defined ? &a->known->comms[of->number] : NULL;
	uint32_t name = numbered(a, names[of->type], of->number), group, remote;

	if (of->inter && a->scout)
		return;
	group = put_group(a, a->empty, OTF2_GROUP_TYPE_COMM_GROUP, c != NULL ? c->members : NULL,
	    c != NULL ? (size_t)c->size : 0);
	if (of->inter) {
		remote = put_group(a, a->empty, OTF2_GROUP_TYPE_COMM_GROUP, c->remote, (size_t)c->remote_size);
		DEFINE(InterComm, of->comm, name, group, remote, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
	} else
		DEFINE(Comm, of->comm, name, group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
	if (of->window != NONE)
		DEFINE(RmaWin, of->window, name, of->comm, OTF2_RMA_WIN_FLAG_NONE);
	if (of->file != NONE && !a->scout) {
		DEFINE(IoRegularFile, of->file, name, MACHINE);
		DEFINE(IoHandle, of->file, name, of->file, MPI_IO, OTF2_IO_HANDLE_FLAG_NONE, of->comm,
		    OTF2_UNDEFINED_IO_HANDLE);
	}
	if (c == NULL)
		return;
	put_strangers(a, OTF2_MEMBERS, of->number, c->members, c->size);
	put_strangers(a, OTF2_REMOTE, of->number, c->remote, c->remote_size);
	put_neighbours(a, of, c);
}

static void
put_comms(struct archive *a)
{
	const int32_t ranks = a->known->ranks;
	uint64_t *members = zalloc((size_t)ranks + 1, sizeof *members);
	uint32_t name;

	for (int32_t r = 0; r < ranks; r++)
		members[r] = (uint64_t)r;	/* location r, and rank r among these */
	DEFINE(Group, LOCATIONS_GROUP, a->empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
	    OTF2_GROUP_FLAG_NONE, (uint32_t)ranks, members);
	DEFINE(Group, WORLD_GROUP, a->empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
	    (uint32_t)ranks, members);
	DEFINE(Group, SELF_GROUP, a->empty, OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
	    0, members);
	free(members);
	name = string(a, "MPI_COMM_WORLD");
	DEFINE(Comm, WORLD_COMM, name, WORLD_GROUP, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
	name = string(a, "MPI_COMM_SELF");
	DEFINE(Comm, SELF_COMM, name, SELF_GROUP, WORLD_COMM, OTF2_COMM_FLAG_NONE);
	if (a->files > 0 && !a->scout) {
		uint32_t id = string(a, "MPI-IO"), text = string(a, "MPI I/O");

		DEFINE(IoParadigm, MPI_IO, id, text, OTF2_IO_PARADIGM_CLASS_PARALLEL,
		    OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL, NULL);
	}
	for (size_t i = 2; i < a->comm_count; i++)
		put_comm(a, &a->comms[i]);
}

/* ---- ranks ---- */

struct host_node { const char *name; uint32_t node; };
static uint64_t
host_hash(const char *name)
{
	uint64_t hash = 0;

	for (; *name != '\0'; name++)
		hash = mix(hash, (unsigned char)*name);
	return hash;
}
#define HOST_HASH(h) host_hash((h)->name)
#define HOST_SAME(x, y) (strcmp((x)->name, (y)->name) == 0)
#define HOST_FREE(h) ((h)->name == NULL)
#define HOST_MAKE_FREE(h) ((h)->name = NULL)
HASH_TABLE(host_nodes, struct host_node, HOST_HASH, HOST_SAME, HOST_FREE, HOST_MAKE_FREE, HASH_KEEP_ALL,
    die("out of memory"))

static void
put_rank(struct archive *a, int32_t rank, uint32_t node)
{
	const struct rank_of *of = &a->ranks[rank];
	OTF2_AttributeValue value;

	DEFINE(LocationGroup, (uint32_t)rank, numbered(a, "MPI Rank ", (uint32_t)rank),
	    OTF2_LOCATION_GROUP_TYPE_PROCESS, node, OTF2_UNDEFINED_LOCATION_GROUP);
	if (a->scout)
		return;
	if (of->program != NULL) {
		value.stringRef = string(a, of->program);
		DEFINE(LocationGroupProperty, (uint32_t)rank, string(a, OTF2_RANK "program"), OTF2_TYPE_STRING,
		    value);
	}
#define X(key) \
	if (of->has_##key) { \
		value.int64 = of->key; \
		DEFINE(LocationGroupProperty, (uint32_t)rank, string(a, OTF2_RANK #key), OTF2_TYPE_INT64, value); \
	}
	OTF2_RANK_KEYS(X)
#undef X
}

static void
put_ranks(struct archive *a)
{
	const uint32_t node_class = string(a, "node"), machine_class = string(a, "machine");
	uint32_t nodes = MACHINE + 1;
	struct host_nodes hosts;

	host_nodes_begin(&hosts, 64);
	DEFINE(SystemTreeNode, MACHINE, machine_class, machine_class, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	for (int32_t r = 0; r < a->known->ranks; r++) {
		struct host_node host = { a->ranks[r].host, nodes };
		uint32_t node = MACHINE;

		if (host.name != NULL && (node = host_nodes_add(&hosts, &host)->node) == nodes) {
			DEFINE(SystemTreeNode, nodes, string(a, host.name), node_class, MACHINE);
			DEFINE(SystemTreeNodeDomain, nodes++, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
		}
		put_rank(a, r, node);
	}
	free(hosts.slots);
	for (uint32_t l = 0; l < a->locations; l++) {
		const uint32_t thread = a->known->location_thread[l];

		if (a->known->location_rank[l] < 0)
			continue;
		DEFINE(Location, l, thread == 0 ? string(a, "Master thread") : numbered(a, "Thread ", thread),
		    OTF2_LOCATION_TYPE_CPU_THREAD, a->spots[l].events, (uint32_t)a->known->location_rank[l]);
	}
}

/* The critical path is a location of its own, with the rank as its metric. */
static void
put_path(struct archive *a)
{
	const uint32_t member = 0;
	uint32_t name = string(a, "critical path"), unit = string(a, "rank"),
	    what = string(a, "rank that the critical path is on");

	DEFINE(Location, a->locations, name, OTF2_LOCATION_TYPE_METRIC, a->spots[a->locations].events, 0);
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
		{ "longpole::aside", "the event is also told by attributes of the call", OTF2_TYPE_UINT8 },
		{ "longpole::wait_ns", "of the call, that its rank could not go on for another", OTF2_TYPE_UINT64 },
		{ "longpole::wait_state", "why it could not: the longest wait", OTF2_TYPE_STRING },
		{ "longpole::waits_for", "for whom it waited longest", OTF2_TYPE_LOCATION },
		{ "longpole::kind", "what the critical path consists of here", OTF2_TYPE_STRING },
		{ "longpole::call", "the call of MPI that it is in", OTF2_TYPE_REGION },
		{ "longpole::site", "the place in the program that it is at", OTF2_TYPE_REGION },
	};

	for (uint32_t w = 0; w < WORDS; w++)
		DEFINE(Attribute, w, string(a, words[w].name), string(a, words[w].what), words[w].type);
}

void
definitions_begin(struct archive *a)
{
	static const char *const kinds[SEGMENT_KINDS] = { "compute", "MPI", "transfer", "start" };

	a->comm_table = zalloc(1, sizeof *a->comm_table);
	comm_table_begin(a->comm_table, 64);
	a->syncs = zalloc(1, sizeof *a->syncs);
	sync_table_begin(a->syncs, 64);
	a->meanings = zalloc(UINT16_MAX + 1, sizeof *a->meanings);
	a->groups = FIRST_GROUP;
	DEFINE(String, a->strings++, "");
	comm_of(a, 1);		/* WORLD_COMM and SELF_COMM */
	comm_of(a, 2);
	for (int s = 0; s < STATES; s++)
		a->state_names[s] = string(a, state_names[s]);
	for (int k = 0; k < SEGMENT_KINDS; k++)
		a->kind_names[k] = string(a, kinds[k]);
	DEFINE(Paradigm, OTF2_PARADIGM_MPI, string(a, "MPI"), OTF2_PARADIGM_CLASS_PROCESS);
	if (!a->scout) {
		put_words(a);
		DEFINE(Parameter, 0, string(a, "longpole::operation"), OTF2_PARAMETER_TYPE_UINT64);
	}
}

void
definitions_end(struct archive *a)
{
	const uint64_t length = (uint64_t)(a->known->run_ns > a->last_ns ? a->known->run_ns : a->last_ns);

	DEFINE(ClockProperties, 1000000000, 0, length, OTF2_UNDEFINED_TIMESTAMP);
	put_ranks(a);
	if (a->path)
		put_path(a);
	put_comms(a);
}
