/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "../tool/hash_table.h"
#include "core.h"

struct open_request {
	uint64_t seq;
	uint32_t location;	/* NOBODY: free slot */
	uint32_t start;		/* number of the row's copy */
};

HASH_TABLE_OF(request_table, struct open_request, location, seq, location, NOBODY)

static struct wait_row *
start_at(const struct imbalance *im, uint32_t number)
{
	return pool_at(&im->open_rows, sizeof(struct wait_row), number);
}

struct wait_row *
open_start(const struct imbalance *im, uint32_t location, uint64_t seq)
{
	const struct open_request key = { .seq = seq, .location = location };
	const struct open_request *found = request_table_find(im->open, &key);

	return found != NULL ? start_at(im, found->start) : NULL;
}

void
open_count(struct imbalance *im, const struct whole_call *call)
{
	for (uint32_t i = 0; call->kind->starts && i < call->count; i++)
		call->rows[i].open = true;
	if (call->kind->starts)
		im->open_starts[call->location] += call->count;
	for (uint32_t i = 0; call->kind->ends && i < call->count; i++) {
		struct wait_row *start;
		struct open_request *kept;
		uint32_t to;
		uint64_t to_seq;

		if (!row_refers(&call->rows[i].row, call->location, call->first + i, &to,
		    &to_seq) || to >= im->graph.known.location_count)
			continue;
		if ((start = wait_row_change(im, to, to_seq)) == NULL) {
			kept = request_table_find(im->open,
			    &(struct open_request){ .seq = to_seq, .location = to });
			if (kept == NULL)
				continue;
			pool_give(&im->open_rows, sizeof(struct wait_row), kept->start);
			request_table_remove(im->open, kept);
		} else if (start->open) {
			start->open = false;
			im->open_starts[to]--;
		}
	}
}

void
open_keep(struct imbalance *im, uint32_t location, uint64_t seq)
{
	uint64_t at = window_first(&im->graph.window, location);

	for (; im->open_starts[location] > 0 && at < seq; at++) {
		const struct wait_row *row = wait_row(im, location, at);

		if (row->open) {
			const uint32_t start = pool_take(&im->open_rows, sizeof *row);

			*start_at(im, start) = *row;
			request_table_add(&im->open,
			    &(struct open_request){ at, location, start });
			im->open_starts[location]--;
		}
	}
}

bool
open_is_empty(const struct imbalance *im)
{
	bool empty = request_table_count(im->open) == 0;

	for (uint32_t l = 0; l < im->graph.known.location_count; l++)
		empty &= im->open_starts[l] == 0;
	return empty;
}

const struct wait_row *
referred_row(const struct imbalance *im, const struct wait_row *row,
    uint32_t location, uint64_t seq)
{
	const struct wait_row *start;
	uint32_t to;
	uint64_t to_seq;

	if (!row_refers(&row->row, location, seq, &to, &to_seq) ||
	    to >= im->graph.known.location_count)
		return NULL;
	start = wait_row(im, to, to_seq);
	return start != NULL ? start : open_start(im, to, to_seq);
}
