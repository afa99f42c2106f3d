/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

void
nodes_begin(struct nodes *n)
{
	*n = (struct nodes){ .nodes = { .bytes = sizeof(struct node) },
	    .sources = { .bytes = sizeof(struct source) }, .waits = { .bytes = sizeof(struct wait) } };
}

void
nodes_end(struct nodes *n)
{
	free(n->nodes.items);
	free(n->sources.items);
	free(n->waits.items);
	free(n->needs.groups);
	free(n->needs.sources);
	free(n->needs.dependents);
	free(n->members);
}

static uint32_t
pool_take(struct pool *pool)
{
	uint32_t number = pool->free;

	if (number != NONE)
		memcpy(&pool->free, pool_item(pool, number), sizeof pool->free);
	else {
		pool->count += pool->count == 0 ? 2 : 1;
		if (pool->count > UINT32_MAX)
			die("more than %u dependences in flight", UINT32_MAX - 1);
		pool->items = grow(pool->items, &pool->capacity, pool->count, pool->bytes);
		number = (uint32_t)pool->count - 1;
	}
	memset(pool_item(pool, number), 0, pool->bytes);
	return number;
}

void
pool_give(struct pool *pool, uint32_t number)
{
	memcpy(pool_item(pool, number), &pool->free, sizeof pool->free);
	pool->free = number;
}

static uint32_t
new_node(struct nodes *n)
{
	uint32_t number = pool_take(&n->nodes);
	struct node *node = node_at(n, number);

	node->latest_location = UINT32_MAX;
	node->latest_ns = node->second_ns = INT64_MIN;
	node->limit_ns = INT64_MAX;
	return number;
}

static void
add_source(struct nodes *n, const struct window *window, uint32_t number, uint32_t location,
    uint64_t seq)
{
	struct event_row *row = window_row(window, location, seq);
	struct node *node = node_at(n, number);
	uint32_t new = pool_take(&n->sources);

	*(struct source *)pool_item(&n->sources, new) = (struct source){ node->sources, number,
	    row->sources, location, 2 * (seq - row->row.part), row->row.enter_ns };
	node->sources = row->sources = new;
	node->pending++;
}

static void
add_user(struct nodes *n, const struct window *window, uint32_t number, uint32_t location,
    uint64_t seq)
{
	struct event_row *row = window_row(window, location, seq);
	uint32_t new = pool_take(&n->waits);

	*(struct wait *)pool_item(&n->waits, new) = (struct wait){ row->waits, number, seq };
	row->waits = new;
	node_at(n, number)->users++;
}

void
nodes_take_messages(struct nodes *n, const struct matched *matched)
{
	const struct edge_block *e = &matched->edges;

	for (size_t i = 0; i < e->count; i++) {
		uint32_t node = new_node(n);

		node_at(n, node)->message = true;
		add_source(n, &matched->window, node, e->source[i], e->send[i]);
		add_user(n, &matched->window, node, e->target[i], e->receive[i]);
	}
}

static void
take_instance(struct nodes *n, const struct matched *matched, const uint32_t *location,
    const uint64_t *seq, uint32_t size)
{
	enum call_class class;
	uint32_t before = NONE;

	n->members = grow(n->members, &n->member_capacity, size, sizeof *n->members);
	for (uint32_t i = 0; i < size; i++)
		n->members[i] = (struct member){ location[i], seq[i],
		    window_row(&matched->window, location[i], seq[i]) };
	class = call_info(n->members[0].row->call)->class;
	if (class == CLASS_INIT || class == CLASS_FINALIZE)
		return;		/* MPI does not say that they hold up anybody */
	collective_needs(&n->needs, &matched->known, n->members, size);
	for (size_t g = 0; g < n->needs.count; g++) {
		const struct need *need = &n->needs.groups[g];
		uint32_t node;

		if (need->source_count == 0)
			continue;
		node = new_node(n);
		for (uint32_t i = 0; i < need->source_count; i++) {
			uint32_t m = n->needs.sources[need->source + i];

			add_source(n, &matched->window, node, location[m], seq[m]);
		}
		for (uint32_t i = 0; i < need->dependent_count; i++) {
			uint32_t m = n->needs.dependents[need->dependent + i];

			add_user(n, &matched->window, node, location[m], seq[m]);
		}
		if (need->chained) {
			node_at(n, node)->earlier = before;
			node_at(n, node)->pending++;
			node_at(n, before)->later = node;
			node_at(n, before)->users++;
		}
		before = node;
	}
}

void
nodes_take_collectives(struct nodes *n, const struct matched *matched)
{
	const struct edge_block *e = &matched->edges;
	size_t member = 0;

	for (size_t i = 0; i < e->instances; i++) {
		take_instance(n, matched, e->location + member, e->seq + member, e->size[i]);
		member += e->size[i];
	}
}

void
node_enter(struct node *node, uint32_t location, int64_t at_ns)
{
	if (location == node->latest_location) {
		if (at_ns > node->latest_ns)
			node->latest_ns = at_ns;
	} else if (at_ns > node->latest_ns) {
		node->second_ns = node->latest_ns;
		node->latest_ns = at_ns;
		node->latest_location = location;
	} else if (at_ns > node->second_ns)
		node->second_ns = at_ns;
}
