/* SPDX-License-Identifier: BSD-3-Clause */
#include "packed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../tool/spool.h"
#include "../tool/tool.h"

void
parts_begin(struct parts *all, size_t bytes)
{
	*all = (struct parts){ .most = bytes < PART ? 1 : bytes / PART, .fd = -1 };
}

void
parts_free(struct parts *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->of[i].bytes);
	if (all->fd >= 0)
		close(all->fd);
	free(all->of);
	free(all->unused);
}

/* Writes the part whose turn it is. Returns its memory. */
static uint8_t *
file_part(struct parts *all)
{
	uint32_t at;
	uint8_t *bytes;

	do {
		at = all->next_filed;
		all->next_filed = (uint32_t)((at + 1) % all->count);
	} while (all->of[at].bytes == NULL);
	if (all->fd < 0)
		all->fd = spool_open();
	bytes = all->of[at].bytes;
	spool_put(all->fd, bytes, PART, (uint64_t)at * PART);
	all->of[at].bytes = NULL;
	all->in_memory--;
	return bytes;
}

static void
begin_part(struct parts *all)
{
	uint8_t *bytes;

	all->filled = 0;
	if (all->count > 0 && all->of[all->current].live == 0)
		return;
	bytes = all->in_memory < all->most ? need(malloc(PART)) : file_part(all);
	if (all->unused_count > 0) {
		all->current = all->unused[--all->unused_count];
	} else {
		if (all->count == UINT32_MAX)
			die("temporary file: too long");
		all->current = (uint32_t)all->count;
		*APPEND(all->of, all->count, all->capacity) = (struct part){ NULL, 0 };
	}
	all->of[all->current].bytes = bytes;
	all->in_memory++;
}

uint64_t
put_piece(struct parts *all, const uint8_t *bytes, uint32_t size)
{
	uint64_t offset;

	if (all->count == 0 || size > PART - all->filled)
		begin_part(all);
	memcpy(all->of[all->current].bytes + all->filled, bytes, size);
	offset = (uint64_t)all->current * PART + all->filled;
	all->filled += size;
	all->of[all->current].live += size;
	return offset;
}

void
forget_piece(struct parts *all, uint64_t offset, uint32_t size)
{
	const uint32_t at = (uint32_t)(offset / PART);
	struct part *part = &all->of[at];

	part->live -= size;
	if (part->live > 0 || at == all->current)
		return;
	all->in_memory -= part->bytes != NULL;
	free(part->bytes);
	part->bytes = NULL;
	*APPEND(all->unused, all->unused_count, all->unused_capacity) = at;
}

const uint8_t *
get_piece(const struct parts *all, uint64_t offset, uint32_t size, uint8_t *space)
{
	const struct part *part = &all->of[offset / PART];

	if (part->bytes != NULL)
		return part->bytes + offset % PART;
	spool_get(all->fd, space, size, offset);
	return space;
}
