/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes edges as they are read: connects rows with messages and instances, and settles rows. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "../mpi/call_class.h"

static int
bad_end(struct reader *in, const struct message *message, uint32_t location, uint64_t seq)
{
	return reader_fail(in, message->offset, "%s: row %llu of location %u is not there",
	    message->kind, (unsigned long long)seq, location);
}

double
send_startup_ns(const struct engine *e, uint32_t flight, const struct replay_row *row)
{
	const struct flight *f = &e->flights[flight];

	return e->machine->loggp ? overhead_ns(e->machine, f->wire == WIRE_MEMORY, false,
	    (double)row->sent) : flight_latency_ns(e, f);
}

/* A call that its edge shows to be more than local. */
static void
act_with_others(struct op *op, enum act act)
{
	if (op->act != ACT_LOCAL)
		return;
	op->act = act;
	op->costs = true;
}

/*
 * Epochs of MPI windows are empty messages: MPI_Win_post sends to MPI_Win_start, MPI_Win_complete
 * to MPI_Win_wait. Where MPI_Win_start had returned before, MPI_Win_complete receives, too: first.
 */
static bool
may_link(const struct op *op, const struct replay_row *row, enum act other)
{
	return op->link == NONE || (op->act == other && !op->sends_too &&
	    call_class(row->call) == CLASS_ACCESS_END);
}

static void
link_send(struct engine *e, struct op *op, struct replay_row *row, uint32_t flight)
{
	if (op->link != NONE) {
		op->sends_too = true;
		row->member = flight;
		return;
	}
	act_with_others(op, ACT_SEND);
	if (op->act == ACT_START)
		op->act = ACT_SEND_START;
	op->link = flight;
	op->startup_ns = send_startup_ns(e, flight, row);
}

static void
link_receive(struct engine *e, struct op *op, struct replay_row *row, uint32_t flight)
{
	if (op->link != NONE) {
		op->sends_too = true;
		row->member = op->link;
		op->act = ACT_RECEIVE;
	}
	act_with_others(op, ACT_RECEIVE);
	op->link = flight;
	if (!e->machine->loggp || op->sends_too)
		op->startup_ns = e->machine->loggp || op->act == ACT_POST ? 0 :
		    flight_latency_ns(e, &e->flights[flight]);
}

/* Adds a message to its two rows and to the row that posts the receive, if it has not yet. */
static void
add_flight(struct engine *e, uint32_t source, uint64_t send, uint32_t target, uint64_t receive)
{
	struct op *from = op_at(e, source, send), *to = op_at(e, target, receive), *post = NULL;
	const struct replay_row *row = row_at(e, source, send);
	uint32_t post_at = target, f = NONE;
	uint64_t posted = receive;
	struct flight *flight;
	bool early;

	if (to->act == ACT_COMPLETE) {
		post = started_by(e, &post_at, &posted);
		f = early_take(e, post_at, posted);
	}
	early = f != NONE;
	if (!early)
		f = flight_new(e);
	flight = &e->flights[f];
	flight->source = source;
	flight->target = target;
	flight->references = (uint8_t)(flight->references + (early ? 2 : 3));
	flight_route(e, flight, row->tag, row->sent);
	if (e->explains)
		e->trails[f] = (struct trail){ .bytes = row->sent, .send_seq = send,
		    .receive_seq = receive };
	if (from->rendezvous)
		flight->flags |= MESSAGE_RENDEZVOUS;
	link_send(e, from, row_at(e, source, send), f);
	link_receive(e, to, row_at(e, target, receive), f);
	if (to->act != ACT_COMPLETE)
		return;
	to->act = ACT_WAIT;
	if (!early && post != NULL && (post->act == ACT_POST || post->act == ACT_START)) {
		post->act = ACT_POST;
		post->link = f;
		flight->references++;
	}
}

int
lanes_messages(struct engine *e, struct reader *in, const struct message *message,
    const struct edge_block *edges)
{
	enum { MOST_PROBES = UINT8_MAX / 2 };	/* of one message; more are dropped */
	const uint32_t *source = edges->source, *target = edges->target;
	const uint64_t *send = edges->send, *receive = edges->receive;
	const bool are_locks = is_kind(message, "locks"), are_probes = is_kind(message, "probes");

	for (size_t i = 0; i < edges->count; i++) {
		struct op *from = op_at(e, source[i], send[i]);
		struct op *to = op_at(e, target[i], receive[i]);

		if (from == NULL)
			return bad_end(in, message, source[i], send[i]);
		if (to == NULL)
			return bad_end(in, message, target[i], receive[i]);
		if (are_locks && to->act != ACT_RECEIVE) {
			e->locks++;
			continue;
		}
		if (are_probes) {	/* they see the message of a send whose edge came before */
			if (to->act == ACT_PROBE && to->link == NONE && from->link != NONE &&
			    !is_any_collective(from) &&
			    e->flights[from->link].references <= MOST_PROBES) {
				to->link = from->link;
				e->flights[from->link].references++;
			}
			continue;
		}
		if (!may_link(from, row_at(e, source[i], send[i]), ACT_RECEIVE) ||
		    !may_link(to, row_at(e, target[i], receive[i]), ACT_SEND))
			return reader_fail(in, message->offset, "messages: a row has two messages");
		if (is_any_collective(from) || is_any_collective(to))
			return reader_fail(in, message->offset, "messages: an end is a collective");
		add_flight(e, source[i], send[i], target[i], receive[i]);
	}
	return 0;
}

static struct replay_row *
member_row(const struct engine *e, uint32_t k)
{
	return row_at(e, e->members[k].location, e->members[k].seq);
}

/* Bytes of a block (mean), sent to one other rank, or to all alike. */
static double
block_bytes(const struct engine *e, enum operation operation, uint32_t count)
{
	double sent = 0, received = 0, most = 0, n = count;

	for (uint32_t k = 0; k < count; k++) {
		const struct replay_row *row = member_row(e, k);

		sent += (double)row->sent;
		received += (double)row->received;
		most = (double)row->sent > most ? (double)row->sent : most;
	}
	switch (operation) {
	case OP_BARRIER: return 0;
	case OP_BCAST: return most;	/* of the root alone */
	case OP_SCATTER: case OP_SCATTERV: return received / n;
	case OP_ALLTOALL: case OP_ALLTOALLV: case OP_ALLTOALLW: return sent / n / n;
	case OP_REDUCE_SCATTER: case OP_REDUCE_SCATTER_BLOCK: return sent / n / n;
	default: return sent / n;
	}
}

/*
 * Blocks of different sizes: bytes that each member sends or receives; in an alltoall both, in all.
 */
static void
take_blocks(const struct engine *e, struct instance *instance)
{
	struct plan *plan = &instance->plan;
	uint32_t n = instance->count;
	bool all = plan->operation == OP_ALLTOALLV || plan->operation == OP_ALLTOALLW,
	    differ = false;
	bool gets = plan->operation == OP_SCATTERV || plan->operation == OP_REDUCE_SCATTER;

	if (!all && !gets && plan->operation != OP_GATHERV && plan->operation != OP_ALLGATHERV)
		return;
	GROW(instance->blocks, instance->block_capacity, 2 * (size_t)n);
	for (uint32_t j = 0; j < n; j++) {
		const struct replay_row *row = member_row(e, j);

		instance->blocks[j] = (double)(gets ? row->received : row->sent);
		instance->blocks[n + j] = (double)row->received;
		differ |= instance->blocks[j] != instance->blocks[0] ||
		    (all && instance->blocks[n + j] != instance->blocks[n]);
	}
	if (differ) {
		plan->blocks = instance->blocks;
		plan->taken = instance->blocks + n;
	}
}

/*
 * Whether it runs as messages, and which. Its members are then in the order of the communicator.
 * Collectives that are only started, or have unknown ranks, use the model.
 */
static void
make_plan(struct engine *e, struct instance *instance)
{
	const enum operation operation = (enum operation)instance->operation;
	uint32_t count = instance->count, k;
	struct plan *plan = &instance->plan;
	struct member *by_rank;
	const struct rule *rule;
	double bytes;

	if (e->machine->rule_count == 0 || count < 2)
		return;
	bytes = block_bytes(e, operation, count);
	rule = machine_rule(e->machine, operation, count, bytes);
	if (rule == NULL)
		return;
	by_rank = zalloc(count, sizeof *by_rank);
	for (k = 0; k < count; k++) {
		const struct member *member = &e->members[k];
		const uint32_t rank = comm_rank(&e->comm_ranks, e->known,
		    member->row->comm, member->location);

		if (op_at(e, member->location, member->seq)->act != ACT_COLLECTIVE ||
		    rank >= count || by_rank[rank].row != NULL)
			break;
		by_rank[rank] = *member;
	}
	if (k == count) {
		memcpy(e->members, by_rank, count * sizeof *by_rank);
		*plan = (struct plan){ .schedule = rule->schedule, .operation = rule->operation,
		    .ranks = count, .bytes = bytes, .segment = rule->segment,
		    .beside_ns = beside_ns(e->machine, rule->operation, count, bytes) };
		take_blocks(e, instance);
	}
	free(by_rank);
}

/* The members of a collective. Calls that only start it have no times. */
static void
gather(struct engine *e, const uint32_t *location, const uint64_t *seq, uint32_t count)
{
	GROW(e->members, e->member_capacity, count);
	GROW(e->member_rows, e->member_row_capacity, count);
	for (uint32_t k = 0; k < count; k++) {
		const struct op *op = op_at(e, location[k], seq[k]);
		const struct replay_row *row = row_at(e, location[k], seq[k]);
		const bool starts = op->act == ACT_COLLECTIVE_START;
		const int64_t enter_ns = starts ? 0 : row->enter_ns;

		e->member_rows[k] = (struct row){ .enter_ns = enter_ns,
		    .leave_ns = enter_ns + op->duration_ns, .sent = row->sent > 0,
		    .received = row->received > 0, .comm = row->comm, .peer = row->peer,
		    .call = row->call };
		e->members[k] = (struct member){ location[k], seq[k], &e->member_rows[k] };
	}
}

/* Which members wait for which. */
static void
add_needs(struct engine *e, uint32_t link)
{
	struct instance *i = &e->instances[link];
	struct needs *needs = &i->needs;

	needs->ranks = &e->comm_ranks;
	collective_needs_seen(needs, e->known, e->members, i->count);
	GROW(i->groups, i->group_capacity, needs->count);
	for (uint32_t g = 0; g < needs->count; g++) {
		const struct need *need = &needs->groups[g];

		i->groups[g] = (struct group){ .at_ns = 0 };
		for (uint32_t d = 0; d < need->dependent_count; d++)
			i->members[needs->dependents[need->dependent + d]].group = g;
	}
	i->by_last = needs->count == 1 && needs->groups->source_count == i->count;
	for (uint32_t g = 0; g < needs->count; g++)
		if (!needs->groups[g].chained)
			collective_meet(e, link, g);
}

static void
add_instance(struct engine *e, uint32_t count)
{
	uint32_t i = instance_new(e, count);
	struct instance *instance = &e->instances[i];
	const struct row *first = e->members->row;
	enum call_class class = blocking_class(call_class(first->call));
	bool keeps = (e->machine->keeps_init && (class == CLASS_INIT || class == CLASS_FINALIZE)) ||
	    (e->machine->keeps_making && class == CLASS_COMM_CREATE);
	const int64_t last_ns = class != CLASS_FILE ? 0 :
	    collective_overlap(e->members, count).from_ns;

	instance->class = (uint8_t)class;
	instance->operation = (uint8_t)operation_of(first->call);
	if (class != CLASS_INIT && class != CLASS_FINALIZE && class != CLASS_FILE)
		make_plan(e, instance);
	for (uint32_t k = 0; k < count; k++) {
		const struct member *member = &e->members[k];
		struct op *op = op_at(e, member->location, member->seq);

		op->link = i;
		member_row(e, k)->member = k;
		/* The last member has the shortest call, since it waited for nobody. */
		if (keeps && (k == 0 || (double)op->duration_ns < instance->own_ns))
			instance->own_ns = (double)op->duration_ns;
		if (class == CLASS_FILE) {
			op->act = ACT_COLLECTIVE;
			op->startup_ns = 0;
		}
		instance->members[k] = (struct arrival){ .location = member->location, .at_ns = -1,
		    .own_ns = class == CLASS_FILE ? (double)(member->row->leave_ns - last_ns) : 0,
		    .group = NONE, .waiters = NONE };
	}
	if (first->peer != NO_PEER)
		instance->root = collective_root(e->known, e->members, count);
	instance->plan.root = instance->root;
	/* Without a known root, use the model. */
	if (schedule_is_rooted(instance->plan.operation) && instance->root == NONE)
		instance->plan.schedule = NO_SCHEDULE;
	instance->needs.count = 0;
	instance->by_last = e->machine->dimemas;
	if (!e->machine->dimemas && instance->plan.schedule == NO_SCHEDULE)
		add_needs(e, i);
}

int
lanes_collectives(struct engine *e, struct reader *in, const struct message *message,
    const struct edge_block *edges)
{
	const uint32_t *location = edges->location;
	const uint64_t *seq = edges->seq;
	size_t at = 0;

	for (size_t i = 0; i < edges->instances; at += edges->size[i++]) {
		uint32_t kept = 0, files = 0;

		for (size_t k = at; k < at + edges->size[i]; k++) {
			struct op *op = op_at(e, location[k], seq[k]);

			if (op == NULL)
				return bad_end(in, message, location[k], seq[k]);
			if (call_class(row_at(e, location[k], seq[k])->call) ==
			    CLASS_COMM_CREATE_GROUP)
				act_with_others(op, ACT_COLLECTIVE);
			kept += is_kept(op);
			files += op->act == ACT_FILE;
			if (op->link != NONE || !(kept > 0 ? is_kept(op) : is_any_collective(op)))
				return reader_fail(in, message->offset,
				    "collectives: a member is no collective");
		}
		gather(e, location + at, seq + at, edges->size[i]);
		if (kept == 0 || (files == kept && collective_holds(e->members, kept)))
			add_instance(e, edges->size[i]);
	}
	return 0;
}

int
lanes_settle(struct engine *e, struct reader *in, const struct message *message,
    const uint64_t *seqs)
{
	for (uint32_t l = 0; l < e->locations; l++) {
		if (seqs[l] > lane_end(&e->lanes[l]))
			return bad_end(in, message, l, seqs[l]);
		lane_settle(e, l, seqs[l]);
	}
	lanes_advance(e);
	return 0;
}
