/* SPDX-License-Identifier: BSD-3-Clause */
#include "growing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/stream/spare.h"
#include "../base/tool/tool.h"
#include "window.h"

enum {
	MOST_BYTES = 1 << 20,	/* of a stretch; a block may be more */
	LONG_SPARE = 1 << 21,	/* one that is not made longer, as it is read as a message */
	ROOM = 1 << 19,		/* then left for what comes next */
};

enum kind { SPARE, OPEN, COMPLETE, REPLACED };	/* the last: messages that were put into a spare */

struct item {
	uint64_t begin, size;
	int64_t location;	/* of a block of calls; others -1 */
	uint32_t fewer;		/* of a spare */
	enum kind kind;
	bool tight;		/* a spare with less room than what is behind it needs */
};

void
growing_close(struct growing *g)
{
	if (g->fd >= 0)
		close(g->fd);
	free(g->items);
	g->items = NULL;
	g->count = g->capacity = 0;
	g->fd = -1;
}

bool
growing_open(struct growing *g, const char *path)
{
	struct stat status;

	*g = (struct growing){ .fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) };
	if (g->fd < 0 || fstat(g->fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		growing_close(g);
		return false;
	}
	g->device = status.st_dev;
	g->inode = status.st_ino;
	return true;
}

/* ---- what is there ---- */

/* The block before the last one of a location gets no more rows. LOCATION -1: of all. */
static void
complete(struct growing *g, int64_t location)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->items[i].kind == OPEN && (location < 0 || g->items[i].location == location))
			g->items[i].kind = COMPLETE;
}

static uint64_t
page_up(uint64_t offset)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (offset + page - 1) / page * page;
}

/* The pages within, which nobody needs, go back to the disk. False: that cannot be here. */
static bool
give_back(const struct growing *g, uint64_t begin, uint64_t end)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = page_up(begin), to = end / page * page;

	return from >= to ||
	    fallocate(g->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from)) == 0;
}

static void
add(struct growing *g, const struct seen *seen)
{
	g->items = grow(g->items, &g->capacity, g->count + 1, sizeof *g->items);
	g->items[g->count++] = (struct item){ .begin = seen->begin, .size = seen->end - seen->begin,
		.location = seen->location, .fewer = (uint32_t)seen->fewer,
		.kind = seen->spare ? SPARE : seen->location >= 0 ? OPEN : COMPLETE };
}

bool
growing_look(struct growing *g)
{
	struct window window = { .fd = g->fd };
	struct seen seen;

	while (g->fd >= 0 && !g->ended && window_message(&window, g->at, &seen)) {
		g->at = seen.end;
		g->ended = seen.last;
		if (seen.spare && !give_back(g, seen.begin + SPARE_HEAD, seen.end - SPARE_TAIL)) {
			growing_close(g);
			return false;
		}
		if (seen.location >= 0 || seen.last)
			complete(g, seen.location);
		if (seen.spare || g->count > 0)
			add(g, &seen);
	}
	return g->fd >= 0 && !g->ended;
}

/* ---- what of it gives way ---- */

/* From the spare at FIRST on. */
static struct stretch
stretch_from(const struct growing *g, size_t first)
{
	struct stretch s = { .spare = first, .last = first };

	for (size_t i = first + 1; i < g->count; i++) {
		const struct item *item = &g->items[i];

		if (item->kind == OPEN || item->kind == REPLACED)
			break;
		if (item->kind != SPARE && s.bytes > 0 && s.bytes + item->size > MOST_BYTES)
			break;
		if (item->kind == SPARE)
			s.fewer += item->fewer;
		else
			s.bytes += item->size;
		s.last = i;
	}
	return s;
}

bool
growing_stretch(const struct growing *g, struct stretch *stretch)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->items[i].kind == SPARE && !g->items[i].tight) {
			*stretch = stretch_from(g, i);
			if (stretch->bytes >= STRETCH_BYTES)
				return true;
		}
	return false;
}

unsigned char *
growing_read(struct growing *g, const struct stretch *stretch)
{
	unsigned char *bytes = need(malloc(stretch->bytes + 1)), *at = bytes;

	for (size_t i = stretch->spare + 1; i <= stretch->last; i++)
		if (g->items[i].kind == COMPLETE) {
			const struct item *item = &g->items[i];

			if (!window_read(g->fd, at, item->size, item->begin) ||
			    memcmp(at + item->size - SPARE_TAIL, spare_tail, sizeof spare_tail) != 0) {
				free(bytes);
				growing_close(g);
				return NULL;
			}
			at += item->size;
		}
	*at = 0;
	return bytes;
}

/* In one store, as this process may end between any two. */
static bool
store_length(const struct growing *g, uint64_t at, uint32_t length)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = at / page * page;
	const size_t size = (size_t)(at - begin) + 4;
	unsigned char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd, (off_t)begin);
	const uint32_t big = __builtin_bswap32(length);

	if (map == MAP_FAILED)
		return false;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	memcpy(map + (at - begin), &big, 4);
	munmap(map, size);
	return true;
}

static bool
write_all(int fd, const unsigned char *bytes, size_t size, uint64_t offset)
{
	while (size > 0) {
		ssize_t wrote = pwrite(fd, bytes, size, (off_t)offset);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		bytes += wrote;
		offset += (uint64_t)wrote;
		size -= (size_t)wrote;
	}
	return true;
}

/*
 * In the list, as in the file: what was put into the spare, behind which the list of messages does not go
 * on from any earlier spare, and the one that took the place of the stretch.
 */
static void
put_item(struct growing *g, const struct stretch *stretch, const struct item *spare)
{
	size_t at = stretch->spare, from = stretch->last + 1;

	if (at == 0 || g->items[at - 1].kind != REPLACED)
		g->items[at++].kind = REPLACED;
	g->items[at++] = *spare;
	memmove(&g->items[at], &g->items[from], (g->count - from) * sizeof *g->items);
	g->count -= from - at;
}

void
growing_replace(struct growing *g, const struct stretch *stretch, const void *bytes, size_t size,
    uint64_t fewer)
{
	struct item *spare = &g->items[stretch->spare];
	const struct item *last = &g->items[stretch->last];
	const size_t needed = SPARE_TAIL + size + SPARE_HEAD, room = (size_t)spare->size - SPARE_HEAD - SPARE_TAIL;
	/* Of the room, what stays room; the rest goes to the messages and the spare behind them. */
	const size_t kept = room > LONG_SPARE && room > needed + ROOM ? room - needed - ROOM : 0;
	const uint64_t from = spare->begin + SPARE_HEAD + kept, next = from + SPARE_TAIL + size;
	const uint64_t end = last->begin + last->size;
	unsigned char *new;
	struct item other = { .begin = next, .size = end - next, .location = -1,
		.fewer = (uint32_t)(fewer + stretch->fewer), .kind = SPARE };

	if (needed > room || fewer + stretch->fewer > UINT32_MAX || end - next > UINT32_MAX) {
		spare->tight = true;
		return;
	}
	new = need(calloc(1, needed));
	memcpy(new, spare_tail, sizeof spare_tail);
	memcpy(new + SPARE_TAIL, bytes, size);
	spare_head(new + SPARE_TAIL + size, other.fewer, (uint32_t)(other.size - SPARE_HEAD - SPARE_TAIL));
	if (!write_all(g->fd, new, needed, from) ||
	    !store_length(g, spare->begin + SPARE_LENGTH_AT, (uint32_t)kept) ||
	    !give_back(g, next + SPARE_HEAD, end - SPARE_TAIL))
		growing_close(g);
	else
		put_item(g, stretch, &other);
	free(new);
}
