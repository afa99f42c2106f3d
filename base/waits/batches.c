/* SPDX-License-Identifier: BSD-3-Clause */
#include "activities.h"
#include "shares.h"

#include <stdlib.h>

/* Empty between uses. */
struct batch_scratch {
	struct spending spending;
	struct share_sums sums;
};

void
batches_begin(struct pasts *all)
{
	all->scratch = zalloc(1, sizeof *all->scratch);
}

/* ---- what a batch adds up to ------------------------------------------------------------ */

static void
add_wait(struct imbalance *im, struct share_sums *sums, struct batch *batch, uint32_t number)
{
	const struct origin *origin = origin_at(&im->origins, number);
	const int64_t ns = origin->to_ns - origin->from_ns;
	const uint32_t *delay = NULL;
	const double *shared = NULL;
	const unsigned causes = origin_shares(&im->origins, origin, &delay, &shared);

	batch->waited_ns += ns;
	if (ns > batch->longest_ns) {
		batch->longest_ns = ns;
		batch->longest = number;
	}
	for (unsigned k = 0; k < causes; k++)
		share_add(sums, delay[k], (double)ns * shared[k]);
}

static void
take_keys(struct spending *spending, struct batch *batch)
{
	batch->of = zalloc(spending->count + 1, sizeof *batch->of);
	batch->keys = spending->count;
	for (size_t i = 0; i < batch->keys; i++) {
		struct spent *spent = &spending->spent[spending->keys[i]];

		batch->of[i] = (struct batch_key){ spent->ns, spending->keys[i] };
		*spent = (struct spent){ 0, false };
	}
	spending->count = 0;
}

static void
sum_batch(struct imbalance *im, struct pasts *all, const struct past *past, uint32_t end,
    int64_t leave_ns, struct batch *batch)
{
	struct batch_scratch *scratch = all->scratch;

	share_sums_know(&scratch->sums, delays_of(im)->count);
	for (uint32_t i = end; i != end - BATCH; ) {
		const struct activity *a = past_at(past, --i);
		const struct wide *wide = activity_wide(all, a);
		struct activity_part part = activity_all(a, wide);
		const int64_t ns = part.compute_ns + part.call_ns;

		batch->ns += ns;
		if (wide != NULL)
			part = activity_cut(&part, wide, ns, 0, ns);
		if (a->origin != 0) {
			const int64_t waited_ns = batch->waited_ns;

			add_wait(im, &scratch->sums, batch, a->origin);
			part.call_ns -= batch->waited_ns - waited_ns;
		}
		spending_know(&scratch->spending, a->site);
		spend(&scratch->spending, 2 * a->site, part.compute_ns);
		spend(&scratch->spending, 2 * a->site + 1, part.call_ns);
	}
	batch->delay = zalloc(BATCH_CAUSES, sizeof *batch->delay);
	batch->cause_ns = zalloc(BATCH_CAUSES, sizeof *batch->cause_ns);
	batch->causes = share_take(&scratch->sums, BATCH_CAUSES, (uint64_t)leave_ns, batch->delay,
	    batch->cause_ns);
	take_keys(&scratch->spending, batch);
	batch->is_summed = true;
}

/* ---- batches of a location -------------------------------------------------------------- */

/* A look went beyond the activities from BEGIN on: the next one will find their batch. */
static void
note_look(struct past *past, uint32_t begin)
{
	struct batch **batch;

	if (past->batches == NULL)
		past->batches = zalloc((past->mask + (size_t)1) / BATCH, sizeof *past->batches);
	batch = batch_at(past, begin);
	if (*batch == NULL)
		*batch = zalloc(1, sizeof **batch);
}

struct batch *
batch_before(struct imbalance *im, struct pasts *all, struct past *past, uint32_t end,
    int64_t leave_ns, int64_t low_ns)
{
	struct batch *batch;

	if (all->scratch == NULL || past->end == end)
		return NULL;
	if (past->end - end > BATCH)	/* the last activity may still change */
		note_look(past, end);
	if (past->batches == NULL || end - past->begin < BATCH)
		return NULL;
	batch = *batch_at(past, end - BATCH);
	if (batch == NULL)
		return NULL;
	if (!batch->is_summed)
		sum_batch(im, all, past, end, leave_ns, batch);
	return leave_ns - batch->ns >= low_ns ? batch : NULL;
}

void
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
