/* SPDX-License-Identifier: BSD-3-Clause */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { LATE = 100 };	/* remembered for each location */

/* As counted. */
static struct wait
wait_of(const struct imbalance *im, const struct late *late)
{
	struct wait wait = origin_wait(origin_at(&im->origins, late->origin));

	wait.comm = late->comm;
	wait.call = late->call;
	return wait;
}

/* Its state is certain. */
static void
forget(struct imbalance *im, const struct late *late)
{
	const struct wait wait = wait_of(im, late);

	count_largest(im, &wait);
	origin_release(&im->origins, late->origin);
}

void
late_remember(struct imbalance *im, const struct wait *wait, int64_t sent_ns)
{
	struct late_list *list = &im->late[wait->location];
	const unsigned at = list->next;

	if (list->count == LATE)
		forget(im, &list->of[at]);
	list->of = grow_little(list->of, &list->capacity, at + 1, sizeof *list->of);
	list->next = (at + 1) % LATE;
	list->count += list->count < LATE;
	list->of[at] = (struct late){ .sent_ns = sent_ns, .origin = origin_new(&im->origins, wait),
	    .comm = wait->comm, .call = (uint16_t)wait->call };
	if (list->count == 1 || sent_ns > list->latest_ns)
		list->latest_ns = sent_ns;
}

struct late *
late_of(struct imbalance *im, const struct wait *wait)
{
	struct late_list *list = &im->late[wait->location];
	const unsigned at = (list->next + LATE - 1) % LATE;	/* remembered last */
	struct late *late = list->count > 0 ? &list->of[at] : NULL;

	return late == NULL || wait->state != LATE_SENDER || late->explained ||
	    origin_at(&im->origins, late->origin)->from_ns != wait->from_ns ? NULL : late;
}

/* Moves the wait, and its causes, from the state it was counted in to STATE. */
static void
change_state(struct imbalance *im, const struct late *late, enum state state)
{
	struct origin *origin = origin_at(&im->origins, late->origin);
	struct state_sums *from = &im->states[origin->state], *to = &im->states[state];
	const int64_t propagating_ns = origin_propagating_ns(origin);
	struct wait wait = wait_of(im, late);

	count_wait(im, &wait, -1);
	wait.state = state;
	origin->state = (uint8_t)state;
	count_wait(im, &wait, 1);
	from->direct_ns -= late->direct_ns;
	to->direct_ns += late->direct_ns;
	from->indirect_ns -= late->indirect_ns;
	to->indirect_ns += late->indirect_ns;
	from->propagating_ns -= propagating_ns;
	to->propagating_ns += propagating_ns;
	forget(im, late);
}

/* A message was received: messages sent after it but received before it came in wrong order. */
void
late_change(struct imbalance *im, struct late_list *list, const struct wait_row *receive)
{
	int64_t latest_ns = INT64_MIN;

	for (unsigned i = 0; i < list->count; i++) {
		struct late *late = &list->of[i];

		if (late->sent_ns <= receive->other_ns) {
			latest_ns = late->sent_ns > latest_ns ? late->sent_ns : latest_ns;
			continue;
		}
		change_state(im, late, origin_at(&im->origins, late->origin)->cause ==
		    receive->other ? WRONG_ORDER_SAME : WRONG_ORDER_DIFFERENT);
		*late = list->of[--list->count];
		list->next = list->count % LATE;
		i--;
	}
	list->latest_ns = latest_ns;
}

/* ---- forgetting ------------------------------------------------------------------------- */

/* Unsettled rows of the location were entered at or after this. */
static int64_t
entered_ns(const struct imbalance *im, uint32_t location)
{
	const struct wait_row *last = im->done[location] == im->settled[location] ? NULL :
	    /* other rows of its call may not be settled */
	    wait_row(im, location, im->settled[location] - 1);

	return last != NULL ? last->row.enter_ns : im->last_leave_ns[location];
}

/*
 * Uncounted receives of the location whose edges have come got no message sent before this. They
 * may be unsettled, since an earlier row lacks its edge.
 */
static int64_t
sent_ns(const struct imbalance *im, uint32_t location)
{
	const uint64_t end = window_end(&im->graph.window, location);
	int64_t first_ns = INT64_MAX;

	for (uint64_t seq = im->done[location]; seq < end; seq++) {
		const struct wait_row *row = wait_row(im, location, seq);

		if (row != NULL && row->has_other && !row->is_send && row->other_ns < first_ns)
			first_ns = row->other_ns;
	}
	return first_ns;
}

static bool
any_until(const struct late_list *list, int64_t limit_ns)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->of[i].sent_ns <= limit_ns)
			return true;
	return false;
}

/* Messages sent up to LIMIT are certain; the others stay, in order. */
static void
settle_list(struct imbalance *im, struct late_list *list, int64_t limit_ns)
{
	struct late kept[LATE];
	unsigned count = 0;

	for (unsigned i = 0; i < list->count; i++) {
		const struct late *late = &list->of[list->count < LATE ? i :
		    (list->next + i) % LATE];

		if (late->sent_ns > limit_ns)
			kept[count++] = *late;
		else
			forget(im, late);
	}
	/* cppcheck-suppress uninitvar */
	memcpy(list->of, kept, count * sizeof *kept);
	list->count = count;
	list->next = count % LATE;
}

/*
 * If the edge of a receive has come, its message is known. If not, its send is not settled, and was
 * entered after all settled rows of its location: both ends of a later edge are unsettled.
 */
void
late_settle(struct imbalance *im)
{
	int64_t limit_ns = INT64_MAX;

	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		const int64_t ns = entered_ns(im, l);

		limit_ns = ns < limit_ns ? ns : limit_ns;
	}
	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		struct late_list *list = &im->late[l];
		int64_t ns;

		if (!any_until(list, limit_ns))
			continue;
		ns = sent_ns(im, l);
		settle_list(im, list, ns < limit_ns ? ns : limit_ns);
	}
}

void
late_forget(struct imbalance *im)
{
	for (uint32_t l = 0; l < im->graph.known.location_count; l++) {
		struct late_list *list = &im->late[l];

		for (unsigned i = 0; i < list->count; i++)
			forget(im, &list->of[i]);
		list->count = list->next = 0;
	}
}
