/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the current state from the raw traces: the call that each rank is in, and the
 * communicators.
 */
#include <stdlib.h>
#include <string.h>

#include "../stream/stream.h"
#include "../tool/hash_table.h"
#include "../tool/process.h"
#include "../tool/tool.h"
#include "look.h"

/* A communicator as one rank defines it. */
struct definition {
	uint64_t id;
	int32_t rank, own, size, remote_size;
	uint32_t comm;
	int side;
	int32_t *sources;
	uint32_t source_count;
};

struct scan {
	struct look *look;
	struct reader *in;
	const char *file;
	struct rank *rank;		/* NULL before the message of kind rank */
	int32_t number;
	struct definition *definitions;
	size_t definition_count, definition_capacity;
};

static int64_t
number_of(const struct message *message, const char *key, int64_t absent)
{
	const msgpack_object *value = body_get(message, key);

	return value == NULL || value->type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    value->via.u64 > INT64_MAX ? absent : (int64_t)value->via.u64;
}

static void
take_rank(struct scan *scan, const struct message *message)
{
	struct look *look = scan->look;
	int32_t rank, ranks;
	uint64_t run;

	if (body_int(scan->in, message, "ranks", 1, 1 << 24, &ranks) < 0 ||
	    body_int(scan->in, message, "rank", 0, ranks - 1, &rank) < 0 ||
	    body_uint(scan->in, message, "run", &run) < 0)
		die_input(scan->in);
	if (look->rank_count == 0) {
		look->rank_count = ranks;
		look->run = run;
		look->ranks = zalloc((size_t)ranks, sizeof *look->ranks);
	} else if (ranks != look->rank_count || run != look->run) {
		reader_fail(scan->in, message->offset, "of another run than the traces before");
		die_input(scan->in);
	}
	scan->rank = &look->ranks[rank];
	scan->number = rank;
	scan->rank->ended = scan->rank->died = false;
	if (number_of(message, "segment", 0) > 0)
		return;
	scan->rank->pid = number_of(message, "pid", 0);
	scan->rank->host = body_string(message, "host");
	scan->rank->program = body_string(message, "program");
	scan->rank->life = REMOTE;
}

static struct thread *
thread_of(struct scan *scan, int64_t location)
{
	struct rank *rank = scan->rank;

	if (location < 0 || location > 1 << 16) {
		reader_fail(scan->in, 0, "a location that is out of range");
		die_input(scan->in);
	}
	while (rank->thread_count <= (size_t)location) {
		const struct thread thread = { .rank = scan->number,
		    .location = (uint32_t)rank->thread_count };

		*APPEND(rank->threads, rank->thread_count, rank->thread_capacity) = thread;
	}
	return &rank->threads[location];
}

static void
take_open(const struct message *message, struct thread *thread)
{
	const struct open_call *open = open_call_of(message);

	thread->open = open != NULL ? *open : (struct open_call){ 0 };
	if (thread->open.kept > OPEN_REQUESTS)
		thread->open.kept = OPEN_REQUESTS;
}

static void
take_block(struct scan *scan, const struct message *message)
{
	struct thread *thread = thread_of(scan, number_of(message, "location", -1));
	const struct block block = { .file = scan->file, .offset = message->offset,
	    .first = (uint64_t)number_of(message, "first", 0),
	    .count = (uint64_t)number_of(message, "count", 0) };

	*APPEND(thread->blocks, thread->block_count, thread->block_capacity) = block;
	thread->rows = block.first + block.count;
	if (body_get(message, "open") != NULL)
		take_open(message, thread);
}

static void
take_communicator(struct scan *scan, const struct message *message)
{
	struct definition d = { .own = scan->number,
	    .comm = (uint32_t)number_of(message, "comm", 0),
	    .rank = (int32_t)number_of(message, "rank", -1),
	    .size = (int32_t)number_of(message, "size", 0),
	    .remote_size = (int32_t)number_of(message, "remote_size", 0),
	    .side = number_of(message, "side", 0) > 0 };
	const int64_t from = number_of(message, "from", 0);

	if (d.comm < 3 || body_uint(scan->in, message, "id", &d.id) < 0 || d.size < 1 ||
	    d.size > 1 << 24 || d.remote_size > 1 << 24)
		return;
	/* An object from a meeting with another MPI_COMM_WORLD has an id of that meeting. */
	for (size_t i = scan->definition_count; i-- > 0 && from > 0; )
		if (scan->definitions[i].own == d.own && scan->definitions[i].comm == from) {
			d.id = mix(scan->definitions[i].id, d.id);
			break;
		}
	*APPEND(scan->definitions, scan->definition_count, scan->definition_capacity) = d;
}

/* It follows the communicator's definition. */
static void
take_neighbours(struct scan *scan, const struct message *message)
{
	struct definition *d = scan->definition_count == 0 ? NULL :
	    &scan->definitions[scan->definition_count - 1];
	size_t count;

	if (d == NULL || d->own != scan->number || d->comm != number_of(message, "comm", 0) ||
	    d->sources != NULL ||
	    body_count(scan->in, message, "count", 0, 1 << 24, "sources", &count) < 0)
		return;
	d->sources = zalloc(count + 1, sizeof *d->sources);
	if (body_column(scan->in, message, "sources", count, d->sources) < 0)
		die_input(scan->in);
	d->source_count = (uint32_t)count;
}

static void
take(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	struct module module;

	if (is_kind(message, "longpole"))
		scan->rank = NULL;
	else if (is_kind(message, "rank"))
		take_rank(scan, message);
	else if (rank == NULL)
		return;
	else if (is_kind(message, "calls"))
		take_block(scan, message);
	else if (is_kind(message, "open"))
		take_open(message, thread_of(scan, number_of(message, "location", -1)));
	else if (is_kind(message, "communicator"))
		take_communicator(scan, message);
	else if (is_kind(message, "neighbours"))
		take_neighbours(scan, message);
	else if (is_kind(message, "site") && body_get(message, "address") != NULL)
		*APPEND(rank->sites, rank->site_count, rank->site_capacity) = (struct site_place){
		    (uint64_t)number_of(message, "address", 0),
		    (uint32_t)number_of(message, "site", 0) };
	else if (is_kind(message, "module") && module_read(&module, message))
		*APPEND(rank->modules, rank->module_count, rank->module_capacity) =
		    (struct module_place){ module, (uint64_t)number_of(message, "base", 0),
		    (uint64_t)number_of(message, "bytes", 0) };
	else if (is_kind(message, "end"))
		rank->ended = body_get(message, "more") == NULL;
	else if (is_kind(message, "died")) {
		rank->died = true;
		rank->died_ns = number_of(message, "at_ns", 0);
	}
}

/* Names of calls by their numbers in any stream: all ranks of a run use the same numbers. */
static void
keep_names(struct scan *scan)
{
	const uint16_t *names = reader_calls(scan->in);

	for (size_t i = 0; i <= UINT16_MAX; i++)
		if (names[i] != 0)
			scan->look->names[i] = names[i];
}

/*
 * The first byte of a block is written last: a block that a living rank is writing looks damaged.
 */
static void
stop_reading(struct scan *scan)
{
	if (scan->rank == NULL || scan->rank->life == ABSENT)
		die_input(scan->in);
	process_look(scan->look, scan->rank);
	if (scan->rank->life == DEAD || scan->rank->life == ENDED)
		die_input(scan->in);
	scan->rank->life = REMOTE;
	keep_names(scan);
	reader_close(scan->in);
	scan->in = NULL;
}

static void
read_file(struct scan *scan, const char *file)
{
	struct message message;
	int got;

	scan->file = file;
	scan->rank = NULL;
	if (scan->in == NULL) {
		if (reader_open(&scan->in, file, READ_SKIMMING) < 0)
			die_input(scan->in);
	} else {
		reader_leave(scan->in);
		if (reader_go_on(scan->in, file) < 0)
			die_input(scan->in);
	}
	/* In a folder a file has one trace, and its unwritten space may be large. */
	while ((got = reader_next(scan->in, &message)) > 0 &&
	    !(scan->look->live && is_kind(&message, "cut")))
		take(scan, &message);
	if (got < 0)
		stop_reading(scan);
}

ORDER(by_id, struct definition, BY(id) BY(own))

static uint32_t
add_group(struct look *look, const struct definition *d)
{
	const bool other = d->side == 1 && d->remote_size > 0;
	const int32_t sizes[2] = { other ? d->remote_size : d->size, other ? d->size :
	    d->remote_size };
	struct group group = { .id = d->id, .size = sizes[0], .remote_size = sizes[1] };

	for (int side = 0; side < 2; side++) {
		group.of[side] = zalloc((size_t)sizes[side] + 1, sizeof *group.of[side]);
		for (int32_t i = 0; i < sizes[side]; i++)
			group.of[side][i] = -1;
	}
	*APPEND(look->groups, look->group_count, look->group_capacity) = group;
	return (uint32_t)look->group_count - 1;
}

static void
set_member(struct look *look, const struct definition *d, uint32_t group)
{
	struct rank *rank = &look->ranks[d->own];

	while (rank->member_count <= d->comm)
		*APPEND(rank->members, rank->member_count, rank->member_capacity) =
		    (struct member){ .rank = -1 };
	rank->members[d->comm] = (struct member){ group, d->rank, d->remote_size > 0 ? d->side : 0,
		d->sources, d->source_count };
	if (group > 2 && d->rank >= 0 && d->rank < d->size)
		look->groups[group].of[rank->members[d->comm].side][d->rank] = d->own;
}

static void
join_communicators(struct scan *scan)
{
	struct look *look = scan->look;
	uint32_t group = 0;

	for (int i = 0; i < 3; i++)
		add_group(look, &(struct definition){ .size = 0 });
	look->groups[1].size = look->rank_count;
	for (int32_t r = 0; r < look->rank_count; r++) {
		set_member(look, &(struct definition){ .own = r, .comm = 1, .rank = r,
		    .size = look->rank_count }, 1);
		set_member(look,
		    &(struct definition){ .own = r, .comm = 2, .rank = 0, .size = 1 }, 2);
	}
	qsort(scan->definitions, scan->definition_count, sizeof *scan->definitions, by_id);
	for (size_t i = 0; i < scan->definition_count; i++) {
		const struct definition *d = &scan->definitions[i];

		if (i == 0 || d->id != d[-1].id)
			group = add_group(look, d);
		else if (d->size + d->remote_size != look->groups[group].size +
		    look->groups[group].remote_size)
			continue;
		set_member(look, d, group);
	}
}

/* Threads that have regions, but make no calls. Those before a thread with calls stay. */
static void
forget_workers(struct rank *rank)
{
	const struct thread *last = &rank->threads[rank->thread_count - 1];

	for (; rank->thread_count > 1 && last->rows == 0 && last->open.call == 0; last--) {
		free(last->blocks);
		rank->thread_count--;
	}
}

static void
finish_ranks(struct look *look, const uint16_t *names)
{
	bool here = false;
	int64_t last_ns = INT64_MIN, died_ns = 0;

	for (int32_t r = 0; r < look->rank_count; r++) {
		struct rank *rank = &look->ranks[r];

		if (rank->life == REMOTE)
			process_look(look, rank);
		here |= rank->life == ALIVE;
		look->elsewhere |= rank->life == REMOTE;
		if (rank->thread_count > 0)
			forget_workers(rank);
		died_ns = rank->died_ns > died_ns ? rank->died_ns : died_ns;
		for (size_t t = 0; t < rank->thread_count; t++) {
			struct thread *thread = &rank->threads[t];
			bool in_call;

			thread->call = thread->open.call <= UINT16_MAX ?
			    names[thread->open.call] : 0;
			in_call = thread->call != 0;
			thread->since_ns = rows_last(look, thread);
			if (in_call)
				thread->since_ns = thread->open.enter_ns;
			if (in_call && !call_polls(thread->call))
				thread->moved_ns = thread->open.enter_ns;
			look->rows += thread->rows;
			if (thread->since_ns > last_ns)
				last_ns = thread->since_ns;
		}
	}
	look->killed_ns = here ? 0 : died_ns;
	look->now_ns = here ? now_ns() : died_ns > 0 ? died_ns : last_ns;
	if (look->now_ns < last_ns)
		look->now_ns = last_ns;
}

void
look_read(struct look *look, char **files, size_t count, bool live,
    struct symbol_files *names_of)
{
	struct scan scan = { .look = look };

	*look = (struct look){ .names = zalloc((size_t)UINT16_MAX + 1, sizeof *look->names),
	    .live = live, .names_of = names_of };
	for (size_t i = 0; i < count; i++)
		read_file(&scan, files[i]);
	if (look->rank_count == 0)
		return;
	join_communicators(&scan);
	if (scan.in != NULL)
		keep_names(&scan);
	finish_ranks(look, look->names);
	reader_close(scan.in);
	free(scan.definitions);
}

void
look_free(struct look *look)
{
	for (int32_t r = 0; r < look->rank_count; r++) {
		struct rank *rank = &look->ranks[r];

		for (size_t t = 0; t < rank->thread_count; t++) {
			free(rank->threads[t].blocks);
			free(rank->threads[t].ops);
			calls_free(&rank->threads[t].calls);
		}
		for (size_t m = 0; m < rank->module_count; m++)
			free(rank->modules[m].module.path);
		for (size_t m = 0; m < rank->member_count; m++)
			free(rank->members[m].sources);
		free(rank->threads);
		free(rank->sites);
		free(rank->modules);
		free(rank->members);
		free(rank->host);
		free(rank->program);
	}
	for (size_t g = 0; g < look->group_count; g++) {
		free(look->groups[g].of[0]);
		free(look->groups[g].of[1]);
	}
	free(look->names);
	free(look->ranks);
	free(look->groups);
	*look = (struct look){ 0 };
}
