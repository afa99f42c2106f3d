/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives. All members of a communicator call its collectives in the same order, so the k-th
 * calls of all members are one instance. Persistent ones are made in the same order and started in
 * any (MPI 4.0, 6.13): the n-th starts of the k-th ones are an instance.
 *
 * A global synchronisation point is an instance of all ranks that no rank leaves before all have
 * entered and across which nothing is pending: no open request, and no message or smaller
 * collective with one end before and one behind. Only then every path through the run passes it
 * in one place, and what lies before and behind can be analysed apart.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/hash_table.h"
#include "graph.h"

struct instance {
	uint32_t comm, order, index;	/* key, as of a parcel; comm NONE: free slot */
	uint32_t arrived, size;
	uint16_t call;		/* of the member that came first */
	bool mismatched;
	bool blocking;
	int64_t open;		/* requests pending when the members entered */
	int64_t last_enter_ns, first_leave_ns;
	struct spot first;	/* the block of the member that came first */
	struct beginning begin;	/* of spawned processes: the root in MPI_Comm_spawn */
	bool spawns;
	uint32_t *operations;	/* of the members, in order of arrival */
};

HASH_TABLE_BY(instances, struct instance, INSTANCE_HASH, SAME_INSTANCE, comm, NONE)

/*
 * MPI_Init and MPI_Finalize are counted apart from other collectives of their MPI_COMM_WORLD. That
 * has all ranks unless the row names a communicator.
 */
enum { INIT_COMM = 1 << 30, FINALIZE_COMM };

static uint32_t
comm_of(const struct graph *graph, const struct graph_row *row, enum call_class class)
{
	const struct communicator *c = row->comm < graph->known.comm_count ?
	    &graph->known.comms[row->comm] : NULL;

	if ((class != CLASS_INIT && class != CLASS_FINALIZE) ||
	    (class == CLASS_INIT && c != NULL && c->remote_size > 0))
		/* MPI_Init of spawned processes: with MPI_Comm_spawn of the parents */
		return row->comm;
	return (class == CLASS_INIT ? INIT_COMM : FINALIZE_COMM) +
	    (c != NULL && c->is_world ? 2 * row->comm : 0);
}

/* As the trace numbers it. */
static uint32_t
told_comm(uint32_t comm)
{
	return comm < INIT_COMM ? comm : comm < INIT_COMM + 2 ? 1 : (comm - INIT_COMM) / 2;
}

uint32_t
member_count(const struct graph *graph, uint32_t comm)
{
	const struct communicator *c;

	comm = told_comm(comm);
	if (comm == 0 || comm >= graph->known.comm_count)
		return 0;
	c = &graph->known.comms[comm];
	return (uint32_t)(c->size + c->remote_size - c->outside);
}

void
crossing_mark(struct crossings *c, uint32_t from, uint32_t to)
{
	uint32_t first = (from < to ? from : to) + 1, last = from < to ? to : from;

	if (first > last || last <= c->decided)
		return;
	GROW(c->crossed, c->capacity, (size_t)(last - c->decided));
	while (c->count < (size_t)(last - c->decided))
		c->crossed[c->count++] = false;
	for (uint32_t k = first > c->decided ? first : c->decided + 1; k <= last; k++)
		c->crossed[k - c->decided - 1] = true;
}

bool
crossing_take(struct crossings *c)
{
	const bool crossed = c->count > 0 && c->crossed[0];

	c->decided++;
	if (c->count > 0)
		memmove(c->crossed, c->crossed + 1, --c->count);
	return crossed;
}

static bool
is_candidate(const struct graph *graph, uint32_t members, uint32_t comm, uint16_t call)
{
	const enum call_class class = call_class(call);

	/* MPI_Comm_spawn and MPI_Init have more than waiting between them. */
	if (call_spawns(call) || (comm < INIT_COMM && class == CLASS_INIT))
		return false;
	/* In rooted collectives and scans a rank may leave before others enter. */
	return members == (uint32_t)graph->known.ranks && graph->known.location_count == members &&
	    (class == CLASS_INIT || class == CLASS_FINALIZE || class == CLASS_BARRIER ||
	    class == CLASS_ALL_TO_ALL || class == CLASS_COMM_CREATE ||
	    class == CLASS_COMM_CREATE_GROUP);
}

/*
 * All members' rows have been read, SEQS, and all rows before them. An edge that crosses the
 * instance has one end before it. Either this end is still listed, or the edge has marked the
 * instance as crossed.
 */
static void
consider_sync(struct graph *graph, const struct instance *instance, const uint64_t *seqs,
    uint32_t number)
{
	const bool overlaps = instance->last_enter_ns > instance->first_leave_ns;
	bool pending = instance->open > 0 || instance->mismatched;
	struct exchange *x = graph->exchange;

	if (instance->size != (uint32_t)graph->known.ranks || !instance->blocking)
		return;
	if (!is_candidate(graph, instance->size, instance->comm, instance->call)) {
		graph->counts.refused_partial++;
		return;
	}
	if (x != NULL) {	/* edges of other shards may cross it: decided after the round */
		uint64_t *kept = zalloc(instance->size, sizeof *kept);

		memcpy(kept, seqs, instance->size * sizeof *kept);
		*APPEND(x->candidates, x->candidate_count, x->candidate_capacity) =
		    (struct candidate){ number, instance->first.round, kept, pending, overlaps };
		return;
	}
	locks_decide(graph, number, INT64_MIN);
	holds_decide(graph, number, INT64_MIN);
	backgrounds_decide(graph, number, INT64_MIN);
	/*
	 * After a candidate that only some ranks counted, ranks number candidates differently, and
	 * marks are wrong. All rows before this instance have been read, so such an earlier one has
	 * been seen.
	 */
	pending |= crossing_take(&graph->crossings) || graph->crossings.drifted;
	for (uint32_t l = 0; l < instance->size && !pending; l++)	/* all are members */
		pending = settled_seq(graph, l) <= seqs[l];
	if (overlaps)
		graph->counts.refused_overlap++;
	else if (pending)
		graph->counts.refused_pending++;
	else
		write_sync(graph, seqs, &instance->first);
}

/* These ranks begin when the root of MPI_Comm_spawn has entered it. */
static void
write_spawned(struct graph *graph, const struct instance *instance)
{
	struct writer *out = edges_writer(graph);
	uint32_t *ranks = zalloc(instance->size, sizeof *ranks), count = 0;

	for (uint32_t i = 0; i < instance->size; i++) {
		const struct operation *op = &graph->operations[instance->operations[i]];

		if (call_class(op->call) == CLASS_INIT)
			ranks[count++] = (uint32_t)rank_of(graph, op->location);
	}
	if (count > 0) {
		message_begin(out, "spawned", 5);
		put_uint(out, "location", instance->begin.location);
		put_uint(out, "seq", instance->begin.seq);
		put_int(out, "begin_ns", instance->begin.ns);
		put_uint(out, "count", count);
		put_column(out, "ranks", ranks, count);
		end_message(out);
	}
	free(ranks);
}

struct member { uint32_t location; uint64_t seq; };

ORDER(by_location, struct member, BY(location))

/*
 * Writes the edge, with members in order of location: they came as their rows were read, and no
 * result must hang on that. Returns the members' rows.
 */
static const uint64_t *
write_members(struct graph *graph, const struct instance *instance)
{
	const bool has_all = instance->size == (uint32_t)graph->known.ranks &&
	    instance->size == graph->known.location_count;
	struct member *members = zalloc(instance->size, sizeof *members);
	uint32_t *locations;
	uint64_t *seqs;

	for (uint32_t i = 0; i < instance->size; i++) {
		const struct operation *op = &graph->operations[instance->operations[i]];

		members[has_all ? op->location : i] = (struct member){ op->location, op->seq };
	}
	if (!has_all)
		SORT(members, instance->size, by_location);
	edge_collective(graph, instance->size, &locations, &seqs);
	for (uint32_t i = 0; i < instance->size; i++) {
		locations[i] = members[i].location;
		seqs[i] = members[i].seq;
	}
	free(members);
	return seqs;
}

static void
instance_complete(struct graph *graph, struct instance *instance)
{
	const uint32_t before = graph->operations[instance->operations[0]].candidates;
	const uint64_t *seqs = write_members(graph, instance);

	if (instance->spawns)
		write_spawned(graph, instance);
	for (uint32_t i = 0; i < instance->size; i++) {
		const uint32_t member = instance->operations[i];

		crossing_mark(&graph->crossings, before, graph->operations[member].candidates);
		operation_free(graph, member);
	}
	consider_sync(graph, instance, seqs, before + 1);
}

static void
check_call(struct graph *graph, struct instance *instance, const struct parcel *p)
{
	const uint32_t comm = instance->comm;

	if (calls_meet(p->call, instance->call))
		return;
	if (!instance->mismatched)
		graph->counts.mismatched_collectives++;
	instance->mismatched = true;
	if (is_candidate(graph, instance->size, comm, p->call) !=
	    is_candidate(graph, instance->size, comm, instance->call))
		graph->crossings.drifted = true;
	tell(graph, rank_of(graph, p->location), p->seq, "%s meets %s of another rank on "
	    "communicator %u", call_name(p->call), call_name(instance->call), told_comm(comm));
}

uint32_t
collective_shard(const struct graph *graph, const struct parcel *p)
{
	return graph->exchange == NULL ? 0 : (uint32_t)(INSTANCE_HASH(p) % graph->exchange->shards);
}

void
collective_arrived(struct graph *graph, const struct parcel *p)
{
	struct instance *instance = instances_add(&graph->instances,
	    &(struct instance){ .comm = p->comm, .order = p->order, .index = p->index,
	    .last_enter_ns = INT64_MIN, .first_leave_ns = INT64_MAX });

	if (instance->arrived == 0) {
		instance->size = member_count(graph, p->comm);
		instance->call = p->call;
		instance->first = graph->block;
		instance->blocking = !is_collective_start(call_class(p->call));
		instance->operations = zalloc(instance->size, sizeof *instance->operations);
	}
	check_call(graph, instance, p);
	if (call_spawns(p->call) && p->source == ROOT_PEER) {
		instance->begin = (struct beginning){ p->seq, p->enter_ns, p->location };
		instance->spawns = true;
	}
	if (p->in_background)
		background_started(graph, p, instance->size);
	instance->operations[instance->arrived++] = operation_of_parcel(graph, p);
	instance->open += p->open;
	if (p->enter_ns > instance->last_enter_ns)
		instance->last_enter_ns = p->enter_ns;
	if (p->leave_ns < instance->first_leave_ns)
		instance->first_leave_ns = p->leave_ns;
	if (instance->arrived == instance->size) {
		struct instance done = *instance;

		instances_remove(graph->instances, instance);
		instance_complete(graph, &done);
		free(done.operations);
	}
}

void
collective_init(struct graph *graph, const struct graph_row *row)
{
	if (member_count(graph, row->comm) > 0)
		request_open(graph,
		    row, (struct request){ .operation = NONE, .class = CLASS_COLLECTIVE_INIT,
		    .order = 1 + count_one(graph, COUNT_INITS, row->comm, row->rank, 0) });
}

void
collective_member(struct graph *graph, const struct graph_row *row)
{
	const enum call_class class = call_class(row->call);
	const uint32_t comm = comm_of(graph, row, class);
	const uint32_t members = member_count(graph, comm);
	struct request *request = row->refers ?
	    request_find(graph, row->starter, row->start) : NULL;
	struct location *at = &graph->locations[row->location];
	struct parcel parcel = { .kind = PARCEL_MEMBER, .comm = comm, .open = at->open,
	    .enter_ns = row->calls->enter_ns[row->i], .leave_ns = row->calls->leave_ns[row->i],
	    .source = row->peer };

	if (comm == 2)
		return;		/* alone */
	if (comm == 0 && blocking_class(class) == CLASS_FILE)
		return;		/* other recorders seldom record the file */
	if (class == CLASS_COMM_CREATE_GROUP && row->peer != NULL_PEER)
		return;		/* the row names another communicator */
	if (members == 0) {
		graph->counts.unmatched_collectives++;
		if (comm != 0)
			tell(graph, row->rank, row->seq, "%s on unknown communicator %u",
			    call_name(row->call), comm);
		else if (!graph->nowhere)	/* once */
			tell(graph, row->rank, row->seq, "the trace does not say on which "
			    "communicator %s was called: such calls match nothing",
			    call_name(row->call));
		graph->nowhere |= comm == 0;
		return;
	}
	/* Its number within its communicator; of a persistent one by the call that made it. */
	if (request != NULL && request->class == CLASS_COLLECTIVE_INIT) {
		parcel.order = request->order;
		parcel.index = request->starts++;
	} else
		parcel.index = count_one(graph, COUNT_COLLECTIVES, comm, row->rank, 0);
	at->candidates += is_candidate(graph, members, comm, row->call);
	background_open(graph, row, &parcel);
	parcel_post(graph, row, collective_shard(graph, &parcel), &parcel);
}

ORDER(by_key, struct instance, BY(comm) BY(order) BY(index))

void
collective_end(struct graph *graph)
{
	struct instance *open = instances_sorted(graph->instances, by_key);

	for (size_t i = 0; i < instances_count(graph->instances); i++) {
		const struct instance *instance = &open[i];
		const struct operation *op = &graph->operations[instance->operations[0]];

		graph->counts.unmatched_collectives++;
		tell(graph, rank_of(graph, op->location), op->seq,
		    "%s was called by %u of %u ranks of communicator %u", call_name(instance->call),
		    instance->arrived, instance->size, told_comm(instance->comm));
	}
	free(open);
}
