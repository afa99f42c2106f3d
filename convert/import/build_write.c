/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a graph in rounds of one block per location. Edges follow the later of their ends, so that
 * a reader keeps only locations and rows in flight.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/tool/fields.h"
#include "import.h"

enum { MESSAGES = 4096 };	/* per block, at most */

/* Ends, in written rows of a location, of edges not yet written; their rounds ascend. */
struct open {
	struct open_end { uint64_t seq, round; } *ends;
	size_t first, count, capacity;
};

struct output {
	struct build *build;
	struct writer out;
	struct calls block;
	uint64_t *written;	/* rows, by location */
	uint64_t *settled;
	struct open *open;	/* by location */
};

static void
write_definitions(const struct build *build, struct writer *out)
{
	uint64_t *rows = zalloc(build->ranks, sizeof *rows);

	message_begin(out, "run", 3 + (build->date_s > 0));
	put_uint(out, "ranks", build->ranks);
	put_uint(out, "locations", build->locations);
	put_int(out, "run_ns", build->run_ns);
	if (build->date_s > 0)
		put_uint(out, "date_s", build->date_s);
	end_message(out);
	for (uint32_t l = 0; l < build->locations; l++)
		rows[build->of[l].rank] += build->of[l].rows;
	for (uint32_t r = 0; r < build->ranks; r++)
		if (build->define_rank != NULL)
			build->define_rank(build->context, r, out);
		else {
			message_begin(out, "rank", 2);
			put_uint(out, "rank", r);
			put_uint(out, "rows", rows[r]);
			end_message(out);
		}
	free(rows);
	for (uint32_t l = build->ranks; l < build->locations; l++)
		location_write(out, l, (int32_t)build->of[l].rank, build->of[l].thread);
	for (size_t c = 3; c < build->comm_count; c++)
		communicator_write(out, (uint32_t)c, &build->comms[c], NULL);
	build->used[0] = false;
	need_output(call_names_write(out, build->used));
	if (build->define != NULL)
		build->define(build->context, out);
}

/* Adds fields that were unknown when these rows were read. */
static void
take_patches(struct output *o, uint32_t location, uint64_t round)
{
	const struct build_patch *p;

	while ((p = sorter_peek(&o->build->patches)) != NULL && p->round == round &&
	    p->location == location) {
		size_t i = (size_t)(p->seq - o->block.first);

#define X(field, key, type, is_signed, required, absent) \
		if (p->known >> KNOWN_##field & 1) \
			o->block.field[i] = p->row.field;
		CALL_COLUMNS(X)
#undef X
		sorter_drop(&o->build->patches);
	}
}

/* The rows of a location up to the round's last. A call and its parts stay together. */
static void
write_block(struct output *o, uint32_t location, uint64_t round)
{
	struct spill *rows = &o->build->rows;
	struct call_row *row = &o->build->of[location].row;
	uint64_t end = (round + 1) * o->build->round_rows;

	o->block.location = location;
	o->block.first = o->written[location];
	o->block.count = 0;
	while (spill_any(rows, location) &&
	    (o->written[location] < end || spill_next(rows, location) != 0)) {
		spill_take(rows, location);	/* whether it is a part */
		spill_take_record(rows, location, row, sizeof *row);
		need_memory(calls_add(&o->block, row));
		o->written[location]++;
	}
	if (o->block.count == 0)
		return;
	take_patches(o, location, round);
	build_regions_before(o->build, &o->out, location, spill_any(rows, location) ?
	    o->block.leave_ns[o->block.count - 1] : INT64_MAX);
	need_output(calls_write(&o->out, &o->block));
}

static void
write_messages(struct output *o, uint64_t round)
{
	static uint32_t source[MESSAGES], target[MESSAGES];
	static uint64_t send[MESSAGES], receive[MESSAGES];
	const struct build_edge *e;
	size_t count = 0;

	for (; count < MESSAGES && (e = sorter_peek(&o->build->messages)) != NULL &&
	    e->round == round; count++, sorter_drop(&o->build->messages)) {
		source[count] = e->source;
		send[count] = e->send;
		target[count] = e->target;
		receive[count] = e->receive;
	}
	message_begin(&o->out, "messages", 5);
	put_uint(&o->out, "count", count);
	put_column(&o->out, "source", source, count);
	put_column(&o->out, "send", send, count);
	put_column(&o->out, "target", target, count);
	put_column(&o->out, "receive", receive, count);
	end_message(&o->out);
}

/* The next instance, whose members are the next ones with its number. */
static void
write_instance(struct output *o)
{
	static uint32_t *location;
	static uint64_t *seq;
	static size_t location_capacity, seq_capacity;
	struct sorter *members = &o->build->members;
	const struct build_member *m = sorter_peek(members);
	uint64_t instance = m->instance;
	uint32_t count = 0;

	for (; m != NULL && m->instance == instance; m = sorter_peek(members)) {
		GROW(location, location_capacity, count + (size_t)1);
		GROW(seq, seq_capacity, count + (size_t)1);
		location[count] = m->location;
		seq[count++] = m->seq;
		sorter_drop(members);
	}
	message_begin(&o->out, "collectives", 5);
	put_uint(&o->out, "count", count);
	put_uint(&o->out, "instances", 1);
	put_column(&o->out, "size", &count, 1);
	put_column(&o->out, "location", location, count);
	put_column(&o->out, "seq", seq, count);
	end_message(&o->out);
}

/* By location, the first row to which an edge may still come. */
static void
write_settled(struct output *o, uint64_t round)
{
	struct build *build = o->build;
	const struct build_end *e;

	/* An end is skipped if an earlier one has an edge as late: it settles nothing. */
	for (; (e = sorter_peek(&build->open_ends)) != NULL && e->begin == round;
	    sorter_drop(&build->open_ends)) {
		struct open *open = &o->open[e->location];

		if (open->first == open->count || open->ends[open->count - 1].round < e->round)
			*ENQUEUE(open->ends, open->first, open->count, open->capacity) =
			    (struct open_end){ e->seq, e->round };
	}
	for (uint32_t l = 0; l < build->locations; l++) {
		struct open *open = &o->open[l];
		uint64_t end = (round + 1) * build->round_rows;

		while (open->first < open->count && open->ends[open->first].round <= round)
			open->first++;
		o->settled[l] = open->first < open->count ? open->ends[open->first].seq :
		    end < build->of[l].rows ? end : build->of[l].rows;
	}
	message_begin(&o->out, "settled", 2);
	put_uint(&o->out, "count", build->locations);
	put_column(&o->out, "seq", o->settled, build->locations);
	end_message(&o->out);
}

/* Computation of ranks by the other tool, which may differ from the time outside calls. */
static void
write_useful(const struct build *build, struct writer *out)
{
#define USEFUL(member) FIELD(struct build_useful, member)
	static const struct field fields[] = {
		{ "running", USEFUL(running_ns), .key = "running" },
		{ "instructions", USEFUL(instructions), .key = "instructions" },
		{ "cycles", USEFUL(cycles), .key = "cycles" }, FIELDS_END
	};

	if (build->useful != NULL)
		put_rows(out, "useful", fields, build->useful, build->ranks,
		    sizeof *build->useful);
}

/* Also counts what has no partner. */
static void
write_matching(const struct build *build, struct writer *out)
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

void
build_write(struct build *build, int argc, char **argv)
{
	struct output o = { .build = build };
	const struct build_edge *e;
	const struct build_member *m;
	uint64_t rounds = 1;

	spill_read(&build->rows);
	sorter_sort(&build->messages);
	sorter_sort(&build->members);
	sorter_sort(&build->open_ends);
	sorter_sort(&build->patches);
	o.written = zalloc(build->locations, sizeof *o.written);
	o.settled = zalloc(build->locations, sizeof *o.settled);
	o.open = zalloc(build->locations, sizeof *o.open);
	for (uint32_t l = 0; l < build->locations; l++) {
		memset(&build->of[l].row, 0, sizeof build->of[l].row);
		rounds = build_round(build, rounds - 1, build->of[l].rows) + 1;
	}
	need_output(writer_open(&o.out, STDOUT_FILENO, build->trace ? "trace" : "graph", NULL,
	    argc, argv));
	write_definitions(build, &o.out);
	for (uint64_t k = 0; k < rounds; k++) {
		for (uint32_t l = 0; l < build->locations; l++)
			write_block(&o, l, k);
		if (build->trace)
			continue;
		while ((e = sorter_peek(&build->messages)) != NULL && e->round == k)
			write_messages(&o, k);
		while ((m = sorter_peek(&build->members)) != NULL && m->round == k)
			write_instance(&o);
		write_settled(&o, k);
	}
	write_useful(build, &o.out);
	if (!build->trace)
		write_matching(build, &o.out);
	need_output(writer_end(&o.out));
}
