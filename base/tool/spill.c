/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers take 7 bits a byte. A sequence lies in the file in extents that double from 256 bytes to
 * 64 KiB; each begins with the offset of the next.
 */
#include "spill.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spool.h"
#include "tool.h"

enum { ALL = 1 << 24, LEAST = 128, MOST = 1 << 16, FIRST_EXTENT = 256, LAST_EXTENT = 1 << 16 };
enum { LINK = sizeof(uint64_t) };

void
spill_begin(struct spill *spill, size_t lanes)
{
	size_t each = ALL / (lanes > 0 ? lanes : 1);

	*spill = (struct spill){ .fd = -1, .end = LINK, .count = lanes };
	spill->buffer_size = each < LEAST ? LEAST : each > MOST ? MOST : (uint32_t)each;
	spill->lanes = zalloc(lanes, sizeof *spill->lanes);
}

static uint32_t
next_size(uint32_t size)
{
	return size == 0 ? FIRST_EXTENT : size < LAST_EXTENT ? 2 * size : LAST_EXTENT;
}

static void
flush(struct spill *spill, struct spill_lane *lane)
{
	uint32_t done = 0;

	if (spill->fd < 0)
		spill->fd = spool_open();
	while (done < lane->filled) {
		uint32_t part;

		if (lane->extent_at == lane->extent_size) {
			if (lane->extent == 0)
				lane->first = spill->end;
			else
				spool_put(spill->fd, &spill->end, LINK, lane->extent);
			lane->extent = spill->end;
			lane->extent_size = next_size(lane->extent_size);
			lane->extent_at = 0;
			spill->end += LINK + lane->extent_size;
		}
		part = lane->extent_size - lane->extent_at;
		part = part < lane->filled - done ? part : lane->filled - done;
		spool_put(spill->fd, lane->buffer + done, part,
		    lane->extent + LINK + lane->extent_at);
		lane->extent_at += part;
		done += part;
	}
	lane->in_file += done;
	lane->filled = 0;
}

void
spill_room(struct spill *spill, struct spill_lane *lane)
{
	if (lane->buffer == NULL)
		lane->buffer = need(malloc(spill->buffer_size));
	if (lane->filled + SPILL_LONGEST > spill->buffer_size)
		flush(spill, lane);
}

void
spill_read(struct spill *spill)
{
	for (struct spill_lane *lane = spill->lanes; lane < spill->lanes + spill->count; lane++) {
		if (lane->in_file == 0)
			continue;
		flush(spill, lane);
		lane->extent = lane->first;
		lane->extent_size = FIRST_EXTENT;
		lane->extent_at = 0;
	}
}

/* Moves the remaining bytes to the front and reads more of the file after them. */
static void
fill(struct spill *spill, struct spill_lane *lane)
{
	memmove(lane->buffer, lane->buffer + lane->at, lane->filled - lane->at);
	lane->filled -= lane->at;
	lane->at = 0;
	while (lane->in_file > 0 && lane->filled < spill->buffer_size) {
		uint32_t part = spill->buffer_size - lane->filled;

		if (lane->extent_at == lane->extent_size) {
			spool_get(spill->fd, &lane->extent, LINK, lane->extent);
			lane->extent_size = next_size(lane->extent_size);
			lane->extent_at = 0;
		}
		if (part > lane->extent_size - lane->extent_at)
			part = lane->extent_size - lane->extent_at;
		if (part > lane->in_file)
			part = (uint32_t)lane->in_file;
		spool_get(spill->fd, lane->buffer + lane->filled, part,
		    lane->extent + LINK + lane->extent_at);
		lane->extent_at += part;
		lane->filled += part;
		lane->in_file -= part;
	}
}

bool
spill_any(struct spill *spill, size_t which)
{
	struct spill_lane *lane = &spill->lanes[which];

	if (lane->filled - lane->at < SPILL_LONGEST && lane->in_file > 0)
		fill(spill, lane);
	return lane->at < lane->filled;
}

uint64_t
spill_next(struct spill *spill, size_t which)
{
	struct spill_lane *lane = &spill->lanes[which];
	uint32_t at;

	spill_any(spill, which);
	at = lane->at;
	return spill_number(lane, &at);
}

void
spill_free(struct spill *spill)
{
	for (size_t i = 0; i < spill->count; i++)
		free(spill->lanes[i].buffer);
	free(spill->lanes);
	if (spill->fd >= 0)
		close(spill->fd);
}
