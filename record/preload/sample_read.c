/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves samples from the rings to the trace. */
#include <stdlib.h>
#include <string.h>

#include "recorder.h"
#include "sample.h"
#include "sites.h"
#include "small.h"

enum {
	BATCH = 4096,		/* samples per message */
	STACKS = 64,		/* stacks per message, at most */
	STACK_BYTES = 1 << 17,	/* bytes of their stacks */
	REGISTERS = 17,
};

/*
 * In the order of the kernel's bits. The trace uses DWARF's order, the instruction's address last.
 */
static const unsigned char dwarf_register[REGISTERS] = {
	0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15,
};

static struct {
	int64_t time_ns[BATCH];
	uint32_t site[BATCH], callers[BATCH];
	uint32_t count;
	/* For stacks, if asked for: */
	uint64_t registers[STACKS][REGISTERS];
	uint32_t stack_bytes[STACKS];
	unsigned char *stacks;		/* concatenated */
	size_t used;
} batch;
static uint32_t workers;

bool
sample_room(void)
{
	return batch.stacks != NULL || (batch.stacks = malloc(STACK_BYTES)) != NULL;
}

static void
write_batch(struct ring *ring, int64_t until_ns)
{
	struct small small;

	if (batch.count == 0 && (ring->lost == 0 || options.sample_hz == 0))
		return;
	small_begin(&small, "sampled",
	    7u + (ring->worker > 0) + (ring->lost > 0) + (batch.stacks != NULL ? 3 : 0));
	small_uint(&small, "location", ring->thread != NULL ? ring->thread->location : 0);
	if (ring->worker > 0)
		small_uint(&small, "worker", ring->worker);
	small_uint(&small, "count", batch.count);
	small_uint(&small, "period_ns", (uint64_t)(1000000000 / options.sample_hz));
	small_int(&small, "until_ns", until_ns);
	if (ring->lost > 0)
		small_uint(&small, "lost", ring->lost);
	small_bytes(&small, "time", batch.time_ns, 8 * (size_t)batch.count);
	small_bytes(&small, "site", batch.site, 4 * (size_t)batch.count);
	small_bytes(&small, "callers", batch.callers, 4 * (size_t)batch.count);
	if (batch.stacks != NULL) {
		small_bytes(&small, "registers", batch.registers,
		    sizeof batch.registers[0] * batch.count);
		small_bytes(&small, "stack_bytes", batch.stack_bytes, 4 * (size_t)batch.count);
		small_bytes(&small, "stacks", batch.stacks, batch.used);
	}
	small_append(&small);
	batch.count = 0;
	batch.used = 0;
	ring->lost = 0;
}

/* The record of a sample in a ring: struct perf_event_header, then these. */
struct taken {
	uint64_t id, ip, time, frames, frame[FRAMES + 8];
};
enum { BEFORE_FRAMES = 4 };
/* Other records end with these. */
struct told {
	uint64_t time, id;
};

/* The program's own frames: its PLACE, if there is one, and the callers. */
static uint32_t
take_callers(const struct taken *taken, size_t size, uint64_t *place)
{
	const void *callers[FRAMES];
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
		else if (is_in_module((const void *)(uintptr_t)taken->frame[i]))
			callers[depth++] = (const void *)(uintptr_t)taken->frame[i];
		else
			break;		/* not a frame: the register held something else */
	}
	return frames_site(callers, depth, 0);
}

/* Like a return address, so that one byte before it is inside the instruction. */
static uint32_t
site_at(uint64_t place)
{
	return plain_site((const void *)(uintptr_t)(place + 1), 0);
}

static void
take_sample(struct ring *ring, const struct taken *taken, size_t size, int64_t offset)
{
	const int64_t at_ns = (int64_t)taken->time + offset;
	uint64_t place = 0;

	/* a sample of leaving the core */
	if (ring->place_fd >= 0 && taken->id == ring->place_id) {
		ring->callers = take_callers(taken, size, &place);
		ring->site = place > 0 ? site_at(place) : 0;
		return;
	}
	if (ring->off && ring->reason == NOT_KNOWN)
		switch_in(ring, at_ns);
	batch.time_ns[batch.count] = at_ns;
	batch.site[batch.count] = site_at(taken->ip);
	batch.callers[batch.count++] = take_callers(taken, size, &place);
}

static void
copy_out(const struct ring *ring, uint64_t from, void *to, size_t size)
{
	const unsigned char *data = (const unsigned char *)ring->page + ring->page->data_offset;
	size_t at = (size_t)(from % ring->bytes),
	    first = ring->bytes - at < size ? ring->bytes - at : size;

	memcpy(to, data + at, first);
	memcpy((unsigned char *)to + first, data, size - first);
}

/*
 * After the callers come: the mask of registers, the registers, the size of the stack, the stack,
 * and how much of it was copied. FROM and END delimit the record in the ring. Runs before
 * take_sample(), which counts.
 */
static void
take_stack(const struct ring *ring, uint64_t from, uint64_t end)
{
	uint64_t abi = 0, registers[REGISTERS], size = 0, there = 0;
	uint64_t *into = batch.registers[batch.count];

	batch.stack_bytes[batch.count] = 0;
	memset(into, 0, sizeof batch.registers[0]);
	if (end - from < sizeof abi)
		return;
	copy_out(ring, from, &abi, sizeof abi);
	from += sizeof abi;
	if (abi != PERF_SAMPLE_REGS_ABI_64 || end - from < sizeof registers + sizeof size)
		return;
	copy_out(ring, from, registers, sizeof registers);
	from += sizeof registers;
	for (int i = 0; i < REGISTERS; i++)
		into[dwarf_register[i]] = registers[i];
	copy_out(ring, from, &size, sizeof size);
	from += sizeof size;
	if (size == 0 || size > end - from || end - from - size < sizeof there)
		return;
	copy_out(ring, from + size, &there, sizeof there);
	if (there > size || there > STACK_BYTES - batch.used)
		return;
	copy_out(ring, from, batch.stacks + batch.used, (size_t)there);
	batch.stack_bytes[batch.count] = (uint32_t)there;
	batch.used += (size_t)there;
}

/* No room for another sample. */
static bool
is_full(void)
{
	return batch.count == BATCH || (batch.stacks != NULL && (batch.count == STACKS ||
	    STACK_BYTES - batch.used < (size_t)options.sample_stack));
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
}

void
sample_read(struct ring *ring, int64_t offset, int64_t until_ns)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	struct perf_event_header header;
	struct taken taken;

	if ((ring->thread = thread_of(ring->tid)) != NULL)
		ring->worker = 0;
	else if (ring->worker == 0)
		ring->worker = ++workers;
	while (tail + sizeof header <= head) {
		size_t size;

		copy_out(ring, tail, &header, sizeof header);
		if (header.size < sizeof header)
			break;
		size = header.size - sizeof header < sizeof taken ?
		    header.size - sizeof header : sizeof taken;
		copy_out(ring, tail + sizeof header, &taken, size);
		if (header.type == PERF_RECORD_SAMPLE && size >= BEFORE_FRAMES * sizeof(uint64_t)) {
			if (batch.stacks != NULL &&
			    taken.frames <= sizeof taken / sizeof(uint64_t) &&
			    taken.id != ring->place_id)
				take_stack(ring, tail + sizeof header + (BEFORE_FRAMES +
				    taken.frames) * sizeof(uint64_t), tail + header.size);
			take_sample(ring, &taken, size, offset);
		} else
			take_other(ring, &header, &taken.id, size, offset);
		tail += header.size;
		if (is_full())
			write_batch(ring, until_ns);
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	write_batch(ring, until_ns);
	if (options.switches)
		switch_write(ring, until_ns);
}
