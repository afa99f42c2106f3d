/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why waits came about (Boehme, Geimer, Wolf, Arnold: Identifying the root causes of wait states,
 * ICPP 2010). Since both last synchronised, the delaying location spent on some code more time than
 * the waiting one: d_c = max(0, t_c(delaying) - t_c(waiting)) for each call site, compute up to it
 * and MPI in it apart. Besides it may have waited itself, W. Of the wait w
 *
 *	d_c * min(w / (sum d + W), 1)		is the short-term cost of the delay c,
 *	W * min(w / (sum d + W), 1)		is indirect, and shared out over what caused those
 *						waits: the long-term cost of their delays
 *
 * Memory: for each location the calls since the last but one synchronisation of all, 8192 at most.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/mpi/call_class.h"
#include "../base/tool/hash_table.h"
#include "causes.h"
#include "common.h"
#include "past.h"

enum { MOST_ACTIVITIES = 8192, LEAST_ACTIVITIES = 32, ALL_ACTIVITIES = 1 << 22 };

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t
positive(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

#define HASH(d) mix((d)->key, (uint32_t)(d)->rank)
#define SAME(a, b) ((a)->key == (b)->key && (a)->rank == (b)->rank)
#define FREE(d) ((d)->rank < 0)
#define MAKE_FREE(d) ((d)->rank = -1)
HASH_TABLE(delays, struct delay, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL, die("out of memory"))
#undef HASH
#undef SAME
#undef FREE
#undef MAKE_FREE

struct causes {
	struct past *pasts;		/* by location */
	size_t most;			/* activities of each */
	struct delays delays;
	struct spent {			/* by key: scratch, zero between uses */
		int64_t ns;
		bool listed;
	} *spent;
	size_t spent_capacity;
	uint32_t *keys;			/* those that are listed */
	double *spent_ns;		/* by place in keys: what was gathered of it */
	size_t key_count, key_capacity, spent_ns_capacity;
	struct longest longest;
};

void
causes_begin(struct imbalance *im)
{
	im->causes = zalloc(1, sizeof *im->causes);
	im->causes->pasts = zalloc(im->known.location_count, sizeof *im->causes->pasts);
	for (uint32_t l = 0; l < im->known.location_count; l++)
		im->causes->pasts[l].sync_ns = im->causes->pasts[l].kept_ns = INT64_MIN;
	im->causes->most = (size_t)most(LEAST_ACTIVITIES,
	    least(MOST_ACTIVITIES, ALL_ACTIVITIES / im->known.location_count));
	common_begin();
	delays_begin(&im->causes->delays, 256);
}

/*
 * The last instant, not after NOW, that both spent in calls that synchronised them, or in one of all.
 * Both had the same time since, so that what the one waited is what the other did longer. What is
 * not kept of either cannot be compared.
 */
static int64_t
last_common(const struct causes *c, uint32_t a, uint32_t b, uint32_t comm, int64_t now_ns)
{
	const int64_t at_ns[] = { c->pasts[a].sync_ns, c->pasts[a].kept_ns, c->pasts[b].kept_ns,
	    common_before(common_comm(a, comm), now_ns), common_before(common_pair(a, b), now_ns) };
	int64_t last_ns = INT64_MIN;

	for (size_t i = 0; i < sizeof at_ns / sizeof at_ns[0]; i++)
		last_ns = at_ns[i] > last_ns ? at_ns[i] : last_ns;
	return last_ns;
}

/* ---- delays ----------------------------------------------------------------------------- */

/* Room for the keys of a site, before anything is spent on it. */
static void
know_site(struct causes *c, uint32_t site)
{
	const size_t known = c->spent_capacity;

	c->spent = grow(c->spent, &c->spent_capacity, 2 * (size_t)site + 2, sizeof *c->spent);
	memset(c->spent + known, 0, (c->spent_capacity - known) * sizeof *c->spent);
	c->keys = grow(c->keys, &c->key_capacity, c->spent_capacity, sizeof *c->keys);
	c->spent_ns = grow(c->spent_ns, &c->spent_ns_capacity, c->spent_capacity, sizeof *c->spent_ns);
}

static inline void
spend(struct causes *c, uint32_t key, int64_t ns)
{
	struct spent *spent = &c->spent[key];

	if (ns == 0)
		return;
	spent->ns += ns;
	if (!spent->listed)
		c->keys[c->key_count++] = key;
	spent->listed = true;
}

/* How much of the activity's wait lies between; what does not count is outside of that. */
static int64_t
waited(const struct activity *a, int64_t from_ns, int64_t to_ns)
{
	return a->origin == NULL ? 0 :
	    positive(least(a->origin->wait.to_ns, to_ns) - most(a->origin->wait.from_ns, from_ns));
}

/* What the location did between, times SIGN, but for its waits, which are returned. */
static int64_t
spend_past(struct imbalance *im, const struct past *past, int64_t from_ns, int64_t to_ns, int sign)
{
	struct causes *c = im->causes;
	int64_t waited_ns = 0;
	const int64_t low_ns = most(from_ns, im->from_ns), high_ns = least(to_ns, im->to_ns);

	for (size_t i = past->end; i-- > past->begin && past->of[i].leave_ns > from_ns; ) {
		const struct activity *a = &past->of[i];
		const int64_t begin_ns = activity_begin_ns(past, i);
		int64_t wait_ns = 0, compute_ns = a->enter_ns - begin_ns, all_ns = a->leave_ns - begin_ns;

		if (a->origin != NULL)
			wait_ns = waited(a, low_ns, high_ns);
		if (begin_ns < low_ns || a->leave_ns > high_ns) {
			all_ns = positive(least(a->leave_ns, high_ns) - most(begin_ns, low_ns));
			compute_ns = positive(least(a->enter_ns, high_ns) - most(begin_ns, low_ns));
		}
		if (a->polls)
			compute_ns = all_ns == 0 ? 0 : (int64_t)((double)all_ns * (double)a->polled_ns /
			    (double)(a->leave_ns - begin_ns));
		spend(c, 2 * a->site, sign * compute_ns);
		spend(c, 2 * a->site + 1, sign * (all_ns - compute_ns - wait_ns));
		waited_ns += wait_ns;
	}
	return waited_ns;
}

static void
add_delay(struct imbalance *im, uint32_t key, int32_t rank, double short_ns, double long_ns)
{
	struct delay new = { .key = key, .rank = rank }, *delay = delays_add(&im->causes->delays, &new);

	fixed_add_double(&delay->short_whole_ns, &delay->short_fraction, short_ns);
	fixed_add_double(&delay->long_whole_ns, &delay->long_fraction, long_ns);
	cell_of(im, BY_RANK, (size_t)rank)->delay_ns += (int64_t)(short_ns + long_ns);
	cell_of(im, BY_SITE, key / 2)->delay_ns += (int64_t)(short_ns + long_ns);
}

/* Those waits of the delaying location that had a part in this one. */
static void
share_indirect(struct imbalance *im, struct past *past, int64_t from_ns, int64_t to_ns, double share,
    struct origin *origin)
{
	const double wait_ns = (double)(origin->wait.to_ns - origin->wait.from_ns);
	const struct activity *largest = NULL;
	int64_t largest_ns = 0;

	from_ns = most(from_ns, im->from_ns);
	to_ns = least(to_ns, im->to_ns);
	for (size_t i = past->end; i-- > past->begin && past->of[i].leave_ns > from_ns; ) {
		struct activity *a = &past->of[i];
		const int64_t waited_ns = waited(a, from_ns, to_ns);
		const double part_ns = share * (double)waited_ns;

		if (waited_ns == 0)
			continue;
		a->origin->propagated_ns += part_ns;
		if (waited_ns > largest_ns) {
			largest_ns = waited_ns;
			largest = a;
		}
		for (unsigned k = 0; k < a->origin->causes; k++) {
			const uint32_t key = a->origin->cause[k].key;
			const double long_ns = part_ns * a->origin->cause[k].share;

			add_delay(im, key, a->origin->cause[k].rank, 0, long_ns);
			origin_add(&im->origins, origin, key, a->origin->cause[k].rank, long_ns / wait_ns);
		}
	}
	if (largest != NULL)
		origin_follows(origin, largest->origin);
}

/* What the delaying location did in the call that was waited for, and before it, where not counted yet. */
static void
spend_uncounted(struct imbalance *im, const struct wait *wait, int64_t from_ns)
{
	const struct wait_row *cause = wait_row(im, wait->cause, wait->cause_seq);
	const int64_t last_ns = im->last_leave_ns[wait->cause], to_ns = wait->to_ns;

	if (cause == NULL || im->done[wait->cause] > wait->cause_seq)
		return;
	if (2 * (size_t)cause->row.site + 1 >= im->causes->spent_capacity)
		know_site(im->causes, cause->row.site);
	if (last_ns != INT64_MIN)
		spend(im->causes, 2 * cause->row.site,
		    counted_ns(im, most(last_ns, from_ns), least(cause->row.enter_ns, to_ns)));
	spend(im->causes, 2 * cause->row.site + 1,
	    counted_ns(im, most(cause->row.enter_ns, from_ns), to_ns));
}

/* The keys of the scratch table, those that are not positive gone; newest code first. */
static double
gather_delays(struct causes *c, double *set_off_ns)
{
	double delay_ns = 0;
	size_t kept = 0;

	*set_off_ns = 0;
	for (size_t i = 0; i < c->key_count; i++) {
		const int64_t ns = c->spent[c->keys[i]].ns;

		c->spent[c->keys[i]] = (struct spent){ 0, false };
		if (ns > 0) {
			delay_ns += (double)ns;
			c->spent_ns[kept] = (double)ns;
			c->keys[kept++] = c->keys[i];
		} else
			*set_off_ns -= (double)ns;
	}
	c->key_count = kept;
	return delay_ns;
}

/*
 * What the waiting location spent more on other code is set off against the oldest delays: ranks
 * with different roles do not spend the same time on the same lines. More than the wait is needed
 * to explain is not set off.
 */
static double
set_off(struct causes *c, double delay_ns, double limit_ns)
{
	for (size_t i = c->key_count; i-- > 0 && limit_ns > 0; ) {
		double cut_ns = c->spent_ns[i] < limit_ns ? c->spent_ns[i] : limit_ns;

		c->spent_ns[i] -= cut_ns;
		delay_ns -= cut_ns;
		limit_ns -= cut_ns;
	}
	return delay_ns;
}

static struct origin *
explain(struct imbalance *im, const struct wait *wait)
{
	struct causes *c = im->causes;
	struct past *past = &c->pasts[wait->cause];
	const double wait_ns = (double)(wait->to_ns - wait->from_ns);
	const int64_t to_ns = wait->to_ns;
	const int64_t from_ns = last_common(c, wait->location, wait->cause, wait->comm, wait->from_ns + 1);
	const int32_t rank = im->known.location_rank[wait->cause];
	struct origin *origin = late_origin(im, wait);
	double delay_ns, waited_ns, more_ns, share;

	if (origin == NULL)
		origin = origin_new(&im->origins, wait);
	origin->explained = true;
	spend_uncounted(im, wait, from_ns);
	waited_ns = (double)spend_past(im, past, from_ns, to_ns, 1);
	spend_past(im, &c->pasts[wait->location], from_ns, wait->from_ns, -1);
	delay_ns = gather_delays(c, &more_ns);
	if (more_ns > delay_ns + waited_ns - wait_ns)
		more_ns = delay_ns + waited_ns - wait_ns;
	delay_ns = set_off(c, delay_ns, more_ns);
	share = wait_ns < delay_ns + waited_ns ? wait_ns / (delay_ns + waited_ns) : 1;
	for (size_t i = 0; i < c->key_count; i++)
		if (c->spent_ns[i] > 0) {
			add_delay(im, c->keys[i], rank, share * c->spent_ns[i], 0);
			origin_add(&im->origins, origin, c->keys[i], rank, share * c->spent_ns[i] / wait_ns);
		}
	c->key_count = 0;
	origin->direct_ns = (int64_t)(share * delay_ns);
	origin->indirect_ns = (int64_t)(share * waited_ns);
	im->states[wait->state].direct_ns += origin->direct_ns;
	im->states[wait->state].indirect_ns += origin->indirect_ns;
	if (waited_ns > 0)
		share_indirect(im, past, from_ns, to_ns, share, origin);
	longest_add(&im->origins, &c->longest, origin);
	return origin;
}

/* ---- call by call ----------------------------------------------------------------------- */

/* After the call: whom it synchronised with. */
static void
note_syncs(struct imbalance *im, const struct whole_call *call)
{
	struct past *past = &im->causes->pasts[call->location];
	const enum call_class class = call->kind->class;

	for (uint32_t i = 0; i < call->count; i++) {
		const struct wait_row *row = &call->rows[i];
		const int64_t at_ns = most(row->row.enter_ns, row->other_ns);
		const uint32_t comm = class == CLASS_INIT || class == CLASS_FINALIZE ? 1 : row->row.comm;

		if (!row->has_other)
			continue;
		if (!is_collective(class)) {
			if (!row->is_send)
				common_note(common_pair(call->location, row->other), at_ns);
		} else if (row->overlap && comm > 1)
			common_note(common_comm(call->location, comm), at_ns);
		else if (row->overlap && comm == 1) {
			common_forget(past->sync_ns);
			past_sync(im, past, at_ns);
		}
	}
}

void
count_causes(struct imbalance *im, const struct whole_call *call, const struct wait *waits, int count)
{
	struct past *past = &im->causes->pasts[call->location];
	struct activity *now = past_add(im, past, im->causes->most, call);

	if (2 * (size_t)now->site + 1 >= im->causes->spent_capacity)
		know_site(im->causes, now->site);
	for (int i = 0; i < count; i++) {
		if (is_completion(waits[i].state))	/* it is the collective itself that takes so long */
			im->states[waits[i].state].direct_ns +=
			    counted_ns(im, waits[i].from_ns, waits[i].to_ns);
		if (waits[i].cause == NOBODY || waits[i].cause == call->location ||
		    counted_ns(im, waits[i].from_ns, waits[i].to_ns) == 0)
			continue;
		if (now->origin != NULL)	/* of the first of two */
			now = past_divide(im, past, im->causes->most, waits[i].from_ns);
		now->origin = explain(im, &waits[i]);
	}
	note_syncs(im, call);
}

void
causes_forget(struct imbalance *im, int64_t at_ns)
{
	for (uint32_t l = 0; l < im->known.location_count; l++)
		past_restart(im, &im->causes->pasts[l], at_ns);
	common_forget(at_ns);
}

void
causes_end(struct imbalance *im)
{
	for (uint32_t l = 0; l < im->known.location_count; l++)
		past_forget(im, &im->causes->pasts[l], im->causes->pasts[l].end);
}

/* ---- for reports ------------------------------------------------------------------------ */

static int
by_cost(const void *left, const void *right)
{
	const struct delay *a = left, *b = right;
	const double x = delay_cost_ns(a), y = delay_cost_ns(b);

	if (x != y)
		return x > y ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

struct delay *
sorted_delays(const struct imbalance *im, size_t *count)
{
	const struct delays *all = &im->causes->delays;
	struct delay *sorted = zalloc(all->count + 1, sizeof *sorted);

	*count = 0;
	for (size_t i = 0; i < all->size; i++)
		if (all->slots[i].rank >= 0)
			sorted[(*count)++] = all->slots[i];
	qsort(sorted, *count, sizeof *sorted, by_cost);
	return sorted;
}

size_t
chain_count(const struct imbalance *im)
{
	return im->causes->longest.count;
}

size_t
chain_of(const struct imbalance *im, size_t index, struct wait chain[MOST_LINKS])
{
	const struct origin *origin = im->causes->longest.of[index];
	size_t links = 0;

	for (; origin != NULL && links < MOST_LINKS; origin = origin->before)
		chain[links++] = origin->wait;
	return links;
}
