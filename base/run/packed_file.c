/* SPDX-License-Identifier: BSD-3-Clause */
#include "packed_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../tool/spool.h"
#include "../tool/tool.h"

enum { PART = 1 << 20 };

void
packed_file_begin(struct packed_file *file)
{
	*file = (struct packed_file){ .fd = -1 };
}

void
packed_file_end(struct packed_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->filling);
	free(file->live);
	free(file->unused);
	packed_file_begin(file);
}

static void
begin_part(struct packed_file *file)
{
	file->filled = 0;
	if (file->unused_count > 0) {
		file->current = file->unused[--file->unused_count];
		return;
	}
	if (file->parts == UINT32_MAX)
		die("temporary file: too long");
	GROW(file->live, file->capacity, file->parts + 1);
	file->live[file->parts] = 0;
	file->current = (uint32_t)file->parts++;
}

static void
end_part(struct packed_file *file)
{
	if (file->live[file->current] == 0)
		*APPEND(file->unused, file->unused_count, file->unused_capacity) = file->current;
	else
		spool_put(file->fd, file->filling, file->filled, (uint64_t)file->current * PART);
}

bool
packed_file_put(struct packed_file *file, const uint8_t *bytes, size_t size, uint64_t *offset)
{
	if (size > PART)
		return false;
	if (file->fd < 0) {
		file->fd = spool_open();
		file->filling = need(malloc(PART));
		begin_part(file);
	}
	if (size > PART - file->filled) {
		end_part(file);
		begin_part(file);
	}
	memcpy(file->filling + file->filled, bytes, size);
	*offset = (uint64_t)file->current * PART + file->filled;
	file->filled += (uint32_t)size;
	file->live[file->current] += (uint32_t)size;
	return true;
}

void
packed_file_get(const struct packed_file *file, uint8_t *bytes, size_t size, uint64_t offset)
{
	if (offset / PART == file->current)
		memcpy(bytes, file->filling + offset % PART, size);
	else
		spool_get(file->fd, bytes, size, offset);
}

void
packed_file_forget(struct packed_file *file, uint64_t offset, size_t size)
{
	const uint32_t part = (uint32_t)(offset / PART);

	file->live[part] -= (uint32_t)size;
	if (file->live[part] == 0 && part != file->current)
		*APPEND(file->unused, file->unused_count, file->unused_capacity) = part;
}
