/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "core.h"

struct overdue_row {
	uint64_t seq;
	uint32_t location;
};

struct overdue_rows {
	struct overdue_row *at;		/* those kept in the window */
	size_t count, capacity;
};

void
overdue_take(struct imbalance *im)
{
	const struct edge_block *e = &im->graph.edges;

	if (im->overdue == NULL)
		im->overdue = zalloc(1, sizeof *im->overdue);
	for (size_t i = 0; i < e->count; i++) {
		struct wait_row *row = wait_row_change(im, e->location[i], e->seq[i]);

		if (row == NULL ||
		    window_kept(&im->graph.window, e->location[i], e->seq[i]) != NULL)
			continue;
		row->overdue = true;
		window_keep(&im->graph.window, e->location[i], e->seq[i]);
		*APPEND(im->overdue->at, im->overdue->count, im->overdue->capacity) =
		    (struct overdue_row){ e->seq[i], e->location[i] };
	}
}

void
overdue_settle(struct imbalance *im)
{
	struct overdue_rows *o = im->overdue;
	size_t kept = 0;

	for (size_t i = 0; o != NULL && i < o->count; i++)
		if (o->at[i].seq < im->graph.seqs[o->at[i].location])
			window_forget_kept(&im->graph.window, o->at[i].location, o->at[i].seq);
		else
			o->at[kept++] = o->at[i];
	if (o != NULL)
		o->count = kept;
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
