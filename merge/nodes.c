/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "../base/mpi/call_class.h"
#include "order.h"

void
nodes_begin(struct nodes *n)
{
	*n = (struct nodes){ .nodes = { .bytes = sizeof(struct node) },
	    .sources = { .bytes = sizeof(struct sender) },
	    .waits = { .bytes = sizeof(struct wait) } };
}

void
nodes_end(struct nodes *n)
{
	free(n->nodes.items);
	free(n->sources.items);
	free(n->waits.items);
	needs_free(&n->needs);
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
	struct event_row *row = window_change(window, location, seq);
	struct node *node = node_at(n, number);
	uint32_t new = pool_take(&n->sources);

	*(struct sender *)pool_item(&n->sources, new) = (struct sender){ node->sources, number,
	    row->sources, location, 2 * (seq - row->row.part), row->row.enter_ns };
	node->sources = row->sources = new;
	node->pending++;
}

static void
add_user(struct nodes *n, const struct window *window, uint32_t number, uint32_t location,
    uint64_t seq)
{
	struct event_row *row = window_change(window, location, seq);
	uint32_t new = pool_take(&n->waits);

	*(struct wait *)pool_item(&n->waits, new) = (struct wait){ row->waits, number, seq };
	row->waits = new;
	node_at(n, number)->users++;
}

static uint64_t
bytes_of(const struct nodes *n, uint32_t member, bool sent)
{
	const struct event_row *row = (const struct event_row *)n->members[member].row;

	return sent ? row->bytes_sent : row->bytes_received;
}

/* Moves the members that have more than THAN bytes to the front; returns their number. */
static uint32_t
with_more(const struct nodes *n, uint32_t *members, uint32_t count, bool sent, uint64_t than)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (bytes_of(n, members[i], sent) > than)
			members[kept++] = members[i];
	return kept;
}

/*
 * Without bytes there is nothing to wait for, and MPI does not wait. Exceptions are barriers, which
 * have none, and scans, where one count holds for all.
 */
static void
drop_without_bytes(struct nodes *n, enum call_class class)
{
	bool scan = class == CLASS_SCAN;

	if (class == CLASS_BARRIER || class == CLASS_COMM_CREATE)
		return;
	for (struct need *need = n->needs.groups; need < n->needs.groups + n->needs.count; need++) {
		uint32_t sources = with_more(n, n->needs.sources + need->source,
		    need->source_count, true, 0);
		uint32_t users = with_more(n, n->needs.dependents + need->dependent,
		    need->dependent_count, false, 0);

		if (scan && sources + users > 0)
			return;
		need->source_count = sources;
		need->dependent_count = users;
	}
	if (scan)
		n->needs.count = 0;
}

struct amounts {
	uint64_t sum, most;	/* bytes */
};

static struct amounts
amounts_of(const struct nodes *n, const uint32_t *members, uint32_t count, bool sent)
{
	struct amounts a = { 0, 0 };

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t bytes = bytes_of(n, members[i], sent);

		a.sum += bytes;
		if (bytes > a.most)
			a.most = bytes;
	}
	return a;
}

/*
 * If each pair of members exchanges its own number of bytes, a trace has only the totals that each
 * member sent and received. Suppose a member received R bytes, another sent S, and T is the sum
 * over all. The bytes received from the rest are at most T - S. So if R + S > T, the member
 * received from that sender; otherwise it may have received nothing from there. Any two such pairs
 * have the sender or the receiver in common, since all R, and all S, add up to T. So it suffices to
 * compare each member with the one that has most.
 */
static void
keep_sure_needs(struct nodes *n)
{
	for (struct need *need = n->needs.groups; need < n->needs.groups + n->needs.count; need++) {
		uint32_t *sources = n->needs.sources + need->source;
		uint32_t *dependents = n->needs.dependents + need->dependent;
		struct amounts sent = amounts_of(n, sources, need->source_count, true);
		struct amounts got = amounts_of(n, dependents, need->dependent_count, false);
		uint64_t all = sent.sum > got.sum ? sent.sum : got.sum;

		need->source_count = with_more(n, sources, need->source_count, true,
		    all - got.most);
		need->dependent_count = with_more(n, dependents, need->dependent_count, false,
		    all - sent.most);
	}
}

/* One group of an instance; returns its node, or NONE if nobody waits. */
static uint32_t
take_need(struct nodes *n, const struct window *window, const struct need *need, uint32_t before)
{
	uint32_t number;

	if (need->source_count == 0 || need->dependent_count == 0)
		return NONE;
	number = new_node(n);
	for (uint32_t i = 0; i < need->source_count; i++) {
		const struct member *member = &n->members[n->needs.sources[need->source + i]];

		add_source(n, window, number, member->location, member->seq);
	}
	for (uint32_t i = 0; i < need->dependent_count; i++) {
		const struct member *member = &n->members[n->needs.dependents[need->dependent + i]];

		add_user(n, window, number, member->location, member->seq);
	}
	if (need->chained) {
		node_at(n, number)->earlier = before;
		node_at(n, number)->pending++;
		node_at(n, before)->later = number;
		node_at(n, before)->users++;
	}
	return number;
}

static void
take_instance(struct nodes *n, const struct graph_input *graph, const uint32_t *location,
    const uint64_t *seq, uint32_t size)
{
	enum call_class class;
	const char *name;
	uint32_t before = NONE;

	GROW(n->members, n->member_capacity, size);
	for (uint32_t i = 0; i < size; i++)
		n->members[i] = (struct member){ location[i], seq[i],
		    window_row(&graph->window, location[i], seq[i]) };
	name = call_name(n->members[0].row->call);
	class = blocking_class(call_class(n->members[0].row->call));
	/* MPI does not require these to hold up anybody. */
	if (class == CLASS_INIT || class == CLASS_FINALIZE || class == CLASS_FILE)
		return;
	collective_needs(&n->needs, &graph->known, n->members, size);
	if (strstr(name, "lltoallv") != NULL || strstr(name, "lltoallw") != NULL)
		keep_sure_needs(n);
	else
		drop_without_bytes(n, class);
	for (size_t g = 0; g < n->needs.count; g++)
		before = take_need(n, &graph->window, &n->needs.groups[g], before);
}

void
nodes_take(struct nodes *n, const struct graph_input *graph, enum graph_item item)
{
	const struct calls *calls = &graph->calls;
	const struct edge_block *e = &graph->edges;
	size_t member = 0;

	for (size_t i = 0; item == GRAPH_CALLS && i < calls->count; i++) {
		struct event_row *row = window_change(&graph->window, calls->location,
		    calls->first + i);

		row->bytes_sent = calls->bytes_sent[i];
		row->bytes_received = calls->bytes_received[i];
	}
	for (size_t i = 0; item == GRAPH_MESSAGES && i < e->count; i++) {
		const uint32_t node = new_node(n);

		node_at(n, node)->message = true;
		add_source(n, &graph->window, node, e->source[i], e->send[i]);
		add_user(n, &graph->window, node, e->target[i], e->receive[i]);
	}
	for (size_t i = 0; item == GRAPH_COLLECTIVES && i < e->instances; i++) {
		take_instance(n, graph, e->location + member, e->seq + member, e->size[i]);
		member += e->size[i];
	}
}

void
node_enter(struct node *node, uint32_t location, int64_t at_ns)
{
	if (location == node->latest_location) {
		node->latest_ns = larger(node->latest_ns, at_ns);
	} else if (at_ns > node->latest_ns) {
		node->second_ns = node->latest_ns;
		node->latest_ns = at_ns;
		node->latest_location = location;
	} else
		node->second_ns = larger(node->second_ns, at_ns);
}
