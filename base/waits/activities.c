/* SPDX-License-Identifier: BSD-3-Clause */
#include "causes.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 4 };	/* activities of a location at first; for all locations side by side */

void
pasts_begin(struct imbalance *im, size_t most, bool batches)
{
	struct pasts *all = &im->causes->pasts;
	const uint32_t locations = im->graph.known.location_count;
	struct activity *first = zalloc((size_t)FIRST * locations, sizeof *first);

	all->of = zalloc(locations, sizeof *all->of);
	all->most = most;
	all->batches = batches;
	for (uint32_t l = 0; l < locations; l++, first += FIRST)
		all->of[l] = (struct past){ .of = first, .mask = FIRST - 1,
		    .sync_ns = INT64_MIN, .kept_ns = INT64_MIN };
}

/* ---- one activity ----------------------------------------------------------------------- */

/* Whether the times of a call fit. Polls need more. */
static inline bool
set_short(struct activity *a, int64_t compute_ns, int64_t call_ns)
{
	a->compute_ns = (uint32_t)compute_ns;
	a->call_ns = (uint32_t)call_ns;
	return compute_ns == a->compute_ns && call_ns == a->call_ns && a->call_ns != WIDE;
}

static void
set_times(struct pasts *all, struct activity *a, const struct wide *times)
{
	if (set_short(a, times->all.compute_ns, times->all.call_ns) && !times->polls)
		return;
	a->compute_ns = pool_take(&all->wides, sizeof *times);
	a->call_ns = WIDE;
	*activity_wide(all, a) = *times;
}

static struct wide
get_times(const struct pasts *all, const struct activity *a)
{
	const struct wide *wide = activity_wide(all, a);

	return wide != NULL ? *wide : (struct wide){ .all = activity_all(a, NULL) };
}

static inline void
drop_times(struct pasts *all, const struct activity *a)
{
	if (activity_wide(all, a) != NULL)
		pool_give(&all->wides, sizeof(struct wide), a->compute_ns);
}

/* ---- forgetting ------------------------------------------------------------------------- */

/* What it passed on is known: its causes get that as their long-term cost. */
static void
forget_origin(struct imbalance *im, uint32_t number, const struct batch *batch)
{
	struct origin *origin = origin_at(&im->origins, number);
	struct origin_shares causes = { NULL, NULL, 0 };

	if (batch != NULL)
		origin->propagated_ns += batch->propagated *
		    (double)(origin->to_ns - origin->from_ns);
	if (origin->propagated_ns != 0)
		causes = origin_shares(&im->origins, origin);
	for (unsigned k = 0; k < causes.count; k++) {
		struct delay *delay = &im->causes->delays.of[causes.delay[k]];

		fixed_add_double(&delay->long_whole_ns, &delay->long_fraction,
		    origin->propagated_ns * causes.share[k]);
	}
	origin_end(&im->origins, origin);
	im->states[origin->state].propagating_ns += origin_propagating_ns(origin);
	origin_release(&im->origins, number);
}

static void
batch_free(struct past *past, uint32_t number)
{
	struct batch **batch = batch_at(past, number);

	if (*batch == NULL)
		return;
	free((*batch)->of);
	free((*batch)->delay);
	free((*batch)->cause_ns);
	free(*batch);
	*batch = NULL;
}

static void
forget(struct imbalance *im, struct past *past, uint32_t count)
{
	enum { AHEAD = 8 };
	struct pasts *all = &im->causes->pasts;

	for (; count > 0; count--, past->begin++) {
		const struct activity *a = past_at(past, past->begin);
		const uint32_t later = count <= AHEAD ? 0 :
		    past_at(past, past->begin + AHEAD)->origin;
		const struct activity_part part = activity_all(a, activity_wide(all, a));
		const struct batch *batch = past->batches == NULL ? NULL :
		    *batch_at(past, past->begin);

		past->begin_ns += part.compute_ns + part.call_ns;
		past->kept_ns = past->begin_ns;
		if (later != 0)
			__builtin_prefetch(origin_at(&im->origins, later), 1);
		drop_times(all, a);
		if (a->origin != 0)
			forget_origin(im, a->origin, batch);
		if (batch != NULL && (past->begin + 1) % BATCH == 0)
			batch_free(past, past->begin);
	}
	if (past->end - past->since_last > past->end - past->begin)
		past->since_last = past->begin;
	if (past->end - past->since_sync > past->end - past->begin)
		past->since_sync = past->begin;
}

/* The batches find their places in a larger ring. */
static void
move_batches(struct past *to, const struct past *past)
{
	if (past->batches == NULL)
		return;
	to->batches = zalloc((to->mask + (size_t)1) / BATCH, sizeof *to->batches);
	for (uint32_t i = past->begin; i - past->begin < past->end - past->begin; i += BATCH)
		*batch_at(to, i) = *batch_at(past, i);
	free(past->batches);
}

/* Makes room for one more activity. */
static inline void
begin_activity(struct imbalance *im, struct past *past)
{
	const size_t most = im->causes->pasts.most;
	struct past grown;

	if (past->end - past->begin >= most)
		forget(im, past, (uint32_t)most / 4);
	if (past->end - past->begin <= past->mask)
		return;
	grown = *past;
	grown.mask = 2 * past->mask + 1;
	grown.of = need(malloc((grown.mask + (size_t)1) * sizeof *grown.of));
	for (uint32_t i = past->begin; i != past->end; i++)
		*past_at(&grown, i) = *past_at(past, i);
	move_batches(&grown, past);
	if (past->mask >= FIRST)
		free(past->of);
	*past = grown;
}

/* ---- calls ------------------------------------------------------------------------------ */

struct activity *
past_add(struct imbalance *im, const struct whole_call *call)
{
	struct pasts *all = &im->causes->pasts;
	struct past *past = &all->of[call->location];
	struct activity *last = past->end != past->begin ? past_at(past, past->end - 1) : NULL;
	const struct row *row = &call->rows[0].row;
	const int64_t compute_ns = call->last_ns == INT64_MIN ? 0 : row->enter_ns - call->last_ns;
	struct wide *wide;

	if (call->polled && last != NULL && last->site == row->site &&
	    (wide = activity_wide(all, last)) != NULL && wide->polls) {
		wide->polled_ns += compute_ns;
		wide->all.call_ns += row->leave_ns - past->end_ns;
		past->end_ns = row->leave_ns;
		return last;
	}
	begin_activity(im, past);
	if (past->end == past->begin)
		past->begin_ns = row->enter_ns - compute_ns;
	last = past_at(past, past->end++);
	last->site = row->site;
	last->origin = 0;
	past->end_ns = row->leave_ns;
	if (!set_short(last, compute_ns, row->leave_ns - row->enter_ns) || call->polled)
		set_times(all, last, &(struct wide){ { compute_ns, row->leave_ns - row->enter_ns },
		    compute_ns, call->polled });
	return last;
}

struct activity *
past_divide(struct imbalance *im, uint32_t location, int64_t at_ns)
{
	struct pasts *all = &im->causes->pasts;
	struct past *past = &all->of[location];
	struct activity *a, *second;
	struct wide times, rest;

	begin_activity(im, past);
	a = past_at(past, past->end - 1);
	times = rest = get_times(all, a);
	drop_times(all, a);
	rest.all = (struct activity_part){ 0, past->end_ns - at_ns };
	times.all.call_ns -= rest.all.call_ns;
	set_times(all, a, &times);
	second = past_at(past, past->end++);
	*second = (struct activity){ .site = a->site };
	set_times(all, second, &rest);
	return second;
}

void
past_sync(struct imbalance *im, uint32_t location, int64_t at_ns)
{
	struct past *past = &im->causes->pasts.of[location];

	forget(im, past, past->since_last - past->begin);
	past->since_last = past->since_sync;
	past->since_sync = past->end - 1;
	past->sync_ns = at_ns;
}

void
past_restart(struct imbalance *im, uint32_t location, int64_t at_ns)
{
	struct pasts *all = &im->causes->pasts;
	struct past *past = &all->of[location];
	struct activity last;
	struct wide times;

	if (past->end == past->begin)
		return;
	last = *past_at(past, past->end - 1);
	times = get_times(all, &last);
	forget(im, past, past->end - past->begin);	/* its wait is over, too */
	last.origin = 0;
	times.all.compute_ns = 0;
	set_times(all, &last, &times);
	past->begin = past->since_last = past->since_sync = 0;
	past->end = 1;
	*past_at(past, 0) = last;
	past->begin_ns = past->kept_ns = past->end_ns - times.all.call_ns;
	past->sync_ns = at_ns;
}

void
causes_end(struct imbalance *im)
{
	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		struct past *past = &im->causes->pasts.of[l];

		forget(im, past, past->end - past->begin);
	}
}

/* ---- batches ---------------------------------------------------------------------------- */

void
spending_grow(struct spending *s, uint32_t site)
{
	(void)AT(s->spent, s->capacity, 2 * (size_t)site + 1);
	GROW(s->keys, s->key_capacity, s->capacity + 1);	/* spend writes one too many */
	GROW(s->ns, s->ns_capacity, s->capacity);
}

static void
sum_batch(struct imbalance *im, const struct past *past, uint32_t end, int64_t leave_ns,
    struct batch *batch)
{
	struct pasts *all = &im->causes->pasts;
	struct spending *spending = &all->spending;

	share_sums_know(&all->sums, im->causes->delays.count);
	for (uint32_t i = end; i != end - BATCH; ) {
		const struct activity *a = past_at(past, --i);
		const struct wide *wide = activity_wide(all, a);
		struct activity_part part = activity_all(a, wide);
		const int64_t ns = part.compute_ns + part.call_ns;

		batch->ns += ns;
		if (wide != NULL)
			part = activity_cut(&part, wide, ns, 0, ns);
		if (a->origin != 0) {
			const struct origin *origin = origin_at(&im->origins, a->origin);
			const struct origin_shares causes = origin_shares(&im->origins, origin);
			const int64_t waited_ns = origin->to_ns - origin->from_ns;

			part.call_ns -= waited_ns;
			batch->waited_ns += waited_ns;
			if (waited_ns > batch->longest_ns) {
				batch->longest_ns = waited_ns;
				batch->longest = a->origin;
			}
			for (unsigned k = 0; k < causes.count; k++)
				share_add(&all->sums, causes.delay[k],
				    (double)waited_ns * causes.share[k]);
		}
		spending_know(spending, a->site);
		spend(spending, 2 * a->site, part.compute_ns);
		spend(spending, 2 * a->site + 1, part.call_ns);
	}
	batch->delay = zalloc(BATCH_CAUSES, sizeof *batch->delay);
	batch->cause_ns = zalloc(BATCH_CAUSES, sizeof *batch->cause_ns);
	batch->causes = share_take(&all->sums, BATCH_CAUSES, (uint64_t)leave_ns, batch->delay,
	    batch->cause_ns);
	batch->keys = spending->count;
	batch->of = zalloc(batch->keys + 1, sizeof *batch->of);
	for (size_t i = 0; i < batch->keys; i++) {
		const uint32_t key = spending->keys[i];

		batch->of[i] = (struct batch_key){ spending->spent[key].ns, key };
		spending->spent[key] = (struct spent){ 0, false };
	}
	spending->count = 0;
}

struct batch *
batch_before(struct imbalance *im, struct past *past, uint32_t end, int64_t leave_ns,
    int64_t low_ns)
{
	struct batch *batch;

	if (!im->causes->pasts.batches || past->end == end)
		return NULL;
	if (past->end - end > BATCH) {	/* the last activity may still change */
		if (past->batches == NULL)
			past->batches = zalloc((past->mask + (size_t)1) / BATCH,
			    sizeof *past->batches);
		if (*batch_at(past, end) == NULL)	/* the next look will find it */
			*batch_at(past, end) = zalloc(1, sizeof **past->batches);
	}
	if (past->batches == NULL || end - past->begin < BATCH)
		return NULL;
	batch = *batch_at(past, end - BATCH);
	if (batch == NULL)
		return NULL;
	if (batch->delay == NULL)
		sum_batch(im, past, end, leave_ns, batch);
	return leave_ns - batch->ns >= low_ns ? batch : NULL;
}
