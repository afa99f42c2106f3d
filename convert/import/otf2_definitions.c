/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions of an OTF2 archive, while they are read. */
#include <string.h>

#include "otf2.h"

/* OTF2 gives its callbacks more than they need. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct id { uint64_t id; uint32_t at; };
#define ID_HASH(s) mix((s)->id, 1)
#define ID_SAME(a, b) ((a)->id == (b)->id)
HASH_TABLE_BY(id_table, struct id, ID_HASH, ID_SAME, at, UNKNOWN)

/* Appends an item with an id to a list. NAME: of count and capacity. */
#define DEFINE(kind, id, array, name) \
	(ids_put(o, kind, id, name##_count), APPEND(array, name##_count, name##_capacity))

void
ids_put(struct otf2 *o, enum id_kind kind, uint64_t id, size_t at)
{
	const struct id slot = { id, (uint32_t)at };

	id_table_add(&o->ids[kind], &slot)->at = (uint32_t)at;
}

uint32_t
ids_find(const struct otf2 *o, enum id_kind kind, uint64_t id)
{
	const struct id key = { id, 0 }, *found = id_table_find(o->ids[kind], &key);

	return found != NULL ? found->at : UNKNOWN;
}

static const char *
string_of(const struct otf2 *o, uint64_t id)
{
	uint32_t at = ids_find(o, ID_STRING, id);

	return at == UNKNOWN ? NULL : o->strings[at];
}

static OTF2_CallbackCode
take_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t realtime)
{
	struct otf2 *o = user;

	o->date_s = realtime == OTF2_UNDEFINED_TIMESTAMP ? 0 : realtime / 1000000000;
	o->resolution = resolution;
	o->begin = offset;
	o->length = length;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_string(void *user, OTF2_StringRef self, const char *text)
{
	struct otf2 *o = user;

	*DEFINE(ID_STRING, self, o->strings, o->string) = need(strdup(text));
	return OTF2_CALLBACK_SUCCESS;
}

/* The MPI function of a region's name: some write MPI_Send(), or mpi_send_. */
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

/* Takes lp-export's description of a region as it is. */
static bool
take_own_region(struct otf2 *o, struct region *region, const char *canonical, const char *what)
{
	const size_t length = strlen(OTF2_PLACE "\n");

	if (!o->ours || what == NULL)
		return false;
	if (strcmp(what, OTF2_OFF_CORE) == 0)
		return region->mpi = true;	/* no call, no place in the program */
	if (strcmp(what, OTF2_CALL) == 0) {
		region->mpi = true;
		region->call = build_call(region->name);
		return true;
	}
	if (strncmp(what, OTF2_PLACE "\n", length) != 0)
		return false;
	region->name = canonical != NULL && canonical[0] != '\0' ? canonical : NULL;
	region->place = what + length;
	return true;
}

static OTF2_CallbackCode
take_region(void *user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
    OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
    OTF2_StringRef file, uint32_t begin, uint32_t end)
{
	struct otf2 *o = user;
	struct region *region = DEFINE(ID_REGION, self, o->regions, o->region);
	const char *text = string_of(o, name);

	region->name = text != NULL ? text : "";
	region->file = string_of(o, file);
	if (region->file != NULL && region->file[0] == '\0')
		region->file = NULL;
	region->line = begin;
	if (take_own_region(o, region, string_of(o, canonical), string_of(o, description)))
		return OTF2_CALLBACK_SUCCESS;
	/* lp-export writes regions of the user with any name, such as MPI_Pcontrol(7). */
	region->mpi = paradigm == OTF2_PARADIGM_MPI || ((!o->ours ||
	    paradigm != OTF2_PARADIGM_USER) && strncasecmp(region->name, "MPI_", 4) == 0);
	region->call = region->mpi ? call_of(region->name) : 0;
	region->phase = !region->mpi &&
	    (paradigm == OTF2_PARADIGM_USER || (flags & OTF2_REGION_FLAG_PHASE) != 0);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_group(void *user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
    OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t count, const uint64_t *members)
{
	struct otf2 *o = user;
	struct group *group;

	if (paradigm != OTF2_PARADIGM_MPI)
		return OTF2_CALLBACK_SUCCESS;
	group = DEFINE(ID_GROUP, self, o->groups, o->group);
	group->members = zalloc(count, sizeof *group->members);
	if (count > 0)
		memcpy(group->members, members, count * sizeof *members);
	group->count = count;
	group->type = type;
	group->global = (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0;
	return OTF2_CALLBACK_SUCCESS;
}

static struct communicator_of *
define_comm(struct otf2 *o, enum id_kind kind, uint32_t id, OTF2_StringRef name,
    OTF2_CommRef parent)
{
	struct communicator_of *comm = DEFINE(kind, id, o->comms, o->comm);

	comm->name = string_of(o, name);
	comm->parent = parent;
	comm->window = kind == ID_WINDOW;
	comm->file = kind == ID_FILE;
	return comm;
}

static OTF2_CallbackCode
take_comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
    OTF2_CommRef parent, OTF2_CommFlag flags)
{
	define_comm(user, ID_COMM, self, name, parent)->group = group;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_inter_comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef one,
    OTF2_GroupRef other, OTF2_CommRef common, OTF2_CommFlag flags)
{
	struct communicator_of *comm = define_comm(user, ID_COMM, self, name, common);

	comm->group = one;
	comm->inter = true;
	comm->remote = other;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_window(void *user, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm,
    OTF2_RmaWinFlag flags)
{
	define_comm(user, ID_WINDOW, self, name, comm);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_io_paradigm(void *user, OTF2_IoParadigmRef self, OTF2_StringRef identification,
    OTF2_StringRef name, OTF2_IoParadigmClass class, OTF2_IoParadigmFlag flags, uint8_t count,
    const OTF2_IoParadigmProperty *properties, const OTF2_Type *types,
    const OTF2_AttributeValue *values)
{
	struct otf2 *o = user;
	const char *text = string_of(o, identification);

	if (text != NULL && strcmp(text, "MPI-IO") == 0 && self < 64)
		o->mpi_io |= (uint64_t)1 << self;
	return OTF2_CALLBACK_SUCCESS;
}

/* Keeps files opened by MPI; others are not part of the trace. */
static OTF2_CallbackCode
take_file(void *user, OTF2_IoHandleRef self, OTF2_StringRef name, OTF2_IoFileRef file,
    OTF2_IoParadigmRef paradigm, OTF2_IoHandleFlag flags, OTF2_CommRef comm,
    OTF2_IoHandleRef parent)
{
	const struct otf2 *o = user;

	if (paradigm < 64 && (o->mpi_io >> paradigm & 1) != 0)
		define_comm(user, ID_FILE, self, name, comm);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_attribute(void *user, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef description,
    OTF2_Type type)
{
	static const char *const words[] = {
#define X(NAME, field, name, what, type) name,
		OTF2_COLUMNS(X)
#undef X
		"longpole::aside",
	};
	struct otf2 *o = user;
	const char *text = string_of(o, name);

	for (size_t w = 0; o->ours && text != NULL && w < sizeof words / sizeof *words; w++)
		if (strcmp(text, words[w]) == 0)
			o->words[self & 63] = self < 64 ? (unsigned char)w : o->words[self & 63];
	return OTF2_CALLBACK_SUCCESS;
}

/* ---- hosts and processes ---- */

static OTF2_CallbackCode
take_tree_node(void *user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef class,
    OTF2_SystemTreeNodeRef parent)
{
	struct otf2 *o = user;
	struct tree_node *node = DEFINE(ID_TREE, self, o->tree, o->tree);

	node->name = string_of(o, name);
	node->class = string_of(o, class);
	node->parent = parent;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_tree_domain(void *user, OTF2_SystemTreeNodeRef self, OTF2_SystemTreeDomain domain)
{
	struct otf2 *o = user;
	uint32_t at = ids_find(o, ID_TREE, self);

	if (at != UNKNOWN && domain == OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY)
		o->tree[at].host = true;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_tree_property(void *user, OTF2_SystemTreeNodeRef node, OTF2_StringRef name, OTF2_Type type,
    OTF2_AttributeValue value)
{
	struct otf2 *o = user;
	const char *key = string_of(o, name), *values = type == OTF2_TYPE_STRING ? string_of(o,
	    value.stringRef) : NULL;

	if (o->ours && key != NULL && values != NULL)
		*APPEND(o->lists, o->list_count, o->list_capacity) = (struct list){ key, values };
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_process(void *user, OTF2_LocationGroupRef self, OTF2_StringRef name,
    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef node, OTF2_LocationGroupRef creator)
{
	struct otf2 *o = user;

	DEFINE(ID_PROCESS, self, o->processes, o->process)->node = node;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_process_property(void *user, OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_Type type,
    OTF2_AttributeValue value)
{
	struct otf2 *o = user;
	const char *key = string_of(o, name);
	const uint32_t at = ids_find(o, ID_PROCESS, self);
	struct process *process = at != UNKNOWN ? &o->processes[at] : NULL;

	if (!o->ours || key == NULL || process == NULL ||
	    strncmp(key, OTF2_RANK, strlen(OTF2_RANK)) != 0)
		return OTF2_CALLBACK_SUCCESS;
	key += strlen(OTF2_RANK);
	if (type == OTF2_TYPE_STRING && strcmp(key, "program") == 0)
		process->program = string_of(o, value.stringRef);
#define X(known) \
	if (type == OTF2_TYPE_INT64 && strcmp(key, #known) == 0) \
		*APPEND(process->properties, process->property_count, \
		    process->property_capacity) = (struct property){ #known, \
		    value.int64 };
	OTF2_RANK_KEYS(X)
#undef X
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
take_location(void *user, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
    uint64_t events, OTF2_LocationGroupRef group)
{
	struct otf2 *o = user;
	struct lane *lane;

	if (type != OTF2_LOCATION_TYPE_CPU_THREAD)
		return OTF2_CALLBACK_SUCCESS;
	lane = DEFINE(ID_LANE, self, o->lanes, o->lane);
	lane->id = self;
	lane->group = group;
	lane->location = UNKNOWN;
	lane->last_leave_ns = INT64_MIN;
	return OTF2_CALLBACK_SUCCESS;
}

void
otf2_definitions(struct otf2 *o)
{
	OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(o->reader);
	OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();
	uint64_t count = 0;

	memset(o->words, UINT8_MAX, sizeof o->words);
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
	OTF2_GlobalDefReaderCallbacks_SetIoParadigmCallback(c, take_io_paradigm);
	OTF2_GlobalDefReaderCallbacks_SetIoHandleCallback(c, take_file);
	OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(c, take_attribute);
	OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, take_tree_node);
	OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeDomainCallback(c, take_tree_domain);
	OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodePropertyCallback(c, take_tree_property);
	OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, take_process);
	OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(c, take_process_property);
	if (OTF2_Reader_RegisterGlobalDefCallbacks(o->reader, reader, c, o) != OTF2_SUCCESS ||
	    OTF2_Reader_ReadAllGlobalDefinitions(o->reader, reader, &count) != OTF2_SUCCESS)
		otf2_die(o, "its definitions are damaged");
	OTF2_GlobalDefReaderCallbacks_Delete(c);
	if (o->resolution == 0)
		otf2_die(o, "the resolution of its clock is not told");
	otf2_number(o);
}
