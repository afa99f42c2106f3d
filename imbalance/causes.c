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
 * Memory: for each location the calls since the last but one synchronisation of all, 1024 at most.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/mpi/call_class.h"
#include "../base/tool/hash_table.h"
#include "causes.h"
#include "common.h"

enum { MOST_ACTIVITIES = 1024, LEAST_ACTIVITIES = 32, ALL_ACTIVITIES = 1 << 24 };

/* ---- what a location did of late -------------------------------------------------------- */

struct activity {
	int64_t enter_ns, leave_ns;	/* of the call; the compute is before it */
	int64_t compute_ns, mpi_ns, wait_ns, propagated_ns;
	struct origin *origin;		/* of the wait; or NULL */
	uint32_t site;
	uint8_t state;
};

struct past {
	struct activity *of;		/* in order; the kept ones are begin to before end */
	size_t begin, end, capacity;
	size_t since_last, since_sync;	/* where the last two synchronisations of all are */
	int64_t sync_ns;		/* the last one: the latest enter */
};

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
	int64_t *spent;			/* by key: scratch, zero between uses */
	size_t spent_capacity;
	uint32_t *keys;			/* those that are not zero; some more than once */
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
		im->causes->pasts[l].sync_ns = INT64_MIN;
	im->causes->most = ALL_ACTIVITIES / im->known.location_count;
	if (im->causes->most > MOST_ACTIVITIES)
		im->causes->most = MOST_ACTIVITIES;
	if (im->causes->most < LEAST_ACTIVITIES)
		im->causes->most = LEAST_ACTIVITIES;
	common_begin();
	delays_begin(&im->causes->delays, 256);
}

static void
forget(struct imbalance *im, struct past *past, size_t until)
{
	for (; past->begin < until; past->begin++) {
		struct activity *a = &past->of[past->begin];

		if (a->origin != NULL)
			im->states[a->state].propagating_ns +=
			    a->propagated_ns < a->wait_ns ? a->propagated_ns : a->wait_ns;
		origin_release(a->origin);
	}
	if (past->begin >= 64 && past->begin >= past->end - past->begin) {
		memmove(past->of, past->of + past->begin, (past->end - past->begin) * sizeof *past->of);
		past->since_last -= past->begin < past->since_last ? past->begin : past->since_last;
		past->since_sync -= past->begin < past->since_sync ? past->begin : past->since_sync;
		past->end -= past->begin;
		past->begin = 0;
	}
}

static int64_t
last_common(const struct causes *c, uint32_t a, uint32_t b, uint32_t comm, int64_t now_ns)
{
	int64_t at_ns = c->pasts[a].sync_ns, other_ns = common_before(common_comm(a, comm), now_ns);

	at_ns = other_ns > at_ns ? other_ns : at_ns;
	other_ns = common_before(common_pair(a, b), now_ns);
	return other_ns > at_ns ? other_ns : at_ns;
}

/* ---- delays ----------------------------------------------------------------------------- */

static void
spend(struct causes *c, uint32_t key, int64_t ns)
{
	size_t known = c->spent_capacity;

	if (ns == 0)
		return;
	if (key >= c->spent_capacity) {
		c->spent = grow(c->spent, &c->spent_capacity, key + (size_t)1, sizeof *c->spent);
		memset(c->spent + known, 0, (c->spent_capacity - known) * sizeof *c->spent);
	}
	if (c->key_count == c->key_capacity) {
		c->keys = grow(c->keys, &c->key_capacity, c->key_count + 1, sizeof *c->keys);
		c->spent_ns = grow(c->spent_ns, &c->spent_ns_capacity, c->key_capacity,
		    sizeof *c->spent_ns);
	}
	c->keys[c->key_count++] = key;
	c->spent[key] += ns;
}

/* What the location did in calls entered after FROM_NS and until TO_NS, times SIGN. Returns its waits. */
static int64_t
spend_past(struct causes *c, const struct past *past, int64_t from_ns, int64_t to_ns, int sign)
{
	int64_t waited_ns = 0;

	for (size_t i = past->end; i-- > past->begin; ) {
		const struct activity *a = &past->of[i];

		if (a->enter_ns <= from_ns)
			break;
		if (a->enter_ns > to_ns)
			continue;
		spend(c, 2 * a->site, sign * a->compute_ns);
		if (a->leave_ns > to_ns)
			continue;	/* the call that was waited for */
		spend(c, 2 * a->site + 1, sign * a->mpi_ns);
		waited_ns += a->wait_ns;
	}
	return waited_ns;
}

static void
add_delay(struct imbalance *im, uint32_t key, int32_t rank, double short_ns, double long_ns)
{
	struct delay new = { .key = key, .rank = rank }, *delay = delays_add(&im->causes->delays, &new);

	delay->short_ns += short_ns;
	delay->long_ns += long_ns;
	cell_of(im, BY_RANK, (size_t)rank)->delay_ns += (int64_t)(short_ns + long_ns);
	cell_of(im, BY_SITE, key / 2)->delay_ns += (int64_t)(short_ns + long_ns);
}

/* Those waits of the delaying location that had a part in this one. */
static void
share_indirect(struct imbalance *im, struct past *past, int64_t from_ns, int64_t to_ns, double share,
    struct origin *origin)
{
	const double wait_ns = (double)(origin->wait.to_ns - origin->wait.from_ns);
	const struct activity *most = NULL;

	for (size_t i = past->end; i-- > past->begin && past->of[i].enter_ns > from_ns; ) {
		struct activity *a = &past->of[i];
		const double part_ns = share * (double)a->wait_ns;

		if (a->leave_ns > to_ns || a->origin == NULL)
			continue;
		a->propagated_ns += (int64_t)part_ns;
		if (most == NULL || a->wait_ns > most->wait_ns)
			most = a;
		for (unsigned k = 0; k < a->origin->causes; k++) {
			const uint32_t key = a->origin->cause[k].key;
			const double long_ns = part_ns * a->origin->cause[k].share;

			add_delay(im, key, a->origin->cause[k].rank, 0, long_ns);
			origin_add(origin, key, a->origin->cause[k].rank, long_ns / wait_ns);
		}
	}
	if (most != NULL)
		origin_follows(origin, most->origin);
}

/* Compute of the delaying location before the call that was waited for, where that is not counted yet. */
static void
spend_uncounted(struct imbalance *im, const struct wait *wait, int64_t to_ns)
{
	const struct wait_row *cause = wait_row(im, wait->cause, wait->cause_seq);
	int64_t last_ns = im->last_leave_ns[wait->cause];

	if (cause == NULL || im->done[wait->cause] > wait->cause_seq)
		return;
	if (last_ns != INT64_MIN && to_ns > last_ns)
		spend(im->causes, 2 * cause->row.site, counted_ns(im, last_ns, to_ns));
}

/* The keys of the scratch table once each, those that are not positive gone; newest code first. */
static double
gather_delays(struct causes *c, double *set_off_ns)
{
	double delay_ns = 0;
	size_t kept = 0;

	*set_off_ns = 0;
	for (size_t i = 0; i < c->key_count; i++) {
		int64_t *spent = &c->spent[c->keys[i]];

		if (*spent > 0) {
			delay_ns += (double)*spent;
			c->spent_ns[kept] = (double)*spent;
			c->keys[kept++] = c->keys[i];
		} else
			*set_off_ns -= (double)*spent;
		*spent = 0;
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
	const int64_t from_ns = last_common(c, wait->location, wait->cause, wait->comm, to_ns);
	const int32_t rank = im->known.location_rank[wait->cause];
	struct origin *origin = zalloc(1, sizeof *origin);
	double delay_ns, waited_ns, more_ns, share;

	*origin = (struct origin){ .wait = *wait, .users = 1 };
	spend_uncounted(im, wait, to_ns);
	waited_ns = (double)spend_past(c, past, from_ns, to_ns, 1);
	spend_past(c, &c->pasts[wait->location], from_ns, INT64_MAX, -1);
	delay_ns = gather_delays(c, &more_ns);
	if (more_ns > delay_ns + waited_ns - wait_ns)
		more_ns = delay_ns + waited_ns - wait_ns;
	delay_ns = set_off(c, delay_ns, more_ns);
	share = wait_ns < delay_ns + waited_ns ? wait_ns / (delay_ns + waited_ns) : 1;
	for (size_t i = 0; i < c->key_count; i++)
		if (c->spent_ns[i] > 0) {
			add_delay(im, c->keys[i], rank, share * c->spent_ns[i], 0);
			origin_add(origin, c->keys[i], rank, share * c->spent_ns[i] / wait_ns);
		}
	c->key_count = 0;
	im->states[wait->state].direct_ns += (int64_t)(share * delay_ns);
	im->states[wait->state].indirect_ns += (int64_t)(share * waited_ns);
	if (waited_ns > 0)
		share_indirect(im, past, from_ns, to_ns, share, origin);
	longest_add(&c->longest, origin);
	return origin;
}

/* ---- call by call ----------------------------------------------------------------------- */

/* After the call: whom it synchronised with. */
static void
note_syncs(struct imbalance *im, uint32_t location, uint64_t first, uint64_t end)
{
	struct causes *c = im->causes;
	struct past *past = &c->pasts[location];

	for (uint64_t seq = first; seq < end; seq++) {
		const struct wait_row *row = wait_row(im, location, seq);
		int64_t at_ns = row->row.enter_ns;

		if (!row->has_other)
			continue;
		at_ns = row->other_ns > at_ns ? row->other_ns : at_ns;
		if (!is_collective(call_class(row->row.call))) {
			if (!row->is_send)
				common_note(common_pair(location, row->other), at_ns);
		} else if (row->overlap && row->row.comm > 1)
			common_note(common_comm(location, row->row.comm), at_ns);
		else if (row->overlap && row->row.comm == 1) {
			/* What was before the last but one synchronisation of all is not asked for again. */
			forget(im, past, past->since_last);
			past->since_last = past->since_sync;
			past->since_sync = past->end;
			common_forget(past->sync_ns);
			past->sync_ns = at_ns;
		}
	}
}

void
count_causes(struct imbalance *im, uint32_t location, uint64_t first, uint64_t end, int64_t program_ns,
    const struct wait *waits, int count)
{
	struct past *past = &im->causes->pasts[location];
	const struct row *row = &wait_row(im, location, first)->row;
	struct activity *now;
	int64_t all_ns = 0;

	if (past->end - past->begin >= im->causes->most)
		forget(im, past, past->begin + im->causes->most / 4);
	if (past->end == past->capacity)
		past->of = grow(past->of, &past->capacity, past->end + 1, sizeof *past->of);
	now = &past->of[past->end++];
	*now = (struct activity){ .enter_ns = row->enter_ns, .leave_ns = row->leave_ns,
	    .compute_ns = program_ns, .site = row->site };
	for (int i = 0; i < count; i++) {
		all_ns += waits[i].to_ns - waits[i].from_ns;
		if (waits[i].cause == NOBODY || waits[i].cause == location ||
		    counted_ns(im, waits[i].from_ns, waits[i].to_ns) == 0)
			continue;
		origin_release(now->origin);
		now->origin = explain(im, &waits[i]);
		now->wait_ns = waits[i].to_ns - waits[i].from_ns;
		now->state = (uint8_t)waits[i].state;
	}
	now->mpi_ns = row->leave_ns - row->enter_ns - all_ns;
	note_syncs(im, location, first, end);
}

void
causes_end(struct imbalance *im)
{
	for (uint32_t l = 0; l < im->known.location_count; l++)
		forget(im, &im->causes->pasts[l], im->causes->pasts[l].end);
}

/* ---- for reports ------------------------------------------------------------------------ */

static int
by_cost(const void *left, const void *right)
{
	const struct delay *a = left, *b = right;
	const double x = a->short_ns + a->long_ns, y = b->short_ns + b->long_ns;

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
