/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "functions.h"
#include "run.h"

static const struct part everything = { .to = UINT64_MAX };

static void
check_open(struct run *run, int opened)
{
	if (opened < 0 || reader_refuse_content(run->in, "trace", "lp-graph matches it first") < 0)
		die_input(run->in);
}

static void
begin(struct run *run)
{
	memset(run, 0, sizeof *run);
	run->window_bytes = SIZE_MAX;
}

void
run_open(struct run *run, const char *file)
{
	begin(run);
	run->part = everything;
	check_open(run, reader_open(&run->in, file, READ_STREAM));
}

void
run_open_lazy(struct run *run, const char *file)
{
	begin(run);
	check_open(run, reader_open(&run->in, file, READ_LAZY));
}

void
run_open_part(struct run *run, const char *file, const struct part *part)
{
	begin(run);
	run->part = *part;
	check_open(run, reader_open(&run->in, file, READ_STREAM));
}

/* An index may lie: then no path is better than a wrong one. */
static _Noreturn void
die_index(struct run *run, uint64_t offset, const char *what)
{
	reader_fail(run->in, offset, "%s, against the stream's index", what);
	die_input(run->in);
}

bool
run_next(struct run *run, struct message *message)
{
	const struct part *part = &run->part;
	int got;

	if (part->defined > 0 && reader_offset(run->in) > part->defined) {
		if (run->stretch >= part->to || part->from >= part->to)
			return false;
		if (reader_offset(run->in) < part->offset) {
			reader_jump(run->in, part->offset);
			run->stretch = part->stretch;
		}
	}
	if ((got = reader_next(run->in, message)) < 0)
		die_input(run->in);
	if (got == 0 && (part->to_at > 0 || run->stretch < part->from) && part->from < part->to)
		die_index(run, reader_offset(run->in), "the stream ends here");
	return got > 0;
}

static const struct event_row *
row_of(const struct run *run, uint32_t location, uint64_t seq)
{
	return window_row(&run->window, location, seq);
}

static void
take_calls(struct run *run, const struct message *message)
{
	int64_t location;

	if (body_int(run->in, message, "location", 0, run->known.location_count - 1, &location) < 0)
		die_input(run->in);
	if (run_owns(run, (uint32_t)location) && (calls_read(&run->calls, run->in, message) < 0 ||
	    window_add(&run->window, run->in, message, &run->calls) < 0))
		die_input(run->in);
	if (run->functions != NULL && run_owns(run, (uint32_t)location))
		functions_see_calls(run->functions, &run->calls);
}

static bool
is_of_member(const struct run *run, const struct team *team, uint32_t location)
{
	return team == NULL || owner_in(team, run->known.location_rank, location) == team->rank;
}

void
run_take_samples(struct run *run, const struct message *message, const struct team *team, bool all)
{
	int64_t location;
	bool owns;

	if (run->functions == NULL)
		return;
	if (body_int(run->in, message, "location", 0, run->known.location_count - 1, &location) < 0)
		die_input(run->in);
	owns = is_of_member(run, team, (uint32_t)location);
	if (owns || all)
		functions_see(run->functions, run->in, message, true, owns);
}

/* Of each location those before its first row that stays; the others' rows are not here. */
void
run_forget_samples(struct run *run, bool counts)
{
	for (uint32_t l = 0; run->functions != NULL && l < run->known.location_count; l++) {
		const bool owns = run_owns(run, l);
		const struct event_row *row = row_of(run, l, window_first(&run->window, l));

		if (!owns)
			functions_forget(run->functions, l, run->last_ns, false, false);
		else if (row != NULL)
			functions_forget(run->functions, l, row->row.enter_ns, true, counts);
	}
}

void
run_count_rest(struct run *run, const struct team *team)
{
	for (uint32_t l = 0; run->functions != NULL && l < run->known.location_count; l++)
		if (is_of_member(run, team, l))
			functions_forget(run->functions, l, INT64_MAX, true, true);
}

/*
 * A row entered before a call, or before the start that a call of the same thread completes, cannot have blocked it; but
 * what would happen if calls took less time needs all edges.
 */
static bool
may_block(const struct run *run, const struct row *far, const struct row *row)
{
	return far->enter_ns >= row->enter_ns || run->keeps_instances ||
	    run->known.location_count > (uint32_t)run->known.ranks;
}

static void
take_messages(struct run *run, const struct message *message)
{
	struct edge_block *e = &run->edges;

	if (messages_read(e, run->in, message, &run->window) < 0)
		die_input(run->in);
	if (run->team != NULL) {
		share_messages(run, message);
		return;
	}
	for (size_t i = 0; i < e->count; i++) {
		struct event_row *send = window_change(&run->window, e->source[i], e->send[i]);
		struct event_row *receive = window_change(&run->window, e->target[i], e->receive[i]);
		const struct event_row *posted;
		uint32_t poster = e->target[i];
		uint64_t post = e->receive[i];

		if (send == NULL || receive == NULL)
			continue;	/* of a stretch before the first wanted one */
		if (is_kind(message, "probes")) {
			if (may_block(run, &send->row, &receive->row))
				link_rows(receive, e->source[i], e->send[i]);
			continue;
		}
		post_of(receive, &poster, &post);
		send->is_send = true;
		if (may_block(run, &send->row, &receive->row))
			link_rows(receive, e->source[i], e->send[i]);
		/* A send waits for the post of its receive. */
		if ((posted = row_of(run, poster, post)) == NULL || may_block(run, &posted->row, &send->row))
			link_rows(send, poster, post);
	}
}

bool
collective_find(struct run *run, size_t k, size_t first, const struct row *const *rows)
{
	const struct edge_block *e = &run->edges;
	uint32_t size = e->size[k];

	run->members = grow(run->members, &run->member_capacity, size, sizeof *run->members);
	run->waits_for = grow(run->waits_for, &run->wait_capacity, size, sizeof *run->waits_for);
	for (uint32_t i = 0; i < size; i++) {
		run->members[i] = (struct member){ e->location[first + i], e->seq[first + i],
		    rows[i] };
		if (run->members[i].row == NULL)
			return false;
	}
	collective_waits(&run->known, run->members, size, run->waits_for);
	return true;
}

static void
instances_add(struct instances *instances, const struct member *members, uint32_t size)
{
	size_t first = instances->member_count;

	instances->at = grow(instances->at, &instances->capacity, instances->count + 1,
	    sizeof *instances->at);
	instances->members = grow(instances->members, &instances->member_capacity, first + size,
	    sizeof *instances->members);
	instances->at[instances->count++] = (struct instance){ first, size };
	for (uint32_t i = 0; i < size; i++)
		instances->members[first + i] = (struct event){ members[i].seq, members[i].location, false };
	instances->member_count += size;
}

/* As there are more of them than may be pointed to at a time: window_limit. False: not all are there. */
static bool
copy_members(struct run *run, size_t k, size_t first)
{
	const struct edge_block *e = &run->edges;

	run->rows = grow(run->rows, &run->row_capacity, e->size[k], sizeof *run->rows);
	run->copies = grow(run->copies, &run->copy_capacity, e->size[k], sizeof *run->copies);
	for (uint32_t i = 0; i < e->size[k]; i++) {
		const struct row *row = window_row(&run->window, e->location[first + i], e->seq[first + i]);

		if (row == NULL)
			return false;
		run->copies[i] = *row;
		run->rows[i] = &run->copies[i];
	}
	return true;
}

static void
take_collectives(struct run *run, const struct message *message)
{
	struct edge_block *e = &run->edges;
	size_t at = 0;

	if (collectives_read(e, run->in, message, &run->window) < 0)
		die_input(run->in);
	if (run->team != NULL) {
		share_collectives(run, message);
		return;
	}
	for (size_t k = 0; k < e->instances; at += e->size[k++]) {
		if (!copy_members(run, k, at) || !collective_find(run, k, at, run->rows))
			continue;
		if (run->keeps_instances)
			instances_add(&run->instances, run->members, e->size[k]);
		for (uint32_t i = 0; i < e->size[k]; i++)
			if (run->waits_for[i] != NOBODY && run->waits_for[i] != i)
				link_rows(window_change(&run->window, run->members[i].location,
				    run->members[i].seq), run->members[run->waits_for[i]].location,
				    run->members[run->waits_for[i]].seq);
	}
}

/* A global synchronisation point ends a stretch with the enter of its last member. */
static void
take_sync(struct run *run, const struct message *message, struct event *last)
{
	run->last_ns = INT64_MIN;
	if (seqs_read(run->end_seq, run->in, message, &run->window) < 0)
		die_input(run->in);
	for (uint32_t l = 0; l < run->known.location_count; l++) {
		const struct event_row *row = row_of(run, l, run->end_seq[l]);

		if (!run_owns(run, l))
			continue;
		if (row == NULL || row->row.part != 0 || run->end_seq[l] < run->first_seq[l]) {
			reader_fail(run->in, message->offset, "sync: row %llu of location %u is not there",
			    (unsigned long long)run->end_seq[l], l);
			die_input(run->in);
		}
		if (row->row.enter_ns > run->last_ns) {
			*last = (struct event){ run->end_seq[l], l, false };
			run->last_ns = row->row.enter_ns;
		}
	}
	if (run->team != NULL)
		share_last(run, last);
	for (uint32_t l = 0; l < run->known.location_count; l++)
		run->end_seq[l]++;
}

/* The points where the part begins and ends are where it was said. */
static void
check_place(struct run *run, const struct message *message)
{
	const struct part *part = &run->part;
	uint64_t next = run->stretch + 1;

	if ((next == part->from && message->offset != part->from_at) ||
	    (next == part->to && message->offset != part->to_at))
		die_index(run, message->offset, "another synchronisation point is here");
}

bool
run_take(struct run *run, const struct message *message, struct event *last)
{
	if (definitions_take(&run->known, run->in, message) < 0)
		die_input(run->in);
	if (is_kind(message, "run")) {
		window_open(&run->window, run->known.location_count,
		    run->team != NULL ? sizeof(struct shared_row) : sizeof(struct event_row));
		window_limit(&run->window, run->window_bytes, 1);
		run->window.partial = run->part.from > 0;
		run->window.shared = run->team != NULL;
		run->first_seq = zalloc(run->known.location_count, sizeof *run->first_seq);
		run->end_seq = zalloc(run->known.location_count, sizeof *run->end_seq);
	}
	if (run->part.defined > 0) {
		if (message->offset > run->part.defined && is_definition(message))
			die_index(run, message->offset, "a definition is here");
		if (is_kind(message, "sync"))
			check_place(run, message);
	}
	if (message->offset < run->part.offset || run->stretch >= run->part.to) {
		run->stretch += is_kind(message, "sync");
		return false;
	}
	if (reader_verify(run->in, message) < 0)
		die_input(run->in);
	if (is_kind(message, "sampled")) {	/* pieces of the path are found on the first member */
		run_take_samples(run, message, run->team, run->team == NULL || run->team->rank == 0);
	} else if (is_kind(message, "calls")) {
		take_calls(run, message);
	} else if (is_kind(message, "messages") || is_kind(message, "probes")) {
		take_messages(run, message);
	} else if (is_kind(message, "collectives")) {
		take_collectives(run, message);
	} else if (is_kind(message, "sync")) {
		if (run->stretch + 1 < run->part.from) {	/* not even its rows are here */
			run->stretch++;
			return false;
		}
		take_sync(run, message, last);
		if (run->stretch >= run->part.from)
			return true;
		run_advance(run);
	}
	return false;
}

bool
run_end(struct run *run, struct event *last)
{
	if (run->stretch < run->part.from || run->stretch >= run->part.to || run->known.ranks == 0)
		return false;
	run->last_ns = INT64_MIN;
	*last = (struct event){ .leave = true };
	for (uint32_t l = 0; l < run->known.location_count; l++) {
		const struct event_row *row;

		run->end_seq[l] = window_end(&run->window, l);
		if (!run_owns(run, l) || run->end_seq[l] == run->first_seq[l])
			continue;
		row = row_of(run, l, run->end_seq[l] - 1);
		if (row->row.leave_ns > run->last_ns) {
			*last = (struct event){ run->end_seq[l] - 1 - row->row.part, l, true };
			run->last_ns = row->row.leave_ns;
		}
	}
	if (run->team != NULL) {
		share_last(run, last);
		share_ends(run);
	}
	return run->last_ns != INT64_MIN;
}

struct stretch
run_stretch(const struct run *run, const struct team *team, struct event last)
{
	return (struct stretch){ team, run->known.location_rank, &run->window, run->first_seq,
	    run->end_seq, run->begin_ns, run->stretch > 0, run->from_event, run->from, run->team != NULL,
	    last, run->last_ns };
}

/* Forgets those that are not behind SEQS, by location. */
static void
instances_forget(struct instances *instances, const uint64_t *seqs)
{
	size_t kept = 0, used = 0;

	for (size_t i = 0; i < instances->count; i++) {
		struct instance instance = instances->at[i];
		const struct event *members = &instances->members[instance.first];

		if (members[0].seq <= seqs[members[0].location])
			continue;
		memmove(&instances->members[used], members, instance.size * sizeof *members);
		instances->at[kept++] = (struct instance){ used, instance.size };
		used += instance.size;
	}
	instances->count = kept;
	instances->member_count = used;
}

void
run_advance(struct run *run)
{
	run->begin_ns = run->last_ns;
	for (uint32_t l = 0; l < run->known.location_count; l++) {
		run->first_seq[l] = run->end_seq[l] - 1;
		window_drop(&run->window, l, run->first_seq[l]);
	}
	window_forget_all_kept(&run->window);
	run_forget_samples(run, run->stretch >= run->part.from);
	run->from_event = false;
	instances_forget(&run->instances, run->first_seq);
	run->stretch++;
}
