/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of an open call that are not in the near table. */
#include "open_call.h"

uint64_t
open_request_apart(MPI_Request handle)
{
	const struct request *it;
	uint64_t row = OPEN_UNKNOWN;

	if (handle == MPI_REQUEST_NULL || request_is_static(handle))
		return OPEN_COMPLETE;
	lock_tables();
	if ((it = request_find(handle)) != NULL && !it->active)
		row = OPEN_COMPLETE;
	else if (it != NULL && it->start != NO_ROW)
		row = open_row(it->location, it->start);
	unlock_tables();
	return row;
}
