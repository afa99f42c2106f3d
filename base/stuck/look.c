/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the current state from the raw traces: the call that each rank is in, and the
 * communicators.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../stream/stream.h"
#include "../tool/hash_table.h"
#include "../tool/process.h"
#include "../tool/tool.h"
#include "look.h"

/* A process as it called MPI_Init. */
struct start {
	int32_t rank, ranks;
	int64_t pid;
	char *host, *program;
	struct open_call open;
	bool died;
	int64_t died_ns;
};

struct scan {
	struct look *look;
	struct reader *in;
	const char *file;
	struct rank *rank;		/* NULL before the message of kind rank */
	struct start start;		/* RANKS 0: the file has none */
};

static int64_t
number_of(const struct message *message, const char *key, int64_t absent)
{
	const msgpack_object *value = body_get(message, key);

	return value == NULL || value->type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    value->via.u64 > INT64_MAX ? absent : (int64_t)value->via.u64;
}

static const struct world *
world_of(struct scan *scan, uint64_t offset, uint64_t run, int32_t ranks)
{
	struct look *look = scan->look;
	struct world *world = look->worlds;

	for (size_t w = 0; w < look->world_count; w++, world++)
		if (world->run == run && world->ranks == ranks)
			return world;
	world = APPEND(look->worlds, look->world_count, look->world_capacity);
	*world = (struct world){ run, look->rank_count, ranks, scan->file, offset };
	look->rank_count += ranks;
	look->ranks = need(realloc(look->ranks, (size_t)look->rank_count * sizeof *look->ranks));
	memset(&look->ranks[world->first], 0, (size_t)ranks * sizeof *look->ranks);
	for (int32_t r = world->first; r < look->rank_count; r++)
		look->ranks[r].world = (int32_t)look->world_count - 1;
	return world;
}

static void
take_rank(struct scan *scan, const struct message *message)
{
	int32_t rank, ranks;
	uint64_t run;

	if (body_int(scan->in, message, "ranks", 1, 1 << 24, &ranks) < 0 ||
	    body_int(scan->in, message, "rank", 0, ranks - 1, &rank) < 0 ||
	    body_uint(scan->in, message, "run", &run) < 0)
		die_input(scan->in);
	rank += world_of(scan, message->offset, run, ranks)->first;
	scan->rank = &scan->look->ranks[rank];
	scan->rank->ended = scan->rank->died = false;
	if (number_of(message, "segment", 0) > 0)
		return;
	scan->rank->pid = number_of(message, "pid", 0);
	scan->rank->host = body_string(message, "host");
	scan->rank->program = body_string(message, "program");
	scan->rank->life = REMOTE;
}

static void
take_start(struct scan *scan, const struct message *message)
{
	struct start *start = &scan->start;

	if (body_int(scan->in, message, "ranks", 1, 1 << 24, &start->ranks) < 0 ||
	    body_int(scan->in, message, "rank", 0, start->ranks - 1, &start->rank) < 0)
		die_input(scan->in);
	free(start->host);		/* MPI_Init has failed before */
	free(start->program);
	start->pid = number_of(message, "pid", 0);
	start->host = body_string(message, "host");
	start->program = body_string(message, "program");
	start->open = (struct open_call){ .call = (uint32_t)number_of(message, "call", 0),
		.enter_ns = number_of(message, "enter", 0), .peer = NO_PEER, .tag = NO_TAG,
		.thread = (uint32_t)start->pid };
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
		const struct thread thread = { .rank = (int32_t)(rank - scan->look->ranks),
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

/* Names of calls by their numbers in any stream: all ranks of a run use the same numbers. */
static void
keep_names(struct scan *scan)
{
	const uint16_t *names = reader_calls(scan->in);

	for (size_t i = 0; i <= UINT16_MAX; i++)
		if (names[i] != 0)
			scan->look->names[i] = names[i];
}

/* A trace that does not say its rank is of the first MPI_COMM_WORLD, if that lacks the rank. */
static void
place_start(struct scan *scan, struct start *start)
{
	struct look *look = scan->look;
	const struct world *world = look->world_count > 0 ? look->worlds :
	    world_of(scan, 0, 0, start->ranks);
	struct rank *rank;

	if (world->ranks != start->ranks || look->ranks[start->rank].life != ABSENT)
		return;
	scan->rank = rank = &look->ranks[start->rank];
	rank->life = REMOTE;
	rank->pid = start->pid;
	rank->host = start->host;
	rank->program = start->program;
	start->host = start->program = NULL;
}

/* Behind the last message of a trace: there may be another one in the file. */
static void
end_trace(struct scan *scan)
{
	struct start start = scan->start;

	scan->start = (struct start){ 0 };
	if (start.ranks > 0) {
		scan->look->starting = true;
		if (scan->rank == NULL)
			place_start(scan, &start);
		/* until its first row, a rank is in MPI_Init */
		if (scan->rank != NULL && scan->rank->thread_count == 0)
			thread_of(scan, 0)->open = start.open;
	}
	if (scan->rank != NULL && start.died) {
		scan->rank->died = true;
		scan->rank->died_ns = start.died_ns;
	}
	free(start.host);
	free(start.program);
}

static void
take(struct scan *scan, const struct message *message)
{
	struct rank *rank = scan->rank;
	struct module module;
	int read = 0;

	if (is_kind(message, "longpole")) {
		end_trace(scan);
		scan->rank = NULL;
	} else if (is_kind(message, "rank"))
		take_rank(scan, message);
	else if (is_kind(message, "starts"))
		take_start(scan, message);
	else if (is_kind(message, "died")) {
		scan->start.died = true;
		scan->start.died_ns = number_of(message, "at_ns", 0);
	} else if (rank == NULL)
		return;
	else if (is_kind(message, "calls"))
		take_block(scan, message);
	else if (is_kind(message, "open"))
		take_open(message, thread_of(scan, number_of(message, "location", -1)));
	else if (is_kind(message, "communicator"))
		read = membership_read(APPEND(rank->comms, rank->comm_count, rank->comm_capacity),
		    scan->in, message);
	else if (is_kind(message, "neighbours"))
		read = neighbours_read(rank->comm_count > 0 ? &rank->comms[rank->comm_count - 1] :
		    NULL, scan->in, message);
	else if (is_kind(message, "kernel_clock"))
		read = kernel_clock_read(APPEND(rank->kernels, rank->kernel_count,
		    rank->kernel_capacity), scan->in, message);
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
	if (read < 0)
		die_input(scan->in);
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
	if (scan->in != NULL)
		reader_leave(scan->in);
	if ((scan->in != NULL ? reader_go_on(scan->in, file) :
	    reader_open(&scan->in, file, READ_SKIMMING)) < 0) {
		if (access(file, F_OK) == 0 || errno != ENOENT)
			die_input(scan->in);
		keep_names(scan);		/* by now the trace has its name */
		reader_close(scan->in);
		scan->in = NULL;
		return;
	}
	/* In a folder a file has one trace, and its unwritten space may be large. */
	while ((got = reader_next(scan->in, &message)) > 0 &&
	    !(scan->look->live && is_kind(&message, "cut")))
		take(scan, &message);
	end_trace(scan);
	if (got < 0)
		stop_reading(scan);
}

static void
finish_ranks(struct look *look)
{
	bool here = false;
	int64_t last_ns = INT64_MIN, died_ns = 0;

	find_outside(look);
	for (int32_t r = 0; r < look->rank_count; r++) {
		struct rank *rank = &look->ranks[r];

		if (rank->life == REMOTE)
			process_look(look, rank);
		here |= rank->life == ALIVE;
		look->elsewhere |= rank->life == REMOTE;
		/* Threads with regions that make no calls. Those before one with calls stay. */
		while (rank->thread_count > 1 &&
		    rank->threads[rank->thread_count - 1].rows == 0 &&
		    rank->threads[rank->thread_count - 1].open.call == 0)
			free(rank->threads[--rank->thread_count].blocks);
		died_ns = rank->died_ns > died_ns ? rank->died_ns : died_ns;
		for (size_t t = 0; t < rank->thread_count; t++) {
			struct thread *thread = &rank->threads[t];
			bool in_call;

			thread->call = thread->open.call <= UINT16_MAX ?
			    look->names[thread->open.call] : 0;
			in_call = thread->call != 0;
			thread->since_ns = rows_last(look, thread,
			    rank->life == DEAD ? STILL_NS : 0);
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

/* A world that has met no other is another run, unless it may still meet one. */
static void
check_worlds(const struct look *look)
{
	for (size_t w = 1; w < look->world_count; w++) {
		const struct world *world = &look->worlds[w];
		bool may = false;

		for (int32_t r = world->first; r < world->first + world->ranks && !may; r++) {
			const struct rank *rank = &look->ranks[r];

			may = rank->life == ALIVE || rank->life == REMOTE;
			for (size_t i = 0; i < rank->comm_count; i++)
				may |= rank->comms[i].met != NULL;
		}
		if (!may)
			die("%s:%llu: of another run than %s", world->file,
			    (unsigned long long)world->offset, look->worlds->file);
	}
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
	members_join(look);
	if (scan.in != NULL)
		keep_names(&scan);
	finish_ranks(look);
	check_worlds(look);
	reader_close(scan.in);
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
		for (size_t m = 0; m < rank->module_count; m++) {
			free(rank->modules[m].module.path);
			free(rank->modules[m].module.function);
		}
		for (size_t m = 0; m < rank->comm_count; m++) {
			free(rank->comms[m].sources);
			free(rank->comms[m].met);
			free(rank->comms[m].type);
		}
		free(rank->threads);
		free(rank->sites);
		free(rank->modules);
		free(rank->members);
		free(rank->comms);
		free(rank->kernels);
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
	free(look->worlds);
	*look = (struct look){ 0 };
}
