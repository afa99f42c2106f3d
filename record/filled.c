/* SPDX-License-Identifier: BSD-3-Clause */
#include "filled.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../base/tool/tool.h"
#include "window.h"

enum { HASH_BYTES = 9 };	/* a msgpack uint64: marker and value */

struct known_block {
	int64_t location;
	uint64_t begin, end;
};

bool
filled_open(struct filled *trace, const char *path)
{
	struct stat status;

	*trace = (struct filled){ .fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) };
	if (trace->fd < 0 || fstat(trace->fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		filled_close(trace);
		return false;
	}
	trace->device = status.st_dev;
	trace->inode = status.st_ino;
	return true;
}

void
filled_close(struct filled *trace)
{
	if (trace->fd >= 0)
		close(trace->fd);
	free(trace->last);
	free(trace->full);
	trace->last = trace->full = NULL;
	trace->count = trace->capacity = trace->full_done = trace->full_count = trace->full_capacity = 0;
	trace->fd = -1;
}

/* The hash of all bytes of the message before it, unless it is there; false: they cannot be read. */
static bool
hash_of(int fd, uint64_t begin, uint64_t end, uint64_t *hash)
{
	static unsigned char bytes[1 << 16];
	XXH3_state_t state;

	if (XXH3_64bits_reset(&state) != XXH_OK)
		return false;
	while (begin < end) {
		const size_t size = end - begin < sizeof bytes ? (size_t)(end - begin) : sizeof bytes;

		if (!window_read(fd, bytes, size, begin))
			return false;
		XXH3_64bits_update(&state, bytes, size);
		begin += size;
	}
	*hash = XXH3_64bits_digest(&state);
	return true;
}

static void
fill(struct filled *trace, const struct known_block *block)
{
	unsigned char stated[HASH_BYTES];
	uint64_t hash;

	if (!window_read(trace->fd, stated, sizeof stated, block->end - HASH_BYTES) || stated[0] != 0xcf)
		return;
	for (int i = 1; i < HASH_BYTES; i++)
		if (stated[i] != 0)
			return;
	if (!hash_of(trace->fd, block->begin, block->end - HASH_BYTES, &hash))
		return;
	for (int i = HASH_BYTES - 1; i > 0; i--, hash >>= 8)
		stated[i] = (unsigned char)hash;
	if (pwrite(trace->fd, stated + 1, HASH_BYTES - 1, (off_t)(block->end - HASH_BYTES + 1)) < 0)
		return;		/* it stays without */
}

static void
add_full(struct filled *trace, const struct known_block *block)
{
	trace->full = grow(trace->full, &trace->full_capacity, trace->full_count + 1, sizeof *trace->full);
	trace->full[trace->full_count++] = *block;
}

/* A thread's block before its last one gets no more rows. */
static void
take_block(struct filled *trace, const struct seen *seen)
{
	struct known_block *last = trace->last, *end = last + trace->count;

	while (last < end && last->location != seen->location)
		last++;
	if (last == end) {
		trace->last = grow(trace->last, &trace->capacity, trace->count + 1, sizeof *trace->last);
		last = &trace->last[trace->count++];
	} else
		add_full(trace, last);
	*last = (struct known_block){ seen->location, seen->begin, seen->end };
	trace->blocks++;
	trace->block_bytes = seen->end - seen->begin;
}

/* Behind the end there is nothing, whatever room was made while the rank wrote it. */
static void
cut(const struct filled *trace)
{
	unsigned char bytes[1 << 12];
	ssize_t got;

	for (uint64_t at = trace->at; (got = pread(trace->fd, bytes, sizeof bytes, (off_t)at)) > 0; at += (uint64_t)got)
		for (ssize_t i = 0; i < got; i++)
			if (bytes[i] != 0)
				return;
	if (got < 0 || ftruncate(trace->fd, (off_t)trace->at) != 0)
		return;		/* zeros do no harm: lp-trace(5), RAW TRACES */
}

void
filled_look(struct filled *trace)
{
	const uint64_t before = trace->size;
	struct window window = { .fd = trace->fd };
	struct stat status;
	struct seen seen;

	while (!trace->ended && window_message(&window, trace->at, &seen)) {
		trace->at = seen.end;
		trace->ended = seen.last;
		if (seen.location >= 0)
			take_block(trace, &seen);
	}
	trace->size = fstat(trace->fd, &status) == 0 ? (uint64_t)status.st_size : trace->at;
	if (trace->ended) {
		for (size_t i = 0; i < trace->count; i++)
			add_full(trace, &trace->last[i]);
		trace->count = 0;
		if (trace->size > trace->at)
			cut(trace);
	} else if (trace->size < before || trace->size < trace->at)
		filled_close(trace);		/* somebody has cut it, which its rank will see */
}

size_t
filled_hash(struct filled *trace, size_t most)
{
	size_t done = 0;

	while (trace->full_done < trace->full_count && done < most) {
		fill(trace, &trace->full[trace->full_done++]);
		done++;
	}
	if (trace->full_done == trace->full_count)
		trace->full_done = trace->full_count = 0;
	return done;
}
