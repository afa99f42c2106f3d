/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions of collectives in the background that wait for a member which MPI does not let them
 * wait for, or for one that has started long ago. Their rows do not name it; the times show it:
 *
 *	Libraries pass data on in trees (base/run/collective.h): a completion in a broadcast, a
 *	reduction to a root or a scan may wait for the start of any member.
 *	Libraries move data in calls only: it may wait for a member that has started and computes,
 *	until that one is in a call again. This is believed if that member computed for more than
 *	half of the time since the completion needed nobody else.
 *
 * The edge leads from the start, or from the call that the member entered after it had computed, to
 * the completion that waited. In a neighbourhood only sources count; files are left out. Memory:
 * the starts of members until the rows before the last one are known; completions, and calls after
 * computations between start and completion, until all rows before their ends are known.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/run/collective.h"
#include "../base/tool/hash_table.h"
#include "../base/tool/search.h"
#include "graph.h"

enum {
	LEAST_NS = 10000,	/* of a wait that is explained */
	MOST_OPEN = 16,		/* of a location: the last ones that hear of its computations */
};

struct member_row { struct row row; uint32_t operation; int32_t rank; bool near; };

/* A member is in a call again, after it has computed. */
struct back {
	int64_t from_ns, to_ns;
	int64_t called_ns;		/* it was in calls so long since it started */
	uint32_t operation;
	int32_t rank;
};

struct background {
	uint32_t comm, order, index;	/* key, as of a parcel; comm NONE: free slot */
	uint32_t size, started, ended;
	int64_t last_ns;		/* the last start */
	/* All have started, and no completion that is still to come waits for a start. */
	bool begun;
	struct member_row *starts;	/* as they come; a member has one */
	struct member_row *ends;	/* those that are not decided */
	struct back *backs;
	size_t end_count, end_capacity, back_count, back_capacity;
};

HASH_TABLE_BY(backgrounds, struct background, INSTANCE_HASH, SAME_INSTANCE, comm, NONE)

/* ---- what rows say ---------------------------------------------------------------------- */

void
background_open(struct graph *graph, const struct graph_row *row, struct parcel *start)
{
	const enum call_class class = call_class(row->call);
	struct location *at = &graph->locations[row->location];

	if (!is_collective_start(class) || class == CLASS_FILE_START)
		return;
	start->in_background = true;
	start->has_data = row->calls->bytes_sent[row->i] > 0 ||
	    row->calls->bytes_received[row->i] > 0;
	*APPEND(at->started, at->started_count, at->started_capacity) = (struct started){
	    row->seq, row->calls->leave_ns[row->i], at->computings.all_ns, start->comm,
	    start->order, start->index, blocking_class(class) == CLASS_NEIGHBOUR };
}

/* To where the instance is counted. */
static void
tell_background(struct graph *graph, const struct graph_row *row, const struct started *of,
    struct parcel *what)
{
	what->comm = of->comm;
	what->order = of->order;
	what->index = of->index;
	what->near = of->near;
	what->enter_ns = row->calls->enter_ns[row->i];
	parcel_post(graph, row, collective_shard(graph, what), what);
}

bool
background_close(struct graph *graph, const struct graph_row *row)
{
	struct location *at = &graph->locations[row->starter];
	struct started of;

	for (size_t i = at->started_count; i-- > 0; ) {
		if (at->started[i].seq != row->start)
			continue;
		of = at->started[i];
		memmove(at->started + i, at->started + i + 1,
		    (--at->started_count - i) * sizeof of);
		tell_background(graph, row, &of, &(struct parcel){ .kind = PARCEL_END,
		    .leave_ns = row->calls->leave_ns[row->i] });
		return true;
	}
	return false;
}

void
background_back(struct graph *graph, const struct graph_row *row, int64_t from_ns)
{
	const struct location *at = &graph->locations[row->location];
	size_t i = at->started_count > MOST_OPEN ? at->started_count - MOST_OPEN : 0;

	for (; i < at->started_count; i++) {
		const struct started *of = &at->started[i];
		const int64_t since_ns = row->calls->enter_ns[row->i] - of->leave_ns,
		    computed_ns = at->computings.all_ns - of->computed_ns;

		tell_background(graph, row, of, &(struct parcel){ .kind = PARCEL_BACK,
		    .since_ns = from_ns, .called_ns = since_ns - computed_ns });
	}
}

/* ---- the members of an instance --------------------------------------------------------- */

/* Something of it is decided when all rows entered before NS have been read. */
static void
decide_at(struct graph *graph, int64_t ns)
{
	graph->next_background_ns = smaller(graph->next_background_ns, ns);
}

static struct member_row
member_row(struct graph *graph, const struct parcel *p)
{
	return (struct member_row){ .operation = operation_of_parcel(graph, p),
	    .rank = rank_of(graph, p->location), .near = p->near, .row = { .enter_ns = p->enter_ns,
	    .leave_ns = p->leave_ns, .comm = p->comm, .peer = p->source, .call = p->call,
	    .sent = p->has_data, .received = p->has_data } };
}

void
background_started(struct graph *graph, const struct parcel *p, uint32_t size)
{
	struct background *b = backgrounds_add(&graph->backgrounds, &(struct background){
	    .comm = p->comm, .order = p->order, .index = p->index, .last_ns = INT64_MIN });

	if (b->begun || (b->started == b->size && b->size > 0))
		return;		/* of a rank that is no member */
	if (b->started == 0) {
		b->size = size;
		b->starts = zalloc(size, sizeof *b->starts);
	}
	b->starts[b->started++] = member_row(graph, p);
	b->last_ns = larger(b->last_ns, p->enter_ns);
	if (b->started == size)
		decide_at(graph, b->last_ns);
}

/* Of one that nothing more is known of, all members have started. */
static struct background *
background_of(struct graph *graph, const struct parcel *p)
{
	return backgrounds_add(&graph->backgrounds, &(struct background){ .comm = p->comm,
	    .order = p->order, .index = p->index, .last_ns = INT64_MIN, .begun = true });
}

ORDER(by_time, struct back, BY(to_ns) BY(rank))
#define NOT_AFTER(back, ns) ((back)->to_ns <= (ns))
SEARCH(back_until, struct back, int64_t, NOT_AFTER)

/* In a neighbourhood the end needs its sources only. */
static bool
may_hold(struct graph *graph, uint32_t comm, const struct back *back, const struct member_row *end)
{
	const struct definitions *known = &graph->known;
	const struct communicator *c = comm < known->comm_count ? &known->comms[comm] : NULL;
	const struct neighbours *of;
	uint32_t rank;

	if (!end->near)
		return true;
	if (c == NULL || c->neighbours == NULL)
		return false;
	if (graph->ranks == NULL)
		graph->ranks = zalloc(1, sizeof *graph->ranks);
	rank = comm_rank(graph->ranks, known, comm, graph->operations[end->operation].location);
	of = rank < (uint32_t)c->size ? &c->neighbours[rank] : NULL;
	for (uint32_t s = 0; of != NULL && of->sources != NULL && s < of->count; s++)
		if (world_rank(known, comm, end->rank, of->sources[s]) == back->rank)
			return true;
	return false;
}

/*
 * The last one whose member computed for most of the time from SINCE until the end left; NULL:
 * none. From SINCE until it was back it was in calls for CALLED at most, and before it computed.
 */
static const struct back *
held_by(struct graph *graph, const struct background *b, const struct member_row *end,
    int64_t since_ns)
{
	const int64_t leave_ns = end->row.leave_ns;
	const int64_t least_ns = larger((leave_ns - since_ns) / 2, LEAST_NS - 1);

	for (size_t i = back_until(b->backs, b->back_count, leave_ns); i-- > 0; ) {
		const struct back *back = &b->backs[i];

		if (back->to_ns - since_ns <= least_ns)
			return NULL;
		if (back->to_ns - since_ns - smaller(larger(back->from_ns - since_ns, 0),
		    back->called_ns) > least_ns && may_hold(graph, b->comm, back, end))
			return back;
	}
	return NULL;
}

ORDER(by_rank, struct member_row, BY(rank))

/*
 * The first COUNT ends get their edges. Of a member without one the time is not known, so it waits
 * for nobody.
 */
static void
add_edges(struct graph *graph, struct background *b, size_t count)
{
	const uint32_t size = b->begun ? 0 : b->size;
	struct member *members = zalloc(size, sizeof *members);
	struct row *ends = zalloc(size, sizeof *ends);
	struct needs needs = { .ends = b->ends[0].near ? NULL : ends };
	size_t end = 0;

	SORT(b->starts, size, by_rank);
	SORT(b->ends, count, by_rank);
	SORT(b->backs, b->back_count, by_time);
	for (uint32_t i = 0; i < size; i++) {
		const struct operation *start = &graph->operations[b->starts[i].operation];

		members[i] = (struct member){ start->location, start->seq, &b->starts[i].row };
		ends[i] = (struct row){ .enter_ns = INT64_MIN, .leave_ns = INT64_MIN };
		while (end < count && b->ends[end].rank < b->starts[i].rank)
			end++;
		if (end < count && b->ends[end].rank == b->starts[i].rank)
			ends[i] = b->ends[end].row;
	}
	if (size > 0)
		collective_waits(&needs, &graph->known, members, size);
	for (size_t e = 0, i = 0; e < count; e++) {
		const struct member_row *at = &b->ends[e];
		int64_t since_ns = at->row.enter_ns;
		const struct back *back;

		while (i < size && b->starts[i].rank < at->rank)
			i++;
		if (i < size && needs.waits_for[i] != NOBODY &&
		    members[needs.waits_for[i]].row->enter_ns <= at->row.leave_ns)
			since_ns = larger(since_ns, members[needs.waits_for[i]].row->enter_ns);
		if ((back = held_by(graph, b, at, since_ns)) != NULL)
			edge_add(graph, EDGE_HOLD, back->operation, at->operation);
		else if (i < size && needs.in_tree[i] != NOBODY)
			edge_add(graph, EDGE_HOLD, b->starts[needs.in_tree[i]].operation,
			    at->operation);
	}
	needs_free(&needs);
	free(ends);
	free(members);
}

/* What rows before candidate BEFORE, and those left before UNTIL, may wait for has been read. */
static bool
is_known(const struct graph *graph, uint32_t operation, int64_t ns, uint32_t before,
    int64_t until_ns)
{
	return ns < until_ns || graph->operations[operation].candidates < before;
}

/* Decides the ends that can be decided, and puts them first. */
static void
decide_ends(struct graph *graph, struct background *b, uint32_t before, int64_t until_ns)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < b->end_count; i++) {
		const struct member_row end = b->ends[i];

		if (!is_known(graph, end.operation, end.row.leave_ns, before, until_ns))
			continue;
		b->ends[i] = b->ends[count];
		b->ends[count++] = end;
	}
	if (count == 0)
		return;
	add_edges(graph, b, count);
	for (size_t i = 0; i < count; i++)
		operation_free(graph, b->ends[i].operation);
	while (count < b->end_count)
		b->ends[kept++] = b->ends[count++];
	b->end_count = kept;
}

/* Forgets what no end can wait for any more. Returns when it is to be looked at again. */
static int64_t
forget(struct graph *graph, struct background *b, uint32_t before, int64_t until_ns)
{
	int64_t next_ns = INT64_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < b->end_count; i++)
		next_ns = smaller(next_ns, b->ends[i].row.leave_ns);
	if (b->end_count > 0)
		return next_ns;
	for (uint32_t i = 0; i < b->started && !b->begun; i++)
		operation_free(graph, b->starts[i].operation);
	b->begun = true;
	for (size_t i = 0; i < b->back_count; i++) {
		const struct back back = b->backs[i];

		if (is_known(graph, back.operation, back.to_ns, before, until_ns)) {
			operation_free(graph, back.operation);
			continue;
		}
		next_ns = smaller(next_ns, back.to_ns);
		b->backs[kept++] = back;
	}
	b->back_count = kept;
	return next_ns;
}

/* Returns when it is to be looked at again; INT64_MAX: not before something more is known of it. */
static int64_t
decide(struct graph *graph, struct background *b, uint32_t before, int64_t until_ns)
{
	struct background done;
	int64_t next_ns;

	if (!b->begun && b->started < b->size)
		return INT64_MAX;
	if (!b->begun && b->last_ns >= until_ns)
		return b->last_ns;
	decide_ends(graph, b, before, until_ns);
	next_ns = forget(graph, b, before, until_ns);
	if (b->end_count > 0 || b->back_count > 0)
		return next_ns;
	done = *b;
	backgrounds_remove(graph->backgrounds, b);
	free(done.starts);
	free(done.ends);
	free(done.backs);
	return next_ns;
}

void
background_ended(struct graph *graph, const struct parcel *p)
{
	struct background *b = background_of(graph, p);

	*APPEND(b->ends, b->end_count, b->end_capacity) = member_row(graph, p);
	b->ended++;
	if (b->started == b->size && b->ended == b->size)
		decide(graph, b, NONE, INT64_MAX);
	else if (b->begun || b->started == b->size)
		decide_at(graph, p->leave_ns);
}

void
background_returned(struct graph *graph, const struct parcel *p)
{
	struct background *b = background_of(graph, p);

	*APPEND(b->backs, b->back_count, b->back_capacity) = (struct back){ p->since_ns,
	    p->enter_ns, p->called_ns, operation_of_parcel(graph, p), rank_of(graph, p->location) };
	if (b->begun || b->started == b->size)
		decide_at(graph, p->enter_ns);
}

ORDER(by_last, struct background, BY(last_ns) BY(comm) BY(order) BY(index))

void
backgrounds_decide(struct graph *graph, uint32_t before, int64_t until_ns)
{
	struct background *open;
	size_t count;

	if (before == 0 && graph->next_background_ns >= until_ns)
		return;
	count = backgrounds_count(graph->backgrounds);
	open = backgrounds_sorted(graph->backgrounds, by_last);
	graph->next_background_ns = INT64_MAX;
	for (size_t i = 0; i < count; i++)
		decide_at(graph, decide(graph, backgrounds_find(graph->backgrounds, &open[i]),
		    before, until_ns));
	free(open);
}
