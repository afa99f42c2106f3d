/* SPDX-License-Identifier: BSD-3-Clause */
#include "apart.h"

#include <stdlib.h>

#include "../base/team/meet.h"

void
files_to_all(struct input *input, const struct team *team)
{
	char name[40];

	const bool by_all = input->sampled;	/* else the first one alone reads them */

	for (int32_t r = 0; (team->rank > 0 || by_all) && r < input->rank_count; r++)
		if (input->ranks[r].present && input->ranks[r].holder == team->rank) {
			snprintf(name, sizeof name, "rank.%d", (int)r);
			meet_put_file(team, name, input->ranks[r].file);
		}
	team_sum(team, 0);
	for (int32_t r = 0; (team->rank == 0 || by_all) && r < input->rank_count; r++)
		if (input->ranks[r].present && input->ranks[r].holder != team->rank) {
			snprintf(name, sizeof name, "rank.%d", (int)r);
			input->ranks[r].file = meet_file(team, name);
		}
}
