/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph stream in memory, for formats that need it in another order. */
#ifndef EXPORT_H
#define EXPORT_H

#include "../../base/stream/calls.h"
#include "../../base/run/definitions.h"
#include "../../base/tool/tool.h"

struct edge {			/* a message */
	uint32_t source, target;
	uint64_t send, receive;
};

struct trace {
	struct definitions known;
	struct calls *rows;	/* by location */
	struct edge *edges;
	size_t edge_count, edge_capacity;
	char **hosts;		/* by rank; NULL: not known */
};

void trace_read(struct trace *trace, const char *file);
/* Writes NAME.prv, NAME.pcf and NAME.row. */
void export_prv(const struct trace *trace, const char *name);

#endif
