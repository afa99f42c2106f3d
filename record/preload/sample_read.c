/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves samples from the rings to the trace. */

#include "frames.h"
#include "sample.h"
#include "sites.h"
#include "small.h"

enum {
	BATCH = 4096,		/* samples per message */
	LEAST_ROOM = 24 + 40,	/* for a switch, and for the record of dropped ones before it */
};

/* What a sample has of the thread's stack: registers, and a part of the buffer. */
struct stack_top {
	uint64_t registers[REGISTERS], from;
	size_t bytes;		/* 0: nothing */
};

static struct {
	int64_t time_ns[BATCH];
	uint32_t site[BATCH], callers[BATCH];
	uint32_t count;
	uint64_t counted[COUNTERS][BATCH];
} batch;
static _Atomic uint32_t numbers;

static void
write_batch(struct ring *ring, int64_t until_ns)
{
	const size_t count = batch.count;

	if (count == 0 && (ring->lost == 0 || options.sample_hz == 0))
		return;
	const struct pair pairs[] = {
		pair_uint("location", ring->thread != NULL ? ring->thread->location : 0),
		pair_unless_0("worker", ring->worker),
		pair_uint("count", count),
		pair_uint("period_ns", (uint64_t)(1000000000 / options.sample_hz)),
		pair_int("until_ns", until_ns),
		pair_unless_0("lost", ring->lost),
		pair_bytes("time", batch.time_ns, 8 * count),
		pair_bytes("site", batch.site, 4 * count),
		pair_bytes("callers", batch.callers, 4 * count),
#define COUNTER(name, ...) pair_if((options.counters >> COUNT_##name & 1) != 0, \
		    pair_bytes(#name, batch.counted[COUNT_##name], 8 * count)),
#include "../../base/stream/counters.h"
#undef COUNTER
		{ .type = PAIRS_END }
	};

	small_append("sampled", pairs);
	batch.count = 0;
	ring->lost = 0;
}

enum { BEFORE_FRAMES = 4 };
/* Records other than samples end with these. */
struct told {
	uint64_t time, id;
};

int
take_frames(const struct taken *taken, size_t size, uint64_t *place, const void **callers)
{
	int depth = 0;
	bool first = true;

	for (uint64_t i = 0; i < taken->frames && size >= 8 * (BEFORE_FRAMES + i + 1) &&
	    depth < FRAMES; i++) {
		if (taken->frame[i] >= (uint64_t)PERF_CONTEXT_MAX)
			continue;	/* a marker: says whose frames follow */
		if (first) {
			first = false;
			*place = taken->frame[i];
		}
		else if (code_around((const void *)(uintptr_t)taken->frame[i]).bytes > 0)
			callers[depth++] = (const void *)(uintptr_t)taken->frame[i];
		else
			break;		/* not a frame: the register held something else */
	}
	return depth;
}

/* Like a return address, so that one byte before it is inside the instruction. */
uint32_t
site_at(uint64_t place)
{
	return plain_site((const void *)(uintptr_t)(place + 1), 0);
}

void
buffer_copy(const struct buffer *buffer, uint64_t from, void *to, size_t size)
{
	const unsigned char *data = (const unsigned char *)buffer->page + buffer->page->data_offset;
	size_t at = (size_t)(from % buffer->bytes),
	    first = buffer->bytes - at < size ? buffer->bytes - at : size;

	memcpy(to, data + at, first);
	memcpy((unsigned char *)to + first, data, size - first);
}

size_t
take_record(const struct buffer *buffer, uint64_t from, const struct perf_event_header *header,
    struct taken *taken)
{
	const bool is_sample = header->type == PERF_RECORD_SAMPLE;
	const size_t read = is_sample ? 8 * buffer->read : 0;
	const size_t before = offsetof(struct taken, frames);
	size_t size = header->size - sizeof *header;

	from += sizeof *header;
	if (is_sample && size < 8 * BEFORE_FRAMES + read)
		return 0;
	size -= read;
	if (size > TAKEN_BYTES)
		size = TAKEN_BYTES;
	buffer_copy(buffer, from, taken, size);
	if (read > 0) {
		buffer_copy(buffer, from + before, taken->read, read);
		buffer_copy(buffer, from + before + read, &taken->frames, size - before);
	}
	return size;
}

/*
 * After the callers come: the mask of registers, the registers, the size of the stack, the stack,
 * and how much of it was copied.
 */
static struct stack_top
take_top(const struct buffer *buffer, uint64_t from, const struct perf_event_header *header,
    const struct taken *taken)
{
	const uint64_t end = from + header->size;
	uint64_t abi = 0, size = 0, there = 0;
	struct stack_top top = { .bytes = 0 };

	if (taken->frames > TAKEN_BYTES / 8)
		return top;
	from += sizeof *header + (BEFORE_FRAMES + buffer->read + taken->frames) * 8;
	if (end < from + sizeof abi)
		return top;
	buffer_copy(buffer, from, &abi, sizeof abi);
	from += sizeof abi;
	if (abi != PERF_SAMPLE_REGS_ABI_64 || end - from < sizeof top.registers + sizeof size)
		return top;
	buffer_copy(buffer, from, top.registers, sizeof top.registers);
	from += sizeof top.registers;
	buffer_copy(buffer, from, &size, sizeof size);
	from += sizeof size;
	if (size == 0 || size > end - from || end - from - size < sizeof there)
		return top;
	buffer_copy(buffer, from + size, &there, sizeof there);
	top.from = from;
	top.bytes = there <= size ? (size_t)there : 0;
	return top;
}

/* In the kernel the place is that of the system call, or of the page fault. */
struct place
full_place(const struct buffer *buffer, uint64_t from, const struct perf_event_header *header,
    const struct taken *taken, size_t size)
{
	static struct frame_memory *rules;
	static uint64_t stack[MOST_COPIED / sizeof(uint64_t)];
	const struct stack_top top = take_top(buffer, from, header, taken);
	const void *chain[FRAMES], *callers[MOST_CALLERS];
	uint64_t address = 0;
	struct stack_copy copy = { .chained = take_frames(taken, size, &address, chain),
	    .address = top.registers[ADDRESS], .stack = top.registers[STACK],
	    .base = top.registers[BASE], .bytes = (unsigned char *)stack, .chain = chain,
	    .size = top.bytes < sizeof stack ? top.bytes : sizeof stack };

#ifdef __aarch64__
	copy.link = top.registers[LINK];
#endif
	if (top.bytes > 0)
		address = top.registers[ADDRESS];
	buffer_copy(buffer, top.from, stack, copy.size);
	return (struct place){ taken->time, address > 0 ? site_at(address) : 0,
	    frames_site(callers, callers_in(&rules, &copy, callers, MOST_CALLERS), 0) };
}

static void
take_sample(struct ring *ring, uint64_t from, const struct perf_event_header *header,
    const struct taken *taken, size_t size, int64_t offset)
{
	const struct place place = full_place(&ring->buffer, from, header, taken, size);
	const int64_t at_ns = (int64_t)taken->time + offset;
	const uint64_t *value = &taken->read[2];

	if (ring->off && ring->reason == NOT_KNOWN)
		switch_in(ring, at_ns);
	batch.time_ns[batch.count] = at_ns;
	batch.site[batch.count] = place.site;
	batch.callers[batch.count] = place.callers;
	for (int c = 0; c < COUNTERS; c++)	/* in the order in which they were added */
		if (ring->counter[c] >= 0) {
			batch.counted[c][batch.count] = *value - ring->counted[c];
			ring->counted[c] = *value++;
		}
	batch.count++;
}

/* Records other than samples; RECORD begins behind the header. */
static void
take_other(struct ring *ring, const struct perf_event_header *header, const uint64_t *record,
    size_t size, int64_t offset)
{
	const struct told *told = (const void *)((const char *)record + size - sizeof *told);

	if (header->type == PERF_RECORD_LOST && size >= 2 * sizeof *record + sizeof *told) {
		ring->lost += record[1];	/* an id, then the number lost */
		if (options.switches)
			switch_lost(ring);
		ring->switched = told->time;	/* earlier places are of missing switches */
	}
	if (header->type == PERF_RECORD_EXIT && size >= 2 * sizeof *record + sizeof *told &&
	    (pid_t)(uint32_t)record[1] == ring->tid)	/* pid and parent's, thread and parent's */
		ring->end_ns = (int64_t)told->time + offset;
	if (header->type != PERF_RECORD_SWITCH || size < sizeof *told)
		return;
	if (header->misc & PERF_RECORD_MISC_SWITCH_OUT)
		switch_out(ring, (int64_t)told->time + offset,
		    header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	else
		switch_in(ring, (int64_t)told->time + offset);
	places_find(ring, told->time);
	ring->switched = told->time;
}

uint32_t
next_number(void)
{
	return ++numbers;
}

void
sample_read(struct ring *ring, int64_t offset, int64_t until_ns)
{
	struct perf_event_mmap_page *page = ring->buffer.page;
	const uint64_t head = switch_head(ring);
	uint64_t tail = page->data_tail;
	struct perf_event_header header;
	struct taken taken;

	ring->look_ns = until_ns;
	places_read(ring);
	if ((ring->thread = thread_of(ring->tid)) != NULL)
		ring->worker = ring->thread->number;
	else if (ring->worker == 0)
		ring->worker = next_number();
	if (options.switches)
		switch_begun(ring);
	while (tail + sizeof header <= head) {
		size_t size;

		buffer_copy(&ring->buffer, tail, &header, sizeof header);
		if (header.size < sizeof header)
			break;
		size = take_record(&ring->buffer, tail, &header, &taken);
		if (header.type == PERF_RECORD_SAMPLE && size > 0)
			take_sample(ring, tail, &header, &taken, size, offset);
		else
			take_other(ring, &header, &taken.id, size, offset);
		tail += header.size;
		if (batch.count == BATCH)
			write_batch(ring, until_ns);
	}
	/* The kernel reports dropped records only when it writes the next one. */
	if (options.switches &&
	    ring->buffer.bytes - (size_t)(head - page->data_tail) < LEAST_ROOM)
		switch_lost(ring);
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	write_batch(ring, until_ns);
	if (options.switches)
		switch_write(ring, until_ns);
}
