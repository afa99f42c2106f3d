/* SPDX-License-Identifier: BSD-3-Clause */
/* What teams of one process and of several share. */
#include "team.h"

#include <stdlib.h>
#include <string.h>

#include "../mpi/launchers.h"
#include "../tool/tool.h"

void
post_add(struct post *out, const void *item, size_t bytes, int to)
{
	out->items = grow(out->items, &out->item_capacity, out->count + 1, bytes);
	GROW(out->to, out->to_capacity, out->count + 1);
	memcpy(out->items + out->count * bytes, item, bytes);
	out->to[out->count++] = to;
}

void *
post_exchange(const struct team *team, struct post *out, size_t bytes, size_t *received)
{
	size_t *counts = zalloc((size_t)team->size, sizeof *counts);
	size_t *next = zalloc((size_t)team->size + 1, sizeof *next);
	char *sorted = zalloc(out->count, bytes);
	void *got;

	for (size_t i = 0; i < out->count; i++)
		counts[out->to[i]]++;
	for (int m = 0; m < team->size; m++)
		next[m + 1] = next[m] + counts[m];
	for (size_t i = 0; i < out->count; i++)
		memcpy(sorted + next[out->to[i]]++ * bytes, out->items + i * bytes, bytes);
	got = team_exchange(team, sorted, counts, bytes, received);
	free(counts);
	free(next);
	free(sorted);
	free(out->items);
	free(out->to);
	*out = (struct post){ 0 };
	return got;
}

bool
launcher_tells(int *rank, int *size)
{
	for (int i = 0; i < LAUNCHERS; i++) {
		const char *own = getenv(launchers[i].rank), *all = getenv(launchers[i].ranks);

		if (own == NULL || all == NULL)
			continue;
		*rank = atoi(own);
		*size = atoi(all);
		return true;
	}
	return false;
}

void
launcher_forget(void)
{
	for (int i = 0; i < LAUNCHERS; i++)
		unsetenv(launchers[i].rank);
}
