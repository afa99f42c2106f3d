/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks of a run that several processes merge. */
#include <stdlib.h>

#include "order.h"

/* Of a rank: what survey_drift and correct_order change. */
struct told {
	double drift;
	int64_t error_ns, moved_ns;
	uint64_t reversed, reversed_left;
};

static void
share_ranks(struct input *input, const struct team *team)
{
	struct told *told = zalloc((size_t)input->rank_count, sizeof *told);

	for (int32_t r = 0; r < input->rank_count; r++) {
		const struct rank *rank = &input->ranks[r];

		told[r] = (struct told){ rank->correction.drift, rank->correction.error_ns, rank->moved_ns,
		    rank->reversed, rank->reversed_left };
	}
	team_copy(team, told, (size_t)input->rank_count * sizeof *told);
	for (int32_t r = 0; r < input->rank_count; r++) {
		struct rank *rank = &input->ranks[r];

		rank->correction.drift = told[r].drift;
		rank->correction.error_ns = told[r].error_ns;
		rank->moved_ns = told[r].moved_ns;
		rank->reversed = told[r].reversed;
		rank->reversed_left = told[r].reversed_left;
	}
	free(told);
}

static void
share_knots(struct shift_knots *knots, const struct team *team)
{
	uint64_t count = knots->count;

	team_copy(team, &count, sizeof count);
	if (team->rank > 0)
		knots->at = grow(NULL, &knots->capacity, count, sizeof *knots->at);
	knots->count = count;
	team_copy(team, knots->at, count * sizeof *knots->at);
}

void
share_clocks(struct input *input, const struct team *team)
{
	bool moves = input->shifts != NULL;

	if (team->size == 1)
		return;
	team_copy(team, &input->origin_ns, sizeof input->origin_ns);
	share_ranks(input, team);
	team_copy(team, &moves, sizeof moves);
	if (moves && team->rank > 0)
		input->shifts = zalloc(input->location_count, sizeof *input->shifts);
	for (uint32_t l = 0; moves && l < input->location_count; l++) {
		share_knots(&input->shifts[l].jumps, team);
		share_knots(&input->shifts[l].ramps, team);
		share_knots(&input->shifts[l].limits, team);
	}
}
