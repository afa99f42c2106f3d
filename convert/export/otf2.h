/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of an OTF2 archive being written: otf2.c (the archive and its input), otf2_definitions.c,
 * otf2_regions.c, otf2_plan.c (the event for a row), otf2_rows.c (writes events).
 */
#ifndef OTF2_EXPORT_H
#define OTF2_EXPORT_H

#include "../../base/run/thread_lanes.h"
#include "../../base/tool/hash_table.h"
#include "../../base/waits/waits.h"
#include "../otf2_words.h"
#include "export.h"

enum { NONE = UINT32_MAX };

/* A function's meaning in OTF2, found once by its name. */
struct meaning {
	bool known;
	uint32_t region;	/* NONE: not yet defined */
	int collective;		/* OTF2_CollectiveOp; -1: OTF2 has none */
	enum otf2_kind event;	/* of RMA and I/O */
	OTF2_RmaAtomicType atomic;
	OTF2_IoOperationMode mode;
	bool io_collective, starts;	/* starts: a request of RMA or I/O */
	bool frees;			/* the communicator that it is called on */
};

/* A communicator, window or file of the stream. */
struct group_of {
	uint32_t number;
	uint32_t comm;		/* in the archive */
	uint32_t window, file;	/* NONE: it is none */
	enum { A_COMMUNICATOR, A_WINDOW, A_FILE, PARTITIONS } type;
	bool defined, inter;
};

struct rank_of {		/* of a message of kind rank */
	char *program;
#define X(key) int64_t key; bool has_##key;
	OTF2_RANK_KEYS(X)
#undef X
};

struct spot {			/* a location */
	OTF2_EvtWriter *writer;
	struct uncounted uncounted;
	int64_t left_ns;	/* of its last call; INT64_MIN: none */
	uint32_t site;		/* whose frames are entered */
	/* of the user, in order of time; those before REGION are written */
	struct region_event { int64_t at_ns; int32_t region; } *regions;
	size_t region, region_count, region_capacity;
	uint32_t *open;		/* regions that are entered, as the archive numbers them */
	size_t open_count, open_capacity;
	uint64_t events;
};

struct archive {
	struct observer observer;	/* must be first: its caller knows only this */
	const struct export *export;
	bool scout;		/* only what Scalasca's scout accepts */
	char *folder;		/* NAME.part */
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *definitions;
	OTF2_AttributeList *attributes;
	struct definitions *known;
	uint32_t locations;	/* spots of locations; the path's spot comes after them */
	struct spot *spots;
	bool path;
	int64_t last_ns;	/* of all events */
	int64_t date_s;		/* of the run; 0: unknown */
	struct rank_of *ranks;
	struct samples switches;	/* as read, or regions */
	struct thread_lanes off;		/* what of them is not written yet */

	/* numbers defined so far; of the string "" */
	uint32_t strings, regions, groups, empty;
	struct meaning *meanings;		/* by index of call_name */
	uint32_t *site_regions;			/* by place; 0: none, else region + 1 */
	size_t site_capacity;
	uint32_t off_regions[OFF_REASONS];	/* likewise */
	uint32_t *named_regions;		/* of the user, by number; likewise */
	size_t named_capacity;
	struct group_of *comms;
	size_t comm_count, comm_capacity;
	uint32_t windows, files;
	struct comm_table *comm_table;
	struct open_table *open;		/* requests begun by events */
	struct sync_table *syncs;		/* groups of RmaGroupSync */
	uint32_t state_names[STATES], kind_names[KINDS + 1];
};

/* otf2.c: dies on any error of OTF2's library. */
void archive_check(const struct archive *a, OTF2_ErrorCode code);

/* otf2_definitions.c */
#define DEFINE(kind, ...) \
	archive_check(a, OTF2_GlobalDefWriter_Write##kind(a->definitions, __VA_ARGS__))
enum { WORLD_COMM, SELF_COMM, LOCATIONS_GROUP = 0, WORLD_GROUP, SELF_GROUP, FIRST_GROUP };
enum { MPI_IO = 0, MACHINE = 0 };
uint32_t define_string(struct archive *a, const char *text);
void definitions_begin(struct archive *a);
void definitions_end(struct archive *a);
/* Reads the definition of communicator NUMBER: its type and the rest. */
void comm_type(struct archive *a, uint32_t number, const char *type);
struct group_of *comm_of(struct archive *a, uint32_t number);	/* valid until the next new one */
/* A group of the peers, ranks of communicator NUMBER; NONE: one is unknown. */
uint32_t sync_group(struct archive *a, uint32_t number, int32_t rank, const int32_t *peers,
    size_t count);

/* otf2_regions.c */
struct meaning *meaning_of(struct archive *a, uint16_t call);
uint32_t region_of_call(struct archive *a, uint16_t call);
uint32_t region_of_place(struct archive *a, uint32_t site);
uint32_t region_off_core(struct archive *a, enum off_reason reason);
uint32_t region_of_user(struct archive *a, uint32_t number);

/* otf2_plan.c: the event for a row; NO_EVENT: OTF2 has none. */
struct otf2_event plan_row(struct archive *a, uint32_t location, const struct calls *rows, size_t i,
    size_t part, uint16_t call);

/* otf2_rows.c */
/* Writes the call in rows FIRST to before END of a location, with its wait. */
void rows_put(struct archive *a, uint32_t location, const struct calls *rows, size_t first,
    size_t end, const struct wait *waits, int wait_count);
void rows_end(struct archive *a);
void rows_segment(struct archive *a, const struct segment *segment);

#endif
