/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "../base/tool/hash_table.h"
#include "imbalance.h"

struct open_request {
	uint64_t seq;
	uint32_t location;	/* NOBODY: free slot */
	struct wait_row start;
};

#define HASH(r) mix((r)->location, (r)->seq)
#define SAME(a, b) ((a)->location == (b)->location && (a)->seq == (b)->seq)
#define FREE(r) ((r)->location == NOBODY)
#define MAKE_FREE(r) ((r)->location = NOBODY)
HASH_TABLE(open_requests, struct open_request, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL,
    die("out of memory"))

void
open_begin(struct imbalance *im)
{
	im->open = zalloc(1, sizeof *im->open);
	open_requests_begin(im->open, 256);
}

void
open_keep(struct imbalance *im, uint32_t location, uint64_t seq, const struct wait_row *start)
{
	struct open_request request = { seq, location, *start };

	open_requests_add(im->open, &request);
}

const struct wait_row *
open_find(const struct imbalance *im, uint32_t location, uint64_t seq)
{
	struct open_request key = { .seq = seq, .location = location };
	const struct open_request *found = open_requests_find(im->open, &key);

	return found != NULL ? &found->start : NULL;
}

void
open_forget(struct imbalance *im, uint32_t location, uint64_t seq)
{
	struct open_request key = { .seq = seq, .location = location };
	struct open_request *found = open_requests_find(im->open, &key);

	if (found != NULL)
		open_requests_remove(im->open, found);
}

const struct wait_row *
referred_row(const struct imbalance *im, const struct wait_row *row, uint32_t location, uint64_t seq)
{
	const struct wait_row *found;
	uint32_t to;
	uint64_t to_seq;

	if (!row_refers(&row->row, location, seq, &to, &to_seq))
		return NULL;
	if (to >= im->known.location_count)
		return NULL;
	found = wait_row(im, to, to_seq);
	return found != NULL ? found : open_find(im, to, to_seq);
}
