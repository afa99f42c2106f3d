/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that are open, by the number that OTF2 gives them and the location that started them. */
#include <stdlib.h>

#include "otf2.h"

#define REQUEST_HASH(r) mix((r)->id, (r)->lane)
#define REQUEST_SAME(a, b) ((a)->id == (b)->id && (a)->lane == (b)->lane)
#define REQUEST_FREE(r) ((r)->lane == UNKNOWN)
#define REQUEST_MAKE_FREE(r) ((r)->lane = UNKNOWN)
HASH_TABLE(request_table, struct request, REQUEST_HASH, REQUEST_SAME, REQUEST_FREE, REQUEST_MAKE_FREE,
    HASH_KEEP_ALL, die("out of memory"))

void
requests_begin(struct otf2 *o)
{
	o->requests = zalloc(1, sizeof *o->requests);
	request_table_begin(o->requests, 64);
}

void
request_start(struct otf2 *o, const struct lane *lane, uint64_t id, uint64_t seq, bool open)
{
	const struct request new = { id, lane->location, (uint32_t)(lane - o->lanes), seq, open };

	*request_table_add(o->requests, &new) = new;	/* the id may be used again */
}

/* Another thread of the rank may have started it. */
struct request *
request_find(struct otf2 *o, const struct lane *lane, uint64_t id)
{
	struct request key = { .id = id, .lane = lane->location };
	struct request *found = request_table_find(o->requests, &key);

	if (found != NULL || o->locations == o->ranks)
		return found;
	key.lane = (uint32_t)lane->rank;
	found = request_table_find(o->requests, &key);
	for (size_t i = 0; found == NULL && i < o->lane_count; i++) {
		key.lane = o->lanes[i].location;
		if (key.lane >= o->ranks && key.lane != UNKNOWN && o->lanes[i].rank == lane->rank)
			found = request_table_find(o->requests, &key);
	}
	return found;
}

void
request_end(struct otf2 *o, struct request *request)
{
	request_table_remove(o->requests, request);
}
