/* SPDX-License-Identifier: BSD-3-Clause */
#include "counted.h"

#include <string.h>

#include "../tool/hash_table.h"
#include "../tool/tool.h"

HASH_TABLE_OF(counted_table, struct counted, rank, place, place, UINT32_MAX)

size_t
counted_places(const struct imbalance *im)
{
	return im->counted != NULL ? im->counted->size : 0;
}

bool
counted_at(const struct imbalance *im, size_t at, struct counted *counted)
{
	*counted = im->counted->slots[at];
	return !counted_table_is_free(counted);
}

void
counted_add(struct imbalance *im, const struct counted *more)
{
	const struct counted new = { .rank = more->rank, .place = more->place };
	struct counted *sum;

	if (im->counted == NULL) {
		im->counted = zalloc(1, sizeof *im->counted);
		counted_table_begin(im->counted, 64);
	}
	sum = counted_table_add(im->counted, &new);
	sum->on_core_ns += more->on_core_ns;
	for (int c = 0; c < COUNTERS; c++)
		sum->of[c] += more->of[c];
}

static void
add_sample(struct imbalance *im, int32_t rank, uint32_t place, const struct sample_counts *counts,
    int64_t on_core_ns)
{
	struct counted one = { .rank = rank, .place = place, .on_core_ns = on_core_ns };

	memcpy(one.of, counts->of, sizeof one.of);
	counted_add(im, &one);
}

void
counted_piece(struct imbalance *im, int32_t rank, const struct thread_lane *lane,
    const struct off_lane *off, const struct awaited_piece *piece)
{
	const size_t first = lane_from(lane, piece->from_ns);

	for (size_t i = first; i < lane->end && lane->at[i].at_ns < piece->to_ns; i++) {
		const struct thread_sample *now = &lane->at[i], *before = now - 1;
		uint32_t place = now->site;

		if (i == first) {
			add_sample(im, rank, COUNTED_ACROSS, &lane->counts[i], 0);
			continue;
		}
		if (place >= COUNTED_BETWEEN ||
		    !same_function(&im->graph.known, before->site, place))
			place = COUNTED_BETWEEN;
		add_sample(im, rank, place, &lane->counts[i],
		    core_time(off, before->at_ns, now->at_ns).on_ns);
	}
}

void
counted_call(struct imbalance *im, int32_t rank, const struct thread_lane *lane,
    const struct row *row)
{
	const size_t first = lane_from(lane, row->enter_ns);

	if (first < lane->end && lane->at[first].at_ns < row->leave_ns)
		add_sample(im, rank, COUNTED_ACROSS, &lane->counts[first], 0);
}
