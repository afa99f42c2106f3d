/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "past.h"

static void
forget_one(struct imbalance *im, struct past *past, struct activity *a)
{
	const double wait_ns = (double)(a->wait_to_ns - a->wait_from_ns);

	past->kept_ns = a->leave_ns;
	if (a->origin == NULL)
		return;
	a->origin->propagating_ns = (int64_t)(a->propagated_ns < wait_ns ? a->propagated_ns : wait_ns);
	im->states[a->origin->wait.state].propagating_ns += a->origin->propagating_ns;
	origin_release(a->origin);
}

void
past_forget(struct imbalance *im, struct past *past, size_t until)
{
	for (; past->begin < until; past->begin++)
		forget_one(im, past, &past->of[past->begin]);
	if (past->begin >= 64 && past->begin >= past->end - past->begin) {
		memmove(past->of, past->of + past->begin, (past->end - past->begin) * sizeof *past->of);
		past->since_last -= past->begin < past->since_last ? past->begin : past->since_last;
		past->since_sync -= past->begin < past->since_sync ? past->begin : past->since_sync;
		past->end -= past->begin;
		past->begin = 0;
	}
}

struct activity *
past_add(struct imbalance *im, struct past *past, size_t most, const struct activity *activity)
{
	struct activity *last = past->end > past->begin ? &past->of[past->end - 1] : NULL;

	if (last != NULL && last->polls && activity->polls && last->site == activity->site) {
		last->polled_ns += activity->enter_ns - activity->begin_ns;
		last->leave_ns = activity->leave_ns;
		return last;
	}
	if (past->end - past->begin >= most)
		past_forget(im, past, past->begin + most / 4);
	if (past->end == past->capacity)
		past->of = grow(past->of, &past->capacity, past->end + 1, sizeof *past->of);
	past->of[past->end] = *activity;
	past->of[past->end].polled_ns = activity->enter_ns - activity->begin_ns;
	return &past->of[past->end++];
}

void
past_sync(struct imbalance *im, struct past *past, int64_t at_ns)
{
	past_forget(im, past, past->since_last);
	past->since_last = past->since_sync;
	past->since_sync = past->end - 1;
	past->sync_ns = at_ns;
}
