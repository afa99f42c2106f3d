/* SPDX-License-Identifier: BSD-3-Clause */
/* What a collective costs, once its members have entered. */
#include "engine.h"
#include "../mpi/call_class.h"

/* Adds so many for each member to the counts of its node and island. */
static void
count_members(const struct engine *e, const struct instance *i, uint32_t each)
{
	for (uint32_t k = 0; k < i->count; k++) {
		const uint32_t node = e->node_of[i->members[k].location];

		e->nodes[node].members += each;
		e->islands[e->machine->nodes[node].island].members += each;
	}
}

/* The sum of the slowest node, the slowest island, and the network between islands. */
static struct cost
cost_of(const struct engine *e, const struct instance *instance)
{
	const struct machine *m = e->machine;
	const double sent = (double)instance->sent, received = (double)instance->received;
	const uint32_t first = e->node_of[instance->members[0].location];
	double inside = 0, wide = 0, ns;
	struct cost network = { 0, { 0 } }, cost;
	uint32_t islands = 0;

	count_members(e, instance, 1);
	for (uint32_t k = 0; k < instance->count; k++) {
		const uint32_t n = e->node_of[instance->members[k].location];
		const struct node *node = &m->nodes[n];
		struct island_parts *island = &e->islands[node->island];

		if (e->nodes[n].members == 0)	/* the node is done */
			continue;
		ns = phases_cost(&m->islands[node->island].phases[instance->operation], sent,
		    received, e->nodes[n].members, 0, node->local_latency_ns,
		    node->local_ns_per_byte).ns;
		inside = ns > inside ? ns : inside;
		if (island->nodes++ == 0 || n < island->lowest)
			island->lowest = n;
		e->nodes[n].members = 0;
	}
	for (size_t k = 0; k < m->island_count; k++) {
		const struct island *island = &m->islands[k];
		struct island_parts *parts = &e->islands[k];
		const uint32_t nodes = parts->nodes;

		parts->members = parts->nodes = 0;
		islands += nodes > 0;
		if (nodes == 0 || island->nodes < 2)
			continue;
		cost = phases_cost(&island->phases[instance->operation], sent, received, nodes,
		    island->buses, m->nodes[parts->lowest].latency_ns, island->ns_per_byte);
		network = cost.ns > network.ns || k == 0 ? cost : network;
	}
	if (islands > 1) {
		const struct phases phases = { m->wide_model, m->wide_model, BYTES_SENT,
		    BYTES_RECEIVED };

		wide = phases_cost(&phases, sent, received, instance->count, 0,
		    m->nodes[first].wide_latency_ns, m->wide_ns_per_byte).ns;
	}
	/* the recorded time includes its messages */
	if (instance->class == CLASS_COMM_CREATE && m->keeps_making)
		inside = network.ns = wide = network.times[LATENCY] = network.times[GAP] = 0;
	network.ns = (inside + network.ns + wide) * instance->factor + instance->own_ns;
	for (int p = 0; p < PARAMETERS; p++)
		network.times[p] *= instance->factor;
	return network;
}

struct cost
collective_cost(const struct engine *e, struct instance *i)
{
	if (!i->costed)
		i->cost = cost_of(e, i);
	i->costed = true;
	return i->cost;
}

bool
collective_is_messages(const struct engine *e, const struct instance *i)
{
	return e->machine->dimemas && i->operation == OP_REDUCE && i->root != NONE &&
	    !e->machine->islands[e->machine->nodes[e->node_of[i->members[0].location]].island]
	    .models_reduce;
}

/* The latency that a member of a reduction spends first; other collectives have none. */
struct cost
reduction_startup(const struct engine *e, uint32_t id, uint32_t link)
{
	const struct instance *i = &e->instances[link];
	struct cost cost = { 0, { 0 } };
	uint32_t root;

	if (!collective_is_messages(e, i))
		return cost;
	root = i->members[i->root].location;
	cost.ns = root == id ? e->machine->nodes[e->node_of[id]].latency_ns :
	    latency_ns(e, id, root);
	cost.times[LATENCY] = root == id || wire_of(e, id, root) == WIRE_NETWORK;
	return cost;
}

/* Over which wires each member reaches others. */
static void
find_wires(const struct engine *e, struct instance *i)
{
	count_members(e, i, 1);
	for (uint32_t k = 0; k < i->count; k++) {
		const uint32_t node = e->node_of[i->members[k].location];
		const uint32_t near = e->nodes[node].members;
		const uint32_t inside = e->islands[e->machine->nodes[node].island].members;

		i->members[k].wires = (uint8_t)((near > 1) << WIRE_MEMORY |
		    (inside > near) << WIRE_NETWORK | (i->count > inside) << WIRE_WIDE);
	}
	count_members(e, i, (uint32_t)-1);
	i->wired = true;
}

/* The cost of starting a collective, or waiting for it: the largest latency to another member. */
struct cost
collective_startup(const struct engine *e, uint32_t id, uint32_t link)
{
	struct instance *i = &e->instances[link];
	struct cost cost = { 0, { 0 } };
	double local_ns = 0;
	uint8_t wires;

	if (!i->wired)
		find_wires(e, i);
	wires = i->members[e->runners[id].row->member].wires;
	for (enum wire wire = WIRE_MEMORY; wire <= WIRE_WIDE; wire++) {
		const double ns = wires >> wire & 1 ? wire_latency_ns(e, id, wire) : 0;

		if (wire != WIRE_NETWORK)
			local_ns = ns > local_ns ? ns : local_ns;
		cost.ns = ns > cost.ns ? ns : cost.ns;
	}
	cost.times[LATENCY] = wires >> WIRE_NETWORK & 1;
	if (e->marks != NULL && cost.times[LATENCY] > 0 && local_ns > 0)
		e->marks->broken = "a collective that is started costs the larger of two latencies";
	return cost;
}
