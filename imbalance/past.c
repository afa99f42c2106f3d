/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "past.h"

static void
forget_one(struct imbalance *im, struct past *past, struct activity *a)
{
	struct origin *o = a->origin;
	double wait_ns;

	past->kept_ns = a->leave_ns;
	if (o == NULL)
		return;
	wait_ns = (double)(o->wait.to_ns - o->wait.from_ns);
	o->propagating_ns = (int64_t)(o->propagated_ns < wait_ns ? o->propagated_ns : wait_ns);
	im->states[o->wait.state].propagating_ns += o->propagating_ns;
	origin_forget_causes(&im->origins, o);
	origin_release(&im->origins, o);
}

void
past_forget(struct imbalance *im, struct past *past, size_t until)
{
	for (; past->begin < until; past->begin++)
		forget_one(im, past, &past->of[past->begin]);
}

/* There are as many of these as locations: where few are kept the room of forgotten ones is used again. */
static void
make_room(struct past *past)
{
	if (past->end < past->capacity)
		return;
	if (past->begin == 0 || 4 * past->begin < past->end) {
		past->of = grow_little(past->of, &past->capacity, past->end + 1, sizeof *past->of);
		return;
	}
	memmove(past->of, past->of + past->begin, (past->end - past->begin) * sizeof *past->of);
	past->since_last -= past->begin < past->since_last ? past->begin : past->since_last;
	past->since_sync -= past->begin < past->since_sync ? past->begin : past->since_sync;
	past->end -= past->begin;
	past->begin = 0;
}

struct activity *
past_add(struct imbalance *im, struct past *past, size_t most, const struct whole_call *call)
{
	struct activity *last = past->end > past->begin ? &past->of[past->end - 1] : NULL;
	const struct row *row = &call->rows[0].row;
	const int64_t compute_ns = call->last_ns == INT64_MIN ? 0 : row->enter_ns - call->last_ns;

	if (call->polled && last != NULL && last->polls && last->site == row->site) {
		last->polled_ns += compute_ns;
		last->leave_ns = row->leave_ns;
		return last;
	}
	if (past->end - past->begin >= most)
		past_forget(im, past, past->begin + most / 4);
	make_room(past);
	past->of[past->end] = (struct activity){ row->enter_ns, row->leave_ns, NULL, compute_ns, row->site,
	    call->polled };
	return &past->of[past->end++];
}

struct activity *
past_divide(struct imbalance *im, struct past *past, size_t most, int64_t at_ns)
{
	struct activity rest;

	if (past->end - past->begin >= most)
		past_forget(im, past, past->begin + most / 4);
	make_room(past);
	rest = past->of[past->end - 1];
	past->of[past->end - 1].leave_ns = rest.enter_ns = at_ns;
	rest.origin = NULL;
	past->of[past->end] = rest;
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

void
past_restart(struct imbalance *im, struct past *past, int64_t at_ns)
{
	struct activity last;

	if (past->end == past->begin)
		return;
	last = past->of[past->end - 1];
	past_forget(im, past, past->end);	/* its wait is over, too */
	last.origin = NULL;
	past->of[0] = last;
	past->begin = past->since_last = past->since_sync = 0;
	past->end = 1;
	past->kept_ns = last.enter_ns;
	past->sync_ns = at_ns;
}
