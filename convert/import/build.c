/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph being read: rows by location, edges by the round in which they will be written. */
#include <stdlib.h>
#include <string.h>

#include "../../base/mpi/paraver.h"
#include "../../base/stream/samples.h"
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

uint16_t
build_event(const struct build *build, int64_t type, int64_t value)
{
	char name[48];

	if (value >= 0 && value < 256 && build->events[type - PARAVER_TYPE][value] != 0)
		return build->events[type - PARAVER_TYPE][value];
	snprintf(name, sizeof name, "MPI event %lld:%lld", (long long)type, (long long)value);
	return build_call(name);
}

/* ---- regions of the user ---- */

/* In memory, 12 bytes each, until they are written before the calls of their location. */

enum { MANY = 1 << 16 };		/* in a message */

struct build_regions {
	struct samples events;
	size_t begin;			/* those before are written */
	uint32_t open;
	uint64_t left;			/* ends that the archive lacks */
};

void
build_region(struct build *build, uint32_t location, int64_t at_ns, uint32_t region)
{
	struct build_regions *of = &build->regions[location];
	struct samples *events = &of->events;
	const size_t i = events->count;

	if (region == 0 && of->open == 0)
		return;
	events->regions = true;
	need_memory(samples_reserve(events, i + 1));
	events->time_ns[i] = i > 0 ? larger(at_ns, events->time_ns[i - 1]) : at_ns;
	events->region[i] = (int32_t)region;
	events->count++;
	of->open = region > 0 ? of->open + 1 : of->open - 1;
}

void
build_regions_end(struct build *build)
{
	for (uint32_t l = 0; l < build->locations; l++) {
		struct build_regions *of = &build->regions[l];

		for (size_t i = of->events.count; i-- > 0 &&
		    of->events.time_ns[i] > build->run_ns; )
			of->events.time_ns[i] = build->run_ns;
		of->left = of->open;
		while (of->open > 0)
			build_region(build, l, build->run_ns, 0);
	}
}

static void
write_events(struct build_regions *of, struct writer *out, uint32_t location, uint32_t worker,
    int64_t until_ns)
{
	while (of->begin < of->events.count && of->events.time_ns[of->begin] < until_ns) {
		struct samples part = of->events;
		size_t end = of->begin;

		while (end < part.count && end - of->begin < MANY && part.time_ns[end] < until_ns)
			end++;
		if (end == part.count)
			part.left = of->left;
		samples_skip(&part, of->begin);
		part.count = end - of->begin;
		part.from_ns = INT64_MIN;
		part.location = location;
		part.worker = worker;
		need_output(samples_write(out, &part));
		of->begin = end;
	}
}

void
build_regions_before(struct build *build, struct writer *out, uint32_t location, int64_t until_ns)
{
	write_events(&build->regions[location], out, location, 0, until_ns);
	for (uint32_t l = build->ranks; location < build->ranks && l < build->locations; l++)
		if (build->of[l].rank == location && build->of[l].rows == 0)
			write_events(&build->regions[l], out, location, l, until_ns);
}

ORDER(by_round, struct build_edge, BY(round) BY(number))
ORDER(by_member, struct build_member, BY(round) BY(number))
ORDER(by_begin, struct build_end, BY(begin) BY(location) BY(seq) BY(round))
ORDER(by_row, struct build_patch, BY(round) BY(location) BY(seq))

/* Of a channel, by member; then by number. */
ORDER(by_member_of, struct build_call, BY(channel[0]) BY(channel[1]) BY(member) BY(at) BY(location)
    BY(seq))
ORDER(by_index, struct build_call, BY(channel[0]) BY(channel[1]) BY(index) BY(member))

void
build_begin(struct build *build, uint32_t ranks, const uint32_t *rank_of, uint32_t further)
{
	uint32_t *threads = zalloc(ranks, sizeof *threads);

	memset(build, 0, sizeof *build);
	build->ranks = ranks;
	build->locations = ranks + further;
	build->of = zalloc(build->locations, sizeof *build->of);
	for (uint32_t l = 0; l < build->locations; l++) {
		build->of[l].rank = l < ranks ? l : rank_of[l - ranks];
		build->of[l].thread = threads[build->of[l].rank]++;
	}
	free(threads);
	build->round_rows = (size_t)larger(FEWEST, smaller(BLOCK, IN_FLIGHT / build->locations));
	spill_begin(&build->rows, build->locations);
	build->regions = zalloc(build->locations, sizeof *build->regions);
	build->used = zalloc(UINT16_MAX + 1, sizeof *build->used);
	build->comm_count = 3;
	build->comms = grow_zeroed(NULL, &build->comm_capacity, 3, sizeof *build->comms);
#define PARAVER_CALL(type, value, name) build->events[type][value] = build_call(name);
	PARAVER_CALLS
#undef PARAVER_CALL
	sorter_begin(&build->messages, sizeof(struct build_edge), by_round);
	sorter_begin(&build->members, sizeof(struct build_member), by_member);
	sorter_begin(&build->open_ends, sizeof(struct build_end), by_begin);
	sorter_begin(&build->patches, sizeof(struct build_patch), by_row);
	sorter_begin(&build->calls, sizeof(struct build_call), by_member_of);
	sorter_begin(&build->sides, sizeof(struct build_call), by_member_of);
}

_Static_assert(sizeof(struct call_row) % 8 == 0, "spill_put_record takes whole words");

uint64_t
build_row(struct build *build, uint32_t location, const struct call_row *row)
{
	struct build_location *of = &build->of[location];
	struct call_row kept;

	memset(&kept, 0, sizeof kept);	/* its gaps, too: it is written as it lies in memory */
#define X(field, ...) kept.field = row->field;
	CALL_FIELDS(X)
#undef X
	spill_put(&build->rows, location, row->call == 0);
	spill_put_record(&build->rows, location, &of->row, &kept, sizeof kept);
	build->run_ns = larger(build->run_ns, row->leave_ns);
	if (row->call != 0)
		of->head = of->rows;
	build->used[row->call] = true;
	return of->rows++;
}

void
build_patch(struct build *build, const struct build_patch *patch)
{
	struct build_patch set = *patch;

	set.round = set.head / build->round_rows;
	sorter_add(&build->patches, &set);
}

static void
put_end(struct build *build, uint32_t location, uint64_t seq, uint64_t round)
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
	put_end(build, source, send, edge.round);
	put_end(build, target, receive, edge.round);
	build->message_count++;
}

void
build_comm(struct build *build, const struct source *text, char *at, int64_t base)
{
	const int64_t id = text_integer(text, &at, base, 1 << 24);
	struct communicator comm = { .size = 0 };
	bool world;

	if ((uint64_t)id > text->next)	/* each has a line */
		die_text(text, "the number of a communicator is out of range");
	if (!text_allows(text, build->comm_members, sizeof *comm.members) ||
	    !text_allows(text, build->comm_count + (uint64_t)id, sizeof(struct communicator)))
		die_text(text, "too many communicators");
	comm.size = (int32_t)text_integer(text, &at, 1, build->ranks);
	comm.members = zalloc((size_t)comm.size, sizeof *comm.members);
	world = comm.size == (int32_t)build->ranks;
	for (int32_t i = 0; i < comm.size; i++) {
		comm.members[i] = (int32_t)(text_integer(text, &at, base,
		    build->ranks - 1 + base) - base);
		world &= comm.members[i] == i;
	}
	text_end(text, at);
	*AT(build->ids, build->id_capacity, id) = world ? 1 : (uint32_t)build->comm_count;
	if (world) {
		free(build->comms[1].members);
		build->comms[1] = comm;
	} else {
		*APPEND(build->comms, build->comm_count, build->comm_capacity) = comm;
		build->comm_members += (uint64_t)comm.size;
	}
}

/* ---- calls of all members of a channel, joined in the order of their numbers ---- */

/* Numbers the calls of each member of each channel. */
static void
number_calls(struct sorter *calls, struct sorter *numbered)
{
	struct build_call last = { 0 }, call;
	const void *next;
	bool any = false;

	sorter_begin(numbered, sizeof call, by_index);
	sorter_sort(calls);
	for (; (next = sorter_peek(calls)) != NULL; sorter_drop(calls), any = true) {
		call = *(const struct build_call *)next;
		call.index = any && call.channel[0] == last.channel[0] &&
		    call.channel[1] == last.channel[1] && call.member == last.member ?
		    last.index + 1 : 0;
		sorter_add(numbered, &call);
		last = call;
	}
	sorter_free(calls);
	sorter_sort(numbered);
}

/* The sides of a message: a send, a receive, or both. */
static void
put_sides(struct build *build, const struct build_call *first, const struct build_call *last)
{
	if (first->member != SEND_SIDE || first->seq == NOWHERE)
		build->unmatched_receives++;
	else if (last->member != RECEIVE_SIDE || last->seq == NOWHERE)
		build->unmatched_sends++;
	else
		build_message(build, build->message_count, first->location, first->seq,
		    last->location, last->seq);
}

static void
put_instance(struct build *build, const struct build_call *calls, size_t count)
{
	int32_t root = NO_PEER;
	uint64_t round = 0;

	if (count < calls[0].size) {
		build->unmatched_collectives++;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		round = build_round(build, round, calls[i].seq);
		if (calls[i].root)
			root = (int32_t)i;
	}
	for (size_t i = 0; i < count; i++) {
		struct build_member member = { round, build->member_count++, build->instance_count,
		    calls[i].seq, calls[i].location };

		sorter_add(&build->members, &member);
		put_end(build, calls[i].location, calls[i].seq, round);
		if (root != NO_PEER)
			build_patch(build, &(struct build_patch){ .head = calls[i].seq,
			    .seq = calls[i].seq, .location = calls[i].location,
			    .known = 1 << KNOWN_peer, .row.peer = root });
	}
	build->instance_count++;
}

void
build_match(struct build *build, struct sorter *from, bool several)
{
	const bool sides = from == &build->sides;
	struct sorter numbered;
	const struct build_call *next;
	struct build_call *calls = NULL;
	size_t count = 0, capacity = 0;

	if (several) {
		number_calls(from, &numbered);
		from = &numbered;
	} else
		sorter_sort(from);
	for (next = sorter_peek(from); next != NULL; ) {
		*APPEND(calls, count, capacity) = *next;
		sorter_drop(from);
		next = sorter_peek(from);
		if (next != NULL && next->channel[0] == calls[0].channel[0] &&
		    next->channel[1] == calls[0].channel[1] && next->index == calls[0].index)
			continue;
		if (sides)
			put_sides(build, calls, &calls[count - 1]);
		else
			put_instance(build, calls, count);
		count = 0;
	}
	free(calls);
	sorter_free(from);
}
