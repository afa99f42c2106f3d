/* SPDX-License-Identifier: BSD-3-Clause */
/* A Paraver trace being written: prv.c writes its records, prv_names.c the header and names. */
#ifndef PRV_H
#define PRV_H

#include "../../base/mpi/paraver.h"
#include "export.h"

enum { OTHER_VALUES = 1000 };	/* for functions without an Extrae number: this plus their index */
enum { PATH_TYPE = 59000001 };

struct code { uint32_t type, value; };

/* A record; a location's records come in order of time. */
enum line_kind { LINE_STATE, LINE_LEAVE, LINE_ENTER, LINE_EVENT, LINE_PATH };
struct line {
	int64_t at_ns, end_ns;		/* end: of a state */
	enum line_kind kind;
	uint32_t type, value;		/* of an event; a state has its number as value */
	uint32_t location, site, comm;
	bool root;
	uint64_t sent, received;
};

struct queue {				/* FIFO of lines */
	struct line *at;
	size_t begin, end, capacity;
};

struct sent {				/* a message */
	int64_t at_ns, post_ns, received_ns;
	uint64_t order, bytes;
	uint32_t source, target;
	int32_t tag;
};

struct kept_row {		/* kept of a row whose edges come later */
	struct row row;
	uint64_t sent, received;
	int32_t tag;
};

struct output {
	struct graph_input graph;
	const struct definitions *known;	/* of the graph */
	bool begun;			/* a block came, so ranks and communicators are defined */
	bool has_path;
	int64_t *left_ns;		/* by location: lines up to here are complete */
	int64_t path_ns;		/* the path is read up to here */
	struct code *codes;		/* by index of call_name; type 0: unused */
	bool *placed;			/* by site: it is a caller */
	size_t placed_capacity, levels;	/* levels: of the deepest caller */
	bool path;
	uint32_t *node_of;		/* by rank */
	const char **nodes;		/* names; NULL: generated */
	uint32_t node_count;
	uint32_t *ranks_on;		/* by node */
	uint32_t *threads_of;		/* by rank */
	struct whole_file file;		/* the .prv */
	struct text text;
	struct queue *queues;		/* by location; behind them the path */
	struct next { int64_t at_ns; uint32_t queue; } *heap;	/* non-empty queues */
	size_t heap_count;
	struct sent *messages;		/* a heap */
	size_t message_count, message_capacity;
	uint64_t order;
};

/* prv_names.c */
void find_nodes(struct output *output);
void put_header(FILE *out, const struct output *output);	/* of the .prv */
void put_names(FILE *out, const struct output *output);		/* the .pcf */
void put_rows(FILE *out, const struct output *output);		/* the .row */

#endif
