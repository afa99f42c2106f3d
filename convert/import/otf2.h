/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the import of OTF2 share: otf2.c (archive), otf2_definitions.c, otf2_events.c, otf2_rows.c. */
#ifndef OTF2_IMPORT_H
#define OTF2_IMPORT_H

#include <otf2/otf2.h>

#include "../../base/tool/hash_table.h"
#include "import.h"

/* Ids of OTF2 may be any; what they stand for lies in arrays. */
struct id {
	uint64_t id;
	uint32_t at;		/* UINT32_MAX: free */
};
#define ID_HASH(s) mix((s)->id, 1)
#define ID_SAME(a, b) ((a)->id == (b)->id)
#define ID_FREE(s) ((s)->at == UINT32_MAX)
#define ID_MAKE_FREE(s) ((s)->at = UINT32_MAX)

enum { UNKNOWN = UINT32_MAX };
struct ids;
struct ids *ids_new(void);
uint32_t ids_find_at(const struct ids *ids, uint64_t id);	/* UNKNOWN: not there */

struct region {
	const char *name, *file;
	uint32_t line;
	uint16_t call;		/* index of call_name, of an MPI function that is kept; else 0 */
	bool mpi;		/* no place of the program */
	uint32_t site;		/* of the region as a place; 0: none yet */
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
	uint64_t window_of;	/* id of the communicator; only where window */
	bool window;
	uint32_t comm;		/* number in the stream */
};

/* A place in the tree of calls: a region within the regions around it. */
struct node {
	uint32_t parent, region;	/* UNKNOWN: the root */
	uint32_t site;			/* of calls from here; 0: none yet */
	uint32_t depth;
};

/* What a call did, in the order in which the events came. */
struct operation {
	enum operation_kind { PLAIN, STARTS, COMPLETES } kind;
	bool receives, sends;	/* PLAIN: a part of MPI_Sendrecv is told by these */
	uint64_t request;	/* id */
	uint32_t comm;
	int32_t peer, tag;
	uint64_t sent, received;
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
	struct calls rows;	/* not written yet; first is the seq of the first of these */
	bool *open;		/* rows whose call is known only when it completes */
	size_t open_capacity, open_count;
};

struct otf2 {
	const char *file;
	struct writer out;
	OTF2_Reader *reader;
	uint64_t resolution;	/* ticks a second */
	uint64_t origin, last;	/* first enter of a call and last leave, ticks */
	bool any, writing;	/* a call was seen; the second pass */
	const char **strings;
	size_t string_count, string_capacity;
	struct region *regions;
	size_t region_count, region_capacity;
	struct group *groups;
	size_t group_count, group_capacity;
	struct communicator_of *comms;
	size_t comm_count, comm_capacity;
	struct lane *lanes;
	size_t lane_count, lane_capacity;
	struct ids *string_ids, *region_ids, *group_ids, *comm_ids, *window_ids, *lane_ids;
	uint32_t ranks, locations;
	bool *used;
	struct node *nodes;
	size_t node_count, node_capacity;
	struct node_table *node_table;
	struct request_table *requests;
	uint32_t sites;
	size_t block_rows;
	/* Said at the end. */
	uint64_t skipped[128];	/* events, by kind */
	uint64_t lost_requests;	/* completed, but nothing started them */
	uint64_t backward;	/* calls entered before the one before was left */
	uint64_t foreign;	/* events of locations that are no rank's */
	uint64_t outside;	/* messages and the like that no call of MPI is around */
	char why[256];		/* of the library */
};

void otf2_definitions(struct otf2 *o);		/* reads them, and numbers what they define */
void otf2_write_definitions(struct otf2 *o);
OTF2_GlobalEvtReaderCallbacks *otf2_callbacks(struct otf2 *o);
void otf2_say_skipped(const struct otf2 *o);
int64_t otf2_ns(const struct otf2 *o, uint64_t ticks);
_Noreturn void otf2_die(const struct otf2 *o, const char *what);

/* otf2_rows.c */
void rows_begin(struct otf2 *o);
void rows_enter(struct otf2 *o, struct lane *lane, uint64_t ticks, uint32_t region);
void rows_leave(struct otf2 *o, struct lane *lane, uint64_t ticks, uint32_t region);
struct operation *rows_operation(struct lane *lane);	/* of the call that is going on; NULL: none */
void rows_end(struct otf2 *o);

#endif
