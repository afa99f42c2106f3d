/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where threads leave their cores: at each switch the kernel copies the thread's registers and the
 * top of its stack, and here its callers are found. The copies have a buffer of their own, so that
 * no interval is lost where there are too many of them. A second buffer has the instruction and one
 * word of the stack only: enough to say that a thread waits for others, and small, since threads of
 * a runtime may block thousands of times between two looks.
 *
 * A rank that yields in a call switches 10^5 times a second. So in its calls the buffers are full
 * as far as the kernel knows: then it copies nothing. They are empty when a call begins and when
 * it ends.
 */
#include <stdlib.h>
#include <unistd.h>

#include "sample.h"
#include "sites.h"

enum {
	DEEP_BYTES = 1 << 17,		/* some 50 copies, between two calls or two looks */
	FLAT_BYTES = 1 << 16,		/* some 800 */
	PLACES = 1024,			/* further ones until the next look are lost */
	SYSCALL_BYTES = 64,		/* of the C library's syscall() */
};
struct copies {
	struct buffer buffer;		/* page NULL: there is none */
	uint64_t tail;			/* read up to here */
	uint64_t begin, end;		/* of the queue, a ring */
	struct place of[PLACES];
};

enum { DEEP, FLAT, KINDS };		/* the better one first */
struct places {
	struct copies kind[KINDS];
	_Atomic bool closed;		/* nothing unread, and for the kernel it is full */
};

void
places_begin(struct ring *ring)
{
	struct perf_event_attr deep = event_of(PERF_COUNT_SW_CONTEXT_SWITCHES, 1, COPIED_BYTES),
	    flat = event_of(PERF_COUNT_SW_CONTEXT_SWITCHES, 1, 0);
	struct places *places = calloc(1, sizeof *places);

	if (places == NULL)
		return;
	deep.exclude_kernel = flat.exclude_kernel = 0;	/* threads switch there */
	flat.sample_type |= PERF_SAMPLE_STACK_USER;
	flat.sample_stack_user = sizeof(uint64_t);
	flat.sample_max_stack = 1;
	if (buffer_open(&places->kind[FLAT].buffer, &flat, ring->tid, FLAT_BYTES) != 0)
		places->kind[FLAT].buffer.page = NULL;
	else
		collect_from(&places->kind[FLAT].buffer);
	if (buffer_open(&places->kind[DEEP].buffer, &deep, ring->tid, DEEP_BYTES) == 0)
		ring->places = places;
	else
		free(places);
}

void
places_end(struct ring *ring)
{
	for (int k = 0; ring->places != NULL && k < KINDS; k++)
		if (ring->places->kind[k].buffer.page != NULL)
			buffer_close(&ring->places->kind[k].buffer);
	free(ring->places);
}

int64_t
places_cost_ns(const struct ring *ring)
{
	return ring->places != NULL ? buffer_cost_ns(&ring->places->kind[DEEP].buffer) : 0;
}

static uint64_t
head_of(const struct copies *copies)
{
	return copies->buffer.page == NULL ? copies->tail :
	    __atomic_load_n(&copies->buffer.page->data_head, __ATOMIC_ACQUIRE);
}

static void
set_tail(struct copies *copies, uint64_t tail)
{
	if (copies->buffer.page != NULL)
		__atomic_store_n(&copies->buffer.page->data_tail, tail, __ATOMIC_RELEASE);
}

/* The word on top of the stack, behind the frames and its size, is the caller of syscall(). */
static struct place
flat_place(const struct taken *taken, size_t size)
{
	const size_t words = size / 8 - (offsetof(struct taken, frame) / 8);
	const void *callers[FRAMES], *caller;
	uint64_t address = 0;
	struct place place;

	take_frames(taken, size, &address, callers);
	place = (struct place){ taken->time, address > 0 ? site_at(address) : 0, 0 };
	if (taken->frames + 3 > words || taken->frame[taken->frames + 2] != sizeof(uint64_t) ||
	    address - (uint64_t)(uintptr_t)syscall >= SYSCALL_BYTES)
		return place;
	caller = (const void *)(uintptr_t)taken->frame[taken->frames + 1];
	if (code_around(caller).bytes > 0)
		place.callers = frames_site(&caller, 1, 0);
	return place;
}

/* Moves all copies from the buffers to the queues; the caller holds SAMPLING. */
void
places_read(struct ring *ring)
{
	struct places *places = ring->places;
	struct perf_event_header header;
	struct taken taken;
	size_t size;

	for (int k = 0; places != NULL && !places->closed && k < KINDS; k++) {
		struct copies *copies = &places->kind[k];
		const uint64_t head = head_of(copies);

		for (; copies->tail + sizeof header <= head; copies->tail += header.size) {
			buffer_copy(&copies->buffer, copies->tail, &header, sizeof header);
			if (header.size < sizeof header)
				break;
			size = take_record(&copies->buffer, copies->tail, &header, &taken);
			if (header.type == PERF_RECORD_SAMPLE &&
			    size >= offsetof(struct taken, frame) &&
			    copies->end - copies->begin < PLACES)
				copies->of[copies->end++ % PLACES] = k == DEEP ?
				    full_place(&copies->buffer, copies->tail, &header, &taken,
				    size) : flat_place(&taken, size);
		}
		set_tail(copies, copies->tail);
	}
}

void
places_find(struct ring *ring, uint64_t time)
{
	bool found = !ring->off;

	for (int k = 0; ring->places != NULL && k < KINDS; k++) {
		struct copies *copies = &ring->places->kind[k];
		const struct place *last = NULL;

		while (copies->begin < copies->end &&
		    copies->of[copies->begin % PLACES].time <= time)
			last = &copies->of[copies->begin++ % PLACES];
		if (found || last == NULL || last->time <= ring->switched)
			continue;
		found = true;
		ring->site = last->site;
		ring->callers = last->callers;
	}
}

/* Nothing came since the last look. */
static bool
is_read(const struct places *places)
{
	return head_of(&places->kind[DEEP]) == places->kind[DEEP].tail &&
	    head_of(&places->kind[FLAT]) == places->kind[FLAT].tail;
}

void
places_enter(struct ring *ring)
{
	struct places *places = ring->places;

	if (!is_read(places) && pthread_mutex_trylock(&sampling) == 0) {
		places_read(ring);
		pthread_mutex_unlock(&sampling);
	}
	if (!is_read(places))
		return;		/* another thread is reading it */
	places->closed = true;
	/* without a byte free; data that came just now would be of no use */
	for (int k = 0; k < KINDS; k++)
		set_tail(&places->kind[k], places->kind[k].tail + 1);
}

void
places_leave(struct ring *ring)
{
	struct places *places = ring->places;

	if (!places->closed)
		return;
	for (int k = 0; k < KINDS; k++) {
		places->kind[k].tail = head_of(&places->kind[k]);
		set_tail(&places->kind[k], places->kind[k].tail);
	}
	places->closed = false;
}
