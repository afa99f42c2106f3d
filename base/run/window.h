/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of a graph stream that edges may still refer to, by location and seq. A tool adds its
 * own fields: its row begins with a struct row, and window_open gets its size. Memory: the rows
 * kept. Memory errors end the tool.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include "../stream/calls.h"

struct row {
	int64_t enter_ns, leave_ns;
	uint32_t site;
	uint32_t comm;
	int32_t peer;		/* as in the block: rank in the communicator */
	uint32_t request;	/* distance to the row that this one refers to; 0: none */
	uint32_t request_at;	/* or 1 + that row's location, and request is its seq; 0: own */
	uint32_t part;		/* distance to the first row of the call; 0 in that row */
	uint16_t call;		/* index of call_name; a part has its call's */
	bool sent, received;	/* any bytes */
	bool polled;		/* completed nothing: a test or probe that failed, if it is one */
	bool any;		/* posted as a receive from any source with any tag */
};

struct lane {
	char *rows;
	size_t begin, count, capacity;	/* rows; unpacked are BEGIN to BEGIN + COUNT - 1 */
	uint64_t first;			/* seq of the first of these */
	int64_t last_leave_ns;
};

struct window {
	size_t row_bytes;
	uint32_t locations;
	bool partial;		/* reading began in the middle: rows and ends may be missing */
	bool shared;		/* other processes keep some rows: ends of edges may be missing */
	struct lane *lanes;
	struct kept_rows *kept;	/* see window_keep; NULL: none */
	struct packed *packed;	/* see window_limit; NULL: no rows are packed */
	size_t bytes, limit;	/* of unpacked rows */
	uint32_t next_packed;	/* location whose rows are packed next */
};

void window_open(struct window *window, uint32_t locations, size_t row_bytes);
void window_close(struct window *window);
/*
 * Limits memory for rows to BYTES (SIZE_MAX: the default for one of PROCESSES that read the run);
 * call it before adding rows. Older rows are packed, and the oldest go to a temporary file. A
 * pointer to a row is then valid until half of LEAST_SLOTS others have been requested, or a block
 * has been added. WIDE: number of the tool's own fields of 8 bytes, which come first.
 */
void window_limit(struct window *window, size_t bytes, unsigned wide, int processes);
/*
 * The same for very many locations, whose rows are read by window_rows in order of time: 16 MB, and
 * 8 unpacked rows of each.
 */
void window_limit_in_turn(struct window *window, unsigned wide);
/* Drops all packed rows, and packs no more: no rows follow. */
void window_drop_packed(struct window *window);
/* Appends a block; the tool's own fields are zero. Bad input ends the tool. */
void window_add(struct window *window, struct reader *in, const struct message *message,
    const struct calls *calls);
/* Drops the rows before SEQ. */
void window_drop(struct window *window, uint32_t location, uint64_t seq);

/* Copies a row, so that it remains when the rows around it are dropped; again, as it is now. */
void window_keep(struct window *window, uint32_t location, uint64_t seq);
/* Such a copy, or NULL. */
void *window_kept(const struct window *window, uint32_t location, uint64_t seq);
void window_forget_kept(struct window *window, uint32_t location, uint64_t seq);
void window_forget_all_kept(struct window *window);

/* A packed row, unpacked; NULL: it is not kept. */
void *window_unpacked(const struct window *window, uint32_t location, uint64_t seq, bool changes);

/* A row, or NULL if it is not in the window. */
static inline const void *
window_row(const struct window *window, uint32_t location, uint64_t seq)
{
	const struct lane *lane = &window->lanes[location];

	return seq - lane->first < lane->count ?
	    lane->rows + (lane->begin + (size_t)(seq - lane->first)) * window->row_bytes :
	    window->packed == NULL ? NULL : window_unpacked(window, location, seq, false);
}

/* The same, for a change. */
static inline void *
window_change(const struct window *window, uint32_t location, uint64_t seq)
{
	const struct lane *lane = &window->lanes[location];

	return seq - lane->first < lane->count ?
	    lane->rows + (lane->begin + (size_t)(seq - lane->first)) * window->row_bytes :
	    window->packed == NULL ? NULL : window_unpacked(window, location, seq, true);
}

/*
 * The same, and the number of consecutive rows from it, always whole calls. They stay in place
 * until the next call of this function or the next block.
 */
void *window_rows(const struct window *window, uint32_t location, uint64_t seq, bool changes,
    size_t *left);

/* The first packed row that is still kept, or END. */
uint64_t packed_first(const struct packed *packed, uint32_t location, uint64_t end);

/* The first row in the window, or the next one to come. */
static inline uint64_t
window_first(const struct window *window, uint32_t location)
{
	const uint64_t first = window->lanes[location].first;

	return window->packed == NULL ? first : packed_first(window->packed, location, first);
}

/* The row to which the row at LOCATION, SEQ refers; false: none. */
static inline bool
row_refers(const struct row *row, uint32_t location, uint64_t seq, uint32_t *to, uint64_t *to_seq)
{
	if (row->request == 0 && row->request_at == 0)
		return false;
	*to = row->request_at > 0 ? row->request_at - 1 : location;
	*to_seq = row->request_at > 0 ? row->request : seq - row->request;
	return true;
}

/* One past the last row of a location. */
static inline uint64_t
window_end(const struct window *window, uint32_t location)
{
	return window->lanes[location].first + window->lanes[location].count;
}

/* All rows of all locations. */
static inline uint64_t
window_count(const struct window *window)
{
	uint64_t rows = 0;

	for (uint32_t l = 0; l < window->locations; l++)
		rows += window_end(window, l) - window_first(window, l);
	return rows;
}

#endif
