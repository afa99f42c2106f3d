/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A graph in memory, and how it is written: in rounds of a block of each rank, with the edges behind
 * the later of their ends, so that a reader need not keep more of it than ranks and rows in flight.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import.h"

enum { ROUND = 4096 };		/* rows of a rank in a block; members and messages in one of edges, too */

static const struct column_type location_type = { 4, false, true, 0 };
static const struct column_type rank_type = { 4, true, true, 0 };
static const struct column_type time_type = { 8, true, true, 0 };
static const struct column_type seq_type = { 8, false, true, 0 };

uint16_t
build_call(const char *name)
{
	int number = call_number(name);

	if (number < 0)
		die("too many functions");
	return (uint16_t)number;
}

void
build_begin(struct build *build, uint32_t ranks)
{
	memset(build, 0, sizeof *build);
	build->ranks = ranks;
	build->rows = zalloc(ranks, sizeof *build->rows);
	build->used = zalloc(UINT16_MAX + 1, sizeof *build->used);
	build->comms = grow(NULL, &build->comm_capacity, 3, sizeof *build->comms);
	build->comm_count = 3;
	for (uint32_t r = 0; r < ranks; r++)
		build->rows[r].location = r;
}

uint64_t
build_row(struct build *build, uint32_t rank, const struct build_row *row)
{
	struct calls *to = &build->rows[rank];
	size_t i = to->count;

	if (i == to->capacity && calls_reserve(to, i > 0 ? 2 * i : 64) < 0)
		die("out of memory");
	to->enter_ns[i] = row->enter_ns;
	to->leave_ns[i] = row->leave_ns;
	to->call[i] = row->call;
	to->site[i] = to->request_at[i] = to->folded[i] = 0;
	to->comm[i] = row->comm;
	to->peer[i] = row->peer;
	to->tag[i] = row->tag;
	to->bytes_sent[i] = row->bytes_sent;
	to->bytes_received[i] = row->bytes_received;
	to->request[i] = row->request;
	build->used[row->call] = true;
	return to->count++;
}

void
build_message(struct build *build, uint32_t source, uint64_t send, uint32_t target, uint64_t receive)
{
	build->messages = grow(build->messages, &build->message_capacity, build->message_count + 1,
	    sizeof *build->messages);
	build->messages[build->message_count++] =
	    (struct build_message){ source, target, send, receive };
}

void
build_instance(struct build *build)
{
	build->instances = grow(build->instances, &build->instance_capacity, build->instance_count + 1,
	    sizeof *build->instances);
	build->instances[build->instance_count++] = (struct build_instance){ build->member_count, 0 };
}

void
build_member(struct build *build, uint32_t rank, uint64_t seq)
{
	build->member_rank = grow(build->member_rank, &build->member_capacity, build->member_count + 1,
	    sizeof *build->member_rank);
	build->member_seq = grow(build->member_seq, &build->member_seq_capacity,
	    build->member_count + 1, sizeof *build->member_seq);
	build->member_rank[build->member_count] = rank;
	build->member_seq[build->member_count++] = seq;
	build->instances[build->instance_count - 1].count++;
}

void
build_called(struct build *build, const struct build_call *call)
{
	build->called = grow(build->called, &build->called_capacity, build->called_count + 1,
	    sizeof *build->called);
	build->called[build->called_count++] = *call;
}

static int
by_time(const void *left, const void *right)
{
	const struct build_call *a = left, *b = right;

	if (a->comm != b->comm)
		return a->comm < b->comm ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static int
by_instance(const void *left, const void *right)
{
	const struct build_call *a = left, *b = right;

	if (a->comm != b->comm)
		return a->comm < b->comm ? -1 : 1;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

void
build_match(struct build *build)
{
	struct build_call *all = build->called;
	size_t next;

	if (build->called_count == 0)
		return;
	qsort(all, build->called_count, sizeof *all, by_time);
	for (size_t i = 1; i < build->called_count; i++)
		all[i].index = all[i].comm == all[i - 1].comm && all[i].rank == all[i - 1].rank ?
		    all[i - 1].index + 1 : 0;
	qsort(all, build->called_count, sizeof *all, by_instance);
	for (size_t i = 0; i < build->called_count; i = next) {
		int32_t root = NO_PEER;

		for (next = i; next < build->called_count && all[next].comm == all[i].comm &&
		    all[next].index == all[i].index; next++)
			if (all[next].root)
				root = (int32_t)(next - i);	/* members are in order of ranks */
		if (next - i < (size_t)all[i].size) {
			build->unmatched_collectives++;
			continue;
		}
		build_instance(build);
		for (size_t k = i; k < next; k++) {
			if (root != NO_PEER)
				build->rows[all[k].rank].peer[all[k].seq] = root;
			build_member(build, all[k].rank, all[k].seq);
		}
	}
}

uint32_t
build_comm(struct build *build, int32_t *members, int32_t size)
{
	bool world = size == (int32_t)build->ranks;

	for (int32_t i = 0; i < size && world; i++)
		world = members[i] == i;
	if (world)
		return 1;
	build->comms = grow(build->comms, &build->comm_capacity, build->comm_count + 1,
	    sizeof *build->comms);
	build->comms[build->comm_count] = (struct build_comm){ members, size };
	return (uint32_t)build->comm_count++;
}

static void
end_message(struct writer *out)
{
	if (message_end(out) < 0)
		die_output();
}

static void
write_definitions(const struct build *build, struct writer *out)
{
	int64_t run_ns = 0;

	for (uint32_t r = 0; r < build->ranks; r++)
		for (size_t i = build->rows[r].count; i > 0; i--)
			if (build->rows[r].leave_ns[i - 1] > run_ns)
				run_ns = build->rows[r].leave_ns[i - 1];
	message_begin(out, "run", 3);
	put_uint(out, "ranks", build->ranks);
	put_uint(out, "locations", build->ranks);
	put_int(out, "run_ns", run_ns);
	end_message(out);
	for (uint32_t r = 0; r < build->ranks; r++) {
		message_begin(out, "rank", 2);
		put_uint(out, "rank", r);
		put_uint(out, "rows", build->rows[r].count);
		end_message(out);
	}
	for (size_t c = 3; c < build->comm_count; c++) {
		message_begin(out, "communicator", 3);
		put_uint(out, "comm", c);
		put_int(out, "size", build->comms[c].size);
		put_column(out, "members", rank_type, build->comms[c].members,
		    (size_t)build->comms[c].size);
		end_message(out);
	}
	build->used[0] = false;
	if (call_names_write(out, build->used) < 0)
		die_output();
}

/* The rows ROUND * round and on of a rank, as a block. */
static void
write_block(struct writer *out, const struct calls *rows, size_t round)
{
	size_t first = round * ROUND, end = first + ROUND < rows->count ? first + ROUND : rows->count;
	struct calls block = *rows;

	/* A call and its parts are never divided. */
	while (first < rows->count && rows->call[first] == 0)
		first++;
	while (end < rows->count && rows->call[end] == 0)
		end++;
	if (first >= end)
		return;
	block.first = first;
	block.count = end - first;
	block.enter_ns += first;
	block.leave_ns += first;
#define X(field, key, type, is_signed, required, absent) block.field += first;
	CALL_COLUMNS(X)
#undef X
	if (calls_write(out, &block) < 0)
		die_output();
}

/* The last round in which an edge with this end may be written without its block. */
static size_t
later_round(size_t round, uint64_t seq)
{
	/* Parts that spill over are written a round early; that does no harm. */
	return seq / ROUND > round ? (size_t)(seq / ROUND) : round;
}

static size_t
message_round(const struct build_message *m)
{
	return later_round(later_round(0, m->send), m->receive);
}

static size_t
instance_round(const struct build *build, const struct build_instance *instance)
{
	size_t round = 0;

	for (uint32_t i = 0; i < instance->count; i++)
		round = later_round(round, build->member_seq[instance->first + i]);
	return round;
}

static void
write_messages(struct writer *out, const struct build_message *messages, const size_t *order,
    size_t count)
{
	static uint32_t source[ROUND], target[ROUND];
	static uint64_t send[ROUND], receive[ROUND];

	for (size_t i = 0; i < count; i++) {
		source[i] = messages[order[i]].source;
		send[i] = messages[order[i]].send;
		target[i] = messages[order[i]].target;
		receive[i] = messages[order[i]].receive;
	}
	message_begin(out, "messages", 5);
	put_uint(out, "count", count);
	put_column(out, "source", location_type, source, count);
	put_column(out, "send", seq_type, send, count);
	put_column(out, "target", location_type, target, count);
	put_column(out, "receive", seq_type, receive, count);
	end_message(out);
}

static void
write_instance(struct writer *out, const struct build *build, const struct build_instance *instance)
{
	message_begin(out, "collectives", 5);
	put_uint(out, "count", instance->count);
	put_uint(out, "instances", 1);
	put_column(out, "size", location_type, &instance->count, 1);
	put_column(out, "location", location_type, build->member_rank + instance->first,
	    instance->count);
	put_column(out, "seq", seq_type, build->member_seq + instance->first, instance->count);
	end_message(out);
}

/* Things 0 to COUNT - 1 in order of their round: where each round begins, and who is in it. */
struct by_round {
	size_t *begin, *order;
};

static struct by_round
sort_by_round(const size_t *round_of, size_t count, size_t rounds)
{
	struct by_round by = { zalloc(rounds + 2, sizeof *by.begin), zalloc(count + 1, sizeof *by.order) };

	for (size_t i = 0; i < count; i++)
		by.begin[round_of[i] + 2]++;
	for (size_t k = 2; k < rounds + 2; k++)
		by.begin[k] += by.begin[k - 1];
	for (size_t i = 0; i < count; i++)
		by.order[by.begin[round_of[i] + 1]++] = i;
	return by;
}

/* An edge of ROUND has this end: no earlier round settles it. */
static void
unsettle(const struct build *build, uint64_t *settled, uint32_t rank, uint64_t seq, size_t round)
{
	for (size_t k = (size_t)(seq / ROUND); k < round; k++)
		if (settled[k * build->ranks + rank] > seq)
			settled[k * build->ranks + rank] = seq;
}

/* What ranks computed as the other tool saw it, which may differ from the time outside of calls. */
static void
write_useful(const struct build *build, struct writer *out)
{
	int64_t *columns[3];

	if (build->useful == NULL)
		return;
	for (int c = 0; c < 3; c++)
		columns[c] = zalloc(build->ranks, sizeof *columns[c]);
	for (uint32_t r = 0; r < build->ranks; r++) {
		columns[0][r] = build->useful[r].running_ns;
		columns[1][r] = build->useful[r].instructions;
		columns[2][r] = build->useful[r].cycles;
	}
	message_begin(out, "useful", 4);
	put_uint(out, "count", build->ranks);
	put_column(out, "running", time_type, columns[0], build->ranks);
	put_column(out, "instructions", time_type, columns[1], build->ranks);
	put_column(out, "cycles", time_type, columns[2], build->ranks);
	end_message(out);
	for (int c = 0; c < 3; c++)
		free(columns[c]);
}

static void
write_summary(const struct build *build, struct writer *out)
{
	message_begin(out, "matching", 10);
	put_uint(out, "messages", build->message_count);
	put_uint(out, "collectives", build->instance_count);
	put_uint(out, "unmatched_sends", build->unmatched_sends);
	put_uint(out, "unmatched_receives", build->unmatched_receives);
	put_uint(out, "unmatched_collectives", build->unmatched_collectives);
	put_uint(out, "mismatched_collectives", 0);
	put_uint(out, "syncs", 0);
	put_uint(out, "refused_pending", 0);
	put_uint(out, "refused_overlap", 0);
	put_uint(out, "refused_partial", 0);
	end_message(out);
}

/* By round and rank: the first row to which an edge may still come. */
static uint64_t *
settled_rows(const struct build *build, size_t rounds, const size_t *message_rounds,
    const size_t *instance_rounds)
{
	uint64_t *settled = zalloc(rounds * build->ranks + 1, sizeof *settled);

	for (size_t k = 0; k < rounds; k++)
		for (uint32_t r = 0; r < build->ranks; r++)
			settled[k * build->ranks + r] = (k + 1) * ROUND < build->rows[r].count ?
			    (k + 1) * ROUND : build->rows[r].count;
	for (size_t i = 0; i < build->message_count; i++) {
		const struct build_message *m = &build->messages[i];

		unsettle(build, settled, m->source, m->send, message_rounds[i]);
		unsettle(build, settled, m->target, m->receive, message_rounds[i]);
	}
	for (size_t i = 0; i < build->instance_count; i++)
		for (uint32_t j = 0; j < build->instances[i].count; j++)
			unsettle(build, settled, build->member_rank[build->instances[i].first + j],
			    build->member_seq[build->instances[i].first + j], instance_rounds[i]);
	return settled;
}

void
build_write(struct build *build, int argc, char **argv)
{
	size_t rounds = 1, *message_rounds = zalloc(build->message_count + 1, sizeof *message_rounds);
	size_t *instance_rounds = zalloc(build->instance_count + 1, sizeof *instance_rounds);
	struct by_round messages, instances;
	uint64_t *settled;
	struct writer out;

	for (uint32_t r = 0; r < build->ranks; r++)
		rounds = later_round(rounds - 1, build->rows[r].count) + 1;
	for (size_t i = 0; i < build->message_count; i++)
		message_rounds[i] = message_round(&build->messages[i]);
	for (size_t i = 0; i < build->instance_count; i++)
		instance_rounds[i] = instance_round(build, &build->instances[i]);
	messages = sort_by_round(message_rounds, build->message_count, rounds);
	instances = sort_by_round(instance_rounds, build->instance_count, rounds);
	settled = settled_rows(build, rounds, message_rounds, instance_rounds);
	if (writer_open(&out, STDOUT_FILENO, "graph", NULL, argc, argv) < 0)
		die_output();
	write_definitions(build, &out);
	for (size_t k = 0; k < rounds; k++) {
		for (uint32_t r = 0; r < build->ranks; r++)
			write_block(&out, &build->rows[r], k);
		for (size_t i = messages.begin[k]; i < messages.begin[k + 1]; i += ROUND)
			write_messages(&out, build->messages, messages.order + i,
			    messages.begin[k + 1] - i < ROUND ? messages.begin[k + 1] - i : ROUND);
		for (size_t i = instances.begin[k]; i < instances.begin[k + 1]; i++)
			write_instance(&out, build, &build->instances[instances.order[i]]);
		message_begin(&out, "settled", 2);
		put_uint(&out, "count", build->ranks);
		put_column(&out, "seq", seq_type, settled + k * build->ranks, build->ranks);
		end_message(&out);
	}
	write_useful(build, &out);
	write_summary(build, &out);
	if (writer_end(&out) < 0)
		die_output();
}
