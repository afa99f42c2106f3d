/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of an OTF2 import: otf2.c (the archive), otf2_definitions.c (reads definitions),
 * otf2_head.c (numbers and writes them), otf2_events.c, otf2_rows.c (calls and rows), otf2_sites.c.
 */
#ifndef OTF2_IMPORT_H
#define OTF2_IMPORT_H

#include <otf2/otf2.h>

#include "../../base/tool/hash_table.h"
#include "../otf2_words.h"
#include "import.h"

struct otf2;

enum { UNKNOWN = UINT32_MAX };
enum { DEEPEST = 256 };		/* regions of a stack */

/* OTF2's ids may be any numbers; here they map to indices in arrays. */
enum id_kind { ID_STRING, ID_REGION, ID_GROUP, ID_COMM, ID_WINDOW, ID_FILE, ID_LANE, ID_TREE,
    ID_PROCESS,
	ID_RANK,	/* of a process */
	ID_NUMBER,	/* of a communicator in the stream */
	ID_KINDS };
void ids_put(struct otf2 *o, enum id_kind kind, uint64_t id, size_t at);
/* UNKNOWN: not found */
uint32_t ids_find(const struct otf2 *o, enum id_kind kind, uint64_t id);

struct region {
	const char *name, *file;
	const char *place;	/* lp-export's description of a call site; NULL: none */
	uint32_t line;
	uint16_t call;		/* index of call_name, if an MPI function that we keep; else 0 */
	bool mpi;		/* not a place in the program */
	bool phase;		/* named by the user */
	uint32_t number;	/* of its name in the trace; 0: none yet */
	uint32_t site;		/* of the region as a place; 0: none yet */
};

struct tree_node {
	const char *name, *class;
	uint64_t parent;	/* id */
	bool host;		/* its processes share memory */
};

struct process {		/* a group of locations */
	uint64_t node;		/* id */
	const char *program;
	struct property { const char *name; int64_t value; } *properties;
	size_t property_count, property_capacity;
};

struct list {			/* numbers from lp-export, at the root of the system tree */
	const char *name, *values;
};

struct group {
	uint64_t *members;
	uint32_t count;
	OTF2_GroupType type;
	bool global;		/* members are locations, not ranks */
};

struct communicator_of {
	const char *name;
	uint64_t group, remote;	/* ids */
	bool inter;
	uint64_t parent;	/* id of its parent communicator */
	bool window, file;
	uint32_t comm;		/* number in the stream */
	const char *type;	/* of an object on it; NULL: none */
	bool told;		/* another one with the same number is written */
};

/* A node in the call tree: a region within the regions around it. */
struct node {
	uint32_t parent, region;	/* UNKNOWN: the root */
	uint32_t site;			/* of calls from here; 0: none yet */
	uint32_t depth;
};

/* What a call did, in order of its events. */
struct operation {
	enum otf2_what what;
	bool receives, sends;	/* PLAIN: whether a part of MPI_Sendrecv receives or sends */
	uint64_t request;	/* id */
	struct call_row row;	/* from the event: communicator, peer, tag and bytes */
	unsigned said;		/* a bit for each column with an attribute */
	struct call_row as;	/* values of the attributes */
	uint64_t io;		/* id of an I/O operation that ends within the call; 0: none */
};

struct lane {			/* a location */
	uint64_t id;
	uint64_t group;		/* of locations: the process */
	uint32_t location;	/* in the stream; UNKNOWN: none */
	uint32_t node;		/* where the thread is */
	unsigned in_mpi;	/* depth of nested MPI regions */
	uint32_t region;	/* the outermost of these */
	uint32_t skipped;	/* regions deeper than DEEPEST */
	int64_t enter_ns, last_leave_ns;
	struct operation *operations;
	size_t operation_count, operation_capacity;
	uint32_t made_from;	/* parent of a communicator made in the call; 0: none */
	struct epoch *epochs;	/* open epochs of windows */
	size_t epoch_count, epoch_capacity;
};

struct otf2 {
	const char *file;
	struct build build;
	struct writer places;	/* sites, in memory, as they are found */
	OTF2_Reader *reader;
	uint64_t resolution;	/* ticks per second */
	uint64_t origin;	/* first enter of calls, ticks */
	bool any;		/* a call was seen */
	bool ours;		/* lp-export wrote it */
	uint64_t begin, length;	/* of its clock, ticks */
	uint64_t date_s;	/* date of the begin; 0: unknown */
	/* by attribute: enum otf2_word, if lp-export defined it */
	unsigned char words[64];
	const char **strings;
	size_t string_count, string_capacity;
	struct region *regions;
	size_t region_count, region_capacity;
	const char **names;	/* of regions in the trace, from number 1 on */
	size_t name_count, name_capacity;
	struct group *groups;
	size_t group_count, group_capacity;
	struct communicator_of *comms;
	size_t comm_count, comm_capacity;
	struct tree_node *tree;
	size_t tree_count, tree_capacity;
	struct process *processes;
	size_t process_count, process_capacity;
	struct list *lists;
	size_t list_count, list_capacity;
	uint64_t mpi_io;	/* bit mask of MPI's I/O paradigms, among the first 64 */
	struct lane *lanes;
	size_t lane_count, lane_capacity;
	struct id_table *ids[ID_KINDS];
	uint32_t *lane_of;		/* by rank: its first thread */
	struct node *nodes;
	size_t node_count, node_capacity;
	struct node_table *node_table, *call_sites;
	struct module_table *modules;
	struct request_table *requests;
	uint32_t sites;
	/* Reported at the end. */
	uint64_t skipped[128];	/* events, by kind */
	uint64_t lost_requests;	/* completions without a start */
	uint64_t backward;	/* calls entered before the previous one was left */
	uint64_t other_io;	/* I/O events on files that MPI did not open */
	uint64_t parameters;	/* of kind ParameterUnsignedInt */
	uint64_t foreign;	/* events of locations that belong to no rank */
	uint64_t outside;	/* messages and the like outside of MPI calls */
	char why[256];		/* the library's error */
};

/* otf2_definitions.c */
void otf2_definitions(struct otf2 *o);

/* otf2_head.c */
void otf2_number(struct otf2 *o);	/* ranks, locations, communicators */
/* For build: otf2 as context. */
void otf2_define_rank(void *otf2, uint32_t rank, struct writer *out);
void otf2_define(void *otf2, struct writer *out);

/* otf2_events.c */
OTF2_GlobalEvtReaderCallbacks *otf2_callbacks(struct otf2 *o);
void otf2_say_skipped(const struct otf2 *o);

int64_t otf2_ns(const struct otf2 *o, uint64_t ticks);
_Noreturn void otf2_die(const struct otf2 *o, const char *what);

/* otf2_sites.c: places in the program. */
void sites_begin(struct otf2 *o);
/* the node of a region inside NODE */
uint32_t site_below(struct otf2 *o, uint32_t node, uint32_t region);
uint32_t site_of(struct otf2 *o, uint32_t node);			/* of the node itself */
/* of calls of that MPI function from the node */
uint32_t site_of_call(struct otf2 *o, uint32_t node, uint32_t call);

/* otf2_rows.c */
void rows_begin(struct otf2 *o);
bool request_is_open(struct otf2 *o, const struct lane *lane, uint64_t id);
void call_enter(struct otf2 *o, struct lane *lane, uint64_t ticks, uint32_t region);
void call_leave(struct otf2 *o, struct lane *lane, uint64_t ticks, uint32_t region);
bool call_has_request(const struct otf2 *o, const struct lane *lane);	/* MPI_Rput and the like */
/* of the current call; NULL: none */
struct operation *call_operation(struct lane *lane);
void call_epoch(struct otf2 *o, struct lane *lane, uint32_t window, uint64_t group);

/* otf2_head.c: world ranks of a group, for the caller to free; NULL: unknown. */
int32_t *otf2_members(const struct otf2 *o, uint64_t group, uint32_t *count);

#endif
