/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of rows, in mappings of the raw trace. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../base/stream/open_call.h"
#include "clock.h"
#include "file.h"
#include "pack.h"

#ifndef MADV_POPULATE_WRITE	/* defined since glibc 2.36 */
#define MADV_POPULATE_WRITE 23
#endif

enum {
	FIRST_ROWS = 256,		/* of a thread's first block */
	/*
	 * Upper limit. Columns whose starts differ by a power of two share a set of the L1 cache,
	 * which has fewer ways than there are columns. With 80 more rows, columns of 2, 4 and 8
	 * bytes do not.
	 */
	MOST_ROWS = 16384 + 80,
	/* growth of the file and size of a mapping, at least */
	MAPPING_BYTES = 1 << 20,
	SMALL_BYTES = 1 << 16,			/* the same for a small message */
	LINE_BYTES = 64,	/* of a cache */
	/* more than the keys of a block, its pad and the open call need */
	HEADER_BYTES = 320 + LINE_BYTES + sizeof(struct open_call),
};

void
block_column(unsigned char **at, const char *key, unsigned char **column, uint32_t bytes)
{
	put_text(at, key);
	put_byte(at, 0xc6);	/* the long form for any length, as HEADER_BYTES assumes */
	put_big(at, bytes, 4);
	*column = *at;
	*at += bytes;		/* this part of the file is new, hence zero */
}

uint32_t
block_capacity(uint64_t rows, uint32_t least, uint32_t most)
{
	return rows / 16 < least ? least : rows / 16 < most ? (uint32_t)(rows / 16) : most;
}

/*
 * Writes zeros up to TO: the first store to a page of a mapping costs microseconds on a disk if the
 * page was not written before.
 */
static bool
write_zeros(uint64_t to)
{
	static const unsigned char zeros[1 << 18];

	while (raw.now->zeroed < to) {
		size_t size = to - raw.now->zeroed < sizeof zeros ?
		    (size_t)(to - raw.now->zeroed) : sizeof zeros;

		if (!file_write(zeros, size, raw.now->zeroed))
			return false;
		raw.now->zeroed += size;
	}
	return true;
}

struct mapping *_Atomic mappings;
static struct mapping *current;

static void
mapping_release(struct mapping *mapping)
{
	unsigned char *map;

	if (mapping == NULL || --mapping->blocks > 0)
		return;
	map = mapping->map;
	mapping->map = NULL;
	munmap(map, mapping->size);
}

/* Opens a mapping at the tail, with room for SIZE bytes. */
static bool
mapping_open(size_t size)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t begin = raw.now->tail / page * page;
	struct mapping *mapping = mappings;
	unsigned char *map;
	int fd;

	if (!file_reserve(size) || !write_zeros(raw.now->tail + size) || (fd = file_fd()) < 0)
		return false;
	while (mapping != NULL && mapping->map != NULL)
		mapping = mapping->next;
	if (mapping == NULL) {
		if ((mapping = zeroed(sizeof *mapping)) == NULL)
			return false;
		mapping->next = mappings;
		mappings = mapping;
	}
	mapping->segment = raw.now;
	mapping->begin = begin;
	mapping->size = (size_t)(raw.now->tail - begin) + size;
	mapping->blocks = 1;
	map = mmap(NULL, mapping->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)begin);
	if (map == MAP_FAILED) {
		give_up(raw.now->path, strerror(errno));
		return false;
	}
	/*
	 * Makes all pages writable at once. MAP_POPULATE maps pages of a file read-only, and the
	 * first store to each is a fault. If the kernel (before 5.14) or the disk refuses, this
	 * stays so.
	 */
	madvise(map, mapping->size, MADV_POPULATE_WRITE);
	mapping->map = map;
	mapping_release(current);
	current = mapping;
	return true;
}

void
mapping_leave(const struct segment *segment)
{
	if (current == NULL || current->segment != segment)
		return;
	mapping_release(current);
	current = NULL;
}

/*
 * Whether SIZE bytes at the tail are mapped. If not, makes a mapping with room for MORE bytes
 * behind them, if the disk has space.
 */
static bool
map_tail(size_t size, size_t more)
{
	if (current != NULL && current->segment == raw.now &&
	    raw.now->tail + size <= current->begin + current->size)
		return true;
	return mapping_open(file_promise(raw.now->tail + size + more + 1) == 0 ?
	    size + more : size);
}

bool
mapped_write(const unsigned char *bytes, size_t size)
{
	unsigned char *at;

	if (!map_tail(size, SMALL_BYTES))
		return false;
	at = current->map + (raw.now->tail - current->begin);
	memcpy(at + 1, bytes + 1, size - 1);
	__atomic_store_n(at, bytes[0], __ATOMIC_RELEASE);
	return true;
}

struct open_call no_block;

/*
 * What each call stores apart from its row is in one line of the cache: the count at 4, and at 16
 * the open call up to its tag.
 */
static void
put_hot(unsigned char **at, struct block *b)
{
	/* after the keys of the pad and the count */
	const unsigned room = (4 - ((unsigned)(uintptr_t)*at + 6 + 7)) % LINE_BYTES;

	put_text(at, "pad");
	put_byte(at, 0xc4);
	put_byte(at, room);
	*at += room;
	put_u32(at, "count", 0);
	b->count_at = *at - 4;
	put_text(at, "open");
	put_byte(at, 0xc5);
	put_big(at, sizeof *b->open, 2);
	b->open = (struct open_call *)*at;
	*at += sizeof *b->open;
}

unsigned char *
block_map(struct block *b, size_t bytes)
{
	/* Makes a mapping for as many such blocks as fit. */
	if (!map_tail(bytes, bytes < MAPPING_BYTES ? MAPPING_BYTES / bytes * bytes - bytes : 0))
		return NULL;
	b->mapping = current;
	b->mapping->blocks++;
	raw.now->blocks++;
	b->count = 0;
	b->message = b->mapping->map + (raw.now->tail - b->mapping->begin);
	return b->message + 1;	/* the first byte is written last */
}

void
block_show(struct block *b, unsigned char *at)
{
	put_text(&at, "xxh3");
	put_byte(&at, 0xcf);
	b->message_bytes = (size_t)(at + 8 - b->message);
	__atomic_store_n(b->message, 0x92, __ATOMIC_RELEASE);
	raw.now->tail += b->message_bytes;
	raw.now->messages++;
}

/* Lays out an empty block in the mapping at the tail. */
static bool
block_open(struct thread *thread, uint32_t capacity, unsigned form)
{
	struct block *b = &thread->block;
	const bool refers = (form & REFERS) != 0;
	const uint32_t size = (form & WIDE) != 0 ? 8 : 4;	/* of some columns */
	unsigned char *at = block_map(b, HEADER_BYTES + (size_t)capacity *
	    (size_t)((form & WIDE ? 54 : 36) + (refers ? 2 : 0) + (folding() ? 2 : 0)));

	if (at == NULL)
		return false;
	put_text(&at, "calls");
	put_byte(&at, 0xde);	/* a map of more than 15 pairs */
	put_big(&at, 17u + refers + folding(), 2);
	put_u32(&at, "location", thread->location);
	put_text(&at, "first");
	put_byte(&at, 0xcf);
	put_big(&at, thread->seq, 8);
	put_u32(&at, "capacity", capacity);
	put_hot(&at, b);
	b->open->thread = (uint32_t)thread->tid;
	block_column(&at, "enter", &b->enter, 8 * capacity);
	block_column(&at, "duration", &b->duration, size * capacity);
	block_column(&at, "call", &b->call, 2 * capacity);
	block_column(&at, "site", &b->site, size / 2 * capacity);
	block_column(&at, "comm", &b->comm, size / 2 * capacity);
	block_column(&at, "peer", &b->peer, 4 * capacity);
	block_column(&at, "tag", &b->tag, 4 * capacity);
	block_column(&at, "bytes_sent", &b->sent, size * capacity);
	block_column(&at, "bytes_received", &b->received, size * capacity);
	block_column(&at, "request", &b->request, size / 2 * capacity);
	if (refers)
		block_column(&at, "request_at", &b->request_at, 2 * capacity);
	if (folding())
		block_column(&at, "folded", &b->folded, 2 * capacity);
	b->capacity = capacity;
	b->form = form;
	b->plain_end = form != 0 ? 0 : capacity;
	block_show(b, at);
	return true;
}

void
block_close(struct block *b, bool used)
{
	unsigned char *at = b->message + b->message_bytes - 8;
	struct segment *segment;

	if (b->mapping == NULL)
		return;
	segment = b->mapping->segment;
	if (b->open != NULL) {
		memset(b->open, 0, sizeof *b->open);
		b->open = &no_block;
		segment->rows += b->count;
	}
	if (!used) {
		put_big(&at, hash_of(b->message, b->message_bytes - 9), 8);
		mapping_release(b->mapping);
		b->mapping = NULL;
		b->plain_end = b->count = b->capacity = 0;
	}
	if (--segment->blocks == 0 && segment != raw.now)
		segment_end(segment, true);
}

static unsigned
form_of(const struct entry *entries, uint32_t count)
{
	unsigned refers = 0;
	uint64_t all = 0;

	for (uint32_t i = 0; i < count; i++) {
		all |= row_width(&entries[i]);
		refers |= entries[i].request_at;
	}
	return (all > UINT32_MAX ? WIDE : 0) | (refers != 0 ? REFERS : 0);
}

void
segment_go_on(void)
{
	if (options.segment_bytes > 0 && raw.now->tail >= options.segment_bytes && !lost)
		segment_next();
}

bool
block_is_old(const struct block *b)
{
	return b->mapping != NULL && b->mapping->segment != raw.now;
}

/* The next block of the thread, with room for COUNT rows. */
static bool
next_block(struct thread *thread, uint32_t count, unsigned form)
{
	const uint32_t capacity = block_capacity(thread->seq, FIRST_ROWS, MOST_ROWS);
	const bool first = thread->block.mapping == NULL;
	struct open_call open;
	bool done;

	if (!first)
		open = *thread->block.open;
	form |= thread->block.form & REFERS;	/* it will refer to other threads again */
	pthread_mutex_lock(&raw.lock);
	block_close(&thread->block, false);
	segment_go_on();
	if (block_is_old(&thread->regions))
		block_close(&thread->regions, false);	/* nothing else may close it */
	done = !lost && block_open(thread, capacity > count ? capacity : count, form);
	if (done && !first)
		*thread->block.open = open;
	pthread_mutex_unlock(&raw.lock);
	return done;
}

/* Whether the block has room for COUNT more rows of that form. */
static bool
fits(const struct block *b, uint32_t count, unsigned form)
{
	return b->mapping != NULL && b->count + count <= b->capacity && (form & ~b->form) == 0;
}

void
rows_commit(struct thread *thread, const struct entry *entries, uint32_t count)
{
	struct block *b = &thread->block;
	unsigned form = form_of(entries, count);
	bool wide;

	if (count == 0 || paused || lost) {
		b->open->enter_ns = 0;	/* no row is to come: leave_call */
		return;
	}
	if (!named[entries[0].call])
		name_call(entries[0].call);
	if (!fits(b, count, form)) {
		if (!next_block(thread, count, form))
			return;
		b->made_ns = clock_ns();
	}
	/* Further rows of the call that needed the block come here, too. */
	b->plain_end = entries[0].leave_ns <= b->made_ns || b->form != 0 ? 0 : b->capacity;
	wide = (b->form & WIDE) != 0;
	for (uint32_t i = 0; i < count; i++) {
		struct entry e = entries[i];
		const size_t row = b->count + (size_t)i;

		/* The time to make the block is the recorder's: it counts to the call. */
		if (e.leave_ns < b->made_ns &&
		    (wide || b->made_ns - e.enter_ns <= UINT32_MAX)) {
			e.enter_ns = e.enter_ns < e.leave_ns ? e.enter_ns : b->made_ns;
			e.leave_ns = b->made_ns;
		}
		if ((b->form & REFERS) != 0)
			memcpy(b->request_at + 2 * row, &e.request_at, 2);
		if (wide)
			row_store(b, row, &e, true);
		else
			row_store(b, row, &e, false);
	}
	b->count += count;
	thread->seq += count;
	put_count(b);
}

void
rows_begin(struct thread *thread)
{
	if (!lost)
		next_block(thread, 1, 0);
}

bool
rows_fold(struct thread *thread, int64_t leave_ns)
{
	struct block *b = &thread->block;
	const size_t row = b->count - 1, size = (b->form & WIDE) != 0 ? 8 : 4;
	int64_t enter_ns;
	uint64_t duration_ns;
	uint16_t folded;

	/* A closed block has its hash; a block that a paused thread opened may be empty. */
	if (lost || b->mapping == NULL || b->count == 0)
		return false;
	memcpy(&enter_ns, b->enter + 8 * row, 8);
	memcpy(&folded, b->folded + 2 * row, 2);
	duration_ns = (uint64_t)(leave_ns - enter_ns);
	if (folded == UINT16_MAX || (size == 4 && duration_ns > UINT32_MAX))
		return false;
	folded++;
	memcpy(b->folded + 2 * row, &folded, 2);
	memcpy(b->duration + size * row, &duration_ns, size);
	return true;
}

void
rows_replace(struct thread *thread, const struct entry *entry)
{
	struct block *b = &thread->block;

	if (b->mapping == NULL || b->count == 0 || lost)
		return;
	b->count--;
	thread->seq--;
	put_count(b);
	rows_commit(thread, entry, 1);
}
