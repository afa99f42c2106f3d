/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph while it is read: rows by location, edges by the round in which they will be written. */
#include <stdlib.h>
#include <string.h>

#include "import.h"

enum { BLOCK = 4096 };		/* rows of a location in a round, at most */
enum { IN_FLIGHT = 1 << 18, FEWEST = 64 };	/* rows of all ranks in a round, as far as blocks stay worth it */

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

/* Of a rank, and of a location among these. */
ORDER(by_time, struct build_call, BY(comm) BY(rank) BY(at_ns) BY(location) BY(seq))

void
build_begin(struct build *build, uint32_t ranks, const int32_t *further)
{
	memset(build, 0, sizeof *build);
	build->ranks = build->locations = ranks;
	for (uint32_t r = 0; r < ranks && further != NULL; r++)
		for (int32_t t = 0; t < further[r]; t++) {
			uint32_t at = build->locations++ - ranks;

			build->threads = grow(build->threads, &build->thread_capacity, at + (size_t)1,
			    sizeof *build->threads);
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

/* What of a row differs from BUILD_ROW is put behind its call, in this order. */
enum { COMM = 1, REQUEST = 2, PEER = 4, TAG = 8, SENT = 16, RECEIVED = 32, LASTS = 64, SITE = 128, BITS = 8 };

uint64_t
build_row(struct build *build, uint32_t location, const struct build_row *row)
{
	struct build_location *of = &build->of[location];
	struct spill *to = &build->rows;
	unsigned has = (row->comm != 0) * COMM | (row->request != 0) * REQUEST | (row->peer != NO_PEER) * PEER |
	    (row->tag != NO_TAG) * TAG | (row->bytes_sent != 0) * SENT |
	    (row->bytes_received != 0) * RECEIVED | (row->leave_ns != row->enter_ns) * LASTS |
	    (row->site != 0) * SITE;

	spill_put(to, location, (uint64_t)row->call << BITS | has);
	spill_put(to, location, fold_sign(row->enter_ns - of->enter_ns));
	if (has & LASTS)
		spill_put(to, location, fold_sign(row->leave_ns - row->enter_ns));
	if (has & COMM)
		spill_put(to, location, row->comm);
	if (has & REQUEST)
		spill_put(to, location, row->request);
	if (has & PEER)
		spill_put(to, location, fold_sign(row->peer));
	if (has & TAG)
		spill_put(to, location, fold_sign(row->tag));
	if (has & SENT)
		spill_put(to, location, row->bytes_sent);
	if (has & RECEIVED)
		spill_put(to, location, row->bytes_received);
	if (has & SITE)
		spill_put(to, location, row->site);
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
	*part = spill_next(&build->rows, location) >> BITS == 0;
	return true;
}

void
build_take(struct build *build, uint32_t location, struct build_row *row)
{
	struct spill *from = &build->rows;
	uint64_t first = spill_take(from, location);

	*row = BUILD_ROW;
	row->call = (uint16_t)(first >> BITS);
	row->enter_ns = build->of[location].enter_ns += unfold_sign(spill_take(from, location));
	row->leave_ns = row->enter_ns;
	if (first & LASTS)
		row->leave_ns += unfold_sign(spill_take(from, location));
	if (first & COMM)
		row->comm = (uint32_t)spill_take(from, location);
	if (first & REQUEST)
		row->request = (uint32_t)spill_take(from, location);
	if (first & PEER)
		row->peer = (int32_t)unfold_sign(spill_take(from, location));
	if (first & TAG)
		row->tag = (int32_t)unfold_sign(spill_take(from, location));
	if (first & SENT)
		row->bytes_sent = spill_take(from, location);
	if (first & RECEIVED)
		row->bytes_received = spill_take(from, location);
	if (first & SITE)
		row->site = (uint32_t)spill_take(from, location);
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
	struct build_edge edge = { build_round(build, build_round(build, 0, send), receive), number, send,
	    receive, source, target };

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
	build->comm_members += (uint64_t)size;
	return (uint32_t)build->comm_count++;
}
