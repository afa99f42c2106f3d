/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a collective takes on Dimemas' machine: the models of its two phases. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/mpi/call_class.h"
#include "engine.h"

enum operation
operation_named(const char *name)
{
	static const char *const names[] = {
		"barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv",
		"alltoall", "alltoallv", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block",
		"scan", "alltoallw",
	};
	enum operation i = OP_BARRIER;

	while (i < OP_OTHER && strcasecmp(name, names[i]) != 0)
		i++;
	return i;
}

enum operation
operation_of(uint16_t call)
{
	const char *name = call_name(call);
	enum call_class class = call_class(call);
	enum operation operation;

	if (class == CLASS_INIT || class == CLASS_FINALIZE)
		return OP_BARRIER;
	if (strncmp(name, "MPI_", 4) != 0)
		return OP_OTHER;
	operation = operation_named(name + 4);
	return operation == OP_OTHER && (name[4] == 'I' || name[4] == 'i') ? operation_named(name + 5) :
	    operation;
}

/* ceil(n / buses) summed over the stages of a tree of P: the validation paper's logarithmic model. */
static double
tree_steps(int64_t p, int64_t buses)
{
	double steps = 0;

	for (int64_t i = 0; (int64_t)1 << i < p; i++) {
		int64_t first = ((int64_t)1 << i) - 1, stride = (int64_t)2 << i;
		int64_t pairs = first < p - 1 ? (p - 2 - first) / stride + 1 : 0;

		steps += buses == 0 ? 1 : (double)((pairs + buses - 1) / buses);
	}
	return steps;
}

double
model_factor(enum model model, int64_t p, int64_t buses)
{
	switch (model) {
	case MODEL_CONSTANT: return 1;
	case MODEL_LINEAR: return (double)(p - 1);
	case MODEL_LINEAR_P: return p > 1 ? (double)p : 0;
	case MODEL_LOGARITHMIC: return tree_steps(p, buses);
	default: return 0;
	}
}

double
model_bytes(enum size size, double sent, double received)
{
	switch (size) {
	case BYTES_MIN: return sent < received ? sent : received;
	case BYTES_MAX: return sent > received ? sent : received;
	case BYTES_MEAN: return (sent + received) / 2;
	case BYTES_TWICE_MAX: return 2 * (sent > received ? sent : received);
	case BYTES_SUM: return sent + received;
	case BYTES_SENT: return sent;
	default: return received;
	}
}

/* Both phases over one kind of wire: how often they cost latency, and bytes. */
static struct cost
phases_cost(const struct phases *phases, const struct instance *i, int64_t p, int64_t buses,
    double latency, double ns_each)
{
	double in = model_factor(phases->in, p, buses), out = model_factor(phases->out, p, buses);
	double in_bytes = model_bytes(phases->in_size, (double)i->sent, (double)i->received);
	double out_bytes = model_bytes(phases->out_size, (double)i->sent, (double)i->received);

	return (struct cost){ in * (latency + in_bytes * ns_each) + out * (latency + out_bytes * ns_each),
	    { [LATENCY] = in + out, [GAP] = in * in_bytes + out * out_bytes } };
}

/* The sum of the slowest node, the slowest island, and what is between islands. */
struct cost
collective_cost(const struct engine *e, const struct instance *instance)
{
	const struct machine *m = e->machine;
	int64_t *in_node = zalloc(m->node_count, sizeof *in_node);
	int64_t *nodes = zalloc(m->island_count, sizeof *nodes), islands = 0;
	double inside = 0, wide = 0, ns;
	struct cost network = { 0, { 0 } }, cost;
	size_t first = 0;

	for (uint32_t k = 0; k < instance->count; k++) {
		size_t node = e->node_of[instance->members[k].location];

		first = k == 0 ? node : first;
		if (in_node[node]++ == 0)
			nodes[m->nodes[node].island]++;
	}
	for (size_t n = 0; n < m->node_count; n++) {
		const struct node *node = &m->nodes[n];

		if (in_node[n] == 0)
			continue;
		ns = phases_cost(&m->islands[node->island].phases[instance->operation], instance, in_node[n],
		    0, node->local_latency_ns, node->local_ns_per_byte).ns;
		inside = ns > inside ? ns : inside;
	}
	for (size_t k = 0; k < m->island_count; k++) {
		const struct island *island = &m->islands[k];
		size_t n = 0;

		islands += nodes[k] > 0;
		if (nodes[k] == 0 || island->nodes < 2)
			continue;
		while (in_node[n] == 0 || m->nodes[n].island != k)
			n++;
		cost = phases_cost(&island->phases[instance->operation], instance, nodes[k], island->buses,
		    m->nodes[n].latency_ns, island->ns_per_byte);
		network = cost.ns > network.ns || k == 0 ? cost : network;
	}
	if (islands > 1) {
		const struct phases phases = { m->wide_model, m->wide_model, BYTES_SENT, BYTES_RECEIVED };

		wide = phases_cost(&phases, instance, instance->count, 0, m->nodes[first].wide_latency_ns,
		    m->wide_ns_per_byte).ns;
	}
	free(in_node);
	free(nodes);
	if (instance->class == CLASS_COMM_CREATE && m->keeps_making)	/* its messages are in that */
		inside = network.ns = wide = network.times[LATENCY] = network.times[GAP] = 0;
	network.ns = (inside + network.ns + wide) * instance->factor + instance->own_ns;
	for (int p = 0; p < PARAMETERS; p++)
		network.times[p] *= instance->factor;
	return network;
}
