/* SPDX-License-Identifier: BSD-3-Clause */
#include "sorter.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap.h"
#include "spool.h"
#include "tool.h"

enum { MEMORY = 1 << 22, FEWEST_BYTES = 1 << 12 };	/* of all records; of a run being read */

/* Sorted records: in the file FROM to TO - 1, in memory AT to FILLED - 1. */
struct sorter_run {
	uint64_t from, to;
	const struct sorter *of;
	char *records;
	size_t at, filled;
};

void
sorter_begin(struct sorter *sorter, size_t size, int (*order)(const void *, const void *))
{
	*sorter = (struct sorter){ .size = size, .order = order, .fd = -1 };
}

static void
write_run(struct sorter *s)
{
	uint64_t from = s->run_count > 0 ? s->runs[s->run_count - 1].to : 0;
	uint64_t to = from + s->count * s->size;

	if (s->fd < 0)
		s->fd = spool_open();
	qsort(s->records, s->count, s->size, s->order);
	spool_put(s->fd, s->records, s->count * s->size, from);
	*APPEND(s->runs, s->run_count, s->run_capacity) = (struct sorter_run){ from, to, s, NULL, 0,
	    0 };
	s->count = 0;
}

void
sorter_add(struct sorter *s, const void *record)
{
	if (s->count == s->room && s->room * s->size * 2 <= MEMORY)
		s->records = grow(s->records, &s->room, s->count + 64, s->size);
	else if (s->count == s->room)
		write_run(s);
	memcpy(s->records + s->count++ * s->size, record, s->size);
}

static const char *
top_of(const struct sorter_run *run)
{
	return run->records + run->at * run->of->size;
}

static bool
less(struct sorter_run *const *a, struct sorter_run *const *b)
{
	return (*a)->of->order(top_of(*a), top_of(*b)) < 0;
}

HEAP(heads, struct sorter_run *, less)

/* Reads more of a run; false: it has ended. */
static bool
refill(struct sorter_run *run, size_t room)
{
	size_t size = run->of->size, left = (size_t)(run->to - run->from);
	size_t wanted = left < room * size ? left : room * size;

	if (wanted == 0)
		return false;
	spool_get(run->of->fd, run->records, wanted, run->from);
	run->from += wanted;
	run->at = 0;
	run->filled = wanted / size;
	return true;
}

/* The records of each run that are in memory at a time. */
static size_t
room_of_run(const struct sorter *s)
{
	size_t each = MEMORY / s->run_count;

	return (each < FEWEST_BYTES ? FEWEST_BYTES : each) / s->size + 1;
}

void
sorter_sort(struct sorter *s)
{
	if (s->run_count == 0) {
		if (s->count > 0)
			qsort(s->records, s->count, s->size, s->order);
		return;
	}
	if (s->count > 0)
		write_run(s);
	free(s->records);
	s->records = NULL;
	s->heap = zalloc(s->run_count, sizeof *s->heap);
	for (size_t i = 0; i < s->run_count; i++) {
		s->runs[i].records = zalloc(room_of_run(s), s->size);
		if (refill(&s->runs[i], room_of_run(s)))
			s->heap[s->heap_count++] = &s->runs[i];
	}
	heads_make(s->heap, s->heap_count);
}

const void *
sorter_peek(struct sorter *s)
{
	if (s->run_count == 0)
		return s->at < s->count ? s->records + s->at * s->size : NULL;
	return s->heap_count > 0 ? top_of(s->heap[0]) : NULL;
}

void
sorter_drop(struct sorter *s)
{
	struct sorter_run *run;

	if (s->run_count == 0) {
		s->at++;
		return;
	}
	run = s->heap[0];
	if (++run->at == run->filled && !refill(run, room_of_run(s)))
		heads_pop(s->heap, &s->heap_count);
	else
		heads_down(s->heap, s->heap_count, 0);
}

void
sorter_free(struct sorter *s)
{
	for (size_t i = 0; i < s->run_count; i++)
		free(s->runs[i].records);
	free(s->runs);
	free(s->heap);
	free(s->records);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct sorter){ .fd = -1 };
}
