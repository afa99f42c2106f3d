/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of an open call that are not in the near table, and targets. */
#include "open_call.h"

uint64_t
open_request_apart(MPI_Request handle)
{
	const struct request *it;
	uint64_t row = OPEN_UNKNOWN;

	lock_tables();
	if ((it = request_find(handle)) != NULL && !it->active)
		row = OPEN_COMPLETE;
	else if (it != NULL && it->start != NO_ROW)
		row = open_row(it->location, it->start);
	unlock_tables();
	return row;
}

void
open_targets(struct open_call *open, const struct communicator *win, MPI_Group group)
{
	int from[OPEN_REQUESTS], to[OPEN_REQUESTS], count;

	PMPI_Group_size(group, &count);
	open->requests = (uint32_t)count;
	open->kept = (uint32_t)(count < OPEN_REQUESTS ? count : OPEN_REQUESTS);
	for (int i = 0; i < OPEN_REQUESTS; i++)
		from[i] = i;
	PMPI_Group_translate_ranks(group, (int)open->kept, from, win->group, to);
	for (uint32_t i = 0; i < open->kept; i++)
		open->rows[i] = (uint64_t)peer_of(to[i]);
}
