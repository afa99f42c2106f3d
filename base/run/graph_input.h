/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A graph stream as every tool reads it: rows go into a window, edges become plain arrays.
 *
 *	struct graph_input g = { .row_bytes = sizeof(struct my_row) };
 *
 *	graph_open(&g, file, READ_STREAM);
 *	while (progress_next(&progress, g.in, &message))
 *		switch (graph_take(&g, &message)) {
 *		case GRAPH_MESSAGES: ...	the ends of each message are in g.edges
 *
 * On GRAPH_RUN, a tool may limit the window (window_limit), declare that it begins in the middle
 * (window.partial), and choose the locations whose rows it keeps (keeps, window.shared). A tool
 * that reads only a part of a file calls graph_define for every message, and graph_rows for the
 * messages of that part.
 *
 * Memory: the rows that the tool has not dropped from the window, and one block of edges.
 */
#ifndef GRAPH_INPUT_H
#define GRAPH_INPUT_H

#include "definitions.h"
#include "window.h"

/* The contents of a message. */
enum graph_item {
	GRAPH_OTHER,		/* a definition, or a kind that the tool handles */
	GRAPH_RUN,		/* known has ranks and locations; the window is open and empty */
	GRAPH_CALLS,		/* rows: the block is in calls, and appended to the window */
	GRAPH_NOT_KEPT,		/* rows of a location that the tool does not keep */
	GRAPH_MESSAGES,		/* edges: source, send, target, receive; count of them */
	GRAPH_PROBES,		/* the same; receive is a probe that saw the message */
	GRAPH_LOCKS,		/* the same; receive is a call that waited for the unlock SEND */
	GRAPH_HOLDS,		/* the same; receive ends a send, held up until the call SEND */
	GRAPH_COLLECTIVES,	/* edges: size of each instance; location and seq of each member */
	GRAPH_OVERDUE,		/* edges: location and seq of rows that lack their other end */
	GRAPH_SETTLED,		/* seqs: no later message refers to rows before these */
	GRAPH_SYNC,		/* seqs: each location's row in a global synchronisation point */
};

/* One block, widened; both ends in the window or kept, but see its PARTIAL and SHARED. */
struct edge_block {
	size_t count, instances;
	uint32_t *source, *target;	/* messages */
	uint64_t *send, *receive;
	uint32_t *size, *location;	/* collectives; in the arrays of source and send */
	uint64_t *seq;
	size_t capacity, instance_capacity;
};

struct graph_input {
	size_t row_bytes;	/* of the window's rows; 0: the tool keeps rows and checks edges */
	bool *keeps;		/* by location; NULL: the rows of all locations are read */
	struct reader *in;
	struct definitions known;
	struct window window;
	struct calls calls;
	struct edge_block edges;
	uint64_t *seqs;		/* by location */
};

/* Refuses a stream that lp-graph has not matched. Bad input ends the tool, here and below. */
void graph_open(struct graph_input *graph, const char *file, enum reading how);
/* Takes a message and returns its item. */
enum graph_item graph_take(struct graph_input *graph, const struct message *message);
/* Its two halves: definitions, and all other messages. */
enum graph_item graph_define(struct graph_input *graph, const struct message *message);
enum graph_item graph_rows(struct graph_input *graph, const struct message *message);
/*
 * After GRAPH_SETTLED of a run in progress: sets seqs to the rows before which all others are
 * settled or overdue. False: none is overdue.
 */
bool graph_early(struct graph_input *graph, const struct message *message);
/* Closes the reader, and frees everything except the definitions. */
void graph_close(struct graph_input *graph);

#endif
