/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of the import of OTF2 share: otf2.c (the archive), otf2_definitions.c (reads
 * them), otf2_head.c (numbers and writes them), otf2_events.c, otf2_skipped.c (those without a
 * place in a trace), otf2_calls.c (calls), otf2_rows.c (rows), otf2_sites.c.
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

/* Ids of OTF2 may be any; what they stand for lies in arrays, at these places. */
enum id_kind { ID_STRING, ID_REGION, ID_GROUP, ID_COMM, ID_WINDOW, ID_FILE, ID_LANE, ID_TREE,
    ID_PROCESS,
	ID_RANK,	/* of a process */
	ID_NUMBER,	/* of a communicator in the stream */
	ID_KINDS };
void ids_put(struct otf2 *o, enum id_kind kind, uint64_t id, size_t at);
/* UNKNOWN: not there */
uint32_t ids_find(const struct otf2 *o, enum id_kind kind, uint64_t id);

struct region {
	const char *name, *file;
	const char *place;	/* what lp-export said of a call site; NULL: it did not */
	uint32_t line;
	uint16_t call;		/* index of call_name, of an MPI function that is kept; else 0 */
	bool mpi;		/* no place of the program */
	bool phase;		/* the user has named it */
	uint32_t site;		/* of the region as a place; 0: none yet */
};

struct tree_node {
	const char *name, *class;
	uint64_t parent;	/* id */
	bool host;		/* memory is shared there */
};

struct process {		/* a group of locations */
	uint64_t node;		/* id */
	const char *program;
	struct property { const char *name; int64_t value; } *properties;
	size_t property_count, property_capacity;
};

struct list {			/* numbers that lp-export gave the root of the system tree */
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
	uint64_t parent;	/* id of the communicator that it was made from */
	bool window, file;
	uint32_t comm;		/* number in the stream */
	const char *type;	/* there; NULL: none */
	bool told;		/* by another one of the same number */
};

/* A place in the tree of calls: a region within the regions around it. */
struct node {
	uint32_t parent, region;	/* UNKNOWN: the root */
	uint32_t site;			/* of calls from here; 0: none yet */
	uint32_t depth;
};

/* What a call did, in the order in which the events came. */
struct operation {
	enum otf2_what what;
	bool receives, sends;	/* PLAIN: a part of MPI_Sendrecv is told by these */
	uint64_t request;	/* id */
	struct call_row row;	/* what the event says: communicator, peer, tag and bytes */
	unsigned said;		/* a bit for each column that attributes give */
	struct call_row as;	/* what they say */
	uint64_t io;		/* id of an operation of I/O that ends within the call; 0: none */
};

struct lane {			/* a location */
	uint64_t id;
	const char *name;
	uint64_t group;		/* of locations: the process */
	uint32_t location;	/* in the stream; UNKNOWN: none */
	int32_t rank;
	uint32_t node;		/* where the thread is */
	uint32_t *outer;	/* nodes around it */
	size_t depth, outer_capacity;
	unsigned in_mpi;	/* regions of MPI that it is in, one within the other */
	uint32_t region;	/* the outermost of these */
	uint32_t skipped;	/* regions beyond the deepest that is kept */
	int64_t enter_ns, last_leave_ns;
	struct operation *operations;
	size_t operation_count, operation_capacity;
	uint32_t made_from;	/* a communicator was made from this one in the call; 0: none */
	struct epoch *epochs;	/* of windows, that are open */
	size_t epoch_count, epoch_capacity;
	struct calls rows;	/* not written yet; first is the seq of the first of these */
	bool *open;		/* rows whose call is known only when it completes */
	size_t open_capacity, open_count;
	size_t known;		/* so many rows wait for nothing; those before the first open one */
};

struct otf2 {
	const char *file;
	struct writer out;
	OTF2_Reader *reader;
	uint64_t resolution;	/* ticks a second */
	uint64_t origin, last;	/* first enter of a call and last leave, ticks */
	bool any, writing;	/* a call was seen; the last pass */
	bool ours;		/* lp-export has written it */
	bool late;		/* a call was left behind the end of the run */
	uint64_t begin, length;	/* of its clock, ticks */
	uint64_t date_s;	/* when that was; 0: not known */
	/* by attribute: enum otf2_word, where lp-export has defined it */
	unsigned char words[64];
	const char **strings;
	size_t string_count, string_capacity;
	struct region *regions;
	size_t region_count, region_capacity;
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
	uint64_t mpi_io;	/* bits: I/O paradigms that are MPI's, of the first 64 */
	struct lane *lanes;
	size_t lane_count, lane_capacity;
	struct id_table *ids;		/* by kind */
	uint32_t ranks, locations;
	bool *used;
	struct node *nodes;
	size_t node_count, node_capacity;
	struct node_table *node_table, *call_sites;
	struct module_table *modules;
	struct request_table *requests;
	uint32_t sites;
	size_t block_rows;
	/* Said at the end. */
	uint64_t skipped[128];	/* events, by kind */
	uint64_t lost_requests;	/* completed, but nothing started them */
	uint64_t backward;	/* calls entered before the one before was left */
	uint64_t other_io;	/* of files that MPI has not opened */
	uint64_t parameters;	/* of kind ParameterUnsignedInt */
	uint64_t foreign;	/* events of locations that are no rank's */
	uint64_t outside;	/* messages and the like that no call of MPI is around */
	char why[256];		/* of the library */
};

/* otf2_definitions.c */
void otf2_definitions(struct otf2 *o);

/* otf2_head.c */
void otf2_number(struct otf2 *o);	/* ranks, locations, communicators */
void otf2_write_definitions(struct otf2 *o);

/* otf2_events.c */
OTF2_GlobalEvtReaderCallbacks *otf2_callbacks(struct otf2 *o);
/* otf2_skipped.c: kinds of events that have no place in a trace are counted and named. */
void otf2_skip(OTF2_GlobalEvtReaderCallbacks *callbacks);
void otf2_say_skipped(const struct otf2 *o);

int64_t otf2_ns(const struct otf2 *o, uint64_t ticks);
_Noreturn void otf2_die(const struct otf2 *o, const char *what);

/* otf2_sites.c: places in the program. */
void sites_begin(struct otf2 *o);
/* the node of a region in another */
uint32_t site_below(struct otf2 *o, uint32_t node, uint32_t region);
uint32_t site_of(struct otf2 *o, uint32_t node);			/* of what is there */
/* of calls of that region from there */
uint32_t site_of_call(struct otf2 *o, uint32_t node, uint32_t call);

/* otf2_calls.c */
void calls_begun(struct otf2 *o);
void call_enter(struct otf2 *o, struct lane *lane, uint64_t ticks, uint32_t region);
void call_leave(struct otf2 *o, struct lane *lane, uint64_t ticks, uint32_t region);
bool call_has_request(const struct otf2 *o, const struct lane *lane);	/* MPI_Rput and the like */
/* of the call that is going on; NULL: none */
struct operation *call_operation(struct lane *lane);
void call_epoch(struct otf2 *o, struct lane *lane, uint32_t window, uint64_t group);

/* otf2_rows.c */
void rows_begin(struct otf2 *o);
uint64_t rows_next(const struct lane *lane);		/* seq of the next row */
void rows_call(struct otf2 *o, struct lane *lane, struct call_row row);
void rows_mark(struct otf2 *o, struct lane *lane, const struct call_row *row);
void rows_end(struct otf2 *o);
bool request_is_open(struct otf2 *o, const struct lane *lane, uint64_t id);

/* otf2_head.c: world ranks of a group, to be freed; NULL where it is not known. */
int32_t *otf2_members(const struct otf2 *o, uint64_t group, uint32_t *count);

#endif
