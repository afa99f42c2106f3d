/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where threads leave their cores: at each switch the kernel copies the thread's registers and the
 * top of its stack, and here its callers are found. The copies have a buffer of their own, so that
 * no interval is lost where there are too many of them.
 *
 * A rank that yields in a call switches 10^5 times a second. So in its calls the buffer is full as
 * far as the kernel knows: then it copies nothing. It is empty when a call begins and when it ends.
 */
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "recorder.h"
#include "sample.h"
#include "sites.h"

enum {
	BUFFER_BYTES = 1 << 17,		/* some 50 copies, between two calls or two looks */
#ifdef __x86_64__
	STACK_BYTES = 2048,
#else
	STACK_BYTES = 0,		/* the kernel finds callers, by frame pointers */
#endif
	PLACES = 1024,			/* further ones until the next look are lost */
};
enum { BASE = 6, STACK = 7, ADDRESS = 16 };	/* registers, as DWARF numbers them */

struct places {
	struct buffer buffer;
	uint64_t tail;			/* read up to here */
	_Atomic bool closed;		/* nothing unread, and for the kernel it is full */
	uint64_t begin, end;		/* of the queue, a ring */
	struct place {
		uint64_t time;		/* of the kernel */
		uint32_t site, callers;
	} of[PLACES];
};

void
places_begin(struct ring *ring)
{
	struct perf_event_attr attr = event_of(PERF_COUNT_SW_CONTEXT_SWITCHES, 1, STACK_BYTES);
	struct places *places = calloc(1, sizeof *places);

	attr.exclude_kernel = 0;	/* threads switch there */
	if (places != NULL && buffer_open(&places->buffer, &attr, ring->tid, BUFFER_BYTES) == 0)
		ring->places = places;
	else
		free(places);
}

void
places_end(struct ring *ring)
{
	if (ring->places != NULL)
		buffer_close(&ring->places->buffer);
	free(ring->places);
}

static uint64_t
head_of(const struct places *places)
{
	return __atomic_load_n(&places->buffer.page->data_head, __ATOMIC_ACQUIRE);
}

static void
set_tail(struct places *places, uint64_t tail)
{
	__atomic_store_n(&places->buffer.page->data_tail, tail, __ATOMIC_RELEASE);
}

/* The callers by the copied stack. Returns their number. */
static int
callers_of(const struct buffer *buffer, const struct stack_top *top, const void **callers)
{
	static struct frame_memory *rules;
	static uint64_t stack[STACK_BYTES / 8 + 1];

	if (top->bytes > sizeof stack)
		return 0;
	buffer_copy(buffer, top->from, stack, top->bytes);
	return callers_in(&rules, &(struct stack_copy){ top->registers[ADDRESS],
	    top->registers[STACK], top->registers[BASE], (unsigned char *)stack, top->bytes },
	    callers, FRAMES);
}

static void
take_place(struct places *places, uint64_t from, const struct perf_event_header *header)
{
	struct place *place = &places->of[places->end % PLACES];
	const void *callers[FRAMES], *by_stack[FRAMES];
	struct stack_top top;
	struct taken taken;
	const size_t size = take_record(&places->buffer, from, header, &taken);
	uint64_t address = 0;
	int depth, deeper;

	if (header->type != PERF_RECORD_SAMPLE || size == 0 ||
	    places->end - places->begin == PLACES)
		return;
	depth = take_frames(&taken, size, &address, callers);
	top = take_top(&places->buffer, from, header, &taken);
	deeper = callers_of(&places->buffer, &top, by_stack);
	if (top.bytes > 0)
		address = top.registers[ADDRESS];
	*place = (struct place){ taken.time, address > 0 ? site_at(address) : 0,
	    deeper > 0 ? frames_site(by_stack, deeper, 0) : frames_site(callers, depth, 0) };
	places->end++;
}

/* Moves all copies from the buffer to the queue; the caller holds SAMPLING. */
void
places_read(struct ring *ring)
{
	struct places *places = ring->places;
	struct perf_event_header header;
	uint64_t head;

	if (places == NULL || places->closed)
		return;
	for (head = head_of(places); places->tail + sizeof header <= head;
	    places->tail += header.size) {
		buffer_copy(&places->buffer, places->tail, &header, sizeof header);
		if (header.size < sizeof header)
			break;
		take_place(places, places->tail, &header);
	}
	set_tail(places, places->tail);
}

void
places_find(struct ring *ring, uint64_t time)
{
	struct places *places = ring->places;
	const struct place *last = NULL;

	while (places != NULL && places->begin < places->end &&
	    places->of[places->begin % PLACES].time <= time)
		last = &places->of[places->begin++ % PLACES];
	if (last == NULL || !ring->off || last->time <= ring->switched)
		return;
	ring->site = last->site;
	ring->callers = last->callers;
}

void
places_enter(struct ring *ring)
{
	struct places *places = ring->places;

	if (head_of(places) != places->tail && pthread_mutex_trylock(&sampling) == 0) {
		places_read(ring);
		pthread_mutex_unlock(&sampling);
	}
	if (head_of(places) != places->tail)
		return;		/* another thread is reading it */
	places->closed = true;
	/* without a byte free; data that came just now would be of no use */
	set_tail(places, places->tail + 1);
}

void
places_leave(struct ring *ring)
{
	struct places *places = ring->places;

	if (!places->closed)
		return;
	places->tail = head_of(places);
	set_tail(places, places->tail);
	places->closed = false;
}
