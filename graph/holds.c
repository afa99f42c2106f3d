/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends that their receiver held up. MPI need not move a message while its receiver computes: when
 * all buffers are full, or for a long message, MPI_Send lasts until the receiver is in a call
 * again. Any call will do, so the post of the receive may come much earlier or later. The same is
 * true of an access to memory of a target that MPI needs for it, and of its flush. The edge leads
 *
 *	from the call that the receiver entered after it had computed
 *	-> to the call of the sender that ended then: the send, or the completion of its request
 *
 * A send also lasts long if its data take long, or if its thread loses its core. So this is
 * believed only if the receiver computed for most of that time, and the send ended soon after the
 * receiver had entered the call, compared with the computation before it. Nor is it believed if
 * sends to that receiver often ended while it had long been computing.
 *
 * A rank that sleeps between polls computes there, too. If a wait is made of the polls (polls.c),
 * the edge leads from the call that ends it.
 *
 * No edge leads past a candidate for a synchronisation point, across which nobody can wait. Memory:
 * the calls and computations since the last of these, or since the time until which all rows are
 * known; and the targets that each rank has accessed and not flushed.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/hash_table.h"
#include "../base/tool/search.h"
#include "graph.h"

enum {
	LEAST_NS = 20000,	/* of a send and of a computation: shorter ones show nothing */
	SOON = 20,		/* the send ends within 1/SOON of the computation */
	MOST_IN_CALLS = 10,	/* the receiver is in calls for at most 1/MOST_IN_CALLS */
	MOST_ELSE = 8,		/* held up for MOST_ELSE times as long as ended otherwise */
	MOST_TARGETS = 256,	/* of a lock or unlock of all */
};

/* A location computed up to row SEQ; if that is a poll of a wait, SEQ ends the wait. */
struct computing {
	int64_t from_ns, to_ns;
	int64_t enter_ns;		/* of the row: before TO_NS in a wait */
	uint64_t seq;
	uint32_t candidates;		/* before the row: see struct location */
};

/* A call that may have been held up. */
struct held_call {
	int64_t enter_ns, leave_ns;
	uint32_t operation, candidates;
	int32_t source, target;
	bool only;			/* it waits for nothing else */
	bool one_sided;
};

/*
 * How long the sends from one rank to another were held up, and lasted for other reasons; the same
 * of one-sided calls, which often go another way.
 */
struct send_habit {
	int32_t source, target;		/* source -1: free slot */
	bool one_sided;
	int64_t held_ns, else_ns;
};

#define HASH(h) mix((uint64_t)(uint32_t)(h)->source << 32 | (uint32_t)(h)->target, (h)->one_sided)
#define SAME(a, b) ((a)->source == (b)->source && (a)->target == (b)->target && \
	(a)->one_sided == (b)->one_sided)
HASH_TABLE_BY(send_habits, struct send_habit, HASH, SAME, source, -1)

/* The targets, in order, that a location has accessed in an MPI window and not flushed since. */
struct origin {
	uint32_t win, location;		/* location NONE: free slot */
	int32_t *targets;
	size_t count, capacity;
};
HASH_TABLE_OF(origins, struct origin, win, location, location, NONE)

struct holds {
	struct held_call *calls;
	size_t count, capacity;
	struct send_habits *habits;
	struct origins *origins;
};

void
holds_begin(struct graph *graph)
{
	graph->holds = zalloc(1, sizeof *graph->holds);
}

/* Which thread of a rank moves its messages is not known. */
static bool
is_known(const struct graph *graph)
{
	return graph->known.location_count == (uint32_t)graph->known.ranks;
}

void
holds_see(struct graph *graph, const struct calls *calls)
{
	struct computings *c = &graph->locations[calls->location].computings;

	if (!is_known(graph))
		return;
	for (size_t i = 0; i < calls->count; i++) {
		const int64_t from_ns = c->last_leave_ns, to_ns = calls->enter_ns[i];

		c->last_leave_ns = calls->leave_ns[i];
		if (calls->call[i] == 0 || from_ns == INT64_MIN || to_ns - from_ns < LEAST_NS)
			continue;
		*ENQUEUE(c->at, c->begin, c->end, c->capacity) = (struct computing){
		    .from_ns = from_ns, .to_ns = to_ns, .seq = calls->first + i };
		c->to_come++;
	}
}

void
hold_reached(struct graph *graph, const struct graph_row *row)
{
	struct computings *c = &graph->locations[row->location].computings;
	const int64_t enter_ns = row->calls->enter_ns[row->i];
	size_t known = c->end - c->to_come;

	if (c->to_come > 0 && c->at[known].seq == row->seq) {
		const struct computing now = c->at[known];

		c->at[known].candidates = row->candidates;
		c->at[known++].enter_ns = enter_ns;
		c->in_wait = enter_ns < now.to_ns;
		c->to_come--;
		if (!c->in_wait) {
			c->all_ns += now.to_ns - now.from_ns;
			background_back(graph, row, now.from_ns);
		}
	}
	c->in_wait &= known > c->begin && c->at[known - 1].enter_ns == enter_ns;
	if (!c->in_wait)
		return;
	while (known-- > c->begin && c->at[known].enter_ns == enter_ns &&
	    c->at[known].to_ns > enter_ns)	/* not the computation before the wait */
		c->at[known].seq = row->seq;
}

void
hold_row(struct graph *graph, const struct graph_row *row, uint32_t comm, int32_t peer, bool only)
{
	const struct calls *c = row->calls;
	const size_t i = row->i;
	int32_t target;

	if (c->leave_ns[i] - c->enter_ns[i] < LEAST_NS || peer < 0 || !is_known(graph) ||
	    (target = world_rank(&graph->known, comm, row->rank, peer)) < 0 ||
	    target == row->rank)
		return;
	parcel_to_target(graph, row, &(struct parcel){ .kind = PARCEL_HOLD, .source = row->rank,
	    .target = target, .enter_ns = c->enter_ns[i], .leave_ns = c->leave_ns[i],
	    .only = only && c->call[i] != 0 && (i + 1 == c->count || c->call[i + 1] != 0) });
}

/* ---- one-sided calls -------------------------------------------------------------------- */

#define BEFORE(at, sought) (*(at) < (sought))
SEARCH(target_at, int32_t, int32_t, BEFORE)
#undef BEFORE

static void
set_accessed(struct origin *origin, int32_t target, bool accessed)
{
	const size_t at = target_at(origin->targets, origin->count, target), count = origin->count;
	const bool is = at < count && origin->targets[at] == target;

	if (is == accessed)
		return;
	GROW(origin->targets, origin->capacity, count + 1);
	memmove(origin->targets + at + accessed, origin->targets + at + is,
	    (count - at - is) * sizeof *origin->targets);
	if (accessed)
		origin->targets[at] = target;
	origin->count += accessed ? 1 : (size_t)-1;
}

static void
to_target(struct graph *graph, const struct graph_row *row, int32_t peer, bool only)
{
	lock_row(graph, row, peer);
	hold_row(graph, row, row->comm, peer, only);
}

/*
 * A call for all targets waits for those that its rank has accessed since it last flushed them. A
 * lock or unlock may wait for any target; of large windows only those are looked at, too.
 */
void
one_sided_row(struct graph *graph, const struct graph_row *row)
{
	const enum one_sided_kind kind = call_one_sided(row->call);
	struct origin *origin;

	if (kind == NO_ACCESS)
		return;
	origin = origins_add(&graph->holds->origins,
	    &(struct origin){ .win = row->comm, .location = row->location });
	if (row->peer >= 0) {
		to_target(graph, row, row->peer, true);
		if (kind != FLUSHES_LOCALLY)
			set_accessed(origin, row->peer, kind == ACCESSES);
	} else if (kind == LOCKS_ALL || kind == UNLOCKS_ALL || kind == FLUSHES_ALL ||
	    kind == ENDS_EPOCH) {
		const uint32_t members = member_count(graph, row->comm);
		const bool any = (kind == LOCKS_ALL || kind == UNLOCKS_ALL) &&
		    members <= MOST_TARGETS;

		for (uint32_t i = 0; any && i < members; i++)
			to_target(graph, row, (int32_t)i, false);
		for (size_t i = 0; !any && i < origin->count; i++)
			to_target(graph, row, origin->targets[i], origin->count == 1);
		origin->count = 0;
	}
}

/* ---- who held up whom ------------------------------------------------------------------- */

void
hold_arrived(struct graph *graph, const struct parcel *p)
{
	struct holds *holds = graph->holds;

	*APPEND(holds->calls, holds->count, holds->capacity) = (struct held_call){ p->enter_ns,
	    p->leave_ns, operation_of_parcel(graph, p), p->candidates, p->source, p->target,
	    p->only, call_class(p->call) == CLASS_RMA };
}

/* The part of a computation within the call; only what was long before the call ended. */
static int64_t
computed(const struct held_call *call, int64_t from_ns, int64_t to_ns)
{
	const int64_t begin_ns = from_ns > call->enter_ns ? from_ns : call->enter_ns;
	const int64_t end_ns = to_ns < call->leave_ns ? to_ns : call->leave_ns;

	return end_ns > begin_ns && end_ns - from_ns >= LEAST_NS ? end_ns - begin_ns : 0;
}

#define BEGINS_BEFORE(computing, ns) ((computing)->from_ns < (ns))
SEARCH(computing_from, struct computing, int64_t, BEGINS_BEFORE)

/*
 * The computation of the receiver after which the call ended; NULL: none. COMPUTED_NS: computation
 * of the receiver during the call, until the end of that one. GOES_ON_NS: of it, what the receiver
 * had computed when the call ended, and still computed.
 */
static const struct computing *
held_by(const struct graph *graph, const struct held_call *call, int64_t *computed_ns,
    int64_t *goes_on_ns)
{
	const struct location *target = &graph->locations[call->target];
	const struct computings *of = &target->computings;
	const struct computing *last = NULL;
	size_t i = of->begin;

	if (of->at != NULL)	/* blocks that have been read may reach far behind the call */
		i += computing_from(of->at + i, of->end - of->to_come - i, call->leave_ns);
	/* The row that ends its last computation may not have been read. */
	*computed_ns = target->candidates == call->candidates &&
	    target->last_leave_ns > INT64_MIN ?
	    computed(call, target->last_leave_ns, call->leave_ns) : 0;
	*goes_on_ns = *computed_ns;
	while (i-- > of->begin && of->at[i].to_ns > call->enter_ns) {
		const struct computing *c = &of->at[i];
		const int64_t ns = computed(call, c->from_ns, c->to_ns);

		if (c->candidates != call->candidates)
			continue;
		if (c->to_ns > call->leave_ns)
			*goes_on_ns = ns;
		if (last == NULL && c->to_ns <= call->leave_ns &&
		    (call->leave_ns - c->to_ns) * SOON <= ns) {
			last = c;
			*computed_ns = 0;
		}
		*computed_ns += ns;
	}
	return last;
}

/* All rows of both ranks until the end of the call have been read. */
static void
decide(struct graph *graph, const struct held_call *call)
{
	struct send_habit *habit = send_habits_add(&graph->holds->habits,
	    &(struct send_habit){ call->source, call->target, call->one_sided, 0, 0 });
	const int64_t ns = call->leave_ns - call->enter_ns;
	int64_t computed_ns, goes_on_ns;
	const struct computing *by = held_by(graph, call, &computed_ns, &goes_on_ns);

	if (by != NULL && computed_ns >= (by->to_ns - call->enter_ns) -
	    (by->to_ns - call->enter_ns) / MOST_IN_CALLS) {
		habit->held_ns += ns;
		if (habit->else_ns <= habit->held_ns / MOST_ELSE) {
			const uint32_t end = operation_new(graph, &(struct graph_row){
			    .seq = by->seq, .location = (uint32_t)call->target,
			    .candidates = by->candidates });

			edge_add(graph, EDGE_HOLD, end, call->operation);
			operation_free(graph, end);
		}
	} else if (call->only && goes_on_ns >= ns / 2) {
		habit->else_ns += ns;
	}
}

/* Of one sender the earlier call comes first. */
ORDER(by_leave, struct held_call, BY(leave_ns) BY(source) BY(target))

void
holds_decide(struct graph *graph, uint32_t before, int64_t until_ns)
{
	struct holds *holds = graph->holds;
	int64_t first_ns = until_ns;
	size_t kept = 0;

	SORT(holds->calls, holds->count, by_leave);
	for (size_t i = 0; i < holds->count; i++) {
		const struct held_call *call = &holds->calls[i];

		if (call->candidates >= before && call->leave_ns >= until_ns) {
			if (call->enter_ns < first_ns)
				first_ns = call->enter_ns;
			holds->calls[kept++] = *call;
			continue;
		}
		decide(graph, call);
		operation_free(graph, call->operation);
	}
	holds->count = kept;
	for (uint32_t l = 0; l < graph->known.location_count; l++) {
		struct computings *c = &graph->locations[l].computings;

		while (!is_away(graph, rank_of(graph, l)) && c->begin < c->end - c->to_come &&
		    (c->at[c->begin].to_ns <= first_ns || c->at[c->begin].candidates < before))
			c->begin++;
	}
}

void
holds_forget(struct graph *graph, const uint64_t *seqs)
{
	for (uint32_t l = 0; l < graph->known.location_count; l++) {
		struct computings *c = &graph->locations[l].computings;

		while (c->begin < c->end - c->to_come && c->at[c->begin].seq < seqs[l])
			c->begin++;
	}
}

uint64_t
hold_settled(const struct graph *graph, uint32_t location)
{
	const struct computings *c = &graph->locations[location].computings;

	return c->begin < c->end - c->to_come ? c->at[c->begin].seq : UINT64_MAX;
}
