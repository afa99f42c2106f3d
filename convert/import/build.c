/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph in memory: rows, and the edges between them. */
#include <stdlib.h>
#include <string.h>

#include "import.h"

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
	build->ranks = build->locations = ranks;
	build->rows = grow(NULL, &build->row_capacity, ranks, sizeof *build->rows);
	memset(build->rows, 0, ranks * sizeof *build->rows);
	build->used = zalloc(UINT16_MAX + 1, sizeof *build->used);
	build->comms = grow(NULL, &build->comm_capacity, 3, sizeof *build->comms);
	build->comm_count = 3;
	for (uint32_t r = 0; r < ranks; r++)
		build->rows[r].location = r;
}

uint32_t
build_thread(struct build *build, uint32_t rank, uint32_t thread)
{
	uint32_t location = build->locations++, further = location - build->ranks;

	build->rows = grow(build->rows, &build->row_capacity, location + (size_t)1, sizeof *build->rows);
	memset(&build->rows[location], 0, sizeof *build->rows);
	build->rows[location].location = location;
	build->threads = grow(build->threads, &build->thread_capacity, further + (size_t)1,
	    sizeof *build->threads);
	build->threads[further] = (struct build_thread){ rank, thread };
	return location;
}

uint64_t
build_row(struct build *build, uint32_t location, const struct build_row *row)
{
	struct calls *to = &build->rows[location];
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
build_member(struct build *build, uint32_t location, uint64_t seq)
{
	build->member_location = grow(build->member_location, &build->member_capacity,
	    build->member_count + 1, sizeof *build->member_location);
	build->member_seq = grow(build->member_seq, &build->member_seq_capacity,
	    build->member_count + 1, sizeof *build->member_seq);
	build->member_location[build->member_count] = location;
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
	if (a->location != b->location && a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	if (a->location != b->location)
		return a->location < b->location ? -1 : 1;
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
				build->rows[all[k].location].peer[all[k].seq] = root;
			build_member(build, all[k].location, all[k].seq);
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
