/* SPDX-License-Identifier: BSD-3-Clause */
#include "definitions.h"

#include <stdlib.h>
#include <string.h>

#include "../tool/text.h"
#include "../tool/tool.h"

static void
take_run(struct definitions *d, struct reader *in, const struct message *message)
{
	int32_t ranks;

	if (d->ranks > 0)
		die_message(in, message, "a second message of kind run");
	if (body_int(in, message, "ranks", 1, 1 << 24, &ranks) < 0 ||
	    body_int(in, message, "locations", ranks, 1 << 26, &d->location_count) < 0 ||
	    body_int(in, message, "run_ns", 0, INT64_MAX, &d->run_ns) < 0 ||
	    body_int_if(in, message, "date_s", 0, LAST_DATE_S, &d->headline.date_s) < 0)
		die_input(in);
	d->headline.ranks = d->ranks = ranks;
	d->location_rank = zalloc(d->location_count, sizeof *d->location_rank);
	d->location_thread = zalloc(d->location_count, sizeof *d->location_thread);
	for (uint32_t l = 0; l < d->location_count; l++)
		d->location_rank[l] = l < (uint32_t)ranks ? (int32_t)l : -1;
	GROW(d->comms, d->comm_capacity, 3);
	d->comms[0] = (struct communicator){ 0 };
	d->comms[1] = (struct communicator){ .size = d->ranks };
	d->comms[2] = (struct communicator){ .size = 1 };
	d->comm_count = 3;
}

static void
take_location(struct definitions *d, struct reader *in, const struct message *message)
{
	uint32_t location;

	if (body_int(in, message, "location", d->ranks, (int64_t)d->location_count - 1,
	    &location) < 0 ||
	    body_int(in, message, "rank", 0, d->ranks - 1, &d->location_rank[location]) < 0 ||
	    body_int(in, message, "thread", 1, UINT32_MAX, &d->location_thread[location]) < 0)
		die_input(in);
}

/* One of the two groups of a communicator; *OUTSIDE is increased by its members outside. */
static int32_t *
members(struct definitions *d, struct reader *in, const struct message *message,
    const char *size_key, const char *key, int32_t *size, int32_t *outside)
{
	int32_t *ranks;
	size_t count;

	if (body_count(in, message, size_key, 1, 1 << 24, key, &count) < 0)
		die_input(in);
	*size = (int32_t)count;
	ranks = zalloc(count, sizeof *ranks);
	if (body_column(in, message, key, count, ranks) < 0)
		die_input(in);
	for (size_t i = 0; i < count; i++) {
		if (ranks[i] < -2 || ranks[i] >= d->ranks)
			die_message(in, message, "communicator: %s is out of range", key);
		*outside += ranks[i] == -2;
	}
	return ranks;
}

static void
take_neighbours(struct definitions *d, struct reader *in, const struct message *message)
{
	struct communicator *comm;
	struct neighbours *of;
	int64_t number, member;
	size_t count;

	if (body_int(in, message, "comm", 3, (int64_t)d->comm_count - 1, &number) < 0)
		die_input(in);
	comm = &d->comms[number];
	if (body_int(in, message, "member", 0, comm->size - 1, &member) < 0 ||
	    body_count(in, message, "count", 0, 1 << 24, "sources", &count) < 0)
		die_input(in);
	if (comm->neighbours == NULL)
		comm->neighbours = zalloc((size_t)comm->size, sizeof *comm->neighbours);
	of = &comm->neighbours[member];
	free(of->sources);
	*of = (struct neighbours){ zalloc(count + 1, sizeof *of->sources), (uint32_t)count };
	if (body_column(in, message, "sources", count, of->sources) < 0)
		die_input(in);
	for (size_t i = 0; i < count; i++)
		if (of->sources[i] < -2 || of->sources[i] >= comm->size)
			die_message(in, message, "neighbours: sources is out of range");
}

static void
take_communicator(struct definitions *d, struct reader *in, const struct message *message)
{
	struct communicator comm = { 0 }, *old;
	uint32_t number;

	if (body_number(in, message, "comm", 1, &number) < 0)
		die_input(in);
	if (number < 3)
		return;		/* predefined communicators need no definition */
	comm.members = members(d, in, message, "size", "members", &comm.size, &comm.outside);
	comm.is_world = body_is(message, "type", "world");
	if (body_get(message, "remote_size") != NULL) {
		comm.remote = members(d, in, message, "remote_size", "remote", &comm.remote_size,
		    &comm.outside);
		comm.in_members = zalloc((size_t)d->ranks / 8 + 1, 1);
		for (int32_t i = 0; i < comm.size; i++)
			if (comm.members[i] >= 0)
				comm.in_members[comm.members[i] / 8] |= (uint8_t)(1u <<
				    comm.members[i] % 8);
	}
	GROW(d->comms, d->comm_capacity, (size_t)number + 1);
	while (d->comm_count <= number)
		d->comms[d->comm_count++] = (struct communicator){ 0 };
	old = &d->comms[number];
	for (int32_t i = 0; old->neighbours != NULL && i < old->size; i++)
		free(old->neighbours[i].sources);
	free(old->neighbours);
	free(old->members);
	free(old->remote);
	free(old->in_members);
	*old = comm;
}

/* A stack consists of sites defined before it, so it cannot contain itself. */
static void
take_stack(struct definitions *d, struct reader *in, const struct message *message, uint32_t number,
    struct site *site)
{
	size_t depth;

	if (body_count(in, message, "count", 1, 1 << 16, "stack", &depth) < 0)
		die_input(in);
	site->depth = (uint32_t)depth;
	site->stack = zalloc(depth, sizeof *site->stack);
	if (body_column(in, message, "stack", depth, site->stack) < 0)
		die_input(in);
	for (size_t i = 0; i < depth; i++)
		if (site->stack[i] >= number || site->stack[i] >= d->site_count ||
		    d->sites[site->stack[i]].stack != NULL)
			die_message(in, message, "site: a frame of the stack is no place");
}

/* An element of an optional array that accompanies another one; NULL: there is none. */
static const msgpack_object *
element(const struct message *message, const char *key, uint32_t i)
{
	const msgpack_object *array = body_get(message, key);

	return array != NULL && array->type == MSGPACK_OBJECT_ARRAY && i < array->via.array.size ?
	    &array->via.array.ptr[i] : NULL;
}

static void
take_inlined(struct site *site, const struct message *message)
{
	const msgpack_object *names = body_get(message, "inlined_into");

	if (names == NULL || names->type != MSGPACK_OBJECT_ARRAY)
		return;
	site->inlined = zalloc((size_t)names->via.array.size + 1, sizeof *site->inlined);
	for (uint32_t i = 0; i < names->via.array.size; i++) {
		const msgpack_object *name = &names->via.array.ptr[i];
		const msgpack_object *file = element(message, "inlined_files", i);
		const msgpack_object *line = element(message, "inlined_lines", i);
		struct inlined *it = &site->inlined[site->inlined_count];

		if (name->type != MSGPACK_OBJECT_STR)
			continue;
		site->inlined_count++;
		it->function = need(strndup(name->via.str.ptr, name->via.str.size));
		if (file != NULL && file->type == MSGPACK_OBJECT_STR && file->via.str.size > 0)
			it->file = need(strndup(file->via.str.ptr, file->via.str.size));
		if (line != NULL && line->type == MSGPACK_OBJECT_POSITIVE_INTEGER &&
		    line->via.u64 <= INT32_MAX)
			it->line = (int32_t)line->via.u64;
	}
}

static void
take_site(struct definitions *d, struct reader *in, const struct message *message)
{
	struct site site = { .module = UINT32_MAX, .defined = true };
	uint32_t number;

	if (body_number(in, message, "site", 1, &number) < 0)
		die_input(in);
	/* A site may be in a stack already: redefined as a stack, it could contain itself. */
	if (number < d->site_count && d->sites[number].defined)
		die_message(in, message, "site: number %u a second time", number);
	if (body_get(message, "stack") != NULL)
		take_stack(d, in, message, number, &site);
	else if (body_uint(in, message, "offset", &site.offset) < 0)
		die_input(in);
	if (body_int_if(in, message, "module", 0, 1 << 26, &site.module) < 0 ||
	    body_int_if(in, message, "line", 0, INT32_MAX, &site.line) < 0)
		die_input(in);
	site.call = body_string(message, "call");
	site.function = body_string(message, "function");
	site.file = body_string(message, "file");
	take_inlined(&site, message);
	GROW(d->sites, d->site_capacity, (size_t)number + 1);
	while (d->site_count <= number)
		d->sites[d->site_count++] = (struct site){ .module = UINT32_MAX };
	d->sites[number] = site;
}

static void
take_module(struct definitions *d, struct reader *in, const struct message *message)
{
	char *path = body_string(message, "path");
	uint32_t number;

	if (body_number(in, message, "module", 0, &number) < 0)
		die_input(in);
	*AT(d->modules, d->module_capacity, number) = (struct module_name){ path,
	    path != NULL ? formatted("[%s]", file_name(path)) : NULL };
	if (number >= d->module_count)
		d->module_count = (size_t)number + 1;
}

static void
take_region_name(struct definitions *d, struct reader *in, const struct message *message)
{
	uint32_t number;

	if (body_number(in, message, "number", 1, &number) < 0)
		die_input(in);
	*AT(d->regions, d->region_capacity, number) = body_string(message, "name");
	if (number >= d->region_count)
		d->region_count = (size_t)number + 1;
}

static void
take_polls(struct definitions *d, struct reader *in, const struct message *message)
{
	d->polls_wait = body_is(message, "as", "wait");
	d->handovers = 0;
	if (body_int_if(in, message, "handovers", 0, INT64_MAX, &d->handovers) < 0 ||
	    body_int(in, message, "gap_ns", 0, INT64_MAX, &d->poll_gap_ns) < 0)
		die_input(in);
}

int
poll_gaps_read(struct poll_gaps *gaps, struct reader *in, const struct message *message)
{
	const int64_t most = INT64_MAX / 4;	/* so that a sum of a few does not overflow */

	return body_int(in, message, "location", 0, UINT32_MAX, &gaps->location) < 0 ||
	    body_int(in, message, "site", 0, UINT32_MAX, &gaps->site) < 0 ||
	    body_int(in, message, "count", 1, most, &gaps->count) < 0 ||
	    body_int(in, message, "apart_ns", 0, most, &gaps->apart_ns) < 0 ||
	    body_int(in, message, "awake_ns", 0, gaps->apart_ns, &gaps->awake_ns) < 0 ? -1 : 0;
}

int
poll_gaps_order(const void *left, const void *right)
{
	const struct poll_gaps *a = left, *b = right;

	return BY(location) BY(site) 0;
}

static void
take_poll_gaps(struct definitions *d, struct reader *in, const struct message *message)
{
	struct poll_gaps gaps;

	if (poll_gaps_read(&gaps, in, message) < 0)
		die_input(in);
	if (d->poll_gaps_count > 0 &&
	    poll_gaps_order(&d->poll_gaps[d->poll_gaps_count - 1], &gaps) >= 0)
		die_message(in, message, "poll_gaps: not in order of locations and sites");
	*APPEND(d->poll_gaps, d->poll_gaps_count, d->poll_gaps_capacity) = gaps;
}

bool
is_seen_asleep(const struct definitions *known, uint32_t location, uint32_t site, int64_t apart_ns)
{
	enum {
		/*
		 * Sleeping: awake for at most 1/MOST_AWAKE of the measured time. On virtual
		 * machines an empty usleep(100) itself takes a fifth of its time on the core.
		 */
		MOST_AWAKE = 2,
		ALIKE = 16,	/* largest ratio of a time to the mean of those measured */
	};
	const struct poll_gaps key = { .location = location, .site = site };
	const struct poll_gaps *gaps = known->poll_gaps_count == 0 ? NULL :
	    bsearch(&key, known->poll_gaps, known->poll_gaps_count, sizeof key, poll_gaps_order);

	return gaps != NULL && gaps->awake_ns <= gaps->apart_ns / MOST_AWAKE &&
	    apart_ns / ALIKE <= gaps->apart_ns / gaps->count;
}

static void
take_ended(struct definitions *d, struct reader *in, const struct message *message)
{
	const size_t ranks = (size_t)d->ranks;
	uint8_t *ended = zalloc(ranks, 1);

	if (body_int(in, message, "run_ns", 0, INT64_MAX, &d->run_ns) < 0 ||
	    body_column(in, message, "ended", ranks, ended) < 0)
		die_input(in);
	for (size_t r = 0; r < ranks; r++)
		d->headline.ranks_died += ended[r] == 0;
	free(ended);
}

static void
take_spawned(struct definitions *d, struct reader *in, const struct message *message)
{
	struct beginning begin;
	uint32_t *ranks;
	size_t count;

	if (body_int(in, message, "location", 0, (int64_t)d->location_count - 1,
	    &begin.location) < 0 || body_int(in, message, "seq", 0, INT64_MAX, &begin.seq) < 0 ||
	    body_int(in, message, "begin_ns", INT64_MIN, INT64_MAX, &begin.ns) < 0 ||
	    body_count(in, message, "count", 1, (size_t)d->ranks, "ranks", &count) < 0)
		die_input(in);
	ranks = zalloc(count, sizeof *ranks);
	if (body_column(in, message, "ranks", count, ranks) < 0)
		die_input(in);
	if (d->begins == NULL) {
		d->begins = zalloc((size_t)d->ranks, sizeof *d->begins);
		for (int32_t r = 0; r < d->ranks; r++)
			d->begins[r].location = UINT32_MAX;
	}
	for (size_t i = 0; i < count; i++) {
		if (ranks[i] >= (uint32_t)d->ranks ||
		    (int32_t)ranks[i] == d->location_rank[begin.location])
			die_message(in, message, "spawned: ranks is out of range");
		d->begins[ranks[i]] = begin;
	}
	free(ranks);
}

/* A block is no definition, but its location must have one. */
static void
check_location(struct definitions *d, struct reader *in, const struct message *message)
{
	int64_t location;

	if (body_int(in, message, "location", 0, (int64_t)d->location_count - 1, &location) < 0)
		die_input(in);
	if (d->location_rank[location] < 0)
		die_message(in, message, "%s: location %d is not defined", message->kind,
		    (int)location);
}

static const struct kind {
	const char *name;
	void (*take)(struct definitions *, struct reader *, const struct message *);
	bool needs_run, is_definition;
} kinds[] = {
	{ "call", NULL, false, true },
	{ "run", take_run, false, true },
	{ "rank", headline_rank, true, true },
	{ "location", take_location, true, true },
	{ "environment", headline_environment, false, true },
	{ "load", headline_load, true, true },
	{ "communicator", take_communicator, true, true },
	{ "neighbours", take_neighbours, true, true },
	{ "site", take_site, false, true },
	{ "module", take_module, false, true },
	{ "region_name", take_region_name, false, true },
	{ "polls", take_polls, false, true },
	{ "poll_gaps", take_poll_gaps, true, true },
	{ "unended", unended_take, true, true },
	{ "ended", take_ended, true, false },
	{ "spawned", take_spawned, true, false },
	{ "calls", check_location, true, false },
	{ "sampled", check_location, true, false },
	{ "switched", check_location, true, false },
	{ "regions", check_location, true, false },
	{ "messages", NULL, true, false },
	{ "probes", NULL, true, false },
	{ "locks", NULL, true, false },
	{ "collectives", NULL, true, false },
	{ "sync", NULL, true, false },
	{ "settled", NULL, true, false },
};

/* NULL: no kind of these. */
static const struct kind *
kind_of(const struct message *message)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (is_kind(message, kinds[i].name))
			return &kinds[i];
	return NULL;
}

void
definitions_take(struct definitions *definitions, struct reader *in, const struct message *message)
{
	const struct kind *kind = kind_of(message);

	if (kind != NULL && kind->needs_run && definitions->ranks == 0)
		die_message(in, message, "%s before the message of kind run", message->kind);
	if (kind != NULL && kind->take != NULL)
		kind->take(definitions, in, message);
}

void
refuse_long_sums(const struct definitions *definitions, int64_t ns)
{
	if (definitions->location_count > 0 && ns > INT64_MAX / definitions->location_count)
		die("%.1f hours of %u ranks and threads are more than the 292 years that a sum of "
		    "times may have; lp-imbalance --from and --to choose a part",
		    (double)ns / 3.6e12, definitions->location_count);
}

bool
is_definition(const struct message *message)
{
	const struct kind *kind = kind_of(message);

	return kind != NULL && kind->is_definition;
}

bool
definitions_next(struct definitions *definitions, struct reader *in, struct message *message)
{
	const int got = reader_next(in, message);

	if (got < 0)
		die_input(in);
	if (got > 0)
		definitions_take(definitions, in, message);
	return got > 0;
}

bool
several_threads_call(const struct definitions *d, int32_t rank)
{
	/* Locations of further threads come after those of the ranks. */
	for (uint32_t l = (uint32_t)d->ranks; l < d->location_count; l++)
		if (d->location_rank[l] == rank)
			return true;
	return false;
}

int32_t
world_rank(const struct definitions *definitions, uint32_t comm, int32_t rank, int32_t peer)
{
	const struct communicator *c;

	if (comm == 2)
		return peer == 0 ? rank : -1;
	if (comm >= definitions->comm_count || peer < 0)
		return -1;
	c = &definitions->comms[comm];
	if (c->remote_size == 0)
		return peer >= c->size ? -1 : c->members == NULL ? peer : c->members[peer];
	/* peers are in the other group */
	if (rank >= 0 && (c->in_members[rank / 8] >> rank % 8 & 1))
		return peer < c->remote_size ? c->remote[peer] : -1;
	return peer < c->size ? c->members[peer] : -1;
}
