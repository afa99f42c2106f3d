/* SPDX-License-Identifier: BSD-3-Clause */
#include "steps.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "../tool/hash_table.h"
#include "../tool/tool.h"

HASH_TABLE_BY(place_table, struct repeated, RANK_PLACE_HASH, RANK_PLACE_SAME, rank, -1)

bool
is_step_call(uint16_t call)
{
	return call != 0 && !call_polls(call);
}

struct call_place
call_place(struct same_sites *same, const struct definitions *known, uint32_t site, uint16_t call)
{
	return site > 0 ? (struct call_place){ first_of_name(same, known, site), 0 } :
	    (struct call_place){ 0, call };
}

/* ---- reading --------------------------------------------------------------------------- */

struct indexed { struct call_place place; uint32_t group, index; };

HASH_TABLE_OF(place_index, struct indexed, place.site, place.call, group, UINT32_MAX)

struct scan {
	struct place_table *places;
	struct place_index *index;	/* of rank 0 */
	struct clocks *clocks;		/* by group of rank 0 */
};

static void
add_call(void *context, const struct step_call *call)
{
	struct scan *scan = context;
	const struct repeated new = { .rank = call->rank, .place = call->place,
	    .first_before = call->before, .first = call->number, .begin_ns = call->enter_ns,
	    .burst = UINT64_MAX, .peer = call->peer };
	struct repeated *r = place_table_add(&scan->places, &new);
	const uint64_t gap = call->number - r->end;

	if (r->calls > 0 && gap < r->burst) {
		/* the shortest one so far: until now each call was a burst of its own */
		r->burst = gap;
		r->gaps = r->all;
		r->peers = r->all_peers;
		r->count = r->calls;
		r->last = r->end;
		r->runs = (struct gaps){ r->calls - 1, r->calls - 1, 1, 1, 0 };
		r->run = 1;
	}
	if (r->calls > 0 && gap == r->burst) {
		r->run++;
	} else {
		if (r->calls > 0) {
			gaps_add(&r->gaps, call->number - r->last);
			gaps_add(&r->runs, r->run);
			if (r->votes == 0)
				r->before = call->before;
			r->votes += same_place(r->before, call->before) ? 1 : -UINT64_C(1);
		}
		r->peers |= call->peer != r->peer;
		r->count++;
		r->last = call->number;
		r->run = 1;
	}
	if (r->calls++ > 0)
		gaps_add(&r->all, gap);
	r->all_peers |= call->peer != r->peer;
	r->strays += !same_place(r->first_before, call->before);
	r->end = call->number;
	r->end_ns = call->leave_ns;
}

void
rewind_input(const char *file)
{
	if ((file == NULL || strcmp(file, "-") == 0) && lseek(STDIN_FILENO, 0, SEEK_SET) < 0)
		die("standard input: %s", strerror(errno));
}

struct definitions
step_calls_read(const char *file, int32_t ranks,
    void (*take)(void *context, const struct step_call *call), void *context)
{
	struct definitions known = { 0 };
	struct same_sites same = { NULL };
	struct step_call *last = NULL;		/* by rank */
	struct calls calls = { 0 };
	struct message message;
	struct reader *in;
	uint32_t location;

	if (reader_open(&in, file, READ_LAZY) < 0)
		die_input(in);
	while (definitions_next(&known, in, &message)) {
		if (is_kind(&message, "run") && last == NULL)
			last = zalloc((size_t)known.ranks, sizeof *last);
		if (!is_kind(&message, "calls"))
			continue;
		if (body_int(in, &message, "location", 0, INT32_MAX, &location) < 0)
			die_input(in);
		if (location >= (uint32_t)(ranks < known.ranks ? ranks : known.ranks))
			continue;
		if (calls_read(&calls, in, &message) < 0)
			die_input(in);
		for (size_t i = 0; i < calls.count; i++) {
			struct step_call *call = &last[location];

			if (!is_step_call(calls.call[i]))
				continue;
			call->rank = (int32_t)location;
			call->before = call->place;
			call->place = call_place(&same, &known, calls.site[i], calls.call[i]);
			call->left_ns = call->leave_ns;
			call->enter_ns = calls.enter_ns[i];
			call->leave_ns = calls.leave_ns[i];
			call->peer = calls.peer[i];
			take(context, call);
			call->number++;
		}
	}
	calls_free(&calls);
	reader_close(in);
	free(last);
	return known;
}

/* ---- groups ---------------------------------------------------------------------------- */

/*
 * A companion comes directly after the place before it, each time and nowhere else: it says no more
 * about steps than that one. PLACES: in order of rank and first call.
 */
static void
find_bursts(struct repeated *places, size_t count)
{
	struct repeated *head = NULL;

	for (struct repeated *r = places; r < places + count; r++) {
		if (head != NULL && r->rank == head->rank && r->strays == 0 &&
		    r->calls == r[-1].calls && same_place(r->first_before, r[-1].place)) {
			head->unit++;
			continue;
		}
		head = r;
		head->unit = 1;
	}
	for (struct repeated *r = places; r < places + count; r++) {
		gaps_add(&r->runs, r->run);
		/* Irregular lengths: another place comes between calls by chance. */
		if (r->unit == 0 || r->burst != r->unit || gaps_chance(&r->runs) >= MOST_CHANCE) {
			r->count = r->unit > 0 ? r->calls : 0;
			r->gaps = r->all;
			r->peers = r->all_peers;
			r->last = r->end;
			r->burst = 0;
		}
		r->chance = gaps_chance(&r->gaps);
	}
}

ORDER(by_first, struct repeated, BY(rank) BY(first))

/* The groups of the rank of PLACES. */
static void
find_groups(struct repeated *places, size_t count, struct groups *groups)
{
	struct group *g = NULL;

	for (struct repeated *r = places; r < places + count; r++) {
		if (g == NULL || r->first > g->last) {
			g = APPEND(groups->at, groups->count, groups->capacity);
			*g = (struct group){ .places = r, .first = r->first, .last = r->end,
			    .begin_ns = r->begin_ns, .end_ns = r->end_ns };
		}
		g->count++;
		if (r->end > g->last)
			g->last = r->end;
		if (r->end_ns > g->end_ns)
			g->end_ns = r->end_ns;
	}
}

/* ---- places of rank 0 in each other's steps -------------------------------------------- */

ORDER(most_calls, struct repeated, MOST(count) BY(first))

/* The place of a call, unless the call is not the first one of a burst. */
static struct clocks *
find_place(struct scan *scan, const struct step_call *call, uint32_t *index)
{
	const uint64_t number = call->number + 1;
	const struct indexed *found = place_index_find(scan->index,
	    &(struct indexed){ .place = call->place });
	struct clocks *clocks = found != NULL ? &scan->clocks[found->group] : NULL;
	bool burst;

	if (clocks == NULL || clocks->among == NULL)
		return NULL;
	*index = found->index;
	burst = clocks->at[*index] > 0 &&
	    number - clocks->at[*index] == clocks->group->places[*index].burst;
	if (burst)
		clocks->at[*index] = number;
	return burst ? NULL : clocks;
}

static void
add_among(void *context, const struct step_call *call)
{
	uint32_t index = 0;
	struct clocks *clocks = find_place(context, call, &index);
	struct among *among;

	if (clocks == NULL)
		return;
	among = &clocks->among[index * clocks->group->count];
	among[clocks->before].after += clocks->all_calls > 0;
	for (uint32_t i = 0; i <= index; i++) {
		const uint64_t now = i < index ? clocks->calls[i] : clocks->all_calls;
		const uint64_t gap = now - among[i].since;

		if (clocks->calls[index] > 0 && gap > 0) {
			gaps_add(&among[i].gaps, gap);
			if (among[i].votes == 0)
				among[i].usual = gap;
			among[i].votes += gap == among[i].usual ? 1 : -UINT64_C(1);
		}
		among[i].since = now;
	}
	clocks->calls[index]++;
	clocks->all_calls++;
	clocks->before = index;
	clocks->at[index] = call->number + 1;
}

/* A step ends: which places come in it, if it lacks one that most steps have? */
static void
add_instead(void *context, const struct step_call *call)
{
	uint32_t index = 0;
	struct clocks *clocks = find_place(context, call, &index);

	if (clocks == NULL)
		return;
	for (size_t i = 0; i < clocks->instead_count; i++) {
		struct instead *in = &clocks->instead[i];
		const uint64_t begin = clocks->at[index];

		if (in->divides != index || begin == 0 || clocks->at[in->main] > begin)
			continue;
		in->steps++;
		for (size_t b = 0; b < clocks->group->count; b++)
			in->others[b] += clocks->at[b] > begin;
	}
	clocks->at[index] = call->number + 1;
}

/* Once more the calls of rank 0, from the first one. */
static void
read_again(struct scan *scan, const char *file, const struct groups *groups,
    void (*add)(void *context, const struct step_call *call))
{
	for (size_t i = 0; i < groups->count; i++)
		if (scan->clocks[i].at != NULL)
			memset(scan->clocks[i].at, 0,
			    groups->at[i].count * sizeof *scan->clocks[i].at);
	rewind_input(file);
	step_calls_read(file, 1, add, scan);
}

static void
judge_places(struct scan *scan, const char *file, struct groups *groups)
{
	bool lack = false;

	scan->clocks = zalloc(groups->count, sizeof *scan->clocks);
	for (uint32_t i = 0; i < groups->count; i++) {
		struct group *g = &groups->at[i];
		struct clocks *clocks = &scan->clocks[i];

		clocks->group = g;
		if (g->count > MOST_PLACES)
			continue;
		SORT(g->places, g->count, most_calls);
		clocks->calls = zalloc(g->count, sizeof *clocks->calls);
		clocks->at = zalloc(g->count, sizeof *clocks->at);
		clocks->among = zalloc(g->count * g->count, sizeof *clocks->among);
		for (uint32_t k = 0; k < g->count && g->places[k].unit > 0; k++)
			place_index_add(&scan->index,
			    &(struct indexed){ g->places[k].place, i, k });
	}
	read_again(scan, file, groups, add_among);
	for (size_t i = 0; i < groups->count; i++) {
		judge_group(&scan->clocks[i]);
		lack |= scan->clocks[i].instead_count > 0;
	}
	if (lack)
		read_again(scan, file, groups, add_instead);
	for (size_t i = 0; i < groups->count; i++) {
		end_judgement(&scan->clocks[i]);
		SORT(groups->at[i].places, groups->at[i].count, by_first);
	}
	free(scan->clocks);
	free(scan->index);
}

struct call_groups
call_groups_find(const char *file)
{
	struct scan scan = { .clocks = NULL };
	struct definitions known;
	struct call_groups groups;
	struct repeated *places;
	size_t count;

	known = step_calls_read(file, INT32_MAX, add_call, &scan);
	count = place_table_count(scan.places);
	places = place_table_sorted(scan.places, by_first);
	free(scan.places);
	find_bursts(places, count);
	groups = (struct call_groups){ zalloc((size_t)known.ranks + 1, sizeof *groups.ranks),
	    places, known.ranks, known.run_ns };
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && places[end].rank == places[i].rank; end++)
			;
		find_groups(&places[i], end - i, &groups.ranks[places[i].rank]);
	}
	judge_places(&scan, file, &groups.ranks[0]);
	return groups;
}

void
call_groups_free(struct call_groups *groups)
{
	for (int32_t r = 0; r < groups->count; r++)
		free(groups->ranks[r].at);
	free(groups->ranks);
	free(groups->places);
}
