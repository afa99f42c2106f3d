/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The causes of waits (Boehme, Geimer, Wolf, Arnold: Identifying the root causes of wait states,
 * ICPP 2010). Since both last synchronised, the delaying location has spent more time on some code
 * than the waiting one: d_c = max(0, t_c(delaying) - t_c(waiting)) for each call site, with the
 * compute before it and the MPI in it apart. It may also have waited itself, for W. For a wait w
 *
 *	d_c * min(w / (sum d + W), 1)		is the short-term cost of the delay c,
 *	W * min(w / (sum d + W), 1)		is indirect. It is shared out over the causes of W:
 *						the long-term cost of their delays
 *
 * Memory: for each location the calls since the second last synchronisation of all, at most 65536.
 */
#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"
#include "causes.h"

enum { MOST_ACTIVITIES = 1 << 16, LEAST_ACTIVITIES = 32, ALL_ACTIVITIES = 1 << 22 };

/* ---- excess of one location over another on each piece of code ----------------------- */

/* Sums the keys with more than 0 and drops the others. Newest code first. */
static double
spending_gather(struct spending *s)
{
	double delay_ns = 0;
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		const int64_t ns = s->spent[s->keys[i]].ns;

		s->spent[s->keys[i]] = (struct spent){ 0, false };
		if (ns > 0) {
			delay_ns += (double)ns;
			s->ns[kept] = (double)ns;
			s->keys[kept++] = s->keys[i];
		}
	}
	s->count = kept;
	return delay_ns;
}

/* ---- when locations synchronised: the latest enter of the calls -------------------------- */

/*
 * A rank may receive more messages from a sender that waits for it, and so get ahead of that wait.
 */
enum { KEPT = 7 };	/* times for each key: one cache line */

struct common {
	uint64_t key;			/* 0: free slot */
	int64_t at_ns[KEPT];		/* latest first */
};

struct sync_table;
static int64_t forgotten_of(struct sync_table *const *table);

#define HASH(c) mix((c)->key, 0)
#define SAME(a, b) ((a)->key == (b)->key)
#define FREE(c) ((c)->key == 0)
#define MAKE_FREE(c) ((c)->key = 0)
#define RECENT(c) ((c)->at_ns[0] > forgotten_of(table))
HASH_TABLE(sync_table, struct common, HASH, SAME, FREE, MAKE_FREE, RECENT, die("out of memory"))
#undef RECENT

struct syncs {
	struct sync_table *table;	/* first */
	/* when the last synchronisation but one of all locations was: nothing before is needed */
	int64_t forgotten_ns;
};

static int64_t
forgotten_of(struct sync_table *const *table)
{
	return ((const struct syncs *)(const void *)table)->forgotten_ns;
}

#undef HASH
#undef SAME
#undef FREE
#undef MAKE_FREE

/* Keys: of two locations; of one location in a communicator. */
static uint64_t
common_pair(uint32_t a, uint32_t b)
{
	return 1 + ((uint64_t)(a < b ? a : b) << 31 | (a < b ? b : a));
}

static uint64_t
common_comm(uint32_t location, uint32_t comm)
{
	return (uint64_t)1 << 62 | (uint64_t)location << 31 | comm;
}

/*
 * The latest time before NOW, since the other location may have noted the explained call already;
 * INT64_MIN if there is none.
 */
static inline int64_t
common_before(const struct syncs *syncs, uint64_t key, int64_t now_ns)
{
	struct common wanted = { .key = key }, *found = sync_table_find(syncs->table, &wanted);

	for (int i = 0; found != NULL && i < KEPT; i++)
		if (found->at_ns[i] < now_ns)
			return found->at_ns[i];
	return INT64_MIN;
}

static inline void
common_note(struct syncs *syncs, uint64_t key, int64_t at_ns)
{
	struct common new = { .key = key }, *at = sync_table_find(syncs->table, &new);
	int64_t before[KEPT - 1];

	if (at == NULL) {
		for (int i = 0; i < KEPT; i++)
			new.at_ns[i] = INT64_MIN;
		at = sync_table_add(&syncs->table, &new);
	}
	if (at_ns > at->at_ns[0]) {
		memcpy(before, at->at_ns, sizeof before);
		memcpy(at->at_ns + 1, before, sizeof before);
		at->at_ns[0] = at_ns;
	}
}

/* ---- state --------------------------------------------------------------------------- */

void
causes_begin(struct imbalance *im)
{
	const uint32_t locations = im->graph.known.location_count;

	const bool seen = im->observer != NULL && im->observer->delay != NULL;
	struct causes *c = zalloc(1, sizeof *c);

	im->causes = c;
	pasts_begin(im, (size_t)larger(LEAST_ACTIVITIES, smaller(MOST_ACTIVITIES,
	    ALL_ACTIVITIES / locations)), !seen);	/* the observer wants all causes */
	c->syncs = zalloc(1, sizeof *c->syncs);
	c->syncs->forgotten_ns = INT64_MIN;
	c->delays.ranks = im->graph.known.ranks;
	c->delays.observer = seen ? im->observer : NULL;
}

/*
 * The last instant, not after NOW, at which both locations were in calls that synchronised them, or
 * all. Since then both had the same time: the excess of one is the wait of the other. Times before
 * the oldest kept activity of either cannot be compared.
 */
static int64_t
last_common(const struct causes *c, uint32_t a, uint32_t b, uint32_t comm, int64_t now_ns)
{
	const struct past *of = c->pasts.of;
	int64_t last_ns = larger(of[a].sync_ns, larger(of[a].kept_ns, of[b].kept_ns));

	if (comm > 1)		/* for the world it is sync_ns */
		last_ns = larger(last_ns, common_before(c->syncs, common_comm(a, comm), now_ns));
	return larger(last_ns, common_before(c->syncs, common_pair(a, b), now_ns));
}

/* ---- one wait --------------------------------------------------------------------------- */

/* A look far back comes to waits that have left the caches. */
static inline void
fetch_origin(const struct imbalance *im, const struct past *past, uint32_t number)
{
	enum { FAR = 32, AHEAD = 8 };

	if (past->end - number > FAR && number - past->begin > AHEAD)
		__builtin_prefetch(origin_at(&im->origins, past_at(past, number - AHEAD)->origin));
}

static inline void
fetch_shares(const struct imbalance *im, const struct waited *waited, size_t left)
{
	enum { AHEAD = 4 };
	struct origin_shares causes;

	if (left <= AHEAD)
		return;
	causes = origin_shares(&im->origins, origin_at(&im->origins, waited[AHEAD].origin));
	if (causes.count > 0)
		__builtin_prefetch(causes.share);
}

static inline __attribute__((always_inline)) void
spend_batch(struct causes *c, struct spending *spending, struct batch *batch, const int sign)
{
	for (size_t i = 0; i < batch->keys; i++)
		spend(spending, batch->of[i].key, sign * batch->of[i].ns);
	if (sign > 0 && batch->longest != 0)
		*APPEND(c->waited, c->waited_count, c->waited_capacity) =
		    (struct waited){ batch->longest, batch->longest_ns, batch };
}

/*
 * Adds SIGN times the time of the location between FROM and TO to its keys, without its waits.
 * Returns the length of the waits; notes them if SIGN is 1.
 */
static inline __attribute__((always_inline)) int64_t
spend_past(struct imbalance *im, uint32_t location, int64_t from_ns, int64_t to_ns, const int sign)
{
	struct causes *c = im->causes;
	struct past *past = &c->pasts.of[location];
	const int64_t low_ns = larger(from_ns, im->from_ns), high_ns = smaller(to_ns, im->to_ns);
	struct spending spending = c->spending;
	int64_t waited_ns = 0, end_ns = past->end_ns;

	for (uint32_t i = past->end; end_ns > from_ns && i != past->begin; ) {
		const int64_t leave_ns = end_ns;
		struct batch *batch = i % BATCH != 0 || leave_ns > high_ns ? NULL :
		    batch_before(im, past, i, leave_ns, low_ns);
		const struct activity *a;
		const struct wide *wide;
		struct activity_part part;

		if (batch != NULL) {
			spend_batch(c, &spending, batch, sign);
			waited_ns += batch->waited_ns;
			end_ns -= batch->ns;
			i -= BATCH;
			continue;
		}
		a = past_at(past, --i);
		wide = activity_wide(&c->pasts, a);
		part = activity_all(a, wide);
		fetch_origin(im, past, i);
		end_ns -= part.compute_ns + part.call_ns;
		if (end_ns < low_ns || leave_ns > high_ns || wide != NULL)
			part = activity_cut(&part, wide, leave_ns, low_ns, high_ns);
		if (a->origin != 0) {
			const struct origin *wait = origin_at(&im->origins, a->origin);
			const int64_t ns = larger(0, smaller(wait->to_ns, high_ns) -
			    larger(wait->from_ns, low_ns));

			if (sign > 0 && ns > 0)
				*APPEND(c->waited, c->waited_count, c->waited_capacity) =
				    (struct waited){ a->origin, ns, NULL };
			waited_ns += ns;
			part.call_ns -= ns;
		}
		spend(&spending, 2 * a->site, sign * part.compute_ns);
		spend(&spending, 2 * a->site + 1, sign * part.call_ns);
	}
	c->spending.count = spending.count;
	return waited_ns;
}

/* ---- shares ----------------------------------------------------------------------------- */

/* Shares the indirect part out over the waits of the delaying location. */
static void
share_indirect(struct imbalance *im, double share, struct origin *origin)
{
	struct causes *c = im->causes;
	const double wait_ns = (double)(origin->to_ns - origin->from_ns);
	const struct waited *largest = c->waited;

	if (c->waited_count == 0)
		return;
	for (const struct waited *w = c->waited, *end = w + c->waited_count; w < end; w++) {
		struct origin *before = origin_at(&im->origins, w->origin);
		struct batch *batch = w->batch;
		const double part_ns = share * (double)w->ns;
		struct origin_shares causes;

		fetch_shares(im, w, (size_t)(end - w));
		if (w->ns > largest->ns)
			largest = w;
		if (batch != NULL) {	/* as one wait with the causes of all of its waits */
			batch->propagated += share;
			for (size_t k = 0; k < batch->causes; k++)
				share_add(&c->sums, batch->delay[k],
				    share * batch->cause_ns[k] / wait_ns);
			continue;
		}
		before->propagated_ns += part_ns;
		causes = origin_shares(&im->origins, before);
		for (unsigned k = 0; k < causes.count; k++) {
			const double long_ns = part_ns * causes.share[k];

			delay_see(&c->delays, &c->delays.of[causes.delay[k]], long_ns);
			share_add(&c->sums, causes.delay[k], long_ns / wait_ns);
		}
	}
	origin_follows(&im->origins, origin, largest->origin);
}

/*
 * What the delaying location computed before the awaited call may lie outside the counted time: it
 * still ends the wait.
 */
static void
spend_uncounted(struct imbalance *im, const struct wait *wait, int64_t from_ns)
{
	const struct wait_row *cause = wait_row(im, wait->cause, wait->cause_seq);
	const int64_t last_ns = im->last_leave_ns[wait->cause], to_ns = wait->to_ns;
	struct spending *spending = &im->causes->spending;

	if (cause == NULL || im->done[wait->cause] > wait->cause_seq)
		return;
	spending_know(spending, cause->row.site);
	if (last_ns != INT64_MIN)
		spend(spending, 2 * cause->row.site,
		    counted_ns(im, larger(last_ns, from_ns), smaller(cause->row.enter_ns, to_ns)));
}

/* The keys now hold the delays of RANK. The wait gets SHARE of each. */
static void
share_direct(struct causes *c, int32_t rank, double share, double wait_ns)
{
	struct spending *s = &c->spending;

	for (size_t i = 0; i < s->count; i++) {
		const uint32_t number = delay_of(&c->delays, s->keys[i], rank);
		struct delay *delay = &c->delays.of[number];
		const double short_ns = share * s->ns[i];

		fixed_add_double(&delay->short_whole_ns, &delay->short_fraction, short_ns);
		delay_see(&c->delays, delay, short_ns);
		share_sums_know(&c->sums, c->delays.count);
		share_add(&c->sums, number, short_ns / wait_ns);
	}
	s->count = 0;
}

/* Finds the causes of a wait. Returns its origin. */
static uint32_t
explain(struct imbalance *im, const struct wait *wait)
{
	struct causes *c = im->causes;
	const double wait_ns = (double)(wait->to_ns - wait->from_ns);
	const int64_t from_ns = last_common(c, wait->location, wait->cause, wait->comm,
	    wait->from_ns + 1);
	struct late *late = late_of(im, wait);
	const uint32_t number = late != NULL ? late->origin : origin_new(&im->origins, wait);
	struct origin *origin = origin_at(&im->origins, number);
	double delay_ns, waited_ns, share;
	int64_t direct_ns, indirect_ns;

	c->waited_count = 0;
	spend_uncounted(im, wait, from_ns);
	waited_ns = (double)spend_past(im, wait->cause, from_ns, wait->to_ns, 1);
	spend_past(im, wait->location, from_ns, wait->from_ns, -1);
	delay_ns = spending_gather(&c->spending);
	share = wait_ns < delay_ns + waited_ns ? wait_ns / (delay_ns + waited_ns) : 1;
	share_direct(c, im->graph.known.location_rank[wait->cause], share, wait_ns);
	direct_ns = (int64_t)(share * delay_ns);
	indirect_ns = (int64_t)(share * waited_ns);
	im->states[wait->state].direct_ns += direct_ns;
	im->states[wait->state].indirect_ns += indirect_ns;
	if (late != NULL) {	/* its state may change */
		origin->users++;
		late->explained = true;
		late->direct_ns = direct_ns;
		late->indirect_ns = indirect_ns;
	}
	share_indirect(im, share, origin);
	origin_keep_shares(&im->origins, origin, &c->sums);
	longest_add(im, number);
	return number;
}

/* ---- call by call ----------------------------------------------------------------------- */

/* After a call: notes the locations it synchronised with. */
static void
note_syncs(struct imbalance *im, const struct whole_call *call)
{
	struct causes *c = im->causes;
	const struct definitions *known = &im->graph.known;
	const enum call_class class = call->kind->class;
	const bool together = is_collective(class);

	for (const struct wait_row *row = call->rows; row < call->rows + call->count; row++) {
		const int64_t at_ns = larger(row->row.enter_ns, row->other_ns);
		uint32_t comm = row->row.comm;

		if (row->has_other && !together && !row->is_send)
			common_note(c->syncs, common_pair(call->location, row->other), at_ns);
		if (!row->has_other || !together || !row->overlap)
			continue;
		if ((class == CLASS_INIT || class == CLASS_FINALIZE) &&
		    !(comm < known->comm_count &&
		    (known->comms[comm].is_world || known->comms[comm].remote_size > 0)))
			comm = 1;	/* of all */
		if (comm > 1)
			common_note(c->syncs, common_comm(call->location, comm), at_ns);
		else if (comm == 1) {
			c->syncs->forgotten_ns = larger(c->syncs->forgotten_ns,
			    c->pasts.of[call->location].sync_ns);
			past_sync(im, call->location, at_ns);
		}
	}
}

void
count_causes(struct imbalance *im, const struct whole_call *call,
    const struct wait *waits, int count)
{
	struct causes *c = im->causes;
	struct activity *now = past_add(im, call);

	spending_know(&c->spending, now->site);
	for (int i = 0; i < count; i++) {
		/* the collective itself takes so long */
		if (is_completion(waits[i].state))
			im->states[waits[i].state].direct_ns +=
			    counted_ns(im, waits[i].from_ns, waits[i].to_ns);
		if (waits[i].cause == NOBODY || waits[i].cause == call->location ||
		    counted_ns(im, waits[i].from_ns, waits[i].to_ns) == 0)
			continue;
		if (now->origin != 0)	/* origin of the first of two */
			now = past_divide(im, call->location, waits[i].from_ns);
		now->origin = explain(im, &waits[i]);
	}
	note_syncs(im, call);
}

void
causes_forget(struct imbalance *im, int64_t at_ns)
{
	for (uint32_t l = 0; l < im->graph.known.location_count; l++)
		past_restart(im, l, at_ns);
	im->causes->syncs->forgotten_ns = larger(im->causes->syncs->forgotten_ns, at_ns);
}

void
causes_fetch(const struct imbalance *im, uint32_t location)
{
	const struct past *past = &im->causes->pasts.of[location];

	__builtin_prefetch(past, 1);
	__builtin_prefetch(past + 1, 1);
}

void
causes_start(struct imbalance *im, const struct whole_call *call)
{
	spending_know(&im->causes->spending, past_add(im, call)->site);
}
