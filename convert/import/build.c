/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph being read: rows by location, edges by the round in which they will be written. */
#include <stdlib.h>
#include <string.h>

#include "import.h"

enum { BLOCK = 4096 };		/* rows of a location per round, at most */
/* rows of all ranks per round, as long as blocks are large enough */
enum { IN_FLIGHT = 1 << 18, FEWEST = 64 };

uint16_t
build_call(const char *name)
{
	int number = call_number(name);

	if (number < 0)
		die("too many functions");
	return (uint16_t)number;
}

ORDER(by_round, struct build_edge, BY(round) BY(number))
ORDER(by_member, struct build_member, BY(round) BY(number))
ORDER(by_begin, struct build_end, BY(begin) BY(location) BY(seq) BY(round))
ORDER(by_row, struct build_patch, BY(round) BY(location) BY(seq))

/* By rank, then by location within it. */
ORDER(by_time, struct build_call, BY(comm) BY(rank) BY(at_ns) BY(location) BY(seq))

void
build_begin(struct build *build, uint32_t ranks, const int32_t *further)
{
	memset(build, 0, sizeof *build);
	build->ranks = build->locations = ranks;
	for (uint32_t r = 0; r < ranks && further != NULL; r++)
		for (int32_t t = 0; t < further[r]; t++) {
			uint32_t at = build->locations++ - ranks;

			GROW(build->threads, build->thread_capacity, at + (size_t)1);
			build->threads[at] = (struct build_thread){ r, (uint32_t)t + 1 };
		}
	build->round_rows = IN_FLIGHT / build->locations;
	if (build->round_rows > BLOCK)
		build->round_rows = BLOCK;
	if (build->round_rows < FEWEST)
		build->round_rows = FEWEST;
	spill_begin(&build->rows, build->locations);
	build->of = zalloc(build->locations, sizeof *build->of);
	build->used = zalloc(UINT16_MAX + 1, sizeof *build->used);
	build->comms = grow(NULL, &build->comm_capacity, 3, sizeof *build->comms);
	build->comm_count = 3;
	sorter_begin(&build->messages, sizeof(struct build_edge), by_round);
	sorter_begin(&build->members, sizeof(struct build_member), by_member);
	sorter_begin(&build->open_ends, sizeof(struct build_end), by_begin);
	sorter_begin(&build->patches, sizeof(struct build_patch), by_row);
	sorter_begin(&build->called, sizeof(struct build_call), by_time);
}

/* Columns of a row that differ from CALL_ROW: bits below its call, before the values. */
enum {
	LASTS,			/* leave differs from enter */
#define X(field, key, type, is_signed, required, absent) HAS_##field,
	CALL_COLUMNS(X)
#undef X
	CALL_AT
};

uint64_t
build_row(struct build *build, uint32_t location, const struct call_row *row)
{
	struct build_location *of = &build->of[location];
	struct spill *to = &build->rows;
	unsigned has = (unsigned)(row->leave_ns != row->enter_ns) << LASTS;

#define X(field, key, type, is_signed, required, absent) \
	has |= (unsigned)(row->field != absent) << HAS_##field;
	CALL_COLUMNS(X)
#undef X
	has &= ~(1u << HAS_call);
	spill_put(to, location, (uint64_t)row->call << CALL_AT | has);
	spill_put(to, location, fold_sign(row->enter_ns - of->enter_ns));
	if (has >> LASTS & 1)
		spill_put(to, location, fold_sign(row->leave_ns - row->enter_ns));
#define X(field, key, type, is_signed, required, absent) \
	if (has >> HAS_##field & 1) \
		spill_put(to, location, is_signed ? fold_sign((int64_t)row->field) : \
		    (uint64_t)row->field);
	CALL_COLUMNS(X)
#undef X
	of->enter_ns = row->enter_ns;
	if (row->leave_ns > build->run_ns)
		build->run_ns = row->leave_ns;
	if (row->call != 0)
		of->head = of->rows;
	build->used[row->call] = true;
	return of->rows++;
}

bool
build_any(struct build *build, uint32_t location, bool *part)
{
	if (!spill_any(&build->rows, location))
		return false;
	*part = spill_next(&build->rows, location) >> CALL_AT == 0;
	return true;
}

void
build_take(struct build *build, uint32_t location, struct call_row *row)
{
	struct spill *from = &build->rows;
	const uint64_t has = spill_take(from, location);

	*row = CALL_ROW;
	row->call = (uint16_t)(has >> CALL_AT);
	row->enter_ns = build->of[location].enter_ns += unfold_sign(spill_take(from, location));
	row->leave_ns = row->enter_ns;
	if (has >> LASTS & 1)
		row->leave_ns += unfold_sign(spill_take(from, location));
#define X(field, key, type, is_signed, required, absent) \
	if (has >> HAS_##field & 1) { \
		const uint64_t value = spill_take(from, location); \
		row->field = (type)(is_signed ? (uint64_t)unfold_sign(value) : value); \
	}
	CALL_COLUMNS(X)
#undef X
}

void
build_patch(struct build *build, const struct build_patch *patch)
{
	struct build_patch set = *patch;

	set.round = set.head / build->round_rows;
	sorter_add(&build->patches, &set);
}

void
build_end(struct build *build, uint32_t location, uint64_t seq, uint64_t round)
{
	struct build_end end = { seq / build->round_rows, round, seq, location };

	if (end.begin < round)
		sorter_add(&build->open_ends, &end);
}

void
build_message(struct build *build, uint64_t number, uint32_t source, uint64_t send, uint32_t target,
    uint64_t receive)
{
	struct build_edge edge = { build_round(build, build_round(build, 0, send), receive), number,
	    send, receive, source, target };

	sorter_add(&build->messages, &edge);
	build_end(build, source, send, edge.round);
	build_end(build, target, receive, edge.round);
	build->message_count++;
}

void
build_called(struct build *build, const struct build_call *call)
{
	sorter_add(&build->called, call);
}

/* Finds or adds the communicator of these world ranks and takes over MEMBERS. */
static uint32_t
comm_number(struct build *build, int32_t *members, int32_t size)
{
	bool world = size == (int32_t)build->ranks;

	for (int32_t i = 0; i < size && world; i++)
		world = members[i] == i;
	if (world)
		return 1;
	GROW(build->comms, build->comm_capacity, build->comm_count + 1);
	build->comms[build->comm_count] = (struct build_comm){ members, size };
	build->comm_members += (uint64_t)size;
	return (uint32_t)build->comm_count++;
}

void
build_comm(struct build *build, const struct text *text, char *at, int64_t base)
{
	const int64_t id = text_integer(text, &at, base, 1 << 24);
	struct build_id *comm;

	if ((uint64_t)id > text->next)	/* each has a line */
		die_text(text, "the number of a communicator is out of range");
	if (!text_allows(text, build->comm_members, sizeof *comm->members) ||
	    !text_allows(text, build->comm_count + (uint64_t)id, sizeof(struct build_comm)))
		die_text(text, "too many communicators");
	comm = AT(build->ids, build->id_capacity, id);
	comm->size = (int32_t)text_integer(text, &at, 1, build->ranks);
	comm->members = zalloc((size_t)comm->size, sizeof *comm->members);
	for (int32_t i = 0; i < comm->size; i++)
		comm->members[i] = (int32_t)(text_integer(text, &at, base,
		    build->ranks - 1 + base) - base);
	text_end(text, at);
	comm->number = comm_number(build, comm->members, comm->size);
}

/* Joins calls of collectives into instances, with members in order of their ranks. */

ORDER(by_instance, struct build_call, BY(comm) BY(index) BY(rank))

/* Numbers the calls of each rank on each communicator. */
static void
number_calls(struct build *build, struct sorter *numbered)
{
	struct build_call last = { 0 }, call;
	const void *next;
	bool any = false;

	sorter_begin(numbered, sizeof call, by_instance);
	sorter_sort(&build->called);
	for (; (next = sorter_peek(&build->called)) != NULL;
	    sorter_drop(&build->called), any = true) {
		call = *(const struct build_call *)next;
		call.index = any && call.comm == last.comm && call.rank == last.rank ?
		    last.index + 1 : 0;
		sorter_add(numbered, &call);
		last = call;
	}
	sorter_free(&build->called);
	sorter_sort(numbered);
}

static void
put_instance(struct build *build, const struct build_call *calls, size_t count)
{
	int32_t root = NO_PEER;
	uint64_t round = 0;

	for (size_t i = 0; i < count; i++) {
		round = build_round(build, round, calls[i].seq);
		if (calls[i].root)
			root = (int32_t)i;
	}
	for (size_t i = 0; i < count; i++) {
		struct build_member member = { round, build->member_count++, build->instance_count,
		    calls[i].seq, calls[i].location };

		sorter_add(&build->members, &member);
		build_end(build, calls[i].location, calls[i].seq, round);
		if (root != NO_PEER)
			build_patch(build, &(struct build_patch){ .head = calls[i].seq,
			    .seq = calls[i].seq, .location = calls[i].location, .peer = root,
			    .peer_known = true });
	}
	build->instance_count++;
}

void
build_match(struct build *build)
{
	struct sorter numbered;
	const struct build_call *next;
	struct build_call *calls = NULL;
	size_t count = 0, capacity = 0;

	number_calls(build, &numbered);
	for (next = sorter_peek(&numbered); next != NULL; ) {
		*APPEND(calls, count, capacity) = *next;
		sorter_drop(&numbered);
		next = sorter_peek(&numbered);
		if (next != NULL && next->comm == calls[0].comm && next->index == calls[0].index)
			continue;
		if (count < (size_t)calls[0].size)
			build->unmatched_collectives++;
		else
			put_instance(build, calls, count);
		count = 0;
	}
	free(calls);
	sorter_free(&numbered);
}
