/* SPDX-License-Identifier: BSD-3-Clause */
#include "packed.h"

#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"
#include "../tool/tool.h"

struct kept_row {
	uint64_t seq;
	uint32_t location;
	void *row;		/* NULL: an empty slot */
};
HASH_TABLE_OF(kept_rows, struct kept_row, location, seq, row, NULL)

void
window_open(struct window *window, uint32_t locations, size_t row_bytes)
{
	window->row_bytes = row_bytes;	/* a multiple of 8, as struct row is */
	window->locations = locations;
	window->packed = NULL;
	window->bytes = 0;
	window->lanes = zalloc(locations, sizeof *window->lanes);
	for (uint32_t l = 0; l < locations; l++)
		window->lanes[l].last_leave_ns = INT64_MIN;
}

void
window_drop_packed(struct window *window)
{
	packed_free(window->packed);
	window->packed = NULL;
}

void
window_close(struct window *window)
{
	for (uint32_t l = 0; l < window->locations; l++)
		free(window->lanes[l].rows);
	window_drop_packed(window);
	free(window->lanes);
	window->lanes = NULL;
	window_forget_all_kept(window);
}

/* ---- packing ------------------------------------------------------------------------------ */

void
window_limit(struct window *window, size_t bytes, unsigned wide, int processes)
{
	/*
	 * Packing dominates the time for a row. So the rows that lp-merge has in flight, about 4
	 * million, stay unpacked, unless there are so many ranks that these take much memory
	 * themselves. Then several processes share what one has.
	 */
	enum { MANY_RANKS = 1 << 16, RANKS = 1 << 10, ROWS = 10 << 10 /* of each rank */ };
	const size_t ranks = window->locations;

	if (bytes == SIZE_MAX)
		bytes = ranks > MANY_RANKS ?
		    (((size_t)96 << 20) + 1024 * ranks) / (size_t)processes :
		    ((size_t)128 << 20) +
		    (ranks < RANKS ? ranks : RANKS) * ROWS * window->row_bytes;
	window->limit = bytes / 2;
	window->packed = packed_new(window->locations, window->row_bytes, wide,
	    bytes - window->limit);
}

void
window_limit_in_turn(struct window *window, unsigned wide)
{
	enum { UNPACKED = 4 << 20, PACKED = 4 << 20 };

	window->limit = UNPACKED;
	window->packed = packed_new(window->locations, window->row_bytes, wide, PACKED);
	packed_add_fronts(window->packed);
}

/* The rows that each lane has room for, whatever the other lanes have. */
static size_t
share_of(const struct window *window)
{
	return window->limit / window->row_bytes / window->locations;
}

/* Packs the older rows of a lane. A quarter of its share stays, in whole calls; frees the rest. */
static void
pack_lane(struct window *window, uint32_t location)
{
	struct lane *lane = &window->lanes[location];
	const size_t share = share_of(window);
	size_t rows = lane->count > share / 4 ? lane->count - share / 4 : 0, room = share / 2;
	char *at = lane->rows, *left = NULL;

	if (lane->capacity == 0)
		return;
	at += lane->begin * window->row_bytes;
	while (rows > 0 && rows < lane->count &&
	    ((const struct row *)(const void *)(at + rows * window->row_bytes))->part > 0)
		rows--;
	if (rows > 0)
		packed_add(window->packed, location, lane->first, at, rows);
	lane->first += rows;
	lane->count -= rows;
	at += rows * window->row_bytes;
	if (lane->count > room)
		room = lane->count;
	if (lane->capacity <= share || lane->capacity <= room) {
		if (lane->count > 0)
			memmove(lane->rows, at, lane->count * window->row_bytes);
		lane->begin = 0;
		return;
	}
	if (room > 0)
		left = need(malloc(room * window->row_bytes));
	if (lane->count > 0)
		memcpy(left, at, lane->count * window->row_bytes);
	free(lane->rows);
	window->bytes -= (lane->capacity - room) * window->row_bytes;
	lane->rows = left;
	lane->capacity = room;
	lane->begin = 0;
}

/*
 * Before ROWS are added: packs a lane in place that has its share and finds no free memory. So once
 * all lanes have their share, none allocates or frees any more.
 */
static void
pack_ahead(struct window *window, uint32_t location, size_t rows)
{
	const struct lane *lane = &window->lanes[location];

	if (window->packed == NULL || lane->begin + lane->count + rows <= lane->capacity ||
	    lane->count + rows <= share_of(window) ||
	    window->bytes + (lane->count + rows) * window->row_bytes <= window->limit)
		return;
	pack_lane(window, location);
}

/* Lanes larger than their share give memory back. */
static void
keep_limit(struct window *window)
{
	if (window->packed == NULL || window->bytes <= window->limit)
		return;
	for (uint32_t n = 0; n < window->locations && window->bytes > window->limit / 2; n++) {
		if (window->lanes[window->next_packed].capacity > share_of(window))
			pack_lane(window, window->next_packed);
		window->next_packed = (window->next_packed + 1) % window->locations;
	}
}

void *
window_unpacked(const struct window *window, uint32_t location, uint64_t seq, bool changes)
{
	size_t left;

	return seq >= window->lanes[location].first ? NULL :
	    packed_rows(window->packed, location, seq, changes, &left);
}

void *
window_rows(const struct window *window, uint32_t location, uint64_t seq, bool changes,
    size_t *left)
{
	const struct lane *lane = &window->lanes[location];

	if (seq - lane->first < lane->count) {
		*left = lane->count - (size_t)(seq - lane->first);
		return lane->rows + (lane->begin + (size_t)(seq - lane->first)) * window->row_bytes;
	}
	return window->packed == NULL || seq >= lane->first ? NULL :
	    packed_rows_in_turn(window->packed, location, seq, changes, left);
}

/* ---- rows ------------------------------------------------------------------------------- */

/*
 * Where the next ROWS of a lane go. It gets the room that it needs, and an eighth more only when it
 * grows again. With many locations most lanes hold a block or two, so doubling would waste memory.
 * With packing, lanes grow and shrink all the time, so large lanes grow by half.
 */
static void *
make_room(struct window *window, struct lane *lane, size_t rows)
{
	enum { LARGE = 1 << 10 };
	const size_t part = window->packed != NULL && lane->capacity >= LARGE ? 2 : 8;
	size_t wanted, more;

	/* Moving the kept rows down is cheap only if they are few. */
	if (lane->begin > 0 && lane->begin >= lane->count) {
		memmove(lane->rows, lane->rows + lane->begin * window->row_bytes,
		    lane->count * window->row_bytes);
		lane->begin = 0;
	}
	wanted = lane->begin + lane->count + rows;
	if (wanted > lane->capacity) {
		more = wanted + (lane->capacity > 0 ? wanted / part : 0);
		if (window->packed != NULL && wanted <= share_of(window))
			more = more < share_of(window) ? more : share_of(window);
		if (more > SIZE_MAX / window->row_bytes)
			die("out of memory");
		lane->rows = need(realloc(lane->rows, more * window->row_bytes));
		window->bytes += (more - lane->capacity) * window->row_bytes;
		lane->capacity = more;
	}
	return lane->rows + (lane->begin + lane->count) * window->row_bytes;
}

/* The compiler knows the usual sizes. */
static inline void
clear_own(void *own, size_t size)
{
	switch (size) {
	case 0: break;
	case 16: memset(own, 0, 16); break;
	case 48: memset(own, 0, 48); break;
	default: memset(own, 0, size);
	}
}

void
window_add(struct window *window, struct reader *in, const struct message *message,
    const struct calls *calls)
{
	struct lane *lane;
	char *to;
	uint32_t part = 0;
	uint16_t call = 0;

	if (calls->location >= window->locations)
		die_message(in, message, "calls: location is out of range");
	lane = &window->lanes[calls->location];
	if (window->partial && lane->last_leave_ns == INT64_MIN)
		lane->first = calls->first;
	if (calls->first != window_end(window, calls->location))
		die_message(in, message, "calls: the block does not follow the one before");
	if (calls->count == 0)
		return;
	if (calls->enter_ns[0] < lane->last_leave_ns)
		die_message(in, message, "calls: begins before the block before it ends");
	lane->last_leave_ns = calls->leave_ns[calls->count - 1];
	pack_ahead(window, calls->location, calls->count);
	to = make_room(window, lane, calls->count);
	for (size_t i = 0; i < calls->count; i++, to += window->row_bytes) {
		struct row *row = (struct row *)to;
		const uint32_t request = calls->request[i], request_at = calls->request_at[i];

		/* On its own location it lies before this row: calls_read has checked that. */
		if (request_at > window->locations)
			die_message(in, message, "calls: request is out of range");
		part = calls->call[i] != 0 ? 0 : part + 1;
		call = calls->call[i] != 0 ? calls->call[i] : call;
		*row = (struct row){ .enter_ns = calls->enter_ns[i], .leave_ns = calls->leave_ns[i],
		    .site = calls->site[i], .comm = calls->comm[i], .peer = calls->peer[i],
		    .request = request, .request_at = request_at, .part = part, .call = call,
		    .sent = calls->bytes_sent[i] > 0, .received = calls->bytes_received[i] > 0,
		    .polled = request == 0 && request_at == 0,
		    .any = calls->peer[i] == -1 && calls->tag[i] == -1 };
		clear_own(to + sizeof *row, window->row_bytes - sizeof *row);
	}
	lane->count += calls->count;
	keep_limit(window);
}

void
window_drop(struct window *window, uint32_t location, uint64_t seq)
{
	struct lane *lane = &window->lanes[location];
	size_t rows = seq <= lane->first ? 0 : (size_t)(seq - lane->first);

	if (window->packed != NULL)
		packed_drop(window->packed, location, seq);
	if (rows > lane->count)
		rows = lane->count;
	lane->begin += rows;
	lane->count -= rows;
	lane->first += rows;
}

void
window_keep(struct window *window, uint32_t location, uint64_t seq)
{
	struct kept_row add = { .seq = seq, .location = location };
	void *before = window_kept(window, location, seq);

	if (before != NULL) {
		memcpy(before, window_row(window, location, seq), window->row_bytes);
		return;
	}
	add.row = need(malloc(window->row_bytes));
	memcpy(add.row, window_row(window, location, seq), window->row_bytes);
	kept_rows_add(&window->kept, &add);
}

void *
window_kept(const struct window *window, uint32_t location, uint64_t seq)
{
	const struct kept_row *found =
	    kept_rows_find(window->kept, &(struct kept_row){ .seq = seq, .location = location });

	return found != NULL ? found->row : NULL;
}

void
window_forget_kept(struct window *window, uint32_t location, uint64_t seq)
{
	struct kept_row *found =
	    kept_rows_find(window->kept, &(struct kept_row){ .seq = seq, .location = location });

	if (found != NULL) {
		free(found->row);
		kept_rows_remove(window->kept, found);
	}
}

void
window_forget_all_kept(struct window *window)
{
	for (const struct kept_row *k = NULL; (k = kept_rows_next(window->kept, k)) != NULL; )
		free(k->row);
	free(window->kept);
	window->kept = NULL;
}
