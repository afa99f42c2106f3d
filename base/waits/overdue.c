/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "core.h"

struct overdue_row {
	uint64_t seq;
	uint32_t location;
};

void
overdue_take(struct imbalance *im)
{
	const struct edge_block *e = &im->graph.edges;

	for (size_t i = 0; i < e->count; i++) {
		struct wait_row *row = wait_row_change(im, e->location[i], e->seq[i]);

		if (row == NULL ||
		    window_kept(&im->graph.window, e->location[i], e->seq[i]) != NULL)
			continue;
		row->overdue = true;
		window_keep(&im->graph.window, e->location[i], e->seq[i]);
		*APPEND(im->overdue, im->overdue_count, im->overdue_capacity) =
		    (struct overdue_row){ e->seq[i], e->location[i] };
	}
}

void
overdue_settle(struct imbalance *im)
{
	size_t kept = 0;

	for (size_t i = 0; i < im->overdue_count; i++) {
		const struct overdue_row row = im->overdue[i];

		if (row.seq < im->graph.seqs[row.location])
			window_forget_kept(&im->graph.window, row.location, row.seq);
		else
			im->overdue[kept++] = row;
	}
	im->overdue_count = kept;
}

struct wait_row *
edge_row(struct imbalance *im, uint32_t location, uint64_t seq)
{
	struct wait_row *row = wait_row_change(im, location, seq);

	if (row == NULL && im->overdue != NULL)
		row = open_start(im, location, seq);
	if (row == NULL && im->overdue != NULL)
		row = window_kept(&im->graph.window, location, seq);
	if (row != NULL)
		row->overdue = false;	/* its edge is here */
	return row;
}

bool
is_overdue(const struct imbalance *im, const struct whole_call *call)
{
	bool is = false;

	for (uint32_t i = 0; im->overdue != NULL && i < call->count && !is; i++) {
		const struct wait_row *row = &call->rows[i], *start = call->kind->ends ?
		    referred_row(im, row, call->location, call->first + i) : NULL;

		is = row->overdue || (start != NULL && start->overdue);
	}
	return is;
}
