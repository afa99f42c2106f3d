/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives. On Dimemas' machine all leave together, when the last has come and the phases of the
 * model are over; on the ideal one each leaves when those have come that it needs.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine.h"
#include "../base/mpi/call_class.h"

enum { REDUCE = 10 };

int
operation_of(uint16_t call)
{
	static const char *const names[] = {
		"barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv",
		"alltoall", "alltoallv", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block",
		"scan", "alltoallw",
	};
	const char *name = call_name(call);
	enum call_class class = call_class(call);

	if (class == CLASS_INIT || class == CLASS_FINALIZE)
		return 0;
	for (int i = 0; i < OPERATIONS - 1; i++)
		if (strncmp(name, "MPI_", 4) == 0 &&
		    (strcasecmp(name + 4, names[i]) == 0 || ((name[4] == 'I' || name[4] == 'i') &&
		    strcasecmp(name + 5, names[i]) == 0)))
			return i;
	return OPERATIONS - 1;
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

static double
factor(enum model model, int64_t p, int64_t buses)
{
	switch (model) {
	case MODEL_CONSTANT: return 1;
	case MODEL_LINEAR: return (double)(p - 1);
	case MODEL_LOGARITHMIC: return tree_steps(p, buses);
	default: return 0;
	}
}

static double
size_bytes(enum size size, const struct instance *i)
{
	double sent = (double)i->sent, received = (double)i->received;

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

/* Both phases over one kind of wire. */
static double
phases_ns(const struct phases *phases, const struct instance *i, int64_t p, int64_t buses,
    double latency, double ns_each)
{
	return factor(phases->in, p, buses) * (latency + size_bytes(phases->in_size, i) * ns_each) +
	    factor(phases->out, p, buses) * (latency + size_bytes(phases->out_size, i) * ns_each);
}

/* The sum of the slowest node, the slowest island, and what is between islands. */
double
collective_ns(const struct engine *e, const struct instance *instance)
{
	const struct machine *m = e->machine;
	int64_t *in_node = zalloc(m->node_count, sizeof *in_node);
	int64_t *nodes = zalloc(m->island_count, sizeof *nodes), islands = 0;
	double inside = 0, network = 0, wide = 0, ns;
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
		ns = phases_ns(&m->islands[node->island].phases[instance->operation], instance, in_node[n],
		    0, node->local_latency_ns, node->local_ns_per_byte);
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
		ns = phases_ns(&island->phases[instance->operation], instance, nodes[k], island->buses,
		    m->nodes[n].latency_ns, island->ns_per_byte);
		network = ns > network ? ns : network;
	}
	if (islands > 1) {
		const struct phases phases = { m->wide_model, m->wide_model, BYTES_SENT, BYTES_RECEIVED };

		wide = phases_ns(&phases, instance, instance->count, 0, m->nodes[first].wide_latency_ns,
		    m->wide_ns_per_byte);
	}
	free(in_node);
	free(nodes);
	return (inside + network + wide) * instance->factor + instance->own_ns;
}

/* When this member may leave, as MPI has it; -1: not yet known. */
static double
leave_ns(const struct engine *e, const struct instance *i, uint32_t me)
{
	const struct arrival *members = i->members;
	const struct communicator *c;
	double at_ns = members[me].at_ns;

	switch ((enum call_class)i->class) {
	case CLASS_ONE_TO_ALL:
		if (i->root == NONE)
			return at_ns;
		return members[i->root].at_ns < 0 ? -1 :
		    members[i->root].at_ns > at_ns ? members[i->root].at_ns : at_ns;
	case CLASS_ALL_TO_ONE:
		return me != i->root ? at_ns : i->arrived == i->count ? i->last_ns : -1;
	case CLASS_SCAN:
		for (uint32_t k = 0; k < i->count; k++)
			if (members[k].comm_rank <= members[me].comm_rank) {
				if (members[k].at_ns < 0)
					return -1;
				at_ns = members[k].at_ns > at_ns ? members[k].at_ns : at_ns;
			}
		return at_ns;
	case CLASS_NEIGHBOUR:
		c = i->comm < e->known->comm_count ? &e->known->comms[i->comm] : NULL;
		if (c == NULL || c->neighbours == NULL || (int64_t)members[me].comm_rank >= c->size)
			return at_ns;
		for (uint32_t s = 0; s < c->neighbours[members[me].comm_rank].count; s++)
			for (uint32_t k = 0; k < i->count; k++)
				if ((int32_t)members[k].comm_rank ==
				    c->neighbours[members[me].comm_rank].sources[s]) {
					if (members[k].at_ns < 0)
						return -1;
					at_ns = members[k].at_ns > at_ns ? members[k].at_ns : at_ns;
				}
		return at_ns;
	default:
		return i->arrived == i->count ? i->last_ns : -1;
	}
}

/* True where the arrival of this member may let others go. */
static bool
releases(const struct instance *i, uint32_t me)
{
	return i->class == CLASS_SCAN || i->class == CLASS_NEIGHBOUR || i->arrived == i->count ||
	    (i->class == CLASS_ONE_TO_ALL && me == i->root);
}

/* Who sleeps and may now leave does. */
static void
release(struct engine *e, uint32_t link)
{
	struct instance *i = &e->instances[link];

	for (uint32_t k = 0; k < i->count && i->sleeping > 0; k++) {
		double at_ns = i->members[k].waits ? leave_ns(e, i, k) : -1;

		if (at_ns < 0)
			continue;
		i->members[k].waits = false;
		i->sleeping--;
		wake(e, i->members[k].location, at_ns > e->runners[i->members[k].location].now_ns ? at_ns :
		    e->runners[i->members[k].location].now_ns);
	}
}

/* All have come on Dimemas' machine. */
static void
begin_operation(struct engine *e, uint32_t link)
{
	if (e->contended)
		bus_take_all(e, link);
	else
		collective_done(e, link, e->instances[link].last_ns +
		    collective_ns(e, &e->instances[link]));
}

void
collective_done(struct engine *e, uint32_t link, double at_ns)
{
	struct instance *i = &e->instances[link];

	i->done_ns = at_ns;
	for (uint32_t k = 0; k < i->count && i->sleeping > 0; k++)
		if (i->members[k].waits) {
			i->members[k].waits = false;
			i->sleeping--;
			wake(e, i->members[k].location, at_ns);
		}
}

/* The latency that a member of a reduction spends first; other collectives have none. */
double
reduction_startup_ns(const struct engine *e, uint32_t id, uint32_t link)
{
	const struct instance *i = &e->instances[link];

	if (i->operation != REDUCE || i->root == NONE)
		return 0;
	if (i->members[i->root].location == id)
		return e->machine->nodes[e->node_of[id]].latency_ns;
	return latency_ns(e, id, i->members[i->root].location);
}

/* What starting a collective, or waiting for it, costs: the largest latency among its members. */
double
collective_startup_ns(const struct engine *e, uint32_t id, uint32_t link)
{
	const struct instance *i = &e->instances[link];
	double ns = 0;

	for (uint32_t k = 0; k < i->count; k++) {
		double with_ns = i->members[k].location != id ? latency_ns(e, id, i->members[k].location) : 0;

		ns = with_ns > ns ? with_ns : ns;
	}
	return ns;
}

/* MPI_Reduce as prv2dim and Dimemas have it: everybody sends to the root, which waits for all. */
static bool
enter_reduction(struct engine *e, uint32_t id, const struct op *op, uint32_t me)
{
	uint32_t link = op->link, root = e->instances[link].root, f;
	struct runner *r = &e->runners[id];
	struct flight *flight;

	e->instances[link].members[me].waits = true;
	if (me == root) {
		if (e->instances[link].left + 1 < e->instances[link].count)
			return false;
		e->instances[link].members[me].waits = false;
		if (e->instances[link].last_ns > r->now_ns && !e->contended)
			r->now_ns = e->instances[link].last_ns;
		return true;
	}
	f = flight_new(e);
	flight = &e->flights[f];
	flight->source = id;
	flight->target = e->instances[link].members[root].location;
	flight->references = 1;
	flight->instance = link;
	flight->member = me;
	flight->flags = MESSAGE_SENT | MESSAGE_PART;
	flight->sent_ns = r->now_ns;
	flight_route(e, flight, NO_TAG, row_at(e, id, r->part)->sent);
	transfer_start(e, f, r->now_ns);
	if (!e->contended)	/* it is there already, at a later time */
		r->now_ns = e->flights[f].arrived_ns;
	return !e->contended;
}

void
collective_part(struct engine *e, uint32_t f)
{
	struct flight *flight = &e->flights[f];
	struct instance *i = &e->instances[flight->instance];
	uint32_t me = flight->member;
	double at_ns = flight->arrived_ns;

	i->left++;
	if (at_ns > i->last_ns)
		i->last_ns = at_ns;
	i->members[me].waits = false;
	if (e->contended)
		wake(e, flight->source, at_ns);
	if (i->left + 1 == i->count && i->members[i->root].waits) {
		uint32_t root = i->members[i->root].location;

		i->members[i->root].waits = false;
		wake(e, root, i->last_ns > e->runners[root].now_ns ? i->last_ns : e->runners[root].now_ns);
	}
	flight_unref(e, f);
}

bool
collective_enter(struct engine *e, uint32_t id, const struct op *op, bool waits)
{
	struct runner *r = &e->runners[id];
	const struct row *row = row_at(e, id, r->part);
	struct instance *i;
	uint32_t me;
	double at_ns;

	if (op->link == NONE)	/* alone, or nothing is known of the others */
		return row->comm == 0 || row->comm == 2 || (row->comm < e->known->comm_count &&
		    e->known->comms[row->comm].size <= 1 && e->known->comms[row->comm].remote_size == 0);
	i = &e->instances[op->link];
	me = row->member;
	i->members[me].at_ns = r->now_ns;
	i->arrived++;
	if (r->now_ns > i->last_ns || i->arrived == 1)
		i->last_ns = r->now_ns;
	if (i->root == me || (i->root == NONE && r->now_ns >= i->last_ns)) {
		i->sent = row->sent;
		i->received = row->received;
		if (e->scale != NULL)
			i->factor = e->scale(e->context, r->rank, row, false);
	}
	if (e->machine->dimemas && i->operation == REDUCE && i->root != NONE && waits)
		return enter_reduction(e, id, op, me);
	if (e->machine->dimemas) {
		i->members[me].waits = waits;
		i->sleeping += waits;
		if (i->arrived == i->count)
			begin_operation(e, op->link);
		return !waits;
	}
	at_ns = waits ? leave_ns(e, i, me) : r->now_ns;
	if (at_ns < 0) {
		i->members[me].waits = true;
		i->sleeping++;
	}
	if (releases(i, me))
		release(e, op->link);
	if (at_ns > r->now_ns)
		r->now_ns = at_ns;
	return at_ns >= 0;
}

bool
collective_wait(struct engine *e, uint32_t id, const struct op *op)
{
	struct runner *r = &e->runners[id];
	struct instance *i = &e->instances[op->link];
	uint32_t me = row_at(e, id, r->part)->member;
	double at_ns = e->machine->dimemas ? i->done_ns : leave_ns(e, i, me);

	if (at_ns >= 0) {
		if (at_ns > r->now_ns)
			r->now_ns = at_ns;
		return true;
	}
	i->members[me].waits = true;
	i->sleeping++;
	return false;
}
