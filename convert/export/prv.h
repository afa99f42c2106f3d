/* SPDX-License-Identifier: BSD-3-Clause */
/* A Paraver trace while it is made: prv.c writes its records, prv_names.c what stands around them. */
#ifndef PRV_H
#define PRV_H

#include "export.h"

enum { OTHER_VALUES = 1000 };	/* functions that Extrae has no number for: this and their index */

struct code { uint32_t type, value; };

/* What one line is about; the lines are sorted by time. */
enum line_kind { LINE_STATE, LINE_LEAVE, LINE_ENTER, LINE_EVENT, LINE_MESSAGE };
struct line {
	int64_t at_ns;
	size_t order;			/* of those at the same time: as they were made */
	enum line_kind kind;
	uint32_t location;
	uint64_t what;			/* row; of a message its number; of a state its end */
	int state;
};

struct output {
	const struct trace *trace;
	struct code *codes;		/* by index of call_name; type 0: not used */
	uint32_t *node_of;		/* by rank */
	const char **nodes;		/* names; NULL: made up */
	uint32_t node_count;
	uint32_t *ranks_on;		/* by node */
	uint32_t *threads_of;		/* by rank */
	struct line *lines;
	size_t count, capacity;
	int64_t end_ns;
};

void find_nodes(struct output *output);
void put_header(FILE *out, const struct output *output);	/* of the .prv */
void put_names(FILE *out, const struct output *output);		/* the .pcf */
void put_rows(FILE *out, const struct output *output);		/* the .row */

#endif
