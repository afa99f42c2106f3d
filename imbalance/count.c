/* SPDX-License-Identifier: BSD-3-Clause */
/* One call, once no edge can reach it any more: what it adds to all sums. */
#include "causes.h"
#include "functions.h"
#include "one_sided.h"
#include "order.h"

static void
count_cell(struct cell *cell, const struct whole_call *call)
{
	cell->compute_ns += call->program_ns;
	cell->mpi_ns += call->mpi_ns;
	if (call->polled)
		cell->polling_ns += call->mpi_ns;
	cell->calls++;
}

void
count_call(struct imbalance *im, const struct whole_call *call)
{
	const struct row *row = &call->rows[0].row;
	const uint32_t location = call->location;
	const int32_t rank = im->known.location_rank[location];
	struct wait waits[MOST_WAITS];
	int count = find_waits(im, call, waits);
	int64_t useful_ns = call->mpi_ns;

	for (int i = 0; i < count; i++) {
		count_wait(im, &waits[i], 1);
		if (waits[i].state != LATE_SENDER)	/* that may still turn out in wrong order */
			count_largest(im, &waits[i]);
		useful_ns -= counted_ns(im, waits[i].from_ns, waits[i].to_ns);
	}
	count_cell(cell_of(im, BY_RANK, (size_t)rank), call);
	count_cell(cell_of(im, BY_SITE, row->site), call);
	count_cell(cell_of(im, BY_CALL, row->call), call);
	count_cell(cell_of(im, BY_COMMUNICATOR, row->comm), call);
	if (im->observer != NULL)
		im->observer->call(im->observer, im, location, row, waits, count);
	count_site(im, row->site, rank, call->program_ns, useful_ns);
	if (im->functions != NULL)
		functions_count(im, location, row, call->last_ns);
	if (!im->waits_only)
		count_causes(im, call, waits, count);
	count_analytic(im, call);
	one_sided_count(im, call);
	if (call->kind->starts || call->kind->ends)
		open_count(im, call);
	if (location >= (uint32_t)im->known.ranks)
		;		/* of a further thread */
	else if (call->last_ns != INT64_MIN && !call->kind->frames)
		span_call_between(&im->spans[location], call->program_ns, row->leave_ns);
	else
		span_call_within(&im->spans[location], row->call, row->enter_ns, row->leave_ns,
		    im->from_ns, im->to_ns);
	im->last_leave_ns[location] = row->leave_ns;
	if (call->last_ns == INT64_MIN)
		im->before_ns[location] = counted_ns(im, 0, row->enter_ns);
}
