/* SPDX-License-Identifier: BSD-3-Clause */
/* Matched messages and collectives as nodes: between the enters and the leaves that wait for them. */
#ifndef NODES_H
#define NODES_H

#include "../base/run/collective.h"
#include "matched.h"
#include "replay.h"

/* A node that a row waits for. */
struct wait {
	uint32_t next;		/* of the row, or of the location's open ones */
	uint32_t node;
	uint64_t start;		/* row that started the collective, for an open one */
};

struct event_row {
	struct row row;
	uint32_t sources, waits;
	uint64_t bytes_sent, bytes_received;
};

/* Items that come and go, by number from 1; the first four bytes link the free ones. */
struct pool {
	char *items;
	size_t bytes, count, capacity;
	uint32_t free;
};

struct nodes {
	struct pool nodes, sources, waits;
	struct needs needs;	/* of one collective */
	struct member *members;
	size_t member_capacity;
};

void nodes_begin(struct nodes *nodes);
void nodes_end(struct nodes *nodes);

/* Rows that have just been read: what of them the window's rows lack. */
void nodes_take_calls(const struct graph_input *graph);
/* Nodes of the edges that have just been read; the window's rows get their sources and waits. */
void nodes_take_messages(struct nodes *nodes, const struct graph_input *graph);
void nodes_take_collectives(struct nodes *nodes, const struct graph_input *graph);

/* A source of the node enters. */
void node_enter(struct node *node, uint32_t location, int64_t at_ns);

void pool_give(struct pool *pool, uint32_t number);

static inline void *
pool_item(const struct pool *pool, uint32_t number)
{
	return pool->items + number * pool->bytes;
}

static inline struct node *
node_at(const struct nodes *nodes, uint32_t number)
{
	return pool_item(&nodes->nodes, number);
}

#endif
