/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a graph in memory is written: in rounds of a block of each location, with the edges behind the
 * later of their ends, so that a reader need not keep more of it than locations and rows in flight.
 */
#include <stdlib.h>
#include <unistd.h>

#include "import.h"

enum { BLOCK = 4096 };		/* rows of a rank in a block, and messages in one, at most */
enum { IN_FLIGHT = 1 << 18, FEWEST = 64 };	/* rows of all ranks in a round, as far as blocks stay worth it */

static const struct column_type location_type = { 4, false, true, 0 };
static const struct column_type rank_type = { 4, true, true, 0 };
static const struct column_type time_type = { 8, true, true, 0 };
static const struct column_type seq_type = { 8, false, true, 0 };

static void
end_message(struct writer *out)
{
	if (message_end(out) < 0)
		die_output();
}

/* Rows of a location in a round: a reader keeps about two rounds of all. */
static size_t
round_of(const struct build *build)
{
	size_t rows = IN_FLIGHT / build->locations;

	return rows > BLOCK ? BLOCK : rows < FEWEST ? FEWEST : rows;
}

/* Of all threads of a rank. */
static uint64_t
rows_of(const struct build *build, uint32_t rank)
{
	uint64_t rows = build->rows[rank].count;

	for (uint32_t l = build->ranks; l < build->locations; l++)
		if (build->threads[l - build->ranks].rank == rank)
			rows += build->rows[l].count;
	return rows;
}

static void
write_definitions(const struct build *build, struct writer *out)
{
	int64_t run_ns = 0;

	for (uint32_t l = 0; l < build->locations; l++)
		for (size_t i = build->rows[l].count; i > 0; i--)
			if (build->rows[l].leave_ns[i - 1] > run_ns)
				run_ns = build->rows[l].leave_ns[i - 1];
	message_begin(out, "run", 3);
	put_uint(out, "ranks", build->ranks);
	put_uint(out, "locations", build->locations);
	put_int(out, "run_ns", run_ns);
	end_message(out);
	for (uint32_t r = 0; r < build->ranks; r++) {
		message_begin(out, "rank", 2);
		put_uint(out, "rank", r);
		put_uint(out, "rows", rows_of(build, r));
		end_message(out);
	}
	for (uint32_t l = build->ranks; l < build->locations; l++) {
		message_begin(out, "location", 3);
		put_uint(out, "location", l);
		put_uint(out, "rank", build->threads[l - build->ranks].rank);
		put_uint(out, "thread", build->threads[l - build->ranks].thread);
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

/* The rows LENGTH * round and on of a rank, as a block. */
static void
write_block(struct writer *out, const struct calls *rows, size_t round, size_t length)
{
	size_t first = round * length, end = first + length < rows->count ? first + length : rows->count;
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
later_round(size_t round, uint64_t seq, size_t length)
{
	/* Parts that spill over are written a round early; that does no harm. */
	return seq / length > round ? (size_t)(seq / length) : round;
}

static size_t
message_round(const struct build_message *m, size_t length)
{
	return later_round(later_round(0, m->send, length), m->receive, length);
}

static size_t
instance_round(const struct build *build, const struct build_instance *instance, size_t length)
{
	size_t round = 0;

	for (uint32_t i = 0; i < instance->count; i++)
		round = later_round(round, build->member_seq[instance->first + i], length);
	return round;
}

static void
write_messages(struct writer *out, const struct build_message *messages, const size_t *order,
    size_t count)
{
	static uint32_t source[BLOCK], target[BLOCK];
	static uint64_t send[BLOCK], receive[BLOCK];

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
	put_column(out, "location", location_type, build->member_location + instance->first,
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

/* An edge of this round has this end: no earlier round settles it. */
static void
unsettle(const struct build *build, uint64_t *settled, uint32_t location, uint64_t seq, size_t round)
{
	for (size_t k = (size_t)(seq / round_of(build)); k < round; k++)
		if (settled[k * build->locations + location] > seq)
			settled[k * build->locations + location] = seq;
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

/* By round and location: the first row to which an edge may still come. */
static uint64_t *
settled_rows(const struct build *build, size_t rounds, const size_t *message_rounds,
    const size_t *instance_rounds)
{
	uint64_t *settled = zalloc(rounds * build->locations + 1, sizeof *settled);
	size_t length = round_of(build);

	for (size_t k = 0; k < rounds; k++)
		for (uint32_t l = 0; l < build->locations; l++)
			settled[k * build->locations + l] = (k + 1) * length < build->rows[l].count ?
			    (k + 1) * length : build->rows[l].count;
	for (size_t i = 0; i < build->message_count; i++) {
		const struct build_message *m = &build->messages[i];

		unsettle(build, settled, m->source, m->send, message_rounds[i]);
		unsettle(build, settled, m->target, m->receive, message_rounds[i]);
	}
	for (size_t i = 0; i < build->instance_count; i++)
		for (uint32_t j = 0; j < build->instances[i].count; j++)
			unsettle(build, settled, build->member_location[build->instances[i].first + j],
			    build->member_seq[build->instances[i].first + j], instance_rounds[i]);
	return settled;
}

void
build_write(struct build *build, int argc, char **argv)
{
	size_t length = round_of(build), rounds = 1;
	size_t *message_rounds = zalloc(build->message_count + 1, sizeof *message_rounds);
	size_t *instance_rounds = zalloc(build->instance_count + 1, sizeof *instance_rounds);
	struct by_round messages, instances;
	uint64_t *settled;
	struct writer out;

	for (uint32_t l = 0; l < build->locations; l++)
		rounds = later_round(rounds - 1, build->rows[l].count, length) + 1;
	for (size_t i = 0; i < build->message_count; i++)
		message_rounds[i] = message_round(&build->messages[i], length);
	for (size_t i = 0; i < build->instance_count; i++)
		instance_rounds[i] = instance_round(build, &build->instances[i], length);
	messages = sort_by_round(message_rounds, build->message_count, rounds);
	instances = sort_by_round(instance_rounds, build->instance_count, rounds);
	settled = settled_rows(build, rounds, message_rounds, instance_rounds);
	if (writer_open(&out, STDOUT_FILENO, "graph", NULL, argc, argv) < 0)
		die_output();
	write_definitions(build, &out);
	for (size_t k = 0; k < rounds; k++) {
		for (uint32_t l = 0; l < build->locations; l++)
			write_block(&out, &build->rows[l], k, length);
		for (size_t i = messages.begin[k]; i < messages.begin[k + 1]; i += BLOCK)
			write_messages(&out, build->messages, messages.order + i,
			    messages.begin[k + 1] - i < BLOCK ? messages.begin[k + 1] - i : BLOCK);
		for (size_t i = instances.begin[k]; i < instances.begin[k + 1]; i++)
			write_instance(&out, build, &build->instances[instances.order[i]]);
		message_begin(&out, "settled", 2);
		put_uint(&out, "count", build->locations);
		put_column(&out, "seq", seq_type, settled + k * build->locations, build->locations);
		end_message(&out);
	}
	write_useful(build, &out);
	write_summary(build, &out);
	if (writer_end(&out) < 0)
		die_output();
}
