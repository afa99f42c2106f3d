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

#include "activities.h"
#include "shares.h"
#include "syncs.h"

enum { MOST_ACTIVITIES = 1 << 16, LEAST_ACTIVITIES = 32, ALL_ACTIVITIES = 1 << 22 };

static int64_t
positive(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

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

/* ---- state --------------------------------------------------------------------------- */

struct causes {
	struct pasts pasts;
	struct syncs syncs;
	struct delays delays;
	struct spending spending;	/* scratch, like the next line */
	struct share_sums sums;
	struct waited {			/* scratch: waits of the delaying location */
		uint32_t origin;	/* of a batch: of its longest wait */
		int64_t ns;
		struct batch *batch;	/* NULL: one wait */
	} *waited;
	size_t waited_count, waited_capacity;
	struct longest longest;
};

void
causes_begin(struct imbalance *im)
{
	const uint32_t locations = im->graph.known.location_count;

	im->causes = zalloc(1, sizeof *im->causes);
	pasts_begin(&im->causes->pasts, locations,
	    (size_t)larger(LEAST_ACTIVITIES, smaller(MOST_ACTIVITIES, ALL_ACTIVITIES / locations)));
	sync_table_begin(&im->causes->syncs.table, 1024);
	im->causes->syncs.forgotten_ns = INT64_MIN;
	im->causes->delays.ranks = im->graph.known.ranks;
	if (im->observer != NULL && im->observer->delay != NULL)
		im->causes->delays.observer = im->observer;	/* it wants all causes */
	else
		batches_begin(&im->causes->pasts);
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
		last_ns = larger(last_ns, common_before(&c->syncs, common_comm(a, comm), now_ns));
	return larger(last_ns, common_before(&c->syncs, common_pair(a, b), now_ns));
}

/* ---- one wait --------------------------------------------------------------------------- */

/* How much of the counted part of the wait lies between FROM and TO. */
static int64_t
waited(const struct origin *wait, int64_t from_ns, int64_t to_ns)
{
	return positive(smaller(wait->to_ns, to_ns) - larger(wait->from_ns, from_ns));
}

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
	const uint32_t *delay;
	const double *share = NULL;

	if (left > AHEAD && origin_shares(&im->origins,
	    origin_at(&im->origins, waited[AHEAD].origin), &delay, &share) > 0)
		__builtin_prefetch(share);
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
		    batch_before(im, &c->pasts, past, i, leave_ns, low_ns);
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
			const int64_t ns = waited(origin_at(&im->origins, a->origin),
			    low_ns, high_ns);

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

/* A batch is as one wait with the causes of all of its waits. */
static void
share_batch(struct share_sums *sums, struct batch *batch, double share, double wait_ns)
{
	batch->propagated += share;
	for (size_t k = 0; k < batch->causes; k++)
		share_add(sums, batch->delay[k], share * batch->cause_ns[k] / wait_ns);
}

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
		const double part_ns = share * (double)w->ns;
		const uint32_t *delay = NULL;
		const double *shared = NULL;
		unsigned causes;

		fetch_shares(im, w, (size_t)(end - w));
		if (w->ns > largest->ns)
			largest = w;
		if (w->batch != NULL) {
			share_batch(&c->sums, w->batch, share, wait_ns);
			continue;
		}
		before->propagated_ns += part_ns;
		causes = origin_shares(&im->origins, before, &delay, &shared);
		for (unsigned k = 0; k < causes; k++) {
			const double long_ns = part_ns * shared[k];

			delay_see(&c->delays, delay[k], long_ns);
			share_add(&c->sums, delay[k], long_ns / wait_ns);
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
		const uint32_t delay = delay_of(&c->delays, s->keys[i], rank);

		delay_add_short(&c->delays, delay, share * s->ns[i]);
		delay_see(&c->delays, delay, share * s->ns[i]);
		share_sums_know(&c->sums, c->delays.count);
		share_add(&c->sums, delay, share * s->ns[i] / wait_ns);
	}
	s->count = 0;
}

/* Adds the times to the wait's state, and remembers them if the state may change. */
static void
tell_cause(struct imbalance *im, const struct wait *wait, struct late *late, int64_t direct_ns,
    int64_t indirect_ns)
{
	im->states[wait->state].direct_ns += direct_ns;
	im->states[wait->state].indirect_ns += indirect_ns;
	if (late == NULL)
		return;
	late->explained = true;
	late->direct_ns = direct_ns;
	late->indirect_ns = indirect_ns;
}

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

	origin->users += late != NULL;
	c->waited_count = 0;
	spend_uncounted(im, wait, from_ns);
	waited_ns = (double)spend_past(im, wait->cause, from_ns, wait->to_ns, 1);
	spend_past(im, wait->location, from_ns, wait->from_ns, -1);
	delay_ns = spending_gather(&c->spending);
	share = wait_ns < delay_ns + waited_ns ? wait_ns / (delay_ns + waited_ns) : 1;
	share_direct(c, im->graph.known.location_rank[wait->cause], share, wait_ns);
	tell_cause(im, wait, late, (int64_t)(share * delay_ns), (int64_t)(share * waited_ns));
	share_indirect(im, share, origin);
	origin_keep_shares(&im->origins, origin, &c->sums);
	longest_add(&im->origins, &c->longest, number);
	return number;
}

/* ---- call by call ----------------------------------------------------------------------- */

/* After a call: notes the locations it synchronised with. */
static void
note_syncs(struct imbalance *im, const struct whole_call *call)
{
	struct causes *c = im->causes;
	const enum call_class class = call->kind->class;

	for (const struct wait_row *row = call->rows; row < call->rows + call->count; row++) {
		const int64_t at_ns = larger(row->row.enter_ns, row->other_ns);
		const struct definitions *known = &im->graph.known;
		const uint32_t of = row->row.comm;
		const bool of_all = (class == CLASS_INIT || class == CLASS_FINALIZE) &&
		    !(of < known->comm_count &&
		    (known->comms[of].is_world || known->comms[of].remote_size > 0));
		const uint32_t comm = of_all ? 1 : of;

		if (!row->has_other)
			continue;
		if (!is_collective(class)) {
			if (!row->is_send)
				common_note(&c->syncs,
				    common_pair(call->location, row->other), at_ns);
		} else if (row->overlap && comm > 1)
			common_note(&c->syncs, common_comm(call->location, comm), at_ns);
		else if (row->overlap && comm == 1) {
			c->syncs.forgotten_ns = larger(c->syncs.forgotten_ns,
			    c->pasts.of[call->location].sync_ns);
			past_sync(im, &c->pasts, call->location, at_ns);
		}
	}
}

void
count_causes(struct imbalance *im, const struct whole_call *call,
    const struct wait *waits, int count)
{
	struct causes *c = im->causes;
	struct activity *now = past_add(im, &c->pasts, call);

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
			now = past_divide(im, &c->pasts, call->location, waits[i].from_ns);
		now->origin = explain(im, &waits[i]);
	}
	note_syncs(im, call);
}

void
causes_forget(struct imbalance *im, int64_t at_ns)
{
	for (uint32_t l = 0; l < im->graph.known.location_count; l++)
		past_restart(im, &im->causes->pasts, l, at_ns);
	im->causes->syncs.forgotten_ns = larger(im->causes->syncs.forgotten_ns, at_ns);
}

void
causes_start(struct imbalance *im, const struct whole_call *call)
{
	spending_know(&im->causes->spending, past_add(im, &im->causes->pasts, call)->site);
}

void
causes_end(struct imbalance *im)
{
	for (uint32_t l = 0; l < im->graph.known.location_count; l++)
		past_end(im, &im->causes->pasts, l);
}

/* ---- for reports ------------------------------------------------------------------------ */

struct delays *
delays_of(const struct imbalance *im)
{
	return &im->causes->delays;
}

size_t
chain_count(const struct imbalance *im)
{
	return im->causes->longest.count;
}

size_t
chain_of(const struct imbalance *im, size_t index, struct wait chain[MOST_LINKS])
{
	return origin_chain(&im->origins, im->causes->longest.of[index], chain);
}

void
join_chain(struct imbalance *im, const struct wait *chain, size_t links)
{
	uint32_t last = 0;

	while (links-- > 0) {
		const uint32_t number = origin_new(&im->origins, &chain[links]);

		origin_at(&im->origins, number)->before = last;	/* its one user */
		last = number;
	}
	longest_add(&im->origins, &im->causes->longest, last);
	origin_release(&im->origins, last);
}
