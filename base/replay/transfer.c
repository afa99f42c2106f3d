/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves messages: they take links, then a bus, then travel. As Dimemas' communic.c. */
#include <stdlib.h>

#include "engine.h"

void
transfer_begin(struct engine *e)
{
	const struct machine *m = e->machine;
	uint32_t ranks = (uint32_t)e->known->ranks;

	e->nodes = zalloc(m->node_count, sizeof *e->nodes);
	e->islands = zalloc(m->island_count, sizeof *e->islands);
	e->memory_links = zalloc(ranks, sizeof *e->memory_links);
	e->connections = zalloc(m->connection_count + 1, sizeof *e->connections);
	for (size_t i = 0; i < m->island_count; i++) {
		resource_begin(&e->islands[i].buses, m->islands[i].buses);
		port_begin(&e->islands[i].wide_links, 1, 1);
	}
	for (size_t i = 0; i < m->connection_count; i++)
		port_begin(&e->connections[i], 1, 1);
	for (size_t i = 0; i < m->node_count; i++) {
		port_begin(&e->nodes[i].links, m->nodes[i].in, m->nodes[i].out);
		resource_begin(&e->nodes[i].memory_buses, m->nodes[i].memory_buses);
		resource_begin(&e->nodes[i].cpus, m->nodes[i].cpus);
	}
	for (uint32_t l = 0; l < e->locations; l++)
		if (++e->nodes[e->node_of[l]].locations > m->nodes[e->node_of[l]].cpus &&
		    e->contended)
			e->limited_cpus = true;
	for (uint32_t r = 0; r < ranks; r++) {
		const struct node *node = &m->nodes[m->node_of[r]];
		int64_t in = node->memory_in, out = node->memory_out;

		/* Dimemas never clears its tasks' half-duplex flag: a message takes a pair. */
		port_begin(&e->memory_links[r], in == 0 || (out > 0 && out < in) ? out : in, 0);
	}
}

enum wire
wire_of(const struct engine *e, uint32_t source, uint32_t target)
{
	const struct machine *m = e->machine;
	uint32_t from = e->node_of[source], to = e->node_of[target];

	return from == to ? WIRE_MEMORY : m->island_count == 1 ||
	    m->nodes[from].island == m->nodes[to].island ? WIRE_NETWORK : WIRE_WIDE;
}

double
wire_latency_ns(const struct engine *e, uint32_t source, enum wire wire)
{
	const struct node *from = &e->machine->nodes[e->node_of[source]];
	double ns = wire == WIRE_MEMORY ? from->local_latency_ns :
	    wire == WIRE_NETWORK ? from->latency_ns : from->wide_latency_ns;

	return ns < 1 && !e->machine->heeds_modes ? 0 : ns;	/* as Dimemas drops it */
}

double
latency_ns(const struct engine *e, uint32_t source, uint32_t target)
{
	return wire_latency_ns(e, source, wire_of(e, source, target));
}

double
flight_latency_ns(const struct engine *e, const struct flight *f)
{
	double ns;

	if (f->wire != WIRE_CONNECTION)
		return latency_ns(e, f->source, f->target);
	ns = e->machine->connections[f->connection].latency_ns;
	return ns < 1 ? 0 : ns;
}

/* The machine's costs by size on that wire; NULL: none. */
static const struct wire_costs *
costs_of(const struct engine *e, const struct flight *f)
{
	return f->wire == WIRE_NETWORK ? &e->machine->network :
	    f->wire == WIRE_MEMORY ? &e->machine->memory : NULL;
}

void
flight_route(const struct engine *e, struct flight *f, int64_t tag, uint64_t bytes)
{
	const struct machine *m = e->machine;
	uint32_t from = e->node_of[f->source], to = e->node_of[f->target];
	enum wire wire = wire_of(e, f->source, f->target);
	int64_t connection = wire != WIRE_WIDE || m->connection_count == 0 ? -1 :
	    machine_connection(m, m->nodes[from].island, m->nodes[to].island, tag, bytes);
	double each = wire == WIRE_NETWORK ? m->islands[m->nodes[from].island].ns_per_byte :
	    wire == WIRE_MEMORY ? m->nodes[from].local_ns_per_byte : m->wide_ns_per_byte;
	const struct wire_costs *costs;

	if (connection >= 0) {
		wire = WIRE_CONNECTION;
		f->connection = (uint32_t)connection;
		each = m->connections[connection].ns_per_byte;
	}
	f->wire = (uint8_t)wire;
	f->wire_ns = (double)bytes * each;
	costs = costs_of(e, f);
	/* A table has the whole travel time, with the latency. */
	if (costs != NULL && costs->travel.told)
		f->wire_ns = by_size_ns(&costs->travel, (double)bytes) -
		    latency_ns(e, f->source, f->target);
	if (f->wire_ns < 0)
		f->wire_ns = 0;
	if (e->held_ns != NULL)
		e->held_ns[f - e->flights] = costs != NULL && costs->gap.told ?
		    by_size_ns(&costs->gap, (double)bytes) : f->wire_ns;
}

static struct resource *
bus_of(const struct engine *e, const struct flight *f)
{
	uint32_t node = e->node_of[f->source];

	return f->wire == WIRE_MEMORY ? &e->nodes[node].memory_buses :
	    &e->islands[e->machine->nodes[node].island].buses;
}

/*
 * The remaining travel time without the latency; negative if part of the latency is over. If links
 * are held for work of processors, the rest of the travel passes while the message waits for links.
 */
static double
way_ns(const struct engine *e, uint32_t who)
{
	const struct flight *f = &e->flights[who];
	const struct wire_costs *costs = costs_of(e, f);
	double due_ns, ns;

	if (costs == NULL || !costs->works)
		return f->wire_ns;
	due_ns = f->flags & MESSAGE_RENDEZVOUS && f->posted_ns > f->sent_ns ?
	    f->posted_ns : f->sent_ns;
	ns = f->wire_ns - (e->now_ns - due_ns);
	return ns > e->held_ns[who] - flight_latency_ns(e, f) ? ns :
	    e->held_ns[who] - flight_latency_ns(e, f);
}

/* It has all it needs: the data moves. A connection is free again while its data is in flight. */
static void
ride(struct engine *e, uint32_t who)
{
	const struct flight *f = &e->flights[who];
	double ns = e->held_ns != NULL ? way_ns(e, who) : f->wire_ns;

	if (e->explains)
		e->trails[who].start_ns = e->now_ns;
	if (e->held_ns != NULL) {
		events_add(&e->events, e->now_ns + e->held_ns[who], EVENT_FREE, who);
		e->flights[who].references++;
	}
	if (e->machine->loggp) {	/* links and bus are free again while it is in flight */
		events_add(&e->events, ns > 0 ? e->now_ns + ns : e->now_ns, EVENT_RELEASE, who);
		ns += flight_latency_ns(e, f);
	} else if (f->wire == WIRE_CONNECTION &&
	    e->machine->connections[f->connection].flight_ns > 0) {
		events_add(&e->events, e->now_ns + ns, EVENT_RELEASE, who);
		ns += e->machine->connections[f->connection].flight_ns;
	}
	events_add(&e->events, e->now_ns + ns, EVENT_ARRIVE, who);
}

/* A collective that waits for all buses holds up the messages behind it. */
static bool
is_held_up(const struct engine *e, const struct resource *bus)
{
	return bus->queue.head != NONE && e->flights[bus->queue.head].wire == WIRE_BUSES;
}

void
transfer_try(struct engine *e, uint32_t who)
{
	struct resource *bus;

	if (!links_take(e, who))
		return;
	if (e->explains)
		e->trails[who].linked_ns = e->now_ns;
	if (e->flights[who].wire == WIRE_WIDE || e->flights[who].wire == WIRE_CONNECTION) {
		ride(e, who);		/* there are no buses */
		return;
	}
	bus = bus_of(e, &e->flights[who]);
	if (is_held_up(e, bus))
		queue_add(e, &bus->queue, who);
	else if (resource_take(e, bus, &bus->queue, who, MESSAGE_HAS_BUS))
		ride(e, who);
}

/* Notes when the data arrives; with LogGP also when it has left. A reduction notes it itself. */
static void
mark_transfer(struct engine *e, uint32_t link, double ns)
{
	const struct flight *f = &e->flights[link];
	const struct weight *weight = message_weight(e, link);
	const uint32_t arrived = message_time(e, link, ARRIVED), payer = weight->sender;
	const struct cost moving = { f->wire_ns, { [GAP] = weight->bytes } };
	const struct cost cost = { ns, { [GAP] = weight->bytes,
	    [LATENCY] = f->wire == WIRE_NETWORK && e->machine->loggp } };
	uint32_t posted;

	if (!(f->flags & MESSAGE_RENDEZVOUS)) {
		mark_set(e, arrived, f->source, &cost, payer);
		return;
	}
	posted = message_time(e, link, POSTED);
	mark_set(e, arrived, message_time(e, link, SENT), &NO_COST, NO_PAYER);
	mark_max(e, arrived, posted, NO_PAYER);
	if (e->machine->loggp)
		mark_set(e, posted, arrived, &moving, payer);
	mark_add(e, arrived, &cost, payer);
}

void
transfer_start(struct engine *e, uint32_t link, double at_ns)
{
	const struct flight *f = &e->flights[link];

	if (e->explains)
		e->trails[link].due_ns = e->trails[link].linked_ns =
		    e->trails[link].start_ns = at_ns;
	if (e->contended)
		transfer_try(e, link);
	else {
		double ns = f->wire_ns + (e->machine->loggp ? flight_latency_ns(e, f) : 0);

		if (e->marks != NULL && !(f->flags & MESSAGE_PART))
			mark_transfer(e, link, ns);
		arrive(e, link, at_ns + ns);
	}
}

static void
start_operation(struct engine *e, uint32_t instance)
{
	events_add(&e->events, e->now_ns + collective_cost(e, &e->instances[instance]).ns,
	    EVENT_INSTANCE, instance);
}

/* The first in the queue gets its bus. A collective gets all of them, once none is in use. */
static void
bus_next(struct engine *e, struct resource *bus)
{
	uint32_t who = bus->queue.head;

	if (who == NONE)
		return;
	if (e->flights[who].wire != WIRE_BUSES) {
		queue_remove(e, &bus->queue, who);
		bus->busy++;
		e->flights[who].flags |= MESSAGE_HAS_BUS;
		ride(e, who);
	} else if (bus->busy == 0) {
		queue_remove(e, &bus->queue, who);
		bus->busy = bus->total;
		start_operation(e, e->flights[who].instance);
		flight_unref(e, who);
	}
}

void
transfer_end(struct engine *e, uint32_t link)
{
	struct flight *f = &e->flights[link];
	struct resource *bus;

	links_give(e, link);
	if (f->flags & MESSAGE_HAS_BUS) {
		f->flags &= (uint8_t)~MESSAGE_HAS_BUS;
		bus = bus_of(e, f);
		bus->busy--;
		bus_next(e, bus);
	}
}

/*
 * Buses of the island of the instance's first member; a collective over several islands takes only
 * those.
 */
static struct resource *
buses_of(const struct engine *e, uint32_t instance)
{
	uint32_t location = e->instances[instance].members[0].location;

	return &e->islands[e->machine->nodes[e->node_of[location]].island].buses;
}

void
bus_take_all(struct engine *e, uint32_t instance)
{
	struct resource *bus = buses_of(e, instance);
	uint32_t ticket;

	if (bus->total == 0) {
		start_operation(e, instance);
		return;
	}
	ticket = flight_new(e);
	e->flights[ticket].wire = WIRE_BUSES;
	e->flights[ticket].flags = MESSAGE_PART;
	e->flights[ticket].instance = instance;
	e->flights[ticket].references = 1;
	queue_add(e, &bus->queue, ticket);
	if (bus->queue.head == ticket)
		bus_next(e, bus);
}

void
bus_give_all(struct engine *e, uint32_t instance)
{
	struct resource *bus = buses_of(e, instance);

	if (bus->total == 0)
		return;
	bus->busy = 0;
	/* Wakes as many as find a bus. */
	while (bus->queue.head != NONE && (is_held_up(e, bus) ? bus->busy == 0 : is_free(bus)))
		bus_next(e, bus);
}
