/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How messages get across: link out of the source, link into the target, a bus, in this order; who
 * lacks one waits for it and keeps what it has. Dimemas' links.c and communic.c.
 */
#include <stdlib.h>

#include "engine.h"

static const uint32_t INSTANCE = (uint32_t)1 << 31;	/* in a queue for buses: an instance that wants them all */

static void
pool_begin(struct pool *pool, int64_t total)
{
	*pool = (struct pool){ total, 0, { NONE, NONE } };
}

/* IN and OUT links; exactly one of them 0: half duplex, a message takes a pair. */
static void
place_begin(struct place *place, int64_t in, int64_t out)
{
	place->half_duplex = (in == 0) != (out == 0);
	pool_begin(&place->out, place->half_duplex ? in + out : out);
	pool_begin(&place->in, place->half_duplex ? in + out : in);
}

void
transfer_begin(struct engine *e)
{
	const struct machine *m = e->machine;
	uint32_t ranks = (uint32_t)e->known->ranks;
	int64_t *used = zalloc(m->node_count, sizeof *used);

	e->links = zalloc(m->node_count, sizeof *e->links);
	e->memory_buses = zalloc(m->node_count, sizeof *e->memory_buses);
	e->memory_links = zalloc(ranks, sizeof *e->memory_links);
	e->buses = zalloc(m->island_count, sizeof *e->buses);
	e->free_cpus = zalloc(m->node_count, sizeof *e->free_cpus);
	e->cpu_queues = zalloc(m->node_count, sizeof *e->cpu_queues);
	for (size_t i = 0; i < m->island_count; i++)
		pool_begin(&e->buses[i], m->islands[i].buses);
	for (size_t i = 0; i < m->node_count; i++) {
		place_begin(&e->links[i], m->nodes[i].in, m->nodes[i].out);
		pool_begin(&e->memory_buses[i], m->nodes[i].memory_buses);
		e->free_cpus[i] = m->nodes[i].cpus;
		e->cpu_queues[i] = (struct queue){ NONE, NONE };
	}
	for (uint32_t l = 0; l < e->locations; l++)
		if (++used[e->runners[l].node] > m->nodes[e->runners[l].node].cpus && e->contended)
			e->limited_cpus = true;
	for (uint32_t r = 0; r < ranks; r++) {
		const struct node *node = &m->nodes[m->node_of[r]];
		int64_t in = node->memory_in, out = node->memory_out;

		/* Dimemas never clears the flag of its tasks that says half duplex: a message takes a pair. */
		place_begin(&e->memory_links[r], in == 0 || (out > 0 && out < in) ? out : in, 0);
	}
	free(used);
}

double
latency_ns(const struct engine *e, uint32_t source, uint32_t target)
{
	const struct machine *m = e->machine;
	const struct node *from = &m->nodes[e->runners[source].node];
	const struct node *to = &m->nodes[e->runners[target].node];

	double ns = from == to ? from->local_latency_ns :
	    from->island == to->island ? from->latency_ns : from->wide_latency_ns;

	return ns < 1 ? 0 : ns;		/* as Dimemas drops it */
}

void
flight_route(const struct engine *e, struct flight *f)
{
	const struct machine *m = e->machine;
	uint32_t from = e->runners[f->source].node, to = e->runners[f->target].node;

	f->wire = (uint8_t)(from == to ? WIRE_MEMORY :
	    m->nodes[from].island == m->nodes[to].island ? WIRE_NETWORK : WIRE_WIDE);
}

static double
wire_ns(const struct engine *e, const struct flight *f)
{
	const struct machine *m = e->machine;
	const struct node *node = &m->nodes[e->runners[f->source].node];
	double each = f->wire == WIRE_MEMORY ? node->local_ns_per_byte :
	    f->wire == WIRE_NETWORK ? m->islands[node->island].ns_per_byte : m->wide_ns_per_byte;

	return (double)f->bytes * each * f->factor;
}

/* Where a message gets its links: memory links are those of the ranks. */
static struct place *
place_of(const struct engine *e, const struct flight *f, uint32_t location)
{
	const struct runner *r = &e->runners[location];

	return f->wire == WIRE_MEMORY ? &e->memory_links[r->rank] : &e->links[r->node];
}

static struct pool *
bus_of(const struct engine *e, const struct flight *f)
{
	const struct runner *r = &e->runners[f->source];

	return f->wire == WIRE_MEMORY ? &e->memory_buses[r->node] :
	    &e->buses[e->machine->nodes[r->node].island];
}

static uint32_t *
next_of(struct engine *e, uint32_t who)
{
	return who & INSTANCE ? &e->instances[who & ~INSTANCE].next : &e->flights[who].next;
}

static void
queue_add(struct engine *e, struct queue *queue, uint32_t who)
{
	*next_of(e, who) = NONE;
	if (queue->head == NONE)
		queue->head = who;
	else
		*next_of(e, queue->tail) = who;
	queue->tail = who;
}

static void
queue_add_first(struct engine *e, struct queue *queue, uint32_t who)
{
	*next_of(e, who) = queue->head;
	if (queue->head == NONE)
		queue->tail = who;
	queue->head = who;
}

static uint32_t
queue_take(struct engine *e, struct queue *queue)
{
	uint32_t who = queue->head;

	if (who != NONE)
		queue->head = *next_of(e, who);
	return who;
}

static void
queue_remove(struct engine *e, struct queue *queue, uint32_t who)
{
	uint32_t before = NONE;

	for (uint32_t at = queue->head; at != who; at = *next_of(e, at))
		before = at;
	if (before == NONE)
		queue->head = *next_of(e, who);
	else
		*next_of(e, before) = *next_of(e, who);
	if (queue->tail == who)
		queue->tail = before;
}

static bool
is_free(const struct pool *pool)
{
	return pool->total == 0 || pool->busy < pool->total;
}

/* In a half duplex place both directions are one pool. */
static struct pool *
in_pool(struct place *place)
{
	return place->half_duplex ? &place->out : &place->in;
}

/*
 * A message that has its link out of this node and waits for one into another may lose it to one
 * that can use it: the oldest such, or NONE. Links out of a node are few, so its owners are looked
 * for among those that wait.
 */
static uint32_t
robbable(const struct engine *e, const struct place *place)
{
	uint32_t found = NONE;

	for (size_t n = 0; place->waiting > 0 && n < e->machine->node_count; n++)
		for (uint32_t at = e->links[n].in.queue.head; at != NONE; at = e->flights[at].next)
			if (e->flights[at].flags & MESSAGE_HAS_OUT &&
			    place_of(e, &e->flights[at], e->flights[at].source) == place &&
			    (found == NONE || e->flights[at].start_ns < e->flights[found].start_ns))
				found = at;
	return found;
}

/* The robbed one goes to the front of the queue for links out; its link is free for a moment. */
static void
rob(struct engine *e, struct place *place, uint32_t victim)
{
	struct flight *f = &e->flights[victim];

	queue_remove(e, &place_of(e, f, f->target)->in.queue, victim);
	f->flags &= (uint8_t)~MESSAGE_HAS_OUT;
	place->out.busy--;
	place->waiting--;
	queue_add_first(e, &place->out.queue, victim);
}

/* A link out of the source, and one into the target; false: it waits in a queue. */
static bool
take_network_links(struct engine *e, uint32_t link)
{
	struct flight *f = &e->flights[link];
	struct place *from = place_of(e, f, f->source), *to = place_of(e, f, f->target);
	uint32_t from_victim = NONE, to_victim = NONE;

	if (!(f->flags & MESSAGE_HAS_OUT)) {
		if (is_free(&from->out)) {
			from->out.busy++;
			f->flags |= MESSAGE_HAS_OUT;
			f->start_ns = e->now_ns;	/* for now: since when it has the link */
		} else if ((from_victim = robbable(e, from)) == NONE) {
			queue_add(e, &from->out.queue, link);
			return false;
		}
	}
	if (!(f->flags & MESSAGE_HAS_IN) && !is_free(in_pool(to)) &&
	    (!to->half_duplex || (to_victim = robbable(e, to)) == NONE)) {
		queue_add(e, from_victim != NONE ? &from->out.queue : &to->in.queue, link);
		from->waiting += from_victim == NONE;
		return false;
	}
	if (from_victim != NONE) {
		rob(e, from, from_victim);
		from->out.busy++;
		f->flags |= MESSAGE_HAS_OUT;
		f->start_ns = e->now_ns;
	}
	if (!(f->flags & MESSAGE_HAS_IN)) {
		if (to_victim != NONE)
			rob(e, to, to_victim);
		in_pool(to)->busy++;
		f->flags |= MESSAGE_HAS_IN;
	}
	return true;
}

static bool
take_link(struct engine *e, uint32_t link, struct pool *pool, struct queue *queue, uint8_t flag)
{
	if (e->flights[link].flags & flag)
		return true;
	if (!is_free(pool)) {
		queue_add(e, queue, link);
		return false;
	}
	pool->busy++;
	e->flights[link].flags |= flag;
	return true;
}

/* Memory has links of the two ranks; where they are half duplex the lower rank's comes first. */
static bool
take_memory_links(struct engine *e, uint32_t link)
{
	const struct flight *f = &e->flights[link];
	struct place *from = place_of(e, f, f->source), *to = place_of(e, f, f->target);
	bool in_first = (from->half_duplex || to->half_duplex) &&
	    e->runners[f->source].rank > e->runners[f->target].rank;

	if (from == to)
		return true;
	if (in_first && !take_link(e, link, in_pool(to), &to->in.queue, MESSAGE_HAS_IN))
		return false;
	return take_link(e, link, &from->out, &from->out.queue, MESSAGE_HAS_OUT) &&
	    take_link(e, link, in_pool(to), &to->in.queue, MESSAGE_HAS_IN);
}

/* All is there: the data moves. */
static void
ride(struct engine *e, uint32_t who)
{
	struct flight *f = &e->flights[who];

	f->start_ns = e->now_ns;
	events_add(&e->events, e->now_ns + wire_ns(e, f), EVENT_ARRIVE, who);
}

static void
try(struct engine *e, uint32_t who)
{
	struct flight *f = &e->flights[who];
	struct pool *bus;

	if (f->wire == WIRE_MEMORY ? !take_memory_links(e, who) : !take_network_links(e, who))
		return;
	f->linked_ns = e->now_ns;
	bus = bus_of(e, f);
	/* A collective that waits for all buses holds up who comes behind it. */
	if (bus->total > 0 && bus->queue.head != NONE && bus->queue.head & INSTANCE) {
		queue_add(e, &bus->queue, who);
		return;
	}
	if (take_link(e, who, bus, &bus->queue, MESSAGE_HAS_BUS))
		ride(e, who);
}

void
transfer_start(struct engine *e, uint32_t link, double at_ns)
{
	struct flight *f = &e->flights[link];

	f->due_ns = f->linked_ns = at_ns;
	if (e->contended && f->wire != WIRE_WIDE) {
		try(e, link);
		return;
	}
	f->start_ns = at_ns;
	at_ns += wire_ns(e, f);
	if (!e->contended)
		arrive(e, link, at_ns);
	else
		events_add(&e->events, at_ns, EVENT_ARRIVE, link);
}

static void
try_first(struct engine *e, struct place *place, struct queue *queue)
{
	uint32_t who = queue_take(e, queue);

	if (who == NONE)
		return;
	if (queue == &place->in.queue && e->flights[who].wire == WIRE_NETWORK)
		place_of(e, &e->flights[who], e->flights[who].source)->waiting--;
	try(e, who);
}

/* The instance at the head of the queue gets all buses when none is in use. */
static void
bus_next(struct engine *e, struct pool *bus)
{
	uint32_t who = bus->queue.head;

	if (who == NONE)
		return;
	if (!(who & INSTANCE)) {
		queue_take(e, &bus->queue);
		bus->busy++;
		e->flights[who].flags |= MESSAGE_HAS_BUS;
		ride(e, who);
	} else if (bus->busy == 0) {
		queue_take(e, &bus->queue);
		bus->busy = bus->total;
		who &= ~INSTANCE;
		events_add(&e->events, e->now_ns + collective_ns(e, &e->instances[who]), EVENT_INSTANCE, who);
	}
}

void
transfer_end(struct engine *e, uint32_t link)
{
	struct flight *f = &e->flights[link];
	struct place *from = place_of(e, f, f->source), *to = place_of(e, f, f->target);
	uint8_t held = f->flags;

	f->flags &= (uint8_t)~(MESSAGE_HAS_OUT | MESSAGE_HAS_IN | MESSAGE_HAS_BUS);
	if (f->wire == WIRE_WIDE)
		return;
	if (held & MESSAGE_HAS_OUT) {
		from->out.busy--;
		if (from->half_duplex)
			try_first(e, from, &from->in.queue);
		try_first(e, from, &from->out.queue);
	}
	if (held & MESSAGE_HAS_IN) {
		in_pool(to)->busy--;
		if (to->half_duplex)
			try_first(e, to, &to->out.queue);
		try_first(e, to, &to->in.queue);
	}
	if (held & MESSAGE_HAS_BUS) {
		struct pool *bus = bus_of(e, &e->flights[link]);

		bus->busy--;
		bus_next(e, bus);
	}
}

/* Buses of the island of the instance's first member; collectives over several take only those. */
static struct pool *
buses_of(const struct engine *e, uint32_t instance)
{
	uint32_t location = e->instances[instance].members[0].location;

	return &e->buses[e->machine->nodes[e->runners[location].node].island];
}

void
bus_take_all(struct engine *e, uint32_t instance)
{
	struct pool *bus = buses_of(e, instance);

	if (bus->total == 0) {
		events_add(&e->events, e->now_ns + collective_ns(e, &e->instances[instance]), EVENT_INSTANCE,
		    instance);
		return;
	}
	queue_add(e, &bus->queue, instance | INSTANCE);
	if (bus->queue.head == (instance | INSTANCE))
		bus_next(e, bus);
}

void
bus_give_all(struct engine *e, uint32_t instance)
{
	struct pool *bus = buses_of(e, instance);

	if (bus->total == 0)
		return;
	bus->busy = 0;
	/* As many of those that wait as find a bus. */
	while (bus->queue.head != NONE && (bus->queue.head & INSTANCE ? bus->busy == 0 : is_free(bus)))
		bus_next(e, bus);
}
